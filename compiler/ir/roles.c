// SPDX-License-Identifier: Apache-2.0
// One body a role: the kernel's body with the blocks of other groups and roles left out and what is then dead
// deleted. Before that: conditions around puts, gets, barriers and roles must be the same in every role
// (taint).
#include "ir/dce.h"
#include "ir/flow.h"
#include "ir/ir.h"
#include "ir/ptrmap.h"

// ---- which tensors the kernel writes -------------------------------------------------------------------

static ir_value *written_view(const ir_op *op)
{
    switch (op->kind) {
    case IR_STORE:
        return ir_in(op, 1);
    case IR_COPY_OUT:
    case IR_NET_REDUCE:
    case IR_NET_ALL:
        return ir_in(op, 0);
    default: // every other op writes no tensor
        return NULL;
    }
}

static bool mark_written(ir_op *op, void *user)
{
    ir_ptrmap *writers = user;
    ir_value *v = written_view(op);
    if (!v || !v->def || v->def->kind != IR_VIEW)
        return true;
    v->def->attr.param->written = true;
    if (!ir_ptrmap_get(writers, v->def->attr.param))
        ir_ptrmap_set(writers, v->def->attr.param, op);
    return true;
}

// ---- taint ---------------------------------------------------------------------------------------------

/// Values that roles may see differently: elements of tensors that the kernel writes, and what follows.
typedef struct taint {
    ir_kernel *k;
    ir_flow flow;
    ir_ptrmap writers; // parameter -> the first op that writes it
} taint;

static bool begin_taint(ir_op *op, void *user)
{
    taint *t = user;
    const ir_value *view = op->kind == IR_ELEM ? ir_in(op, 0) : NULL;
    if (view && view->def && view->def->attr.param->written)
        ir_flow_from(&t->flow, &op->out[0], op);
    return true;
}

static bool meets_others(ir_op *op, void *user)
{
    bool *found = user;
    *found |= op->kind == IR_PUT || op->kind == IR_GET || op->kind == IR_BARRIER || op->kind == IR_ROLE;
    return !*found;
}

static bool check_control(ir_op *op, void *user)
{
    taint *t = user;
    const ir_op *from = ir_flow_control(&t->flow, op);
    bool matters = false;
    for (int r = 0; from && r < op->n_reg; r++)
        ir_walk(&op->reg[r], meets_others, NULL, &matters);
    if (!matters)
        return true;
    const char *what = op->kind == IR_FOR ? "the count of this loop" : "this condition";
    const ir_param *param = ir_in(from, 0)->def->attr.param;
    const ir_op *writer = ir_ptrmap_get(&t->writers, param);
    pkc_diag *d = pkc_diag_error(t->k->session, PKC_DIAG_ROLE_DEPENDENT, op->pos, what);
    pkc_diag_note(d, from->pos, "it depends on this element of '%s', which the kernel writes", param->name);
    if (writer)
        pkc_diag_note(d, writer->pos, "'%s' is written here", param->name);
    pkc_diag_help(d, "send the value through a pipe slot, or read it from a tensor that no operation of the "
                     "kernel writes");
    return true;
}

static void check_taint(taint *t)
{
    ir_walk(t->k->body, begin_taint, NULL, t);
    ir_walk(t->k->body, check_control, NULL, t);
}

// ---- splitting -----------------------------------------------------------------------------------------

typedef struct split {
    const ir_group *group;
    const ir_role *role;
} split;

/// Puts the ops of a region where its op stands, and the op away. The region gives no values.
static void splice(ir_op *op, ir_region *region)
{
    for (ir_op *o = region->first, *next; o; o = next) {
        next = o->next;
        ir_move_before(o, op);
    }
    ir_erase(op);
}

static void keep_own(ir_region *region, const split *s)
{
    for (ir_op *op = region->first, *next; op; op = next) {
        next = op->next;
        for (int r = 0; r < op->n_reg; r++)
            keep_own(&op->reg[r], s);
        bool group = op->kind == IR_GROUP, role = op->kind == IR_ROLE;
        if ((group && op->attr.group == s->group) || (role && op->attr.role == s->role))
            splice(op, &op->reg[0]);
        else if (group || role)
            ir_erase(op);
    }
}

static bool has_register_tile(const ir_op *op)
{
    for (int i = 0; i < op->n_in; i++)
        if (ir_in(op, i)->type->kind == IR_T_REG)
            return true;
    for (int i = 0; i < op->n_out; i++)
        if (op->out[i].type->kind == IR_T_REG)
            return true;
    return false;
}

static bool needs_warps(ir_op *op, void *user)
{
    bool *found = user;
    *found |= ir_op_who(op->kind) != IR_WHO_T || has_register_tile(op);
    return true;
}

static bool one_warp(const ir_role *r)
{
    switch (r->kind) {
    case IR_ROLE_LOADER:
    case IR_ROLE_STORER:
        return true;
    case IR_ROLE_COMMUNICATOR:
    case IR_ROLE_WARPS:
        return r->count == 1;
    case IR_ROLE_CONSUMER:
    case IR_ROLE_WARPGROUPS:
        return false;
    }
    return false;
}

static bool split_role(ir_kernel *k, ir_group *g, ir_role *r)
{
    split s = {g, r};
    r->body = ir_clone_region(k, k->body, ir_map_new(k->arena));
    keep_own(r->body, &s);
    ir_remove_dead(k, r->body);
    if (!r->body->first) {
        if (r->implicit && *g->name)
            pkc_diag_error(k->session, PKC_DIAG_EMPTY_GROUP, g->pos, g->name);
        else if (r->implicit)
            pkc_diag_error(k->session, PKC_DIAG_EMPTY_KERNEL, k->pos, k->name);
        else
            pkc_diag_error(k->session, PKC_DIAG_EMPTY_ROLE, r->pos, r->name);
        return false;
    }
    bool warps = false;
    ir_walk(r->body, needs_warps, NULL, &warps);
    r->thin = one_warp(r) && !warps;
    return true;
}

bool ir_pass_roles(ir_kernel *k, const ir_options *options)
{
    (void)options;
    bool ok = true;
    size_t errors = pkc_diag_count(k->session, PKC_SEVERITY_ERROR); // another kernel's stop nothing here
    for (int i = 0; i < k->n_params; i++)
        k->params[i].written |= k->params[i].clear;
    taint t = {.k = k};
    ir_flow_init(&t.flow, k->arena);
    ir_ptrmap_init(&t.writers, k->arena);
    ir_walk(k->body, mark_written, NULL, &t.writers);
    check_taint(&t);
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next)
            ok &= split_role(k, g, r);
    k->body = NULL;
    return ok && pkc_diag_count(k->session, PKC_SEVERITY_ERROR) == errors;
}
