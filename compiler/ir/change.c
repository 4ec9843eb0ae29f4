// SPDX-License-Identifier: Apache-2.0
// Uses, operands, carries: the few edits that passes make, all keeping the use lists right.
#include <string.h>

#include "ir/ir.h"

static void link_use(ir_use *u, ir_value *v)
{
    u->value = v;
    u->next = v->uses;
    u->prev = &v->uses;
    if (v->uses)
        v->uses->prev = &u->next;
    v->uses = u;
}

static void unlink_use(ir_use *u)
{
    if (!u->value)
        return;
    *u->prev = u->next;
    if (u->next)
        u->next->prev = u->prev;
    u->value = NULL;
}

void ir_set_in(ir_op *op, int i, ir_value *v)
{
    ir_use *u = &op->in[i];
    unlink_use(u);
    u->user = op;
    u->index = (uint16_t)i;
    link_use(u, v);
}

/// Gives an op a fresh operand array of n; the first min(n, n_in) operands but `skip` (-1: none) are kept.
static void resize_in(ir_kernel *k, ir_op *op, int n, int skip)
{
    ir_use *old = op->in;
    int n_old = op->n_in;
    op->in = PKC_NEW_ARRAY(k->arena, ir_use, n);
    op->n_in = (uint16_t)n;
    for (int i = 0, to = 0; i < n_old; i++) {
        ir_value *v = old[i].value;
        unlink_use(&old[i]);
        if (i != skip && to < n)
            ir_set_in(op, to++, v);
    }
}

void ir_append_in(ir_kernel *k, ir_op *op, ir_value *v)
{
    resize_in(k, op, op->n_in + 1, -1);
    ir_set_in(op, op->n_in - 1, v);
}

void ir_replace(ir_value *old, ir_value *v)
{
    while (old->uses && old != v)
        ir_set_in(old->uses->user, old->uses->index, v);
}

static void drop_operands(ir_op *op)
{
    for (int i = 0; i < op->n_in; i++)
        unlink_use(&op->in[i]);
    for (int r = 0; r < op->n_reg; r++)
        for (ir_op *o = op->reg[r].first; o; o = o->next)
            drop_operands(o);
}

static void unlink_op(ir_op *op)
{
    ir_region *r = op->parent;
    *(op->prev ? &op->prev->next : &r->first) = op->next;
    *(op->next ? &op->next->prev : &r->last) = op->prev;
    op->prev = op->next = NULL;
}

static void link_op(ir_op *op, ir_region *region, ir_op *before)
{
    op->parent = region;
    op->next = before;
    op->prev = before ? before->prev : region->last;
    *(op->prev ? &op->prev->next : &region->first) = op;
    *(before ? &before->prev : &region->last) = op;
}

void ir_insert(ir_op *op, ir_region *region, ir_op *before)
{
    link_op(op, region, before);
}

void ir_erase(ir_op *op)
{
    drop_operands(op);
    unlink_op(op);
}

void ir_move_before(ir_op *op, ir_op *where)
{
    unlink_op(op);
    link_op(op, where->parent, where);
}

/// Copies an array of values to a larger or smaller one and repoints their uses. `skip` is left out.
static ir_value *resize_values(ir_kernel *k, ir_value *old, int n_old, int n, int skip)
{
    ir_value *fresh = PKC_NEW_ARRAY(k->arena, ir_value, n ? n : 1);
    for (int i = 0, to = 0; i < n_old; i++) {
        if (i == skip)
            continue;
        fresh[to] = old[i];
        fresh[to].uses = NULL;
        fresh[to].index = (uint16_t)to;
        ir_replace(&old[i], &fresh[to]);
        to++;
    }
    return fresh;
}

static ir_value *add_result(ir_kernel *k, ir_op *op, const ir_type *type)
{
    op->out = resize_values(k, op->out, op->n_out, op->n_out + 1, -1);
    ir_value *v = &op->out[op->n_out];
    *v = (ir_value){.type = type, .def = op, .index = op->n_out};
    op->n_out++;
    return v;
}

static ir_value *add_arg(ir_kernel *k, ir_region *region, const ir_type *type)
{
    region->args = resize_values(k, region->args, region->n_args, region->n_args + 1, -1);
    ir_value *v = &region->args[region->n_args];
    *v = (ir_value){.type = type, .owner = region, .index = region->n_args};
    region->n_args++;
    return v;
}

ir_value *ir_add_carry(ir_kernel *k, ir_op *op, ir_value *init, const ir_type *type)
{
    add_result(k, op, type);
    if (op->kind != IR_FOR)
        return NULL;
    ir_append_in(k, op, init);
    return add_arg(k, &op->reg[0], type);
}

static ir_op *yield_of(ir_kernel *k, ir_region *region)
{
    if (region->last && region->last->kind == IR_YIELD)
        return region->last;
    ir_builder b = {.kernel = k, .region = region, .pos = region->owner ? region->owner->pos : k->pos};
    return ir_build(&b, IR_YIELD, 0, 0, NULL, 0, NULL, 0);
}

void ir_set_yield(ir_kernel *k, ir_op *op, int r, int index, ir_value *v)
{
    ir_op *y = yield_of(k, &op->reg[r]);
    if (index == y->n_in)
        ir_append_in(k, y, v);
    else
        ir_set_in(y, index, v);
}

ir_value *ir_yielded(const ir_region *region, int index)
{
    const ir_op *y = region->last;
    return y && y->kind == IR_YIELD && index < y->n_in ? y->in[index].value : NULL;
}

/// Removes element `index` of an op's operands, in place.
static void remove_in(ir_op *op, int index)
{
    for (int i = index; i + 1 < op->n_in; i++)
        ir_set_in(op, i, op->in[i + 1].value);
    unlink_use(&op->in[op->n_in - 1]);
    op->n_in--;
}

static void remove_value(ir_value *values, uint16_t *n, int index)
{
    for (int i = index; i + 1 < *n; i++) {
        ir_value *from = &values[i + 1], *to = &values[i];
        ir_use *uses = from->uses;
        *to = *from;
        to->index = (uint16_t)i;
        to->uses = uses;
        if (uses)
            uses->prev = &to->uses;
        for (ir_use *u = uses; u; u = u->next)
            u->value = to;
        from->uses = NULL;
    }
    --*n;
}

void ir_remove_carry(ir_op *op, int index)
{
    for (int r = 0; r < op->n_reg; r++)
        if (op->reg[r].last && op->reg[r].last->kind == IR_YIELD && index < op->reg[r].last->n_in)
            remove_in(op->reg[r].last, index);
    if (op->kind == IR_FOR) {
        remove_value(op->reg[0].args, &op->reg[0].n_args, index + 1);
        remove_in(op, index + 3);
    }
    remove_value(op->out, &op->n_out, index);
}
