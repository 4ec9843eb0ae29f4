// SPDX-License-Identifier: Apache-2.0
#include "ag_gemm.pk.h"
#include "ag_gemm/reference.h"
#include "case.h"

static pkrt_status prepare(case_run *run)
{
    int64_t rows = case_value(run, "R"), n = case_value(run, "N"), k = case_value(run, "K");
    int64_t ranks = run->ranks;
    float *a = case_normal(run, (size_t)(ranks * rows * k)), *b = case_normal(run, (size_t)(ranks * k * n));
    ag_gemm_args args = {.A = case_input(run, PKRT_BF16, CASE_DIMS(rows, k), 0, a),
                         .G = case_output(run, PKRT_BF16, CASE_DIMS(ranks, rows, k), PKRT_SYMMETRIC),
                         .B = case_input(run, PKRT_BF16, CASE_DIMS(k, n), 0, b),
                         .C = case_output(run, PKRT_BF16, CASE_DIMS(ranks, rows, n), 0),
                         .comm_sms = 1};
    ag_gemm_reference(case_want(run, args.C, 1e-2), a, b, (size_t)ranks, (size_t)rows, (size_t)n, (size_t)k);
    return ag_gemm_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = ag_gemm_pk,
                          .length = sizeof ag_gemm_pk - 1,
                          .axes = {CASE_AXIS("R", 8, 64, 100, 128, 130, 300),
                                   CASE_AXIS("N", 8, 64, 100, 128, 264, 72),
                                   CASE_AXIS("K", 8, 64, 100, 128, 130, 256)},
                          .comm = "comm_sms",
                          .prepare = prepare};
