// SPDX-License-Identifier: Apache-2.0
// multimem: loads that reduce over, stores and reductions that reach every device behind a multicast address
// (PTX ISA 9.7.9.14).
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
    uint32_t count, bytes; // registers, and bytes of each
    pksim_place_t regs[MAX_VECTOR];
};

static bool find_all(struct pksim_warp *w, const struct multimem_op *op, uint64_t address, uint32_t access,
                     uint32_t lane, struct pksim_span *spans, uint32_t *count)
{
    struct pksim_mem_fault fault;
    uint32_t size = op->count * op->bytes;
    if (pksim_mem_multicast(w->exec->config.mem, w->cta->run->device, address, size, size, access, spans,
                            count, &fault))
        return true;
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

// Sums go in the order of the devices.
static bool load_lane(struct pksim_warp *w, const struct multimem_op *op, uint64_t address, uint32_t lane)
{
    struct pksim_span spans[PKSIM_MAX_DEVICES];
    unsigned char sum[MAX_BYTES * 2];
    uint32_t count, size = op->count * op->bytes;
    if (!find_all(w, op, address, PKSIM_READ, lane, spans, &count))
        return false;
    for (uint32_t k = 0; k < count; k++) {
        const unsigned char *from = spans[k].host + (address - spans[k].base);
        if (!check_written(w, &spans[k], address, size, lane))
            return false;
        if (k)
            pksim_reduce_apply(op->reduce, op->type, sum, from, size / pksim_number_bytes(op->type));
        else
            memcpy(sum, from, size);
    }
    for (uint32_t k = 0; count && k < op->count; k++)
        memcpy(w->regs + op->regs[k] + (size_t)lane * op->bytes, sum + (size_t)k * op->bytes, op->bytes);
    return true;
}

static bool store_lane(struct pksim_warp *w, const struct multimem_op *op, uint64_t address, uint32_t lane)
{
    struct pksim_span spans[PKSIM_MAX_DEVICES];
    unsigned char value[MAX_BYTES * 2];
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
    pksim_mod(d, "global");
    pksim_mod(d, "noftz");
    pksim_mod(d, "acc::f32");
    op->count = pksim_mod(d, "v2") ? 2 : pksim_mod(d, "v4") ? 4 : pksim_mod(d, "v8") ? 8 : 1;
    if (!d->failed && (op->count * op->bytes > MAX_BYTES || op->bytes < 2 ||
                       (op->kind != MULTIMEM_STORE && !pksim_reduce_known(op->reduce, op->type))))
        pksim_decode_fail(d, "multimem does not exist for this type");
    bool loads = op->kind == MULTIMEM_LOAD;
    pksim_use_address(d, pksim_operand_at(d, loads ? 1 : 0), &op->address);
    use_values(d, pksim_operand_at(d, loads ? 0 : 1), op);
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_multimem;
    insn.more = op;
    pksim_insn_add(d, &insn);
}
