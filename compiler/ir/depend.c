// SPDX-License-Identifier: Apache-2.0
// Which values differ from worker to worker: `worker` and what is made of it. Fixed point over the region
// tree.
#include "ir/agree.h"

bool ir_depends_on_worker(const ir_dependence *d, const ir_value *v)
{
    return ir_ptrmap_get(&d->values, v) != NULL;
}

static void spread(ir_dependence *d, ir_value *v, bool depends)
{
    if (!depends || ir_depends_on_worker(d, v))
        return;
    ir_ptrmap_set(&d->values, v, v);
    d->changed = true;
}

static bool operand_depends(const ir_dependence *d, const ir_op *op, int n)
{
    for (int i = 0; i < n; i++)
        if (ir_depends_on_worker(d, ir_in(op, i)))
            return true;
    return false;
}

static void spread_region(ir_dependence *d, ir_op *op)
{
    bool loop = op->kind == IR_FOR;
    bool control = operand_depends(d, op, loop ? 3 : op->n_in);
    if (loop)
        spread(d, &op->reg[0].args[0], control);
    for (int i = 0; i < op->n_out; i++) {
        bool depends = control || (loop && ir_depends_on_worker(d, ir_in(op, 3 + i)));
        for (int r = 0; r < op->n_reg; r++)
            depends |= ir_yielded(&op->reg[r], i) && ir_depends_on_worker(d, ir_yielded(&op->reg[r], i));
        spread(d, &op->out[i], depends);
        if (loop)
            spread(d, &op->reg[0].args[1 + i], depends);
    }
}

static bool spread_op(ir_op *op, void *user)
{
    ir_dependence *d = user;
    if (op->n_reg) {
        spread_region(d, op);
        return true;
    }
    bool depends = operand_depends(d, op, op->n_in) || (op->kind == IR_READ && op->sub == IR_READ_WORKER);
    for (int i = 0; i < op->n_out; i++)
        spread(d, &op->out[i], depends);
    return true;
}

void ir_dependence_init(ir_dependence *d, ir_region *body)
{
    ir_ptrmap_init(&d->values, d->k->arena);
    do {
        d->changed = false;
        ir_walk(body, spread_op, NULL, d);
    } while (d->changed);
}
