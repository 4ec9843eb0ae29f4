// SPDX-License-Identifier: Apache-2.0
#include "ir/dce.h"

#include "ir/ptrmap.h"
#include "support/vec.h"

typedef PKC_VEC(ir_value *) value_list;

typedef struct dce {
    ir_kernel *k;
    ir_ptrmap live; // values and ops that are needed
    value_list work;
} dce;

static bool is_live(const dce *d, const void *what)
{
    return ir_ptrmap_get(&d->live, what) != NULL;
}

static void need(dce *d, ir_value *v)
{
    if (is_live(d, v))
        return;
    ir_ptrmap_set(&d->live, v, v);
    pkc_vec_push(d->k->arena, &d->work, v);
}

/// An op that must stay: with it, the control operands of all regions around it.
static void need_op(dce *d, ir_op *op)
{
    for (; op && !is_live(d, op); op = op->parent->owner) {
        ir_ptrmap_set(&d->live, op, op);
        int control = op->kind == IR_FOR ? 3 : op->n_in;
        for (int i = 0; i < control; i++)
            need(d, op->in[i].value);
    }
}

/// Reads are no effect, and what a reduction, a change of distribution or a product does in scratch memory or
/// on the matrix unit only serves its result.
static bool has_effect(const ir_op *op)
{
    bool scratch = op->kind == IR_CRED || op->kind == IR_REDIST || op->kind == IR_MMA;
    return (ir_op_effects(op->kind) & ~(unsigned)IR_RD_GLOB & ~(unsigned)IR_RD_SH) != 0 && op->n_reg == 0 &&
           !scratch;
}

static bool mark_effects(ir_op *op, void *user)
{
    dce *d = user;
    bool stays = op->kind == IR_PUT || op->kind == IR_GET || op->kind == IR_ROLE || op->kind == IR_GROUP ||
                 op->kind == IR_BULK_COMMIT;
    if (op->kind != IR_YIELD && (stays || has_effect(op)))
        need_op(d, op);
    return true;
}

/// A region's result needs what its regions yield for it; a for's also the carry it starts from.
static void need_sources(dce *d, ir_op *op, int index)
{
    for (int r = 0; r < op->n_reg; r++) {
        ir_value *v = ir_yielded(&op->reg[r], index);
        if (v)
            need(d, v);
    }
    if (op->kind == IR_FOR) {
        need(d, op->in[3 + index].value);
        need(d, &op->reg[0].args[1 + index]);
        need(d, &op->out[index]);
    }
}

static void propagate(dce *d)
{
    while (d->work.len) {
        ir_value *v = pkc_vec_pop(&d->work);
        ir_op *op = v->def ? v->def : v->owner->owner;
        if (!op)
            continue;
        need_op(d, op);
        if (op->n_reg && v->def)
            need_sources(d, op, v->index);
        else if (op->kind == IR_FOR && v->index > 0)
            need_sources(d, op, v->index - 1);
    }
}

static void sweep_region(dce *d, ir_region *region);

static void sweep_results(dce *d, ir_op *op)
{
    for (int i = op->n_out - 1; i >= 0; i--)
        if (!is_live(d, &op->out[i])) {
            // Uses that remain stand in ops which are swept too, or in this op's own yield.
            while (op->kind == IR_FOR && op->reg[0].args[i + 1].uses)
                ir_set_in(op->reg[0].args[i + 1].uses->user, op->reg[0].args[i + 1].uses->index,
                          op->in[3 + i].value);
        }
}

/// Which results stay, before removal moves the others up (liveness is keyed by address).
static void remove_dead_results(dce *d, ir_op *op)
{
    bool *keep = PKC_NEW_ARRAY(d->k->arena, bool, op->n_out ? op->n_out : 1);
    for (int i = 0; i < op->n_out; i++)
        keep[i] = is_live(d, &op->out[i]);
    sweep_results(d, op);
    for (int i = op->n_out - 1; i >= 0; i--)
        if (!keep[i])
            ir_remove_carry(op, i);
}

static void sweep_op(dce *d, ir_op *op)
{
    if (!is_live(d, op)) {
        ir_erase(op);
        return;
    }
    for (int r = 0; r < op->n_reg; r++)
        sweep_region(d, &op->reg[r]);
    if (op->n_reg)
        remove_dead_results(d, op);
}

/// Backwards, so that uses go before what they use.
static void sweep_region(dce *d, ir_region *region)
{
    for (ir_op *op = region->last, *prev; op; op = prev) {
        prev = op->prev;
        if (op->kind != IR_YIELD)
            sweep_op(d, op);
    }
}

void ir_remove_dead(ir_kernel *k, ir_region *body)
{
    dce d = {.k = k};
    ir_ptrmap_init(&d.live, k->arena);
    ir_walk(body, mark_effects, NULL, &d);
    propagate(&d);
    sweep_region(&d, body);
}
