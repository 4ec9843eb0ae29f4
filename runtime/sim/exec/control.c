// SPDX-License-Identifier: Apache-2.0
// Branches, calls and exits (PTX ISA 9.7.12). A call copies its arguments between frames in local memory:
// functions do not recurse, so each has one frame and one register for the place to return to.
#include "sim/exec/control.h"

#include "sim/exec/decode.h"
#include "sim/exec/lanes.h"
#include "sim/ptx/parse.h"

enum { SPIN_LIMIT = 64 };

// Loops of one fragment must not starve the others: they may hold what it waits for.
static void count_back_jump(struct pksim_warp *w, uint32_t from, uint32_t to)
{
    if (to <= from && w->frag_count > 1 && w->next_pc != UINT32_MAX && ++w->back_jumps > SPIN_LIMIT)
        w->rotate = true;
}

static enum pksim_step run_bra(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    uint32_t stay = w->active & ~mask;
    if (!mask)
        return PKSIM_STEP_NEXT;
    count_back_jump(w, w->pc, i->target);
    if (stay) {
        pksim_split(w, w->pc + 1, stay);
        w->active = mask;
    }
    w->pc = i->target;
    return PKSIM_STEP_JUMP;
}

void pksim_decode_bra(struct pksim_decoder *d)
{
    const struct pksim_operand *target = pksim_operand_at(d, 0);
    pksim_mod(d, "uni");
    if (target->kind != PKSIM_OP_LABEL) {
        pksim_decode_fail(d, "expected a label");
        return;
    }
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_bra;
    pksim_fix_target(d, target->id);
    pksim_insn_add(d, &insn);
}

// ---- Branch tables
// -------------------------------------------------------------------------------------------------

struct branch_table {
    uint32_t count;
    uint32_t targets[];
};

// Lanes go each to its own target: one fragment a target.
static enum pksim_step jump_each(struct pksim_warp *w, uint32_t mask, const uint32_t targets[PKSIM_LANES])
{
    uint32_t stay = w->active & ~mask;
    if (stay)
        pksim_split(w, w->pc + 1, stay);
    bool first = true;
    uint32_t first_pc = 0, first_lanes = 0;
    while (mask) {
        uint32_t pc = targets[__builtin_ctz(mask)], same = 0;
        PKSIM_EACH(lane, mask)
        same |= targets[lane] == pc ? 1u << lane : 0;
        mask &= ~same;
        if (first) {
            first_pc = pc;
            first_lanes = same;
        } else {
            pksim_split(w, pc, same);
        }
        first = false;
    }
    w->pc = first_pc;
    w->active = first_lanes;
    return PKSIM_STEP_JUMP;
}

static enum pksim_step run_brx(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct branch_table *table = i->more;
    uint32_t targets[PKSIM_LANES] = {0};
    PKSIM_EACH(lane, mask)
    {
        uint32_t index = pksim_get32(w, i->src[0], (int)lane);
        if (index >= table->count) {
            pksim_raise(w->exec, w, PKSIM_FAULT_BAD_OPERAND, "lane %u: branch index %u of a table of %u",
                        lane, index, table->count);
            return PKSIM_STEP_STOP;
        }
        targets[lane] = table->targets[index];
    }
    return jump_each(w, mask, targets);
}

void pksim_decode_brx(struct pksim_decoder *d)
{
    const struct pksim_operand *index = pksim_operand_at(d, 0), *list = pksim_operand_at(d, 1);
    pksim_mod(d, "uni");
    if (!pksim_mod(d, "idx") || list->kind != PKSIM_OP_LABEL) {
        pksim_decode_fail(d, "expected an index and a list of targets");
        return;
    }
    const struct pksim_ptx_label *label = &d->func->func->labels[list->id];
    while (label->alias != UINT32_MAX)
        label = &d->func->func->labels[label->alias];
    struct branch_table *table =
        pksim_decode_alloc(d, sizeof *table + label->target_count * sizeof *table->targets);
    if (!table)
        return;
    table->count = (uint32_t)label->target_count;
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_brx;
    insn.more = table;
    insn.src[0] = pksim_use(d, index, 4);
    for (uint32_t i = 0; i < table->count; i++)
        pksim_fix_slot(d, label->targets[i], &table->targets[i]);
    pksim_insn_add(d, &insn);
}

// ---- Calls
// ---------------------------------------------------------------------------------------------------------

struct frame_copy {
    uint32_t from, to, bytes;
};

static enum pksim_step run_frame_copy(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct frame_copy *copy = i->more;
    uint32_t frame = w->cta->run->program->local_bytes;
    PKSIM_EACH(lane, mask)
    {
        uint8_t *local = w->local + (size_t)lane * frame;
        memcpy(local + copy->to, local + copy->from, copy->bytes);
    }
    return PKSIM_STEP_NEXT;
}

static void add_frame_copy(struct pksim_decoder *d, const struct pksim_ptx_var *from,
                           const struct pksim_ptx_var *to)
{
    struct frame_copy *copy = pksim_decode_alloc(d, sizeof *copy);
    if (!copy)
        return;
    if (from->bytes != to->bytes)
        pksim_decode_fail(d, "argument of %u bytes for a parameter of %u", (uint32_t)from->bytes,
                          (uint32_t)to->bytes);
    *copy = (struct frame_copy){pksim_var_offset(d, from), pksim_var_offset(d, to), (uint32_t)to->bytes};
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_frame_copy;
    insn.more = copy;
    pksim_insn_add(d, &insn);
}

static const struct pksim_ptx_var *argument(struct pksim_decoder *d, const struct pksim_operand *list,
                                            uint32_t index, size_t count)
{
    uint32_t given = list ? list->count : 0;
    if (given != count) {
        pksim_decode_fail(d, "the call passes %u values where the function has %zu", given, count);
        return NULL;
    }
    if (list->elems[index].kind != PKSIM_OP_VAR || list->elems[index].var->space != PKSIM_PTX_PARAM) {
        pksim_decode_fail(d, "arguments that are not .param variables are not supported");
        return NULL;
    }
    return list->elems[index].var;
}

static enum pksim_step run_call(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    uint32_t stay = w->active & ~mask;
    if (stay) {
        pksim_split(w, w->pc + 1, stay);
        w->active = mask;
    }
    PKSIM_EACH(lane, mask)
    pksim_set(w, i->dst, 4, (int)lane, w->pc + 1);
    w->pc = i->target;
    return PKSIM_STEP_JUMP;
}

void pksim_call_resolve(struct pksim_insn *insn)
{
    if (insn->run == run_call)
        insn->target = ((const struct pksim_decoded_func *)insn->more)->first;
}

void pksim_decode_call(struct pksim_decoder *d)
{
    const struct pksim_operand *results = NULL, *arguments = NULL, *name;
    uint32_t next = 0;
    pksim_mod(d, "uni");
    if (pksim_operand_at(d, 0)->kind == PKSIM_OP_LIST)
        results = pksim_operand_at(d, next++);
    name = pksim_operand_at(d, next++);
    if (next < pksim_operand_count(d))
        arguments = pksim_operand_at(d, next);
    if (name->kind != PKSIM_OP_FUNC) {
        pksim_decode_fail(d, "only calls of named functions are supported");
        return;
    }
    struct pksim_decoded_func *callee = pksim_decode_callee(d, name->func);
    for (uint32_t i = 0; callee && i < name->func->param_count && !d->failed; i++) {
        const struct pksim_ptx_var *from = argument(d, arguments, i, name->func->param_count);
        if (from)
            add_frame_copy(d, from, name->func->params[i]);
    }
    if (!callee || d->failed)
        return;
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_call;
    insn.dst = callee->return_place;
    insn.more = callee;
    pksim_insn_add(d, &insn);
    for (uint32_t i = 0; i < name->func->result_count && !d->failed; i++) {
        const struct pksim_ptx_var *to = argument(d, results, i, name->func->result_count);
        if (to)
            add_frame_copy(d, name->func->results[i], to);
    }
}

static enum pksim_step run_ret(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    return jump_each(w, mask, pksim_at(w, i->src[0]));
}

static enum pksim_step run_exit(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    (void)i;
    return pksim_lanes_exit(w, mask);
}

void pksim_decode_exit(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_exit;
    pksim_insn_add(d, &insn);
}

void pksim_decode_ret(struct pksim_decoder *d)
{
    pksim_mod(d, "uni");
    if (d->func == d->funcs) {
        pksim_decode_exit(d);
        return;
    }
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_ret;
    insn.src[0] = d->func->return_place;
    pksim_insn_add(d, &insn);
}

static enum pksim_step run_trap(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    (void)i;
    pksim_raise(w->exec, w, PKSIM_FAULT_TRAP, "the kernel executed a trap in lane %d", __builtin_ctz(mask));
    return PKSIM_STEP_STOP;
}

void pksim_decode_trap(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_trap;
    pksim_insn_add(d, &insn);
}

static enum pksim_step run_yield(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    (void)w;
    (void)i;
    (void)mask;
    return PKSIM_STEP_YIELD;
}

void pksim_decode_nanosleep(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    pksim_mod(d, "u32");
    insn.run = run_yield;
    pksim_insn_add(d, &insn);
}
