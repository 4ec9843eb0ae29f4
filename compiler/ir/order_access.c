// SPDX-License-Identifier: Apache-2.0
// Loads and stores of one role that may meet in memory. Two accesses of the same shape, distribution and
// axes, at coordinates that are multiples of the shape, touch an element from the same thread, and need no
// synchronisation.
#include "ir/order.h"

#include "ir/dist.h"
#include "ir/slay.h"
#include "ir/slots.h"

static bool is_multiple(const ir_value *v, int32_t of)
{
    int64_t c;
    if (of == 1)
        return true;
    if (ir_const_int(v, &c))
        return c % of == 0;
    if (v->def == NULL || v->def->kind != IR_BIN)
        return false;
    const ir_value *a = ir_in(v->def, 0), *b = ir_in(v->def, 1);
    if (v->def->sub == IR_BIN_MUL)
        return (ir_const_int(a, &c) && c % of == 0) || (ir_const_int(b, &c) && c % of == 0);
    if (v->def->sub == IR_BIN_ADD || v->def->sub == IR_BIN_SUB)
        return is_multiple(a, of) && is_multiple(b, of);
    return false;
}

static bool axis_aligned(const ir_op *view, int axis, int32_t extent)
{
    int first = view->attr.peer == IR_PEER_RANK ? 1 : 0;
    return axis < 0 || is_multiple(ir_in(view, first + axis), extent);
}

static const ir_op *view_of(const ir_value *v)
{
    return v->type->kind == IR_T_VIEW ? v->def : NULL;
}

static const void *memory_of(const ir_value *v)
{
    if (v->type->kind == IR_T_VIEW)
        return v->def->attr.param;
    const ir_value *slot = ir_tile_slot(v);
    if (slot != NULL)
        return slot->type->pipe;
    while (v->def->kind == IR_TRANS)
        v = ir_in(v->def, 0);
    return v->def->attr.shared;
}

static ir_access whole(const ir_value *v, bool write)
{
    return (ir_access){.what = memory_of(v), .view = view_of(v), .write = write, .mixed = true};
}

static ir_access by_threads(const ir_value *v, const ir_type *reg, bool write)
{
    ir_access a = {.what = memory_of(v),
                   .view = view_of(v),
                   .write = write,
                   .rows = reg->rows,
                   .cols = reg->cols,
                   .dist = reg->dist};
    a.row_axis = v->type->transposed ? -2 : -1; // the same thread has other elements there
    a.col_axis = -1;
    if (v->type->kind != IR_T_VIEW)
        return a;
    const ir_op *view = v->def;
    a.row_axis = view->attr.row_axis;
    a.col_axis = view->attr.col_axis;
    a.mixed = !axis_aligned(view, a.row_axis, reg->rows) || !axis_aligned(view, a.col_axis, reg->cols);
    return a;
}

/// A tile of a sum over ranks: dealt to the threads by its shape, and by whether the memory comes in vectors.
static ir_access summed(const ir_value *v, const ir_value *source, bool write)
{
    const ir_type tile = {.rows = v->type->rows, .cols = v->type->cols};
    ir_access a = by_threads(v, &tile, write);
    a.with = source->def->attr.param;
    return a;
}

bool ir_access_of(const ir_op *op, int index, ir_access *out)
{
    bool sum = op->kind == IR_NET_REDUCE || op->kind == IR_NET_ALL;
    if (sum && index < op->n_in) {
        *out = summed(ir_in(op, index), ir_in(op, op->n_in - 1), index == 0);
        return true;
    }
    bool copy = op->kind == IR_COPY_IN || op->kind == IR_COPY_OUT;
    if (copy && index < 2) {
        *out =
            whole(index == 0 ? ir_copy_tile(op) : ir_copy_view(op), (op->kind == IR_COPY_IN) == (index == 0));
        return true;
    }
    if (index > 0)
        return false;
    if (op->kind == IR_LOAD)
        *out = by_threads(ir_in(op, 0), op->out[0].type, false);
    else if (op->kind == IR_STORE)
        *out = by_threads(ir_in(op, 1), ir_in(op, 0)->type, true);
    else if (op->kind == IR_ELEM)
        *out = whole(ir_in(op, 0), false);
    else
        return false;
    return true;
}

/// A row, a column or a single element is held by many threads and written by one of them.
static bool each_its_own(const ir_access *a)
{
    if (a->with != NULL)
        return true;
    return a->dist.base == IR_DIST_FLAT ? a->rows > 1 || a->cols > 1 : a->rows > 1 && a->cols > 1;
}

static bool same_way(const ir_access *a, const ir_access *b)
{
    return !a->mixed && !b->mixed && a->rows == b->rows && a->cols == b->cols && each_its_own(a) &&
           ir_dist_equal(a->dist, b->dist) && a->with == b->with && a->row_axis == b->row_axis &&
           a->col_axis == b->col_axis;
}

bool ir_access_conflicts(const ir_accesses *before, const ir_access *now)
{
    for (size_t i = 0; i < before->len; i++) {
        const ir_access *old = &before->data[i];
        if (old->what == now->what && (old->write || now->write) && !same_way(old, now))
            return true;
    }
    return false;
}

void ir_access_add(pkc_arena *arena, ir_accesses *list, const ir_access *now)
{
    for (size_t i = 0; i < list->len; i++) {
        ir_access *old = &list->data[i];
        if (old->what != now->what)
            continue;
        old->mixed = !same_way(old, now);
        old->write = old->write || now->write;
        return;
    }
    pkc_vec_push(arena, list, *now);
}
