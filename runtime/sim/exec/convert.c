// SPDX-License-Identifier: Apache-2.0
// cvt (PTX ISA 9.7.9.21): any type to any other with rounding and saturation. The forms of hot loops are in
// alu.def.
#include <fenv.h>

#include "sim/exec/decode.h"
#include "sim/exec/half.h"
#include "sim/exec/lanes.h"
#include "sim/exec/small_float.h"

enum rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY };

struct cvt {
    enum pksim_ptx_type to, from;
    enum rounding rounding;
    bool to_integer; // .rni and its like
    bool ftz, saturate, satfinite, relu;
    uint8_t to_bytes, from_bytes; // of the registers
    bool packs;                   // two sources into one pack, or a pack into a pack
};

// ---- Numbers
// -------------------------------------------------------------------------------------------------------

static double round_integral(double value, enum rounding rounding)
{
    switch (rounding) {
    case ROUND_NEAREST:
        return nearbyint(value);
    case ROUND_ZERO:
        return trunc(value);
    case ROUND_DOWN:
        return floor(value);
    case ROUND_UP:
        return ceil(value);
    case ROUND_AWAY:
        return round(value);
    }
    return value;
}

// A value rounded to `bits` significant bits in a format whose smallest normal is 2^emin and largest number
// `max`.
static double round_float(double value, int bits, int emin, double max, enum rounding rounding)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent = ilogb(value);
    if (exponent < emin)
        exponent = emin;
    double unit = ldexp(1.0, exponent - bits + 1);
    double rounded = copysign(round_integral(value / unit, rounding) * unit, value);
    if (fabs(rounded) <= max)
        return rounded;
    bool toward = rounding == ROUND_ZERO || (rounding == ROUND_DOWN && value > 0) ||
                  (rounding == ROUND_UP && value < 0);
    return copysign(toward ? max : INFINITY, value);
}

// type is one of F16, BF16, F64, E4M3, E5M2, TF32, F32.
static double read_float(enum pksim_ptx_type type, uint64_t bits)
{
    double value;
    if (type == PKSIM_TYPE_F16)
        return pksim_double_of_f16((uint16_t)bits);
    if (type == PKSIM_TYPE_BF16)
        return pksim_double_of_bf16((uint16_t)bits);
    if (type == PKSIM_TYPE_E4M3)
        return pksim_double_of_e4m3((uint8_t)bits);
    if (type == PKSIM_TYPE_E5M2)
        return pksim_double_of_e5m2((uint8_t)bits);
    if (type != PKSIM_TYPE_F64)
        return (double)pksim_float32((uint32_t)bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A 32-bit format of `bits` significant bits whose largest number is `max`.
static uint64_t write_float32(const struct cvt *c, double value, int bits, double max)
{
    if (isnan(value))
        return 0x7fffffff;
    value = round_float(value, bits, -126, max, c->rounding);
    return pksim_bits32((float)(c->satfinite && isinf(value) ? copysign(max, value) : value));
}

static uint64_t write_float16(const struct cvt *c, enum pksim_ptx_type type, double value)
{
    bool bf16 = type == PKSIM_TYPE_BF16;
    double max = bf16 ? 0x1.fep127 : 65504.0;
    value = round_float(value, bf16 ? 8 : 11, bf16 ? -126 : -14, max, c->rounding);
    if (c->satfinite && fabs(value) > max)
        value = copysign(max, value);
    return bf16 ? pksim_round_bf16(value) : pksim_round_f16(value);
}

static uint64_t write_float(const struct cvt *c, enum pksim_ptx_type type, double value)
{
    uint64_t bits;
    if (c->relu && (value < 0 || (value == 0 && signbit(value))))
        value = 0;
    if (type == PKSIM_TYPE_F16 || type == PKSIM_TYPE_BF16)
        return write_float16(c, type, value);
    if (type == PKSIM_TYPE_E4M3)
        return pksim_round_e4m3(value);
    if (type == PKSIM_TYPE_E5M2)
        return pksim_round_e5m2(value);
    if (type == PKSIM_TYPE_TF32)
        return write_float32(c, value, 11, 0x1.ffcp127);
    if (type == PKSIM_TYPE_F32)
        return write_float32(c, value, 24, 0x1.fffffep127);
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int64_t sign_extend(uint64_t value, uint32_t bytes)
{
    uint32_t shift = 64 - 8 * bytes;
    return (int64_t)(value << shift) >> shift;
}

static uint64_t truncate_to(uint64_t value, uint32_t bytes)
{
    return bytes >= 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1);
}

static uint64_t clamp_signed(int64_t value, enum pksim_ptx_type to)
{
    uint32_t bits = pksim_ptx_types[to].bytes * 8;
    if (pksim_ptx_types[to].kind == 'S') {
        int64_t high = (int64_t)(UINT64_MAX >> 1 >> (64 - bits)), low = -high - 1;
        return (uint64_t)(value > high ? high : value < low ? low : value);
    }
    uint64_t high = UINT64_MAX >> (64 - bits);
    return value < 0 ? 0 : (uint64_t)value > high ? high : (uint64_t)value;
}

static uint64_t clamp_unsigned(uint64_t value, enum pksim_ptx_type to)
{
    uint32_t bits = pksim_ptx_types[to].bytes * 8;
    uint64_t high =
        pksim_ptx_types[to].kind == 'S' ? UINT64_MAX >> 1 >> (64 - bits) : UINT64_MAX >> (64 - bits);
    return value > high ? high : value;
}

// Float to integer always clamps; NaN gives 0 (or the highest bit, for 64-bit results of old devices; 0
// here).
static uint64_t float_to_integer(double value, const struct cvt *c)
{
    uint32_t bits = pksim_ptx_types[c->to].bytes * 8;
    bool is_signed = pksim_ptx_types[c->to].kind == 'S';
    if (isnan(value))
        return 0;
    value = round_integral(value, c->rounding);
    double high = ldexp(1.0, (int)bits - (is_signed ? 1 : 0)), low = is_signed ? -high : 0;
    if (value >= high)
        return is_signed ? UINT64_MAX >> 1 >> (64 - bits) : UINT64_MAX >> (64 - bits);
    if (value <= low)
        return is_signed ? (uint64_t)1 << (bits - 1) : 0;
    return is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
}

// 64-bit integers do not fit a double: the host rounds them, in the mode asked for.
static uint64_t integer_to_float(const struct cvt *c, uint64_t value, bool is_signed)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    uint64_t bits = 0;
    int before = fegetround();
    if (c->to != PKSIM_TYPE_F32 && c->to != PKSIM_TYPE_F64)
        return write_float(c, c->to, is_signed ? (double)(int64_t)value : (double)value);
    fesetround(modes[c->rounding]);
    if (c->to == PKSIM_TYPE_F32) {
        volatile float f = is_signed ? (float)(int64_t)value : (float)value;
        bits = pksim_bits32(f);
    } else {
        volatile double f = is_signed ? (double)(int64_t)value : (double)value;
        double copy = f;
        memcpy(&bits, &copy, sizeof bits);
    }
    fesetround(before);
    return bits;
}

static bool is_float(enum pksim_ptx_type type)
{
    return pksim_ptx_types[type].kind == 'F';
}

static double flush(double value)
{
    return fabs(value) < 0x1p-126 ? copysign(0, value) : value;
}

static uint64_t float_to_float(const struct cvt *c, double value)
{
    if (c->ftz && c->from == PKSIM_TYPE_F32)
        value = flush(value);
    if (c->to_integer)
        value = round_integral(value, c->rounding);
    if (c->saturate)
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    uint64_t bits = write_float(c, c->to, value);
    if (c->ftz && c->to == PKSIM_TYPE_F32 && !(bits & 0x7f800000))
        bits &= 0x80000000;
    return bits;
}

static uint64_t convert(const struct cvt *c, uint64_t raw)
{
    uint32_t from = pksim_ptx_types[c->from].bytes, to = pksim_ptx_types[c->to].bytes;
    uint64_t value = truncate_to(raw, from), result;
    if (is_float(c->from)) {
        double real = read_float(c->from, value);
        if (is_float(c->to))
            return float_to_float(c, real);
        if (c->ftz && c->from == PKSIM_TYPE_F32)
            real = flush(real);
        result = float_to_integer(real, c);
    } else {
        bool is_signed = pksim_ptx_types[c->from].kind == 'S';
        if (is_signed)
            value = (uint64_t)sign_extend(value, from);
        if (is_float(c->to))
            return integer_to_float(c, value, is_signed);
        result = value;
        if (c->saturate)
            result = is_signed ? clamp_signed((int64_t)value, c->to) : clamp_unsigned(value, c->to);
    }
    // A register wider than the type is filled by the type's sign.
    return pksim_ptx_types[c->to].kind == 'S' ? (uint64_t)sign_extend(result, to) : truncate_to(result, to);
}

// ---- One source
// ----------------------------------------------------------------------------------------------------

static enum pksim_step run_cvt(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct cvt *c = i->more;
    PKSIM_EACH(lane, mask)
    {
        uint64_t raw = pksim_get(w, i->src[0], c->from_bytes, (int)lane);
        pksim_set(w, i->dst, c->to_bytes, (int)lane, convert(c, raw));
    }
    return PKSIM_STEP_NEXT;
}

// ---- Packs
// ---------------------------------------------------------------------------------------------------------

static enum pksim_ptx_type element_of(enum pksim_ptx_type pack)
{
    static const struct {
        enum pksim_ptx_type pack, element;
    } packs[] = {{PKSIM_TYPE_F16X2, PKSIM_TYPE_F16},
                 {PKSIM_TYPE_BF16X2, PKSIM_TYPE_BF16},
                 {PKSIM_TYPE_E4M3X2, PKSIM_TYPE_E4M3},
                 {PKSIM_TYPE_E5M2X2, PKSIM_TYPE_E5M2}};
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        if (packs[i].pack == pack)
            return packs[i].element;
    }
    return PKSIM_TYPE_NONE;
}

// cvt.rn.f16x2.f32 d, a, b puts a in the upper half.
static enum pksim_step run_pack_two(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct cvt *c = i->more;
    uint32_t shift = pksim_ptx_types[c->to].bytes * 8;
    PKSIM_EACH(lane, mask)
    {
        uint64_t high = convert(c, pksim_get(w, i->src[0], c->from_bytes, (int)lane));
        uint64_t low = convert(c, pksim_get(w, i->src[1], c->from_bytes, (int)lane));
        pksim_set(w, i->dst, c->to_bytes, (int)lane, high << shift | low);
    }
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_pack_pack(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct cvt *c = i->more;
    uint32_t from = pksim_ptx_types[c->from].bytes * 8, to = pksim_ptx_types[c->to].bytes * 8;
    PKSIM_EACH(lane, mask)
    {
        uint64_t raw = pksim_get(w, i->src[0], c->from_bytes, (int)lane);
        pksim_set(w, i->dst, c->to_bytes, (int)lane, convert(c, raw >> from) << to | convert(c, raw));
    }
    return PKSIM_STEP_NEXT;
}

// ---- Decoding
// ------------------------------------------------------------------------------------------------------

static void take_rounding(struct pksim_decoder *d, struct cvt *c)
{
    static const struct {
        const char *name;
        enum rounding rounding;
        bool to_integer;
    } names[] = {{"rn", ROUND_NEAREST, false}, {"rz", ROUND_ZERO, false},  {"rm", ROUND_DOWN, false},
                 {"rp", ROUND_UP, false},      {"rna", ROUND_AWAY, false}, {"rni", ROUND_NEAREST, true},
                 {"rzi", ROUND_ZERO, true},    {"rmi", ROUND_DOWN, true},  {"rpi", ROUND_UP, true}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!pksim_mod(d, names[i].name))
            continue;
        c->rounding = names[i].rounding;
        c->to_integer = names[i].to_integer;
    }
}

static void take_types(struct pksim_decoder *d, struct cvt *c)
{
    c->from = pksim_mod_last_type(d);
    c->ftz = pksim_mod(d, "ftz");
    c->saturate = pksim_mod(d, "sat");
    c->satfinite = pksim_mod(d, "satfinite");
    c->relu = pksim_mod(d, "relu");
    take_rounding(d, c);
    c->to = pksim_mod_type(d);
    if (c->to == PKSIM_TYPE_NONE)
        pksim_decode_fail(d, "no type to convert to that is supported");
}

static void set_elements(struct pksim_decoder *d, struct cvt *c)
{
    enum pksim_ptx_type to = element_of(c->to), from = element_of(c->from);
    c->packs = to != PKSIM_TYPE_NONE || from != PKSIM_TYPE_NONE;
    if (to != PKSIM_TYPE_NONE)
        c->to = to;
    if (from != PKSIM_TYPE_NONE)
        c->from = from;
    if (to == PKSIM_TYPE_NONE && from != PKSIM_TYPE_NONE)
        pksim_decode_fail(d, "a pack converts to a pack");
    if (c->saturate && is_float(c->to) && !is_float(c->from))
        pksim_decode_fail(d, "saturation is not supported for these types");
}

static bool decode_hot(struct pksim_decoder *d)
{
    char key[64];
    if (d->insn->opcode.length >= sizeof key)
        return false;
    memcpy(key, d->insn->opcode.text, d->insn->opcode.length);
    key[d->insn->opcode.length] = '\0';
    const struct pksim_alu_op *op = pksim_alu_named(d, key);
    if (!op || pksim_operand_bytes(d, pksim_operand_at(d, 0), op->dst_bytes) != op->dst_bytes ||
        pksim_operand_bytes(d, pksim_operand_at(d, 1), op->src_bytes[0]) != op->src_bytes[0])
        return false;
    d->mods.taken = UINT32_MAX;
    return pksim_decode_alu(d);
}

void pksim_decode_cvt(struct pksim_decoder *d)
{
    if (decode_hot(d))
        return;
    struct cvt *c = pksim_decode_alloc(d, sizeof *c);
    if (!c)
        return;
    pksim_mod(d, "pack"); // refused below: cvt.pack has another shape
    take_types(d, c);
    uint32_t to_width = pksim_reg_bytes(c->to), from_width = pksim_reg_bytes(c->from);
    set_elements(d, c);
    bool two = pksim_operand_count(d) == 3;
    if (d->failed || pksim_operand_count(d) > 3) {
        pksim_decode_fail(d, "this form of cvt is not supported");
        return;
    }
    struct pksim_insn insn = pksim_insn_begin(d);
    c->to_bytes = (uint8_t)pksim_operand_bytes(d, pksim_operand_at(d, 0), to_width);
    c->from_bytes = (uint8_t)pksim_operand_bytes(d, pksim_operand_at(d, 1), from_width);
    if (c->to_bytes < to_width || c->from_bytes < from_width)
        pksim_decode_fail(d, "a register is narrower than its type");
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), c->from_bytes);
    if (two)
        insn.src[1] = pksim_use(d, pksim_operand_at(d, 2), c->from_bytes);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), c->to_bytes);
    insn.more = c;
    insn.run = two ? run_pack_two : c->packs ? run_pack_pack : run_cvt;
    pksim_insn_add(d, &insn);
}
