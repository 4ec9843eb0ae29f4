// SPDX-License-Identifier: Apache-2.0
// GEMM + all-reduce: every rank ends with the sum over ranks of A_r * B_r, checked against a float64
// reference. Usage: example_gemm_ar [--ranks N] [--backend auto|cuda|sim] [--launches K] [M=..] [N=..] [K=..]
// [comm_sms=..]
#include <stdio.h>
#include <stdlib.h>

#include "gemm_ar.pk.h"
#include "run.h"

int main(int argc, char **argv)
{
    host_args args = {
        .ranks = 8, .launches = 3, .seed = 1, .dims = {{"M", 200}, {"N", 520}, {"K", 200}, {"comm_sms", 4}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t m = args.dims[0].value, n = args.dims[1].value, k = args.dims[2].value;
    size_t ranks = (size_t)args.ranks, na = (size_t)(m * k), nb = (size_t)(k * n), nc = (size_t)(m * n);

    float *a = malloc(ranks * na * sizeof *a + 1), *b = malloc(ranks * nb * sizeof *b + 1);
    double *want = calloc(nc + 1, sizeof *want);
    host_normal_bf16(a, ranks * na, &args.seed);
    host_normal_bf16(b, ranks * nb, &args.seed);
    for (size_t r = 0; r < ranks; r++)
        host_gemm(want, a + r * na, b + r * nb, (size_t)m, (size_t)n, (size_t)k);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    gemm_ar_args tensors = {.A = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, k}, 0, a),
                            .B = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){k, n}, 0, b),
                            .C = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, n}, PKRT_SYMMETRIC, NULL),
                            .comm_sms = (int32_t)args.dims[3].value};
    run_check(ctx, gemm_ar_pk_load(ctx, &module), "loading the module");
    run_check(ctx, gemm_ar_bind(module, &kernel, &tensors), "binding gemm_ar");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.C);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, tensors.C, r, want, 1e-2, &worst);
    }
    printf(
        "gemm_ar ranks=%d M=%lld N=%lld K=%lld: %d launches, relative error %.1e, last launch %.3f ms: %s\n",
        args.ranks, (long long)m, (long long)n, (long long)k, args.launches, worst, seconds * 1e3,
        ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(a);
    free(b);
    free(want);
    return !ok;
}
