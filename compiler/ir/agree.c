// SPDX-License-Identifier: Apache-2.0
// Every pipe has one putter and getters that agree with it: proved where the traces of puts and gets have the
// same structure or the same counts, checked by the host where the counts are made of parameters, an error
// where they cannot be equal (compare.c). Then the token game (game.c) looks for orders in which roles wait
// for each other.
#include "ir/agree.h"

#include "ir/flow.h"

// ---- who puts and gets ---------------------------------------------------------------------------------

/// The first put and get of a pipe in one role.
typedef struct ends {
    const ir_op *put, *get;
} ends;

/// All roles with what they do to pipes.
typedef struct agreement {
    ir_norms *t;
    PKC_VEC(ir_agent) agents; // group after group
    ir_ptrmap *ends;          // of each agent: pipe -> ends
} agreement;

typedef struct find {
    pkc_arena *arena;
    ir_ptrmap *ends;
} find;

static bool find_ends(ir_op *op, void *user)
{
    find *f = user;
    if (op->kind != IR_PUT && op->kind != IR_GET)
        return true;
    ends *e = ir_ptrmap_get(f->ends, op->attr.pipe);
    if (!e) {
        e = PKC_NEW(f->arena, ends);
        ir_ptrmap_set(f->ends, op->attr.pipe, e);
    }
    const ir_op **first = op->kind == IR_PUT ? &e->put : &e->get;
    *first = *first ? *first : op;
    return true;
}

static agreement look(ir_kernel *k)
{
    agreement a = {.t = ir_norms_new(k)};
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next) {
            ir_agent agent = {r, ir_trace_of(a.t, r->body)};
            pkc_vec_push(k->arena, &a.agents, agent);
        }
    a.ends = PKC_NEW_ARRAY(k->arena, ir_ptrmap, a.agents.len + 1);
    for (size_t i = 0; i < a.agents.len; i++) {
        ir_ptrmap_init(&a.ends[i], k->arena);
        find f = {k->arena, &a.ends[i]};
        ir_walk(a.agents.data[i].role->body, find_ends, NULL, &f);
    }
    return a;
}

static ends ends_of(const agreement *a, size_t agent, const ir_pipe *p)
{
    const ends *e = ir_ptrmap_get(&a->ends[agent], p);
    return e ? *e : (ends){0};
}

static bool own_getter(const agreement *a, size_t agent, const ir_pipe *p)
{
    ends e = ends_of(a, agent, p);
    if (!e.put || !e.get)
        return false;
    pkc_diag *d = pkc_diag_error(a->t->k->session, PKC_DIAG_OWN_GETTER, e.put->pos,
                                 a->agents.data[agent].role->name, p->name);
    pkc_diag_note(d, e.get->pos, "it gets here");
    return true;
}

static void two_putters(const agreement *a, size_t first, size_t second, const ir_pipe *p)
{
    const ir_role *one = a->agents.data[first].role, *other = a->agents.data[second].role;
    pkc_diag *d = pkc_diag_error(a->t->k->session, PKC_DIAG_TWO_PUTTERS, ends_of(a, second, p).put->pos,
                                 one->name, other->name, p->name);
    pkc_diag_note(d, ends_of(a, first, p).put->pos, "role '%s' puts here", one->name);
}

/// Finds the putter, as an index, -1 after an error or where nobody uses the pipe, which is no error.
static int find_putter(const agreement *a, ir_pipe *p)
{
    int putter = -1;
    const ir_op *get = NULL, *put = NULL;
    for (size_t i = 0; i < a->agents.len; i++) {
        ends e = ends_of(a, i, p);
        if (own_getter(a, i, p))
            return -1;
        if (e.put && putter >= 0) {
            two_putters(a, (size_t)putter, i, p);
            return -1;
        }
        putter = e.put ? (int)i : putter;
        put = put ? put : e.put;
        get = get ? get : e.get;
    }
    if (get && !put)
        pkc_diag_error(a->t->k->session, PKC_DIAG_NO_PUTTER, get->pos, p->name);
    if (put && !get)
        pkc_diag_error(a->t->k->session, PKC_DIAG_NO_GETTER, put->pos, p->name);
    return put && get ? putter : -1;
}

static void check_pipe(const agreement *a, ir_pipe *p)
{
    int putter = find_putter(a, p);
    if (putter < 0)
        return;
    p->putter = a->agents.data[putter].role;
    for (size_t i = 0; i < a->agents.len; i++)
        if (ends_of(a, i, p).get)
            ir_agree_pair(a->t, p, &a->agents.data[putter], &a->agents.data[i]);
}

// ---- barriers ------------------------------------------------------------------------------------------

/// Workers meet in a barrier on all ranks, so what stands around it may differ neither by worker nor by rank.
static bool differs(ir_op *op, void *user)
{
    ir_flow *f = user;
    bool reads = op->kind == IR_READ && (op->sub == IR_READ_WORKER || op->sub == IR_READ_RANK);
    const ir_op *view = op->kind == IR_ELEM ? ir_in(op, 0)->def : NULL;
    if (reads || (view && view->attr.param && view->attr.param->written))
        ir_flow_from(f, &op->out[0], op);
    return true;
}

typedef struct barrier_check {
    ir_kernel *k;
    ir_flow flow;
} barrier_check;

static bool check_barrier(ir_op *op, void *user)
{
    barrier_check *c = user;
    for (ir_op *around = op->parent->owner; op->kind == IR_BARRIER && around;
         around = around->parent->owner) {
        const ir_op *cause = ir_flow_control(&c->flow, around);
        if (!cause)
            continue;
        pkc_diag *d = pkc_diag_error(c->k->session, PKC_DIAG_BARRIER_UNEVEN, op->pos);
        if (cause->kind == IR_READ)
            pkc_diag_note(d, around->pos, "this depends on '%s'", ir_sub_text(cause->kind, cause->sub));
        else
            pkc_diag_note(d, around->pos, "this depends on an element of '%s', which the kernel writes",
                          ir_in(cause, 0)->def->attr.param->name);
        return true;
    }
    return true;
}

static void check_barriers(ir_kernel *k)
{
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next) {
            barrier_check c = {.k = k};
            ir_flow_init(&c.flow, k->arena);
            ir_walk(r->body, differs, NULL, &c.flow);
            ir_walk(r->body, check_barrier, NULL, &c);
        }
}

// ---- the pass ------------------------------------------------------------------------------------------

/// Drops pipes that no body uses, so that they take no memory.
static void drop_unused(ir_kernel *k)
{
    for (ir_pipe **at = &k->pipes; *at;)
        if ((*at)->putter)
            at = &(*at)->next;
        else
            *at = (*at)->next;
}

/// Groups are different workers, so each plays for itself.
static bool play_groups(const agreement *a)
{
    for (size_t i = 0, n; i < a->agents.len; i += n) {
        for (n = 1;
             i + n < a->agents.len && a->agents.data[i + n].role->group == a->agents.data[i].role->group;)
            n++;
        if (!ir_game(a->t, &a->agents.data[i], (int)n))
            return false;
    }
    return true;
}

bool ir_pass_agree(ir_kernel *k, const ir_options *options)
{
    (void)options;
    size_t before = pkc_diag_count(k->session, PKC_SEVERITY_ERROR);
    agreement a = look(k);
    for (ir_pipe *p = k->pipes; p; p = p->next) {
        p->putter = NULL;
        check_pipe(&a, p);
    }
    ir_check_fills(k);
    check_barriers(k);
    ir_check_signals(a.t);
    if (pkc_diag_count(k->session, PKC_SEVERITY_ERROR) > before)
        return false;
    drop_unused(k);
    return play_groups(&a);
}
