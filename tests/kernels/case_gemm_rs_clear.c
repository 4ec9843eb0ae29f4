// SPDX-License-Identifier: Apache-2.0
#include "case.h"
#include "gemm_rs_clear.pk.h"
#include "host.h"

static pkrt_status prepare(case_run *run)
{
    int64_t rows = case_value(run, "R"), n = case_value(run, "N"), k = case_value(run, "K");
    int64_t ranks = run->ranks;
    float *a = case_normal(run, (size_t)(ranks * ranks * rows * k));
    float *b = case_normal(run, (size_t)(ranks * k * n));
    gemm_rs_clear_args args = {.A = case_input(run, PKRT_BF16, CASE_DIMS(ranks, rows, k), 0, a),
                               .B = case_input(run, PKRT_BF16, CASE_DIMS(k, n), 0, b),
                               .C = case_output(run, PKRT_BF16, CASE_DIMS(rows, n), PKRT_SYMMETRIC)};
    double *want = case_want(run, args.C, 1e-2);
    for (int64_t r = 0; r < ranks; r++)
        host_gemm(want, a + r * ranks * rows * k, b + r * k * n, (size_t)(ranks * rows), (size_t)n,
                  (size_t)k);
    return gemm_rs_clear_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = gemm_rs_clear_pk,
                          .length = sizeof gemm_rs_clear_pk - 1,
                          .axes = {CASE_AXIS("R", 8, 64, 100, 128, 130, 256),
                                   CASE_AXIS("N", 8, 64, 100, 128, 130, 256, 520),
                                   CASE_AXIS("K", 8, 64, 100, 128, 130, 256)},
                          .prepare = prepare};
