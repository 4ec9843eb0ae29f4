// SPDX-License-Identifier: Apache-2.0
// What a program passes on after a call that failed: nothing. It is refused, not used.
#include "rt.h"

static void without_a_context(void **state)
{
    pkrt_context_options options = PKRT_CONTEXT_OPTIONS_INIT;
    (void)state;
    assert_int_equal(pkrt_context_create(NULL, &options), PKRT_INVALID);
    assert_int_equal(pkrt_kernel_launch(NULL, NULL), PKRT_INVALID);
    assert_int_equal(pkrt_kernel_set(NULL, "a", 0, 0), PKRT_INVALID);
    assert_int_equal(pkrt_tensor_read(NULL, 0, NULL, 0), PKRT_INVALID);
    assert_null(pkrt_tensor_pointer(NULL, 0));
}

static void without_an_output(void **state)
{
    const int64_t dims[] = {4};
    void *odd[] = {(void *)1};
    pkrt_context *ctx = rt_open(1, 1);
    pkrt_tensor *t;
    (void)state;
    assert_int_equal(pkrt_tensor_create(ctx, NULL, PKRT_F32, 1, dims, 0), PKRT_INVALID);
    assert_int_equal(pkrt_module_load(ctx, NULL, "", 0), PKRT_INVALID);
    assert_error(ctx, pkrt_tensor_wrap(ctx, &t, PKRT_F32, 1, dims, NULL, odd, 0), PKRT_INVALID,
                 "rank 0|multiple of 4");
    pkrt_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_context),
        cmocka_unit_test(without_an_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
