// SPDX-License-Identifier: Apache-2.0
// Arithmetic: one kernel runs every case; expected words were worked out from the PTX ISA, not from the
// simulator.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Statements that leave a 32-bit result in %r1.
struct alu_case {
    const char *code;
    uint32_t expected;
};

static const struct alu_case integers[] = {
    {"mov.u32 %r2, 0xffffffff; add.s32 %r1, %r2, 3;", 2},
    {"mov.u32 %r2, 5; sub.u32 %r1, %r2, 7;", 0xfffffffe},
    {"mov.u32 %r2, 0x10000; mul.lo.u32 %r1, %r2, %r2;", 0},
    {"mov.u32 %r2, 0x10000; mul.hi.u32 %r1, %r2, %r2;", 1},
    {"mov.s32 %r2, -2; mul.hi.s32 %r1, %r2, 3;", 0xffffffff},
    {"mov.s32 %r2, -2; mul.hi.u32 %r1, %r2, 3;", 2},
    {"mov.s32 %r2, -2; mul.wide.s32 %d1, %r2, 3; mov.b64 {%r3, %r1}, %d1;", 0xffffffff},
    {"mov.s32 %r2, -2; mul.wide.u32 %d1, %r2, 3; mov.b64 {%r3, %r1}, %d1;", 2},
    {"mov.u32 %r2, 7; mad.lo.s32 %r1, %r2, %r2, -50;", 0xffffffff},
    {"mov.s32 %r2, -7; mov.b64 %d2, 1; mad.wide.s32 %d1, %r2, 3, %d2; cvt.u32.u64 %r1, %d1;", 0xffffffec},
    {"mov.b64 %d1, 0x123456789abcdef0; mov.b64 %d2, 0x10; mul.hi.u64 %d3, %d1, %d2; cvt.u32.u64 %r1, %d3;",
     1},
    {"mov.s32 %r2, -7; div.s32 %r1, %r2, 2;", 0xfffffffd},
    {"mov.s32 %r2, -7; rem.s32 %r1, %r2, 2;", 0xffffffff},
    {"mov.u32 %r2, 100; div.u32 %r1, %r2, 7;", 14},
    {"mov.u32 %r2, 100; rem.u32 %r1, %r2, 7;", 2},
    {"mov.s32 %r2, 0x80000000; mov.s32 %r3, -1; div.s32 %r1, %r2, %r3;", 0x80000000},
    {"mov.s32 %r2, -5; min.s32 %r1, %r2, 3;", 0xfffffffb},
    {"mov.s32 %r2, -5; min.u32 %r1, %r2, 3;", 3},
    {"mov.s32 %r2, -5; max.s32 %r1, %r2, 3;", 3},
    {"mov.s32 %r2, -5; abs.s32 %r1, %r2;", 5},
    {"mov.s32 %r2, -5; neg.s32 %r1, %r2;", 5},
    {"mov.u32 %r2, 10; sad.u32 %r1, %r2, 14, 100;", 104},
    {"mov.u32 %r2, 0x7fffffff; add.sat.s32 %r1, %r2, 1;", 0x7fffffff},
    {"mov.u32 %r2, 0xf0f0; popc.b32 %r1, %r2;", 8},
    {"mov.b64 %d1, 0xf0f0000000000001; popc.b64 %r1, %d1;", 9},
    {"mov.u32 %r2, 0x00010000; clz.b32 %r1, %r2;", 15},
    {"mov.u32 %r2, 0; clz.b32 %r1, %r2;", 32},
    {"mov.u32 %r2, 1; brev.b32 %r1, %r2;", 0x80000000},
    {"mov.u32 %r2, 0x12345678; brev.b32 %r1, %r2;", 0x1e6a2c48},
    {"mov.u32 %r2, 0x00012345; bfind.u32 %r1, %r2;", 16},
    {"mov.s32 %r2, -1; bfind.s32 %r1, %r2;", 0xffffffff},
    {"mov.u32 %r2, 0xabcd1234; bfe.u32 %r1, %r2, 8, 8;", 0x12},
    {"mov.u32 %r2, 0xabcd1234; bfe.s32 %r1, %r2, 24, 8;", 0xffffffab},
    {"mov.u32 %r2, 0xabcd1234; bfe.s32 %r1, %r2, 28, 16;", 0xfffffffa},
    {"mov.u32 %r2, 0xabcd1234; bfe.u32 %r1, %r2, 28, 16;", 0xa},
    {"mov.u32 %r2, 0xff; mov.u32 %r3, 0x11111111; bfi.b32 %r1, %r2, %r3, 8, 4;", 0x11111f11},
    {"mov.u32 %r2, 0x12345678; mov.u32 %r3, 0x9abcdef0; shf.l.wrap.b32 %r1, %r2, %r3, 8;", 0xbcdef012},
    {"mov.u32 %r2, 0x12345678; mov.u32 %r3, 0x9abcdef0; shf.r.wrap.b32 %r1, %r2, %r3, 8;", 0xf0123456},
    {"mov.u32 %r2, 0x12345678; mov.u32 %r3, 0x9abcdef0; shf.r.clamp.b32 %r1, %r2, %r3, 40;", 0x9abcdef0},
    {"mov.u32 %r2, 0x12345678; mov.u32 %r3, 0x9abcdef0; prmt.b32 %r1, %r2, %r3, 0x7531;", 0x9ade1256},
    {"mov.u32 %r2, 0x80345678; prmt.b32 %r1, %r2, 0, 0xba98;", 0xff000000},
    {"mov.u32 %r2, 0xf0f0f0f0; mov.u32 %r3, 0xcccccccc; lop3.b32 %r1, %r2, %r3, 0xaaaaaaaa, 0xe8;",
     0xe8e8e8e8},
    {"mov.u32 %r2, 1; shl.b32 %r1, %r2, 31;", 0x80000000},
    {"mov.u32 %r2, 1; shl.b32 %r1, %r2, 32;", 0},
    {"mov.s32 %r2, 0x80000000; shr.s32 %r1, %r2, 40;", 0xffffffff},
    {"mov.s32 %r2, 0x80000000; shr.u32 %r1, %r2, 31;", 1},
    {"mov.u32 %r2, 0x0f0f; not.b32 %r1, %r2;", 0xfffff0f0},
    {"mov.u32 %r2, 0; cnot.b32 %r1, %r2;", 1},
    {"mov.u32 %r2, 1; setp.gt.u32 %p1, %r2, 0; selp.b32 %r1, 11, 22, %p1;", 11},
    {"mov.s32 %r2, -1; setp.lt.s32 %p1, %r2, 0; selp.b32 %r1, 1, 0, %p1;", 1},
    {"mov.s32 %r2, -1; setp.lt.u32 %p1, %r2, 1; selp.b32 %r1, 1, 0, %p1;", 0},
    {"mov.s32 %r2, 3; setp.eq.s32 %p1, %r2, 3; setp.gt.and.s32 %p2|%p3, %r2, 5, %p1; selp.b32 %r3, 1, 0, "
     "%p2; "
     "selp.b32 %r4, 2, 0, %p3; or.b32 %r1, %r3, %r4;",
     2},
    {"mov.s32 %r2, -1; slct.b32.s32 %r1, 5, 6, %r2;", 6},
    {"mov.u32 %r2, 0xffffffff; add.cc.u32 %r3, %r2, 1; addc.u32 %r1, %r2, 0;", 0},
    {"mov.u32 %r2, 0; sub.cc.u32 %r3, %r2, 1; subc.u32 %r1, %r2, 0;", 0xffffffff},
    {"mov.u32 %r2, 0x01020304; mov.u32 %r3, 0x01010101; dp4a.u32.u32 %r1, %r2, %r3, 100;", 110},
    {"mov.b16 %h1, 0xffff; mov.b16 %h2, 1; mov.b32 %r1, {%h1, %h2};", 0x1ffff},
    {"mov.u32 %r2, 0x12345678; mov.b32 {%h1, %h2}, %r2; mov.b32 %r1, {%h2, %h1};", 0x56781234},
    {"mov.b64 %d1, {%r1, %r1}; mov.b64 %d1, 0x1122334455667788; mov.b64 {%r2, %r1}, %d1;", 0x11223344},
};

static const struct alu_case floats[] = {
    {"mov.f32 %f1, 0f3F800000; add.f32 %f2, %f1, %f1; mov.b32 %r1, %f2;", 0x40000000},
    {"mov.f32 %f1, 0f3FC00000; mul.rn.f32 %f2, %f1, %f1; mov.b32 %r1, %f2;", 0x40100000},
    {"mov.f32 %f1, 0f3F800001; fma.rn.f32 %f2, %f1, %f1, 0fBF800002; mov.b32 %r1, %f2;", 0x28800000},
    {"mov.f32 %f1, 0f3F800000; mov.f32 %f3, 0f33800000; add.rn.f32 %f2, %f1, %f3; mov.b32 %r1, %f2;",
     0x3f800000},
    {"mov.f32 %f1, 0f3F800000; mov.f32 %f3, 0f33800000; add.rp.f32 %f2, %f1, %f3; mov.b32 %r1, %f2;",
     0x3f800001},
    {"mov.f32 %f1, 0f3F800000; mov.f32 %f3, 0f2F800000; sub.rz.f32 %f2, %f1, %f3; mov.b32 %r1, %f2;",
     0x3f7fffff},
    {"mov.f32 %f1, 0f40400000; rcp.rn.f32 %f2, %f1; mov.b32 %r1, %f2;", 0x3eaaaaab},
    {"mov.f32 %f1, 0f3F800000; mov.f32 %f3, 0f40400000; div.rn.f32 %f2, %f1, %f3; mov.b32 %r1, %f2;",
     0x3eaaaaab},
    {"mov.f32 %f1, 0f40000000; sqrt.rn.f32 %f2, %f1; mov.b32 %r1, %f2;", 0x3fb504f3},
    {"mov.f32 %f1, 0f40800000; rsqrt.approx.f32 %f2, %f1; mov.b32 %r1, %f2;", 0x3f000000},
    {"mov.f32 %f1, 0f40400000; ex2.approx.ftz.f32 %f2, %f1; mov.b32 %r1, %f2;", 0x41000000},
    {"mov.f32 %f1, 0f41000000; lg2.approx.f32 %f2, %f1; mov.b32 %r1, %f2;", 0x40400000},
    {"mov.f32 %f1, 0f00000001; add.ftz.f32 %f2, %f1, %f1; mov.b32 %r1, %f2;", 0},
    {"mov.f32 %f1, 0f00000001; add.f32 %f2, %f1, %f1; mov.b32 %r1, %f2;", 2},
    {"mov.f32 %f1, 0f40400000; add.sat.f32 %f2, %f1, %f1; mov.b32 %r1, %f2;", 0x3f800000},
    {"mov.f32 %f1, 0f7FC00000; min.f32 %f2, %f1, 0f40400000; mov.b32 %r1, %f2;", 0x40400000},
    {"mov.f32 %f1, 0f7FC00000; max.NaN.f32 %f2, %f1, 0f40400000; mov.b32 %r1, %f2; and.b32 %r1, %r1, "
     "0x7f800000;",
     0x7f800000},
    {"mov.f32 %f1, 0f80000000; max.f32 %f2, %f1, 0f00000000; mov.b32 %r1, %f2;", 0},
    {"mov.f32 %f1, 0f80000000; min.f32 %f2, 0f00000000, %f1; mov.b32 %r1, %f2;", 0x80000000},
    {"mov.f32 %f1, 0fC0400000; abs.f32 %f2, %f1; mov.b32 %r1, %f2;", 0x40400000},
    {"mov.f32 %f1, 0f40400000; neg.f32 %f2, %f1; mov.b32 %r1, %f2;", 0xc0400000},
    {"mov.f32 %f1, 0f7FC00000; setp.lt.f32 %p1, %f1, 0f3F800000; setp.ltu.f32 %p2, %f1, 0f3F800000; "
     "selp.b32 %r2, 1, 0, %p1; selp.b32 %r3, 2, 0, %p2; or.b32 %r1, %r2, %r3;",
     2},
    {"mov.f32 %f1, 0f7FC00000; setp.ne.f32 %p1, %f1, %f1; setp.nan.f32 %p2, %f1, %f1; selp.b32 %r2, 1, 0, "
     "%p1; "
     "selp.b32 %r3, 2, 0, %p2; or.b32 %r1, %r2, %r3;",
     2},
    {"mov.f32 %f1, 0f7F800000; testp.infinite.f32 %p1, %f1; selp.b32 %r1, 1, 0, %p1;", 1},
    {"mov.f32 %f1, 0f40000000; set.gt.u32.f32 %r1, %f1, 0f3F800000;", 0xffffffff},
    {"mov.f64 %g1, 0d3FF8000000000000; mul.f64 %g2, %g1, %g1; mov.b64 {%r2, %r1}, %g2;", 0x40020000},
    {"mov.f64 %g1, 0d4000000000000000; sqrt.rn.f64 %g2, %g1; mov.b64 {%r1, %r2}, %g2;", 0x667f3bcd},
    // f16: 1 + 2^-11 ties to even; 65504 + 16 overflows; fma rounds once
    {"mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x1000; add.f16 %h3, %h1, %h2; cvt.u32.u16 %r1, %h3;", 0x3c00},
    {"mov.b16 %h1, 0x7bff; mov.b16 %h2, 0x4c00; add.f16 %h3, %h1, %h2; cvt.u32.u16 %r1, %h3;", 0x7c00},
    {"mov.b16 %h1, 0x3c01; fma.rn.f16 %h3, %h1, %h1, %h1; cvt.u32.u16 %r1, %h3;", 0x4002},
    {"mov.b32 %r2, 0x3c004000; mov.b32 %r3, 0x40003c00; mul.f16x2 %r1, %r2, %r3;", 0x40004000},
    {"mov.b32 %r2, 0x3f804000; mov.b32 %r3, 0x40003f80; fma.rn.bf16x2 %r1, %r2, %r3, %r2;", 0x40404080},
    {"mov.b16 %h1, 0x3f80; mov.b16 %h2, 0xc000; max.bf16 %h3, %h1, %h2; cvt.u32.u16 %r1, %h3;", 0x3f80},
    {"mov.b32 %r2, 0xbc003c00; neg.f16x2 %r1, %r2;", 0x3c00bc00},
};

static const struct alu_case conversions[] = {
    {"mov.f32 %f1, 0f3F808000; cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r1, %h1;", 0x3f80},
    {"mov.f32 %f1, 0f3F818000; cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r1, %h1;", 0x3f82},
    {"mov.f32 %f1, 0f3F818000; cvt.rz.bf16.f32 %h1, %f1; cvt.u32.u16 %r1, %h1;", 0x3f81},
    {"mov.f32 %f1, 0f7FC12345; cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r1, %h1;", 0x7fff},
    {"mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; cvt.rn.bf16x2.f32 %r1, %f1, %f2;", 0x3f804000},
    {"mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; cvt.rn.f16x2.f32 %r1, %f1, %f2;", 0x3c004000},
    {"mov.f32 %f1, 0fBF800000; mov.f32 %f2, 0f40000000; cvt.rn.relu.bf16x2.f32 %r1, %f1, %f2;", 0x4000},
    {"mov.f32 %f1, 0f477FE000; cvt.rn.f16.f32 %h1, %f1; cvt.u32.u16 %r1, %h1;", 0x7bff},
    {"mov.f32 %f1, 0f47800000; cvt.rn.f16.f32 %h1, %f1; cvt.u32.u16 %r1, %h1;", 0x7c00},
    {"mov.f32 %f1, 0f33000001; cvt.rn.f16.f32 %h1, %f1; cvt.u32.u16 %r1, %h1;", 0x0001},
    {"mov.b16 %h1, 0x0001; cvt.f32.f16 %f1, %h1; mov.b32 %r1, %f1;", 0x33800000},
    {"mov.b16 %h1, 0x3f81; cvt.f32.bf16 %f1, %h1; mov.b32 %r1, %f1;", 0x3f810000},
    {"mov.b16 %h1, 0xbf81; cvt.ftz.f32.bf16 %f1, %h1; mov.b32 %r1, %f1;", 0xbf810000},
    {"mov.b16 %h1, 0x0080; cvt.ftz.f32.bf16 %f1, %h1; mov.b32 %r1, %f1;", 0x00800000},
    {"mov.b16 %h1, 0x807f; cvt.ftz.f32.bf16 %f1, %h1; mov.b32 %r1, %f1;", 0x80000000},
    {"mov.b16 %h1, 0xff80; cvt.ftz.f32.bf16 %f1, %h1; mov.b32 %r1, %f1;", 0xff800000},
    {"mov.b16 %h1, 0xff81; cvt.ftz.f32.bf16 %f1, %h1; mov.b32 %r1, %f1;", 0x7fffffff},
    {"mov.f32 %f1, 0f807FFFFF; mov.f32 %f2, 0f3F800000; mul.ftz.f32 %f3, %f1, %f2; mov.b32 %r1, %f3;",
     0x80000000},
    {"mov.f32 %f1, 0f00800000; mov.f32 %f2, 0f3F000000; mul.ftz.f32 %f3, %f1, %f2; mov.b32 %r1, %f3;", 0},
    {"mov.f32 %f1, 0f00800000; mov.f32 %f2, 0f3F800000; mul.ftz.f32 %f3, %f1, %f2; mov.b32 %r1, %f3;",
     0x00800000},
    {"mov.f32 %f1, 0f43F00000; mov.f32 %f2, 0f3F800000; cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2; "
     "cvt.u32.u16 %r1, %h1;",
     0x7e38},
    {"mov.f32 %f1, 0f3F880000; mov.f32 %f2, 0f3F980000; cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2; "
     "cvt.u32.u16 %r1, %h1;",
     0x383a},
    {"mov.b16 %h1, 0x7e38; cvt.rn.f16x2.e4m3x2 %r1, %h1;", 0x5f003c00},
    {"mov.f32 %f1, 0f3F801000; cvt.rna.tf32.f32 %r1, %f1;", 0x3f802000},
    {"mov.f32 %f1, 0f40200000; cvt.rni.s32.f32 %r1, %f1;", 2},
    {"mov.f32 %f1, 0fC0200000; cvt.rzi.s32.f32 %r1, %f1;", 0xfffffffe},
    {"mov.f32 %f1, 0fC0200000; cvt.rmi.s32.f32 %r1, %f1;", 0xfffffffd},
    {"mov.f32 %f1, 0fC0200000; cvt.rzi.u32.f32 %r1, %f1;", 0},
    {"mov.f32 %f1, 0f4F800000; cvt.rzi.u32.f32 %r1, %f1;", 0xffffffff},
    {"mov.f32 %f1, 0f40200000; cvt.rni.f32.f32 %f2, %f1; mov.b32 %r1, %f2;", 0x40000000},
    {"mov.s32 %r2, -3; cvt.rn.f32.s32 %f1, %r2; mov.b32 %r1, %f1;", 0xc0400000},
    {"mov.u32 %r2, 0x01000001; cvt.rn.f32.u32 %f1, %r2; mov.b32 %r1, %f1;", 0x4b800000},
    {"mov.u32 %r2, 0x01000001; cvt.rp.f32.u32 %f1, %r2; mov.b32 %r1, %f1;", 0x4b800001},
    {"mov.b64 %d1, 0xffffffffffffffff; cvt.rn.f32.u64 %f1, %d1; mov.b32 %r1, %f1;", 0x5f800000},
    {"mov.s32 %r2, -1; cvt.s64.s32 %d1, %r2; mov.b64 {%r3, %r1}, %d1;", 0xffffffff},
    {"mov.s32 %r2, -1; cvt.u64.u32 %d1, %r2; mov.b64 {%r3, %r1}, %d1;", 0},
    {"mov.u32 %r2, 0x1ff; cvt.u32.u8 %r1, %r2;", 0xff},
    {"mov.u32 %r2, 0x180; cvt.s32.s8 %r1, %r2;", 0xffffff80},
    {"mov.s32 %r2, 300; cvt.sat.u8.s32 %r1, %r2;", 0xff},
    {"mov.s32 %r2, -300; cvt.sat.s8.s32 %r1, %r2;", 0xffffff80},
    {"mov.f64 %g1, 0d3FF0000010000000; cvt.rn.f32.f64 %f1, %g1; mov.b32 %r1, %f1;", 0x3f800000},
    {"mov.f64 %g1, 0d3FF0000010000001; cvt.rn.f32.f64 %f1, %g1; mov.b32 %r1, %f1;", 0x3f800001},
};

static void run_cases(const struct alu_case *cases, uint32_t count)
{
    struct rig rig;
    char *body = calloc(1, 1 << 18);
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(body + used, (1 << 18) - used, "%s\nst.global.u32 [%%o+%u], %%r1;\n",
                                 cases[i].code, 4 * i);
    rig_open_kernel(&rig, body);
    free(body);
    uint64_t out = rig_alloc(&rig, 0, 4 * count);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 1, &out, sizeof out);
    rig_run_ok(&rig, &launch, 1);
    uint32_t *words = malloc(4 * count);
    rig_download(&rig, words, out, 4 * count);
    uint32_t bad = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (words[i] == cases[i].expected)
            continue;
        print_error("%s\n    gives 0x%08x, expected 0x%08x\n", cases[i].code, words[i], cases[i].expected);
        bad++;
    }
    free(words);
    rig_close(&rig);
    assert_int_equal(bad, 0);
}

static void test_integers(void **state)
{
    (void)state;
    run_cases(integers, sizeof integers / sizeof *integers);
}

static void test_floats(void **state)
{
    (void)state;
    run_cases(floats, sizeof floats / sizeof *floats);
}

static void test_conversions(void **state)
{
    (void)state;
    run_cases(conversions, sizeof conversions / sizeof *conversions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_conversions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
