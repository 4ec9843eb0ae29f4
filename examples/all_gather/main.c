// SPDX-License-Identifier: Apache-2.0
// All-gather along the inner dimension: every rank ends with Y[:, r, :] = X of rank r. Must be exact.
// Usage: example_all_gather [--ranks N] [--backend auto|cuda|sim] [--launches K] [M=..] [N=..]
#include <stdio.h>
#include <stdlib.h>

#include "all_gather.pk.h"
#include "all_gather/reference.h"
#include "run.h"

int main(int argc, char **argv)
{
    host_args args = {.ranks = 8, .launches = 3, .seed = 1, .dims = {{"M", 200}, {"N", 264}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t m = args.dims[0].value, n = args.dims[1].value;
    size_t ranks = (size_t)args.ranks, nx = (size_t)(m * n);

    float *x = malloc(ranks * nx * sizeof *x + 1);
    double *want = calloc(ranks * nx + 1, sizeof *want);
    host_normal_bf16(x, ranks * nx, &args.seed);
    all_gather_reference(want, x, ranks, (size_t)m, (size_t)n);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    all_gather_args tensors = {
        .X = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, n}, 0, x),
        .Y = run_tensor(ctx, PKRT_BF16, 3, (int64_t[]){m, args.ranks, n}, PKRT_SYMMETRIC, NULL)};
    run_check(ctx, all_gather_pk_load(ctx, &module), "loading the module");
    run_check(ctx, all_gather_bind(module, &kernel, &tensors), "binding all_gather");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.Y);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, tensors.Y, r, want, 0, &worst);
    }
    printf("all_gather ranks=%d M=%lld N=%lld: %d launches, last launch %.3f ms: %s\n", args.ranks,
           (long long)m, (long long)n, args.launches, seconds * 1e3, ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(x);
    free(want);
    return !ok;
}
