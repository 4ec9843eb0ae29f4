// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter along the inner dimension: rank r ends with Y = the sum over ranks of X[:, r, :], checked
// against a float64 reference. Usage: example_reduce_scatter [--ranks N] [--backend auto|cuda|sim]
// [--multicast never|auto|require] [--launches K] [M=..] [N=..]
#include <stdio.h>
#include <stdlib.h>

#include "reduce_scatter.pk.h"
#include "reduce_scatter/reference.h"
#include "run.h"

int main(int argc, char **argv)
{
    host_args args = {.ranks = 8, .launches = 3, .seed = 1, .dims = {{"M", 100}, {"N", 264}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t m = args.dims[0].value, n = args.dims[1].value;
    size_t ranks = (size_t)args.ranks, ny = (size_t)(m * n);

    float *x = malloc(ranks * ranks * ny * sizeof *x + 1);
    double *want = malloc(ranks * ny * sizeof *want + 1);
    host_normal_bf16(x, ranks * ranks * ny, &args.seed);
    reduce_scatter_reference(want, x, ranks, (size_t)m, (size_t)n);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    reduce_scatter_args tensors = {
        .X = run_tensor(ctx, PKRT_BF16, 3, (int64_t[]){m, args.ranks, n}, PKRT_SYMMETRIC, x),
        .Y = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, n}, 0, NULL)};
    run_check(ctx, reduce_scatter_pk_load(ctx, &module), "loading the module");
    run_check(ctx, reduce_scatter_bind(module, &kernel, &tensors), "binding reduce_scatter");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.Y);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, tensors.Y, r, want + (size_t)r * ny, 1e-2, &worst);
    }
    printf(
        "reduce_scatter ranks=%d M=%lld N=%lld: %d launches, relative error %.1e, last launch %.3f ms: %s\n",
        args.ranks, (long long)m, (long long)n, args.launches, worst, seconds * 1e3, ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(x);
    free(want);
    return !ok;
}
