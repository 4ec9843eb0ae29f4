// SPDX-License-Identifier: Apache-2.0
// Modules and items: what is declared at the head of kernels and functions.
#include "sema/sema.h"

#include <string.h>

#include "sema/resolve.h"

// ---- kernels ------------------------------------------------------------------------------------------

static const char *const attributes[] = {"no_entry_wait", "no_exit_barrier"};

static bool is_attribute(const pkc_name *name)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(attributes[i], name->text) == 0)
            return true;
    return false;
}

static void unknown_attribute(resolver *r, const pkc_name *name)
{
    pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_UNKNOWN_ATTRIBUTE, name->span, name->text);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (pkc_str_distance(attributes[i], name->text, 4) <= 4)
            pkc_diag_fix(d, name->span, attributes[i]);
}

static const pkc_param *find_signals(const pkc_params *params)
{
    for (size_t i = 0; i < params->len; i++) {
        const pkc_tyexpr *t = params->data[i]->type;
        if (t && t->kind == PKC_TYEXPR_NAMED && strcmp(t->as.named.elem.text, "signal") == 0)
            return params->data[i];
    }
    return NULL;
}

static void check_attributes(resolver *r, const struct pkc_item_kernel *k)
{
    const pkc_param *signals = find_signals(&k->params);
    for (size_t i = 0; i < k->attributes.len; i++) {
        const pkc_name *name = &k->attributes.data[i];
        if (!is_attribute(name)) {
            unknown_attribute(r, name);
        } else if (signals) {
            pkc_diag *d =
                pkc_diag_error(r->session, PKC_DIAG_ATTRIBUTE_SIGNALS, name->span, name->text, "signals");
            pkc_diag_note(d, signals->span, "'%s' is declared here", signals->name.text);
        }
    }
}

static void declare_consts(resolver *r, const pkc_params *consts)
{
    for (size_t i = 0; i < consts->len; i++) {
        pkc_resolve_expr(r, consts->data[i]->init);
        pkc_declare(r, PKC_SYM_CONST, &consts->data[i]->name);
    }
}

static bool binds_dims(const pkc_tyexpr *t)
{
    return t && t->kind == PKC_TYEXPR_NAMED && strcmp(t->as.named.elem.text, "signal") != 0;
}

/// A bare name in a dimension that means nothing else is a dimension, of all parameters first, so that an
/// expression may stand before the tensor that binds its names. Signals bind none: the host makes them.
static void declare_dims(resolver *r, const pkc_params *params)
{
    for (size_t i = 0; i < params->len; i++) {
        const pkc_tyexpr *t = params->data[i]->type;
        for (size_t j = 0; binds_dims(t) && j < t->as.named.dims.len; j++) {
            pkc_expr *e = t->as.named.dims.data[j];
            if (e->kind == PKC_EXPR_NAME && !pkc_scope_find(&r->scopes, e->as.name.name.text))
                pkc_declare(r, PKC_SYM_DIM, &e->as.name.name);
        }
    }
}

static void resolve_kernel(resolver *r, struct pkc_item_kernel *k)
{
    check_attributes(r, k);
    pkc_enter(r, NULL);
    declare_consts(r, &k->consts);
    declare_dims(r, &k->params);
    for (size_t i = 0; i < k->params.len; i++)
        pkc_declare(r, PKC_SYM_PARAM, &k->params.data[i]->name);
    for (size_t i = 0; i < k->params.len; i++) {
        r->in_dims = true;
        if (k->params.data[i]->type)
            pkc_resolve_type(r, k->params.data[i]->type, PKC_TYPE_KERNEL);
        r->in_dims = false;
        if (k->params.data[i]->init)
            pkc_resolve_expr(r, k->params.data[i]->init);
    }
    pkc_resolve_block(r, k->body);
    pkc_leave(r);
}

// ---- functions ----------------------------------------------------------------------------------------

static void resolve_function(resolver *r, struct pkc_item_fn *f)
{
    pkc_enter(r, NULL);
    declare_consts(r, &f->consts);
    for (size_t i = 0; i < f->params.len; i++) {
        if (f->params.data[i]->type)
            pkc_resolve_type(r, f->params.data[i]->type, PKC_TYPE_FN);
        pkc_declare(r, PKC_SYM_PARAM, &f->params.data[i]->name);
    }
    if (f->result)
        pkc_resolve_type(r, f->result, PKC_TYPE_VALUE);
    pkc_resolve_block(r, f->body);
    pkc_leave(r);
}

// ---- modules ------------------------------------------------------------------------------------------

/// Items know each other whatever their order.
static void declare_item(resolver *r, pkc_item *item)
{
    pkc_symbol *s;
    switch (item->kind) {
    case PKC_ITEM_IMPORT:
        s = pkc_declare(r, PKC_SYM_MODULE, &item->as.import.name);
        s->module = item->as.import.module;
        return;
    case PKC_ITEM_KERNEL:
        s = pkc_declare(r, PKC_SYM_KERNEL, &item->as.kernel.name);
        s->item = item;
        return;
    case PKC_ITEM_FN:
        s = pkc_declare(r, PKC_SYM_FN, &item->as.fn.name);
        s->item = item;
        s->module = r->module;
        return;
    case PKC_ITEM_COUNT:
        return;
    }
}

static void resolve_module(resolver *r, pkc_module *module)
{
    r->module = module;
    pkc_enter(r, NULL);
    for (size_t i = 0; i < module->items.len; i++)
        declare_item(r, module->items.data[i]);
    for (size_t i = 0; i < module->items.len; i++) {
        pkc_item *item = module->items.data[i];
        r->item = item;
        if (item->kind == PKC_ITEM_KERNEL)
            resolve_kernel(r, &item->as.kernel);
        else if (item->kind == PKC_ITEM_FN)
            resolve_function(r, &item->as.fn);
    }
    pkc_leave(r);
}

static void declare_standing(resolver *r)
{
    for (int i = 0; i < PKC_STANDING_COUNT; i++) {
        pkc_name name = {.text = pkc_session_str(r->session, pkc_standing_name((pkc_standing)i))};
        pkc_declare(r, PKC_SYM_STANDING, &name)->standing = (pkc_standing)i;
    }
}

bool pkc_sema(pkc_session *session, pkc_program *program)
{
    resolver r = {.session = session};
    pkc_scopes_init(&r.scopes, &session->arena);
    pkc_enter(&r, NULL);
    declare_standing(&r);
    for (size_t i = 0; i < program->modules.len; i++)
        resolve_module(&r, program->modules.data[i]);
    pkc_leave(&r);
    program->symbols = r.symbols;
    pkc_check_structure(session, program);
    return !pkc_has_errors(session);
}
