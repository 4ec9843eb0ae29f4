// SPDX-License-Identifier: Apache-2.0
// Mixture of experts, first half: every rank pulls the tokens routed to its experts and multiplies each
// expert's rows by its weights, however many rows that are. Checked against a float64 reference.
// Usage: example_moe_dispatch_gemm [--ranks N] [--backend auto|cuda|sim] [--launches K] [T=..] [E=..] [N=..]
// [topk=..] [comm_sms=..]
#include <stdio.h>
#include <stdlib.h>

#include "moe.h"
#include "moe_dispatch_gemm.pk.h"
#include "run.h"

enum { H = 7168 }; // the module's default

/// Compares the rows that rank got; the others belong to nobody.
static bool compare_rows(pkrt_context *ctx, pkrt_tensor *z, int rank, const double *want, size_t count,
                         double *worst)
{
    size_t all = (size_t)pkrt_tensor_count(z);
    float *got = malloc(all * sizeof *got + 1);
    run_check(ctx, pkrt_tensor_read_f32(z, rank, got, all), "reading a tensor");
    host_error e = host_compare(got, want, count);
    *worst = e.relative > *worst ? e.relative : *worst;
    free(got);
    return e.unwritten == 0 && e.relative <= 1e-2;
}

int main(int argc, char **argv)
{
    host_args args = {.ranks = 8,
                      .launches = 3,
                      .seed = 1,
                      .dims = {{"T", 10}, {"E", 2}, {"N", 72}, {"topk", 2}, {"comm_sms", 8}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t tokens = args.dims[0].value, experts = args.dims[1].value, n = args.dims[2].value;
    size_t ranks = (size_t)args.ranks, nx = (size_t)tokens * H, nw = (size_t)(experts * n) * H;

    // tokens choose experts; P rows are enough for the rank that gets most
    moe_routing routing =
        moe_route(ranks, (size_t)tokens, (size_t)experts, (size_t)args.dims[3].value, MOE_UNEVEN, &args.seed);
    int64_t rows = (int64_t)routing.rows;
    size_t nz = (size_t)(rows * n);
    float *x = malloc(ranks * nx * sizeof *x + 1), *w = malloc(ranks * nw * sizeof *w + 1);
    double *want = calloc(ranks * nz + 1, sizeof *want);
    host_normal_bf16(x, ranks * nx, &args.seed);
    host_normal_bf16(w, ranks * nw, &args.seed);
    for (size_t r = 0; r < ranks; r++)
        moe_gemm_reference(want + r * nz, &routing, r, x, w + r * nw, H, (size_t)n);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    moe_dispatch_gemm_args tensors = {
        .X = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){tokens, H}, PKRT_SYMMETRIC, x),
        .Y = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){rows, H}, 0, NULL),
        .W = run_tensor(ctx, PKRT_BF16, 3, (int64_t[]){experts, H, n}, 0, w),
        .Z = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){rows, n}, 0, NULL),
        .from = run_tensor_i32(ctx, 2, (int64_t[]){rows, 2}, routing.from),
        .first = run_tensor_i32(ctx, 1, (int64_t[]){experts + 1}, routing.first),
        .comm_sms = (int32_t)args.dims[4].value};
    run_check(ctx, moe_dispatch_gemm_pk_load(ctx, &module), "loading the module");
    run_check(ctx, moe_dispatch_gemm_bind(module, &kernel, &tensors), "binding moe_dispatch_gemm");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.Y);
        run_poison(ctx, tensors.Z);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= compare_rows(ctx, tensors.Z, r, want + (size_t)r * nz,
                               moe_rows(&routing, (size_t)r) * (size_t)n, &worst);
    }
    printf("moe_dispatch_gemm ranks=%d T=%lld E=%lld N=%lld: %d launches, relative error %.1e, last launch "
           "%.3f ms: %s\n",
           args.ranks, (long long)tokens, (long long)experts, (long long)n, args.launches, worst,
           seconds * 1e3, ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    moe_free(&routing);
    free(x);
    free(w);
    free(want);
    return !ok;
}
