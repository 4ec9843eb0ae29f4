// SPDX-License-Identifier: Apache-2.0
// Launches through the simulator: in a row, on streams of the caller's, on any mapping of ranks to devices.
#include "rt.h"

#include "kernels.pk.h"
#include "src/cuda.h"

// The caller's side of the driver, which these tests link.
rt_result cuStreamCreate(rt_stream *stream, unsigned flags);
rt_result cuStreamDestroy_v2(rt_stream stream);
rt_result cuCtxPushCurrent_v2(rt_ctx ctx);
rt_result cuCtxPopCurrent_v2(rt_ctx *ctx);
rt_result cuDevicePrimaryCtxRetain(rt_ctx *ctx, rt_device device);
rt_result cuDevicePrimaryCtxRelease_v2(rt_device device);

enum { N = 64 };

/// Y of kernel ring on rank r holds X of the rank before it.
static void check_ring(pkrt_context *ctx, pkrt_tensor *y)
{
    int ranks = pkrt_context_ranks(ctx);
    float got[N];
    for (int r = 0; r < ranks; r++) {
        assert_ok(ctx, pkrt_tensor_read_f32(y, r, got, N));
        for (int i = 0; i < N; i++)
            assert_true(got[i] == rt_number((r + ranks - 1) % ranks, i));
    }
}

static void clear(pkrt_context *ctx, pkrt_tensor *t)
{
    size_t bytes = pkrt_tensor_bytes(t);
    void *zeros = calloc(1, bytes);
    for (int r = 0; r < pkrt_context_ranks(ctx); r++)
        assert_ok(ctx, pkrt_tensor_write(t, r, zeros, bytes));
    free(zeros);
}

static ring_args ring_tensors(pkrt_context *ctx)
{
    return (ring_args){.X = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){N}, 0),
                       .Y = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){N}, PKRT_SYMMETRIC)};
}

/// Signals need no zeroing between launches, on any mapping.
static void launches_in_a_row(void **state)
{
    (void)state;
    static const int mappings[][2] = {{1, 1}, {2, 1}, {2, 2}, {3, 2}, {4, 4}, {8, 3}, {8, 8}};
    for (size_t i = 0; i < sizeof mappings / sizeof mappings[0]; i++) {
        pkrt_context *ctx = rt_open(mappings[i][0], mappings[i][1]);
        pkrt_kernel *k;
        ring_args a = ring_tensors(ctx);
        assert_int_equal(pkrt_context_device_count(ctx), mappings[i][1]);
        assert_ok(ctx, ring_bind(rt_load(ctx), &k, &a));
        for (int n = 0; n < 5; n++) {
            clear(ctx, a.Y);
            assert_ok(ctx, ring_launch(k, NULL));
            if (n % 2)
                assert_ok(ctx, ring_launch(k, NULL)); // two without waiting
            check_ring(ctx, a.Y);
        }
        pkrt_context_destroy(ctx);
        assert_int_equal(rt_live(), 0);
    }
}

static void make_streams(rt_stream *streams, int n)
{
    for (int d = 0; d < n; d++) {
        rt_ctx c;
        assert_int_equal(cuDevicePrimaryCtxRetain(&c, d), 0);
        assert_int_equal(cuCtxPushCurrent_v2(c), 0);
        assert_int_equal(cuStreamCreate(&streams[d], 0), 0);
        assert_int_equal(cuCtxPopCurrent_v2(&c), 0);
    }
}

static void free_streams(rt_stream *streams, int n)
{
    for (int d = 0; d < n; d++) {
        assert_int_equal(cuStreamDestroy_v2(streams[d]), 0);
        assert_int_equal(cuDevicePrimaryCtxRelease_v2(d), 0);
    }
}

/// Two kernels on two streams of each device, neither waited for: the second reads what the first wrote.
static void two_streams(void **state)
{
    (void)state;
    enum { DEVICES = 2, RANKS = 4 };
    rt_stream one[DEVICES], two[DEVICES];
    pkrt_context *ctx = rt_open(RANKS, DEVICES);
    pkrt_kernel *first, *second;
    ring_args a = ring_tensors(ctx), b = ring_tensors(ctx);
    pkrt_module *m = rt_load(ctx);
    b.X = a.Y;
    assert_ok(ctx, ring_bind(m, &first, &a));
    assert_ok(ctx, ring_bind(m, &second, &b));
    make_streams(one, DEVICES);
    make_streams(two, DEVICES);
    for (int n = 0; n < 3; n++) {
        clear(ctx, a.Y);
        assert_ok(ctx, ring_launch(first, (void **)one));
        assert_ok(ctx, ring_launch(second, (void **)two));
        assert_ok(ctx, pkrt_context_synchronize(ctx));
        float got[N];
        for (int r = 0; r < RANKS; r++) {
            assert_ok(ctx, pkrt_tensor_read_f32(b.Y, r, got, N));
            for (int i = 0; i < N; i++)
                assert_true(got[i] == rt_number((r + RANKS - 2) % RANKS, i));
        }
    }
    free_streams(one, DEVICES); // after a synchronize the streams are the caller's alone
    free_streams(two, DEVICES);
    assert_ok(ctx, ring_launch(first, NULL));
    assert_ok(ctx, pkrt_context_synchronize(ctx));
    pkrt_context_destroy(ctx);
    assert_int_equal(rt_live(), 0);
}

static void scalars_between_launches(void **state)
{
    (void)state;
    pkrt_context *ctx = rt_open(2, 1);
    pkrt_kernel *k;
    shapes_args a = {.X = rt_tensor(ctx, PKRT_F32, 2, (int64_t[]){3, N}, 0),
                     .Y = rt_tensor(ctx, PKRT_F32, 2, (int64_t[]){N, 4}, 0),
                     .Z = rt_tensor(ctx, PKRT_F32, 2, (int64_t[]){2, N}, 0),
                     .n = -7,
                     .f = 0.5};
    float got[2 * N];
    assert_ok(ctx, shapes_bind(rt_load(ctx), &k, &a));
    assert_ok(ctx, shapes_launch(k, NULL));
    assert_ok(ctx, pkrt_kernel_set(k, "f", 0, 4)); // the launch before has its own value
    assert_ok(ctx, pkrt_tensor_read_f32(a.Z, 1, got, 2 * N));
    for (int i = 0; i < N; i++)
        assert_true(got[i] == rt_number(1, i) * 0.5f - 7 && got[N + i] == rt_number(1, 2 * N + i) * 0.5f - 7);
    assert_ok(ctx, shapes_launch(k, NULL));
    assert_ok(ctx, pkrt_tensor_read_f32(a.Z, 0, got, 2 * N));
    for (int i = 0; i < N; i++)
        assert_true(got[i] == rt_number(0, i) * 4 - 7);
    assert_error(ctx, pkrt_kernel_set(k, "X", 1, 0), PKRT_INVALID, "no scalar parameter 'X'");
    assert_error(ctx, pkrt_kernel_set(k, "on", 2, 0), PKRT_BAD_SHAPE,
                 "'on' is bool|from 0 to 1 expected, got 2");
    pkrt_context_destroy(ctx);
}

static void check_dealt(pkrt_context *ctx, pkrt_kernel *k, pkrt_tensor *y, int first)
{
    assert_ok(ctx, dealt_launch(k, NULL));
    for (int r = 0; r < pkrt_context_ranks(ctx); r++) {
        int32_t got[2];
        assert_ok(ctx, pkrt_tensor_read(y, r, got, sizeof got));
        assert_int_equal(got[0], first);
        assert_int_equal(got[1], pkrt_kernel_sms(k) - first);
    }
}

/// A scalar that counts a group's workers moves both groups; a count that leaves one empty is refused and the
/// one before stays.
static void groups_between_launches(void **state)
{
    (void)state;
    pkrt_context *ctx = rt_open(2, 1);
    pkrt_kernel *k;
    dealt_args a = {.Y = rt_tensor(ctx, PKRT_I32, 1, (int64_t[]){2}, 0), .n = 0};
    assert_error(ctx, dealt_bind(rt_load(ctx), &k, &a), PKRT_NO_ROOM,
                 "kernel 'dealt', group 'first': at least 1 worker expected, got 0");
    a.n = 2;
    assert_ok(ctx, dealt_bind(rt_load(ctx), &k, &a));
    int sms = pkrt_kernel_sms(k);
    check_dealt(ctx, k, a.Y, 2);
    assert_ok(ctx, pkrt_kernel_set(k, "n", sms - 1, 0));
    check_dealt(ctx, k, a.Y, sms - 1);
    assert_error(ctx, pkrt_kernel_set(k, "n", sms, 0), PKRT_NO_ROOM,
                 "group 'rest': at least 1 worker expected, got 0");
    assert_error(ctx, pkrt_kernel_set(k, "n", -1, 0), PKRT_NO_ROOM, "group 'first'|got -1");
    assert_error(ctx, pkrt_kernel_set(k, "n", 5, 0), PKRT_BAD_SHAPE, "n must not be 5; got n = 5");
    check_dealt(ctx, k, a.Y, sms - 1);
    pkrt_context_destroy(ctx);
}

/// Tensors around the caller's memory, with a stride: a window of columns of a larger one.
static void wrapped_tensors(void **state)
{
    (void)state;
    enum { ROWS = 6, COLS = 128, LEFT = 32 };
    pkrt_context *ctx = rt_open(2, 2);
    pkrt_kernel *k;
    pkrt_tensor *big = rt_tensor(ctx, PKRT_BF16, 2, (int64_t[]){ROWS, COLS}, 0), *X;
    void *at[2];
    for (int r = 0; r < 2; r++)
        at[r] = (char *)pkrt_tensor_pointer(big, r) + (size_t)2 * LEFT;
    assert_null(pkrt_tensor_pointer(big, 2));
    assert_ok(ctx, pkrt_tensor_wrap(ctx, &X, PKRT_BF16, 2, (int64_t[]){ROWS, N}, (int64_t[]){COLS}, at, 0));
    spread_args a = {.X = X, .Y = rt_tensor(ctx, PKRT_BF16, 3, (int64_t[]){2, ROWS, N}, PKRT_SYMMETRIC)};
    assert_ok(ctx, spread_bind(rt_load(ctx), &k, &a));
    assert_ok(ctx, spread_launch(k, NULL));
    float in[ROWS * COLS], got[2 * ROWS * N];
    assert_error(ctx, pkrt_tensor_read_f32(X, 0, got, (size_t)ROWS * N), PKRT_INVALID, "strides of its own");
    for (int r = 0; r < 2; r++) {
        assert_ok(ctx, pkrt_tensor_read_f32(a.Y, r, got, (size_t)2 * ROWS * N));
        for (int from = 0; from < 2; from++) {
            assert_ok(ctx, pkrt_tensor_read_f32(big, from, in, (size_t)ROWS * COLS));
            for (int i = 0; i < ROWS; i++)
                assert_memory_equal(got + (size_t)(from * ROWS + i) * N, in + (size_t)i * COLS + LEFT,
                                    N * sizeof(float));
        }
    }
    pkrt_context_destroy(ctx);
}

/// Peer parameters in the caller's own memory.
static void wrapped_symmetric(void **state)
{
    (void)state;
    pkrt_context *ctx = rt_open(3, 1);
    pkrt_kernel *k;
    pkrt_tensor *memory = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){N}, PKRT_SYMMETRIC);
    void *at[3];
    for (int r = 0; r < 3; r++)
        at[r] = pkrt_tensor_pointer(memory, r);
    ring_args a = ring_tensors(ctx);
    assert_ok(ctx, pkrt_tensor_wrap(ctx, &a.Y, PKRT_F32, 1, (int64_t[]){N}, NULL, at, PKRT_SYMMETRIC));
    assert_ok(ctx, ring_bind(rt_load(ctx), &k, &a));
    assert_ok(ctx, ring_launch(k, NULL));
    check_ring(ctx, a.Y);
    check_ring(ctx, memory);
    pkrt_context_destroy(ctx);
}

static void empty_tensors(void **state)
{
    (void)state;
    pkrt_context *ctx = rt_open(2, 2);
    pkrt_kernel *k;
    spread_args a = {.X = rt_tensor(ctx, PKRT_BF16, 2, (int64_t[]){0, N}, 0),
                     .Y = rt_tensor(ctx, PKRT_BF16, 3, (int64_t[]){2, 0, N}, PKRT_SYMMETRIC)};
    assert_ok(ctx, spread_bind(rt_load(ctx), &k, &a));
    assert_ok(ctx, spread_launch(k, NULL));
    assert_ok(ctx, pkrt_context_synchronize(ctx));
    pkrt_context_destroy(ctx);
}

/// Destroying in any order, and not at all, leaves nothing.
static void order_of_freeing(void **state)
{
    (void)state;
    pkrt_context *ctx = rt_open(2, 2);
    pkrt_kernel *k, *again;
    pkrt_module *m = rt_load(ctx);
    ring_args a = ring_tensors(ctx);
    assert_ok(ctx, ring_bind(m, &k, &a));
    assert_ok(ctx, ring_bind(m, &again, &a));
    pkrt_kernel_destroy(k);
    pkrt_tensor_destroy(a.X);
    pkrt_module_destroy(m); // takes `again` along
    pkrt_tensor_destroy(NULL);
    pkrt_module_destroy(NULL);
    pkrt_kernel_destroy(NULL);
    pkrt_context_destroy(ctx);
    assert_int_equal(rt_live(), 0);
}

static void dealing(void **state)
{
    (void)state;
    pkrt_context *ctx;
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    o.backend = PKRT_BACKEND_SIM;
    o.ranks = 3;
    o.devices = (int[]){5, 2, 5};
    assert_ok(ctx, pkrt_context_create(&ctx, &o));
    assert_int_equal(pkrt_context_device_count(ctx), 2);
    assert_int_equal(pkrt_context_device(ctx, 0), 5);
    assert_int_equal(pkrt_context_device(ctx, 1), 2);
    assert_int_equal(pkrt_context_device(ctx, 2), -1);
    assert_non_null(pkrt_context_stream(ctx, 1));
    assert_null(pkrt_context_stream(ctx, 2));
    assert_int_equal(pkrt_context_backend(ctx), PKRT_BACKEND_SIM);
    pkrt_kernel *k;
    ring_args a = ring_tensors(ctx);
    assert_ok(ctx, ring_bind(rt_load(ctx), &k, &a));
    assert_ok(ctx, ring_launch(k, NULL));
    check_ring(ctx, a.Y);
    pkrt_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_in_a_row),
        cmocka_unit_test(two_streams),
        cmocka_unit_test(scalars_between_launches),
        cmocka_unit_test(wrapped_tensors),
        cmocka_unit_test(wrapped_symmetric),
        cmocka_unit_test(empty_tensors),
        cmocka_unit_test(groups_between_launches),
        cmocka_unit_test(order_of_freeing),
        cmocka_unit_test(dealing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
