// SPDX-License-Identifier: Apache-2.0
// Who touches other ranks, and where each role waits for their announcements.
#include "ir/order.h"

ir_op *ir_build_fence(ir_builder *b, ir_fence kind)
{
    return ir_build(b, IR_FENCE, kind, 0, NULL, 0, NULL, 0);
}

ir_op *ir_build_sync(ir_builder *b, ir_sync kind)
{
    return ir_build(b, IR_SYNC, kind, 0, NULL, 0, NULL, 0);
}

bool ir_is_remote(const ir_value *view_or_sig)
{
    const ir_op *def = view_or_sig->def;
    if (def == NULL || (def->kind != IR_VIEW && def->kind != IR_SIG))
        return false;
    return def->attr.peer != IR_PEER_OWN || def->attr.param->clear;
}

static bool touches(const ir_op *op)
{
    for (int i = 0; i < op->n_in; i++)
        if (ir_is_remote(ir_in(op, i)))
            return true;
    for (int r = 0; r < op->n_reg; r++)
        for (const ir_op *o = op->reg[r].first; o != NULL; o = o->next)
            if (touches(o))
                return true;
    return false;
}

bool ir_may_multicast(const ir_op *op)
{
    if (op->kind == IR_NET_REDUCE || op->kind == IR_NET_ALL)
        return true;
    return op->kind == IR_STORE && ir_in(op, 1)->type->kind == IR_T_VIEW &&
           ir_in(op, 1)->def->attr.peer == IR_PEER_ALL;
}

typedef struct multicast_query {
    const ir_param *param; // NULL: any
    bool found;
} multicast_query;

static bool find_multicast(ir_op *op, void *user)
{
    multicast_query *q = user;
    for (int i = 0; ir_may_multicast(op) && i < op->n_in; i++) {
        const ir_value *v = ir_in(op, i);
        bool all = v->type->kind == IR_T_VIEW && v->def->attr.peer == IR_PEER_ALL;
        q->found = q->found || (all && (q->param == NULL || v->def->attr.param == q->param));
    }
    return !q->found;
}

bool ir_role_multicasts(const ir_role *role)
{
    multicast_query q = {NULL, false};
    ir_walk(role->body, find_multicast, NULL, &q);
    return q.found;
}

bool ir_param_multicasts(const ir_kernel *k, const ir_param *param)
{
    multicast_query q = {param, false};
    for (const ir_group *g = k->groups; g != NULL; g = g->next)
        for (const ir_role *r = g->roles; r != NULL; r = r->next)
            ir_walk(r->body, find_multicast, NULL, &q);
    return q.found;
}

static bool find_copy(ir_op *op, void *user)
{
    bool *found = user;
    *found = *found || op->kind == IR_COPY_IN || op->kind == IR_COPY_OUT;
    return !*found;
}

bool ir_role_copies(const ir_role *role)
{
    bool found = false;
    ir_walk(role->body, find_copy, NULL, &found);
    return found;
}

/// Before the first op of the body that touches a peer, or holds one that does. What other ranks cleared with
/// ordinary stores is then seen by bulk copies behind the fence.
static void wait_for_peers(ir_kernel *k, ir_role *role)
{
    ir_op *at = role->body->first;
    while (at != NULL && !touches(at))
        at = at->next;
    role->peers = at != NULL;
    if (at == NULL)
        return;
    k->touches_peers = true;
    if (k->no_entry_wait)
        return;
    k->needs_entry = true;
    ir_builder b = {.kernel = k, .region = role->body, .before = at, .pos = role->pos};
    ir_build(&b, IR_PEER_WAIT, 0, 0, NULL, 0, NULL, 0);
    if (ir_role_copies(role))
        ir_build_fence(&b, IR_FENCE_ASYNC_GLOB);
    if (ir_role_multicasts(role)) // what other ranks, and launches before, wrote at ordinary addresses
        ir_build_fence(&b, IR_FENCE_ALIAS);
    if (!role->thin)
        ir_build_sync(&b, IR_SYNC_ROLE);
}

static bool find_barrier(ir_op *op, void *user)
{
    ir_kernel *k = user;
    k->has_barrier = k->has_barrier || op->kind == IR_BARRIER;
    return true;
}

void ir_order_peers(ir_kernel *k)
{
    k->has_signals = k->has_barrier = k->touches_peers = k->needs_entry = false;
    for (int i = 0; i < k->n_params; i++)
        k->has_signals = k->has_signals || k->params[i].kind == IR_PARAM_SIGNAL;
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next) {
            wait_for_peers(k, r);
            ir_walk(r->body, find_barrier, NULL, k);
        }
    k->needs_exit = k->has_signals || k->has_barrier || (k->touches_peers && !k->no_exit_barrier);
}
