// SPDX-License-Identifier: Apache-2.0
// Ring attention: each rank holds S rows of a sequence of ranks * S and ends with the attention of its rows
// to the whole; checked against a float64 reference. Usage: example_ring_attention [--ranks N]
// [--backend auto|cuda|sim] [--launches K] [B=..] [H=..] [G=..] [S=..] [CAUSAL=0|1] [COMM=..]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attention/reference.h"
#include "ring_attention.pk.h"
#include "run.h"

enum { DIM = 128 }; // the module's D

int main(int argc, char **argv)
{
    host_args args = {.ranks = 8,
                      .launches = 3,
                      .seed = 1,
                      .dims = {{"B", 1}, {"H", 2}, {"G", 1}, {"S", 130}, {"CAUSAL", 0}, {"COMM", 16}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t b = args.dims[0].value, h = args.dims[1].value, g = args.dims[2].value, s = args.dims[3].value;
    size_t ranks = (size_t)args.ranks;
    attention_size size = {ranks, (size_t)b, (size_t)h, (size_t)g, (size_t)s, DIM, args.dims[4].value != 0};
    size_t nq = attention_queries(&size), nk = attention_keys(&size), rows = nq / DIM;
    float scale = 1 / sqrtf(DIM);

    float *q = host_normal_tensor(ranks * nq, &args.seed), *k = host_normal_tensor(ranks * nk, &args.seed),
          *v = host_normal_tensor(ranks * nk, &args.seed);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    int64_t queries[] = {b, h, s, DIM}, keys[] = {b, g, s, DIM}, two[] = {2, b, g, s, DIM};
    ring_attention_args tensors = {.Q = run_tensor(ctx, PKRT_BF16, 4, queries, 0, q),
                                   .K = run_tensor(ctx, PKRT_BF16, 4, keys, 0, k),
                                   .V = run_tensor(ctx, PKRT_BF16, 4, keys, 0, v),
                                   .O = run_tensor(ctx, PKRT_BF16, 4, queries, 0, NULL),
                                   .LSE = run_tensor(ctx, PKRT_F32, 4, (int64_t[]){b, h, s, 1}, 0, NULL),
                                   .KR = run_tensor(ctx, PKRT_BF16, 5, two, PKRT_SYMMETRIC, NULL),
                                   .VR = run_tensor(ctx, PKRT_BF16, 5, two, PKRT_SYMMETRIC, NULL),
                                   .P = run_tensor(ctx, PKRT_F32, 4, queries, 0, NULL),
                                   .scale = scale,
                                   .causal = size.causal,
                                   .comm = (int32_t)args.dims[5].value};
    run_check(ctx, ring_attention_pk_load(ctx, &module), "loading the module");
    run_check(ctx, ring_attention_bind(module, &kernel, &tensors), "binding ring_attention");

    double *want = malloc((ranks * nq + 1) * sizeof *want), *lse = malloc((ranks * rows + 1) * sizeof *lse);
    attention_reference(&size, scale, q, k, v, want, lse);
    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.O);
        run_poison(ctx, tensors.LSE);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++) {
            ok &= run_compare(ctx, tensors.O, r, want + (size_t)r * nq, 1e-2, &worst);
            ok &= run_compare(ctx, tensors.LSE, r, lse + (size_t)r * rows, 1e-3, &worst);
        }
    }
    printf("ring_attention ranks=%d B=%lld H=%lld G=%lld S=%lld %s: %d launches, relative error %.1e, last "
           "launch %.3f ms: %s\n",
           args.ranks, (long long)b, (long long)h, (long long)g, (long long)s,
           size.causal ? "causal" : "full", args.launches, worst, seconds * 1e3, ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(q);
    free(k);
    free(v);
    free(want);
    free(lse);
    return !ok;
}
