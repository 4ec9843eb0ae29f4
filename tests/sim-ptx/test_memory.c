// SPDX-License-Identifier: Apache-2.0
// State spaces, vectors, atomics, module variables, parameters, functions with frames.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 64 };

// Runs 64 threads of the statements; thread t must leave `expected` + t * `step` in its word of out.
static void expect_words(const char *body, uint32_t expected, uint32_t step)
{
    struct rig rig;
    uint32_t out[THREADS];
    rig_open_kernel(&rig, body);
    rig_run_kernel(&rig, THREADS, out);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(out[t], expected + t * step);
    rig_close(&rig);
}

static void test_shared(void **state)
{
    (void)state;
    // Thread t reads what thread 63 - t wrote.
    expect_words(
        "mov.u32 %r1, mem; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %t; bar.sync 0;\n"
        "sub.u32 %r4, 63, %t; shl.b32 %r4, %r4, 2; add.u32 %r4, %r1, %r4; ld.shared.u32 %r5, [%r4];\n"
        "st.global.u32 [%o], %r5;",
        63, UINT32_MAX);
}

static void test_generic_addresses(void **state)
{
    (void)state;
    expect_words(
        "cvta.shared.u64 %d1, mem; mov.u64 %d1, mem; cvta.shared.u64 %d1, %d1; add.s64 %d2, %d1, %d39;\n"
        "add.u32 %r1, %t, 100; st.u32 [%d2], %r1; cvta.to.shared.u64 %d3, %d2; ld.shared.u32 %r2, [%d3];\n"
        "isspacep.shared %p1, %d2; isspacep.global %p2, %d2; selp.b32 %r3, 1000, 0, %p1;\n"
        "selp.b32 %r4, 5, 0, %p2; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;\n"
        "cvta.global.u64 %d4, %o; st.u32 [%d4], %r2;",
        1100, 1);
}

static void test_vectors_and_narrow(void **state)
{
    (void)state;
    // 16 bytes a thread: v4 store, v2 and byte loads.
    expect_words(
        "mov.u64 %d1, mem; mul.wide.u32 %d2, %t, 16; add.s64 %d1, %d1, %d2;\n"
        "mov.u32 %r1, 0x11; mov.u32 %r2, 0xfedc8081; st.shared.v4.u32 [%d1], {%r1, %r2, %t, %r1};\n"
        "ld.shared.v2.u32 {%r4, %r3}, [%d1+8]; ld.shared.s8 %r5, [%d1+4]; ld.shared.u8 %r6, [%d1+5];\n"
        "ld.shared.s16 %h1, [%d1+6]; cvt.s32.s16 %r7, %h1;\n"
        "add.u32 %r8, %r4, %r5; add.u32 %r8, %r8, %r6; add.u32 %r8, %r8, %r7; st.global.u32 [%o], %r8;",
        0xffffff81u + 0x80 + 0xfffffedcu, 1);
}

static void test_local(void **state)
{
    (void)state;
    expect_words(
        ".local .align 8 .b8 frame[64]; mov.u64 %d1, frame; st.local.u32 [%d1+8], %t; st.local.u32 "
        "[frame+12], 7;\n"
        "cvta.local.u64 %d2, %d1; ld.u32 %r1, [%d2+8]; ld.local.u32 %r2, [%d1+12]; add.u32 %r1, %r1, %r2;\n"
        "st.global.u32 [%o], %r1;",
        7, 1);
}

static void test_atomics(void **state)
{
    (void)state;
    expect_words("mov.u32 %r1, mem; setp.eq.u32 %p1, %t, 0; mov.u32 %r2, 0; @%p1 st.shared.v4.u32 [%r1], "
                 "{%r2, %r2, %r2, %r2};\n"
                 "bar.sync 0; atom.shared.add.u32 %r3, [%r1], 1; red.shared.max.u32 [%r1+4], %t;\n"
                 "atom.shared.inc.u32 %r4, [%r1+8], 9; atom.shared.or.b32 %r4, [%r1+12], %t; bar.sync 0;\n"
                 "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r1]; mad.lo.u32 %r9, %r6, 1000, %r5;\n"
                 "mad.lo.u32 %r9, %r7, 1000000, %r9; add.u32 %r9, %r9, %r8; st.global.u32 [%o], %r9;",
                 64 + 63000 + 4000000 + 63, 0);
}

static void test_cas_and_exchange(void **state)
{
    (void)state;
    // A lock taken by cas, one thread of the warp at a time; the lanes diverge.
    expect_words(
        "mov.u32 %r1, mem; setp.eq.u32 %p1, %t, 0; mov.u32 %r2, 0; @%p1 st.shared.v2.u32 [%r1], {%r2, %r2};\n"
        "bar.sync 0;\n"
        "AGAIN: atom.shared.cas.b32 %r3, [%r1], 0, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra AGAIN;\n"
        "ld.shared.u32 %r4, [%r1+4]; add.u32 %r4, %r4, 1; st.shared.u32 [%r1+4], %r4;\n"
        "atom.shared.exch.b32 %r5, [%r1], 0; bar.sync 0; ld.shared.u32 %r6, [%r1+4]; st.global.u32 [%o], "
        "%r6;",
        64, 0);
}

static void test_float_atomics(void **state)
{
    (void)state;
    expect_words(
        "mov.u32 %r1, mem; setp.eq.u32 %p1, %t, 0; mov.u32 %r2, 0; @%p1 st.shared.v4.u32 [%r1], {%r2, %r2, "
        "%r2, %r2};\n"
        "bar.sync 0; cvt.rn.f32.u32 %f1, %t; red.shared.add.f32 [%r1], %f1; mov.b32 %r3, 0x3c003c00;\n"
        "red.shared.add.noftz.f16x2 [%r1+4], %r3; mov.b32 %r3, 0x3f803f80;\n"
        "red.shared.add.noftz.bf16x2 [%r1+8], %r3; bar.sync 0; ld.shared.f32 %f2, [%r1];\n"
        "cvt.rzi.u32.f32 %r4, %f2; ld.shared.u32 %r5, [%r1+4]; ld.shared.u32 %r6, [%r1+8];\n"
        "xor.b32 %r5, %r5, %r6; add.u32 %r4, %r4, %r5; st.global.u32 [%o], %r4;",
        2016 + (0x54005400u ^ 0x42804280u), 0);
}

static const char variables[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".global .align 4 .u32 counters[4] = {10, 20, 30, 40};\n"
    ".const .align 8 .u64 pointer = counters;\n"
    ".global .align 8 .u64 inner = generic(counters)+8;\n"
    ".const .f32 half = 0f3F000000;\n"
    ".global .align 2 .b8 bytes[6] = {1, 2, 3, 4, 5};\n"
    ".visible .entry k(.param .u64 out, .param .u8 small, .param .align 8 .b8 block[16])\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<3>;\n"
    "ld.param.u64 %d1, [out]; ld.const.u64 %d2, [pointer]; ld.global.u32 %r1, [%d2+4];\n"
    "ld.global.u64 %d3, [inner]; ld.u32 %r2, [%d3]; ld.const.f32 %f1, [half]; ld.global.u8 %r3, [bytes+4];\n"
    "ld.global.u8 %r4, [bytes+5]; mov.u64 %d4, counters; ld.global.v4.u32 {%r5, %r5, %r5, %r5}, [%d4];\n"
    "ld.param.u8 %r6, [small]; ld.param.v2.u32 {%r7, %r8}, [block+8]; add.f32 %f1, %f1, %f1;\n"
    "cvt.rzi.u32.f32 %r4, %f1; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;\n"
    "add.u32 %r1, %r1, %r6; mul.lo.u32 %r7, %r7, %r8; add.u32 %r1, %r1, %r7; st.global.u32 [%d1], %r1; "
    "ret;\n}\n";

static void test_variables_and_parameters(void **state)
{
    (void)state;
    struct rig rig;
    struct {
        uint64_t out;
        uint8_t small, pad[7];
        uint32_t block[4];
    } params = {.small = 100, .block = {0, 0, 1000, 7}};
    uint32_t word;
    // ptxas wants different destinations in a vector load; the simulator takes the last.
    rig_open(&rig, 1, variables);
    params.out = rig_alloc(&rig, 0, 4);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 1, &params, sizeof params);
    rig_run_ok(&rig, &launch, 1);
    rig_download(&rig, &word, params.out, 4);
    assert_int_equal(word, 20 + 30 + 5 + 1 + 100 + 7000);
    rig_close(&rig);
}

static const char calls[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".func (.param .b32 result) square(.param .b32 a);\n"
    ".func (.param .b32 result) twice(.param .b32 a)\n{\n"
    ".reg .b32 %r<4>; ld.param.b32 %r1, [a];\n"
    "{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r1; call.uni (r0), square, (p0); ld.param.b32 "
    "%r2, [r0]; }\n"
    "add.u32 %r3, %r2, %r2; st.param.b32 [result], %r3; ret;\n}\n"
    ".func (.param .b32 result) square(.param .b32 a)\n{\n"
    ".reg .b32 %r<3>; .reg .pred %p; ld.param.b32 %r1, [a]; setp.gt.u32 %p, %r1, 40; @%p bra BIG;\n"
    "mul.lo.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret;\nBIG: mov.u32 %r2, 1; st.param.b32 [result], "
    "%r2; ret;\n}\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %d<3>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;\n"
    "{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r1; call (r0), twice, (p0); ld.param.b32 %r2, "
    "[r0]; }\n"
    "mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r2; ret;\n}\n";

static void test_calls(void **state)
{
    (void)state;
    struct rig rig;
    uint32_t out[THREADS];
    assert_true(rig_assembles(calls));
    rig_open(&rig, 1, calls);
    rig_run_kernel(&rig, THREADS, out);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(out[t], t > 40 ? 2 : 2 * t * t);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_generic_addresses),
        cmocka_unit_test(test_vectors_and_narrow),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_cas_and_exchange),
        cmocka_unit_test(test_float_atomics),
        cmocka_unit_test(test_variables_and_parameters),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
