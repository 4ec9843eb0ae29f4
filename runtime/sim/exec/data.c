// SPDX-License-Identifier: Apache-2.0
// Decoding of arithmetic: plain operations, those with modifiers, comparisons, moves with packing, carries.
#include <fenv.h>
#include <stdio.h>

#include "sim/exec/decode.h"
#include "sim/exec/half.h"
#include "sim/exec/lanes.h"
#include "sim/ptx/parse.h"

// ---- Plain operations
// ----------------------------------------------------------------------------------------------

const struct pksim_alu_op *pksim_alu_named(const struct pksim_decoder *d, const char *key)
{
    for (size_t i = 0; i < d->alu.count; i++) {
        if (!strcmp(d->alu.ops[i].key, key))
            return &d->alu.ops[i];
    }
    return NULL;
}

// What a float operation does besides.
struct modified {
    pksim_alu_fn *fn;
    bool ftz, saturate;
    uint8_t sources, bytes; // bytes: 4 or 8, or 2 and packed 2 for halves
    bool halves;
    int rounding;
};

// The opcode without the modifiers in `drop`, which are noted in *m.
static void float_key(const struct pksim_decoder *d, char *key, size_t size, struct modified *m)
{
    size_t used = (size_t)snprintf(key, size, "%.*s", (int)d->base.length, d->base.text);
    for (uint32_t i = 0; i < d->mods.count && used < size; i++) {
        struct pksim_name name = d->mods.names[i];
        if (pksim_name_is(name, "ftz"))
            m->ftz = true;
        else if (pksim_name_is(name, "sat"))
            m->saturate = true;
        else if (pksim_name_is(name, "rz"))
            m->rounding = FE_TOWARDZERO;
        else if (pksim_name_is(name, "rm"))
            m->rounding = FE_DOWNWARD;
        else if (pksim_name_is(name, "rp"))
            m->rounding = FE_UPWARD;
        else if (!pksim_name_is(name, "rn") && !pksim_name_is(name, "approx") && !pksim_name_is(name, "full"))
            used += (size_t)snprintf(key + used, size - used, ".%.*s", (int)name.length, name.text);
    }
}

// Without a branch, so that it is vector code.
static void flush_subnormals(uint32_t *to, const uint32_t *from)
{
    for (int l = 0; l < PKSIM_LANES; l++)
        to[l] = from[l] & (0x80000000 | (from[l] & 0x7f800000 ? UINT32_MAX : 0));
}

static void saturate_lanes(void *lanes, const struct modified *m)
{
    for (int l = 0; l < PKSIM_LANES; l++) {
        if (m->bytes == 4) {
            float *v = (float *)lanes + l;
            *v = *v > 0 ? (*v < 1 ? *v : 1) : 0;
        } else {
            double *v = (double *)lanes + l;
            *v = *v > 0 ? (*v < 1 ? *v : 1) : 0;
        }
    }
}

static enum pksim_step run_modified(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct modified *m = i->more;
    _Alignas(64) uint32_t flushed[PKSIM_MAX_SOURCES][PKSIM_LANES];
    _Alignas(64) uint8_t result[8 * PKSIM_LANES];
    const void *s[PKSIM_MAX_SOURCES];
    for (uint32_t k = 0; k < m->sources; k++) {
        s[k] = pksim_at(w, i->src[k]);
        if (!m->ftz || m->bytes != 4)
            continue;
        flush_subnormals(flushed[k], s[k]);
        s[k] = flushed[k];
    }
    if (m->rounding == FE_TONEAREST) {
        m->fn(result, s);
    } else {
        int before = fegetround();
        fesetround(m->rounding);
        m->fn(result, s);
        fesetround(before);
    }
    if (m->ftz && m->bytes == 4 && i->dst_bytes)
        flush_subnormals((uint32_t *)result, (const uint32_t *)result);
    if (m->saturate)
        saturate_lanes(result, m);
    pksim_keep_lanes(pksim_dst(w, i->dst), result, mask, i->dst_bytes);
    return PKSIM_STEP_NEXT;
}

static bool set_modified(struct pksim_decoder *d, struct pksim_insn *insn, const struct pksim_alu_op *op,
                         struct modified m)
{
    struct modified *kept = pksim_decode_alloc(d, sizeof *kept);
    if (!kept)
        return false;
    m.fn = op->fn;
    m.sources = op->sources;
    m.bytes = op->src_bytes[0];
    if (m.saturate && (op->dst_bytes != 4 && op->dst_bytes != 8)) {
        pksim_decode_fail(d, "saturation is not supported for this type");
        return false;
    }
    *kept = m;
    insn->run = run_modified;
    insn->more = kept;
    return true;
}

static const struct pksim_alu_op *find_alu(const struct pksim_decoder *d, struct modified *m)
{
    char key[96];
    *m = (struct modified){.rounding = FE_TONEAREST};
    snprintf(key, sizeof key, "%.*s", (int)d->insn->opcode.length, d->insn->opcode.text);
    const struct pksim_alu_op *op = pksim_alu_named(d, key);
    if (op)
        return op;
    float_key(d, key, sizeof key, m);
    op = pksim_alu_named(d, key);
    if (!op || op->kind != 'F')
        return NULL;
    bool half = op->src_bytes[0] == 2 || strstr(key, "16x2");
    if (half && (m->rounding != FE_TONEAREST || m->saturate))
        return NULL;
    if (half)
        m->ftz = false;
    return op;
}

static void set_sources(struct pksim_decoder *d, struct pksim_insn *insn, const struct pksim_alu_op *op,
                        uint32_t first)
{
    insn->alu = op->fn;
    insn->sources = op->sources;
    insn->dst_bytes = op->dst_bytes;
    for (uint32_t k = 0; k < op->sources; k++)
        insn->src[k] = pksim_use(d, pksim_operand_at(d, first + k), op->src_bytes[k]);
}

static void add_alu(struct pksim_decoder *d, const struct pksim_alu_op *op, const struct modified *m)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    set_sources(d, &insn, op, 1);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), op->dst_bytes);
    if ((m->ftz || m->saturate || m->rounding != FE_TONEAREST) && !set_modified(d, &insn, op, *m))
        return;
    if (pksim_operand_count(d) != op->sources + 1u)
        pksim_decode_fail(d, "too many operands");
    pksim_insn_add(d, &insn);
}

// add.cc and its like also write the condition code.
static bool decode_carry_out(struct pksim_decoder *d)
{
    for (uint32_t i = 0; i < d->mods.count; i++) {
        if (pksim_name_is(d->mods.names[i], "cc")) {
            pksim_decode_carry(d);
            return true;
        }
    }
    return false;
}

bool pksim_decode_alu(struct pksim_decoder *d)
{
    struct modified m;
    const struct pksim_alu_op *op = find_alu(d, &m);
    if (op) {
        add_alu(d, op, &m);
        return true;
    }
    return decode_carry_out(d);
}

// ---- Extended precision
// --------------------------------------------------------------------------------------------

struct carry_op {
    char base; // a add, s sub, m mad
    bool in, out, high, is_signed;
    uint8_t bytes;
};

static unsigned __int128 low_bits(uint64_t value, uint32_t bytes)
{
    return bytes == 8 ? value : value & 0xffffffff;
}

// Product half of mad, then the sum with what is carried in; the bit above is the carry.
static uint64_t carry_lane(const struct carry_op *op, const uint64_t v[3], bool *carry)
{
    uint32_t bits = op->bytes * 8;
    unsigned __int128 a = low_bits(v[0], op->bytes), b = low_bits(v[1], op->bytes), sum;
    if (op->base == 'm') {
        unsigned __int128 product = a * b;
        if (op->is_signed && op->bytes == 8)
            product = (unsigned __int128)((__int128)(int64_t)v[0] * (int64_t)v[1]);
        else if (op->is_signed)
            product = (uint64_t)((int64_t)(int32_t)v[0] * (int32_t)v[1]);
        a = low_bits((uint64_t)(op->high ? product >> bits : product), op->bytes);
        b = low_bits(v[2], op->bytes);
    }
    sum = op->base == 's' ? a - b - (op->in && *carry) : a + b + (op->in && *carry);
    *carry = sum >> bits & 1;
    return (uint64_t)sum;
}

static enum pksim_step run_carry(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct carry_op *op = i->more;
    PKSIM_EACH(lane, mask)
    {
        uint64_t v[3] = {0};
        bool carry = w->carry >> lane & 1;
        for (uint32_t k = 0; k < i->sources; k++)
            v[k] = pksim_get(w, i->src[k], op->bytes, (int)lane);
        pksim_set(w, i->dst, op->bytes, (int)lane, carry_lane(op, v, &carry));
        if (op->out)
            w->carry = (w->carry & ~(1u << lane)) | (uint32_t)carry << lane;
    }
    return PKSIM_STEP_NEXT;
}

void pksim_decode_carry(struct pksim_decoder *d)
{
    struct carry_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    op->base = d->base.text[0];
    op->in = d->base.length == 4;
    op->out = pksim_mod(d, "cc");
    op->high = pksim_mod(d, "hi");
    pksim_mod(d, "lo");
    enum pksim_ptx_type type = pksim_mod_last_type(d);
    op->bytes = (uint8_t)pksim_ptx_types[type].bytes;
    op->is_signed = pksim_ptx_types[type].kind == 'S';
    if (!d->failed && op->bytes != 4 && op->bytes != 8)
        pksim_decode_fail(d, "carries exist for 32 and 64 bits");
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_carry;
    insn.more = op;
    insn.sources = op->base == 'm' ? 3 : 2;
    for (uint32_t k = 0; k < insn.sources && !d->failed; k++)
        insn.src[k] = pksim_use(d, pksim_operand_at(d, k + 1), op->bytes);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), op->bytes);
    pksim_insn_add(d, &insn);
    d->mods.taken = UINT32_MAX;
}

// ---- Comparisons
// ---------------------------------------------------------------------------------------------------

struct compare {
    pksim_alu_fn *fn;
    char combine; // 0, a and, o or, x xor
    bool ftz, halves;
    uint8_t set_bytes; // of set: bytes of the destination; 0 for setp
    bool set_float;    // of set: 1.0, not all ones
    bool set_bf16;
    pksim_place_t with, second; // predicate to combine with; the q of p|q
};

static const char *const combinations[] = {"and", "or", "xor"};

static char take_combination(struct pksim_decoder *d)
{
    for (size_t i = 0; i < 3; i++) {
        if (pksim_mod(d, combinations[i]))
            return combinations[i][0];
    }
    return 0;
}

static uint32_t combine(char how, uint32_t a, uint32_t b)
{
    if (how == 'a')
        return a & b;
    if (how == 'o')
        return a | b;
    return how == 'x' ? a ^ b : a;
}

static uint32_t compare_lanes(struct pksim_warp *w, const struct pksim_insn *i)
{
    const struct compare *c = i->more;
    _Alignas(64) uint32_t flushed[2][PKSIM_LANES];
    const void *s[2];
    uint32_t result;
    for (int k = 0; k < 2; k++) {
        s[k] = pksim_at(w, i->src[k]);
        if (!c->ftz)
            continue;
        flush_subnormals(flushed[k], s[k]);
        s[k] = flushed[k];
    }
    c->fn(&result, s);
    return result;
}

static enum pksim_step run_setp(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct compare *c = i->more;
    uint32_t t = compare_lanes(w, i), with = c->combine ? pksim_get_mask(w, c->with) : 0;
    pksim_set_mask(w, i->dst, mask, combine(c->combine, t, with));
    if (c->second != PKSIM_NO_PLACE)
        pksim_set_mask(w, c->second, mask, combine(c->combine, ~t, with));
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_set(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct compare *c = i->more;
    uint32_t with = c->combine ? pksim_get_mask(w, c->with) : 0;
    uint32_t t = combine(c->combine, compare_lanes(w, i), with);
    uint64_t yes = UINT64_MAX;
    if (c->set_float)
        yes = c->set_bytes == 4 ? pksim_bits32(1.0f) : c->set_bf16 ? 0x3f80 : 0x3c00;
    PKSIM_EACH(lane, mask)
    pksim_set(w, i->dst, c->set_bytes, (int)lane, t >> lane & 1 ? yes : 0);
    return PKSIM_STEP_NEXT;
}

// What is left of the opcode after .and and .ftz names the comparison: "setp.lt.f32".
static const struct pksim_alu_op *find_compare(struct pksim_decoder *d, struct compare *c,
                                               bool first_type_is_result)
{
    char key[64];
    enum pksim_ptx_type type = pksim_mod_last_type(d);
    c->combine = take_combination(d);
    c->ftz = pksim_mod(d, "ftz") && type == PKSIM_TYPE_F32;
    if (first_type_is_result) {
        uint32_t index = d->mods.count - 2;
        enum pksim_ptx_type result = PKSIM_TYPE_NONE;
        if (d->mods.count >= 2)
            result = pksim_ptx_type_named(d->mods.names[index].text, d->mods.names[index].length);
        d->mods.taken |= d->mods.count >= 2 ? 1u << index : 0;
        c->set_bytes = (uint8_t)pksim_ptx_types[result].bytes;
        c->set_float = pksim_ptx_types[result].kind == 'F';
        c->set_bf16 = result == PKSIM_TYPE_BF16;
    }
    for (uint32_t i = 0; i < d->mods.count; i++) {
        if (d->mods.taken >> i & 1)
            continue;
        snprintf(key, sizeof key, "setp.%.*s.%s", (int)d->mods.names[i].length, d->mods.names[i].text,
                 pksim_ptx_types[type].name);
        d->mods.taken |= 1u << i;
        return pksim_alu_named(d, key);
    }
    return NULL;
}

static void decode_compare(struct pksim_decoder *d, bool is_set)
{
    struct compare *c = pksim_decode_alloc(d, sizeof *c);
    const struct pksim_alu_op *op = c ? find_compare(d, c, is_set) : NULL;
    if (!op || (is_set && !c->set_bytes)) {
        pksim_decode_fail(d, "no comparison that is supported");
        return;
    }
    struct pksim_insn insn = pksim_insn_begin(d);
    const struct pksim_operand *result = pksim_operand_at(d, 0);
    set_sources(d, &insn, op, 1);
    c->fn = op->fn;
    c->second = PKSIM_NO_PLACE;
    if (c->combine)
        c->with = pksim_use(d, pksim_operand_at(d, 3), 0);
    if (result->pair)
        c->second = pksim_def(d, result->pair, 0);
    insn.dst = pksim_def(d, result, is_set ? c->set_bytes : 0);
    insn.more = c;
    if (is_set)
        insn.run = run_set;
    else if (c->combine || c->ftz || result->pair)
        insn.run = run_setp;
    pksim_insn_add(d, &insn);
}

void pksim_decode_setp(struct pksim_decoder *d)
{
    decode_compare(d, false);
}

void pksim_decode_set(struct pksim_decoder *d)
{
    decode_compare(d, true);
}

// ---- Moves
// ---------------------------------------------------------------------------------------------------------

// A register of `count` parts, or the parts.
struct pack {
    uint8_t count, part_bytes;
    pksim_place_t parts[16];
};

static enum pksim_step run_pack(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct pack *p = i->more;
    uint32_t part = p->part_bytes, whole = part * p->count;
    // A part may be the destination's own register: gather all first.
    _Alignas(64) uint8_t lanes[16 * PKSIM_LANES];
    for (uint32_t k = 0; k < p->count; k++) {
        const uint8_t *from = pksim_at(w, p->parts[k]);
        for (uint32_t l = 0; l < PKSIM_LANES; l++)
            memcpy(lanes + l * whole + k * part, from + l * (part < 2 ? 2 : part), part);
    }
    pksim_keep_lanes(pksim_dst(w, i->dst), lanes, mask, whole);
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_unpack(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct pack *p = i->more;
    uint32_t part = p->part_bytes, whole = part * p->count;
    _Alignas(64) uint8_t lanes[16 * PKSIM_LANES];
    memcpy(lanes, pksim_at(w, i->src[0]), (size_t)whole * PKSIM_LANES);
    for (uint32_t k = 0; k < p->count; k++) {
        if (p->parts[k] == PKSIM_NO_PLACE)
            continue;
        const uint8_t *from = lanes + (size_t)k * part;
        PKSIM_EACH(lane, mask)
        pksim_set(w, p->parts[k], part < 2 ? 2 : part, (int)lane,
                  pksim_part(from + (size_t)lane * whole, part));
    }
    return PKSIM_STEP_NEXT;
}

static struct pack *begin_pack(struct pksim_decoder *d, const struct pksim_operand *vector, uint32_t whole)
{
    struct pack *p = pksim_decode_alloc(d, sizeof *p);
    if (!p)
        return NULL;
    p->count = (uint8_t)vector->count;
    if (vector->count < 2 || vector->count > 8 || whole % vector->count) {
        pksim_decode_fail(d, "parts that do not make up the register");
        return NULL;
    }
    p->part_bytes = (uint8_t)(whole / vector->count);
    return p;
}

static void decode_pack(struct pksim_decoder *d, uint32_t whole)
{
    const struct pksim_operand *vector = pksim_operand_at(d, 1);
    struct pack *p = begin_pack(d, vector, whole);
    for (uint32_t k = 0; p && k < p->count; k++)
        p->parts[k] = pksim_use(d, &vector->elems[k], p->part_bytes < 2 ? 2 : p->part_bytes);
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_pack;
    insn.more = p;
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), whole);
    pksim_insn_add(d, &insn);
}

static void decode_unpack(struct pksim_decoder *d, uint32_t whole)
{
    const struct pksim_operand *vector = pksim_operand_at(d, 0);
    struct pack *p = begin_pack(d, vector, whole);
    for (uint32_t k = 0; p && k < p->count; k++) {
        p->parts[k] = PKSIM_NO_PLACE;
        if (vector->elems[k].kind != PKSIM_OP_SINK)
            p->parts[k] = pksim_def(d, &vector->elems[k], p->part_bytes < 2 ? 2 : p->part_bytes);
    }
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_unpack;
    insn.more = p;
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), whole);
    pksim_insn_add(d, &insn);
}

static enum pksim_step run_move_wide(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    _Alignas(64) uint8_t lanes[16 * PKSIM_LANES];
    memcpy(lanes, pksim_at(w, i->src[0]), sizeof lanes);
    pksim_keep_lanes(pksim_dst(w, i->dst), lanes, mask, 16);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_mov(struct pksim_decoder *d)
{
    const struct pksim_operand *to = pksim_operand_at(d, 0), *from = pksim_operand_at(d, 1);
    enum pksim_ptx_type type = pksim_mod_last_type(d);
    uint32_t bytes = pksim_ptx_types[type].bytes;
    if (d->failed)
        return;
    if (from->kind == PKSIM_OP_VECTOR) {
        decode_pack(d, bytes);
    } else if (to->kind == PKSIM_OP_VECTOR) {
        decode_unpack(d, bytes);
    } else if (bytes == 16) {
        struct pksim_insn insn = pksim_insn_begin(d);
        insn.run = run_move_wide;
        insn.src[0] = pksim_use(d, from, 16);
        insn.dst = pksim_def(d, to, 16);
        pksim_insn_add(d, &insn);
    } else if (!pksim_decode_alu(d)) {
        pksim_decode_fail(d, "unknown instruction");
    }
}
