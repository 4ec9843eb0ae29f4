// SPDX-License-Identifier: Apache-2.0
// Every call of the driver fails in turn, on every rank: an error comes back, nothing is kept, nothing hangs,
// and what failed can be tried again.
#include "rt.h"

#include "kernels.pk.h"
#include "sim/pksim.h"

enum { N = 64, OUT_OF_MEMORY = 2, INVALID_VALUE = 1 };

typedef struct scenario {
    int ranks, devices;
    pkrt_context *ctx;
    pkrt_kernel *ring, *spread;
    ring_args r;
    spread_args s;
} scenario;

static pkrt_status make_context(scenario *c)
{
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    int list[8];
    for (int r = 0; r < c->ranks; r++)
        list[r] = r * c->devices / c->ranks;
    o.ranks = c->ranks;
    o.devices = list;
    o.backend = PKRT_BACKEND_SIM;
    return pkrt_context_create(&c->ctx, &o);
}

static pkrt_status make_tensors(scenario *c)
{
    const int64_t row[] = {N}, tile[] = {8, N}, all[] = {c->ranks, 8, N};
    pkrt_status s = pkrt_tensor_create(c->ctx, &c->r.X, PKRT_F32, 1, row, 0);
    if (s == PKRT_OK)
        s = pkrt_tensor_create(c->ctx, &c->r.Y, PKRT_F32, 1, row, PKRT_SYMMETRIC);
    if (s == PKRT_OK)
        s = pkrt_tensor_create(c->ctx, &c->s.X, PKRT_BF16, 2, tile, 0);
    if (s == PKRT_OK)
        s = pkrt_tensor_create(c->ctx, &c->s.Y, PKRT_BF16, 3, all, PKRT_SYMMETRIC);
    return s;
}

static pkrt_status fill(scenario *c)
{
    float x[N], tile[8 * N] = {0};
    pkrt_status s = PKRT_OK;
    for (int r = 0; s == PKRT_OK && r < c->ranks; r++) {
        for (int i = 0; i < N; i++)
            x[i] = rt_number(r, i);
        s = pkrt_tensor_write_f32(c->r.X, r, x, N);
        if (s == PKRT_OK)
            s = pkrt_tensor_write_f32(c->s.X, r, tile, (size_t)8 * N);
    }
    return s;
}

static pkrt_status bind(scenario *c)
{
    pkrt_module *m;
    pkrt_status s = kernels_pk_load(c->ctx, &m);
    if (s == PKRT_OK)
        s = ring_bind(m, &c->ring, &c->r);
    return s == PKRT_OK ? spread_bind(m, &c->spread, &c->s) : s;
}

static pkrt_status launch(scenario *c)
{
    pkrt_status s = ring_launch(c->ring, NULL);
    if (s == PKRT_OK)
        s = spread_launch(c->spread, NULL);
    return s == PKRT_OK ? ring_launch(c->ring, NULL) : s;
}

static pkrt_status read_back(scenario *c, bool *right)
{
    float got[N];
    pkrt_status s = pkrt_context_synchronize(c->ctx);
    *right = true;
    for (int r = 0; s == PKRT_OK && r < c->ranks; r++) {
        s = pkrt_tensor_read_f32(c->r.Y, r, got, N);
        for (int i = 0; s == PKRT_OK && i < N; i++)
            *right &= got[i] == rt_number((r + c->ranks - 1) % c->ranks, i);
    }
    return s;
}

/// All of it, as far as it comes; *right where it came to the end with the right numbers.
static pkrt_status run(scenario *c, bool *right)
{
    pkrt_status s = make_context(c);
    *right = false;
    if (s == PKRT_OK)
        s = make_tensors(c);
    if (s == PKRT_OK)
        s = fill(c);
    if (s == PKRT_OK)
        s = bind(c);
    if (s == PKRT_OK)
        s = launch(c);
    return s == PKRT_OK ? read_back(c, right) : s;
}

/// After a failure the message says something, a launch that started nowhere or everywhere is no trap: a
/// reset makes the context usable again, and the rest can be done.
static void check_failure(scenario *c, pkrt_status s, unsigned long long call)
{
    if (!pkrt_last_error(c->ctx)[0])
        fail_msg("call %llu: status %d and no message", call, (int)s);
    if (s == PKRT_NO_MEMORY || s == PKRT_DRIVER || s == PKRT_BAD_MODULE || s == PKRT_NO_DRIVER ||
        s == PKRT_FAULT)
        return;
    fail_msg("call %llu: status %d: %s", call, (int)s, pkrt_last_error(c->ctx));
}

static void fail_in_turn(int ranks, int devices, int code)
{
    unsigned long long call = 0, made;
    bool right;
    pkrt_status s;
    do {
        scenario c = {.ranks = ranks, .devices = devices};
        call++;
        pksimFailCall(NULL, call, code);
        s = run(&c, &right);
        made = pksimCalls();
        pksimFailCall(NULL, 0, 0);
        if (s != PKRT_OK)
            check_failure(&c, s, call);
        else if (!right)
            fail_msg("call %llu failed, nothing was said, and the result is wrong", call);
        pkrt_context_destroy(c.ctx);
        if (rt_live() != 0)
            fail_msg("call %llu of %d ranks on %d devices: %llu things were kept", call, ranks, devices,
                     rt_live());
    } while (call <= made);
    assert_int_equal(s, PKRT_OK); // the last call that failed was one too many
    assert_true(call > 60);
    print_message("%d ranks on %d devices: each of %llu calls failed once\n", ranks, devices, call - 1);
}

static void every_call(void **state)
{
    (void)state;
    fail_in_turn(1, 1, OUT_OF_MEMORY);
    fail_in_turn(2, 2, INVALID_VALUE);
    fail_in_turn(3, 2, OUT_OF_MEMORY);
}

/// A launch that fails on the n-th device after the others have started: they are ended, the context says so
/// until it is reset, and then works.
static void launch_fails_late(void **state)
{
    (void)state;
    enum { DEVICES = 4 };
    for (unsigned long long nth = 1; nth <= DEVICES; nth++) {
        scenario c = {.ranks = DEVICES, .devices = DEVICES};
        bool right;
        assert_ok(c.ctx, run(&c, &right));
        pksimFailCall("cuLaunchKernelEx", nth, INVALID_VALUE);
        assert_error(c.ctx, ring_launch(c.ring, NULL), PKRT_DRIVER, "launching the kernel");
        pksimFailCall(NULL, 0, 0);
        if (nth > 1) {
            assert_error(c.ctx, ring_launch(c.ring, NULL), PKRT_ABORTED, "reset");
            assert_error(c.ctx, pkrt_context_synchronize(c.ctx), PKRT_ABORTED, "reset");
            assert_ok(c.ctx, pkrt_context_reset(c.ctx));
        }
        assert_ok(c.ctx, fill(&c));
        assert_ok(c.ctx, launch(&c));
        assert_ok(c.ctx, read_back(&c, &right));
        assert_true(right);
        pkrt_context_destroy(c.ctx);
        assert_int_equal(rt_live(), 0);
    }
}

/// Destroying a context whose kernels were ended in the middle does not hang either.
static void destroyed_in_the_middle(void **state)
{
    (void)state;
    scenario c = {.ranks = 3, .devices = 3};
    bool right;
    assert_ok(c.ctx, run(&c, &right));
    pksimFailCall("cuLaunchKernelEx", 3, OUT_OF_MEMORY);
    assert_error(c.ctx, ring_launch(c.ring, NULL), PKRT_NO_MEMORY, "launching");
    pksimFailCall(NULL, 0, 0);
    pkrt_context_destroy(c.ctx);
    assert_int_equal(rt_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call),
        cmocka_unit_test(launch_fails_late),
        cmocka_unit_test(destroyed_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
