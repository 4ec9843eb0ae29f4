// SPDX-License-Identifier: Apache-2.0
// multimem: loads that reduce over, stores and reductions that reach every device behind a multicast address
// (PTX ISA 9.7.9.14).
#include "sim/check/check.h"
#include "sim/exec/access.h"
#include "sim/exec/lanes.h"
#include "sim/exec/numbers.h"

enum multimem_kind { MULTIMEM_LOAD, MULTIMEM_STORE, MULTIMEM_REDUCE };
enum { MAX_VECTOR = 8, MAX_BYTES = 16 };

struct multimem_op {
    enum multimem_kind kind;
    struct pksim_address address;
    struct pksim_access_kind order;
    enum pksim_reduce reduce;
    enum pksim_number type;
    bool wide;             // halves are summed in f32 and rounded once
    uint32_t count, bytes; // registers, and bytes of each
    pksim_place_t regs[MAX_VECTOR];
};

static bool find_all(struct pksim_warp *w, const struct multimem_op *op, uint64_t address, uint32_t access,
                     uint32_t lane, struct pksim_span *spans, uint32_t *count)
{
    struct pksim_mem_fault fault;
    uint32_t size = op->count * op->bytes;
    if (pksim_mem_multicast(w->exec->config.mem, w->cta->run->device, address, size, size, access, spans,
                            count, &fault)) {
        struct pksim_access_kind kind = op->order;
        kind.access = (uint8_t)access;
        if (w->check)
            pksim_check_multimem(w, lane, spans, *count, address, size, kind, op->kind == MULTIMEM_REDUCE);
        return !w->exec->faulted;
    }
    pksim_raise_mem(w, lane, &fault);
    return false;
}

static bool check_written(struct pksim_warp *w, const struct pksim_span *span, uint64_t address,
                          uint32_t size, uint32_t lane)
{
    struct pksim_mem_fault fault;
    if (!span->shadow || w->exec->config.no_init_check ||
        pksim_shadow_written(span->shadow, address - span->base, size))
        return true;
    pksim_mem_unwritten(w->exec->config.mem, span->owner, address, size, &fault);
    pksim_raise_mem(w, lane, &fault);
    return false;
}

static void add_wide(enum pksim_number type, float *sum, const unsigned char *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, from + 2 * (size_t)i, 2);
        sum[i] += type == PKSIM_BF16 ? pksim_from_bf16(bits) : pksim_from_f16(bits);
    }
}

static void round_wide(enum pksim_number type, unsigned char *out, const float *sum, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t bits = type == PKSIM_BF16 ? pksim_to_bf16(sum[i]) : pksim_to_f16(sum[i]);
        memcpy(out + 2 * (size_t)i, &bits, 2);
    }
}

// Values of all copies, in the order of the devices.
static void reduce_copies(const struct multimem_op *op, const struct pksim_span *spans, uint32_t count,
                          uint64_t address, unsigned char *out)
{
    uint32_t size = op->count * op->bytes, elements = size / pksim_number_bytes(op->type);
    float sum[MAX_BYTES / 2];
    for (uint32_t i = 0; op->wide && i < elements; i++)
        sum[i] = -0.0f; // adds to nothing
    for (uint32_t k = 0; k < count; k++) {
        const unsigned char *from = spans[k].host + (address - spans[k].base);
        if (op->wide)
            add_wide(op->type, sum, from, elements);
        else if (k)
            pksim_reduce_apply(op->reduce, op->type, out, from, elements);
        else
            memcpy(out, from, size);
    }
    if (op->wide)
        round_wide(op->type, out, sum, elements);
}

static bool load_lane(struct pksim_warp *w, const struct multimem_op *op, uint64_t address, uint32_t lane)
{
    struct pksim_span spans[PKSIM_MAX_DEVICES];
    unsigned char sum[MAX_BYTES];
    uint32_t count, size = op->count * op->bytes;
    if (!find_all(w, op, address, PKSIM_READ, lane, spans, &count))
        return false;
    for (uint32_t k = 0; k < count; k++)
        if (!check_written(w, &spans[k], address, size, lane))
            return false;
    reduce_copies(op, spans, count, address, sum);
    for (uint32_t k = 0; k < op->count; k++)
        memcpy(w->regs + op->regs[k] + (size_t)lane * op->bytes, sum + (size_t)k * op->bytes, op->bytes);
    return true;
}

static bool store_lane(struct pksim_warp *w, const struct multimem_op *op, uint64_t address, uint32_t lane)
{
    struct pksim_span spans[PKSIM_MAX_DEVICES];
    unsigned char value[MAX_BYTES];
    uint32_t count, size = op->count * op->bytes;
    bool reduces = op->kind == MULTIMEM_REDUCE;
    if (!find_all(w, op, address, reduces ? PKSIM_READ | PKSIM_WRITE : PKSIM_WRITE, lane, spans, &count))
        return false;
    for (uint32_t k = 0; k < op->count; k++)
        memcpy(value + (size_t)k * op->bytes,
               (const uint8_t *)pksim_at(w, op->regs[k]) + (size_t)lane * op->bytes, op->bytes);
    for (uint32_t k = 0; k < count; k++) {
        unsigned char *to = spans[k].host + (address - spans[k].base);
        if (!reduces) {
            memcpy(to, value, size);
        } else {
            if (!check_written(w, &spans[k], address, size, lane))
                return false;
            pksim_reduce_apply(op->reduce, op->type, to, value, size / pksim_number_bytes(op->type));
        }
        if (spans[k].shadow)
            pksim_shadow_mark(spans[k].shadow, address - spans[k].base, size);
    }
    return true;
}

static enum pksim_step run_multimem(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct multimem_op *op = i->more;
    PKSIM_EACH(lane, mask)
    {
        uint64_t address = pksim_lane_address(w, &op->address, PKSIM_PTX_GLOBAL, lane);
        if (!(op->kind == MULTIMEM_LOAD ? load_lane : store_lane)(w, op, address, lane))
            return PKSIM_STEP_STOP;
    }
    pksim_note_effect(w);
    return PKSIM_STEP_NEXT;
}

static void use_values(struct pksim_decoder *d, const struct pksim_operand *operand, struct multimem_op *op)
{
    bool vector = operand->kind == PKSIM_OP_VECTOR;
    if ((vector ? operand->count : 1) != op->count) {
        pksim_decode_fail(d, "expected %u registers", op->count);
        return;
    }
    for (uint32_t k = 0; k < op->count; k++) {
        const struct pksim_operand *element = vector ? &operand->elems[k] : operand;
        op->regs[k] =
            op->kind == MULTIMEM_LOAD ? pksim_def(d, element, op->bytes) : pksim_use(d, element, op->bytes);
    }
}

// The forms that there are, by type: the vectors (a bit for each length; 1: without a vector) and the
// operations (PTX ISA 9.7.9.14, "multimem"; ptxas 13.0 agrees).
struct form {
    enum pksim_ptx_type type;
    uint8_t vectors;
    bool add, extremes, bitwise;
};

static const struct form forms[] = {
    {PKSIM_TYPE_F16, 2 | 4 | 8, true, true, false},   {PKSIM_TYPE_BF16, 2 | 4 | 8, true, true, false},
    {PKSIM_TYPE_F16X2, 1 | 2 | 4, true, true, false}, {PKSIM_TYPE_BF16X2, 1 | 2 | 4, true, true, false},
    {PKSIM_TYPE_F32, 1 | 2 | 4, true, false, false},  {PKSIM_TYPE_F64, 1, true, false, false},
    {PKSIM_TYPE_U32, 1, true, true, false},           {PKSIM_TYPE_S32, 1, true, true, false},
    {PKSIM_TYPE_U64, 1, true, true, false},           {PKSIM_TYPE_S64, 1, false, true, false},
    {PKSIM_TYPE_B32, 1, false, false, true},          {PKSIM_TYPE_B64, 1, false, false, true},
};

static bool does(const struct form *form, enum pksim_reduce reduce)
{
    switch (reduce) {
    case PKSIM_REDUCE_ADD:
        return form->add;
    case PKSIM_REDUCE_MIN:
    case PKSIM_REDUCE_MAX:
        return form->extremes;
    case PKSIM_REDUCE_AND:
    case PKSIM_REDUCE_OR:
    case PKSIM_REDUCE_XOR:
        return form->bitwise;
    case PKSIM_REDUCE_INC:
    case PKSIM_REDUCE_DEC:
        break;
    }
    return false;
}

static bool exists(const struct multimem_op *op, enum pksim_ptx_type type)
{
    bool store = op->kind == MULTIMEM_STORE, pair = type == PKSIM_TYPE_F16X2 || type == PKSIM_TYPE_BF16X2;
    bool lone = pair && op->count == 1 && op->kind == MULTIMEM_REDUCE;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].type == type)
            return (forms[i].vectors & op->count) && (store || does(&forms[i], op->reduce)) &&
                   !(lone && op->reduce != PKSIM_REDUCE_ADD);
    return false;
}

static bool take_kind(struct pksim_decoder *d, struct multimem_op *op)
{
    if (pksim_mod(d, "ld_reduce"))
        op->kind = MULTIMEM_LOAD;
    else if (pksim_mod(d, "st"))
        op->kind = MULTIMEM_STORE;
    else if (pksim_mod(d, "red"))
        op->kind = MULTIMEM_REDUCE;
    else
        return false;
    return op->kind == MULTIMEM_STORE || pksim_mod_reduce(d, &op->reduce);
}

void pksim_decode_multimem(struct pksim_decoder *d)
{
    struct multimem_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    if (!take_kind(d, op)) {
        pksim_decode_fail(d, "this form of multimem is not supported");
        return;
    }
    enum pksim_ptx_type type = pksim_mod_last_type(d);
    op->type = pksim_mod_number(d, type);
    op->bytes = pksim_ptx_types[type].bytes;
    op->order = pksim_mod_order(d);
    // A reduction is relaxed and of gpu scope where nothing is said (PTX ISA 9.7.9.14).
    if (op->kind == MULTIMEM_REDUCE && op->order.order == PKSIM_WEAK)
        op->order.order = PKSIM_RELAXED;
    if (op->kind == MULTIMEM_REDUCE && !op->order.scope)
        op->order.scope = PKSIM_SCOPE_GPU;
    pksim_mod(d, "global");
    pksim_mod(d, "noftz");
    bool wide = pksim_mod(d, "acc::f32");
    op->count = pksim_mod(d, "v2") ? 2 : pksim_mod(d, "v4") ? 4 : pksim_mod(d, "v8") ? 8 : 1;
    op->wide = wide && op->kind == MULTIMEM_LOAD && op->reduce == PKSIM_REDUCE_ADD &&
               pksim_number_bytes(op->type) == 2;
    if (!d->failed && (!exists(op, type) || wide != op->wide))
        pksim_decode_fail(d, "multimem does not exist in this form for this type");
    bool loads = op->kind == MULTIMEM_LOAD;
    pksim_use_address(d, pksim_operand_at(d, loads ? 1 : 0), &op->address);
    use_values(d, pksim_operand_at(d, loads ? 0 : 1), op);
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_multimem;
    insn.more = op;
    pksim_insn_add(d, &insn);
}
