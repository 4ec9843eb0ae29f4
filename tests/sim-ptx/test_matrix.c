// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of a warp and of a warpgroup, with small whole numbers so that sums are exact.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint16_t bf16(int value)
{
    return pksim_to_bf16((float)value);
}

static int element(int seed, int row, int column)
{
    return (seed + 3 * row + 5 * column + row * column) % 7 - 3;
}

#define HEAD                                                                                                 \
    ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 "         \
    "out)\n{\n"                                                                                              \
    ".reg .b32 %r<60>; .reg .b64 %d<20>; .reg .f32 %f<20>; .reg .pred %p<5>; .shared .align 1024 .b8 "       \
    "mem[4096];\n"                                                                                           \
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, mem; mov.u32 %r2, %tid.x;\n"

// A (16 x 16) and B (16 x 8) go to shared memory and come as fragments: A by ldmatrix.x4, B by
// ldmatrix.x2.trans.
static const char warp_product[] =
    HEAD "mul.wide.u32 %d3, %r2, 16; add.s64 %d4, %d1, %d3; ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d4];\n"
         "shl.b32 %r7, %r2, 4; add.u32 %r7, %r1, %r7; st.shared.v4.u32 [%r7], {%r3, %r4, %r5, %r6};\n"
         "ld.global.v2.u32 {%r3, %r4}, [%d4+512]; setp.lt.u32 %p1, %r2, 16; @%p1 ld.global.v4.u32 {%r3, %r4, "
         "%r5, %r6}, "
         "[%d4+512];\n"
         "@%p1 st.shared.v4.u32 [%r7+512], {%r3, %r4, %r5, %r6}; bar.sync 0;\n"
         "and.b32 %r8, %r2, 15; shl.b32 %r8, %r8, 5; shr.u32 %r9, %r2, 4; shl.b32 %r9, %r9, 4; add.u32 %r8, "
         "%r8, %r9;\n"
         "add.u32 %r8, %r8, %r1; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r8];\n"
         "and.b32 %r8, %r2, 15; shl.b32 %r8, %r8, 4; add.u32 %r8, %r8, %r1;\n"
         "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r8+512];\n"
         "mov.f32 %f1, 0f3F800000;\n"
         "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4, %f5}, {%r10, %r11, %r12, "
         "%r13}, {%r14, %r15}, "
         "{%f1, %f1, %f1, %f1};\n"
         "shr.u32 %r20, %r2, 2; and.b32 %r21, %r2, 3; mad.lo.u32 %r22, %r20, 8, 0; shl.b32 %r21, %r21, 1;\n"
         "add.u32 %r22, %r22, %r21; mul.wide.u32 %d5, %r22, 4; add.s64 %d6, %d2, %d5;\n"
         "st.global.v2.f32 [%d6], {%f2, %f3}; st.global.v2.f32 [%d6+256], {%f4, %f5}; ret;\n}\n";

static void test_ldmatrix_and_mma(void **state)
{
    (void)state;
    struct rig rig;
    uint16_t in[256 + 128 + 128] = {0};
    float out[128];
    assert_true(rig_assembles(warp_product));
    rig_open(&rig, 1, warp_product);
    for (int i = 0; i < 16; i++) {
        for (int q = 0; q < 16; q++)
            in[i * 16 + q] = bf16(element(1, i, q));
        for (int j = 0; j < 8; j++)
            in[256 + i * 8 + j] = bf16(element(2, i, j));
    }
    uint64_t params[2] = {rig_upload(&rig, 0, in, sizeof in), rig_alloc(&rig, 0, sizeof out)};
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 32, params, sizeof params);
    rig_run_ok(&rig, &launch, 1);
    rig_download(&rig, out, params[1], sizeof out);
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 8; j++) {
            int sum = 1;
            for (int q = 0; q < 16; q++)
                sum += element(1, i, q) * element(2, q, j);
            assert_int_equal((int)out[i * 8 + j], sum);
        }
    }
    rig_close(&rig);
}

// D (64 x 8) += A (64 x 16, in registers) B (16 x 8, no swizzle), twice; between the two the registers are
// read and changed, so that the accumulators must go out of matrix form and back.
static const char group_product[] = HEAD
    "mul.wide.u32 %d3, %r2, 8; setp.lt.u32 %p1, %r2, 32; add.s64 %d4, %d1, %d3; @%p1 ld.global.v2.u32 {%r3, "
    "%r4}, [%d4];\n"
    "shl.b32 %r5, %r2, 3; add.u32 %r5, %r5, %r1; @%p1 st.shared.v2.u32 [%r5], {%r3, %r4};\n"
    "fence.proxy.async.shared::cta; bar.sync 0;\n"
    "mul.wide.u32 %d3, %r2, 16; add.s64 %d4, %d1, %d3; ld.global.v4.u32 {%r10, %r11, %r12, %r13}, "
    "[%d4+256];\n"
    "cvt.u64.u32 %d7, %r1; shr.u64 %d7, %d7, 4; and.b64 %d7, %d7, 0x3fff; mov.b64 %d8, 0x0000000800080000;\n"
    "or.b64 %d7, %d7, %d8; mov.f32 %f1, 0f40000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
    "setp.eq.u32 %p2, %r2, %r2; wgmma.fence.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, "
    "%d7, %p2, 1, 1, 0;\n"
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    "add.f32 %f1, %f1, 0f42C80000; add.f32 %f2, %f2, 0f42C80000; add.f32 %f3, %f3, 0f42C80000; add.f32 %f4, "
    "%f4, 0f42C80000;\n"
    "wgmma.fence.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, "
    "%d7, %p2, 1, -1, 0;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, "
    "%d7, %p2, 1, 1, 0;\n"
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    "add.s64 %d6, %d2, %d3; st.global.v4.f32 [%d6], {%f1, %f2, %f3, %f4}; ret;\n}\n";

static void test_wgmma_registers(void **state)
{
    (void)state;
    uint16_t in[128 + 128 * 8];
    float out[128 * 4];
    assert_true(rig_assembles(group_product));
    // B, K-major without swizzle: 8 x 8 core matrices of 128 bytes, [n][k] each; two of them along k.
    for (int n = 0; n < 8; n++)
        for (int q = 0; q < 16; q++)
            in[(q / 8) * 64 + n * 8 + q % 8] = bf16(element(2, q, n));
    for (int t = 0; t < 128; t++) {
        for (int r = 0; r < 4; r++) {
            for (int h = 0; h < 2; h++) {
                int row = t / 32 * 16 + t % 32 / 4 + r % 2 * 8, column = t % 4 * 2 + h + r / 2 * 8;
                in[128 + t * 8 + r * 2 + h] = bf16(element(1, row, column));
            }
        }
    }
    for (uint64_t seed = 1; seed < 7; seed++) {
        struct rig rig;
        rig_open(&rig, 1, group_product);
        rig.config.seed = seed;
        rig.config.late = seed % 2;
        uint64_t params[2] = {rig_upload(&rig, 0, in, sizeof in), rig_alloc(&rig, 0, sizeof out)};
        struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 128, params, sizeof params);
        rig_run_ok(&rig, &launch, 1);
        rig_download(&rig, out, params[1], sizeof out);
        for (int t = 0; t < 128; t++) {
            for (int r = 0; r < 4; r++) {
                int row = t / 32 * 16 + t % 32 / 4 + r / 2 * 8, column = t % 4 * 2 + r % 2, sum = 102;
                for (int q = 0; q < 16; q++)
                    sum += element(1, row, q) * element(2, q, column);
                assert_int_equal((int)out[t * 4 + r], sum);
            }
        }
        rig_close(&rig);
    }
}

// One warp of the group takes another way: said, not guessed.
static const char torn_group[] = HEAD "mov.b64 %d7, 0x0000000800080040; mov.f32 %f1, 0f00000000; mov.f32 "
                                      "%f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
                                      "setp.lt.u32 %p1, %r2, 32; setp.eq.u32 %p2, %r2, %r2; mov.u32 %r10, 0; "
                                      "mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;\n"
                                      "@%p1 bra OUT; wgmma.fence.sync.aligned;\n"
                                      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, "
                                      "%f4}, {%r10, %r11, %r12, %r13}, %d7, %p2, 1, 1, 0;\n"
                                      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; "
                                      "st.global.f32 [%d2], %f1; OUT: bar.sync 1, 128; ret;\n}\n";

static void test_torn_group(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 1, torn_group);
    uint64_t params[2] = {rig_alloc(&rig, 0, 16), rig_alloc(&rig, 0, 16)};
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 128, params, sizeof params);
    rig_run(&rig, &launch, 1);
    assert_int_equal(rig.fault.kind, PKSIM_FAULT_DEADLOCK);
    assert_non_null(strstr(rig.fault.text, "other warps of the warpgroup have not issued"));
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ldmatrix_and_mma),
        cmocka_unit_test(test_wgmma_registers),
        cmocka_unit_test(test_torn_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
