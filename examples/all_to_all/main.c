// SPDX-License-Identifier: Apache-2.0
// All-to-all of [B, D, R, C]: the rows R are split over the ranks, what comes from them is joined along D,
// checked against a reference. Usage: example_all_to_all [--ranks N] [--backend auto|cuda|sim] [--launches K]
// [B=..] [D=..] [R=..] [C=..]; R is what each rank sends to each, so X has ranks * R rows.
#include <stdio.h>
#include <stdlib.h>

#include "all_to_all.pk.h"
#include "all_to_all/reference.h"
#include "run.h"

enum { SCATTER = 2, GATHER = 1 }; // the module's defaults

int main(int argc, char **argv)
{
    host_args args = {
        .ranks = 8, .launches = 3, .seed = 1, .dims = {{"B", 2}, {"D", 3}, {"R", 20}, {"C", 136}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t b = args.dims[0].value, d = args.dims[1].value, r = args.dims[2].value, c = args.dims[3].value;
    size_t ranks = (size_t)args.ranks, count = ranks * (size_t)(b * d * r * c);
    size_t dims[4] = {(size_t)b, (size_t)d, ranks * (size_t)r, (size_t)c};

    float *x = malloc(ranks * count * sizeof *x + 1);
    double *want = malloc(ranks * count * sizeof *want + 1);
    host_normal_bf16(x, ranks * count, &args.seed);
    all_to_all_reference(want, x, ranks, dims, SCATTER, GATHER);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    all_to_all_args tensors = {
        .X = run_tensor(ctx, PKRT_BF16, 4, (int64_t[]){b, d, args.ranks * r, c}, 0, x),
        .Y = run_tensor(ctx, PKRT_BF16, 4, (int64_t[]){b, args.ranks * d, r, c}, PKRT_SYMMETRIC, NULL)};
    run_check(ctx, all_to_all_pk_load(ctx, &module), "loading the module");
    run_check(ctx, all_to_all_bind(module, &kernel, &tensors), "binding all_to_all");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.Y);
        seconds = run_launch(ctx, kernel);
        for (int rank = 0; rank < args.ranks; rank++)
            ok &= run_compare(ctx, tensors.Y, rank, want + (size_t)rank * count, 0, &worst);
    }
    printf("all_to_all ranks=%d B=%lld D=%lld R=%lld C=%lld: %d launches, last launch %.3f ms: %s\n",
           args.ranks, (long long)b, (long long)d, (long long)r, (long long)c, args.launches, seconds * 1e3,
           ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(x);
    free(want);
    return !ok;
}
