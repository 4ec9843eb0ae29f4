// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

double bench_batch(pkrt_context *ctx, void (*launch)(void *), void *user, int n)
{
    run_check(ctx, pkrt_context_synchronize(ctx), "waiting");
    double start = host_seconds();
    for (int i = 0; i < n; i++)
        launch(user);
    run_check(ctx, pkrt_context_synchronize(ctx), "waiting");
    return (host_seconds() - start) / n;
}

int bench_launches(pkrt_context *ctx, void (*launch)(void *), void *user)
{
    bench_batch(ctx, launch, user, 2);
    return (int)(BENCH_BATCH_MS * 1e-3 / bench_batch(ctx, launch, user, 4)) + 1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 2];
}

char *bench_read(const char *path, size_t *len)
{
    enum { MOST = 1 << 22 };
    FILE *f = fopen(path, "rb");
    char *text = malloc(MOST);
    if (!f || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    *len = fread(text, 1, MOST, f);
    fclose(f);
    return text;
}

float *bench_normal(size_t n, uint64_t *seed)
{
    float *x = malloc((n + 1) * sizeof *x);
    host_normal_bf16(x, n, seed);
    return x;
}
