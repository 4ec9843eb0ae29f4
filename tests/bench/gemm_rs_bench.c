// SPDX-License-Identifier: Apache-2.0
// Times forms of gemm_rs against each other, interleaved, with N ranks on the devices there are: which
// protocol is quicker.
//   gemm_rs_bench RANKS R N K MODULE.ptx...
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

enum { MOST_FORMS = 4 };

typedef struct form {
    const char *path;
    pkrt_kernel *kernel;
    pkrt_context *ctx;
    double seconds[BENCH_ROUNDS];
} form;

static void launch(void *user)
{
    form *f = user;
    run_check(f->ctx, pkrt_kernel_launch(f->kernel, NULL), "launching");
}

static void bind(form *f, pkrt_tensor *a, pkrt_tensor *b, pkrt_tensor *c)
{
    size_t len;
    char *text = bench_read(f->path, &len);
    pkrt_module *module;
    pkrt_arg args[] = {{.name = "A", .tensor = a}, {.name = "B", .tensor = b}, {.name = "C", .tensor = c}};
    run_check(f->ctx, pkrt_module_load(f->ctx, &module, text, len), "loading a module");
    run_check(f->ctx, pkrt_kernel_bind(module, &f->kernel, NULL, args, 3), "binding");
    free(text);
}

static void measure(form *forms, int n, int launches, useconds_t pause)
{
    for (int i = 0; i < BENCH_ROUNDS; i++)
        for (int j = 0; j < n; j++) {
            usleep(pause);
            forms[j].seconds[i] = bench_batch(forms[j].ctx, launch, &forms[j], launches);
        }
}

int main(int argc, char **argv)
{
    if (argc < 6 || argc - 5 > MOST_FORMS) {
        fprintf(stderr, "usage: gemm_rs_bench RANKS R N K MODULE.ptx...\n");
        return 2;
    }
    host_args args = {.ranks = atoi(argv[1]), .backend = "cuda"};
    int64_t rows = atoll(argv[2]), n = atoll(argv[3]), k = atoll(argv[4]);
    int n_forms = argc - 5;
    uint64_t seed = 1;
    pkrt_context *ctx = run_open(&args);
    float *a = bench_normal((size_t)(args.ranks * args.ranks * rows * k), &seed),
          *b = bench_normal((size_t)(args.ranks * k * n), &seed);
    pkrt_tensor *ta = run_tensor(ctx, PKRT_BF16, 3, (int64_t[]){args.ranks, rows, k}, 0, a);
    pkrt_tensor *tb = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){k, n}, 0, b);
    pkrt_tensor *tc = run_tensor(ctx, PKRT_BF16, 2, (int64_t[]){rows, n}, PKRT_SYMMETRIC, NULL);
    form forms[MOST_FORMS];
    for (int i = 0; i < n_forms; i++) {
        forms[i] = (form){.path = argv[5 + i], .ctx = ctx};
        bind(&forms[i], ta, tb, tc);
    }
    double flop = 2e-12 * (double)args.ranks * (double)args.ranks * (double)rows * (double)n * (double)k;
    measure(forms, n_forms, bench_launches(ctx, launch, &forms[0]), BENCH_PAUSE_US);
    for (int i = 0; i < n_forms; i++) {
        double s = bench_median(forms[i].seconds, BENCH_ROUNDS);
        printf("R %lld N %lld K %lld, %d ranks: %-24s %8.1f us (%.1f to %.1f)  %6.1f TFLOP/s\n",
               (long long)rows, (long long)n, (long long)k, args.ranks, forms[i].path, s * 1e6,
               forms[i].seconds[0] * 1e6, forms[i].seconds[BENCH_ROUNDS - 1] * 1e6, flop / s);
    }
    pkrt_context_destroy(ctx);
    free(a);
    free(b);
    return 0;
}
