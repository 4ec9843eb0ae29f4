// SPDX-License-Identifier: Apache-2.0
// Names in statements.
#include "sema/resolve.h"

static void resolve_stmt(resolver *r, pkc_stmt *s);

void pkc_resolve_block(resolver *r, pkc_block *block)
{
    block->assigned = pkc_new_set(r);
    pkc_enter(r, block->assigned);
    for (size_t i = 0; i < block->stmts.len; i++)
        resolve_stmt(r, block->stmts.data[i]);
    pkc_leave(r);
}

// ---- declarations and assignments ---------------------------------------------------------------------

/// A name is known after its own declaration only: `let x = x + 1` means an outer x.
static void resolve_bindings(resolver *r, pkc_bindings *list, pkc_symbol_kind kind)
{
    for (size_t i = 0; i < list->len; i++) {
        pkc_binding *b = list->data[i];
        if (b->type)
            pkc_resolve_type(r, b->type, PKC_TYPE_VALUE);
        pkc_resolve_expr(r, b->value);
        for (size_t j = 0; j < b->names.len; j++)
            pkc_declare(r, kind, &b->names.data[j]);
    }
}

static void not_a_target(resolver *r, const pkc_expr *target)
{
    pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_NOT_A_TARGET, target->span);
    if (target->kind == PKC_EXPR_INDEX)
        pkc_diag_help(d, "memory is written with store(view, value)");
}

static void resolve_target(resolver *r, pkc_expr *target)
{
    if (target->kind == PKC_EXPR_NAME)
        pkc_assign_name(r, &target->as.name.name);
    else
        not_a_target(r, target);
}

static void resolve_assign(resolver *r, struct pkc_stmt_assign *a)
{
    pkc_resolve_expr(r, a->value);
    if (a->target->kind != PKC_EXPR_TUPLE || a->op != PKC_ASSIGN_SET) {
        resolve_target(r, a->target);
        return;
    }
    for (size_t i = 0; i < a->target->as.tuple.parts.len; i++)
        resolve_target(r, a->target->as.tuple.parts.data[i]);
}

static void resolve_shared(resolver *r, pkc_param *p)
{
    if (p->type)
        pkc_resolve_type(r, p->type, PKC_TYPE_VALUE);
    pkc_declare(r, PKC_SYM_SHARED, &p->name);
}

// ---- loops and branches -------------------------------------------------------------------------------

static void resolve_if(resolver *r, struct pkc_stmt_if_ *s)
{
    pkc_resolve_expr(r, s->condition);
    s->assigned = pkc_new_set(r);
    pkc_enter(r, s->assigned);
    pkc_resolve_block(r, s->then_body);
    if (s->else_body)
        pkc_resolve_block(r, s->else_body);
    pkc_leave(r);
}

static void resolve_for(resolver *r, struct pkc_stmt_for_ *s)
{
    pkc_resolve_expr(r, s->from);
    pkc_resolve_expr(r, s->to);
    if (s->step)
        pkc_resolve_expr(r, s->step);
    s->assigned = pkc_new_set(r);
    pkc_enter(r, s->assigned);
    pkc_declare(r, PKC_SYM_LOOP, &s->name);
    pkc_resolve_block(r, s->body);
    pkc_leave(r);
}

// ---- pipes, roles, groups -----------------------------------------------------------------------------

static void resolve_pipe(resolver *r, pkc_stmt *s)
{
    struct pkc_stmt_pipe *p = &s->as.pipe;
    pkc_resolve_expr(r, p->slots);
    pkc_enter(r, NULL); // only so that two tiles of one name are found
    for (size_t i = 0; i < p->fields.len; i++) {
        if (p->fields.data[i]->type)
            pkc_resolve_type(r, p->fields.data[i]->type, PKC_TYPE_VALUE);
        pkc_declare(r, PKC_SYM_FIELD, &p->fields.data[i]->name);
    }
    pkc_leave(r);
    pkc_declare(r, PKC_SYM_PIPE, &p->name)->pipe = s;
}

/// The pipe of a put or get. Of a parameter or a let only the call knows which pipe it is.
static const pkc_symbol *use_pipe(resolver *r, pkc_name *name)
{
    const pkc_symbol *s = pkc_use(r, name);
    if (!s || s->kind == PKC_SYM_PIPE || s->kind == PKC_SYM_LET ||
        (s->kind == PKC_SYM_PARAM && r->item->kind == PKC_ITEM_FN))
        return s;
    pkc_diag *d =
        pkc_diag_error(r->session, PKC_DIAG_NOT_A_PIPE, name->span, name->text, pkc_symbol_words(s->kind));
    if (s->span.file)
        pkc_diag_note(d, s->span, "'%s' is declared here", name->text);
    return NULL;
}

/// A put or get brings the tiles' names into scope; what they hide is told where it stands. In a get within a
/// get of the same pipe they hide themselves.
static void declare_fields(resolver *r, const pkc_stmt *pipe, pkc_span at, pkc_varset *fields)
{
    const pkc_params *list = &pipe->as.pipe.fields;
    for (size_t i = 0; i < list->len; i++) {
        pkc_name name = list->data[i]->name, here = {.text = name.text, .span = at};
        const pkc_symbol *old = pkc_scope_find(&r->scopes, name.text);
        bool itself = old && old->kind == PKC_SYM_FIELD && old->span.begin == name.span.begin;
        bool twice = old && old->level == pkc_scope_level(&r->scopes); // told at the pipe
        if (!itself && !twice)
            pkc_check_fresh(r, PKC_SYM_FIELD, &here);
        pkc_symbol *s = pkc_add_symbol(r, PKC_SYM_FIELD, &name);
        pkc_vec_push(&r->session->arena, fields, s);
    }
}

static void push_unknown(resolver *r, pkc_varset *fields)
{
    pkc_unknown_slot slot = {fields, pkc_scope_level(&r->scopes)};
    pkc_vec_push(&r->session->arena, &r->unknown, slot);
}

static void resolve_put_get(resolver *r, pkc_name *name, pkc_block *body, pkc_varset **fields)
{
    const pkc_symbol *pipe = use_pipe(r, name);
    *fields = pkc_new_set(r);
    pkc_enter(r, NULL);
    if (pipe && pipe->kind == PKC_SYM_PIPE)
        declare_fields(r, pipe->pipe, name->span, *fields);
    else // after a mistake too: what the body calls its tiles is not known
        push_unknown(r, *fields);
    pkc_resolve_block(r, body);
    if (!pipe || pipe->kind != PKC_SYM_PIPE)
        r->unknown.len--;
    pkc_leave(r);
}

static void resolve_role(resolver *r, pkc_stmt *s)
{
    const pkc_stmt *outer = r->role;
    if (s->as.role.count)
        pkc_resolve_expr(r, s->as.role.count);
    r->role = s;
    pkc_resolve_block(r, s->as.role.body);
    r->role = outer;
}

static void resolve_group(resolver *r, struct pkc_stmt_group *s)
{
    pkc_resolve_expr(r, s->count);
    pkc_declare(r, PKC_SYM_GROUP, &s->name);
    pkc_resolve_block(r, s->body);
}

static void resolve_stmt(resolver *r, pkc_stmt *s)
{
    switch (s->kind) {
    case PKC_STMT_LET:
        resolve_bindings(r, &s->as.let.bindings, PKC_SYM_LET);
        return;
    case PKC_STMT_VAR:
        resolve_bindings(r, &s->as.var.bindings, PKC_SYM_VAR);
        return;
    case PKC_STMT_REQUIRE:
        pkc_resolve_expr(r, s->as.require.condition);
        return;
    case PKC_STMT_SHARED:
        resolve_shared(r, s->as.shared.param);
        return;
    case PKC_STMT_RETURN:
        pkc_resolve_expr(r, s->as.return_.value);
        return;
    case PKC_STMT_BARRIER:
        return;
    case PKC_STMT_EXPR:
        pkc_resolve_expr(r, s->as.expr.value);
        return;
    case PKC_STMT_ASSIGN:
        resolve_assign(r, &s->as.assign);
        return;
    case PKC_STMT_IF:
        resolve_if(r, &s->as.if_);
        return;
    case PKC_STMT_FOR:
        resolve_for(r, &s->as.for_);
        return;
    case PKC_STMT_PIPE:
        resolve_pipe(r, s);
        return;
    case PKC_STMT_PUT:
        resolve_put_get(r, &s->as.put.pipe, s->as.put.body, &s->as.put.fields);
        return;
    case PKC_STMT_GET:
        resolve_put_get(r, &s->as.get.pipe, s->as.get.body, &s->as.get.fields);
        return;
    case PKC_STMT_GROUP:
        resolve_group(r, &s->as.group);
        return;
    case PKC_STMT_ROLE:
        resolve_role(r, s);
        return;
    case PKC_STMT_COUNT:
        return;
    }
}
