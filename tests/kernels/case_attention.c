// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "attention.pk.h"
#include "attention/reference.h"
#include "case.h"

#ifndef D // of the module
#define D 128
#endif

static pkrt_status prepare(case_run *run)
{
    int64_t b = case_value(run, "B"), h = case_value(run, "H"), g = case_value(run, "G"),
            s = case_value(run, "S"), ranks = run->ranks;
    attention_size size = {1, (size_t)b, (size_t)h, (size_t)g, (size_t)s, D, case_value(run, "causal") != 0};
    size_t nq = attention_queries(&size), nk = attention_keys(&size);
    float *q = case_normal(run, (size_t)ranks * nq), *k = case_normal(run, (size_t)ranks * nk),
          *v = case_normal(run, (size_t)ranks * nk), scale = 1 / sqrtf(D);
    attention_args args = {.Q = case_input(run, PKRT_BF16, CASE_DIMS(b, h, s, D), 0, q),
                           .K = case_input(run, PKRT_BF16, CASE_DIMS(b, g, s, D), 0, k),
                           .V = case_input(run, PKRT_BF16, CASE_DIMS(b, g, s, D), 0, v),
                           .O = case_output(run, PKRT_BF16, CASE_DIMS(b, h, s, D), 0),
                           .scale = scale,
                           .causal = size.causal};
    double *want = case_want(run, args.O, 1e-2);
    for (size_t r = 0; h % g == 0 && r < (size_t)ranks; r++)
        attention_reference(&size, scale, q + r * nq, k + r * nk, v + r * nk, want + r * nq, NULL);
    return attention_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = attention_pk,
                          .length = sizeof attention_pk - 1,
                          .axes = {CASE_AXIS("B", 1, 2), CASE_AXIS("H", 2, 4), CASE_AXIS("G", 1, 2),
                                   CASE_AXIS("S", 7, 32, 65, 100), CASE_AXIS("causal", 0, 1)},
                          .prepare = prepare};
