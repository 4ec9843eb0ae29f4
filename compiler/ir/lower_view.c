// SPDX-License-Identifier: Apache-2.0
// Views of tensors and signals, slices of register values.
#include "ir/lower_impl.h"

// ---- indices -------------------------------------------------------------------------------------------

/// A size in an index: a constant of at least 1.
static bool index_size(lower *l, const pkc_expr *e, int64_t *out)
{
    if (!lower_constant(l, e, "the size of a view", out))
        return false;
    if (*out < 1 || *out > (1 << 20)) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, e->span, "the size of a view", (long long)*out,
                       "from 1 to 1048576");
        return false;
    }
    return true;
}

/// `:` is a whole axis, whose size must be constant.
static bool whole_axis(lower *l, const ir_param *p, int axis, view_index *v)
{
    if (!ir_hx_is_const(p->dims[axis], &v->size)) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_NOT_CONSTANT, v->span, "an axis taken whole with ':'");
        pkc_diag_help(d, "give a size: i:128");
        return false;
    }
    v->at = ir_build_int(&l->b, PKC_E_I32, 0);
    return true;
}

static bool lower_one_index(lower *l, const ir_param *p, int axis, const pkc_index *x, view_index *v)
{
    v->kind = x->kind;
    v->span = x->span;
    if (x->kind == PKC_INDEX_ALL)
        return whole_axis(l, p, axis, v);
    int64_t at;
    v->at = lower_index(l, x->at);
    if (v->at && ir_const_int(v->at, &at) && at < 0) {
        pkc_diag_error(l->s, PKC_DIAG_NEGATIVE_INDEX, x->span, (long long)at);
        return false;
    }
    if (x->end)
        v->end = lower_index(l, x->end);
    bool sized = x->kind != PKC_INDEX_PLAIN;
    return v->at && (!x->end || v->end) && (!sized || index_size(l, x->size, &v->size));
}

static meaning view_of(lower *l, const pkc_expr *e, meaning base)
{
    const pkc_indices *indices = &e->as.index.indices;
    ir_param *p = base.param;
    if ((int)indices->len != p->n_dims) {
        pkc_diag *d =
            pkc_diag_error(l->s, PKC_DIAG_INDEX_COUNT, e->span, p->name, p->n_dims, (int)indices->len);
        pkc_diag_note(d, p->pos, "'%s' is declared here", p->name);
        return lower_poison();
    }
    base.kind = MEAN_VIEW;
    base.index = PKC_NEW_ARRAY(&l->s->arena, view_index, p->n_dims ? p->n_dims : 1);
    bool ok = true;
    for (int i = 0; i < p->n_dims; i++)
        ok &= lower_one_index(l, p, i, indices->data[i], &base.index[i]);
    return ok ? base : lower_poison();
}

/// acc[:, j:64]: columns j*64 .. of all rows.
static meaning slice_of(lower *l, const pkc_expr *e, meaning base)
{
    const pkc_indices *x = &e->as.index.indices;
    const ir_type *t = base.v->type;
    bool form = x->len == 2 && x->data[0]->kind == PKC_INDEX_ALL &&
                (x->data[1]->kind == PKC_INDEX_SIZED || x->data[1]->kind == PKC_INDEX_ALL);
    if (!form) {
        pkc_diag *d =
            pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, e->span, "a slice [:, j:size]", "other indices");
        pkc_diag_help(d, "a register value is sliced by columns: acc[:, j:64]");
        return lower_poison();
    }
    if (x->data[1]->kind == PKC_INDEX_ALL)
        return base;
    int64_t at, size;
    if (!lower_constant(l, x->data[1]->at, "the place of a slice", &at) ||
        !index_size(l, x->data[1]->size, &size))
        return lower_poison();
    if (at < 0 || at > t->cols || (at + 1) * size > t->cols) {
        pkc_diag_error(l->s, PKC_DIAG_SLICE_RANGE, x->data[1]->span, (long long)(at * size),
                       (long long)((at + 1) * size - 1), t->rows, t->cols);
        return lower_poison();
    }
    const ir_type *type = ir_type_reg(l->k, t->elem, t->rows, (int32_t)size, (ir_dist){0});
    ir_op *op = ir_build(&l->b, IR_SLICE, 0, 1, &base.v, 1, &type, 0);
    op->attr.i = at * size;
    return lower_value(&op->out[0]);
}

meaning lower_index_expr(lower *l, const pkc_expr *e)
{
    meaning base = lower_expr(l, e->as.index.base);
    if (base.kind == MEAN_TENSOR)
        return view_of(l, e, base);
    if (base.kind == MEAN_VALUE && base.v->type->kind == IR_T_REG)
        return slice_of(l, e, base);
    return lower_wrong_kind(l, e->as.index.base->span, "a tensor or a register value before '['", &base);
}

// ---- the view op ---------------------------------------------------------------------------------------

/// Which axes the tile lies along, and its shape as the indices give it (0: not given).
typedef struct footprint {
    int row_axis, col_axis;
    int64_t rows, cols;
    bool sized;
} footprint;

static bool sized_axes(lower *l, const meaning *m, footprint *f)
{
    int axes = 0;
    for (int i = 0; i < m->param->n_dims; i++) {
        if (m->index[i].kind == PKC_INDEX_PLAIN)
            continue;
        axes++;
        f->row_axis = f->col_axis;
        f->rows = f->cols;
        f->col_axis = i;
        f->cols = m->index[i].size;
    }
    f->sized = axes > 0;
    if (axes > 2) {
        pkc_diag_error(l->s, PKC_DIAG_TILE_AXES, m->span, axes);
        return false;
    }
    if (axes == 1 && f->col_axis != m->param->n_dims - 1) { // one axis that is not contiguous: a column
        f->row_axis = f->col_axis;
        f->rows = f->cols;
        f->col_axis = -1;
        f->cols = 1;
    } else if (axes == 1) {
        f->rows = 1;
    }
    return true;
}

/// Without sizes the tile's axes are the tensor's last ones.
static void last_axes(const meaning *m, int32_t rows, int32_t cols, footprint *f)
{
    int n = m->param->n_dims;
    f->col_axis = n - 1;
    f->row_axis = n > 1 ? n - 2 : -1;
    f->rows = n > 1 ? rows : 1;
    f->cols = cols;
}

static bool footprint_of(lower *l, const meaning *m, int32_t rows, int32_t cols, footprint *f)
{
    *f = (footprint){.row_axis = -1, .col_axis = -1};
    if (!sized_axes(l, m, f))
        return false;
    if (!f->sized && !rows) {
        pkc_diag_error(l->s, PKC_DIAG_VIEW_SIZE, m->span);
        return false;
    }
    if (!f->sized)
        last_axes(m, rows, cols, f);
    bool fits = !rows || (f->rows == rows && f->cols == cols);
    if (!fits)
        pkc_diag_error(l->s, PKC_DIAG_VIEW_SHAPE, m->span, (int)f->rows, (int)f->cols, rows, cols);
    return fits;
}

/// The element coordinate along an axis: tiles count in tiles, lo.. in elements.
static ir_value *coordinate(lower *l, const meaning *m, const footprint *f, int axis)
{
    const view_index *x = &m->index[axis];
    if (x->kind == PKC_INDEX_FROM || x->kind == PKC_INDEX_RANGE || x->kind == PKC_INDEX_ALL)
        return x->at;
    int64_t size = axis == f->row_axis ? f->rows : axis == f->col_axis ? f->cols : 1;
    if (size == 1)
        return x->at;
    return ir_build_bin(&l->b, IR_BIN_MUL, x->at, ir_build_int(&l->b, PKC_E_I32, size));
}

/// Whether an end is the tensor's own, which clips in any case.
static bool is_edge(const ir_value *end, const ir_hx *dim)
{
    int64_t a, b;
    if (ir_hx_is_const(dim, &a))
        return ir_const_int(end, &b) && a == b;
    return dim->op == IR_HX_DIM && end->def && end->def->kind == IR_DIM && end->def->attr.name == dim->name;
}

/// The end within the tensor along an axis, NULL where the view has none.
static ir_value *end_of(const meaning *m, int axis)
{
    ir_value *end = axis >= 0 ? m->index[axis].end : NULL;
    return end && !is_edge(end, m->param->dims[axis]) ? end : NULL;
}

/// An op whose operands are [peer rank] coordinates.. [ends..].
static ir_op *build_access(lower *l, ir_op_kind kind, const meaning *m, const footprint *f,
                           const ir_type *type)
{
    ir_value *in[IR_MAX_AXES + 3];
    int n = 0;
    if (m->peer == IR_PEER_RANK)
        in[n++] = m->peer_rank;
    for (int i = 0; i < m->param->n_dims; i++)
        in[n++] = coordinate(l, m, f, i);
    ir_value *row_hi = end_of(m, f->row_axis), *col_hi = end_of(m, f->col_axis);
    if (row_hi)
        in[n++] = row_hi;
    if (col_hi)
        in[n++] = col_hi;
    ir_op *op = ir_build(&l->b, kind, 0, n, in, 1, &type, 0);
    op->attr.param = m->param;
    op->attr.peer = m->peer;
    op->attr.row_axis = (int8_t)f->row_axis;
    op->attr.col_axis = (int8_t)f->col_axis;
    op->attr.has_row_hi = row_hi != NULL;
    op->attr.has_col_hi = col_hi != NULL;
    return op;
}

ir_value *lower_view(lower *l, const meaning *m, int32_t rows, int32_t cols)
{
    footprint f;
    if (m->param->kind == IR_PARAM_SIGNAL) {
        lower_wrong_kind(l, m->span, "a view of a tensor", m);
        return NULL;
    }
    if (!footprint_of(l, m, rows, cols, &f) || !lower_fits(l, m->span, f.rows, f.cols))
        return NULL;
    const ir_type *type = ir_type_view(l->k, m->param->elem, (int32_t)f.rows, (int32_t)f.cols, false);
    return &build_access(l, IR_VIEW, m, &f, type)->out[0];
}

bool lower_refuses_all(lower *l, const meaning *m, const char *what)
{
    if (m->kind != MEAN_VIEW || m->peer != IR_PEER_ALL)
        return false;
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_NOT_OF_ALL, m->span, what);
    pkc_diag_help(d, "name a rank: %s@r[..]; store_async writes a shared tile to @all, reduce sums over all",
                  m->param->name);
    return true;
}

meaning lower_element(lower *l, const meaning *m)
{
    footprint f = {.row_axis = -1, .col_axis = -1};
    if (m->param->kind == IR_PARAM_SIGNAL)
        return lower_wrong_kind(l, m->span, "a value", m);
    if (!sized_axes(l, m, &f))
        return lower_poison();
    if (f.sized) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, m->span, "a value", "a view of a tile");
        pkc_diag_help(d, "load(..) gives the register value of a view");
        return lower_poison();
    }
    if (lower_refuses_all(l, m, "an element"))
        return lower_poison();
    f.rows = f.cols = 1;
    const ir_type *type = ir_type_view(l->k, m->param->elem, 1, 1, true);
    ir_value *view = &build_access(l, IR_VIEW, m, &f, type)->out[0];
    const ir_type *scalar = ir_type_scalar(l->k, ir_elem_scalar(m->param->elem));
    return lower_value(&ir_build(&l->b, IR_ELEM, 0, 1, &view, 1, &scalar, 0)->out[0]);
}

ir_value *lower_signal(lower *l, const meaning *m, ir_peer forced)
{
    if (m->kind != MEAN_VIEW || m->param->kind != IR_PARAM_SIGNAL) {
        lower_wrong_kind(l, m->span, "a signal: S[..] of a parameter S: signal[..]", m);
        return NULL;
    }
    meaning x = *m;
    if (forced == IR_PEER_ALL)
        x.peer = IR_PEER_ALL;
    footprint f = {.row_axis = -1, .col_axis = -1};
    for (int i = 0; i < m->param->n_dims; i++)
        if (m->index[i].kind != PKC_INDEX_PLAIN) {
            pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, m->index[i].span, "one index of a signal", "a range");
            return NULL;
        }
    return &build_access(l, IR_SIG, &x, &f, ir_type_sig(l->k))->out[0];
}

void lower_require_rows(lower *l, const ir_param *p)
{
    enum { COPY_ALIGN = 16 }; // PTX ISA, tensor maps: strides are multiples of 16 bytes
    int64_t size = pkc_elem_bits(p->elem) / 8, cols;
    if (p->n_dims < 2)
        return;
    const ir_hx *last = p->dims[p->n_dims - 1];
    if (ir_hx_is_const(last, &cols) && cols * size % COPY_ALIGN == 0)
        return;
    pkc_arena *a = l->k->arena;
    const ir_hx *bytes = ir_hx_bin(a, IR_HX_MUL, last, ir_hx_const(a, size));
    const ir_hx *even =
        ir_hx_bin(a, IR_HX_EQ, ir_hx_bin(a, IR_HX_MOD, bytes, ir_hx_const(a, COPY_ALIGN)), ir_hx_const(a, 0));
    for (const ir_require *r = l->k->requires; r; r = r->next)
        if (r->pos.begin == p->pos.begin && ir_hx_equal(r->expr, even))
            return;
    const char *why =
        pkc_arena_printf(a, "rows of %s must be a multiple of %d bytes for bulk copies", p->name, COPY_ALIGN);
    lower_add_require(l, even, why, p->pos, false);
}
