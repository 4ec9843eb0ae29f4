// SPDX-License-Identifier: Apache-2.0
// Opens the driver: a GPU's libcuda.so.1, or libpksim.so, which exports the same calls.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "src/internal.h"

static const char cuda_name[] = "libcuda.so.1";
static const char sim_name[] = "libpksim.so.0";

void rt_driver_close(rt_driver *driver)
{
    if (driver->library)
        dlclose(driver->library);
    memset(driver, 0, sizeof *driver);
}

/// The folder of this library or program, where an installed or built simulator lies too.
static void *open_beside(const char *name)
{
    Dl_info info;
    char path[4096];
    if (!dladdr((void *)(uintptr_t)rt_driver_open, &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    int len = slash ? (int)(slash - info.dli_fname) : 0;
    static const char *const below[] = {"", "../lib/"};
    for (size_t i = 0; slash && i < sizeof below / sizeof below[0]; i++) {
        snprintf(path, sizeof path, "%.*s/%s%s", len, info.dli_fname, below[i], name);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

/// dlsym as a function pointer: POSIX says that the conversion works.
static void find_symbol(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
}

static pkrt_status find_calls(pkrt_context *ctx, const char *name)
{
    rt_driver *d = &ctx->driver;
#define RT_CALL(symbol, params)                                                                              \
    find_symbol(d->library, #symbol, &d->symbol);                                                            \
    if (!d->symbol)                                                                                          \
        return rt_fail(ctx, PKRT_NO_DRIVER, "%s has no %s: the driver is too old (CUDA 12.3 is needed)",     \
                       name, #symbol);
#include "src/driver.def"
#undef RT_CALL
    find_symbol(d->library, "pksimLastReport", &d->report);
    return PKRT_OK;
}

static pkrt_status open_one(pkrt_context *ctx, const char *name, bool beside)
{
    ctx->driver.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!ctx->driver.library && beside)
        ctx->driver.library = open_beside(name);
    if (!ctx->driver.library)
        return rt_fail(ctx, PKRT_NO_DRIVER, "%s cannot be opened: %s", name, dlerror());
    pkrt_status status = find_calls(ctx, name);
    if (status == PKRT_OK)
        status = rt_check(ctx, ctx->driver.cuInit(0), "starting the driver");
    if (status != PKRT_OK)
        rt_driver_close(&ctx->driver);
    return status;
}

static pkrt_status open_sim(pkrt_context *ctx, const char *name)
{
    ctx->backend = PKRT_BACKEND_SIM;
    return open_one(ctx, name ? name : sim_name, true);
}

/// Whether a GPU's driver is on this machine at all, and has a device. A driver that is there and fails is an
/// error to be told.
static bool has_gpu(void)
{
    int (*init)(unsigned) = NULL, (*count)(int *) = NULL, n = 0;
    void *library = dlopen(cuda_name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    find_symbol(library, "cuInit", &init);
    find_symbol(library, "cuDeviceGetCount", &count);
    int result = init ? init(0) : RT_ERROR_NO_DEVICE;
    bool none =
        result == RT_ERROR_NO_DEVICE || (result == RT_SUCCESS && count && count(&n) == RT_SUCCESS && n == 0);
    dlclose(library);
    return !none;
}

pkrt_status rt_driver_open(pkrt_context *ctx, const pkrt_context_options *options)
{
    if (options->backend == PKRT_BACKEND_SIM)
        return open_sim(ctx, options->driver);
    if (options->backend == PKRT_BACKEND_AUTO && !options->driver && !has_gpu())
        return open_sim(ctx, NULL);
    ctx->backend = PKRT_BACKEND_CUDA;
    return open_one(ctx, options->driver ? options->driver : cuda_name, false);
}
