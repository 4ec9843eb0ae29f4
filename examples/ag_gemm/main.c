// SPDX-License-Identifier: Apache-2.0
// All-gather + GEMM: every rank multiplies the rows of all ranks by its own B, checked against a float64
// reference. Usage: example_ag_gemm [--ranks N] [--backend auto|cuda|sim] [--launches K] [R=..] [N=..] [K=..]
// [comm_sms=..]
#include <stdio.h>
#include <stdlib.h>

#include "ag_gemm.pk.h"
#include "ag_gemm/reference.h"
#include "run.h"

int main(int argc, char **argv)
{
    host_args args = {
        .ranks = 8, .launches = 3, .seed = 1, .dims = {{"R", 130}, {"N", 520}, {"K", 200}, {"comm_sms", 4}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t rows = args.dims[0].value, n = args.dims[1].value, k = args.dims[2].value;
    size_t ranks = (size_t)args.ranks, na = (size_t)(rows * k), nb = (size_t)(k * n),
           nc = ranks * (size_t)(rows * n);

    float *a = malloc(ranks * na * sizeof *a + 1), *b = malloc(ranks * nb * sizeof *b + 1);
    double *want = calloc(ranks * nc + 1, sizeof *want);
    host_normal_bf16(a, ranks * na, &args.seed);
    host_normal_bf16(b, ranks * nb, &args.seed);
    ag_gemm_reference(want, a, b, ranks, (size_t)rows, (size_t)n, (size_t)k);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    int64_t gathered[] = {args.ranks, rows, k};
    ag_gemm_args tensors = {
        .A = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){rows, k}, 0, a),
        .G = run_tensor(ctx, PKRT_BF16, 3, gathered, PKRT_SYMMETRIC, NULL), // scratch: needs no filling
        .B = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){k, n}, 0, b),
        .C = run_tensor(ctx, PKRT_BF16, 3, (int64_t[]){args.ranks, rows, n}, 0, NULL),
        .comm_sms = (int32_t)args.dims[3].value};
    run_check(ctx, ag_gemm_pk_load(ctx, &module), "loading the module");
    run_check(ctx, ag_gemm_bind(module, &kernel, &tensors), "binding ag_gemm");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.C);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, tensors.C, r, want + (size_t)r * nc, 1e-2, &worst);
    }
    printf(
        "ag_gemm ranks=%d R=%lld N=%lld K=%lld: %d launches, relative error %.1e, last launch %.3f ms: %s\n",
        args.ranks, (long long)rows, (long long)n, (long long)k, args.launches, worst, seconds * 1e3,
        ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(a);
    free(b);
    free(want);
    return !ok;
}
