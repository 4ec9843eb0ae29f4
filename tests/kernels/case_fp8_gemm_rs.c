// SPDX-License-Identifier: Apache-2.0
#include "case.h"
#include "fp8_gemm/reference.h"
#include "fp8_gemm_rs.pk.h"

static pkrt_status prepare(case_run *run)
{
    int64_t rows = case_value(run, "R"), n = case_value(run, "N"), k = case_value(run, "K");
    size_t ranks = (size_t)run->ranks, kb = fp8_blocks((size_t)k), nb = fp8_blocks((size_t)n);
    size_t na = ranks * (size_t)(rows * k), nsa = ranks * (size_t)rows * kb, nbb = (size_t)(n * k),
           nsb = nb * kb, nc = (size_t)(rows * n);
    float *a = case_random(run, ranks * na, fp8_values), *b = case_random(run, ranks * nbb, fp8_values);
    float *sa = case_random(run, ranks * nsa, fp8_scales), *sb = case_random(run, ranks * nsb, fp8_scales);
    fp8_gemm_rs_args args = {.A = case_input(run, PKRT_E4M3, CASE_DIMS(run->ranks, rows, k), 0, a),
                             .SA = case_input(run, PKRT_F32, CASE_DIMS(run->ranks, (int64_t)kb, rows), 0, sa),
                             .B = case_input(run, PKRT_E4M3, CASE_DIMS(n, k), 0, b),
                             .SB = case_input(run, PKRT_F32, CASE_DIMS((int64_t)nb, (int64_t)kb), 0, sb),
                             .C = case_output(run, PKRT_BF16, CASE_DIMS(rows, n), PKRT_SYMMETRIC)};
    double *want = case_want(run, args.C, 1e-2);
    for (size_t r = 0; r < ranks; r++)
        for (size_t owner = 0; owner < ranks; owner++)
            fp8_gemm_reference(want + owner * nc, a + r * na + owner * (size_t)(rows * k), b + r * nbb,
                               sa + r * nsa + owner * (size_t)rows * kb, sb + r * nsb, (size_t)rows,
                               (size_t)n, (size_t)k);
    return fp8_gemm_rs_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = fp8_gemm_rs_pk,
                          .length = sizeof fp8_gemm_rs_pk - 1,
                          .axes = {CASE_AXIS("R", 8, 64, 102, 132), CASE_AXIS("N", 8, 64, 100, 136),
                                   CASE_AXIS("K", 16, 100, 128, 272)},
                          .prepare = prepare};
