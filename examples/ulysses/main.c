// SPDX-License-Identifier: Apache-2.0
// Attention after Ulysses: each rank holds S rows of a sequence of ranks * S, with ranks * HL query heads and
// ranks * GL key heads, and computes HL heads over the whole sequence; checked against a float64 reference.
// Usage: example_ulysses [--ranks N] [--backend auto|cuda|sim] [--launches K] [B=..] [HL=..] [GL=..] [S=..]
// [CAUSAL=0|1] [COMM=..]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attention/reference.h"
#include "run.h"
#include "ulysses.pk.h"

enum { DIM = 128 }; // the module's D

int main(int argc, char **argv)
{
    host_args args = {.ranks = 4,
                      .launches = 3,
                      .seed = 1,
                      .dims = {{"B", 1}, {"HL", 2}, {"GL", 1}, {"S", 130}, {"CAUSAL", 0}, {"COMM", 16}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t b = args.dims[0].value, hl = args.dims[1].value, gl = args.dims[2].value, s = args.dims[3].value,
            n = args.ranks;
    size_t ranks = (size_t)n;
    attention_size size = {ranks,     (size_t)b, (size_t)(n * hl),       (size_t)(n * gl),
                           (size_t)s, DIM,       args.dims[4].value != 0};
    size_t nq = attention_queries(&size), nk = attention_keys(&size);
    float scale = 1 / sqrtf(DIM);

    float *q = host_normal_tensor(ranks * nq, &args.seed), *k = host_normal_tensor(ranks * nk, &args.seed),
          *v = host_normal_tensor(ranks * nk, &args.seed);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    int64_t queries[] = {b, n, hl, s, DIM}, keys[] = {b, n, gl, s, DIM}, both[] = {2, b * gl, n, s, DIM};
    ulysses_args tensors = {.Q = run_tensor(ctx, PKRT_BF16, 5, queries, PKRT_SYMMETRIC, q),
                            .K = run_tensor(ctx, PKRT_BF16, 5, keys, 0, k),
                            .V = run_tensor(ctx, PKRT_BF16, 5, keys, 0, v),
                            .O = run_tensor(ctx, PKRT_BF16, 5, queries, PKRT_SYMMETRIC, NULL),
                            .KV = run_tensor(ctx, PKRT_BF16, 5, both, PKRT_SYMMETRIC, NULL),
                            .scale = scale,
                            .causal = size.causal,
                            .comm = (int32_t)args.dims[5].value};
    run_check(ctx, ulysses_pk_load(ctx, &module), "loading the module");
    run_check(ctx, ulysses_bind(module, &kernel, &tensors), "binding ulysses");

    double *want = malloc((ranks * nq + 1) * sizeof *want);
    attention_reference(&size, scale, q, k, v, want, NULL);
    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.O);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, tensors.O, r, want + (size_t)r * nq, 1e-2, &worst);
    }
    printf("ulysses ranks=%d B=%lld HL=%lld GL=%lld S=%lld %s: %d launches, relative error %.1e, last launch "
           "%.3f ms: %s\n",
           args.ranks, (long long)b, (long long)hl, (long long)gl, (long long)s,
           size.causal ? "causal" : "full", args.launches, worst, seconds * 1e3, ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(q);
    free(k);
    free(v);
    free(want);
    return !ok;
}
