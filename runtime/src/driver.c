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

/// dlsym as a function pointer: POSIX says that the conversion works.
static void find_symbol(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
}

static pkrt_status find_calls(pkrt_context *ctx, const char *name)
{
    rt_driver *d = &ctx->driver;
#define RT_CALL(symbol, params, names)                                                                       \
    find_symbol(d->library, #symbol, &d->symbol);                                                            \
    if (!d->symbol)                                                                                          \
        return rt_fail(ctx, PKRT_NO_DRIVER, "%s has no %s: the driver is too old (CUDA 12.3 is needed)",     \
                       name, #symbol);
#include "src/driver.def"
#undef RT_CALL
    find_symbol(d->library, "pksimLastReport", &d->report);
    return PKRT_OK;
}

/// dlopen. The library stays mapped after dlclose: a driver may have threads of its own.
static void *open_library(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/// In the folder of this library or program, or lib/ beside it, where an installed or built simulator lies.
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
        void *library = open_library(path);
        if (library)
            return library;
    }
    return NULL;
}

/// Finds and starts the driver in `library`, which is closed again where that fails.
static pkrt_status start(pkrt_context *ctx, void *library, const char *name)
{
    ctx->driver.library = library;
    if (!library) {
        const char *why = dlerror();
        return rt_fail(ctx, PKRT_NO_DRIVER, "%s cannot be opened: %s", name, why ? why : "not found");
    }
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
    if (name)
        return start(ctx, open_library(name), name);
    void *library = open_beside(sim_name); // first: one of this build, not one that is installed elsewhere
    return start(ctx, library ? library : open_library(sim_name), sim_name);
}

/// Whether a GPU's driver has no device to offer. A driver that is there and fails otherwise is an error,
/// which must be told and not hidden by simulating.
static bool has_no_device(void *library)
{
    int (*init)(unsigned) = NULL, (*count)(int *) = NULL, n = 0;
    find_symbol(library, "cuInit", &init);
    find_symbol(library, "cuDeviceGetCount", &count);
    int result = init ? init(0) : RT_SUCCESS;
    if (result != RT_SUCCESS)
        return result == RT_ERROR_NO_DEVICE;
    return init && count && count(&n) == RT_SUCCESS && n == 0;
}

static pkrt_status open_gpu(pkrt_context *ctx, const pkrt_context_options *options)
{
    const char *name = options->driver ? options->driver : cuda_name;
    bool may_simulate = options->backend == PKRT_BACKEND_AUTO && !options->driver;
    void *library = open_library(name);
    if (may_simulate && (!library || has_no_device(library))) {
        if (library)
            dlclose(library);
        return open_sim(ctx, NULL);
    }
    ctx->backend = PKRT_BACKEND_CUDA;
    return start(ctx, library, name);
}

pkrt_status rt_driver_open(pkrt_context *ctx, const pkrt_context_options *options)
{
    return options->backend == PKRT_BACKEND_SIM ? open_sim(ctx, options->driver) : open_gpu(ctx, options);
}
