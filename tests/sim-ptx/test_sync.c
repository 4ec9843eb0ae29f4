// SPDX-License-Identifier: Apache-2.0
// Barriers of every kind, and what lanes of a warp tell each other.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_THREADS = 256 };

typedef uint32_t expected_fn(uint32_t thread);

static void check(const char *body, uint32_t threads, expected_fn *expected)
{
    uint32_t out[MAX_THREADS];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct rig rig;
        rig_open_kernel(&rig, body);
        rig.config.seed = seed;
        rig_run_kernel(&rig, threads, out);
        for (uint32_t t = 0; t < threads; t++) {
            if (out[t] != expected(t))
                fail_msg("seed %u, thread %u: 0x%x, expected 0x%x", (unsigned)seed, t, out[t], expected(t));
        }
        rig_close(&rig);
    }
}

static uint32_t shuffles(uint32_t t)
{
    uint32_t lane = t % 32, base = t - lane;
    uint32_t up = lane >= 3 ? t - 3 : t, down = lane + 5 < 32 ? t + 5 : t, butterfly = base + (lane ^ 6);
    uint32_t within = base + (lane & ~7u) + 2, in_range = lane >= 3;
    return up + 1000 * down + 100 * butterfly + 10000 * within + in_range;
}

static void test_shuffle(void **state)
{
    (void)state;
    check("shfl.sync.up.b32 %r1|%p1, %t, 3, 0, -1; shfl.sync.down.b32 %r2, %t, 5, 31, -1;\n"
          "shfl.sync.bfly.b32 %r3, %t, 6, 31, -1; shfl.sync.idx.b32 %r4, %t, 2, 0x181f, -1;\n"
          "mad.lo.u32 %r1, %r2, 1000, %r1; mad.lo.u32 %r1, %r3, 100, %r1; mad.lo.u32 %r1, %r4, 10000, %r1;\n"
          "selp.b32 %r5, 1, 0, %p1; add.u32 %r1, %r1, %r5; st.global.u32 [%o], %r1;",
          64, shuffles);
}

static uint32_t votes(uint32_t t)
{
    (void)t;
    return 0x55555555u ^ 1 ^ 2 ^ 0;
}

static void test_vote(void **state)
{
    (void)state;
    check(
        "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; vote.sync.ballot.b32 %r2, %p1, -1;\n"
        "vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, !%p1, -1; vote.sync.uni.pred %p4, %p2, "
        "-1;\n"
        "selp.b32 %r3, 1, 0, %p2; selp.b32 %r4, 4, 0, %p3; selp.b32 %r5, 2, 0, %p4; xor.b32 %r2, %r2, %r3;\n"
        "xor.b32 %r2, %r2, %r4; xor.b32 %r2, %r2, %r5; st.global.u32 [%o], %r2;",
        64, votes);
}

static uint32_t matches(uint32_t t)
{
    uint32_t lane = t % 32, base = t - lane;
    return (0x11111111u << lane % 4) ^ (32 * base + 31 * 16) ^ (base + 31);
}

static void test_match_and_redux(void **state)
{
    (void)state;
    check("and.b32 %r1, %t, 3; match.any.sync.b32 %r2, %r1, -1; redux.sync.add.u32 %r3, %t, -1;\n"
          "redux.sync.max.s32 %r4, %t, -1; xor.b32 %r2, %r2, %r3; xor.b32 %r2, %r2, %r4; st.global.u32 [%o], "
          "%r2;",
          64, matches);
}

static uint32_t halves(uint32_t t)
{
    return t < 64 ? 64 : 1000;
}

// Named barriers: the first two warps wait for each other; the others pass theirs; all meet at 0.
static void test_named_barriers(void **state)
{
    (void)state;
    check("mov.u32 %r1, mem; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [%r1], 0; bar.sync 0;\n"
          "setp.lt.u32 %p2, %t, 64; mov.u32 %r3, 1000; @!%p2 bra SECOND; atom.shared.add.u32 %r2, [%r1], 1; "
          "bar.sync 1, 64;\n"
          "ld.shared.u32 %r3, [%r1]; bra JOIN;\nSECOND: barrier.cta.sync.aligned 2, 64;\nJOIN: "
          "barrier.cta.sync 0;\n"
          "st.global.u32 [%o], %r3;",
          128, halves);
}

static uint32_t produced(uint32_t t)
{
    return t < 32 ? 0 : t - 32 + 7;
}

static void test_arrive(void **state)
{
    (void)state;
    check("mov.u32 %r1, mem; setp.lt.u32 %p1, %t, 32; mov.u32 %r2, 0; @!%p1 bra TAKE;\n"
          "shl.b32 %r3, %t, 2; add.u32 %r3, %r1, %r3; add.u32 %r4, %t, 7; st.shared.u32 [%r3], %r4; "
          "bar.arrive 3, 64; bra END;\n"
          "TAKE: bar.sync 3, 64; sub.u32 %r3, %t, 32; shl.b32 %r3, %r3, 2; add.u32 %r3, %r1, %r3; "
          "ld.shared.u32 %r2, [%r3];\n"
          "END: st.global.u32 [%o], %r2;",
          64, produced);
}

static uint32_t counted(uint32_t t)
{
    (void)t;
    return 10 + 1000;
}

static void test_barrier_reduction(void **state)
{
    (void)state;
    check("setp.lt.u32 %p1, %t, 10; bar.red.popc.u32 %r1, 0, %p1; bar.red.or.pred %p2, 0, %p1; "
          "bar.red.and.pred %p3, 0, %p1;\n"
          "selp.b32 %r2, 1000, 0, %p2; selp.b32 %r3, 5000, 0, %p3; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, "
          "%r3;\n"
          "st.global.u32 [%o], %r1;",
          96, counted);
}

static uint32_t ring(uint32_t t)
{
    return t < 32 ? 0 : 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7;
}

// A ring of two slots between two warps: mbarriers full (32 arrivals) and empty (one).
static void test_mbarrier_ring(void **state)
{
    (void)state;
    check("mov.u32 %r1, mem; setp.eq.u32 %p1, %t, 0; @!%p1 bra GO;\n"
          "mbarrier.init.shared.b64 [%r1], 32; mbarrier.init.shared.b64 [%r1+8], 32; "
          "mbarrier.init.shared.b64 [%r1+16], 1;\n"
          "mbarrier.init.shared.b64 [%r1+24], 1;\n"
          "GO: bar.sync 0; mov.u32 %r2, 0; mov.u32 %r9, 0; setp.lt.u32 %p2, %t, 32; @!%p2 bra TAKE;\n"
          "PUT: and.b32 %r3, %r2, 1; shl.b32 %r4, %r3, 3; add.u32 %r4, %r1, %r4; shr.u32 %r5, %r2, 1; "
          "and.b32 %r5, %r5, 1;\n"
          "xor.b32 %r6, %r5, 1;\n"
          "W1: mbarrier.try_wait.parity.shared.b64 %p3, [%r4+16], %r6; @!%p3 bra W1;\n"
          "shl.b32 %r7, %r3, 7; add.u32 %r7, %r7, %r1; shl.b32 %r8, %t, 2; add.u32 %r7, %r7, %r8; "
          "st.shared.u32 [%r7+64], %r2;\n"
          "mbarrier.arrive.shared.b64 _, [%r4]; add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 8; @%p4 bra PUT; "
          "bra END;\n"
          "TAKE: and.b32 %r3, %r2, 1; shl.b32 %r4, %r3, 3; add.u32 %r4, %r1, %r4; shr.u32 %r5, %r2, 1; "
          "and.b32 %r5, %r5, 1;\n"
          "W2: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], %r5; @!%p3 bra W2;\n"
          "shl.b32 %r7, %r3, 7; add.u32 %r7, %r7, %r1; sub.u32 %r8, %t, 32; shl.b32 %r8, %r8, 2; add.u32 "
          "%r7, %r7, %r8;\n"
          "ld.shared.u32 %r8, [%r7+64]; add.u32 %r9, %r9, %r8; bar.warp.sync -1; setp.eq.u32 %p5, %t, 32;\n"
          "@%p5 mbarrier.arrive.shared.b64 %d1, [%r4+16]; add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 8; @%p4 "
          "bra TAKE;\n"
          "END: st.global.u32 [%o], %r9;",
          64, ring);
}

static uint32_t states(uint32_t t)
{
    (void)t;
    return 1 + 2 + 8;
}

static void test_mbarrier_states(void **state)
{
    (void)state;
    check("mov.u32 %r1, mem; mbarrier.init.shared.b64 [%r1], 2; mbarrier.arrive.shared.b64 %d1, [%r1];\n"
          "mbarrier.test_wait.shared.b64 %p1, [%r1], %d1; mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], "
          "16;\n"
          "mbarrier.arrive.shared.b64 %d2, [%r1]; mbarrier.test_wait.shared.b64 %p2, [%r1], %d1;\n"
          "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], 16; mbarrier.test_wait.shared.b64 %p3, [%r1], "
          "%d2;\n"
          "mbarrier.pending_count.b64 %r2, %d1; mbarrier.inval.shared.b64 [%r1];\n"
          "selp.b32 %r3, 100, 1, %p1; selp.b32 %r4, 100, 0, %p2; selp.b32 %r5, 8, 0, %p3; add.u32 %r2, %r2, "
          "%r3;\n"
          "add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; st.global.u32 [%o], %r2;",
          1, states);
}

static const char cluster[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) .reqnctapercluster "
    "2, 1, 1\n{\n"
    ".reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<5>; .shared .align 16 .b8 mem[64];\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, mem;\n"
    "mbarrier.init.shared.b64 [%r3+8], 1; fence.mbarrier_init.release.cluster;\n"
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
    "mapa.shared::cluster.u32 %r4, %r3, %r2; mov.u32 %r5, %ctaid.x; add.u32 %r5, %r5, 70;\n"
    "st.shared::cluster.u32 [%r4], %r5; mapa.shared::cluster.u32 %r6, %r3, %r2;\n"
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6+8];\n"
    "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r3+8], 0; @!%p1 bra W;\n"
    "ld.shared.u32 %r7, [%r3]; mov.u32 %r8, %ctaid.x; mul.wide.u32 %d2, %r8, 4; add.s64 %d1, %d1, %d2;\n"
    "mov.u32 %r9, %clusterid.x; mad.lo.u32 %r7, %r9, 1000, %r7; st.global.u32 [%d1], %r7;\n"
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret;\n}\n";

static void test_cluster(void **state)
{
    (void)state;
    struct rig rig;
    uint32_t out[6];
    assert_true(rig_assembles(cluster));
    rig_open(&rig, 1, cluster);
    uint64_t address = rig_alloc(&rig, 0, sizeof out);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 6, 1, &address, sizeof address);
    rig_run_ok(&rig, &launch, 1);
    rig_download(&rig, out, address, sizeof out);
    for (uint32_t c = 0; c < 6; c++)
        assert_int_equal(out[c], 70 + (c ^ 1) + 1000 * (c / 2));
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffle),         cmocka_unit_test(test_vote),
        cmocka_unit_test(test_match_and_redux), cmocka_unit_test(test_named_barriers),
        cmocka_unit_test(test_arrive),          cmocka_unit_test(test_barrier_reduction),
        cmocka_unit_test(test_mbarrier_ring),   cmocka_unit_test(test_mbarrier_states),
        cmocka_unit_test(test_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
