// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/internal.h"

const char *pkrt_status_text(pkrt_status status)
{
    static const char *const text[] = {
#define PKRT_STATUS(id, words) words,
#include "pkrt/status.def"
#undef PKRT_STATUS
    };
    return status < PKRT_STATUS_COUNT ? text[status] : "not a status";
}

const char *pkrt_version(void)
{
    return "0.1";
}

pkrt_status rt_fail(pkrt_context *ctx, pkrt_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    return status;
}

const char *pkrt_last_error(const pkrt_context *ctx)
{
    return ctx ? ctx->error : "memory ran out";
}

/// Results that say that a kernel went wrong while it ran, not the call (CUresult, CUDA driver API).
static bool is_fault(rt_result r)
{
    static const rt_result faults[] = {
#define RT_FAULT(code, name) code,
#include "src/faults.def"
#undef RT_FAULT
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (r == faults[i])
            return true;
    return false;
}

static pkrt_status status_of(rt_result r)
{
    if (is_fault(r))
        return PKRT_FAULT;
    if (r == RT_ERROR_OUT_OF_MEMORY)
        return PKRT_NO_MEMORY;
    return r == RT_ERROR_COOPERATIVE_TOO_LARGE ? PKRT_NO_ROOM : PKRT_DRIVER;
}

/// Adds the simulator's report of what went wrong in a kernel.
static void add_report(pkrt_context *ctx)
{
    size_t used = strlen(ctx->error);
    if (!ctx->driver.report || used + 2 >= sizeof ctx->error)
        return;
    ctx->error[used] = '\n';
    if (ctx->driver.report(ctx->error + used + 1, sizeof ctx->error - used - 1) <= 0)
        ctx->error[used] = 0;
}

pkrt_status rt_check(pkrt_context *ctx, rt_result result, const char *what)
{
    const char *name = NULL, *words = NULL;
    if (result == RT_SUCCESS)
        return PKRT_OK;
    if (ctx->driver.cuGetErrorName(result, &name) != RT_SUCCESS)
        name = NULL;
    if (ctx->driver.cuGetErrorString(result, &words) != RT_SUCCESS)
        words = NULL;
    pkrt_status status = status_of(result);
    rt_fail(ctx, status, "%s: %s (%s)", what, words ? words : "the driver failed",
            name ? name : "unknown error");
    if (status == PKRT_FAULT) {
        rt_abort(ctx);
        add_report(ctx);
    }
    return status;
}

void rt_abort(pkrt_context *ctx)
{
    ctx->aborted = true;
    if (ctx->abort_word)
        *(volatile int32_t *)ctx->abort_word = 1;
}

void rt_save_error(const pkrt_context *ctx, rt_saved *out)
{
    memcpy(out->text, ctx->error, sizeof out->text);
}

void rt_restore_error(pkrt_context *ctx, const rt_saved *saved)
{
    memcpy(ctx->error, saved->text, sizeof saved->text);
}

pkrt_status rt_begin(pkrt_context *ctx)
{
    ctx->error[0] = 0;
    if (ctx->aborted)
        return rt_fail(ctx, PKRT_ABORTED, "an earlier launch failed; call pkrt_context_reset first");
    if (!ctx->n_places)
        return rt_fail(ctx, PKRT_INVALID, "the context could not be made");
    return PKRT_OK;
}
