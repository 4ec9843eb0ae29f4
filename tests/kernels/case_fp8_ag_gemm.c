// SPDX-License-Identifier: Apache-2.0
#include "case.h"
#include "fp8_ag_gemm.pk.h"
#include "fp8_gemm/reference.h"

static pkrt_status prepare(case_run *run)
{
    int64_t rows = case_value(run, "R"), n = case_value(run, "N"), k = case_value(run, "K");
    size_t ranks = (size_t)run->ranks, kb = fp8_blocks((size_t)k), nb = fp8_blocks((size_t)n);
    size_t na = (size_t)(rows * k), nsa = (size_t)rows * kb, nbb = (size_t)(n * k), nsb = nb * kb,
           nc = ranks * (size_t)(rows * n);
    float *a = case_random(run, ranks * na, fp8_values), *b = case_random(run, ranks * nbb, fp8_values);
    float *sa = case_random(run, ranks * nsa, fp8_scales), *sb = case_random(run, ranks * nsb, fp8_scales);
    fp8_ag_gemm_args args = {
        .A = case_input(run, PKRT_E4M3, CASE_DIMS(rows, k), 0, a),
        .SA = case_input(run, PKRT_F32, CASE_DIMS((int64_t)kb, rows), 0, sa),
        .G = case_output(run, PKRT_E4M3, CASE_DIMS(run->ranks, rows, k), PKRT_SYMMETRIC),
        .GS = case_output(run, PKRT_F32, CASE_DIMS(run->ranks, (int64_t)kb, rows), PKRT_SYMMETRIC),
        .B = case_input(run, PKRT_E4M3, CASE_DIMS(n, k), 0, b),
        .SB = case_input(run, PKRT_F32, CASE_DIMS((int64_t)nb, (int64_t)kb), 0, sb),
        .C = case_output(run, PKRT_BF16, CASE_DIMS(run->ranks, rows, n), 0),
        .comm_sms = 1};
    double *want = case_want(run, args.C, 1e-2);
    for (size_t r = 0; r < ranks; r++)
        for (size_t from = 0; from < ranks; from++)
            fp8_gemm_reference(want + r * nc + from * (size_t)(rows * n), a + from * na, b + r * nbb,
                               sa + from * nsa, sb + r * nsb, (size_t)rows, (size_t)n, (size_t)k);
    return fp8_ag_gemm_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = fp8_ag_gemm_pk,
                          .length = sizeof fp8_ag_gemm_pk - 1,
                          .axes = {CASE_AXIS("R", 8, 64, 102, 132), CASE_AXIS("N", 8, 64, 100, 136),
                                   CASE_AXIS("K", 16, 100, 128, 272)},
                          .comm = "comm_sms",
                          .prepare = prepare};
