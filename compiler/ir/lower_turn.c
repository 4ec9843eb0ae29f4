// SPDX-License-Identifier: Apache-2.0
// x.T. A shared tile is the same bytes read the other way round. A register value made of loads, iota and
// equal values is made anew, the other way round, so that nothing travels between threads; any other goes
// through shared memory (pass `layout`).
#include "ir/lower_impl.h"

typedef struct turn {
    lower *l;
    int work; // ops looked at: an expression whose parts meet again and again is not taken apart without end
} turn;

enum { TURN_LIMIT = 64 };

static const ir_type *turned_type(const turn *t, const ir_type *reg)
{
    return ir_type_reg(t->l->k, reg->elem, reg->cols, reg->rows, (ir_dist){0});
}

static ir_value *turned_tile(ir_builder *b, ir_value *tile)
{
    const ir_type *t = tile->type;
    const ir_type *type = ir_type_tile(b->kernel, t->elem, t->rows, t->cols, t->layout, !t->transposed);
    return &ir_build(b, IR_TRANS, 0, 1, &tile, 1, &type, 0)->out[0];
}

static ir_value *turned_view(ir_builder *b, const ir_op *view)
{
    const ir_type *t = view->out[0].type;
    const ir_type *type = ir_type_view(b->kernel, t->elem, t->cols, t->rows, t->element);
    ir_value *in[IR_MAX_AXES + 3];
    int n = view->n_in;
    for (int i = 0; i < n; i++)
        in[i] = ir_in(view, i);
    if (view->attr.has_row_hi && view->attr.has_col_hi) { // the end of the rows comes first
        in[n - 2] = ir_in(view, n - 1);
        in[n - 1] = ir_in(view, n - 2);
    }
    ir_op *op = ir_build(b, IR_VIEW, 0, n, in, 1, &type, 0);
    op->attr = view->attr;
    op->attr.row_axis = view->attr.col_axis;
    op->attr.col_axis = view->attr.row_axis;
    op->attr.has_row_hi = view->attr.has_col_hi;
    op->attr.has_col_hi = view->attr.has_row_hi;
    return &op->out[0];
}

/// Stands where the load stands: memory may have changed since.
static ir_value *turned_load(turn *t, const ir_op *load)
{
    ir_builder b = {.kernel = t->l->k, .region = load->parent, .before = load->next, .pos = load->pos};
    ir_value *from = ir_in(load, 0);
    from = from->type->kind == IR_T_VIEW ? turned_view(&b, from->def) : turned_tile(&b, from);
    const ir_type *type = turned_type(t, load->out[0].type);
    return &ir_build(&b, IR_LOAD, 0, 1, &from, 1, &type, 0)->out[0];
}

static ir_value *turned(turn *t, ir_value *v);

static ir_value *turned_elementwise(turn *t, const ir_op *op)
{
    ir_value *in[3];
    for (int i = 0; i < op->n_in; i++) {
        in[i] = turned(t, ir_in(op, i));
        if (!in[i])
            return NULL;
    }
    const ir_type *type = turned_type(t, op->out[0].type);
    return &ir_build(&t->l->b, op->kind, op->sub, op->n_in, in, 1, &type, 0)->out[0];
}

static ir_value *turned_generator(turn *t, ir_value *v)
{
    const ir_type *type = turned_type(t, v->type);
    return &ir_build(&t->l->b, IR_TRANS, 0, 1, &v, 1, &type, 0)->out[0];
}

/// NULL: the value would have to travel.
static ir_value *turned(turn *t, ir_value *v)
{
    const ir_op *op = v->def;
    if (v->type->kind == IR_T_SCALAR || (v->type->rows == 1 && v->type->cols == 1))
        return v;
    if (!op || ++t->work > TURN_LIMIT)
        return NULL;
    switch ((int)op->kind) { // all others are computed between threads, or carried
    case IR_SPLAT:
    case IR_IOTA:
        return turned_generator(t, v);
    case IR_TRANS:
        return ir_in(op, 0);
    case IR_LOAD:
        return turned_load(t, op);
    case IR_BIN:
    case IR_UN:
    case IR_CMP:
    case IR_SELECT:
    case IR_CAST:
        return turned_elementwise(t, op);
    }
    return NULL;
}

meaning lower_transpose(lower *l, const pkc_expr *e)
{
    meaning m = lower_expr(l, e->as.member.base);
    if (m.kind == MEAN_VIEW)
        m = lower_element(l, &m);
    if (lower_is_poison(&m))
        return m;
    if (m.kind == MEAN_TILE) {
        m.v = turned_tile(&l->b, m.v);
        return m;
    }
    if (m.kind != MEAN_VALUE || m.v->type->kind != IR_T_REG)
        return lower_wrong_kind(l, e->span, "a shared tile or a register value before '.T'", &m);
    turn t = {.l = l};
    ir_value *v = turned(&t, m.v);
    return lower_value(v ? v : turned_generator(&t, m.v));
}
