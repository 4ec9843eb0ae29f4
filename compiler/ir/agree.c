// SPDX-License-Identifier: Apache-2.0
// Every pipe has one putter and getters that agree with it: proved where the traces of puts and gets have the
// same structure or the same counts, checked by the host where the counts are made of parameters, an error
// where they cannot be equal. Then the token game (game.c) looks for orders in which roles wait for each
// other.
#include "ir/agree.h"

#include "ir/ir.h"

// ---- who puts and gets ---------------------------------------------------------------------------------

typedef struct uses {
    const ir_pipe *pipe;
    const ir_op *put, *get; // the first of each
} uses;

static bool find_uses(ir_op *op, void *user)
{
    uses *u = user;
    if (op->kind == IR_PUT && op->attr.pipe == u->pipe && !u->put)
        u->put = op;
    if (op->kind == IR_GET && op->attr.pipe == u->pipe && !u->get)
        u->get = op;
    return true;
}

static uses uses_in(const ir_role *role, const ir_pipe *pipe)
{
    uses u = {.pipe = pipe};
    ir_walk(role->body, find_uses, NULL, &u);
    return u;
}

static bool note_putter(ir_kernel *k, ir_pipe *p, ir_role *r, const uses *u)
{
    if (u->get) {
        pkc_diag *d = pkc_diag_error(k->session, PKC_DIAG_OWN_GETTER, u->put->pos, r->name, p->name);
        pkc_diag_note(d, u->get->pos, "it gets here");
        return false;
    }
    if (p->putter) {
        pkc_diag *d =
            pkc_diag_error(k->session, PKC_DIAG_TWO_PUTTERS, u->put->pos, p->putter->name, r->name, p->name);
        pkc_diag_note(d, uses_in(p->putter, p).put->pos, "role '%s' puts here", p->putter->name);
        return false;
    }
    p->putter = r;
    return true;
}

/// Finds the putter and counts the getters; false after an error. A pipe that nobody uses is no error.
static bool find_ends(ir_kernel *k, ir_pipe *p)
{
    bool ok = true;
    const ir_op *get = NULL, *put = NULL;
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next) {
            uses u = uses_in(r, p);
            if (u.put)
                ok &= note_putter(k, p, r, &u);
            put = put ? put : u.put;
            get = get ? get : u.get;
        }
    if (ok && get && !put)
        pkc_diag_error(k->session, PKC_DIAG_NO_PUTTER, get->pos, p->name);
    if (ok && put && !get)
        pkc_diag_error(k->session, PKC_DIAG_NO_GETTER, put->pos, p->name);
    return ok && put && get;
}

static void check_getters(ir_kernel *k, ir_pipe *p)
{
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next)
            if (r != p->putter && uses_in(r, p).get)
                ir_agree_pair(k, p, p->putter, r);
}

// ---- barriers ------------------------------------------------------------------------------------------

typedef struct barrier_check {
    ir_kernel *k;
    ir_dependence on_worker;
} barrier_check;

static bool check_barrier(ir_op *op, void *user)
{
    barrier_check *c = user;
    if (op->kind != IR_BARRIER)
        return true;
    for (ir_op *around = op->parent->owner; around; around = around->parent->owner) {
        int control = around->kind == IR_FOR ? 3 : around->n_in;
        for (int i = 0; i < control; i++)
            if (ir_depends_on_worker(&c->on_worker, ir_in(around, i))) {
                pkc_diag *d = pkc_diag_error(c->k->session, PKC_DIAG_BARRIER_UNEVEN, op->pos);
                pkc_diag_note(d, around->pos, "this depends on 'worker'");
                return true;
            }
    }
    return true;
}

/// Drops pipes that no body uses, so that they take no memory.
static void drop_unused(ir_kernel *k)
{
    for (ir_pipe **at = &k->pipes; *at;)
        if ((*at)->putter)
            at = &(*at)->next;
        else
            *at = (*at)->next;
}

bool ir_pass_agree(ir_kernel *k, const ir_options *options)
{
    (void)options;
    size_t before = pkc_diag_count(k->session, PKC_SEVERITY_ERROR);
    for (ir_pipe *p = k->pipes; p; p = p->next)
        if (find_ends(k, p)) {
            check_getters(k, p);
            ir_check_fills(k, p);
        }
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next) {
            barrier_check c = {k, {.k = k}};
            ir_dependence_init(&c.on_worker, r->body);
            ir_walk(r->body, check_barrier, NULL, &c);
        }
    if (pkc_diag_count(k->session, PKC_SEVERITY_ERROR) > before)
        return false;
    drop_unused(k);
    return ir_game(k);
}
