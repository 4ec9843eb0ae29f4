// SPDX-License-Identifier: Apache-2.0
// Along the use lists with a list of work: each value is looked at once.
#include "ir/flow.h"

void ir_flow_init(ir_flow *f, pkc_arena *arena)
{
    *f = (ir_flow){.arena = arena};
    ir_ptrmap_init(&f->cause, arena);
}

ir_op *ir_flow_cause(const ir_flow *f, const ir_value *v)
{
    return ir_ptrmap_get(&f->cause, v);
}

static void reach(ir_flow *f, ir_value *v, ir_op *cause)
{
    if (ir_flow_cause(f, v))
        return;
    ir_ptrmap_set(&f->cause, v, cause);
    pkc_vec_push(f->arena, &f->work, v);
}

static void reach_results(ir_flow *f, ir_op *op, ir_op *cause)
{
    for (int i = 0; i < op->n_out; i++)
        reach(f, &op->out[i], cause);
}

/// Into result `index` of a region op, and into the carry behind it.
static void reach_result(ir_flow *f, ir_op *op, int index, ir_op *cause)
{
    if (!op || index >= op->n_out)
        return;
    reach(f, &op->out[index], cause);
    if (op->kind == IR_FOR)
        reach(f, &op->reg[0].args[1 + index], cause);
}

static void follow(ir_flow *f, const ir_use *use, ir_op *cause)
{
    ir_op *op = use->user;
    if (op->kind == IR_YIELD) {
        reach_result(f, op->parent->owner, use->index, cause);
    } else if (op->kind == IR_FOR && use->index >= 3) {
        reach_result(f, op, use->index - 3, cause);
    } else {
        reach_results(f, op, cause);
        for (int i = 0; op->kind == IR_FOR && i < op->reg[0].n_args; i++)
            reach(f, &op->reg[0].args[i], cause);
    }
}

void ir_flow_from(ir_flow *f, ir_value *v, ir_op *cause)
{
    reach(f, v, cause);
    while (f->work.len) {
        ir_value *at = pkc_vec_pop(&f->work);
        for (const ir_use *u = at->uses; u; u = u->next)
            follow(f, u, ir_flow_cause(f, at));
    }
}

ir_op *ir_flow_control(const ir_flow *f, const ir_op *op)
{
    int n = op->kind == IR_FOR ? 3 : op->kind == IR_IF ? 1 : 0;
    for (int i = 0; i < n; i++)
        if (ir_flow_cause(f, ir_in(op, i)))
            return ir_flow_cause(f, ir_in(op, i));
    return NULL;
}
