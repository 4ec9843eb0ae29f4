// SPDX-License-Identifier: Apache-2.0
// Functions are inlined: the body is walked with the arguments' meanings bound to the parameters.
#include "ir/lower_impl.h"
#include "syntax/syntax.h"

// Of the trees that are walked inside each other: bounds the stack.
enum { DEPTH_LIMIT = 2000 };

/// A dimension of an argument type: where it is declared the name takes the size, anything else must equal
/// it.
static bool bind_dimension(lower *l, const pkc_expr *dim, int32_t size, pkc_span arg)
{
    const pkc_name *name = dim->kind == PKC_EXPR_NAME ? &dim->as.name.name : NULL;
    if (name && name->sym->kind == PKC_SYM_DIM && name->sym->span.begin == name->span.begin) {
        lower_bind(l, name, lower_int(l, size));
        return true;
    }
    int64_t want;
    if (!lower_constant(l, dim, "a dimension of an argument", &want))
        return false;
    if (want == size)
        return true;
    pkc_buf text = {0};
    pkc_print_expr(dim, &text);
    pkc_diag *d =
        pkc_diag_error(l->s, PKC_DIAG_ARGUMENT_SHAPE, arg, size, pkc_buf_cstr(&text), (long long)want);
    pkc_diag_note(d, dim->span, "the parameter is declared here");
    pkc_buf_free(&text);
    return false;
}

static bool wrong_argument(lower *l, const pkc_tyexpr *type, const meaning *m, pkc_span span,
                           const char *what)
{
    pkc_buf want = {0};
    pkc_print_type(type, &want);
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, span, pkc_buf_cstr(&want), lower_describe(l, m));
    pkc_diag_note(d, type->span, "%s is declared here", what);
    pkc_buf_free(&want);
    return false;
}

static bool bind_shape(lower *l, const pkc_exprs *dims, const ir_type *t, pkc_span span)
{
    int32_t rows = t->transposed ? t->cols : t->rows, cols = t->transposed ? t->rows : t->cols;
    if (dims->len == 1 && rows != 1) {
        pkc_diag_error(l->s, PKC_DIAG_ARGUMENT_SHAPE, span, rows, "the number of rows", 1LL);
        return false;
    }
    return (dims->len < 2 || bind_dimension(l, dims->data[0], rows, span)) &&
           bind_dimension(l, dims->data[dims->len - 1], cols, span);
}

/// Holds a value against a type of a function's head. A literal and an element of a tensor become values of
/// it.
static bool check_type(lower *l, const pkc_tyexpr *type, meaning *m, pkc_span span, const char *what)
{
    pkc_elem elem;
    if (lower_is_poison(m) || type->kind != PKC_TYEXPR_NAMED ||
        !pkc_elem_find(type->as.named.elem.text, &elem))
        return false;
    const pkc_exprs *dims = &type->as.named.dims;
    if (dims->len > 2 || type->as.named.peer) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_BAD_PARAMETER, type->span,
                                     "an argument's type is a scalar or ELEM[rows, columns]");
        pkc_diag_help(d, "leave the type out to pass a tensor, a view or a pipe");
        return false;
    }
    if (m->kind == MEAN_VIEW && dims->len == 0)
        *m = lower_element(l, m);
    *m = lower_adapt(l, span, *m, elem);
    if (lower_is_poison(m))
        return false;
    bool value = m->kind == MEAN_VALUE || m->kind == MEAN_TILE;
    if (!value || m->v->type->elem != elem || (m->v->type->kind == IR_T_SCALAR) != (dims->len == 0))
        return wrong_argument(l, type, m, span, what);
    m->literal = false;
    return dims->len == 0 || bind_shape(l, dims, m->v->type, span);
}

/// Const parameters of a function have their defaults.
static void bind_consts(lower *l, const pkc_params *consts)
{
    for (size_t i = 0; i < consts->len; i++) {
        int64_t v;
        bool ok = lower_constant(l, consts->data[i]->init, "a const parameter", &v);
        lower_bind(l, &consts->data[i]->name, ok ? lower_int(l, v) : lower_poison());
    }
}

static bool bind_params(lower *l, const struct pkc_item_fn *f, meaning *args)
{
    bool ok = true;
    for (size_t i = 0; i < f->params.len; i++) {
        const pkc_param *p = f->params.data[i];
        if (p->type)
            ok &= check_type(l, p->type, &args[i], args[i].span, "the parameter");
        lower_bind(l, &p->name, args[i]);
    }
    return ok;
}

static meaning check_tuple(lower *l, const pkc_tyexpr *type, meaning m, pkc_span span)
{
    const pkc_tyexprs *types = &type->as.tuple.types;
    if (m.kind != MEAN_TUPLE || (size_t)m.n_parts != types->len) {
        wrong_argument(l, type, &m, span, "the result");
        return lower_poison();
    }
    for (size_t i = 0; i < types->len; i++)
        if (types->data[i]->kind == PKC_TYEXPR_NAMED &&
            !check_type(l, types->data[i], &m.parts[i], m.parts[i].span, "the result"))
            m.parts[i] = lower_poison();
    return m;
}

static meaning check_result(lower *l, const struct pkc_item_fn *f)
{
    meaning m = l->result;
    if (!f->result || lower_is_poison(&m))
        return m;
    if (f->result->kind == PKC_TYEXPR_TUPLE)
        return check_tuple(l, f->result, m, m.span);
    return check_type(l, f->result, &m, m.span, "the result") ? m : lower_poison();
}

static meaning walk_body(lower *l, const pkc_item *fn, meaning *args)
{
    const struct pkc_item_fn *f = &fn->as.fn;
    bind_consts(l, &f->consts);
    if (!bind_params(l, f, args))
        return lower_poison();
    l->result = (meaning){.kind = MEAN_NOTHING};
    lower_block(l, f->body);
    return check_result(l, f);
}

meaning lower_call_fn(lower *l, const pkc_expr *e)
{
    const pkc_item *fn = e->as.call.fn;
    size_t n = e->as.call.args.len;
    int deeper = fn->as.fn.body->depth + e->depth;
    if (l->depth + deeper > DEPTH_LIMIT) {
        pkc_diag_error(l->s, PKC_DIAG_TOO_MUCH_INLINED, e->span, fn->as.fn.name.text);
        return lower_poison();
    }
    meaning *args = PKC_NEW_ARRAY(&l->s->arena, meaning, n + 1);
    for (size_t i = 0; i < n; i++)
        args[i] = lower_expr(l, e->as.call.args.data[i]);
    const pkc_item *outer = l->fn;
    meaning outer_result = l->result;
    l->fn = fn;
    l->depth += deeper;
    meaning result = walk_body(l, fn, args);
    l->fn = outer;
    l->depth -= deeper;
    l->result = outer_result;
    return result;
}
