// SPDX-License-Identifier: Apache-2.0
#include "ir/vars.h"

static bool region_sets(const ir_vars *v, const ir_region *region, int var)
{
    for (const ir_op *op = region->first; op != NULL; op = op->next) {
        if (v->sets(op, var, v->user))
            return true;
        for (int r = 0; r < op->n_reg; r++)
            if (region_sets(v, &op->reg[r], var))
                return true;
    }
    return false;
}

static bool op_changes(const ir_vars *v, const ir_op *op, int var)
{
    for (int r = 0; r < op->n_reg; r++)
        if (region_sets(v, &op->reg[r], var))
            return true;
    return false;
}

static ir_value **copy_values(ir_vars *v)
{
    ir_value **copy = PKC_NEW_ARRAY(v->k->arena, ir_value *, v->n > 0 ? v->n : 1);
    for (int i = 0; i < v->n; i++)
        copy[i] = v->cur[i];
    return copy;
}

/// Adds a result for each variable that changes in the op; `index` gets the result numbers, -1 for the
/// others. Adding one moves the op's results, so values are looked up by number afterwards.
static int *add_results(ir_vars *v, ir_op *op)
{
    int *index = PKC_NEW_ARRAY(v->k->arena, int, v->n > 0 ? v->n : 1);
    for (int i = 0; i < v->n; i++) {
        index[i] = -1;
        if (!op_changes(v, op, i))
            continue;
        ir_add_carry(v->k, op, v->cur[i], v->types[i]);
        index[i] = op->n_out - 1;
    }
    return index;
}

static void walk_region(ir_vars *v, ir_op *op, int r, const int *index, ir_value *const *before)
{
    for (int i = 0; i < v->n; i++) {
        v->cur[i] = before[i];
        if (index[i] >= 0 && op->kind == IR_FOR)
            v->cur[i] = &op->reg[r].args[1 + index[i]];
    }
    ir_vars_walk(v, &op->reg[r]);
    for (int i = 0; i < v->n; i++)
        if (index[i] >= 0)
            ir_set_yield(v->k, op, r, index[i], v->cur[i]);
}

static void walk_op(ir_vars *v, ir_op *op)
{
    int *index = add_results(v, op);
    ir_value **before = copy_values(v);
    for (int r = 0; r < op->n_reg; r++)
        walk_region(v, op, r, index, before);
    for (int i = 0; i < v->n; i++)
        v->cur[i] = index[i] >= 0 ? &op->out[index[i]] : before[i];
}

void ir_vars_walk(ir_vars *vars, ir_region *body)
{
    for (ir_op *op = body->first, *next; op != NULL; op = next) {
        next = op->next;
        if (op->n_reg > 0)
            walk_op(vars, op);
        else
            vars->visit(vars, op);
    }
}
