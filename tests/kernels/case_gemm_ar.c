// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "case.h"
#include "gemm_ar.pk.h"
#include "host.h"

static pkrt_status prepare(case_run *run)
{
    int64_t m = case_value(run, "M"), n = case_value(run, "N"), k = case_value(run, "K");
    int64_t ranks = run->ranks;
    float *a = case_normal(run, (size_t)(ranks * m * k)), *b = case_normal(run, (size_t)(ranks * k * n));
    gemm_ar_args args = {.A = case_input(run, PKRT_BF16, CASE_DIMS(m, k), 0, a),
                         .B = case_input(run, PKRT_BF16, CASE_DIMS(k, n), 0, b),
                         .C = case_output(run, PKRT_BF16, CASE_DIMS(m, n), PKRT_SYMMETRIC),
                         .comm_sms = 1};
    double *want = case_want(run, args.C, 1e-2);
    for (int64_t r = 0; r < ranks; r++)
        host_gemm(want, a + r * m * k, b + r * k * n, (size_t)m, (size_t)n, (size_t)k);
    for (int64_t r = 1; r < ranks; r++)
        memcpy(want + r * m * n, want, (size_t)(m * n) * sizeof *want);
    return gemm_ar_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = gemm_ar_pk,
                          .length = sizeof gemm_ar_pk - 1,
                          .axes = {CASE_AXIS("M", 8, 64, 100, 128, 130, 300),
                                   CASE_AXIS("N", 8, 64, 100, 128, 264, 520),
                                   CASE_AXIS("K", 8, 64, 100, 128, 130, 256)},
                          .comm = "comm_sms",
                          .prepare = prepare};
