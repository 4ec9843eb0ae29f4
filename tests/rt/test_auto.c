// SPDX-License-Identifier: Apache-2.0
// What the automatic backend chooses where a GPU's driver says one thing or another.
#include "rt.h"

#include "src/cuda.h"

enum { UNKNOWN = 999 };

static pkrt_status open_auto(pkrt_context **ctx, int init, int devices)
{
    char text[20];
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    snprintf(text, sizeof text, "%d", init);
    setenv("FAKE_INIT", text, 1);
    snprintf(text, sizeof text, "%d", devices);
    setenv("FAKE_DEVICES", text, 1);
    return pkrt_context_create(ctx, &o);
}

static void simulates_without_devices(void **state)
{
    (void)state;
    static const int answers[][2] = {{RT_ERROR_NO_DEVICE, 0}, {RT_SUCCESS, 0}};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        pkrt_context *ctx;
        assert_ok(ctx, open_auto(&ctx, answers[i][0], answers[i][1]));
        assert_int_equal(pkrt_context_backend(ctx), PKRT_BACKEND_SIM);
        pkrt_context_destroy(ctx);
    }
}

/// A driver that is there and does not work is told, not hidden by simulating.
static void tells_of_a_broken_driver(void **state)
{
    (void)state;
    static const int answers[][2] = {{UNKNOWN, 0}, {UNKNOWN, 1}, {RT_SUCCESS, 1}};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        pkrt_context *ctx;
        assert_error(ctx, open_auto(&ctx, answers[i][0], answers[i][1]), PKRT_NO_DRIVER,
                     "libcuda.so.1 has no|too old");
        pkrt_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulates_without_devices),
        cmocka_unit_test(tells_of_a_broken_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
