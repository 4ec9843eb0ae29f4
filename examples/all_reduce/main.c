// SPDX-License-Identifier: Apache-2.0
// All-reduce in place: every rank ends with the sum over ranks of X, checked against a float64 reference.
// Usage: example_all_reduce [--ranks N] [--backend auto|cuda|sim] [--multicast never|auto|require]
// [--launches K] [N=..]
#include <stdio.h>
#include <stdlib.h>

#include "all_reduce.pk.h"
#include "all_reduce/reference.h"
#include "run.h"

int main(int argc, char **argv)
{
    host_args args = {.ranks = 8, .launches = 3, .seed = 1, .dims = {{"N", 100000}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    size_t ranks = (size_t)args.ranks, n = (size_t)args.dims[0].value;

    float *x = malloc(ranks * n * sizeof *x + 1);
    double *want = malloc(n * sizeof *want + 1);
    host_normal_bf16(x, ranks * n, &args.seed);
    all_reduce_reference(want, x, ranks, n);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    all_reduce_args tensors = {.X = run_tensor(ctx, PKRT_BF16, 1, &args.dims[0].value, PKRT_SYMMETRIC, NULL)};
    run_check(ctx, all_reduce_pk_load(ctx, &module), "loading the module");
    run_check(ctx, all_reduce_bind(module, &kernel, &tensors), "binding all_reduce");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_fill(ctx, tensors.X, x); // the launch before has written the sum there
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, tensors.X, r, want, 1e-2, &worst);
    }
    printf("all_reduce ranks=%d N=%zu: %d launches, relative error %.1e, last launch %.3f ms: %s\n",
           args.ranks, n, args.launches, worst, seconds * 1e3, ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(x);
    free(want);
    return !ok;
}
