// SPDX-License-Identifier: Apache-2.0
#include "sim/units/number.h"

uint32_t pksim_number_bytes(enum pksim_number type)
{
    switch (type) {
#define NUMBER(id, bytes, class)                                                                             \
    case PKSIM_##id:                                                                                         \
        return bytes;
#include "sim/units/number.def"
    case PKSIM_NUMBER_COUNT:
        break;
    }
    return 0;
}

// A binary floating-point format of at most 32 bits. `finite_only` (e4m3): no infinity, one NaN a sign.
struct format {
    uint32_t exponent_bits, fraction_bits;
    int32_t bias;
    uint32_t nan, infinity, largest; // positive
};

static const struct format formats[PKSIM_NUMBER_COUNT] = {
    [PKSIM_F16] = {5, 10, 15, 0x7fff, 0x7c00, 0x7bff},
    [PKSIM_BF16] = {8, 7, 127, 0x7fff, 0x7f80, 0x7f7f},
    [PKSIM_E4M3] = {4, 3, 7, 0x7f, 0x7f, 0x7e},
    [PKSIM_E5M2] = {5, 2, 15, 0x7f, 0x7c, 0x7b},
    [PKSIM_TF32] = {8, 10, 127, 0x3ffff, 0x3fc00, 0x3fbff},
    [PKSIM_F32] = {8, 23, 127, 0x7fffffff, 0x7f800000, 0x7f7fffff},
};

// significand * 2^exponent without its lowest `drop` bits, rounded. drop may be 64 and more.
static uint64_t shift_round(uint64_t significand, uint32_t drop, bool negative, enum pksim_rounding rounding)
{
    if (drop == 0)
        return significand;
    uint64_t kept = drop < 64 ? significand >> drop : 0;
    uint64_t rest = drop < 64 ? significand & ((UINT64_C(1) << drop) - 1) : significand;
    if (rest == 0)
        return kept;
    // 2^(drop - 1); a significand has at most 53 bits, so from 64 on the rest is below a half.
    uint64_t half = drop <= 64 ? UINT64_C(1) << (drop - 1) : UINT64_MAX;
    bool up = false;
    switch (rounding) {
    case PKSIM_RN:
        up = rest > half || (rest == half && (kept & 1));
        break;
    case PKSIM_RNA:
        up = rest >= half;
        break;
    case PKSIM_RZ:
        break;
    case PKSIM_RM:
        up = negative;
        break;
    case PKSIM_RP:
        up = !negative;
        break;
    }
    return kept + up;
}

static uint32_t overflowed(const struct format *format, bool negative, enum pksim_rounding rounding,
                           bool saturate)
{
    bool towards_zero =
        rounding == PKSIM_RZ || (rounding == PKSIM_RM && !negative) || (rounding == PKSIM_RP && negative);
    return saturate || towards_zero ? format->largest : format->infinity;
}

// significand * 2^exponent, significand not 0, as the positive bits of the format.
static uint32_t pack(const struct format *format, uint64_t significand, int32_t exponent, bool negative,
                     enum pksim_rounding rounding, bool saturate)
{
    int32_t width = 64 - __builtin_clzll(significand);
    int32_t lead = exponent + width - 1; // of the leading bit
    int32_t lowest = 1 - format->bias;   // leading bit of the least normal number
    int32_t unit = (lead > lowest ? lead : lowest) - (int32_t)format->fraction_bits; // of the last place
    uint64_t fraction;
    if (unit <= exponent)
        fraction = significand << (exponent - unit);
    else
        fraction = shift_round(significand, (uint32_t)(unit - exponent), negative, rounding);
    // The hidden bit adds one to the exponent field; so does a carry out of the fraction.
    int32_t field = (lead > lowest ? lead : lowest) + format->bias - 1;
    uint64_t bits = ((uint64_t)field << format->fraction_bits) + fraction;
    return bits > format->largest ? overflowed(format, negative, rounding, saturate) : (uint32_t)bits;
}

static uint32_t with_sign(const struct format *format, uint32_t bits, bool negative)
{
    return negative ? bits | 1u << (format->exponent_bits + format->fraction_bits) : bits;
}

uint32_t pksim_to_number(enum pksim_number number, float value, enum pksim_rounding rounding, bool saturate)
{
    const struct format *format = &formats[number];
    uint32_t bits = pksim_bits_of(value);
    bool negative = bits >> 31;
    uint32_t field = (bits >> 23) & 0xff, fraction = bits & 0x7fffff;
    if (field == 0xff && fraction)
        return format->nan;
    if (field == 0xff)
        return with_sign(format, saturate ? format->largest : format->infinity, negative);
    if (field == 0 && fraction == 0)
        return with_sign(format, 0, negative);
    uint64_t significand = field ? fraction | 0x800000 : fraction;
    int32_t exponent = (int32_t)(field ? field : 1) - 127 - 23;
    return with_sign(format, pack(format, significand, exponent, negative, rounding, saturate), negative);
}

uint32_t pksim_f64_to_number(enum pksim_number number, double value, enum pksim_rounding rounding)
{
    const struct format *format = &formats[number];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool negative = bits >> 63;
    uint32_t field = (bits >> 52) & 0x7ff;
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (field == 0x7ff)
        return fraction ? format->nan : with_sign(format, format->infinity, negative);
    if (field == 0 && fraction == 0)
        return with_sign(format, 0, negative);
    uint64_t significand = field ? fraction | UINT64_C(1) << 52 : fraction;
    int32_t exponent = (int32_t)(field ? field : 1) - 1023 - 52;
    return with_sign(format, pack(format, significand, exponent, negative, rounding, false), negative);
}

uint16_t pksim_to_f16(float value)
{
    return (uint16_t)pksim_to_number(PKSIM_F16, value, PKSIM_RN, false);
}

uint32_t pksim_to_tf32(float value, enum pksim_rounding rounding)
{
    uint32_t bits = pksim_to_number(PKSIM_TF32, value, rounding, false);
    return value != value ? 0x7fffffff : bits << 13;
}

// Numbers of a small format with `exponent_bits` and a bias: exact in f32.
static inline float widen_small(uint32_t magnitude, bool negative, uint32_t fraction_bits, int32_t bias)
{
    uint32_t sign = negative ? 0x80000000 : 0;
    // The format's bits in f32's places are the number times 2^(bias - 127), subnormals included.
    float scale = pksim_f32_of((uint32_t)(127 + 127 - bias) << 23);
    return pksim_f32_of(pksim_bits_of(pksim_f32_of(magnitude << (23 - fraction_bits)) * scale) | sign);
}

float pksim_from_f16(uint16_t bits)
{
    uint32_t magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) // infinity and NaN, with its payload
        return pksim_f32_of((uint32_t)(bits & 0x8000) << 16 | 0x7f800000 | (magnitude & 0x3ff) << 13);
    return widen_small(magnitude, bits >> 15, 10, 15);
}

float pksim_from_e4m3(uint8_t bits)
{
    if ((bits & 0x7f) == 0x7f)
        return pksim_f32_of(0x7fffffff);
    return widen_small(bits & 0x7f, bits >> 7, 3, 7);
}

float pksim_from_e5m2(uint8_t bits)
{
    return pksim_from_f16((uint16_t)(bits << 8));
}

void pksim_widen(enum pksim_number format, const void *from, size_t count, float *to)
{
    const uint8_t *bytes = from;
    const uint16_t *halves = from;
    switch (format) {
    case PKSIM_BF16:
        for (size_t i = 0; i < count; i++)
            to[i] = pksim_from_bf16(halves[i]);
        return;
    case PKSIM_F16:
        for (size_t i = 0; i < count; i++)
            to[i] = pksim_from_f16(halves[i]);
        return;
    case PKSIM_E4M3:
        for (size_t i = 0; i < count; i++)
            to[i] = pksim_from_e4m3(bytes[i]);
        return;
    case PKSIM_E5M2:
        for (size_t i = 0; i < count; i++)
            to[i] = pksim_from_e5m2(bytes[i]);
        return;
    case PKSIM_TF32:
        for (size_t i = 0; i < count; i++)
            to[i] = pksim_f32_of(((const uint32_t *)from)[i] & 0xffffe000);
        return;
    case PKSIM_U8:
        for (size_t i = 0; i < count; i++)
            to[i] = bytes[i];
        return;
    case PKSIM_S8:
        for (size_t i = 0; i < count; i++)
            to[i] = (int8_t)bytes[i];
        return;
    case PKSIM_U16:
    case PKSIM_S16:
    case PKSIM_U32:
    case PKSIM_S32:
    case PKSIM_U64:
    case PKSIM_S64:
    case PKSIM_F32:
        memcpy(to, from, count * sizeof *to);
        return;
    case PKSIM_F64:
    case PKSIM_NUMBER_COUNT:
        return;
    }
}
