// SPDX-License-Identifier: Apache-2.0
// Builtins: one function a row of sema/builtins.def.
#include <string.h>

#include "ir/lower_impl.h"
#include "sema/roles.h"

/// A call with its arguments as their letters in the table ask: see `argument` below.
typedef struct call {
    const pkc_expr *e;
    const pkc_exprs *args;
    const char *name;
    meaning arg[PKC_BUILTIN_MAX_ARGS];
    int n;
} call;

static meaning nothing(void)
{
    return (meaning){.kind = MEAN_NOTHING};
}

// ---- bulk copies ---------------------------------------------------------------------------------------

/// The view for a bulk copy of a tile: same shape, same element type. NULL after an error.
static ir_value *copy_view(lower *l, const meaning *view, const meaning *tile)
{
    const ir_type *t = tile->v->type;
    ir_value *v = lower_view(l, view, t->rows, t->cols);
    if (v && view->param->elem != t->elem) {
        pkc_diag_error(l->s, PKC_DIAG_COPY_TYPES, view->span, pkc_elem_name(t->elem),
                       pkc_elem_name(view->param->elem));
        return NULL;
    }
    if (v && v->def->attr.has_col_hi) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_COPY_ROW_END, view->span);
        pkc_diag_help(d, "load and store take such a view");
        return NULL;
    }
    if (v)
        lower_require_rows(l, view->param);
    return v;
}

static meaning lower_LOAD_ASYNC(lower *l, const call *c)
{
    meaning tile = c->arg[0], view = c->arg[1];
    if (lower_refuses_all(l, &view, c->name))
        return lower_poison();
    if (tile.pipe != l->putting) {
        pkc_diag_error(l->s, PKC_DIAG_FOREIGN_TILE, tile.span, c->name);
        return lower_poison();
    }
    ir_value *v = copy_view(l, &view, &tile);
    if (v)
        ir_build(&l->b, IR_COPY_IN, 0, 2, (ir_value *[]){tile.v, v}, 0, NULL, 0);
    return nothing();
}

/// What the bulk copy unit can do at the destination (PTX ISA, cp.reduce.async.bulk.tensor).
static bool can_reduce(ir_red red, pkc_elem e)
{
    bool whole = e == PKC_E_I32 || e == PKC_E_U32;
    bool half = e == PKC_E_BF16 || e == PKC_E_F16;
    return red == IR_RED_SET || whole || half || (red == IR_RED_ADD && e == PKC_E_F32);
}

static meaning copy_out(lower *l, const call *c, ir_red red)
{
    meaning view = c->arg[0], tile = c->arg[1];
    ir_value *v = copy_view(l, &view, &tile);
    if (v && !can_reduce(red, view.param->elem)) {
        pkc_diag_error(l->s, PKC_DIAG_COPY_REDUCE, view.span, c->name, pkc_elem_name(view.param->elem));
        return lower_poison();
    }
    if (v)
        ir_build(&l->b, IR_COPY_OUT, red, 2, (ir_value *[]){v, tile.v}, 0, NULL, 0);
    return nothing();
}

static meaning lower_STORE_ASYNC(lower *l, const call *c)
{
    return copy_out(l, c, IR_RED_SET);
}

static meaning lower_STORE_ADD_ASYNC(lower *l, const call *c)
{
    return copy_out(l, c, IR_RED_ADD);
}

static meaning lower_STORE_MIN_ASYNC(lower *l, const call *c)
{
    return copy_out(l, c, IR_RED_MIN);
}

static meaning lower_STORE_MAX_ASYNC(lower *l, const call *c)
{
    return copy_out(l, c, IR_RED_MAX);
}

// ---- register values and memory ------------------------------------------------------------------------

static meaning lower_LOAD(lower *l, const call *c)
{
    meaning m = c->arg[0];
    ir_value *from = m.kind == MEAN_TILE ? m.v : NULL;
    if (lower_refuses_all(l, &m, c->name))
        return lower_poison();
    if (!from)
        from = lower_view(l, &m, 0, 0);
    if (!from)
        return lower_poison();
    const ir_type *t = from->type;
    bool turned = t->kind == IR_T_TILE && t->transposed;
    const ir_type *type =
        ir_type_reg(l->k, t->elem, turned ? t->cols : t->rows, turned ? t->rows : t->cols, (ir_dist){0});
    return lower_value(&ir_build(&l->b, IR_LOAD, 0, 1, &from, 1, &type, 0)->out[0]);
}

/// A value for a destination: converted to its element type, repeated to its shape.
static ir_value *converted(lower *l, pkc_span span, meaning x, const ir_type *to)
{
    x = lower_adapt(l, span, x, to->elem);
    if (lower_is_poison(&x))
        return NULL;
    if (x.v->type->elem != to->elem)
        x.v = ir_build_cast(&l->b, x.v, to->elem);
    bool turned = to->kind == IR_T_TILE && to->transposed;
    return lower_to_reg(l, span, x, to->elem, turned ? to->cols : to->rows, turned ? to->rows : to->cols);
}

/// A view with sizes says how large its tile is; one without takes the size of the value: one element of a
/// scalar.
static ir_value *store_view(lower *l, const meaning *to, const ir_type *t)
{
    int64_t sizes[2] = {0};
    int n = 0;
    for (int i = 0; i < to->param->n_dims; i++)
        if (to->index[i].kind != PKC_INDEX_PLAIN && n++ < 2)
            sizes[n - 1] = to->index[i].size;
    bool repeats = n == 2 && (t->rows == 1 || t->rows == sizes[0]) && (t->cols == 1 || t->cols == sizes[1]);
    if (t->kind == IR_T_SCALAR && n == 0)
        return lower_view(l, to, 1, 1);
    bool reg = t->kind == IR_T_REG && !repeats;
    return lower_view(l, to, reg ? t->rows : 0, reg ? t->cols : 0);
}

static meaning lower_STORE(lower *l, const call *c)
{
    meaning to = c->arg[0], x = c->arg[1];
    if (lower_refuses_all(l, &to, c->name))
        return lower_poison();
    ir_value *dst = to.kind == MEAN_TILE ? to.v : store_view(l, &to, x.v->type);
    ir_value *v = dst ? converted(l, x.span, x, dst->type) : NULL;
    if (v)
        ir_build(&l->b, IR_STORE, 0, 2, (ir_value *[]){v, dst}, 0, NULL, 0);
    return nothing();
}

// ---- matrix products -----------------------------------------------------------------------------------

/// Which operand types a matrix unit takes and what it sums in (PTX ISA, wgmma.mma_async).
static bool product_types(pkc_elem a, pkc_elem b, pkc_elem acc)
{
    bool fp8 = (a == PKC_E_E4M3 || a == PKC_E_E5M2) && (b == PKC_E_E4M3 || b == PKC_E_E5M2);
    if (acc == PKC_E_I32)
        return a == PKC_E_I8 && b == PKC_E_I8;
    return acc == PKC_E_F32 && (fp8 || (a == b && (a == PKC_E_BF16 || a == PKC_E_F16)));
}

static void shape_of(const ir_type *t, int32_t *rows, int32_t *cols)
{
    *rows = t->transposed ? t->cols : t->rows;
    *cols = t->transposed ? t->rows : t->cols;
}

static bool check_product(lower *l, const call *c, const meaning *acc, const meaning *a, const meaning *b)
{
    const ir_type *t = acc->v->type;
    int32_t m, k, k2, n;
    shape_of(a->v->type, &m, &k);
    shape_of(b->v->type, &k2, &n);
    if (!product_types(a->v->type->elem, b->v->type->elem, t->elem)) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_MMA_TYPES, c->e->span, pkc_elem_name(a->v->type->elem),
                                     pkc_elem_name(b->v->type->elem), pkc_elem_name(t->elem));
        pkc_diag_help(d, "two bf16, two f16, or e4m3 and e5m2 in any order give f32; two i8 give i32");
        return false;
    }
    if (t->kind == IR_T_REG && t->rows == m && t->cols == n && k == k2)
        return true;
    const char *words[2];
    const int32_t shapes[2][2] = {{m, k}, {k2, n}};
    for (int i = 0; i < 2; i++)
        words[i] = pkc_arena_printf(&l->s->arena, "[%d, %d]", shapes[i][0], shapes[i][1]);
    pkc_diag *d =
        pkc_diag_error(l->s, PKC_DIAG_MMA_SHAPES, c->e->span, words[0], words[1], lower_describe(l, acc));
    if (m == t->rows && k == n && k2 == t->cols)
        pkc_diag_help(d, "the second operand fits transposed: b.T");
    return false;
}

/// fp8 operands lie K-major in shared memory: a of [M, K] and b.T of [N, K] (PTX ISA, wgmma: tnspA and tnspB
/// are for 16-bit types).
static bool check_major(lower *l, const meaning *a, const meaning *b)
{
    bool narrow = pkc_elem_bits(a->v->type->elem) == 8;
    const meaning *wrong = narrow && (a->kind != MEAN_TILE || a->v->type->transposed) ? a : NULL;
    if (narrow && b->kind == MEAN_TILE && !b->v->type->transposed)
        wrong = b;
    if (!wrong)
        return true;
    pkc_diag *d =
        pkc_diag_error(l->s, PKC_DIAG_WRONG_TYPE, wrong->span, "mma",
                       "8-bit operands in shared memory with K as their last axis", lower_describe(l, wrong));
    pkc_diag_help(d, wrong == b             ? "store B as [N, K] and write mma(acc, a, b.T)"
                     : a->kind == MEAN_TILE ? "store A as [M, K]"
                                            : "store the value into a shared tile first");
    return false;
}

static bool check_role(lower *l, const call *c)
{
    if (pkc_role_row_of((pkc_role_row_id)l->role->kind)->products)
        return true;
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_PRODUCT_NEEDS_WARPGROUPS, c->e->span, l->role->name);
    pkc_diag_help(d, "consumer(2) { .. } has two");
    return false;
}

static ir_value *product(lower *l, ir_value *acc, const meaning *a, const meaning *b)
{
    ir_value *in[3] = {acc, a->v, b->v};
    return &ir_build(&l->b, IR_MMA, 0, 3, in, 1, &acc->type, 0)->out[0];
}

/// A scale is a number, or one for each row of the first operand, or each column of the second.
static bool check_scale(lower *l, meaning *m, int32_t rows, int32_t cols)
{
    *m = lower_adapt(l, m->span, *m, PKC_E_F32);
    if (lower_is_poison(m))
        return false;
    const ir_type *t = m->v->type;
    bool fits =
        t->kind == IR_T_SCALAR || ((t->rows == rows || t->rows == 1) && (t->cols == cols || t->cols == 1));
    if (t->elem == PKC_E_F32 && fits)
        return true;
    const char *want = pkc_arena_printf(&l->s->arena, "a scale: f32 or f32[%d, %d]", rows, cols);
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, m->span, want, lower_describe(l, m));
    if (t->elem == PKC_E_F32 && t->rows == cols && t->cols == rows)
        pkc_diag_help(d, "%s", "it fits transposed: .T");
    return false;
}

/// acc += a * b * sa * sb. The unit sums unscaled, so the product of this call has an accumulator of its own.
static ir_value *scaled_product(lower *l, const call *c, const meaning *acc, const meaning *a,
                                const meaning *b)
{
    meaning sa = c->arg[3], sb = c->n > 4 ? c->arg[4] : lower_int(l, 1);
    const ir_type *t = acc->v->type;
    if (t->elem != PKC_E_F32) {
        pkc_diag_error(l->s, PKC_DIAG_WRONG_TYPE, acc->span, "mma with scales", "an f32 accumulator",
                       lower_describe(l, acc));
        return NULL;
    }
    if (!check_scale(l, &sa, t->rows, 1) || !check_scale(l, &sb, 1, t->cols))
        return NULL;
    meaning zero = lower_int(l, 0);
    ir_value *part = lower_to_reg(l, c->e->span, zero, PKC_E_F32, t->rows, t->cols);
    meaning scale = lower_arith(l, c->e->span, IR_BIN_MUL, sa, sb);
    meaning sum = lower_arith(l, c->e->span, IR_BIN_MUL, lower_value(product(l, part, a, b)), scale);
    return lower_arith(l, c->e->span, IR_BIN_ADD, *acc, sum).v;
}

static meaning lower_MMA(lower *l, const call *c)
{
    meaning acc = c->arg[0], a = c->arg[1], b = c->arg[2];
    if (b.kind != MEAN_TILE)
        return lower_wrong_kind(l, b.span, "a shared tile", &b);
    if (!check_role(l, c))
        return lower_poison();
    if (!check_product(l, c, &acc, &a, &b) || !check_major(l, &a, &b))
        return lower_poison();
    ir_value *sum = c->n > 3 ? scaled_product(l, c, &acc, &a, &b) : product(l, acc.v, &a, &b);
    if (sum)
        lower_assign(l, &c->args->data[0]->as.name.name, lower_value(sum));
    return nothing();
}

// ---- between ranks -------------------------------------------------------------------------------------

static bool want_all(lower *l, const call *c, const meaning *m)
{
    if (m->peer != IR_PEER_ALL)
        pkc_diag_help(pkc_diag_error(l->s, PKC_DIAG_ALL_NEEDED, m->span, c->name),
                      "name every rank's copy of a peer tensor: P@all[..]");
    return m->peer == IR_PEER_ALL;
}

/// The operation that the optional last argument names; + without one.
static ir_red reduction(const call *c, size_t at)
{
    if (c->args->len <= at)
        return IR_RED_ADD;
    return strcmp(c->args->data[at]->as.name.name.text, "min") == 0 ? IR_RED_MIN : IR_RED_MAX;
}

static meaning lower_REDUCE(lower *l, const call *c)
{
    meaning dst = c->arg[0], src = c->arg[1];
    if (!want_all(l, c, &src))
        return lower_poison();
    ir_value *from = lower_view(l, &src, 0, 0);
    ir_value *to = from ? lower_view(l, &dst, from->type->rows, from->type->cols) : NULL;
    if (to && dst.param->elem != src.param->elem) {
        pkc_diag_error(l->s, PKC_DIAG_COPY_TYPES, dst.span, pkc_elem_name(src.param->elem),
                       pkc_elem_name(dst.param->elem));
        return lower_poison();
    }
    if (to)
        ir_build(&l->b, IR_NET_REDUCE, reduction(c, 2), 2, (ir_value *[]){to, from}, 0, NULL, 0);
    return nothing();
}

static meaning lower_ALL_REDUCE(lower *l, const call *c)
{
    meaning m = c->arg[0];
    if (!want_all(l, c, &m))
        return lower_poison();
    ir_value *v = lower_view(l, &m, 0, 0);
    if (v)
        ir_build(&l->b, IR_NET_ALL, reduction(c, 1), 1, &v, 0, NULL, 0);
    return nothing();
}

static meaning signalling(lower *l, const call *c, ir_op_kind kind, ir_peer forced)
{
    meaning m = c->arg[0];
    ir_value *n = lower_as_index(l, c->arg[1].span, c->arg[1]);
    if (!n)
        return lower_poison();
    ir_value *sig = lower_signal(l, &m, forced);
    if (!sig)
        return lower_poison();
    if (forced == IR_PEER_ALL && m.peer != IR_PEER_OWN) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, m.span, "S[..] without @",
                                     "a signal of one rank or of all");
        pkc_diag_help(d, "signal_all adds to the counter of every rank; signal(S@r[..], n) adds to one");
        return lower_poison();
    }
    if (kind == IR_WAIT && m.peer != IR_PEER_OWN) {
        pkc_diag *d =
            pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, m.span, "a signal of this rank", "one of another rank");
        pkc_diag_help(d,
                      "a rank waits for its own counters; the other rank signals them: signal(S@r[..], n)");
        return lower_poison();
    }
    int64_t amount;
    if (kind == IR_SIGNAL && ir_const_int(n, &amount) && amount < 0) {
        pkc_diag_error(l->s, PKC_DIAG_SIGNAL_AMOUNT, c->arg[1].span, (long long)amount);
        return lower_poison();
    }
    ir_build(&l->b, kind, 0, 2, (ir_value *[]){sig, n}, 0, NULL, 0);
    return nothing();
}

static meaning lower_SIGNAL(lower *l, const call *c)
{
    return signalling(l, c, IR_SIGNAL, IR_PEER_OWN);
}

static meaning lower_SIGNAL_ALL(lower *l, const call *c)
{
    return signalling(l, c, IR_SIGNAL, IR_PEER_ALL);
}

static meaning lower_WAIT(lower *l, const call *c)
{
    return signalling(l, c, IR_WAIT, IR_PEER_OWN);
}

// ---- arithmetic ----------------------------------------------------------------------------------------

static meaning two(lower *l, const call *c, unsigned sub)
{
    return lower_arith(l, c->e->span, sub, c->arg[0], c->arg[1]);
}

static meaning lower_CDIV(lower *l, const call *c)
{
    return two(l, c, IR_BIN_CDIV);
}

static meaning lower_MIN(lower *l, const call *c)
{
    return two(l, c, IR_BIN_MIN);
}

static meaning lower_MAX(lower *l, const call *c)
{
    return two(l, c, IR_BIN_MAX);
}

static meaning lower_SELECT(lower *l, const call *c)
{
    return lower_select(l, c->e->span, c->arg[0], c->arg[1], c->arg[2]);
}

#define UNARY(id)                                                                                            \
    static meaning lower_##id(lower *l, const call *c)                                                       \
    {                                                                                                        \
        return lower_unary(l, c->e->span, IR_UN_##id, c->arg[0]);                                            \
    }
UNARY(ABS)
UNARY(EXP2)
UNARY(LOG2)
UNARY(SQRT)
UNARY(RSQRT)
#undef UNARY

/// Along rows ([R, 1]) or columns ([1, C]).
static meaning reduce_axis(lower *l, const call *c, ir_op_kind kind, ir_red red)
{
    meaning m = c->arg[0];
    const ir_type *t = m.v->type;
    if (t->kind != IR_T_REG)
        return lower_wrong_kind(l, m.span, "a register value", &m);
    if (t->elem == PKC_E_BOOL) {
        pkc_diag_error(l->s, PKC_DIAG_WRONG_TYPE, c->e->span, c->name, "numbers", lower_describe(l, &m));
        return lower_poison();
    }
    // Narrow elements are reduced as 32-bit ones: lanes exchange whole registers, and a sum is rounded once.
    pkc_elem elem = pkc_elem_bits(t->elem) == 32     ? t->elem
                    : pkc_elem_class(t->elem) == 'f' ? PKC_E_F32
                                                     : PKC_E_I32;
    ir_value *x = ir_build_cast(&l->b, m.v, elem);
    const ir_type *type = kind == IR_RRED ? ir_type_reg(l->k, elem, t->rows, 1, (ir_dist){0})
                                          : ir_type_reg(l->k, elem, 1, t->cols, (ir_dist){0});
    ir_value *r = &ir_build(&l->b, kind, red, 1, &x, 1, &type, 0)->out[0];
    return lower_value(ir_build_cast(&l->b, r, t->elem));
}

#define REDUCTION(id, kind, red)                                                                             \
    static meaning lower_##id(lower *l, const call *c)                                                       \
    {                                                                                                        \
        return reduce_axis(l, c, IR_##kind, IR_RED_##red);                                                   \
    }
REDUCTION(ROWMAX, RRED, MAX)
REDUCTION(ROWMIN, RRED, MIN)
REDUCTION(ROWSUM, RRED, ADD)
REDUCTION(COLMAX, CRED, MAX)
REDUCTION(COLMIN, CRED, MIN)
REDUCTION(COLSUM, CRED, ADD)
#undef REDUCTION

static meaning lower_IOTA(lower *l, const call *c)
{
    int64_t n;
    if (!lower_constant(l, c->args->data[0], "the length of iota", &n))
        return lower_poison();
    if (n < 1 || n > (1 << 18)) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, c->args->data[0]->span, "the length of iota", (long long)n,
                       "from 1 to 262144");
        return lower_poison();
    }
    const ir_type *type = ir_type_reg(l->k, PKC_E_I32, 1, (int32_t)n, (ir_dist){0});
    return lower_value(&ir_build(&l->b, IR_IOTA, 0, 0, NULL, 1, &type, 0)->out[0]);
}

// ---- dispatch ------------------------------------------------------------------------------------------

static meaning (*const lowerings[])(lower *, const call *) = {
#define PKC_BUILTIN(id, name, args, place, doc) lower_##id,
#include "sema/builtins.def"
#undef PKC_BUILTIN
};

static bool is_plain_tile(const meaning *m)
{
    return m->kind == MEAN_TILE && !m->v->type->transposed;
}

static bool is_tensor_view(const meaning *m)
{
    return m->kind == MEAN_VIEW && m->param->kind != IR_PARAM_SIGNAL;
}

static meaning need(lower *l, const call *c, const meaning *m, bool ok, const char *what)
{
    if (ok)
        return *m;
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, m->span, what, lower_describe(l, m));
    pkc_diag_help(d, "%s", c->e->as.call.builtin->doc);
    return lower_poison();
}

/// An array of no dimensions is one signal.
static meaning signal_argument(lower *l, const call *c, meaning m)
{
    if (m.kind == MEAN_TENSOR && m.param->kind == IR_PARAM_SIGNAL && m.param->n_dims == 0)
        m.kind = MEAN_VIEW;
    return need(l, c, &m, m.kind == MEAN_VIEW && !is_tensor_view(&m),
                "a signal: S[..] of a parameter S: signal[..]");
}

/// An argument as its letter in builtins.def says.
static meaning argument(lower *l, const call *c, char letter, const pkc_expr *e)
{
    meaning m;
    if (letter == 'c' || letter == 'w') // looked at by the builtin itself
        return (meaning){.kind = MEAN_NOTHING};
    if (letter == 'x')
        return lower_operand(l, e);
    m = lower_expr(l, e);
    if (lower_is_poison(&m))
        return m;
    bool reg = m.kind == MEAN_VALUE && m.v->type->kind == IR_T_REG;
    switch (letter) {
    case 't':
        return need(l, c, &m, is_plain_tile(&m), "a shared tile");
    case 'v':
        return need(l, c, &m, is_tensor_view(&m), "a view of a tensor");
    case 'd':
        return need(l, c, &m, is_tensor_view(&m) || m.kind == MEAN_TILE,
                    "a view of a tensor or a shared tile");
    case 's':
        return signal_argument(l, c, m);
    case 'A':
        return need(l, c, &m, reg && e->kind == PKC_EXPR_NAME,
                    "the name of a register value that holds the sum");
    case 'o':
        return need(l, c, &m, reg || m.kind == MEAN_TILE, "a shared tile or a register value");
    }
    pkc_diag_error(l->s, PKC_DIAG_INTERNAL, c->e->span, "a letter of builtins.def means nothing");
    return lower_poison();
}

static meaning call_builtin(lower *l, const pkc_expr *e)
{
    const pkc_builtin *b = e->as.call.builtin;
    call c = {.e = e, .args = &e->as.call.args, .name = b->name, .n = (int)e->as.call.args.len};
    bool ok = true;
    for (int i = 0; i < c.n; i++) {
        c.arg[i] = argument(l, &c, pkc_builtin_arg(b, i), c.args->data[i]);
        ok &= !lower_is_poison(&c.arg[i]);
    }
    return ok ? lowerings[b->id](l, &c) : lower_poison();
}

meaning lower_call(lower *l, const pkc_expr *e)
{
    pkc_elem elem;
    if (e->as.call.fn)
        return lower_call_fn(l, e);
    if (e->as.call.builtin)
        return call_builtin(l, e);
    if (!pkc_elem_find(e->as.call.callee->as.name.name.text, &elem))
        return lower_poison();
    return lower_cast(l, e->span, lower_operand(l, e->as.call.args.data[0]), elem);
}
