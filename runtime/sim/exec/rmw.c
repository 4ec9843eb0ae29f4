// SPDX-License-Identifier: Apache-2.0
#include "sim/exec/rmw.h"

#include "sim/exec/half.h"

static const char *const rmw_names[] = {
#define RMW(id, name) name,
#include "sim/exec/rmw.def"
};

bool pksim_mod_rmw(struct pksim_decoder *d, enum pksim_rmw_op *op)
{
    for (size_t i = 0; i < sizeof rmw_names / sizeof *rmw_names; i++) {
        if (pksim_mod(d, rmw_names[i])) {
            *op = (enum pksim_rmw_op)i;
            return true;
        }
    }
    pksim_decode_fail(d, "no operation that is supported");
    return false;
}

bool pksim_rmw_allowed(enum pksim_rmw_op op, enum pksim_ptx_type type)
{
    char kind = pksim_ptx_types[type].kind;
    uint32_t bytes = pksim_ptx_types[type].bytes;
    if (!bytes || bytes > 8)
        return false;
    switch (op) {
    case PKSIM_RMW_ADD:
        return kind == 'F' ? type != PKSIM_TYPE_TF32 && bytes > 1 && type != PKSIM_TYPE_E4M3X2 &&
                                 type != PKSIM_TYPE_E5M2X2
                           : kind != 'B' && bytes >= 4;
    case PKSIM_RMW_MIN:
    case PKSIM_RMW_MAX:
        return (kind != 'B' && kind != 'F' && bytes >= 4) || type == PKSIM_TYPE_F16 ||
               type == PKSIM_TYPE_F16X2 || type == PKSIM_TYPE_BF16 || type == PKSIM_TYPE_BF16X2;
    case PKSIM_RMW_INC:
    case PKSIM_RMW_DEC:
        return type == PKSIM_TYPE_U32;
    case PKSIM_RMW_AND:
    case PKSIM_RMW_OR:
    case PKSIM_RMW_XOR:
        return kind != 'F' && bytes >= 4;
    case PKSIM_RMW_EXCH:
    case PKSIM_RMW_CAS:
        return bytes >= 2;
    }
    return false;
}

static uint64_t float_add(enum pksim_ptx_type type, uint64_t a, uint64_t b)
{
    if (type == PKSIM_TYPE_F32)
        return pksim_bits32(pksim_float32((uint32_t)a) + pksim_float32((uint32_t)b));
    double x, y;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    x += y;
    memcpy(&a, &x, 8);
    return a;
}

// min and max of the half formats give the number where one operand is NaN.
static uint16_t half_op(enum pksim_rmw_op op, bool bf16, uint16_t a, uint16_t b)
{
    double x = bf16 ? pksim_double_of_bf16(a) : pksim_double_of_f16(a),
           y = bf16 ? pksim_double_of_bf16(b) : pksim_double_of_f16(b);
    if (op == PKSIM_RMW_ADD) {
        double sum = pksim_add_odd(x, y);
        return bf16 ? pksim_round_bf16(sum) : pksim_round_f16(sum);
    }
    if (isnan(x) || isnan(y))
        return isnan(x) ? b : a;
    return (op == PKSIM_RMW_MIN ? x < y || (x == y && signbit(x)) : x > y || (x == y && !signbit(x))) ? a : b;
}

static uint64_t float_op(enum pksim_rmw_op op, enum pksim_ptx_type type, uint64_t a, uint64_t b)
{
    bool bf16 = type == PKSIM_TYPE_BF16 || type == PKSIM_TYPE_BF16X2;
    uint64_t low;
    if (type == PKSIM_TYPE_F32 || type == PKSIM_TYPE_F64)
        return float_add(type, a, b);
    low = half_op(op, bf16, (uint16_t)a, (uint16_t)b);
    if (pksim_ptx_types[type].bytes == 2)
        return low;
    return low | (uint64_t)half_op(op, bf16, (uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16;
}

static bool less(enum pksim_ptx_type type, uint64_t a, uint64_t b)
{
    bool wide = pksim_ptx_types[type].bytes == 8;
    if (pksim_ptx_types[type].kind == 'S')
        return wide ? (int64_t)a < (int64_t)b : (int32_t)a < (int32_t)b;
    return wide ? a < b : (uint32_t)a < (uint32_t)b;
}

uint64_t pksim_rmw(enum pksim_rmw_op op, enum pksim_ptx_type type, uint64_t old, uint64_t b, uint64_t c)
{
    if (pksim_ptx_types[type].kind == 'F' && op <= PKSIM_RMW_MAX)
        return float_op(op, type, old, b);
    switch (op) {
    case PKSIM_RMW_ADD:
        return old + b;
    case PKSIM_RMW_MIN:
        return less(type, b, old) ? b : old;
    case PKSIM_RMW_MAX:
        return less(type, old, b) ? b : old;
    case PKSIM_RMW_INC:
        return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case PKSIM_RMW_DEC:
        return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case PKSIM_RMW_AND:
        return old & b;
    case PKSIM_RMW_OR:
        return old | b;
    case PKSIM_RMW_XOR:
        return old ^ b;
    case PKSIM_RMW_EXCH:
        return b;
    case PKSIM_RMW_CAS:
        return old == b ? c : old;
    }
    return old;
}
