// SPDX-License-Identifier: Apache-2.0
// Element types and their conversion from and to floats on the host.
#include <math.h>
#include <string.h>

#include "src/internal.h"

static const struct elem_row {
    const char *name;
    size_t bytes;
} rows[] = {
#define RT_ELEM(id, name, bytes, map) {#name, bytes},
#include "src/elems.def"
#undef RT_ELEM
};

size_t rt_elem_size(pkrt_elem elem)
{
    return rows[elem].bytes;
}

const char *rt_elem_name(pkrt_elem elem)
{
    return rows[elem].name;
}

bool rt_elem_find(const char *name, pkrt_elem *out)
{
    for (int e = 0; e < PKRT_ELEM_COUNT; e++)
        if (strcmp(rows[e].name, name) == 0) {
            *out = (pkrt_elem)e;
            return true;
        }
    return false;
}

/// A binary format with an exponent of `exponent` bits, biased by `bias`, and a fraction of `fraction` bits.
/// `finite`: no infinities, one NaN (all ones), values beyond the largest saturate (OCP 8-bit e4m3);
/// otherwise as IEEE 754, e5m2 saturating too.
typedef struct format {
    int exponent, fraction, bias;
    bool finite, saturates;
    double largest;
} format;

static const format f16_format = {5, 10, 15, false, false, 65504};
static const format e4m3_format = {4, 3, 7, true, true, 448};
static const format e5m2_format = {5, 2, 15, false, true, 57344};

static unsigned special(const format *f, double x)
{
    unsigned top = ((1u << f->exponent) - 1) << f->fraction;
    if (isnan(x))
        return f->finite ? top | ((1u << f->fraction) - 1) : top | (1u << (f->fraction - 1));
    return f->saturates ? top - (f->finite ? 0 : 1) + (f->finite ? (1u << f->fraction) - 2 : 0) : top;
}

/// The nearest value of the format, ties to even, without the sign.
static unsigned encode(const format *f, double x)
{
    int e;
    if (isnan(x))
        return special(f, x);
    if (x == 0) // which has no exponent
        return 0;
    frexp(x, &e);
    int lowest = 2 - f->bias; // frexp's exponent of the smallest normal number
    int scale = (e < lowest ? lowest : e) - 1 - f->fraction;
    double q = nearbyint(ldexp(x, -scale));
    if (ldexp(q, scale) > f->largest)
        return special(f, INFINITY);
    unsigned bits = (unsigned)q;
    // q counts units in the last place: the leading one, where there is one, carries into the exponent by
    // itself
    return e < lowest ? bits : bits + ((unsigned)(e - lowest) << f->fraction);
}

static double decode(const format *f, unsigned bits)
{
    unsigned fraction = bits & ((1u << f->fraction) - 1), e = bits >> f->fraction & ((1u << f->exponent) - 1);
    unsigned top = (1u << f->exponent) - 1;
    if (e == top && !f->finite)
        return fraction ? NAN : INFINITY;
    if (e == top && fraction == (1u << f->fraction) - 1)
        return NAN;
    if (e == 0)
        return ldexp(fraction, 1 - f->bias - f->fraction);
    return ldexp((double)(fraction + (1u << f->fraction)), (int)e - f->bias - f->fraction);
}

static unsigned encode_signed(const format *f, float x)
{
    unsigned sign = signbit(x) ? 1u << (f->exponent + f->fraction) : 0;
    return sign | encode(f, isnan(x) ? (double)x : fabs((double)x));
}

static float decode_signed(const format *f, unsigned bits)
{
    double x = decode(f, bits);
    return (float)(bits >> (f->exponent + f->fraction) & 1 ? -x : x);
}

static uint16_t to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static double clamp(double x, double low, double high)
{
    return isnan(x) ? 0 : x < low ? low : x > high ? high : x;
}

void rt_from_f32(pkrt_elem elem, void *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (elem) {
        case PKRT_BF16:
            ((uint16_t *)to)[i] = to_bf16(from[i]);
            break;
        case PKRT_F16:
            ((uint16_t *)to)[i] = (uint16_t)encode_signed(&f16_format, from[i]);
            break;
        case PKRT_F32:
            ((float *)to)[i] = from[i];
            break;
        case PKRT_E4M3:
            ((uint8_t *)to)[i] = (uint8_t)encode_signed(&e4m3_format, from[i]);
            break;
        case PKRT_E5M2:
            ((uint8_t *)to)[i] = (uint8_t)encode_signed(&e5m2_format, from[i]);
            break;
        case PKRT_I8:
            ((int8_t *)to)[i] = (int8_t)clamp(from[i], INT8_MIN, INT8_MAX);
            break;
        case PKRT_I32:
            ((int32_t *)to)[i] = (int32_t)clamp(from[i], INT32_MIN, INT32_MAX);
            break;
        case PKRT_U32:
            ((uint32_t *)to)[i] = (uint32_t)clamp(from[i], 0, UINT32_MAX);
            break;
        case PKRT_ELEM_COUNT:
            break;
        }
}

void rt_to_f32(pkrt_elem elem, float *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (elem) {
        case PKRT_BF16:
            to[i] = from_bf16(((const uint16_t *)from)[i]);
            break;
        case PKRT_F16:
            to[i] = decode_signed(&f16_format, ((const uint16_t *)from)[i]);
            break;
        case PKRT_F32:
            to[i] = ((const float *)from)[i];
            break;
        case PKRT_E4M3:
            to[i] = decode_signed(&e4m3_format, ((const uint8_t *)from)[i]);
            break;
        case PKRT_E5M2:
            to[i] = decode_signed(&e5m2_format, ((const uint8_t *)from)[i]);
            break;
        case PKRT_I8:
            to[i] = ((const int8_t *)from)[i];
            break;
        case PKRT_I32:
            to[i] = (float)((const int32_t *)from)[i];
            break;
        case PKRT_U32:
            to[i] = (float)((const uint32_t *)from)[i];
            break;
        case PKRT_ELEM_COUNT:
            break;
        }
}
