// SPDX-License-Identifier: Apache-2.0
// Scopes, and which variables a block assigns.
#include <string.h>

#include "ir/lower_impl.h"
#include "syntax/syntax.h"

void lower_push(lower *l)
{
    scope *s = PKC_NEW(&l->s->arena, scope);
    s->up = l->scope;
    l->scope = s;
}

void lower_pop(lower *l)
{
    l->scope = l->scope->up;
}

binding *lower_find(lower *l, pkc_str name)
{
    for (scope *s = l->scope; s; s = s->up)
        for (binding *b = s->names; b; b = b->next)
            if (b->name == name)
                return b;
    return NULL;
}

binding *lower_bind(lower *l, const pkc_name *name, meaning m, bool var)
{
    for (binding *b = l->scope->names; b; b = b->next)
        if (b->name == name->text) {
            pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_DUPLICATE_NAME, name->span, name->text);
            pkc_diag_note(d, b->span, "it is declared here first");
        }
    binding *b = PKC_NEW(&l->s->arena, binding);
    *b = (binding){
        .name = name->text, .m = m, .var = var, .role = l->role, .span = name->span, .next = l->scope->names};
    if (m.kind == MEAN_VALUE && !m.literal && !m.v->name)
        m.v->name = name->text;
    l->scope->names = b;
    return b;
}

// ---- did you mean --------------------------------------------------------------------------------------

typedef struct guess {
    const char *name;
    unsigned distance;
} guess;

static void consider(guess *g, const char *candidate, const char *wrong)
{
    unsigned d = pkc_str_distance(candidate, wrong, g->distance - 1);
    if (d < g->distance) {
        g->distance = d;
        g->name = candidate;
    }
}

void lower_unknown(lower *l, const pkc_name *name)
{
    guess g = {NULL, strlen(name->text) > 3 ? 3 : 2};
    for (scope *s = l->scope; s; s = s->up)
        for (binding *b = s->names; b; b = b->next)
            consider(&g, b->name, name->text);
    for (int i = 0; i < PKC_BUILTIN_COUNT; i++)
        consider(&g, pkc_builtin_row((pkc_builtin_id)i)->name, name->text);
    for (size_t i = 0; i < l->module->items.len; i++)
        if (l->module->items.data[i]->kind == PKC_ITEM_FN)
            consider(&g, l->module->items.data[i]->as.fn.name.text, name->text);
    pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_UNKNOWN_NAME, name->span, name->text);
    if (g.name)
        pkc_diag_fix(d, name->span, g.name);
}

// ---- assigned variables --------------------------------------------------------------------------------

typedef struct collect {
    lower *l;
    bindings *out;
} collect;

static void note_assigned(collect *c, pkc_str name)
{
    binding *b = lower_find(c->l, name);
    if (!b || !b->var)
        return;
    for (size_t i = 0; i < c->out->len; i++)
        if (c->out->data[i] == b)
            return;
    pkc_vec_push(&c->l->s->arena, c->out, b);
}

static void note_target(collect *c, const pkc_expr *target)
{
    if (target->kind == PKC_EXPR_NAME)
        note_assigned(c, target->as.name.name.text);
    if (target->kind == PKC_EXPR_TUPLE)
        for (size_t i = 0; i < target->as.tuple.parts.len; i++)
            note_target(c, target->as.tuple.parts.data[i]);
}

static bool collect_stmt(pkc_visitor *v, pkc_stmt *stmt)
{
    if (stmt->kind == PKC_STMT_ASSIGN)
        note_target(v->context, stmt->as.assign.target);
    return true;
}

/// mma(acc, ..) assigns its first argument.
static bool collect_expr(pkc_visitor *v, pkc_expr *e)
{
    if (e->kind == PKC_EXPR_CALL && e->as.call.callee->kind == PKC_EXPR_NAME && e->as.call.args.len &&
        strcmp(e->as.call.callee->as.name.name.text, "mma") == 0)
        note_target(v->context, e->as.call.args.data[0]);
    return true;
}

void lower_assigned(lower *l, const pkc_block *block, bindings *out)
{
    collect c = {l, out};
    pkc_visitor v = {.stmt = collect_stmt, .expr = collect_expr, .context = &c};
    pkc_walk_block(&v, (pkc_block *)block);
}

void lower_assign(lower *l, const pkc_name *name, meaning m)
{
    binding *b = lower_find(l, name->text);
    if (!b) {
        lower_unknown(l, name);
        return;
    }
    if (!b->var) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_NOT_A_VARIABLE, name->span, name->text);
        pkc_diag_note(d, b->span, "'%s' is declared here", name->text);
        pkc_diag_help(d, "declare it with var");
        return;
    }
    if (b->role != l->role && l->role) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_OUTER_ASSIGNMENT, name->span, name->text, l->role->name);
        pkc_diag_note(d, b->span, "'%s' is declared here", name->text);
        return;
    }
    if (lower_is_poison(&m) || lower_is_poison(&b->m)) {
        b->m = m;
        return;
    }
    if (m.kind != MEAN_VALUE) {
        lower_wrong_kind(l, name->span, "a value", &m);
        return;
    }
    const ir_type *t = b->m.v->type;
    if (t->kind == IR_T_REG && m.v->type->kind != IR_T_TILE)
        m.v = lower_to_reg(l, name->span, m, t->elem, t->rows, t->cols);
    else
        m = lower_adapt(l, m, t->elem);
    if (!m.v)
        return;
    if (!ir_type_equal(m.v->type, t)) {
        pkc_diag_error(l->s, PKC_DIAG_TYPE_MISMATCH, name->span, lower_describe(l, &b->m),
                       lower_describe(l, &m));
        return;
    }
    b->m = (meaning){.kind = MEAN_VALUE, .v = m.v, .hx = m.hx};
}
