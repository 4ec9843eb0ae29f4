// SPDX-License-Identifier: Apache-2.0
// Declarations and uses of names.
#include "sema/resolve.h"

#include <string.h>

#include "sema/builtins.h"
#include "sema/elems.h"

// ---- did you mean -------------------------------------------------------------------------------------

typedef struct guess {
    const char *wrong, *name;
    unsigned distance; // of `name`; a candidate must be nearer
} guess;

static guess guess_for(const pkc_name *name)
{
    size_t len = strlen(name->text);
    return (guess){.wrong = name->text, .distance = len > 5 ? 3 : len > 1 ? 2 : 1};
}

static void consider(guess *g, const char *candidate)
{
    unsigned d = g->distance ? pkc_str_distance(candidate, g->wrong, g->distance - 1) : 1;
    if (g->distance && d < g->distance) {
        g->distance = d;
        g->name = candidate;
    }
}

/// Functions of other languages whose nearest name here means something else.
static const struct foreign {
    const char *name, *help;
} foreigns[] = {
    {"exp", "exp(x) is exp2(x * 1.44269504)"},
    {"log", "log(x) is log2(x) * 0.69314718"},
    {"pow", "pow(x, y) is exp2(y * log2(x)) for positive x"},
};

static bool explain_foreign(pkc_diag *d, const pkc_name *name)
{
    for (size_t i = 0; i < sizeof foreigns / sizeof foreigns[0]; i++)
        if (strcmp(foreigns[i].name, name->text) == 0) {
            pkc_diag_help(d, "%s", foreigns[i].help);
            return true;
        }
    return false;
}

static void suggest(pkc_diag *d, const guess *g, const pkc_name *name)
{
    if (explain_foreign(d, name))
        return;
    if (g->name)
        pkc_diag_fix(d, name->span, g->name);
}

void pkc_suggest_name(resolver *r, pkc_diag *d, const pkc_name *name)
{
    guess g = guess_for(name);
    if (!d->kept)
        return;
    for (size_t i = r->scopes.live.len; i-- > 0;)
        consider(&g, r->scopes.live.data[i]->name);
    for (int i = 0; i < PKC_BUILTIN_COUNT; i++)
        consider(&g, pkc_builtin_row((pkc_builtin_id)i)->name);
    suggest(d, &g, name);
}

void pkc_suggest_type(pkc_diag *d, const pkc_name *name)
{
    guess g = guess_for(name);
    for (int i = 0; i < PKC_E_COUNT; i++)
        consider(&g, pkc_elem_name((pkc_elem)i));
    suggest(d, &g, name);
}

// ---- declarations -------------------------------------------------------------------------------------

static bool is_local(pkc_symbol_kind kind)
{
    return kind != PKC_SYM_FN && kind != PKC_SYM_KERNEL && kind != PKC_SYM_MODULE && kind != PKC_SYM_GROUP;
}

void pkc_check_fresh(resolver *r, pkc_symbol_kind kind, const pkc_name *name)
{
    const pkc_symbol *old = pkc_scope_find(&r->scopes, name->text);
    if (!old)
        return;
    if (old->level == pkc_scope_level(&r->scopes)) {
        pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_DUPLICATE_NAME, name->span, name->text);
        pkc_diag_note(d, old->span, "it is declared here first");
    } else if (is_local(old->kind) && is_local(kind)) {
        pkc_diag *d = pkc_diag_warning(r->session, PKC_DIAG_HIDDEN_NAME, name->span, name->text,
                                       pkc_symbol_words(old->kind));
        if (old->span.file)
            pkc_diag_note(d, old->span, "it is declared here");
    }
}

pkc_symbol *pkc_declare(resolver *r, pkc_symbol_kind kind, pkc_name *name)
{
    pkc_check_fresh(r, kind, name);
    return pkc_add_symbol(r, kind, name);
}

pkc_symbol *pkc_add_symbol(resolver *r, pkc_symbol_kind kind, pkc_name *name)
{
    pkc_symbol *s = PKC_NEW(&r->session->arena, pkc_symbol);
    *s = (pkc_symbol){
        .kind = kind, .name = name->text, .span = name->span, .index = r->symbols++, .role = r->role};
    name->sym = s;
    pkc_scope_add(&r->scopes, s);
    return s;
}

// ---- uses ---------------------------------------------------------------------------------------------

/// In a put or get of a pipe that the function was given, a name that means nothing else is one of its tiles.
static pkc_symbol *guess_field(resolver *r, pkc_name *name)
{
    if (!r->unknown.len)
        return NULL;
    pkc_symbol *s = pkc_declare(r, PKC_SYM_FIELD, name);
    for (size_t i = 0; i < r->unknown.len; i++)
        pkc_vec_push(&r->session->arena, r->unknown.data[i].fields, s);
    return s;
}

static bool holds(const pkc_varset *set, const pkc_symbol *s)
{
    for (size_t i = 0; i < set->len; i++)
        if (set->data[i] == s)
            return true;
    return false;
}

/// A tile of a slot further out may be hidden by one of the same name of a pipe that only the call knows.
static void may_hide(resolver *r, pkc_symbol *s)
{
    for (size_t i = 0; s->kind == PKC_SYM_FIELD && i < r->unknown.len; i++) {
        const pkc_unknown_slot *slot = &r->unknown.data[i];
        if (slot->level > s->level && !holds(slot->fields, s))
            pkc_vec_push(&r->session->arena, slot->fields, s);
    }
}

pkc_symbol *pkc_use(resolver *r, pkc_name *name)
{
    pkc_symbol *s = pkc_scope_find(&r->scopes, name->text);
    if (!s)
        s = guess_field(r, name);
    if (!s) {
        pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_UNKNOWN_NAME, name->span, name->text);
        pkc_suggest_name(r, d, name);
        if (r->in_dims)
            pkc_diag_help(d, "a tensor with '%s' alone as one of its dimensions declares it", name->text);
        return NULL;
    }
    may_hide(r, s);
    name->sym = s;
    s->used = true;
    return s;
}

void pkc_use_value(resolver *r, pkc_name *name)
{
    const pkc_symbol *s = pkc_use(r, name);
    if (!s || pkc_symbol_has_value(s->kind))
        return;
    pkc_diag *d =
        pkc_diag_error(r->session, PKC_DIAG_NOT_A_VALUE, name->span, name->text, pkc_symbol_words(s->kind));
    if (s->kind == PKC_SYM_FN)
        pkc_diag_help(d, "call it: %s(..)", s->name);
}

/// Puts the variable into the sets of all open levels below its own. They are filled from the outside in and
/// emptied from the inside out, so `noted` is enough to know which ones have it.
static void note_assigned(resolver *r, pkc_symbol *s)
{
    uint16_t level = pkc_scope_level(&r->scopes);
    for (; s->noted < level; s->noted++) {
        pkc_varset *set = r->frames.data[s->noted];
        pkc_vec_push(&r->session->arena, set, s);
    }
}

static void check_assignable(resolver *r, const pkc_name *name, const pkc_symbol *s)
{
    if (s->kind != PKC_SYM_VAR) {
        pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_NOT_A_VARIABLE, name->span, name->text,
                                     pkc_symbol_words(s->kind));
        if (s->span.file)
            pkc_diag_note(d, s->span, "'%s' is declared here", name->text);
        if (s->kind == PKC_SYM_LET)
            pkc_diag_help(d, "declare it with var");
    } else if (r->role && s->role != r->role) {
        pkc_diag *d = pkc_diag_error(r->session, PKC_DIAG_OUTER_ASSIGNMENT, name->span, name->text,
                                     r->role->as.role.name.text);
        pkc_diag_note(d, s->span, "'%s' is declared here", name->text);
    }
}

void pkc_assign_name(resolver *r, pkc_name *name)
{
    pkc_symbol *s = pkc_scope_find(&r->scopes, name->text);
    if (!s) {
        pkc_use(r, name);
        return;
    }
    name->sym = s;
    check_assignable(r, name, s);
    note_assigned(r, s);
}

// ---- scopes -------------------------------------------------------------------------------------------

pkc_varset *pkc_new_set(resolver *r)
{
    return PKC_NEW(&r->session->arena, pkc_varset);
}

void pkc_enter(resolver *r, pkc_varset *assigned)
{
    pkc_vec_push(&r->session->arena, &r->frames, assigned ? assigned : pkc_new_set(r));
    pkc_scope_open(&r->scopes);
}

static bool worth_a_warning(const pkc_symbol *s)
{
    bool declared = s->kind == PKC_SYM_LET || s->kind == PKC_SYM_VAR || s->kind == PKC_SYM_PIPE ||
                    s->kind == PKC_SYM_SHARED;
    return declared && !s->used && s->name[0] != '_';
}

static void warn_unused(resolver *r)
{
    for (size_t i = pkc_vec_last(&r->scopes.starts); i < r->scopes.live.len; i++) {
        const pkc_symbol *s = r->scopes.live.data[i];
        if (!worth_a_warning(s))
            continue;
        pkc_diag *d = pkc_diag_warning(r->session, PKC_DIAG_UNUSED_NAME, s->span, s->name);
        if (s->kind == PKC_SYM_LET || s->kind == PKC_SYM_VAR)
            pkc_diag_help(d, "a name that begins with '_' may stay unused");
    }
}

void pkc_leave(resolver *r)
{
    pkc_varset *set = pkc_vec_last(&r->frames);
    uint16_t level = pkc_scope_level(&r->scopes);
    for (size_t i = 0; i < set->len; i++)
        if (set->data[i]->noted == level)
            set->data[i]->noted--;
    warn_unused(r);
    r->frames.len--;
    pkc_scope_close(&r->scopes);
}
