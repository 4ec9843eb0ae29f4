// SPDX-License-Identifier: Apache-2.0
// Lane functions that alu.def's expressions call.
#ifndef PKSIM_EXEC_ALU_HELPERS_H
#define PKSIM_EXEC_ALU_HELPERS_H

#include "sim/exec/half.h"

// Division by zero has no specified result in PTX; the devices we know give all ones, and the dividend as
// remainder.
#define DIVISION(t, U, T, MIN)                                                                               \
    static inline T pksim_div_##t(T a, T b)                                                                  \
    {                                                                                                        \
        if (b == 0)                                                                                          \
            return (T)-1;                                                                                    \
        return MIN && b == (T)-1 ? (T)((U)0 - (U)a) : (T)(a / b);                                            \
    }                                                                                                        \
    static inline T pksim_rem_##t(T a, T b)                                                                  \
    {                                                                                                        \
        if (b == 0)                                                                                          \
            return a;                                                                                        \
        return MIN && b == (T)-1 ? 0 : (T)(a % b);                                                           \
    }
DIVISION(u16, uint16_t, uint16_t, 0)
DIVISION(s16, uint16_t, int16_t, 1)
DIVISION(u32, uint32_t, uint32_t, 0)
DIVISION(s32, uint32_t, int32_t, 1)
DIVISION(u64, uint64_t, uint64_t, 0)
DIVISION(s64, uint64_t, int64_t, 1)
#undef DIVISION

static inline uint16_t pksim_mulhi_u16(uint16_t a, uint16_t b)
{
    return (uint16_t)((uint32_t)a * b >> 16);
}
static inline int16_t pksim_mulhi_s16(int16_t a, int16_t b)
{
    return (int16_t)((int32_t)a * b >> 16);
}
static inline uint32_t pksim_mulhi_u32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}
static inline int32_t pksim_mulhi_s32(int32_t a, int32_t b)
{
    return (int32_t)((int64_t)a * b >> 32);
}
static inline uint64_t pksim_mulhi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
static inline int64_t pksim_mulhi_s64(int64_t a, int64_t b)
{
    return (int64_t)((__int128)a * b >> 64);
}

// Shift amounts beyond the width act as the width (PTX ISA 9.7.8).
#define SHIFT(t, T)                                                                                          \
    static inline T pksim_shr_##t(T a, uint32_t b)                                                           \
    {                                                                                                        \
        if (b >= 8 * sizeof(T))                                                                              \
            return (T)(a < 0 ? -1 : 0);                                                                      \
        return (T)(a >> b);                                                                                  \
    }
SHIFT(s16, int16_t)
SHIFT(s32, int32_t)
SHIFT(s64, int64_t)
#undef SHIFT
#define SHIFT(t, T)                                                                                          \
    static inline T pksim_shr_##t(T a, uint32_t b)                                                           \
    {                                                                                                        \
        return (T)(b >= 8 * sizeof(T) ? 0 : a >> b);                                                         \
    }
SHIFT(u16, uint16_t)
SHIFT(u32, uint32_t)
SHIFT(u64, uint64_t)
#undef SHIFT

static inline int32_t pksim_clamp_s32(int64_t a)
{
    return a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : (int32_t)a;
}

static inline uint32_t pksim_brev32(uint32_t a)
{
    a = (a & 0x55555555) << 1 | (a >> 1 & 0x55555555);
    a = (a & 0x33333333) << 2 | (a >> 2 & 0x33333333);
    a = (a & 0x0f0f0f0f) << 4 | (a >> 4 & 0x0f0f0f0f);
    return __builtin_bswap32(a);
}

static inline uint32_t pksim_bfind(uint64_t a)
{
    return a ? 63 - (uint32_t)__builtin_clzll(a) : UINT32_MAX;
}

// bfe and bfi take position and length from the low byte of their operands (PTX ISA 9.7.1).
static inline uint64_t pksim_bfe(uint64_t a, uint32_t pos, uint32_t len, uint32_t width)
{
    pos &= 255;
    len &= 255;
    if (pos >= width || !len)
        return 0;
    a >>= pos;
    return len >= 64 ? a : a & (((uint64_t)1 << len) - 1);
}

static inline uint64_t pksim_bfe_signed(uint64_t a, uint32_t pos, uint32_t len, uint32_t width)
{
    pos &= 255;
    len &= 255;
    uint64_t field = pksim_bfe(a, pos, len, width);
    if (!len)
        return 0;
    uint32_t top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    uint64_t sign = a >> top & 1;
    uint32_t have = pos >= width ? 0 : (top + 1 - pos);
    return sign && have < 64 ? field | ~(uint64_t)0 << have : field;
}

static inline uint64_t pksim_bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t width)
{
    pos &= 255;
    len &= 255;
    if (pos >= width || !len)
        return b;
    uint64_t mask = len >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << len) - 1;
    return (b & ~(mask << pos)) | (a & mask) << pos;
}

static inline uint32_t pksim_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t r = 0;
    r |= table & 0x01 ? ~a & ~b & ~c : 0;
    r |= table & 0x02 ? ~a & ~b & c : 0;
    r |= table & 0x04 ? ~a & b & ~c : 0;
    r |= table & 0x08 ? ~a & b & c : 0;
    r |= table & 0x10 ? a & ~b & ~c : 0;
    r |= table & 0x20 ? a & ~b & c : 0;
    r |= table & 0x40 ? a & b & ~c : 0;
    r |= table & 0x80 ? a & b & c : 0;
    return r;
}

// Four selectors of four bits: bit 3 replicates the sign of the chosen byte (PTX ISA 9.7.9.7).
static inline uint32_t pksim_prmt(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t selector = selectors >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (selector & 7))) & 255;
        if (selector & 8)
            byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * i);
    }
    return r;
}

static inline uint32_t pksim_prmt_b4e(uint32_t c)
{
    static const uint16_t selectors[4] = {0x5670, 0x6701, 0x7012, 0x0123};
    return selectors[c & 3];
}

static inline uint32_t pksim_dp4a(uint32_t a, uint32_t b, uint32_t c, int signed_a, int signed_b)
{
    for (int i = 0; i < 4; i++) {
        uint32_t x = a >> (8 * i) & 255, y = b >> (8 * i) & 255;
        int32_t sx = signed_a && x > 127 ? (int32_t)x - 256 : (int32_t)x;
        int32_t sy = signed_b && y > 127 ? (int32_t)y - 256 : (int32_t)y;
        c += (uint32_t)(sx * sy);
    }
    return c;
}

// The number where one operand is NaN; -0 is below +0 (PTX ISA 9.7.3).
#define MINMAX(t, T)                                                                                         \
    static inline T pksim_min_##t(T a, T b)                                                                  \
    {                                                                                                        \
        return a < b || b != b || (a == b && signbit(a)) ? a : b;                                            \
    }                                                                                                        \
    static inline T pksim_max_##t(T a, T b)                                                                  \
    {                                                                                                        \
        return a > b || b != b || (a == b && !signbit(a)) ? a : b;                                           \
    }
MINMAX(f32, float)
MINMAX(f64, double)
#undef MINMAX

static inline double pksim_minnan(double a, double b)
{
    return a != a || b != b ? NAN : pksim_min_f64(a, b);
}

static inline float pksim_xorsign(float a, float b, float magnitude)
{
    uint32_t sign = (pksim_bits32(a) ^ pksim_bits32(b)) & 0x80000000u;
    return pksim_float32((pksim_bits32(magnitude) & 0x7fffffffu) | sign);
}

static inline uint16_t pksim_relu16(uint16_t a)
{
    return a & 0x8000 ? 0 : a;
}

#endif
