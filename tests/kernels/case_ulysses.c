// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "attention/reference.h"
#include "case.h"
#include "ulysses.pk.h"

#ifndef D // of the module
#define D 128
#endif

static pkrt_status prepare(case_run *run)
{
    int64_t b = case_value(run, "B"), hl = case_value(run, "HL"), gl = case_value(run, "GL"),
            s = case_value(run, "S"), n = run->ranks;
    size_t ranks = (size_t)n;
    bool causal = case_value(run, "causal") != 0;
    attention_size size = {ranks, (size_t)b, (size_t)(n * hl), (size_t)(n * gl), (size_t)s, D, causal};
    size_t nq = attention_queries(&size), nk = attention_keys(&size);
    float *q = case_normal(run, ranks * nq), *k = case_normal(run, ranks * nk),
          *v = case_normal(run, ranks * nk), scale = 1 / sqrtf(D);
    ulysses_args args = {.Q = case_input(run, PKRT_BF16, CASE_DIMS(b, n, hl, s, D), PKRT_SYMMETRIC, q),
                         .K = case_input(run, PKRT_BF16, CASE_DIMS(b, n, gl, s, D), 0, k),
                         .V = case_input(run, PKRT_BF16, CASE_DIMS(b, n, gl, s, D), 0, v),
                         .O = case_output(run, PKRT_BF16, CASE_DIMS(b, n, hl, s, D), PKRT_SYMMETRIC),
                         .KV = case_output(run, PKRT_BF16, CASE_DIMS(2, b * gl, n, s, D), PKRT_SYMMETRIC),
                         .scale = scale,
                         .causal = causal,
                         .comm = 1};
    attention_reference(&size, scale, q, k, v, case_want(run, args.O, 1e-2), NULL);
    return ulysses_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = ulysses_pk,
                          .length = sizeof ulysses_pk - 1,
                          .axes = {CASE_AXIS("B", 1, 2), CASE_AXIS("HL", 2), CASE_AXIS("GL", 1, 2),
                                   CASE_AXIS("S", 7, 32, 65), CASE_AXIS("causal", 0, 1)},
                          .comm = "comm",
                          .prepare = prepare};
