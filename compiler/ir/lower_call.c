// SPDX-License-Identifier: Apache-2.0
// Builtins: one function a row of sema/builtins.def.
#include <string.h>

#include "ir/lower_impl.h"

typedef struct call {
    const pkc_expr *e;
    const pkc_exprs *args;
    const char *name;
} call;

static meaning nothing(void)
{
    return (meaning){.kind = MEAN_NOTHING};
}

static meaning operand(lower *l, const call *c, size_t i)
{
    return lower_operand(l, c->args->data[i]);
}

// ---- bulk copies ---------------------------------------------------------------------------------------

static bool want_tile(lower *l, const meaning *m)
{
    bool ok = m->kind == MEAN_TILE && !m->v->type->transposed;
    if (!ok)
        lower_wrong_kind(l, m->span, "a shared tile", m);
    return ok;
}

static bool want_view(lower *l, const meaning *m)
{
    if (m->kind != MEAN_VIEW)
        lower_wrong_kind(l, m->span, "a view of a tensor", m);
    return m->kind == MEAN_VIEW;
}

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
    if (v)
        lower_require_rows(l, view->param);
    return v;
}

static meaning lower_LOAD_ASYNC(lower *l, const call *c)
{
    meaning tile = lower_expr(l, c->args->data[0]), view = lower_expr(l, c->args->data[1]);
    if (!want_tile(l, &tile) || !want_view(l, &view))
        return lower_poison();
    if (view.peer == IR_PEER_ALL) {
        pkc_diag_error(l->s, PKC_DIAG_STORE_TO_ALL, view.span, c->name);
        return lower_poison();
    }
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
    meaning view = lower_expr(l, c->args->data[0]), tile = lower_expr(l, c->args->data[1]);
    if (!want_view(l, &view) || !want_tile(l, &tile))
        return lower_poison();
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
    meaning m = lower_expr(l, c->args->data[0]);
    ir_value *from = m.kind == MEAN_TILE ? m.v : NULL;
    if (m.kind == MEAN_VIEW && m.peer == IR_PEER_ALL) {
        pkc_diag_error(l->s, PKC_DIAG_STORE_TO_ALL, m.span, "a plain load");
        return lower_poison();
    }
    if (m.kind == MEAN_VIEW)
        from = lower_view(l, &m, 0, 0);
    else if (!from)
        return lower_wrong_kind(l, m.span, "a view or a shared tile", &m);
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
    x = lower_adapt(l, x, to->elem);
    if (lower_is_poison(&x))
        return NULL;
    if (x.v->type->elem != to->elem)
        x.v = ir_build_cast(&l->b, x.v, to->elem);
    return lower_to_reg(l, span, x, to->elem, to->rows, to->cols);
}

static meaning lower_STORE(lower *l, const call *c)
{
    meaning to = lower_expr(l, c->args->data[0]), x = operand(l, c, 1);
    if (lower_is_poison(&to) || lower_is_poison(&x))
        return lower_poison();
    if (to.kind == MEAN_VIEW && to.peer == IR_PEER_ALL) {
        pkc_diag_error(l->s, PKC_DIAG_STORE_TO_ALL, to.span, c->name);
        return lower_poison();
    }
    bool reg = x.v->type->kind == IR_T_REG;
    ir_value *dst = to.kind == MEAN_TILE ? to.v : NULL;
    if (to.kind == MEAN_VIEW)
        dst = lower_view(l, &to, reg ? x.v->type->rows : 0, reg ? x.v->type->cols : 0);
    else if (!dst)
        return lower_wrong_kind(l, to.span, "a view or a shared tile", &to);
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
        pkc_diag_error(l->s, PKC_DIAG_MMA_TYPES, c->e->span, pkc_elem_name(a->v->type->elem),
                       pkc_elem_name(b->v->type->elem), pkc_elem_name(t->elem));
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
    const meaning *wrong = narrow && a->kind == MEAN_TILE && a->v->type->transposed ? a : NULL;
    if (narrow && b->kind == MEAN_TILE && !b->v->type->transposed)
        wrong = b;
    if (!wrong)
        return true;
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_WRONG_TYPE, wrong->span, "mma",
                                 "8-bit operands with K as their last axis", lower_describe(l, wrong));
    pkc_diag_help(d, wrong == b ? "store B as [N, K] and write mma(acc, a, b.T)" : "store A as [M, K]");
    return false;
}

static meaning lower_MMA(lower *l, const call *c)
{
    const pkc_expr *target = c->args->data[0];
    meaning acc = lower_expr(l, target), a = lower_expr(l, c->args->data[1]),
            b = lower_expr(l, c->args->data[2]);
    if (lower_is_poison(&acc) || lower_is_poison(&a) || lower_is_poison(&b))
        return lower_poison();
    if (target->kind != PKC_EXPR_NAME || acc.kind != MEAN_VALUE)
        return lower_wrong_kind(l, target->span, "the name of a var that holds the sum", &acc);
    bool reg_a = a.kind == MEAN_VALUE && a.v->type->kind == IR_T_REG;
    if (a.kind != MEAN_TILE && !reg_a)
        return lower_wrong_kind(l, a.span, "a shared tile or a register value", &a);
    if (b.kind != MEAN_TILE)
        return lower_wrong_kind(l, b.span, "a shared tile", &b);
    if (!check_product(l, c, &acc, &a, &b) || !check_major(l, &a, &b))
        return lower_poison();
    ir_value *in[5] = {acc.v, a.v, b.v};
    int n = 3;
    for (size_t i = 3; i < c->args->len; i++) {
        meaning s = operand(l, c, i);
        if (lower_is_poison(&s))
            return s;
        in[n++] = s.v;
    }
    lower_assign(l, &target->as.name.name,
                 lower_value(&ir_build(&l->b, IR_MMA, 0, n, in, 1, &acc.v->type, 0)->out[0]));
    return nothing();
}

// ---- between ranks -------------------------------------------------------------------------------------

static bool want_all(lower *l, const call *c, const meaning *m)
{
    if (!want_view(l, m))
        return false;
    if (m->peer != IR_PEER_ALL)
        pkc_diag_error(l->s, PKC_DIAG_ALL_NEEDED, m->span, c->name);
    return m->peer == IR_PEER_ALL;
}

/// The operation named by the optional last argument: min or max; + without one.
static bool reduction(lower *l, const call *c, size_t at, ir_red *out)
{
    *out = IR_RED_ADD;
    if (c->args->len <= at)
        return true;
    const pkc_expr *e = c->args->data[at];
    const char *word = e->kind == PKC_EXPR_NAME ? e->as.name.name.text : "";
    *out = strcmp(word, "min") == 0 ? IR_RED_MIN : IR_RED_MAX;
    if (strcmp(word, "min") == 0 || strcmp(word, "max") == 0)
        return true;
    pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, e->span, "min or max", "something else");
    return false;
}

static meaning lower_REDUCE(lower *l, const call *c)
{
    ir_red red;
    meaning dst = lower_expr(l, c->args->data[0]), src = lower_expr(l, c->args->data[1]);
    if (!want_view(l, &dst) || !want_all(l, c, &src) || !reduction(l, c, 2, &red))
        return lower_poison();
    ir_value *from = lower_view(l, &src, 0, 0);
    ir_value *to = from ? lower_view(l, &dst, from->type->rows, from->type->cols) : NULL;
    if (to && dst.param->elem != src.param->elem) {
        pkc_diag_error(l->s, PKC_DIAG_COPY_TYPES, dst.span, pkc_elem_name(src.param->elem),
                       pkc_elem_name(dst.param->elem));
        return lower_poison();
    }
    if (to)
        ir_build(&l->b, IR_NET_REDUCE, red, 2, (ir_value *[]){to, from}, 0, NULL, 0);
    return nothing();
}

static meaning lower_ALL_REDUCE(lower *l, const call *c)
{
    ir_red red;
    meaning m = lower_expr(l, c->args->data[0]);
    if (!want_all(l, c, &m) || !reduction(l, c, 1, &red))
        return lower_poison();
    ir_value *v = lower_view(l, &m, 0, 0);
    if (v)
        ir_build(&l->b, IR_NET_ALL, red, 1, &v, 0, NULL, 0);
    return nothing();
}

static meaning signalling(lower *l, const call *c, ir_op_kind kind, ir_peer forced)
{
    meaning m = lower_expr(l, c->args->data[0]);
    ir_value *n = lower_index(l, c->args->data[1]);
    if (lower_is_poison(&m) || !n)
        return lower_poison();
    ir_value *sig = lower_signal(l, &m, forced);
    if (!sig)
        return lower_poison();
    if (kind == IR_WAIT && m.peer != IR_PEER_OWN) {
        pkc_diag *d =
            pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, m.span, "a signal of this rank", "one of another rank");
        pkc_diag_help(d,
                      "a rank waits for its own counters; the other rank signals them: signal(S@r[..], n)");
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
    meaning x = operand(l, c, 0);
    return lower_arith(l, c->e->span, sub, x, operand(l, c, 1));
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
    meaning x = operand(l, c, 0), y = operand(l, c, 1);
    return lower_select(l, c->e->span, x, y, operand(l, c, 2));
}

#define UNARY(id)                                                                                            \
    static meaning lower_##id(lower *l, const call *c)                                                       \
    {                                                                                                        \
        return lower_unary(l, c->e->span, IR_UN_##id, operand(l, c, 0));                                     \
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
    meaning m = operand(l, c, 0);
    if (lower_is_poison(&m))
        return m;
    const ir_type *t = m.v->type;
    if (t->kind != IR_T_REG)
        return lower_wrong_kind(l, m.span, "a register value", &m);
    const ir_type *type = kind == IR_RRED ? ir_type_reg(l->k, t->elem, t->rows, 1, (ir_dist){0})
                                          : ir_type_reg(l->k, t->elem, 1, t->cols, (ir_dist){0});
    return lower_value(&ir_build(&l->b, kind, red, 1, &m.v, 1, &type, 0)->out[0]);
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
    if (n < 1 || n > (1 << 20)) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, c->args->data[0]->span, "the length of iota", (long long)n,
                       "from 1 to 1048576");
        return lower_poison();
    }
    const ir_type *type = ir_type_reg(l->k, PKC_E_I32, 1, (int32_t)n, (ir_dist){0});
    return lower_value(&ir_build(&l->b, IR_IOTA, 0, 0, NULL, 1, &type, 0)->out[0]);
}

// ---- dispatch ------------------------------------------------------------------------------------------

static meaning (*const lowerings[])(lower *, const call *) = {
#define PKC_BUILTIN(id, name, least, most, place, doc) lower_##id,
#include "sema/builtins.def"
#undef PKC_BUILTIN
};

static bool check_place(lower *l, const pkc_builtin *row, pkc_span span)
{
    if (row->place == PKC_PLACE_ANY)
        return true;
    if (!l->role) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_OUTSIDE_EFFECT, span, row->name);
        pkc_diag_help(
            d,
            "put it into a role: loader { .. }, storer { .. }, consumer(n) { .. }, communicator(n) { .. }");
        return false;
    }
    if (row->place == PKC_PLACE_PUT && !l->putting) {
        pkc_diag_error(l->s, PKC_DIAG_NOT_IN_PUT, span, row->name);
        return false;
    }
    return true;
}

static bool check_count(lower *l, const pkc_builtin *row, const pkc_expr *e)
{
    int n = (int)e->as.call.args.len;
    if (n >= row->least && n <= row->most)
        return true;
    const char *takes =
        row->least == row->most
            ? pkc_arena_printf(&l->s->arena, "%d argument%s", row->least, row->least == 1 ? "" : "s")
            : pkc_arena_printf(&l->s->arena, "%d to %d arguments", row->least, row->most);
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_ARGUMENT_COUNT, e->span, row->name, takes, n);
    pkc_diag_help(d, "%s", row->doc);
    return false;
}

static meaning call_builtin(lower *l, const pkc_expr *e, pkc_builtin_id id)
{
    const pkc_builtin *row = pkc_builtin_row(id);
    if (!check_count(l, row, e) || !check_place(l, row, e->span))
        return lower_poison();
    call c = {e, &e->as.call.args, row->name};
    return lowerings[id](l, &c);
}

static meaning call_conversion(lower *l, const pkc_expr *e, pkc_elem elem)
{
    if (e->as.call.args.len != 1) {
        pkc_diag_error(l->s, PKC_DIAG_ARGUMENT_COUNT, e->span, pkc_elem_name(elem), "1 argument",
                       (int)e->as.call.args.len);
        return lower_poison();
    }
    return lower_cast(l, e->span, lower_operand(l, e->as.call.args.data[0]), elem);
}

static const pkc_item *find_fn(const pkc_module *module, pkc_str name)
{
    for (size_t i = 0; i < module->items.len; i++) {
        const pkc_item *item = module->items.data[i];
        if (item->kind == PKC_ITEM_FN && item->as.fn.name.text == name)
            return item;
    }
    return NULL;
}

/// The module that `import NAME;` in the current one means.
static const pkc_module *find_import(const lower *l, pkc_str name)
{
    for (size_t i = 0; i < l->module->items.len; i++) {
        const pkc_item *item = l->module->items.data[i];
        if (item->kind == PKC_ITEM_IMPORT && item->as.import.name.text == name)
            for (size_t j = 0; j < l->program->modules.len; j++)
                if (l->program->modules.data[j]->name == name)
                    return l->program->modules.data[j];
    }
    return NULL;
}

static meaning call_member(lower *l, const pkc_expr *e, const pkc_expr *callee)
{
    const pkc_expr *base = callee->as.member.base;
    const pkc_name *name = &callee->as.member.name;
    const pkc_module *m = base->kind == PKC_EXPR_NAME ? find_import(l, base->as.name.name.text) : NULL;
    if (!m) {
        if (base->kind == PKC_EXPR_NAME && !lower_find(l, base->as.name.name.text)) {
            pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_UNKNOWN_NAME, base->span, base->as.name.name.text);
            pkc_diag_help(d, "import %s; at the head of the file makes a module's functions known",
                          base->as.name.name.text);
        } else {
            pkc_diag_error(l->s, PKC_DIAG_NOT_A_FUNCTION, callee->span, name->text);
        }
        return lower_poison();
    }
    const pkc_item *fn = find_fn(m, name->text);
    if (fn)
        return lower_call_fn(l, e, m, fn);
    pkc_diag_error(l->s, PKC_DIAG_NOT_A_FUNCTION, name->span, name->text);
    return lower_poison();
}

meaning lower_call(lower *l, const pkc_expr *e)
{
    const pkc_expr *callee = e->as.call.callee;
    if (callee->kind == PKC_EXPR_MEMBER)
        return call_member(l, e, callee);
    if (callee->kind != PKC_EXPR_NAME) {
        pkc_diag_error(l->s, PKC_DIAG_NOT_A_FUNCTION, callee->span, "this");
        return lower_poison();
    }
    const pkc_name *name = &callee->as.name.name;
    pkc_builtin_id id;
    pkc_elem elem;
    const pkc_item *fn = find_fn(l->module, name->text);
    if (fn)
        return lower_call_fn(l, e, l->module, fn);
    if (pkc_builtin_find(name->text, &id))
        return call_builtin(l, e, id);
    if (pkc_elem_find(name->text, &elem))
        return call_conversion(l, e, elem);
    if (lower_find(l, name->text))
        pkc_diag_error(l->s, PKC_DIAG_NOT_A_FUNCTION, name->span, name->text);
    else
        lower_unknown(l, name);
    return lower_poison();
}
