// SPDX-License-Identifier: Apache-2.0
#include "case.h"
#include "gemm.pk.h"
#include "host.h"

static pkrt_status prepare(case_run *run)
{
    int64_t m = case_value(run, "M"), n = case_value(run, "N"), k = case_value(run, "K");
    float *a = case_normal(run, (size_t)(run->ranks * m * k));
    float *b = case_normal(run, (size_t)(run->ranks * k * n));
    gemm_args args = {.A = case_input(run, PKRT_BF16, CASE_DIMS(m, k), 0, a),
                      .B = case_input(run, PKRT_BF16, CASE_DIMS(k, n), 0, b),
                      .C = case_output(run, PKRT_BF16, CASE_DIMS(m, n), 0)};
    double *want = case_want(run, args.C, 1e-2);
    for (int r = 0; r < run->ranks; r++)
        host_gemm(want + r * m * n, a + r * m * k, b + r * k * n, (size_t)m, (size_t)n, (size_t)k);
    return gemm_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = gemm_pk,
                          .length = sizeof gemm_pk - 1,
                          .axes = {CASE_AXIS("M", 8, 64, 100, 128, 130, 256, 500),
                                   CASE_AXIS("N", 8, 64, 100, 128, 130, 256, 520),
                                   CASE_AXIS("K", 8, 64, 100, 128, 130, 256, 500)},
                          .prepare = prepare};
