// SPDX-License-Identifier: Apache-2.0
// Pass `order`: the completion waits, fences and synchronisations that the language promises, and no more of
// them than the state of the walk asks for. The state says what may be outstanding at a point; a loop's is
// joined with that at the end of its body before ops are inserted. The rules are those of docs/compiler.md,
// "Memory order".
#include "ir/order.h"

#include "ir/slots.h"

typedef struct state {
    bool bulk_wr;  // bulk stores that are not known written
    bool multi_wr; // stores at multicast addresses, without an alias fence behind them
    bool fenced;   // one thread has fenced such stores, and the others have not met it since
    bool plain_wr; // stores at ordinary addresses of what is reached at multicast ones, seen without an alias
                   // fence
    bool sh_wr;    // ordinary stores to shared memory that bulk copies and products may not see yet
    bool sh_rd;    // ordinary loads of slots that bulk loads may overwrite
    bool acquired; // what another role acquired came through a pipe: no proxy fence yet
    ir_accesses acc; // since the role last met
} state;

typedef struct orderer {
    ir_kernel *k;
    ir_role *role;
    bool emit; // false: only the state moves
    bool ok;
    state now;
} orderer;

static void walk_region(orderer *s, ir_region *region);

static ir_builder before(orderer *s, ir_op *op)
{
    return (ir_builder){.kernel = s->k, .region = op->parent, .before = op, .pos = op->pos};
}

// ---- what is inserted
// ----------------------------------------------------------------------------------------

static void fence(orderer *s, ir_op *op, ir_fence kind)
{
    ir_builder b = before(s, op);
    if (s->emit)
        ir_build_fence(&b, kind);
}

/// All warps of the role meet; nothing in a thin role.
static void sync_role(orderer *s, ir_op *op)
{
    ir_builder b = before(s, op);
    if (s->emit && !s->role->thin)
        ir_build_sync(&b, IR_SYNC_ROLE);
    s->now.acc.len = 0;
    s->now.fenced = false;
}

static void sync_warp(orderer *s, ir_op *op)
{
    ir_builder b = before(s, op);
    if (s->emit && !s->role->thin)
        ir_build_sync(&b, IR_SYNC_WARP);
}

static void drain_bulk(orderer *s, ir_op *op)
{
    ir_builder b = before(s, op);
    if (s->emit && s->now.bulk_wr)
        ir_build(&b, IR_BULK_WAIT, IR_BULK_ALL, 0, NULL, 0, NULL, 0);
    s->now.bulk_wr = false;
}

// ---- pipes
// ---------------------------------------------------------------------------------------------------

typedef struct pipe_query {
    const ir_pipe *pipe;
    bool in, async;
} pipe_query;

static bool query_op(ir_op *op, void *user)
{
    pipe_query *q = user;
    for (int i = 0; i < op->n_in; i++) {
        const ir_value *slot = ir_in(op, i)->type->kind == IR_T_TILE ? ir_tile_slot(ir_in(op, i)) : NULL;
        if (slot == NULL || slot->type->pipe != q->pipe)
            continue;
        q->in = q->in || op->kind == IR_COPY_IN;
        q->async = q->async || op->kind == IR_COPY_OUT || op->kind == IR_MMA_ISSUE;
    }
    return true;
}

/// Whether bulk loads fill the pipe, and whether bulk stores or products read it, in any role.
static pipe_query query_pipe(const orderer *s, const ir_pipe *pipe)
{
    pipe_query q = {.pipe = pipe};
    for (ir_group *g = s->k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            ir_walk(r->body, query_op, NULL, &q);
    return q;
}

/// Stores of registers before they are handed over: every lane makes its own visible to bulk copies and
/// products, then the warp meets for its one arrival. Loads before the slot is filled again likewise.
static void visit_arrive(orderer *s, ir_op *op)
{
    pipe_query q = query_pipe(s, ir_in(op, 0)->type->pipe);
    bool full = op->sub == IR_SIDE_FULL;
    if (full ? s->now.sh_wr : s->now.sh_rd) {
        if (full ? q.async : q.in)
            fence(s, op, IR_FENCE_ASYNC_CTA);
        sync_warp(s, op);
    }
    if (full)
        s->now.sh_wr = false;
    else
        s->now.sh_rd = false;
}

typedef struct acquire_query {
    bool found;
} acquire_query;

static bool find_acquire(ir_op *op, void *user)
{
    acquire_query *q = user;
    bool stores = op->kind == IR_STORE && ir_in(op, 1)->type->kind == IR_T_VIEW;
    q->found = q->found || stores || op->kind == IR_WAIT || op->kind == IR_SIG_POLL ||
               op->kind == IR_NET_ALL || op->kind == IR_NET_REDUCE;
    return !q->found;
}

static bool acquires_from(const orderer *s, const ir_role *role, int depth);

typedef struct get_query {
    const orderer *s;
    int depth;
    bool found;
} get_query;

static bool find_get(ir_op *op, void *user)
{
    get_query *q = user;
    if (op->kind != IR_PIPE_WAIT || op->sub != IR_SIDE_FULL)
        return !q->found;
    const ir_role *putter = op->out[0].type->pipe->putter;
    q->found = q->found || (putter != NULL && acquires_from(q->s, putter, q->depth - 1));
    return !q->found;
}

/// Whether the role waits for signals or stores to global memory, or gets from one that does. A chain of
/// pipes is at most as long as `depth`.
static bool acquires_from(const orderer *s, const ir_role *role, int depth)
{
    acquire_query q = {false};
    get_query chain = {s, depth, false};
    ir_walk(role->body, find_acquire, NULL, &q);
    if (!q.found && depth > 0)
        ir_walk(role->body, find_get, NULL, &chain);
    return q.found || chain.found;
}

enum { MAX_CHAIN = 4 };

static void visit_pipe_wait(orderer *s, const ir_op *op)
{
    const ir_role *putter = op->out[0].type->pipe->putter;
    if (op->sub == IR_SIDE_FULL && putter != NULL && putter != s->role && acquires_from(s, putter, MAX_CHAIN))
        s->now.acquired = true, s->now.plain_wr = s->now.plain_wr || ir_role_multicasts(s->role);
}

// ---- accesses
// ------------------------------------------------------------------------------------------------

/// Memory that bulk stores of this role may still be writing is read or written otherwise.
static bool meets_bulk(const orderer *s, const ir_op *op, const ir_access *a)
{
    if (!s->now.bulk_wr || op->kind == IR_COPY_OUT)
        return false;
    for (size_t i = 0; i < s->now.acc.len; i++)
        if (s->now.acc.data[i].what == a->what && s->now.acc.data[i].write && s->now.acc.data[i].mixed)
            return true;
    return false;
}

static void visit_access(orderer *s, ir_op *op)
{
    ir_access a;
    bool copy = op->kind == IR_COPY_IN || op->kind == IR_COPY_OUT;
    for (int i = 0; ir_access_of(op, i, &a); i++) {
        if (meets_bulk(s, op, &a))
            drain_bulk(s, op);
        // Slots that are copied or read are synchronised by their barriers, and bulk stores follow each
        // other.
        bool matters = !(copy && i == 0 && op->kind == IR_COPY_IN);
        if (matters && ir_access_conflicts(&s->now.acc, &a) &&
            !(op->kind == IR_COPY_OUT && i == 1 && s->now.bulk_wr)) {
            if (copy)
                fence(s, op, i == 0 ? IR_FENCE_ASYNC_CTA : IR_FENCE_ASYNC_GLOB);
            sync_role(s, op);
            s->now.sh_wr = s->now.sh_wr && !(copy && i == 0);
        }
        ir_access_add(s->k->arena, &s->now.acc, &a);
    }
}

/// The op stores to all ranks at once; its destination is the operand that it writes.
static bool writes_all(const ir_op *op)
{
    return ir_in(op, op->kind == IR_STORE ? 1 : 0)->def->attr.peer == IR_PEER_ALL;
}

/// The op touches, at an ordinary address, memory that some role reaches at a multicast one.
static bool touches_plainly(const orderer *s, const ir_op *op, bool write)
{
    ir_access a;
    for (int i = 0; ir_access_of(op, i, &a); i++) {
        if (a.view == NULL || (write && !a.write) ||
            (ir_may_multicast(op) && a.view->attr.peer == IR_PEER_ALL))
            continue;
        if (ir_param_multicasts(s->k, a.view->attr.param))
            return true;
    }
    return false;
}

/// An alias fence lies between accesses to the same memory at ordinary and at multicast addresses. One thread
/// fences, between two meetings: after what the others did, before what they do.
static void between_aliases(orderer *s, ir_op *op)
{
    if (s->now.plain_wr)
        drain_bulk(s, op);
    if (s->now.multi_wr || s->now.plain_wr) {
        sync_role(s, op);
        fence(s, op, IR_FENCE_ALIAS);
    }
    if (op->kind == IR_COPY_IN || op->kind == IR_COPY_OUT)
        fence(s, op, IR_FENCE_ASYNC_GLOB);
    sync_role(s, op);
    s->now.multi_wr = s->now.plain_wr = s->now.fenced = false;
}

/// Before an access to memory at one kind of address, behind stores to it at the other.
static void visit_alias(orderer *s, ir_op *op)
{
    bool multi = ir_may_multicast(op), plain = touches_plainly(s, op, false);
    if ((multi && s->now.plain_wr) || (plain && (s->now.multi_wr || s->now.fenced)))
        between_aliases(s, op);
    s->now.multi_wr = s->now.multi_wr || (multi && writes_all(op));
    s->now.plain_wr = s->now.plain_wr || touches_plainly(s, op, true);
}

static bool copies_remote(const ir_op *op)
{
    return op->kind == IR_COPY_IN || ir_is_remote(ir_in(op, 0));
}

static void visit_copy(orderer *s, ir_op *op)
{
    if (s->now.acquired && copies_remote(op)) {
        fence(s, op, IR_FENCE_ASYNC_GLOB);
        s->now.acquired = false;
    }
    visit_alias(s, op);
    visit_access(s, op);
    s->now.bulk_wr = s->now.bulk_wr || op->kind == IR_COPY_OUT;
}

static void visit_store(orderer *s, ir_op *op)
{
    visit_alias(s, op);
    visit_access(s, op);
    s->now.sh_wr = s->now.sh_wr || ir_in(op, 1)->type->kind == IR_T_TILE;
}

static void visit_load(orderer *s, ir_op *op)
{
    visit_alias(s, op);
    visit_access(s, op);
    if (ir_in(op, 0)->type->kind == IR_T_TILE)
        s->now.sh_rd = true;
}

// ---- signals
// -------------------------------------------------------------------------------------------------

typedef struct scope_query {
    const ir_param *param;
    bool remote;
} scope_query;

static bool find_remote(ir_op *op, void *user)
{
    scope_query *q = user;
    if (op->kind == IR_SIGNAL || op->kind == IR_SIG_ADD) {
        const ir_op *sig = ir_in(op, 0)->def;
        q->remote = q->remote || (sig->attr.param == q->param && sig->attr.peer != IR_PEER_OWN);
    }
    return !q->remote;
}

/// Whether all signals of the array stay on their rank: then gpu scope suffices.
static bool stays_home(const orderer *s, const ir_param *param)
{
    scope_query q = {param, false};
    for (ir_group *g = s->k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            ir_walk(r->body, find_remote, NULL, &q);
    return !q.remote;
}

/// All that the role did before is made visible, then one thread signals. For every rank: one fence and
/// relaxed adds.
static void visit_signal(orderer *s, ir_op *op)
{
    drain_bulk(s, op);
    bool alias = s->now.multi_wr;
    sync_role(s, op);
    if (alias)
        fence(s, op, IR_FENCE_ALIAS); // by the thread that signals
    s->now.multi_wr = false;
    s->now.fenced = s->now.fenced || alias;
    if (!s->emit)
        return;
    const ir_op *sig = ir_in(op, 0)->def;
    ir_builder b = before(s, op);
    ir_sig how = stays_home(s, sig->attr.param) ? IR_SIG_REL_GPU : IR_SIG_REL_SYS;
    if (sig->attr.peer == IR_PEER_ALL) {
        ir_build_fence(&b, IR_FENCE_SYS);
        how = IR_SIG_RLX_SYS;
    }
    ir_value *in[] = {ir_in(op, 0), ir_in(op, 1)};
    ir_build(&b, IR_SIG_ADD, how, 2, in, 0, NULL, 0);
    ir_erase(op);
}

/// One thread polls; bulk copies come from the same thread, so its fence is enough for them.
static void visit_wait(orderer *s, ir_op *op)
{
    if (s->emit) {
        ir_builder b = before(s, op);
        ir_value *in[] = {ir_in(op, 0), ir_in(op, 1)};
        ir_build(&b, IR_SIG_POLL, 0, 2, in, 0, NULL, 0);
    }
    if (ir_role_copies(s->role))
        fence(s, op, IR_FENCE_ASYNC_GLOB);
    if (ir_role_multicasts(s->role))
        fence(s, op, IR_FENCE_ALIAS);
    sync_role(s, op);
    if (s->emit)
        ir_erase(op);
}

/// One thread stands for the role: after all that the others did, before all that they do.
static void visit_barrier(orderer *s, ir_op *op)
{
    drain_bulk(s, op);
    bool alias = s->now.multi_wr;
    sync_role(s, op);
    if (alias)
        fence(s, op, IR_FENCE_ALIAS);
    if (s->emit && !s->role->thin) {
        ir_builder b = {.kernel = s->k, .region = op->parent, .before = op->next, .pos = op->pos};
        ir_build_sync(&b, IR_SYNC_ROLE);
    }
    s->now = (state){.acquired = ir_role_copies(s->role), .plain_wr = ir_role_multicasts(s->role)};
}

// ---- the walk
// ------------------------------------------------------------------------------------------------

static state copy_state(orderer *s, const state *from)
{
    state to = *from;
    to.acc = (ir_accesses){0};
    for (size_t i = 0; i < from->acc.len; i++)
        pkc_vec_push(s->k->arena, &to.acc, from->acc.data[i]);
    return to;
}

static void join(orderer *s, state *a, const state *b)
{
    a->bulk_wr = a->bulk_wr || b->bulk_wr;
    a->multi_wr = a->multi_wr || b->multi_wr;
    a->plain_wr = a->plain_wr || b->plain_wr;
    a->fenced = a->fenced || b->fenced;
    a->sh_wr = a->sh_wr || b->sh_wr;
    a->sh_rd = a->sh_rd || b->sh_rd;
    a->acquired = a->acquired || b->acquired;
    for (size_t i = 0; i < b->acc.len; i++)
        ir_access_add(s->k->arena, &a->acc, &b->acc.data[i]);
}

/// The state at the head of a loop is that before it or that at the end of its body. Flags only join, so that
/// two dry walks reach what stays.
static void visit_for(orderer *s, ir_op *op)
{
    bool emit = s->emit;
    state head = copy_state(s, &s->now);
    s->emit = false;
    for (int i = 0; i < 2; i++) {
        s->now = copy_state(s, &head);
        walk_region(s, &op->reg[0]);
        join(s, &head, &s->now);
    }
    s->emit = emit;
    s->now = copy_state(s, &head);
    walk_region(s, &op->reg[0]);
    join(s, &s->now, &head);
}

static void visit_if(orderer *s, ir_op *op)
{
    state start = copy_state(s, &s->now);
    walk_region(s, &op->reg[0]);
    state then = s->now;
    s->now = start;
    walk_region(s, &op->reg[1]);
    join(s, &s->now, &then);
}

/// A product that reads what this role stored to its own shared memory.
static void visit_issue(orderer *s, ir_op *op)
{
    if (!s->now.sh_wr)
        return;
    fence(s, op, IR_FENCE_ASYNC_CTA);
    sync_role(s, op);
    s->now.sh_wr = false;
}

static void visit(orderer *s, ir_op *op)
{
    switch ((int)op->kind) { // ops that neither touch memory nor meet anybody are left out
    case IR_FOR:
        visit_for(s, op);
        break;
    case IR_IF:
        visit_if(s, op);
        break;
    case IR_PIPE_WAIT:
        visit_pipe_wait(s, op);
        break;
    case IR_PIPE_ARRIVE:
        visit_arrive(s, op);
        break;
    case IR_COPY_IN:
    case IR_COPY_OUT:
        visit_copy(s, op);
        break;
    case IR_LOAD:
    case IR_ELEM:
        visit_load(s, op);
        break;
    case IR_STORE:
        visit_store(s, op);
        break;
    case IR_NET_REDUCE:
    case IR_NET_ALL:
        visit_alias(s, op);
        visit_access(s, op);
        break;
    case IR_MMA_ISSUE:
        visit_issue(s, op);
        break;
    case IR_SIGNAL:
        visit_signal(s, op);
        break;
    case IR_WAIT:
        visit_wait(s, op);
        break;
    case IR_BARRIER:
        visit_barrier(s, op);
        break;
    }
}

static void walk_region(orderer *s, ir_region *region)
{
    for (ir_op *op = region->first, *next; op != NULL; op = next) {
        next = op->next;
        visit(s, op);
    }
}

/// When a body ends, what it stored in bulk is written, not only read.
static void finish_body(orderer *s)
{
    if (!s->now.bulk_wr)
        return;
    ir_builder b = {.kernel = s->k, .region = s->role->body, .pos = s->role->pos};
    ir_build(&b, IR_BULK_WAIT, IR_BULK_ALL, 0, NULL, 0, NULL, 0);
}

bool ir_pass_order(ir_kernel *k, const ir_options *options)
{
    (void)options;
    bool ok = true;
    ir_order_peers(k);
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next) {
            orderer s = {.k = k, .role = r, .emit = true, .ok = true};
            walk_region(&s, r->body);
            finish_body(&s);
            ok = ok && s.ok;
        }
    k->form = IR_FORM_O;
    return ok;
}
