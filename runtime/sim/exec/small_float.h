// SPDX-License-Identifier: Apache-2.0
// The 8-bit formats e4m3 and e5m2 (PTX ISA 5.2.3). Conversion to them rounds to nearest even and saturates to
// the largest finite number; NaN stays NaN.
#ifndef PKSIM_EXEC_SMALL_FLOAT_H
#define PKSIM_EXEC_SMALL_FLOAT_H

#include "sim/exec/half.h"

// e4m3: bias 7, no infinity, NaN is S.1111.111, largest 448.
static inline double pksim_double_of_e4m3(uint8_t v)
{
    int exponent = v >> 3 & 15, mantissa = v & 7;
    double magnitude;
    if ((v & 0x7f) == 0x7f)
        return NAN;
    magnitude = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
    return v & 0x80 ? -magnitude : magnitude;
}

// e5m2: the upper byte of f16.
static inline double pksim_double_of_e5m2(uint8_t v)
{
    return pksim_double_of_f16((uint16_t)(v << 8));
}

static inline uint8_t pksim_round_e4m3(double value)
{
    uint8_t sign = signbit(value) ? 0x80 : 0;
    if (isnan(value))
        return 0x7f;
    double r = fabs(pksim_round_to(value, 4, -6, 1e300));
    if (r > 448)
        r = 448;
    if (r < 0x1p-6)
        return (uint8_t)(sign | (uint8_t)(r * 512));
    int exponent = ilogb(r);
    return (uint8_t)(sign | (exponent + 7) << 3 | ((int)ldexp(r, 3 - exponent) - 8));
}

static inline uint8_t pksim_round_e5m2(double value)
{
    if (isnan(value))
        return 0x7f;
    double r = pksim_round_to(value, 3, -14, 1e300);
    if (fabs(r) > 57344)
        r = copysign(57344, r);
    return (uint8_t)(pksim_round_f16(r) >> 8);
}

#endif
