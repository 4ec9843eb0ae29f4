// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 as doubles and back, with one rounding to nearest even.
#ifndef PKSIM_EXEC_HALF_H
#define PKSIM_EXEC_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t pksim_bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float pksim_float32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double pksim_double_of_bf16(uint16_t h)
{
    return (double)pksim_float32((uint32_t)h << 16);
}

static inline double pksim_double_of_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
    if (exponent == 31)
        return (double)pksim_float32(sign | 0x7f800000 | mantissa << 13);
    if (exponent)
        return (double)pksim_float32(sign | (exponent + 112) << 23 | mantissa << 13);
    double value = (double)mantissa * 0x1p-24;
    return sign ? -value : value;
}

// Rounds to a format of `bits` significant bits, smallest normal exponent `emin` (value 2^emin), largest
// finite `max`. The result is still a double; beyond `max` it is infinite. NaN stays.
static inline double pksim_round_to(double value, int bits, int emin, double max)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent = ilogb(value);
    if (exponent < emin)
        exponent = emin;
    double unit = ldexp(1.0, exponent - bits + 1);
    double rounded = nearbyint(value / unit) * unit;
    return fabs(rounded) > max ? copysign(INFINITY, value) : rounded;
}

static inline uint16_t pksim_round_f16(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return 0x7fff;
    value = fabs(pksim_round_to(value, 11, -14, 65504.0));
    if (isinf(value))
        return sign | 0x7c00;
    if (value < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)(value * 0x1p24));
    uint32_t bits = pksim_bits32((float)value);
    return (uint16_t)(sign | ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff));
}

static inline uint16_t pksim_round_bf16(double value)
{
    if (isnan(value))
        return 0x7fff;
    double rounded = pksim_round_to(value, 8, -126, 0x1.fep127);
    return (uint16_t)(pksim_bits32((float)rounded) >> 16);
}

// float to bf16, nearest even, NaN to 0x7fff; branch-free so that it vectorises.
static inline uint16_t pksim_bf16_rn(float value)
{
    uint32_t bits = pksim_bits32(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)(value == value ? rounded : 0x7fff);
}

// cvt.ftz.f32.bf16: a NaN is the canonical one, what is subnormal in f32 is zero.
static inline uint32_t pksim_bf16_ftz(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    uint32_t number = bits & (0x80000000 | (bits & 0x7f800000 ? UINT32_MAX : 0));
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : number;
}

// a + b rounded to odd: a later rounding to fewer bits is then as if it were the only one (Boldo and
// Melquiond, 2008).
static inline double pksim_add_odd(double a, double b)
{
    double sum = a + b, part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error == 0 || !isfinite(sum) || !isfinite(error) || (bits & 1))
        return sum;
    bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

#endif
