// SPDX-License-Identifier: Apache-2.0
// A kernel that goes wrong: the simulator's report stands in the error. In a program of its own, as the
// machine stays broken.
#include "rt.h"

#include "kernels.pk.h"

static void reads_what_is_not_there(void **state)
{
    (void)state;
    enum { N = 64 };
    pkrt_context *ctx = rt_open(2, 2);
    pkrt_kernel *k;
    pkrt_tensor *x, *y = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){N}, PKRT_SYMMETRIC);
    void *nowhere[] = {(void *)(uintptr_t)0x1000, (void *)(uintptr_t)0x1000};
    assert_ok(ctx, pkrt_tensor_wrap(ctx, &x, PKRT_F32, 1, (int64_t[]){N}, NULL, nowhere, 0));
    ring_args a = {.X = x, .Y = y};
    assert_ok(ctx, ring_bind(rt_load(ctx), &k, &a));
    assert_ok(ctx, ring_launch(k, NULL));
    assert_error(ctx, pkrt_context_synchronize(ctx), PKRT_FAULT, "waiting for a launch|kernels.pk");
    assert_error(ctx, ring_launch(k, NULL), PKRT_ABORTED, "reset");
    assert_int_not_equal(pkrt_context_reset(ctx), PKRT_OK); // the machine itself is lost
    assert_error(ctx, ring_launch(k, NULL), PKRT_ABORTED, "reset");
    pkrt_context_destroy(ctx);
    assert_int_equal(rt_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_what_is_not_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
