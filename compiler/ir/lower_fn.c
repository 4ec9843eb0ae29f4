// SPDX-License-Identifier: Apache-2.0
// Functions are inlined: the body is walked in a scope of its own with the arguments' meanings bound to the
// parameters' names.
#include "ir/lower_impl.h"
#include "syntax/syntax.h"

/// Binds a dimension of an argument type: a name not yet known takes the size, anything else must equal it.
static bool bind_dimension(lower *l, const pkc_expr *dim, int32_t size, pkc_span arg)
{
    int64_t want;
    if (dim->kind == PKC_EXPR_NAME && !lower_find(l, dim->as.name.name.text)) {
        lower_bind(l, &dim->as.name.name, lower_int(l, size), false);
        return true;
    }
    if (!lower_constant(l, dim, "a dimension of an argument", &want))
        return false;
    if (want == size)
        return true;
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, arg, "a dimension of this argument",
                                 (long long)size, "equal in all arguments");
    pkc_diag_note(d, dim->span, "%lld is expected here", (long long)want);
    return false;
}

static bool argument_elem(lower *l, const pkc_tyexpr *type, pkc_elem *out)
{
    const pkc_name *name = &type->as.named.elem;
    if (pkc_elem_find(name->text, out))
        return true;
    pkc_diag_error(l->s, PKC_DIAG_UNKNOWN_TYPE, name->span, name->text);
    return false;
}

/// Checks a register value or scalar against the declared type. Views, tiles and pipes need none.
static bool check_argument(lower *l, const pkc_param *p, meaning *m)
{
    pkc_elem elem;
    if (!p->type || p->type->kind != PKC_TYEXPR_NAMED)
        return true;
    if (!argument_elem(l, p->type, &elem))
        return false;
    const pkc_exprs *dims = &p->type->as.named.dims;
    if (m->kind == MEAN_VIEW && dims->len == 0)
        *m = lower_element(l, m);
    *m = lower_adapt(l, *m, elem);
    if (m->kind == MEAN_POISON)
        return false;
    if (m->kind != MEAN_VALUE && m->kind != MEAN_TILE) {
        lower_wrong_kind(l, m->span, "a value", m);
        return false;
    }
    const ir_type *t = m->v->type;
    bool scalar = t->kind == IR_T_SCALAR;
    if (t->elem != elem || scalar != (dims->len == 0)) {
        pkc_buf want = {0};
        pkc_print_type(p->type, &want);
        pkc_diag *d =
            pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, m->span, pkc_buf_cstr(&want), lower_describe(l, m));
        pkc_diag_note(d, p->span, "the parameter '%s' is declared here", p->name.text);
        pkc_buf_free(&want);
        return false;
    }
    if (dims->len == 0)
        return true;
    int32_t rows = t->transposed ? t->cols : t->rows, cols = t->transposed ? t->rows : t->cols;
    const pkc_expr *last = dims->data[dims->len - 1];
    return (dims->len < 2 || bind_dimension(l, dims->data[0], rows, m->span)) &&
           bind_dimension(l, last, cols, m->span);
}

static bool check_call(lower *l, const pkc_expr *e, const pkc_item *fn)
{
    const struct pkc_item_fn *f = &fn->as.fn;
    size_t n = e->as.call.args.len;
    for (size_t i = 0; i < l->calls.len; i++)
        if (l->calls.data[i] == fn) {
            pkc_diag_error(l->s, PKC_DIAG_RECURSION, e->span, f->name.text);
            return false;
        }
    if (n == f->params.len)
        return true;
    const char *takes =
        pkc_arena_printf(&l->s->arena, "%d argument%s", (int)f->params.len, f->params.len == 1 ? "" : "s");
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_ARGUMENT_COUNT, e->span, f->name.text, takes, (int)n);
    pkc_diag_note(d, f->name.span, "'%s' is declared here", f->name.text);
    return false;
}

/// Const parameters of a function have their defaults.
static void bind_consts(lower *l, const pkc_params *consts)
{
    for (size_t i = 0; i < consts->len; i++) {
        int64_t v;
        if (consts->data[i]->init && lower_constant(l, consts->data[i]->init, "a const parameter", &v))
            lower_bind(l, &consts->data[i]->name, lower_int(l, v), false);
    }
}

static meaning walk_body(lower *l, const pkc_expr *e, const pkc_item *fn, meaning *args)
{
    const struct pkc_item_fn *f = &fn->as.fn;
    bind_consts(l, &f->consts);
    for (size_t i = 0; i < f->params.len; i++) {
        if (lower_is_poison(&args[i]) || !check_argument(l, f->params.data[i], &args[i]))
            return lower_poison();
        lower_bind(l, &f->params.data[i]->name, args[i], false);
    }
    l->returned = false;
    l->result = (meaning){.kind = MEAN_NOTHING};
    lower_stmts(l, f->body);
    if (f->result && !l->returned && !pkc_has_errors(l->s)) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_NO_RETURN, f->name.span, f->name.text);
        pkc_diag_note(d, e->span, "it is called here");
    }
    return l->result;
}

meaning lower_call_fn(lower *l, const pkc_expr *e, const pkc_module *module, const pkc_item *fn)
{
    size_t n = e->as.call.args.len;
    if (!check_call(l, e, fn))
        return lower_poison();
    meaning *args = PKC_NEW_ARRAY(&l->s->arena, meaning, n ? n : 1);
    for (size_t i = 0; i < n; i++)
        args[i] = lower_expr(l, e->as.call.args.data[i]);
    lower outer = *l;
    l->module = module;
    l->scope = NULL;
    pkc_vec_push(&l->s->arena, &l->calls, fn);
    lower_push(l);
    meaning result = walk_body(l, e, fn, args);
    l->module = outer.module;
    l->scope = outer.scope;
    l->returned = outer.returned;
    l->result = outer.result;
    l->calls.len--;
    return result;
}
