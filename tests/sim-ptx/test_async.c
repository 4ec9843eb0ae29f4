// SPDX-License-Identifier: Apache-2.0
// Copies in flight, over several seeds and with late completion: what waits promise, and no more.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"

// Thread 0 loads 256 bytes, adds one to each word and stores them; another 256 bytes go as a reduction.
static const char round_trip[] =
    HEAD ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<5>; .shared .align 128 .b8 mem[1024];\n"
         "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, mem; mov.u32 %r2, %tid.x; "
         "setp.eq.u32 %p1, %r2, 0;\n"
         "@!%p1 bra WAIT; mbarrier.init.shared.b64 [%r1+512], 1; fence.proxy.async.shared::cta;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [%r1+512], 256;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 256, [%r1+512];\n"
         "WAIT: bar.sync 0;\nW: mbarrier.try_wait.parity.shared.b64 %p2, [%r1+512], 0; @!%p2 bra W;\n"
         "shl.b32 %r3, %r2, 2; add.u32 %r3, %r1, %r3; ld.shared.u32 %r4, [%r3]; add.u32 %r4, %r4, 1; "
         "st.shared.u32 [%r3], %r4;\n"
         "fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra END;\n"
         "cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r1], 256; cp.async.bulk.commit_group;\n"
         "cp.async.bulk.wait_group 0;\n"
         "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2], [%r1], 256; "
         "cp.async.bulk.commit_group;\n"
         "cp.async.bulk.wait_group.read 0; st.shared.u32 [%r1], 99; cp.async.bulk.wait_group 0;\n"
         "END: ret;\n}\n";

static void test_round_trip(void **state)
{
    (void)state;
    uint32_t words[64], out[64];
    assert_true(rig_assembles(round_trip));
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct rig rig;
        rig_open(&rig, 1, round_trip);
        rig.config.seed = seed;
        rig.config.late = seed & 1;
        for (uint32_t i = 0; i < 64; i++)
            words[i] = 10 * i;
        uint64_t params[2] = {rig_upload(&rig, 0, words, 256), rig_alloc(&rig, 0, 256)};
        struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 64, params, sizeof params);
        rig_run_ok(&rig, &launch, 1);
        rig_download(&rig, out, params[1], 256);
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(out[i], 2 * (10 * i + 1));
        assert_int_equal(rig.stats.copies, 3);
        rig_close(&rig);
    }
}

// Without the wait the store may read what is written after it: the late schedule must show that.
static const char too_early[] =
    HEAD ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .b32 %r<9>; .reg .b64 %d<3>; .shared .align 128 .b8 mem[128];\n"
         "ld.param.u64 %d1, [out]; mov.u32 %r1, mem; mov.u32 %r2, 1; st.shared.v4.u32 [%r1], {%r2, %r2, %r2, "
         "%r2};\n"
         "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16; cp.async.bulk.commit_group;\n"
         "st.shared.u32 [%r1], 2; cp.async.bulk.wait_group 0; ret;\n}\n";

static void test_late_reads_show_early_reuse(void **state)
{
    (void)state;
    struct rig rig;
    uint32_t out;
    rig_open(&rig, 1, too_early);
    rig.config.late = true;
    uint64_t address = rig_alloc(&rig, 0, 16);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 1, &address, sizeof address);
    rig_run_ok(&rig, &launch, 1);
    rig_download(&rig, &out, address, 4);
    assert_int_equal(out, 2);
    rig_close(&rig);
}

static const char no_wait[] = HEAD
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %d<3>; .shared .align 128 .b8 mem[128];\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, mem; mov.u32 %r2, 1; st.shared.v4.u32 [%r1], {%r2, %r2, %r2, "
    "%r2};\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16; cp.async.bulk.commit_group; ret;\n}\n";

static void test_exit_in_flight(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 1, no_wait);
    rig.config.late = true;
    uint64_t address = rig_alloc(&rig, 0, 16);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 1, &address, sizeof address);
    rig_run(&rig, &launch, 1);
    assert_int_equal(rig.fault.kind, PKSIM_FAULT_IN_FLIGHT);
    rig_close(&rig);
}

// Two devices hand a token to and fro through each other's memory; every poll is a wait, not a spin.
static const char ping_pong[] =
    HEAD ".visible .entry k(.param .u64 mine, .param .u64 theirs, .param .u32 first)\n{\n"
         ".reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<4>;\n"
         "ld.param.u64 %d1, [mine]; ld.param.u64 %d2, [theirs]; ld.param.u32 %r1, [first]; mov.u32 %r2, 1;\n"
         "setp.eq.u32 %p1, %r1, 1; @%p1 bra SEND;\n"
         "WAIT: ld.acquire.sys.global.u32 %r3, [%d1]; setp.lt.u32 %p2, %r3, %r2; @%p2 bra WAIT;\n"
         "add.u32 %r2, %r2, 1; setp.gt.u32 %p3, %r2, 50; @%p3 bra LAST;\n"
         "SEND: red.release.sys.global.add.u32 [%d2], 1; bra WAIT;\n"
         "LAST: @%p1 bra END; red.release.sys.global.add.u32 [%d2], 1; END: ret;\n}\n";

static void test_two_devices(void **state)
{
    (void)state;
    uint32_t zero = 0, words[2];
    assert_true(rig_assembles(ping_pong));
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct rig rig;
        struct {
            uint64_t mine, theirs;
            uint32_t first;
        } params[2];
        rig_open(&rig, 2, ping_pong);
        rig.config.seed = seed;
        rig.config.straggler = seed % 2 ? 1 : -1;
        uint64_t a = rig_upload(&rig, 0, &zero, 4), b = rig_upload(&rig, 1, &zero, 4);
        params[0].mine = params[1].theirs = a;
        params[1].mine = params[0].theirs = b;
        params[0].first = 1;
        params[1].first = 0;
        struct pksim_launch launches[2] = {rig_launch(&rig, "k", 0, 1, 1, &params[0], 20),
                                           rig_launch(&rig, "k", 1, 1, 1, &params[1], 20)};
        rig_run_ok(&rig, launches, 2);
        rig_download(&rig, &words[0], a, 4);
        rig_download(&rig, &words[1], b, 4);
        assert_int_equal(words[0], 50);
        assert_int_equal(words[1], 50);
        assert_true(rig.stats.instructions < 100000);
        rig_close(&rig);
    }
}

// The host writes the word that a kernel polls: stalled, then done.
static const char waits_for_host[] = HEAD
    ".visible .entry k(.param .u64 word)\n{\n.reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<4>;\n"
    "ld.param.u64 %d1, [word]; mov.u32 %r2, 0;\n"
    "WAIT: ld.relaxed.sys.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r1, 0; @%p1 bra END; add.u32 %r2, %r2, "
    "1;\n"
    "and.b32 %r3, %r2, 1023; setp.ne.u32 %p2, %r3, 0; @%p2 bra WAIT; ld.volatile.global.u32 %r1, [%d1+4];\n"
    "setp.eq.u32 %p3, %r1, 0; @%p3 bra WAIT; END: ret;\n}\n";

static void check_host_write(uint32_t which)
{
    struct rig rig;
    uint32_t words[2] = {0, 0};
    uint64_t id;
    rig_open(&rig, 1, waits_for_host);
    uint64_t address = rig_upload(&rig, 0, words, 8);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 2, 32, &address, 8);
    struct pksim_exec *exec = pksim_exec_create(&rig.config);
    assert_int_equal(pksim_exec_add(exec, &launch, &id), PKSIM_LAUNCH_OK);
    assert_int_equal(pksim_exec_run(exec, 0), PKSIM_EXEC_STALLED);
    assert_int_equal(pksim_exec_run(exec, 0), PKSIM_EXEC_STALLED);
    assert_false(pksim_exec_finished(exec, id));
    struct pksim_mem_fault fault;
    words[which] = 1;
    assert_true(pksim_mem_write(rig.mem, address, words, 8, &fault));
    assert_int_equal(pksim_exec_run(exec, 0), PKSIM_EXEC_DONE);
    assert_true(pksim_exec_finished(exec, id));
    pksim_exec_free(exec);
    rig_close(&rig);
}

static void test_host_write_wakes(void **state)
{
    (void)state;
    assert_true(rig_assembles(waits_for_host));
    check_host_write(0);
    check_host_write(1); // seen only every 1,024 tries
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_late_reads_show_early_reuse),
        cmocka_unit_test(test_exit_in_flight),   cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_host_write_wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
