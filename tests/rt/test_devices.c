// SPDX-License-Identifier: Apache-2.0
// Devices that answer otherwise than the simulator's: through a driver that stands between.
#include "rt.h"

#include <dlfcn.h>

#include "kernels.pk.h"
#include "src/internal.h"

typedef bool (*shim_hook)(const char *name, uintptr_t a, uintptr_t b, rt_result *result);

enum { N = 64, LAUNCH_FAILED = 719, UNKNOWN = 999 };

// What a hook sees; a test sets it before it hooks.
static struct {
    uintptr_t waits_for_abort; // a stream whose kernel ends when the abort word is set
    uintptr_t fails;           // a stream whose kernel fails
    int32_t *abort_word;
    int looks, launches; // calls that the hook counts
    int init;            // what cuInit gives
    bool no_link, capturing;
} seen;

static void set_hook(shim_hook hook)
{
    void *library = dlopen(RT_SHIM, RTLD_NOW);
    void (*set)(shim_hook);
    assert_non_null(library);
    void *symbol = dlsym(library, "shim_set_hook");
    memcpy(&set, &symbol, sizeof set);
    set(hook);
    dlclose(library);
}

static pkrt_status open_shim(pkrt_context **ctx, int ranks, int devices)
{
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    int list[8];
    for (int r = 0; r < ranks; r++)
        list[r] = r * devices / ranks;
    o.ranks = ranks;
    o.devices = list;
    o.backend = PKRT_BACKEND_CUDA; // to the runtime it is a GPU's
    o.driver = RT_SHIM;
    return pkrt_context_create(ctx, &o);
}

static bool one_fails_one_waits(const char *name, uintptr_t a, uintptr_t b, rt_result *result)
{
    (void)b;
    if (strcmp(name, "cuStreamQuery") != 0 && strcmp(name, "cuStreamSynchronize") != 0)
        return false;
    seen.looks++;
    if (a && a == seen.fails) {
        *result = seen.looks > 10 ? LAUNCH_FAILED : RT_ERROR_NOT_READY;
        return true;
    }
    if (a && a == seen.waits_for_abort) {
        *result = *(volatile int32_t *)seen.abort_word ? RT_SUCCESS : RT_ERROR_NOT_READY;
        if (strcmp(name, "cuStreamSynchronize") == 0 && *result != RT_SUCCESS)
            fail_msg("the runtime waits for a device that waits for another one");
        return true;
    }
    return false;
}

/// A kernel fails on one device while the other's waits for it for ever: the wait ends, with the failure.
static void the_other_device_is_ended(void **state)
{
    (void)state;
    pkrt_context *ctx;
    for (int failing = 0; failing < 2; failing++) {
        assert_ok(ctx, open_shim(&ctx, 2, 2));
        memset(&seen, 0, sizeof seen);
        seen.fails = (uintptr_t)pkrt_context_stream(ctx, failing);
        seen.waits_for_abort = (uintptr_t)pkrt_context_stream(ctx, !failing);
        seen.abort_word = ctx->abort_word;
        set_hook(one_fails_one_waits);
        assert_error(ctx, pkrt_context_synchronize(ctx), PKRT_FAULT, "waiting for a launch");
        set_hook(NULL);
        assert_error(ctx, pkrt_context_synchronize(ctx), PKRT_ABORTED, "reset");
        assert_ok(ctx, pkrt_context_reset(ctx));
        assert_ok(ctx, pkrt_context_synchronize(ctx));
        pkrt_context_destroy(ctx);
    }
}

static bool answers(const char *name, uintptr_t a, uintptr_t b, rt_result *result)
{
    *result = RT_SUCCESS;
    if (strcmp(name, "cuInit") == 0 && seen.init) {
        *result = seen.init;
        return true;
    }
    if (strcmp(name, "cuDeviceCanAccessPeer") == 0 && seen.no_link) {
        *(int *)a = 0;
        return true;
    }
    if (strcmp(name, "cuStreamIsCapturing") == 0 && seen.capturing) {
        *(int *)b = 1;
        return true;
    }
    if (strcmp(name, "cuEventRecord") == 0)
        seen.looks++;
    return false;
}

static void no_link_between_devices(void **state)
{
    (void)state;
    pkrt_context *ctx;
    pkrt_tensor *t;
    assert_ok(ctx, open_shim(&ctx, 2, 2));
    memset(&seen, 0, sizeof seen);
    seen.no_link = true;
    set_hook(answers);
    assert_ok(ctx, pkrt_tensor_create(ctx, &t, PKRT_F32, 1, (int64_t[]){N}, 0)); // needs none
    assert_error(ctx, pkrt_tensor_create(ctx, &t, PKRT_F32, 1, (int64_t[]){N}, PKRT_SYMMETRIC), PKRT_DRIVER,
                 "device 1 cannot reach the memory of device 0");
    assert_null(t);
    set_hook(NULL);
    pkrt_context_destroy(ctx);
    assert_int_equal(rt_live(), 0);
}

/// Into a graph goes the launch alone, whatever stream was used before.
static void captured_launches(void **state)
{
    (void)state;
    pkrt_context *ctx;
    pkrt_kernel *k;
    assert_ok(ctx, open_shim(&ctx, 2, 1));
    ring_args a = {.X = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){N}, 0),
                   .Y = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){N}, PKRT_SYMMETRIC)};
    assert_ok(ctx, ring_bind(rt_load(ctx), &k, &a));
    assert_ok(ctx, ring_launch(k, NULL));
    memset(&seen, 0, sizeof seen);
    seen.capturing = true;
    set_hook(answers);
    void *other[] = {NULL}; // the default stream
    assert_ok(ctx, ring_launch(k, other));
    assert_int_equal(seen.looks, 0);
    seen.capturing = false;
    assert_ok(ctx, ring_launch(k, other));
    assert_int_equal(seen.looks, 1);
    set_hook(NULL);
    assert_ok(ctx, pkrt_context_synchronize(ctx));
    pkrt_context_destroy(ctx);
}

static void driver_that_fails(void **state)
{
    (void)state;
    pkrt_context *ctx;
    memset(&seen, 0, sizeof seen);
    seen.init = UNKNOWN;
    set_hook(answers);
    assert_error(ctx, open_shim(&ctx, 1, 1), PKRT_DRIVER, "starting the driver");
    pkrt_context_destroy(ctx);
    seen.init = RT_ERROR_NO_DEVICE;
    assert_error(ctx, open_shim(&ctx, 1, 1), PKRT_DRIVER, "starting the driver");
    pkrt_context_destroy(ctx);
    set_hook(NULL);
}

static bool counts(const char *name, uintptr_t a, uintptr_t b, rt_result *result)
{
    (void)a;
    (void)b;
    (void)result;
    seen.looks++;
    seen.launches += strcmp(name, "cuLaunchKernelEx") == 0;
    return false;
}

/// A launch is one call a device, and nothing that allocates or waits.
static void one_call_a_device(void **state)
{
    (void)state;
    pkrt_context *ctx;
    pkrt_kernel *k;
    assert_ok(ctx, open_shim(&ctx, 4, 2));
    ring_args a = {.X = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){N}, 0),
                   .Y = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){N}, PKRT_SYMMETRIC)};
    assert_ok(ctx, ring_bind(rt_load(ctx), &k, &a));
    memset(&seen, 0, sizeof seen);
    set_hook(counts);
    assert_ok(ctx, ring_launch(k, NULL));
    assert_ok(ctx, ring_launch(k, NULL));
    set_hook(NULL);
    assert_int_equal(seen.launches, 4);
    assert_int_equal(seen.looks, 3 * 4); // with making the device current and back
    assert_ok(ctx, pkrt_context_synchronize(ctx));
    pkrt_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_device_is_ended), cmocka_unit_test(driver_that_fails),
        cmocka_unit_test(one_call_a_device),         cmocka_unit_test(no_link_between_devices),
        cmocka_unit_test(captured_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
