// SPDX-License-Identifier: Apache-2.0
// Mixture of experts, second half: every rank pulls the results of its tokens from the ranks of their experts
// and adds them with their weights, checked against a float64 reference.
// Usage: example_moe_combine [--ranks N] [--backend auto|cuda|sim] [--launches K] [T=..] [E=..]
#include <stdio.h>
#include <stdlib.h>

#include "moe.h"
#include "moe_combine.pk.h"
#include "run.h"

enum { H = 7168, TOPK = 8 }; // the module's defaults

int main(int argc, char **argv)
{
    host_args args = {.ranks = 8, .launches = 3, .seed = 1, .dims = {{"T", 10}, {"E", 4}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t tokens = args.dims[0].value, experts = args.dims[1].value;
    size_t ranks = (size_t)args.ranks, ny = (size_t)tokens * H, nk = (size_t)tokens * TOPK;

    moe_routing routing = moe_route(ranks, (size_t)tokens, (size_t)experts, TOPK, MOE_UNEVEN, &args.seed);
    int64_t rows = (int64_t)routing.rows;
    size_t nz = (size_t)rows * H;
    float *z = malloc(ranks * nz * sizeof *z + 1), *weight = malloc(ranks * nk * sizeof *weight + 1);
    double *want = calloc(ranks * ny + 1, sizeof *want);
    host_normal_bf16(z, ranks * nz, &args.seed);
    host_normal_bf16(weight, ranks * nk, &args.seed);
    for (size_t r = 0; r < ranks; r++)
        moe_combine_reference(want + r * ny, &routing, r, z, weight + r * nk, H);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    moe_combine_args tensors = {.Z = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){rows, H}, PKRT_SYMMETRIC, z),
                                .Y = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){tokens, H}, 0, NULL),
                                .where = run_tensor_i32(ctx, 3, (int64_t[]){tokens, TOPK, 2}, routing.where),
                                .weight = run_tensor(ctx, PKRT_F32, 2, (int64_t[]){tokens, TOPK}, 0, weight)};
    run_check(ctx, moe_combine_pk_load(ctx, &module), "loading the module");
    run_check(ctx, moe_combine_bind(module, &kernel, &tensors), "binding moe_combine");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.Y);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, tensors.Y, r, want + (size_t)r * ny, 1e-2, &worst);
    }
    printf("moe_combine ranks=%d T=%lld E=%lld: %d launches, relative error %.1e, last launch %.3f ms: %s\n",
           args.ranks, (long long)tokens, (long long)experts, args.launches, worst, seconds * 1e3,
           ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    moe_free(&routing);
    free(z);
    free(weight);
    free(want);
    return !ok;
}
