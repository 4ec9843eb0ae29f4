// SPDX-License-Identifier: Apache-2.0
// Where statements and calls may stand. Code outside roles belongs to every role and has no effects; a
// function may hold roles, puts and effects, and what it asks of the place of its call is checked at each
// call.
#include <stdlib.h>

#include "sema/builtins.h"
#include "sema/resolve.h"
#include "syntax/syntax.h"

typedef struct walk {
    pkc_session *session;
    pkc_visitor visitor;
    pkc_fn_facts *facts;  // of the function being walked, NULL: a kernel
    const pkc_stmt *role; // the role block around
    bool implicit_role;   // a body without roles is one
    const pkc_stmt *loop, *put_get;
    bool in_put;
    bool nested; // in a block of the body, not at its top
    const pkc_stmt *group;
    bool has_groups;                // the kernel has
    PKC_VEC(const pkc_stmt *) open; // puts and gets around
} walk;

static bool in_role(const walk *w)
{
    return w->role || w->implicit_role;
}

static void misplaced(walk *w, pkc_span span, const char *what, const char *where)
{
    pkc_diag_error(w->session, PKC_DIAG_MISPLACED, span, what, where);
}

/// The first place is the one to show.
static void note_fact(pkc_span *fact, pkc_span span)
{
    if (!fact->file)
        *fact = span;
}

/// What a callee asks, its caller asks too.
static void pass_on(pkc_span *fact, pkc_span callee, pkc_span call)
{
    if (callee.file)
        note_fact(fact, call);
}

// ---- calls --------------------------------------------------------------------------------------------

static void outside_roles(walk *w, pkc_span span, const char *what, pkc_span cause)
{
    if (w->facts) {
        note_fact(&w->facts->role, span);
        return;
    }
    pkc_diag *d = pkc_diag_error(w->session, PKC_DIAG_OUTSIDE_EFFECT, span, what);
    if (cause.file)
        pkc_diag_note(d, cause, "the function does it here");
    pkc_diag_help(
        d, "put it into a role: loader { .. }, storer { .. }, consumer(n) { .. }, communicator(n) { .. }");
}

static void outside_put(walk *w, pkc_span span, const char *what, pkc_span cause)
{
    if (w->facts && !w->role) {
        note_fact(&w->facts->put, span);
        return;
    }
    pkc_diag *d = pkc_diag_error(w->session, PKC_DIAG_NOT_IN_PUT, span, what);
    if (cause.file)
        pkc_diag_note(d, cause, "the function does it here");
    pkc_diag_help(d, "put PIPE { load_async(tile, view); }");
}

static void check_builtin(walk *w, const pkc_expr *e)
{
    const pkc_builtin *b = e->as.call.builtin;
    pkc_span none = {0};
    if (b->place == PKC_PLACE_ANY)
        return;
    if (!in_role(w))
        outside_roles(w, e->span, b->name, none);
    if (b->place == PKC_PLACE_PUT && !w->in_put)
        outside_put(w, e->span, b->name, none);
}

static void check_outside(walk *w, pkc_span span, pkc_span cause, const char *what)
{
    if (!cause.file)
        return;
    const char *where = w->put_get ? "in a put or get" : in_role(w) ? "in a role" : NULL;
    if (!where)
        return;
    pkc_diag *d = pkc_diag_error(w->session, PKC_DIAG_MISPLACED, span, what, where);
    pkc_diag_note(d, cause, "the function has it here");
}

static void check_fn(walk *w, const pkc_expr *e)
{
    const pkc_symbol *fn = e->as.call.fn->as.fn.name.sym;
    const pkc_fn_facts *f = &fn->facts;
    if (f->role.file && !in_role(w))
        outside_roles(w, e->span, fn->name, f->role);
    if (f->put.file && !w->in_put)
        outside_put(w, e->span, fn->name, f->put);
    check_outside(w, e->span, f->roles, "a call of a function with roles");
    check_outside(w, e->span, f->pipe, "a call of a function with a pipe");
    check_outside(w, e->span, f->barrier, "a call of a function with a barrier");
    if (f->pipe.file && w->loop)
        pkc_diag_note(pkc_diag_error(w->session, PKC_DIAG_MISPLACED, e->span,
                                     "a call of a function with a pipe", "in a loop"),
                      f->pipe, "the function has it here");
    if (f->worker.file && w->has_groups && !w->group)
        misplaced(w, e->span, "a call of a function that asks for 'worker'", "outside the groups");
    if (!w->facts)
        return;
    pass_on(&w->facts->roles, f->roles, e->span);
    pass_on(&w->facts->pipe, f->pipe, e->span);
    pass_on(&w->facts->barrier, f->barrier, e->span);
    pass_on(&w->facts->worker, f->worker, e->span);
}

/// worker and workers count within a group.
static void check_standing(walk *w, const pkc_expr *e)
{
    const pkc_symbol *s = e->as.name.name.sym;
    if (!s || s->kind != PKC_SYM_STANDING ||
        (s->standing != PKC_STANDING_WORKER && s->standing != PKC_STANDING_WORKERS))
        return;
    if (w->facts)
        note_fact(&w->facts->worker, e->span);
    else if (w->has_groups && !w->group)
        misplaced(w, e->span, s->standing == PKC_STANDING_WORKER ? "'worker'" : "'workers'",
                  "outside the groups: it counts within one");
}

static bool check_expr(pkc_visitor *v, pkc_expr *e)
{
    walk *w = v->context;
    if (e->kind == PKC_EXPR_NAME)
        check_standing(w, e);
    if (e->kind == PKC_EXPR_CALL && e->as.call.builtin)
        check_builtin(w, e);
    if (e->kind == PKC_EXPR_CALL && e->as.call.fn)
        check_fn(w, e);
    return true;
}

// ---- statements ---------------------------------------------------------------------------------------

static void walk_inner(walk *w, pkc_block *block)
{
    bool nested = w->nested;
    w->nested = true;
    pkc_walk_block(&w->visitor, block);
    w->nested = nested;
}

static void check_for(walk *w, pkc_stmt *s)
{
    const pkc_stmt *loop = w->loop;
    pkc_walk_expr(&w->visitor, s->as.for_.from);
    pkc_walk_expr(&w->visitor, s->as.for_.to);
    if (s->as.for_.step)
        pkc_walk_expr(&w->visitor, s->as.for_.step);
    w->loop = s;
    walk_inner(w, s->as.for_.body);
    w->loop = loop;
}

static void check_if(walk *w, pkc_stmt *s)
{
    pkc_walk_expr(&w->visitor, s->as.if_.condition);
    walk_inner(w, s->as.if_.then_body);
    if (s->as.if_.else_body)
        walk_inner(w, s->as.if_.else_body);
}

static void check_role(walk *w, pkc_stmt *s)
{
    if (w->facts)
        note_fact(&w->facts->roles, s->span);
    if (w->role) {
        pkc_diag *d = pkc_diag_error(w->session, PKC_DIAG_MISPLACED, s->span, "a role", "in a role");
        pkc_diag_note(d, w->role->span, "role '%s' begins here", w->role->as.role.name.text);
        return;
    }
    if (w->has_groups && !w->group)
        misplaced(w, s->span, "a role", "outside the groups of a kernel that has groups");
    w->role = s;
    walk_inner(w, s->as.role.body);
    w->role = NULL;
}

static bool same_pipe(const pkc_name *a, const pkc_name *b)
{
    return a->sym && a->sym == b->sym;
}

static const pkc_name *pipe_name(const pkc_stmt *s)
{
    return s->kind == PKC_STMT_PUT ? &s->as.put.pipe : &s->as.get.pipe;
}

/// A get may stand in a get of the same pipe (it holds two slots); nothing else may.
static void check_open(walk *w, const pkc_stmt *s)
{
    for (size_t i = 0; i < w->open.len; i++) {
        const pkc_stmt *o = w->open.data[i];
        if (!same_pipe(pipe_name(o), pipe_name(s)) || (o->kind == PKC_STMT_GET && s->kind == PKC_STMT_GET))
            continue;
        pkc_diag *d = pkc_diag_error(w->session, PKC_DIAG_OPEN_PIPE, s->span, pipe_name(s)->text);
        pkc_diag_note(d, pipe_name(o)->span, "it is opened here");
    }
}

static void check_put_get(walk *w, pkc_stmt *s)
{
    pkc_span none = {0};
    const pkc_stmt *outer = w->put_get;
    bool put = s->kind == PKC_STMT_PUT, in_put = w->in_put;
    if (!in_role(w))
        outside_roles(w, pipe_name(s)->span, put ? "put" : "get", none);
    check_open(w, s);
    pkc_vec_push(&w->session->arena, &w->open, s);
    w->put_get = s;
    w->in_put = put;
    walk_inner(w, put ? s->as.put.body : s->as.get.body);
    w->put_get = outer;
    w->in_put = in_put;
    w->open.len--;
}

static void check_pipe(walk *w, pkc_stmt *s)
{
    if (w->facts)
        note_fact(&w->facts->pipe, s->span);
    if (w->role)
        misplaced(w, s->span, "a pipe", "in a role: it joins roles");
    else if (w->put_get)
        misplaced(w, s->span, "a pipe", "in a put or get");
    else if (w->loop)
        misplaced(w, s->span, "a pipe", "in a loop: its memory is there for the whole launch");
}

static void check_shared(walk *w, pkc_stmt *s)
{
    pkc_span none = {0};
    if (!in_role(w))
        outside_roles(w, s->span, "shared", none);
}

static void check_barrier(walk *w, pkc_stmt *s)
{
    if (w->facts)
        note_fact(&w->facts->barrier, s->span);
    if (w->put_get)
        misplaced(w, s->span, "barrier", "in a put or get");
    else if (w->role)
        misplaced(w, s->span, "barrier", "in a role: all roles take part, so it stands outside them");
    else if (w->has_groups && !w->group)
        misplaced(w, s->span, "barrier", "outside the groups: the workers of one group meet in it");
}

static void check_group(walk *w, pkc_stmt *s)
{
    if (w->facts || w->nested || w->group) {
        misplaced(w, s->span, "a group", "here: groups stand in the body of a kernel, beside each other");
        return;
    }
    pkc_walk_expr(&w->visitor, s->as.group.count);
    w->group = s;
    w->implicit_role = !pkc_sema_has_roles(s->as.group.body);
    walk_inner(w, s->as.group.body);
    w->implicit_role = false;
    w->group = NULL;
}

/// True: the visitor goes on into the statement's expressions.
static bool check_stmt(pkc_visitor *v, pkc_stmt *s)
{
    walk *w = v->context;
    switch (s->kind) {
    case PKC_STMT_LET:
    case PKC_STMT_VAR:
    case PKC_STMT_EXPR:
    case PKC_STMT_ASSIGN:
        return true;
    case PKC_STMT_REQUIRE: // those at the head of a kernel are not walked
        misplaced(w, s->span, "require", "here: it stands at the head of a kernel");
        return false;
    case PKC_STMT_RETURN: // that at the end of a function is not walked
        misplaced(w, s->span, "return", "here: it is the last statement of a function");
        return false;
    case PKC_STMT_SHARED:
        check_shared(w, s);
        return true;
    case PKC_STMT_BARRIER:
        check_barrier(w, s);
        return false;
    case PKC_STMT_IF:
        check_if(w, s);
        return false;
    case PKC_STMT_FOR:
        check_for(w, s);
        return false;
    case PKC_STMT_PIPE:
        check_pipe(w, s);
        return true;
    case PKC_STMT_PUT:
    case PKC_STMT_GET:
        check_put_get(w, s);
        return false;
    case PKC_STMT_GROUP:
        check_group(w, s);
        return false;
    case PKC_STMT_ROLE:
        check_role(w, s);
        return false;
    case PKC_STMT_COUNT:
        return false;
    }
    return false;
}

// ---- items --------------------------------------------------------------------------------------------

static walk walk_of(pkc_session *session)
{
    return (walk){.session = session, .visitor = {.stmt = check_stmt, .expr = check_expr}};
}

static void check_kernel(pkc_session *session, const struct pkc_item_kernel *k)
{
    walk w = walk_of(session);
    w.visitor.context = &w;
    const pkc_stmts *body = &k->body->stmts;
    for (size_t i = 0; i < body->len; i++)
        w.has_groups |= body->data[i]->kind == PKC_STMT_GROUP;
    w.implicit_role = !w.has_groups && !pkc_sema_has_roles(k->body);
    size_t head = 0;
    while (head < body->len && body->data[head]->kind == PKC_STMT_REQUIRE)
        head++;
    for (size_t i = head; i < body->len; i++)
        pkc_walk_stmt(&w.visitor, body->data[i]);
}

static void check_function(pkc_session *session, struct pkc_item_fn *f)
{
    walk w = walk_of(session);
    w.visitor.context = &w;
    w.facts = &f->name.sym->facts;
    const pkc_stmts *body = &f->body->stmts;
    bool returns = body->len && body->data[body->len - 1]->kind == PKC_STMT_RETURN;
    for (size_t i = 0; i + (returns ? 1 : 0) < body->len; i++)
        pkc_walk_stmt(&w.visitor, body->data[i]);
    if (returns)
        pkc_walk_expr(&w.visitor, body->data[body->len - 1]->as.return_.value);
    else if (f->result)
        pkc_diag_error(session, PKC_DIAG_NO_RETURN, f->name.span, f->name.text);
}

// ---- callees first ------------------------------------------------------------------------------------

typedef struct node {
    pkc_item *fn;
    PKC_VEC(const pkc_expr *) calls;
    size_t next; // call to look at when the walk comes back
    enum { NEW, ENTERED, DONE } state;
} node;

typedef struct graph {
    pkc_session *session;
    node *nodes;
    size_t n;
    node *current;
    PKC_VEC(node *) path;
} graph;

static bool collect_call(pkc_visitor *v, pkc_expr *e)
{
    graph *g = v->context;
    if (e->kind == PKC_EXPR_CALL && e->as.call.fn)
        pkc_vec_push(&g->session->arena, &g->current->calls, e);
    return true;
}

/// Functions of this module only: those of others are done.
static node *node_of(graph *g, const pkc_item *fn)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i].fn == fn)
            return &g->nodes[i];
    return NULL;
}

static void report_cycle(graph *g, const pkc_expr *call, const node *to)
{
    pkc_diag *d = pkc_diag_error(g->session, PKC_DIAG_RECURSION, call->span, to->fn->as.fn.name.text);
    for (size_t i = g->path.len; i-- > 0 && g->path.data[i] != to;)
        pkc_diag_note(d, g->path.data[i]->fn->as.fn.name.span, "through '%s'",
                      g->path.data[i]->fn->as.fn.name.text);
}

static void finish(graph *g)
{
    node *n = pkc_vec_pop(&g->path);
    n->state = DONE;
    check_function(g->session, &n->fn->as.fn);
}

static void enter(graph *g, node *n)
{
    n->state = ENTERED;
    pkc_vec_push(&g->session->arena, &g->path, n);
}

/// Depth first without recursion: a chain of calls may be as long as the file.
static void visit(graph *g, node *start)
{
    if (start->state == NEW)
        enter(g, start);
    while (g->path.len) {
        node *n = pkc_vec_last(&g->path);
        if (n->next == n->calls.len) {
            finish(g);
            continue;
        }
        const pkc_expr *call = n->calls.data[n->next++];
        node *to = node_of(g, call->as.call.fn);
        if (to && to->state == NEW)
            enter(g, to);
        else if (to && to->state == ENTERED)
            report_cycle(g, call, to);
    }
}

static void check_functions(pkc_session *session, const pkc_module *m)
{
    graph g = {.session = session, .nodes = PKC_NEW_ARRAY(&session->arena, node, m->items.len + 1)};
    pkc_visitor v = {.expr = collect_call, .context = &g};
    for (size_t i = 0; i < m->items.len; i++) {
        if (m->items.data[i]->kind != PKC_ITEM_FN)
            continue;
        g.current = &g.nodes[g.n++];
        g.current->fn = m->items.data[i];
        pkc_walk_block(&v, m->items.data[i]->as.fn.body);
    }
    for (size_t i = 0; i < g.n; i++)
        visit(&g, &g.nodes[i]);
}

void pkc_check_structure(pkc_session *session, pkc_program *program)
{
    for (size_t i = 0; i < program->modules.len; i++) {
        const pkc_module *m = program->modules.data[i];
        check_functions(session, m);
        for (size_t j = 0; j < m->items.len; j++)
            if (m->items.data[j]->kind == PKC_ITEM_KERNEL)
                check_kernel(session, &m->items.data[j]->as.kernel);
    }
}

// ---- questions ----------------------------------------------------------------------------------------

static bool find_role_stmt(pkc_visitor *v, pkc_stmt *s)
{
    *(bool *)v->context |= s->kind == PKC_STMT_ROLE;
    return true;
}

static bool find_role_call(pkc_visitor *v, pkc_expr *e)
{
    if (e->kind == PKC_EXPR_CALL && e->as.call.fn)
        *(bool *)v->context |= e->as.call.fn->as.fn.name.sym->facts.roles.file != NULL;
    return true;
}

bool pkc_sema_has_roles(const pkc_block *block)
{
    bool found = false;
    pkc_visitor v = {.stmt = find_role_stmt, .expr = find_role_call, .context = &found};
    pkc_walk_block(&v, (pkc_block *)block);
    return found;
}
