// SPDX-License-Identifier: Apache-2.0
// Times a gemm module against cuBLAS in the same run, interleaved, on random normal data. It needs a GPU; it
// is no test and gates nothing.
//   gemm_bench MODULE.ptx [M N K]...
// burst: short batches with pauses, on a cool card; sustained: batches back to back, at the card's power
// limit. Medians of per-round ratios.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

// cuBLAS, opened at run time. Values from the cuBLAS documentation.
enum { CUBLAS_OP_N = 0, CUDA_R_16BF = 14, CUBLAS_COMPUTE_32F = 68, CUBLAS_GEMM_DEFAULT = -1 };
typedef struct cublas {
    void *handle;
    int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                const void *, void *, int, int, int, int);
} cublas;

typedef struct problem {
    int64_t m, n, k;
    pkrt_context *ctx;
    pkrt_kernel *kernel;
    pkrt_tensor *a, *b, *c, *d;
    cublas blas;
} problem;

static void find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
}

static bool open_cublas(cublas *blas, void *stream)
{
    int (*create)(void **) = NULL, (*set_stream)(void *, void *) = NULL;
    void *library = dlopen("libcublas.so.13", RTLD_NOW);
    if (!library)
        library = dlopen("libcublas.so.12", RTLD_NOW);
    if (!library)
        return false;
    find(library, "cublasCreate_v2", &create);
    find(library, "cublasSetStream_v2", &set_stream);
    find(library, "cublasGemmEx", &blas->gemm);
    return create && set_stream && blas->gemm && create(&blas->handle) == 0 &&
           set_stream(blas->handle, stream) == 0;
}

/// Row-major C = A * B is column-major C' = B' * A'.
static void launch_cublas(void *user)
{
    problem *p = user;
    float one = 1, zero = 0;
    int status =
        p->blas.gemm(p->blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, (int)p->n, (int)p->m, (int)p->k, &one,
                     pkrt_tensor_pointer(p->b, 0), CUDA_R_16BF, (int)p->n, pkrt_tensor_pointer(p->a, 0),
                     CUDA_R_16BF, (int)p->k, &zero, pkrt_tensor_pointer(p->d, 0), CUDA_R_16BF, (int)p->n,
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    if (status != 0)
        fprintf(stderr, "cublasGemmEx: status %d\n", status);
}

static void launch_ours(void *user)
{
    problem *p = user;
    run_check(p->ctx, pkrt_kernel_launch(p->kernel, NULL), "launching");
}

static double teraflops(const problem *p, double seconds)
{
    return 2e-12 * (double)p->m * (double)p->n * (double)p->k / seconds;
}

static void regime(problem *p, const char *name, int n, useconds_t pause)
{
    double ours[BENCH_ROUNDS], theirs[BENCH_ROUNDS], ratio[BENCH_ROUNDS];
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        usleep(pause);
        ours[i] = teraflops(p, bench_batch(p->ctx, launch_ours, p, n));
        usleep(pause);
        theirs[i] = teraflops(p, bench_batch(p->ctx, launch_cublas, p, n));
        ratio[i] = ours[i] / theirs[i];
    }
    double r = bench_median(ratio, BENCH_ROUNDS), least = ratio[0], most = ratio[BENCH_ROUNDS - 1];
    printf("%6lld x %6lld x %6lld  %-9s ours %6.1f  cuBLAS %6.1f TFLOP/s  ratio %.3f (%.3f to %.3f)\n",
           (long long)p->m, (long long)p->n, (long long)p->k, name, bench_median(ours, BENCH_ROUNDS),
           bench_median(theirs, BENCH_ROUNDS), r, least, most);
}

/// Largest difference of ours and cuBLAS', relative to the largest element.
static double difference(problem *p)
{
    size_t count = (size_t)(p->m * p->n);
    float *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
    double worst = 0, largest = 0;
    run_poison(p->ctx, p->c);
    bench_batch(p->ctx, launch_ours, p, 1);
    bench_batch(p->ctx, launch_cublas, p, 1);
    run_check(p->ctx, pkrt_tensor_read_f32(p->c, 0, x, count), "reading");
    run_check(p->ctx, pkrt_tensor_read_f32(p->d, 0, y, count), "reading");
    for (size_t i = 0; i < count; i++) {
        double d = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
        worst = d <= worst ? worst : d; // a NaN of ours is worst
        largest = y[i] > largest ? y[i] : largest;
    }
    free(x);
    free(y);
    return worst / largest;
}

static void run_shape(pkrt_context *ctx, pkrt_module *module, const cublas *blas, int64_t m, int64_t n,
                      int64_t k)
{
    uint64_t seed = 1;
    float *a = bench_normal((size_t)(m * k), &seed), *b = bench_normal((size_t)(k * n), &seed);
    problem p = {.m = m, .n = n, .k = k, .ctx = ctx, .blas = *blas};
    p.a = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, k}, 0, a);
    p.b = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){k, n}, 0, b);
    p.c = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, n}, 0, NULL);
    p.d = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){m, n}, 0, NULL);
    pkrt_arg args[] = {
        {.name = "A", .tensor = p.a}, {.name = "B", .tensor = p.b}, {.name = "C", .tensor = p.c}};
    run_check(ctx, pkrt_kernel_bind(module, &p.kernel, NULL, args, 3), "binding");
    printf("largest difference to cuBLAS: %.2e of the largest element\n", difference(&p));
    int launches = bench_launches(ctx, launch_cublas, &p);
    regime(&p, "burst", launches, BENCH_PAUSE_US);
    regime(&p, "sustained", launches * 8, 0);
    pkrt_kernel_destroy(p.kernel);
    pkrt_tensor_destroy(p.a);
    pkrt_tensor_destroy(p.b);
    pkrt_tensor_destroy(p.c);
    pkrt_tensor_destroy(p.d);
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    if (argc < 2 || (argc - 2) % 3 != 0) {
        fprintf(stderr, "usage: gemm_bench MODULE.ptx [M N K]...\n");
        return 2;
    }
    size_t len;
    char *text = bench_read(argv[1], &len);
    host_args args = {.ranks = 1, .backend = "cuda"};
    pkrt_context *ctx = run_open(&args);
    pkrt_module *module;
    run_check(ctx, pkrt_module_load(ctx, &module, text, len), "loading the module");
    cublas blas = {0};
    void *stream = pkrt_context_stream(ctx, 0);
    pkrt_tensor *warm = run_tensor(ctx, PKRT_F32, 1, (int64_t[]){1}, 0, NULL); // a current context for cuBLAS
    if (!open_cublas(&blas, stream)) {
        fprintf(stderr, "gemm_bench: no cuBLAS here\n");
        return 1;
    }
    pkrt_tensor_destroy(warm);
    for (int i = 2; i + 2 < argc; i += 3)
        run_shape(ctx, module, &blas, atoll(argv[i]), atoll(argv[i + 1]), atoll(argv[i + 2]));
    pkrt_context_destroy(ctx);
    free(text);
    return 0;
}
