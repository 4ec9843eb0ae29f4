// SPDX-License-Identifier: Apache-2.0
// GEMM + reduce-scatter in fp8: rank r ends with the rows r of the sum over ranks of A_r * B_r.T, checked
// against a float64 reference. Usage: example_fp8_gemm_rs [--ranks N] [--backend auto|cuda|sim] [--launches
// K] [R=..] [N=..] [K=..]
#include <stdio.h>
#include <stdlib.h>

#include "fp8_gemm/reference.h"
#include "fp8_gemm_rs.pk.h"
#include "run.h"

int main(int argc, char **argv)
{
    host_args args = {.ranks = 8, .launches = 3, .seed = 1, .dims = {{"R", 132}, {"N", 200}, {"K", 272}}};
    if (!host_parse(argc, argv, &args))
        return 2;
    int64_t rows = args.dims[0].value, n = args.dims[1].value, k = args.dims[2].value;
    size_t ranks = (size_t)args.ranks, kb = fp8_blocks((size_t)k), nb = fp8_blocks((size_t)n);
    size_t na = ranks * (size_t)(rows * k), nsa = ranks * (size_t)rows * kb, nbb = (size_t)(n * k),
           nsb = nb * kb, nc = (size_t)(rows * n);

    float *a = malloc(ranks * na * sizeof *a + 1), *sa = malloc(ranks * nsa * sizeof *sa + 1);
    float *b = malloc(ranks * nbb * sizeof *b + 1), *sb = malloc(ranks * nsb * sizeof *sb + 1);
    double *want = calloc(ranks * nc + 1, sizeof *want);
    fp8_values(a, ranks * na, &args.seed);
    fp8_scales(sa, ranks * nsa, &args.seed);
    fp8_values(b, ranks * nbb, &args.seed);
    fp8_scales(sb, ranks * nsb, &args.seed);
    for (size_t r = 0; r < ranks; r++)
        for (size_t owner = 0; owner < ranks; owner++)
            fp8_gemm_reference(want + owner * nc, a + r * na + owner * (size_t)(rows * k), b + r * nbb,
                               sa + r * nsa + owner * (size_t)rows * kb, sb + r * nsb, (size_t)rows,
                               (size_t)n, (size_t)k);

    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    pkrt_kernel *kernel;
    fp8_gemm_rs_args tensors = {
        .A = run_tensor(ctx, PKRT_E4M3, 3, (int64_t[]){args.ranks, rows, k}, 0, a),
        .SA = run_tensor(ctx, PKRT_F32, 3, (int64_t[]){args.ranks, (int64_t)kb, rows}, 0, sa),
        .B = run_tensor(ctx, PKRT_E4M3, 2, (int64_t[]){n, k}, 0, b),
        .SB = run_tensor(ctx, PKRT_F32, 2, (int64_t[]){(int64_t)nb, (int64_t)kb}, 0, sb),
        .C = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){rows, n}, PKRT_SYMMETRIC, NULL)};
    run_check(ctx, fp8_gemm_rs_pk_load(ctx, &module), "loading the module");
    run_check(ctx, fp8_gemm_rs_bind(module, &kernel, &tensors), "binding fp8_gemm_rs");

    bool ok = true;
    double worst = 0, seconds = 0;
    for (int i = 0; i < args.launches; i++) {
        run_poison(ctx, tensors.C);
        seconds = run_launch(ctx, kernel);
        for (int r = 0; r < args.ranks; r++)
            ok &= run_compare(ctx, tensors.C, r, want + (size_t)r * nc, 1e-2, &worst);
    }
    printf("fp8_gemm_rs ranks=%d R=%lld N=%lld K=%lld: %d launches, relative error %.1e, last launch %.3f "
           "ms: %s\n",
           args.ranks, (long long)rows, (long long)n, (long long)k, args.launches, worst, seconds * 1e3,
           ok ? "right" : "WRONG");
    pkrt_context_destroy(ctx);
    free(a);
    free(sa);
    free(b);
    free(sb);
    free(want);
    return !ok;
}
