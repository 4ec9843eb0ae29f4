// SPDX-License-Identifier: Apache-2.0
// Reductions element by element (PTX ISA 9.7.13, red and atom; 9.7.9.25, bulk reductions).
#include <math.h>

#include "sim/units/number.h"

static bool is_float(enum pksim_number type)
{
    switch (type) {
#define CLASS_U false
#define CLASS_S false
#define CLASS_F true
#define NUMBER(id, bytes, class)                                                                             \
    case PKSIM_##id:                                                                                         \
        return CLASS_##class;
#include "sim/units/number.def"
    case PKSIM_NUMBER_COUNT:
        break;
    }
    return false;
}

bool pksim_reduce_known(enum pksim_reduce op, enum pksim_number type)
{
    if (pksim_number_bytes(type) < 2 || type == PKSIM_TF32 || type == PKSIM_U16 || type == PKSIM_S16)
        return false;
    switch (op) {
    case PKSIM_REDUCE_ADD:
        return true;
    case PKSIM_REDUCE_MIN:
    case PKSIM_REDUCE_MAX:
        return type != PKSIM_F32 && type != PKSIM_F64;
    case PKSIM_REDUCE_INC:
    case PKSIM_REDUCE_DEC:
        return type == PKSIM_U32;
    case PKSIM_REDUCE_AND:
    case PKSIM_REDUCE_OR:
    case PKSIM_REDUCE_XOR:
        return !is_float(type);
    }
    return false;
}

static uint64_t reduce_unsigned(enum pksim_reduce op, uint64_t a, uint64_t b)
{
    switch (op) {
    case PKSIM_REDUCE_ADD:
        return a + b;
    case PKSIM_REDUCE_MIN:
        return a < b ? a : b;
    case PKSIM_REDUCE_MAX:
        return a > b ? a : b;
    case PKSIM_REDUCE_INC:
        return a >= b ? 0 : a + 1;
    case PKSIM_REDUCE_DEC:
        return a == 0 || a > b ? b : a - 1;
    case PKSIM_REDUCE_AND:
        return a & b;
    case PKSIM_REDUCE_OR:
        return a | b;
    case PKSIM_REDUCE_XOR:
        return a ^ b;
    }
    return a;
}

static int64_t reduce_signed(enum pksim_reduce op, int64_t a, int64_t b)
{
    if (op == PKSIM_REDUCE_MIN)
        return a < b ? a : b;
    if (op == PKSIM_REDUCE_MAX)
        return a > b ? a : b;
    return (int64_t)reduce_unsigned(op, (uint64_t)a, (uint64_t)b);
}

// Signed zeros in order: minimum and maximum tell -0 from +0 (PTX ISA 9.7.3.12).
static float reduce_float(enum pksim_reduce op, float a, float b)
{
    if (op == PKSIM_REDUCE_ADD)
        return a + b;
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    bool less = a < b || (a == b && signbit(a) && !signbit(b));
    return (op == PKSIM_REDUCE_MIN) == less ? a : b;
}

#define EACH(c_type, function, wide)                                                                         \
    for (size_t i = 0; i < count; i++) {                                                                     \
        c_type a, b;                                                                                         \
        memcpy(&a, target + i * sizeof a, sizeof a);                                                         \
        memcpy(&b, source + i * sizeof b, sizeof b);                                                         \
        a = (c_type)function(op, (wide)a, (wide)b);                                                          \
        memcpy(target + i * sizeof a, &a, sizeof a);                                                         \
    }

static void reduce_f16(enum pksim_reduce op, unsigned char *target, const unsigned char *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t a, b;
        memcpy(&a, target + 2 * i, 2);
        memcpy(&b, source + 2 * i, 2);
        a = pksim_to_f16(reduce_float(op, pksim_from_f16(a), pksim_from_f16(b)));
        memcpy(target + 2 * i, &a, 2);
    }
}

static void reduce_bf16(enum pksim_reduce op, unsigned char *target, const unsigned char *source,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t a, b;
        memcpy(&a, target + 2 * i, 2);
        memcpy(&b, source + 2 * i, 2);
        a = pksim_to_bf16(reduce_float(op, pksim_from_bf16(a), pksim_from_bf16(b)));
        memcpy(target + 2 * i, &a, 2);
    }
}

static void add_f64(unsigned char *target, const unsigned char *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double a, b;
        memcpy(&a, target + 8 * i, 8);
        memcpy(&b, source + 8 * i, 8);
        a += b;
        memcpy(target + 8 * i, &a, 8);
    }
}

void pksim_reduce_apply(enum pksim_reduce op, enum pksim_number type, void *to, const void *from,
                        size_t count)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    switch (type) {
    case PKSIM_U32:
        EACH(uint32_t, reduce_unsigned, uint64_t)
        break;
    case PKSIM_S32:
        EACH(int32_t, reduce_signed, int64_t)
        break;
    case PKSIM_U64:
        EACH(uint64_t, reduce_unsigned, uint64_t)
        break;
    case PKSIM_S64:
        EACH(int64_t, reduce_signed, int64_t)
        break;
    case PKSIM_F32:
        EACH(float, reduce_float, float)
        break;
    case PKSIM_F16:
        reduce_f16(op, target, source, count);
        break;
    case PKSIM_BF16:
        reduce_bf16(op, target, source, count);
        break;
    case PKSIM_F64:
        add_f64(target, source, count);
        break;
    case PKSIM_U8:
    case PKSIM_S8:
    case PKSIM_U16:
    case PKSIM_S16:
    case PKSIM_E4M3:
    case PKSIM_E5M2:
    case PKSIM_TF32:
    case PKSIM_NUMBER_COUNT:
        break; // pksim_reduce_known is false
    }
}
