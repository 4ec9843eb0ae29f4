// SPDX-License-Identifier: Apache-2.0
// Number formats: bf16, f16, e4m3, e5m2, tf32 to and from f32, bit-exact as cvt has it (PTX ISA 9.7.9.21).
#ifndef PKSIM_UNITS_NUMBER_H
#define PKSIM_UNITS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum pksim_number {
#define NUMBER(id, bytes, class) PKSIM_##id,
#include "sim/units/number.def"
    PKSIM_NUMBER_COUNT
};
uint32_t pksim_number_bytes(enum pksim_number type);

enum pksim_rounding {
    PKSIM_RN,  // to nearest, ties to even
    PKSIM_RZ,  // towards zero
    PKSIM_RNA, // to nearest, ties away from zero (tf32 only, in PTX)
    PKSIM_RM,  // down
    PKSIM_RP   // up
};

static inline uint32_t pksim_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float pksim_f32_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float pksim_from_bf16(uint16_t bits)
{
    return pksim_f32_of((uint32_t)bits << 16);
}
float pksim_from_f16(uint16_t bits);
float pksim_from_e4m3(uint8_t bits);
float pksim_from_e5m2(uint8_t bits);

// The format's bits in the low bits of the result. saturate (.satfinite): the largest finite number instead
// of infinity; the 8-bit formats of PTX always saturate. NaN becomes the format's canonical NaN.
uint32_t pksim_to_number(enum pksim_number format, float value, enum pksim_rounding rounding, bool saturate);
// The commonest one, inline: bf16, to nearest even.
static inline uint16_t pksim_to_bf16(float value)
{
    uint32_t bits = pksim_bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
uint16_t pksim_to_f16(float value);
// The f32 whose low 13 bits are zero (cvt.rna.tf32.f32).
uint32_t pksim_to_tf32(float value, enum pksim_rounding rounding);
// f64 to f16 or bf16 is two roundings apart from the direct one; this rounds once.
uint32_t pksim_f64_to_number(enum pksim_number format, double value, enum pksim_rounding rounding);

// count elements of any format of at most 4 bytes (F16 to F32) as f32.
void pksim_widen(enum pksim_number format, const void *from, size_t count, float *to);

enum pksim_reduce {
#define REDUCE(id, spelling) PKSIM_REDUCE_##id,
#include "sim/units/reduce.def"
};

// Whether PTX has that reduction (as red, atom, or bulk).
bool pksim_reduce_known(enum pksim_reduce op, enum pksim_number type);
// to[i] = op(to[i], from[i]); any alignment; op must be known for the type. Floats round to nearest even;
// minimum and maximum give the other operand when one is NaN.
void pksim_reduce_apply(enum pksim_reduce op, enum pksim_number type, void *to, const void *from,
                        size_t count);

#endif
