// SPDX-License-Identifier: Apache-2.0
// Every driver call of a whole program made to fail in turn, whichever rank or device it is for: the program
// gets a status and a message, what was made is freed, nothing hangs. The calls are counted by the simulated
// driver, so that a call that is added later is tried too.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "all_gather.pk.h"
#include "sim/pksim.h"

enum { RANKS = 3, OUT_OF_MEMORY = 2, INVALID_VALUE = 1 };

// The simulator as the runtime opens it: one library, one state.
static struct driver {
    void (*fail_call)(const char *, unsigned long long, int);
    unsigned long long (*calls)(void);
    void (*live)(struct pksim_resources *);
} sim;

static void find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    assert_non_null(symbol);
    memcpy(out, &symbol, sizeof symbol);
}

static int open_driver(void **state)
{
    void *library = dlopen(PKSIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    (void)state;
    if (!library)
        return -1;
    find(library, "pksimFailCall", &sim.fail_call);
    find(library, "pksimCalls", &sim.calls);
    find(library, "pksimLiveResources", &sim.live);
    return 0;
}

static pkrt_status make_tensors(pkrt_context *ctx, all_gather_args *args)
{
    const float x[8 * 16] = {0};
    pkrt_status s = pkrt_tensor_create(ctx, &args->X, PKRT_BF16, 2, (int64_t[]){8, 16}, 0);
    if (s == PKRT_OK)
        s = pkrt_tensor_create(ctx, &args->Y, PKRT_BF16, 3, (int64_t[]){8, RANKS, 16}, PKRT_SYMMETRIC);
    for (int r = 0; s == PKRT_OK && r < RANKS; r++)
        s = pkrt_tensor_write_f32(args->X, r, x, 8 * 16);
    return s;
}

static pkrt_status run(pkrt_context *ctx)
{
    all_gather_args args = {0};
    pkrt_module *module = NULL;
    pkrt_kernel *kernel = NULL;
    float y[8 * RANKS * 16];
    pkrt_status s = make_tensors(ctx, &args);
    if (s == PKRT_OK)
        s = all_gather_pk_load(ctx, &module);
    if (s == PKRT_OK)
        s = all_gather_bind(module, &kernel, &args);
    for (int i = 0; s == PKRT_OK && i < 2; i++)
        s = all_gather_launch(kernel, NULL);
    if (s == PKRT_OK)
        s = pkrt_context_synchronize(ctx);
    for (int r = 0; s == PKRT_OK && r < RANKS; r++)
        s = pkrt_tensor_read_f32(args.Y, r, y, sizeof y / sizeof y[0]);
    return s;
}

/// The whole program once; the message of a failure goes to `why`.
static pkrt_status whole(const int *devices, char *why, size_t size)
{
    pkrt_context_options options = PKRT_CONTEXT_OPTIONS_INIT;
    options.backend = PKRT_BACKEND_SIM;
    options.ranks = RANKS;
    options.devices = devices;
    options.driver = PKSIM_LIBRARY;
    pkrt_context *ctx = NULL;
    pkrt_status s = pkrt_context_create(&ctx, &options);
    if (s == PKRT_OK)
        s = run(ctx);
    snprintf(why, size, "%s", pkrt_last_error(ctx));
    pkrt_context_destroy(ctx);
    return s;
}

static void assert_nothing_left(unsigned long long nth)
{
    struct pksim_resources r;
    sim.live(&r);
    if (r.memory || r.modules || r.streams || r.events || r.contexts)
        fail_msg(
            "call %llu failed: left are %llu memory, %llu modules, %llu streams, %llu events, %llu contexts",
            nth, r.memory, r.modules, r.streams, r.events, r.contexts);
}

/// Fails call 1, 2, .. until a run has fewer calls than that. Calls that give back may fail without harm to
/// the program.
static void fail_each(const int *devices, int code)
{
    char why[8192];
    unsigned long long nth = 1, errors = 0;
    for (;; nth++) {
        sim.fail_call(NULL, nth, code);
        pkrt_status s = whole(devices, why, sizeof why);
        bool reached = sim.calls() >= nth;
        sim.fail_call(NULL, 0, 0);
        if (s != PKRT_OK && !why[0])
            fail_msg("call %llu failed: status %d without a message", nth, (int)s);
        errors += s != PKRT_OK;
        assert_nothing_left(nth);
        if (!reached)
            break;
    }
    print_message("%llu calls failed in turn, %llu of them ended the program with an error\n", nth - 1,
                  errors);
    assert_true(errors > 20);
}

static void ranks_on_one_device(void **state)
{
    (void)state;
    fail_each((int[]){0, 0, 0}, INVALID_VALUE);
}

static void ranks_on_three_devices(void **state)
{
    (void)state;
    fail_each((int[]){0, 1, 2}, OUT_OF_MEMORY);
}

static void nothing_fails_without_being_told(void **state)
{
    char why[8192];
    (void)state;
    assert_int_equal(whole((int[]){0, 1, 1}, why, sizeof why), PKRT_OK);
    assert_string_equal(why, "");
    assert_nothing_left(0);
}

/// What a program passes on after a call that failed: nothing.
static void nothing_is_refused(void **state)
{
    pkrt_context_options options = PKRT_CONTEXT_OPTIONS_INIT;
    const int64_t dims[] = {4};
    void *odd[] = {(void *)1};
    pkrt_context *ctx;
    pkrt_tensor *t;
    (void)state;
    assert_int_equal(pkrt_context_create(NULL, &options), PKRT_INVALID);
    assert_int_equal(pkrt_kernel_launch(NULL, NULL), PKRT_INVALID);
    assert_int_equal(pkrt_kernel_set(NULL, "a", 0, 0), PKRT_INVALID);
    assert_int_equal(pkrt_tensor_read(NULL, 0, NULL, 0), PKRT_INVALID);
    assert_null(pkrt_tensor_pointer(NULL, 0));
    options.backend = PKRT_BACKEND_SIM;
    options.driver = PKSIM_LIBRARY;
    assert_int_equal(pkrt_context_create(&ctx, &options), PKRT_OK);
    assert_int_equal(pkrt_tensor_create(ctx, NULL, PKRT_F32, 1, dims, 0), PKRT_INVALID);
    assert_int_equal(pkrt_module_load(ctx, NULL, "", 0), PKRT_INVALID);
    assert_int_equal(pkrt_tensor_wrap(ctx, &t, PKRT_F32, 1, dims, NULL, odd, 0), PKRT_INVALID);
    assert_non_null(strstr(pkrt_last_error(ctx), "multiple of 4"));
    pkrt_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_fails_without_being_told),
        cmocka_unit_test(nothing_is_refused),
        cmocka_unit_test(ranks_on_one_device),
        cmocka_unit_test(ranks_on_three_devices),
    };
    return cmocka_run_group_tests(tests, open_driver, NULL);
}
