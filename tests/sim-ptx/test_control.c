// SPDX-License-Identifier: Apache-2.0
// Divergence: loops of different lengths, branch tables, blocks out of order, lanes that wait for each other,
// exits.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 48 };

static void run(const char *body, uint32_t out[THREADS], uint64_t seed)
{
    struct rig rig;
    rig_open_kernel(&rig, body);
    rig.config.seed = seed;
    rig.config.max_steps = 1000000;
    rig_run_kernel(&rig, THREADS, out);
    rig_close(&rig);
}

static void test_loops_of_different_length(void **state)
{
    (void)state;
    uint32_t out[THREADS];
    run("mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
        "LOOP: setp.ge.u32 %p1, %r2, %t; @%p1 bra DONE; add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; bra "
        "LOOP;\n"
        "DONE: setp.eq.u32 %p2, %t, %t; vote.sync.ballot.b32 %r3, %p2, -1; popc.b32 %r3, %r3; mad.lo.u32 "
        "%r1, %r3, 1000, %r1;\n"
        "st.global.u32 [%o], %r1;",
        out, 3);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(out[t], t * (t - 1) / 2 + 1000 * (t < 32 ? 32 : 16));
}

// The block of the odd lanes stands behind the exit: they come back to a smaller pc.
static void test_blocks_out_of_order(void **state)
{
    (void)state;
    uint32_t out[THREADS];
    run("and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1; mov.u32 %r2, 5; @%p1 bra ODD;\n"
        "JOIN: activemask.b32 %r4; shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; add.u32 %r3, %r3, %t; "
        "st.global.u32 [%o], %r3; ret;\n"
        "ODD: mov.u32 %r2, 9; bra JOIN;",
        out, 1);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(out[t], (t & 1 ? 5 : 9) + t);
}

static void test_branch_table(void **state)
{
    (void)state;
    uint32_t out[THREADS];
    run("and.b32 %r1, %t, 3; mov.u32 %r2, 0;\n"
        "TABLE: .branchtargets L0, L1, L2, L3;\n"
        "brx.idx %r1, TABLE;\n"
        "L3: add.u32 %r2, %r2, 1000; L2: add.u32 %r2, %r2, 100; L1: add.u32 %r2, %r2, 10; L0: add.u32 %r2, "
        "%r2, 1;\n"
        "st.global.u32 [%o], %r2;",
        out, 1);
    static const uint32_t expected[4] = {1, 11, 111, 1111};
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(out[t], expected[t % 4]);
}

// Lane 0 spins on a flag that another lane of its warp sets further down: without fairness it would spin for
// ever.
static void test_lanes_wait_for_each_other(void **state)
{
    (void)state;
    uint32_t out[THREADS];
    for (uint64_t seed = 1; seed < 5; seed++) {
        run("mov.u32 %r1, mem; st.shared.u32 [%r1], 0; bar.sync 0; setp.eq.u32 %p1, %t, 0; @!%p1 bra OTHER;\n"
            "SPIN: ld.volatile.shared.u32 %r2, [%r1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra SPIN; bra JOIN;\n"
            "OTHER: setp.eq.u32 %p3, %t, 17; @%p3 st.volatile.shared.u32 [%r1], 77;\n"
            "JOIN: bar.warp.sync -1; ld.volatile.shared.u32 %r2, [%r1]; st.global.u32 [%o], %t;",
            out, seed);
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal(out[t], t);
    }
}

// A spin with effects of its own (a counter in memory) is not taken for a wait; the others still get their
// turn.
static void test_spin_with_effects(void **state)
{
    (void)state;
    uint32_t out[THREADS];
    run("mov.u32 %r1, mem; st.shared.v2.u32 [%r1], {0, 0}; bar.sync 0; setp.eq.u32 %p1, %t, 0; @!%p1 bra "
        "OTHER;\n"
        "SPIN: atom.shared.add.u32 %r3, [%r1+4], 1; ld.volatile.shared.u32 %r2, [%r1]; setp.eq.u32 %p2, %r2, "
        "0; @%p2 bra SPIN; bra JOIN;\n"
        "OTHER: setp.eq.u32 %p3, %t, 40; @%p3 st.volatile.shared.u32 [%r1], 77;\n"
        "JOIN: st.global.u32 [%o], %t;",
        out, 2);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(out[t], t);
}

static void test_early_exit(void **state)
{
    (void)state;
    struct rig rig;
    uint32_t out[THREADS], zero[THREADS] = {0};
    rig_open_kernel(
        &rig, "and.b32 %r1, %t, 3; setp.ne.u32 %p1, %r1, 0; @%p1 exit; bar.warp.sync -1;\n"
              "elect.sync %r2|%p2, -1; selp.b32 %r3, 100, 200, %p2; bar.sync 0; st.global.u32 [%o], %r3;");
    uint64_t address = rig_upload(&rig, 0, zero, sizeof zero);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, THREADS, &address, sizeof address);
    rig_run_ok(&rig, &launch, 1);
    rig_download(&rig, out, address, sizeof out);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(out[t], t % 4 ? 0 : t % 32 ? 200 : 100);
    rig_close(&rig);
}

static void test_scoped_labels(void **state)
{
    (void)state;
    uint32_t out[THREADS];
    run("mov.u32 %r1, 0;\n{ L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra L; }\n"
        "{ .reg .b32 %r1x; mov.u32 %r1x, 0; L: add.u32 %r1x, %r1x, 1; setp.lt.u32 %p1, %r1x, 5; @%p1 bra L;\n"
        "add.u32 %r1, %r1, %r1x; bra END; }\nEND: st.global.u32 [%o], %r1;",
        out, 1);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(out[t], 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_of_different_length),
        cmocka_unit_test(test_blocks_out_of_order),
        cmocka_unit_test(test_branch_table),
        cmocka_unit_test(test_lanes_wait_for_each_other),
        cmocka_unit_test(test_spin_with_effects),
        cmocka_unit_test(test_early_exit),
        cmocka_unit_test(test_scoped_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
