// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void run_check(pkrt_context *ctx, pkrt_status status, const char *what)
{
    if (status == PKRT_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, pkrt_last_error(ctx));
    pkrt_context_destroy(ctx);
    exit(1);
}

static pkrt_backend backend_of(const char *name)
{
    if (!name || strcmp(name, "auto") == 0)
        return PKRT_BACKEND_AUTO;
    return strcmp(name, "sim") == 0 ? PKRT_BACKEND_SIM : PKRT_BACKEND_CUDA;
}

static pkrt_multicast multicast_of(const char *name)
{
    if (!name || strcmp(name, "never") == 0)
        return PKRT_MULTICAST_NEVER;
    return strcmp(name, "auto") == 0 ? PKRT_MULTICAST_AUTO : PKRT_MULTICAST_REQUIRE;
}

pkrt_context *run_open(const host_args *args)
{
    pkrt_context_options options = PKRT_CONTEXT_OPTIONS_INIT;
    pkrt_context *ctx;
    options.ranks = args->ranks;
    options.backend = backend_of(args->backend);
    options.multicast = multicast_of(args->multicast);
    run_check(ctx, pkrt_context_create(&ctx, &options), "opening a context");
    printf("%d rank%s on %d device%s%s: %s%s\n", args->ranks, args->ranks == 1 ? "" : "s",
           pkrt_context_device_count(ctx), pkrt_context_device_count(ctx) == 1 ? "" : "s",
           pkrt_context_multicast(ctx) ? " with multicast" : "", pkrt_context_device_name(ctx),
           pkrt_context_backend(ctx) == PKRT_BACKEND_SIM && options.backend == PKRT_BACKEND_AUTO
               ? " (no GPU here: simulated)"
               : "");
    return ctx;
}

static float *poisoned(size_t n)
{
    float *x = malloc((n ? n : 1) * sizeof *x);
    for (size_t i = 0; x && i < n; i++)
        x[i] = host_poison();
    return x;
}

void run_poison(pkrt_context *ctx, pkrt_tensor *tensor)
{
    size_t n = (size_t)pkrt_tensor_count(tensor);
    float *x = poisoned(n);
    for (int r = 0; r < pkrt_context_ranks(ctx); r++)
        run_check(ctx, pkrt_tensor_write_f32(tensor, r, x, n), "filling a tensor");
    free(x);
}

void run_fill(pkrt_context *ctx, pkrt_tensor *tensor, const float *values)
{
    size_t n = (size_t)pkrt_tensor_count(tensor);
    for (int r = 0; r < pkrt_context_ranks(ctx); r++)
        run_check(ctx, pkrt_tensor_write_f32(tensor, r, values + (size_t)r * n, n), "filling a tensor");
}

pkrt_tensor *run_tensor(pkrt_context *ctx, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags,
                        const float *values)
{
    pkrt_tensor *t;
    run_check(ctx, pkrt_tensor_create(ctx, &t, elem, n_dims, dims, flags), "making a tensor");
    if (values)
        run_fill(ctx, t, values);
    else
        run_poison(ctx, t);
    return t;
}

pkrt_tensor *run_tensor_i32(pkrt_context *ctx, int n_dims, const int64_t *dims, const int32_t *values)
{
    pkrt_tensor *t;
    run_check(ctx, pkrt_tensor_create(ctx, &t, PKRT_I32, n_dims, dims, 0), "making a tensor");
    size_t n = (size_t)pkrt_tensor_count(t);
    for (int r = 0; r < pkrt_context_ranks(ctx); r++)
        run_check(ctx, pkrt_tensor_write(t, r, values + (size_t)r * n, n * sizeof *values),
                  "filling a tensor");
    return t;
}

double run_launch(pkrt_context *ctx, pkrt_kernel *kernel)
{
    double start = host_seconds();
    run_check(ctx, pkrt_kernel_launch(kernel, NULL), "launching");
    run_check(ctx, pkrt_context_synchronize(ctx), "running");
    return host_seconds() - start;
}

bool run_compare(pkrt_context *ctx, pkrt_tensor *tensor, int rank, const double *want, double tolerance,
                 double *worst)
{
    size_t n = (size_t)pkrt_tensor_count(tensor);
    float *got = malloc((n ? n : 1) * sizeof *got);
    run_check(ctx, pkrt_tensor_read_f32(tensor, rank, got, n), "reading a tensor");
    host_error e = host_compare(got, want, n);
    if (e.relative > *worst)
        *worst = e.relative;
    bool ok = e.unwritten == 0 && e.relative <= tolerance;
    if (!ok && e.unwritten)
        printf("rank %d: %zu of %zu elements were never written\n", rank, e.unwritten, n);
    else if (!ok)
        printf("rank %d: relative error %.2e; element %zu is %g, expected %g\n", rank, e.relative, e.at,
               (double)got[e.at], want[e.at]);
    free(got);
    return ok;
}
