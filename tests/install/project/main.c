// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "double_rows.pk.h"

enum { M = 20, N = 70 };

static pkrt_status run(pkrt_context *ctx, const float *x, float *y)
{
    double_rows_args args = {0};
    pkrt_module *module = NULL;
    pkrt_kernel *kernel = NULL;
    pkrt_status s = pkrt_tensor_create(ctx, &args.X, PKRT_F32, 2, (int64_t[]){M, N}, 0);
    if (s == PKRT_OK)
        s = pkrt_tensor_create(ctx, &args.Y, PKRT_F32, 2, (int64_t[]){M, N}, 0);
    if (s == PKRT_OK)
        s = pkrt_tensor_write_f32(args.X, 0, x, M * N);
    if (s == PKRT_OK)
        s = double_rows_pk_load(ctx, &module);
    if (s == PKRT_OK)
        s = double_rows_bind(module, &kernel, &args);
    if (s == PKRT_OK)
        s = double_rows_launch(kernel, NULL);
    if (s == PKRT_OK)
        s = pkrt_context_synchronize(ctx);
    return s == PKRT_OK ? pkrt_tensor_read_f32(args.Y, 0, y, M * N) : s;
}

int main(void)
{
    float x[M * N], y[M * N];
    pkrt_context_options options = PKRT_CONTEXT_OPTIONS_INIT;
    pkrt_context *ctx = NULL;
    for (int i = 0; i < M * N; i++)
        x[i] = (float)i;
    options.backend = PKRT_BACKEND_SIM;
    pkrt_status s = pkrt_context_create(&ctx, &options);
    if (s == PKRT_OK)
        s = run(ctx, x, y);
    if (s != PKRT_OK)
        fprintf(stderr, "%s\n", pkrt_last_error(ctx));
    for (int i = 0; s == PKRT_OK && i < M * N; i++)
        if (y[i] != 2 * x[i])
            s = PKRT_FAULT;
    pkrt_context_destroy(ctx);
    puts(s == PKRT_OK ? "right" : "WRONG");
    return s != PKRT_OK;
}
