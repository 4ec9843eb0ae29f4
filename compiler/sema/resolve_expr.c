// SPDX-License-Identifier: Apache-2.0
// Names in expressions and types; which function a call means.
#include <string.h>

#include "sema/builtins.h"
#include "sema/elems.h"
#include "sema/resolve.h"

// ---- calls --------------------------------------------------------------------------------------------

static bool is_word(const pkc_expr *e, const char *word)
{
    return e->kind == PKC_EXPR_NAME && strcmp(e->as.name.name.text, word) == 0;
}

static void resolve_argument(resolver *r, char letter, pkc_expr *arg)
{
    if (letter == 'A' && arg->kind == PKC_EXPR_NAME)
        pkc_assign_name(r, &arg->as.name.name);
    else if (letter != 'w')
        pkc_resolve_expr(r, arg);
    else if (!is_word(arg, "min") && !is_word(arg, "max"))
        pkc_diag_error(r->session, PKC_DIAG_WRONG_WORD, arg->span, "min or max");
}

static const char *count_words(resolver *r, int least, int most)
{
    if (least == most)
        return pkc_arena_printf(&r->session->arena, "%d argument%s", least, least == 1 ? "" : "s");
    return pkc_arena_printf(&r->session->arena, "%d to %d arguments", least, most);
}

static pkc_diag *wrong_count(resolver *r, const pkc_expr *e, const char *name, int least, int most)
{
    return pkc_diag_error(r->session, PKC_DIAG_ARGUMENT_COUNT, e->span, name, count_words(r, least, most),
                          (int)e->as.call.args.len);
}

static void resolve_builtin(resolver *r, pkc_expr *e, const pkc_builtin *b)
{
    const pkc_exprs *args = &e->as.call.args;
    int least = pkc_builtin_least(b), most = pkc_builtin_most(b), n = (int)args->len;
    e->as.call.builtin = b;
    if (n < least || n > most)
        pkc_diag_help(wrong_count(r, e, b->name, least, most), "%s", b->doc);
    for (int i = 0; i < n; i++)
        resolve_argument(r, i < most ? pkc_builtin_arg(b, i) : 'x', args->data[i]);
}

static void resolve_args(resolver *r, pkc_expr *e)
{
    for (size_t i = 0; i < e->as.call.args.len; i++)
        pkc_resolve_expr(r, e->as.call.args.data[i]);
}

static void resolve_fn(resolver *r, pkc_expr *e, pkc_name *name, pkc_symbol *fn)
{
    name->sym = fn;
    fn->used = true;
    e->as.call.fn = (pkc_item *)fn->item;
    int n = (int)fn->item->as.fn.params.len;
    if ((int)e->as.call.args.len != n) {
        pkc_diag *d = wrong_count(r, e, fn->name, n, n);
        pkc_diag_note(d, fn->span, "'%s' is declared here", fn->name);
    }
    resolve_args(r, e);
}

static void unknown_fn(resolver *r, const pkc_name *name)
{
    const pkc_symbol *s = pkc_scope_find(&r->scopes, name->text);
    pkc_diag *d;
    if (s) {
        d = pkc_diag_error(r->session, PKC_DIAG_NOT_A_FUNCTION, name->span, name->text);
        if (s->span.file)
            pkc_diag_note(d, s->span, "'%s', %s, is declared here", name->text, pkc_symbol_words(s->kind));
        return;
    }
    d = pkc_diag_error(r->session, PKC_DIAG_UNKNOWN_NAME, name->span, name->text);
    pkc_suggest_name(r, d, name);
}

static void resolve_named_call(resolver *r, pkc_expr *e, pkc_name *name)
{
    pkc_elem elem;
    pkc_symbol *fn = pkc_scope_find_kind(&r->scopes, name->text, PKC_SYM_FN);
    const pkc_builtin *b = fn ? NULL : pkc_builtin_find(name->text);
    if (fn) {
        resolve_fn(r, e, name, fn);
        return;
    }
    if (b) {
        resolve_builtin(r, e, b);
        return;
    }
    if (!pkc_elem_find(name->text, &elem))
        unknown_fn(r, name);
    else if (e->as.call.args.len != 1)
        wrong_count(r, e, name->text, 1, 1);
    resolve_args(r, e);
}

static pkc_symbol *module_of(resolver *r, const pkc_expr *base)
{
    return base->kind == PKC_EXPR_NAME
               ? pkc_scope_find_kind(&r->scopes, base->as.name.name.text, PKC_SYM_MODULE)
               : NULL;
}

/// The function `name` of a module: modules are walked after those that they import, so its symbol is there.
static pkc_symbol *fn_of(const pkc_module *m, pkc_str name)
{
    for (size_t i = 0; m && i < m->items.len; i++) {
        const pkc_item *item = m->items.data[i];
        if (item->kind == PKC_ITEM_FN && item->as.fn.name.text == name)
            return item->as.fn.name.sym;
    }
    return NULL;
}

static void unknown_member(resolver *r, const pkc_module *m, const pkc_name *name)
{
    pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_UNKNOWN_NAME, name->span, name->text);
    const char *nearest = NULL;
    unsigned best = 3;
    for (size_t i = 0; m && i < m->items.len; i++) {
        if (m->items.data[i]->kind != PKC_ITEM_FN)
            continue;
        pkc_str candidate = m->items.data[i]->as.fn.name.text;
        unsigned distance = pkc_str_distance(candidate, name->text, best - 1);
        if (distance < best) {
            best = distance;
            nearest = candidate;
        }
    }
    if (nearest)
        pkc_diag_fix(d, name->span, nearest);
}

static void resolve_module_call(resolver *r, pkc_expr *e, pkc_expr *callee)
{
    pkc_expr *base = callee->as.member.base;
    pkc_name *name = &callee->as.member.name;
    pkc_symbol *module = module_of(r, base);
    pkc_symbol *fn = module ? fn_of(module->module, name->text) : NULL;
    if (fn) {
        base->as.name.name.sym = module;
        module->used = true;
        resolve_fn(r, e, name, fn);
        return;
    }
    if (module) {
        unknown_member(r, module->module, name);
    } else if (base->kind == PKC_EXPR_NAME && !pkc_scope_find(&r->scopes, base->as.name.name.text)) {
        pkc_str text = base->as.name.name.text;
        pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_UNKNOWN_NAME, base->span, text);
        pkc_diag_help(d, "'import %s;' at the head of the file makes a module's functions known", text);
    } else {
        pkc_diag_error(r->session, PKC_DIAG_NOT_A_FUNCTION, callee->span, name->text);
    }
    resolve_args(r, e);
}

static void resolve_call(resolver *r, pkc_expr *e)
{
    pkc_expr *callee = e->as.call.callee;
    if (callee->kind == PKC_EXPR_NAME) {
        resolve_named_call(r, e, &callee->as.name.name);
    } else if (callee->kind == PKC_EXPR_MEMBER) {
        resolve_module_call(r, e, callee);
    } else {
        pkc_diag_error(r->session, PKC_DIAG_NOT_A_FUNCTION, callee->span, "this");
        resolve_args(r, e);
    }
}

// ---- other expressions --------------------------------------------------------------------------------

static void resolve_index(resolver *r, pkc_expr *e)
{
    pkc_resolve_expr(r, e->as.index.base);
    for (size_t i = 0; i < e->as.index.indices.len; i++) {
        pkc_index *x = e->as.index.indices.data[i];
        if (x->at)
            pkc_resolve_expr(r, x->at);
        if (x->end)
            pkc_resolve_expr(r, x->end);
        if (x->size)
            pkc_resolve_expr(r, x->size);
    }
}

static void resolve_member(resolver *r, pkc_expr *e)
{
    const pkc_name *name = &e->as.member.name;
    if (strcmp(name->text, "T") == 0) {
        pkc_resolve_expr(r, e->as.member.base);
        return;
    }
    pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_UNKNOWN_NAME, name->span, name->text);
    pkc_diag_help(d, module_of(r, e->as.member.base) ? "a module has functions only, which are called"
                                                     : "after a value only '.T' may follow");
}

void pkc_resolve_expr(resolver *r, pkc_expr *e)
{
    switch (e->kind) {
    case PKC_EXPR_INT:
    case PKC_EXPR_FLOAT:
        return;
    case PKC_EXPR_NAME:
        pkc_use_value(r, &e->as.name.name);
        return;
    case PKC_EXPR_UNARY:
        pkc_resolve_expr(r, e->as.unary.operand);
        return;
    case PKC_EXPR_BINARY:
        pkc_resolve_expr(r, e->as.binary.left);
        pkc_resolve_expr(r, e->as.binary.right);
        return;
    case PKC_EXPR_CALL:
        resolve_call(r, e);
        return;
    case PKC_EXPR_INDEX:
        resolve_index(r, e);
        return;
    case PKC_EXPR_MEMBER:
        resolve_member(r, e);
        return;
    case PKC_EXPR_PEER:
        pkc_resolve_expr(r, e->as.peer.base);
        if (!is_word(e->as.peer.place, "all"))
            pkc_resolve_expr(r, e->as.peer.place);
        return;
    case PKC_EXPR_TUPLE:
        for (size_t i = 0; i < e->as.tuple.parts.len; i++)
            pkc_resolve_expr(r, e->as.tuple.parts.data[i]);
        return;
    case PKC_EXPR_COUNT:
        return;
    }
}

// ---- types --------------------------------------------------------------------------------------------

static void check_elem(resolver *r, const pkc_name *name, pkc_type_place place)
{
    pkc_elem elem;
    if (pkc_elem_find(name->text, &elem))
        return;
    bool signal = strcmp(name->text, "signal") == 0;
    if (signal && place == PKC_TYPE_KERNEL)
        return;
    if (signal) {
        pkc_diag_error(r->session, PKC_DIAG_MISPLACED, name->span, "signal",
                       "here: signals are parameters of kernels");
        return;
    }
    pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_UNKNOWN_TYPE, name->span, name->text);
    pkc_suggest_type(d, name);
}

static void resolve_dimension(resolver *r, pkc_expr *e, pkc_type_place place)
{
    bool name = e->kind == PKC_EXPR_NAME;
    if (place == PKC_TYPE_FN && name && !pkc_scope_find(&r->scopes, e->as.name.name.text))
        pkc_declare(r, PKC_SYM_DIM, &e->as.name.name);
    else
        pkc_resolve_expr(r, e);
}

void pkc_resolve_type(resolver *r, pkc_tyexpr *type, pkc_type_place place)
{
    switch (type->kind) {
    case PKC_TYEXPR_NAMED:
        check_elem(r, &type->as.named.elem, place);
        for (size_t i = 0; i < type->as.named.dims.len; i++)
            resolve_dimension(r, type->as.named.dims.data[i], place);
        return;
    case PKC_TYEXPR_TUPLE:
        for (size_t i = 0; i < type->as.tuple.types.len; i++)
            pkc_resolve_type(r, type->as.tuple.types.data[i], place);
        return;
    case PKC_TYEXPR_COUNT:
        return;
    }
}
