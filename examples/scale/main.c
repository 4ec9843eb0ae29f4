// SPDX-License-Identifier: Apache-2.0
// Y = factor * X, the smallest program. Usage: example_scale [--ranks N] [--backend auto|cuda|sim]
// [--launches K] [M=..] [N=..]
#include <stdio.h>
#include <stdlib.h>

#include "run.h"
#include "scale.pk.h"

int main(int argc, char **argv)
{
    host_args args = {.ranks = 1, .launches = 3, .seed = 1, .dims = {{"M", 100}, {"N", 777}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t m = args.dims[0].value, n = args.dims[1].value;
    size_t ranks = (size_t)args.ranks, count = (size_t)(m * n);
    const float factor = 2.5f;

    float *x = malloc(ranks * count * sizeof *x + 1);
    double *want = malloc(ranks * count * sizeof *want + 1);
    host_normal_bf16(x, ranks * count, &args.seed);
    for (size_t i = 0; i < ranks * count; i++)
        want[i] = x[i] * factor;

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    scale_args params = {.X = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, n}, 0, x),
                         .Y = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, n}, 0, NULL),
                         .a = factor};
    run_check(ctx, scale_pk_load(ctx, &module), "loading the module");
    run_check(ctx, scale_bind(module, &kernel, &params), "binding scale");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, params.Y);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, params.Y, r, want + (size_t)r * count, 1e-2, &worst);
    }
    printf("scale M=%lld N=%lld: %d launches, relative error %.1e, last launch %.3f ms: %s\n", (long long)m,
           (long long)n, args.launches, worst, seconds * 1e3, ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(x);
    free(want);
    return !ok;
}
