// SPDX-License-Identifier: Apache-2.0
// Slots that products read are freed where the products are known done:
//   - after a later wait of the same region, where there is one (the result is used in this iteration);
//   - in a loop that only adds up, one product later: `mma.wait 1` leaves the newest batch in flight, so the
//   slot
//     of the one before is free. It is carried around the loop beside a flag, and freed behind the loop;
//   - otherwise on the spot, after a wait.
// One slot of S is held back at most, so S = 1 never is; and none while the role blocks at something that may
// depend on it.
#include "ir/flight.h"
#include "ir/slots.h"
#include "support/vec.h"

typedef struct site {
    ir_op *arrive;
    ir_op
        *last; // the last product that reads the slot, in the same region as `arrive`; NULL: somewhere inside
} site;

typedef PKC_VEC(site) sites;

typedef struct releaser {
    ir_flight *f;
    sites all;
} releaser;

static ir_pipe *pipe_of(const ir_op *arrive)
{
    return (ir_pipe *)ir_in(arrive, 0)->type->pipe;
}

static bool find_sites(ir_op *op, void *user)
{
    releaser *s = user;
    if (op->kind != IR_PIPE_ARRIVE || op->sub != IR_SIDE_FREE)
        return true;
    const ir_value *slot = ir_in(op, 0);
    for (ir_op *o = op->prev; o != NULL; o = o->prev) {
        if (!ir_has_access(o, IR_MMA_ISSUE, slot))
            continue;
        site found = {op, o->kind == IR_MMA_ISSUE ? o : NULL};
        pkc_vec_push(s->f->k->arena, &s->all, found);
        break;
    }
    return true;
}

/// A bulk store reads the slot too: then the release stays, and ir_flight_bulk sees to the rest.
static bool stored_too(const site *t)
{
    for (const ir_op *op = t->arrive->prev; op != NULL; op = op->prev)
        if (ir_has_access(op, IR_COPY_OUT, ir_in(t->arrive, 0)))
            return true;
    return false;
}

// ---- done later in the region
// --------------------------------------------------------------------------------

/// A wait behind the product that shows it done: the batches issued in between are at least what it leaves.
/// Loops and ifs in between may issue none, so they count nothing.
static ir_op *later_wait(const site *t)
{
    int issued = 0;
    for (ir_op *op = t->last->next; op != NULL; op = op->next) {
        if (op->kind == IR_MMA_ISSUE)
            issued++;
        if (op->kind == IR_MMA_WAIT && op->attr.i <= issued)
            return op;
    }
    return NULL;
}

static bool is_blocking(const ir_op *op)
{
    return op->kind == IR_PIPE_WAIT || op->kind == IR_WAIT || op->kind == IR_BARRIER;
}

/// Whether the role may go through the op while it holds a slot of the pipe.
static bool may_hold(const releaser *s, const ir_op *op, const ir_pipe *pipe)
{
    if (is_blocking(op))
        return ir_deps_may_hold(s->f->deps, s->f->role, op, pipe);
    for (int r = 0; r < op->n_reg; r++)
        for (const ir_op *o = op->reg[r].first; o != NULL; o = o->next)
            if (!may_hold(s, o, pipe))
                return false;
    return true;
}

static bool may_hold_until(const releaser *s, const ir_op *from, const ir_op *to, const ir_pipe *pipe)
{
    for (const ir_op *op = from; op != to; op = op->next)
        if (!may_hold(s, op, pipe))
            return false;
    return true;
}

/// Whether the slot's own region waits for another slot of the pipe between `from` and `to`: that would take
/// a slot more.
static bool gets_between(const ir_op *from, const ir_op *to, const ir_pipe *pipe)
{
    for (const ir_op *op = from; op != to && op != NULL; op = op->next) {
        if (op->kind == IR_PIPE_WAIT && op->out[0].type->pipe == pipe)
            return true;
        for (int r = 0; r < op->n_reg; r++)
            if (gets_between(op->reg[r].first, NULL, pipe))
                return true;
    }
    return false;
}

/// Whether a wait between the product and the release shows it done.
static bool waited_since(const site *t)
{
    int issued = 0;
    if (t->last == NULL)
        return false;
    for (const ir_op *op = t->last->next; op != t->arrive; op = op->next) {
        issued += op->kind == IR_MMA_ISSUE;
        if (op->kind == IR_MMA_WAIT && op->attr.i <= issued)
            return true;
    }
    return false;
}

static bool move_behind_wait(releaser *s, const site *t)
{
    if (waited_since(t))
        return true;
    ir_op *wait = t->last != NULL ? later_wait(t) : NULL;
    if (wait == NULL || !s->f->late)
        return false;
    const ir_pipe *pipe = pipe_of(t->arrive);
    if (gets_between(t->arrive, wait, pipe) || !may_hold_until(s, t->arrive, wait, pipe))
        return false;
    if (wait->next != NULL)
        ir_move_before(t->arrive, wait->next);
    return wait->next != NULL;
}

// ---- on the spot
// ---------------------------------------------------------------------------------------------

/// Batches that were surely issued after the last product that reads the slot.
static int issued_since(const site *t)
{
    int issued = 0;
    if (t->last != NULL)
        for (const ir_op *op = t->last->next; op != t->arrive; op = op->next)
            issued += op->kind == IR_MMA_ISSUE;
    return issued;
}

static void wait_here(releaser *s, const site *t)
{
    if (!waited_since(t))
        ir_flight_mma_wait(s->f->k, t->arrive, t->arrive->pos, issued_since(t), 0, NULL);
}

// ---- one product later
// ---------------------------------------------------------------------------------------

/// Sites of one pipe in the body of one loop, in program order.
typedef struct ring {
    ir_op *loop;
    ir_pipe *pipe;
    sites sites;
} ring;

static bool can_be_late(const releaser *s, const site *t)
{
    const ir_region *region = t->arrive->parent;
    const ir_pipe *pipe = pipe_of(t->arrive);
    if (!s->f->late || t->last == NULL || region->owner == NULL || region->owner->kind != IR_FOR)
        return false;
    if (pipe->slots < 2 || region->owner->next == NULL)
        return false;
    // Another slot of the pipe taken before this one is freed would make two held.
    const ir_op *wait = ir_in(t->arrive, 0)->def;
    if (wait == NULL || wait->parent != region || gets_between(wait->next, t->arrive, pipe))
        return false;
    return may_hold_until(s, region->first, NULL, pipe);
}

typedef PKC_VEC(ring *) ring_list;

static void add_to_ring(releaser *s, ring_list *rings, const site *t)
{
    ir_op *loop = t->arrive->parent->owner;
    ring *r = NULL;
    for (size_t i = 0; i < rings->len; i++)
        if (rings->data[i]->loop == loop && rings->data[i]->pipe == pipe_of(t->arrive))
            r = rings->data[i];
    if (r == NULL) {
        r = PKC_NEW(s->f->k->arena, ring);
        r->loop = loop;
        r->pipe = pipe_of(t->arrive);
        pkc_vec_push(s->f->k->arena, rings, r);
    }
    pkc_vec_push(s->f->k->arena, &r->sites, *t);
}

static ir_op *build_arrive(ir_kernel *k, ir_op *before, pkc_span pos, ir_value *slot, ir_value *held)
{
    ir_builder b = {.kernel = k, .region = before->parent, .before = before, .pos = pos};
    ir_value *in[] = {slot, held};
    return ir_build(&b, IR_PIPE_ARRIVE, IR_SIDE_FREE, held != NULL ? 2 : 1, in, 0, NULL, 0);
}

static bool is_drain(const ir_op *op)
{
    return op != NULL && op->kind == IR_MMA_WAIT && op->attr.i == 0;
}

static ir_value *build_poison_slot(ir_builder *b, const ir_pipe *pipe)
{
    const ir_type *type = ir_type_slot(b->kernel, pipe);
    return &ir_build(b, IR_POISON, 0, 0, NULL, 1, &type, 0)->out[0];
}

/// With one site the release may be put off to the end of the body, behind what else the iteration does: the
/// product is in flight meanwhile.
static ir_op *late_point(const ring *r, const site *t)
{
    ir_op *end = r->loop->reg[0].last;
    if (r->sites.len > 1 || end->kind != IR_YIELD)
        return t->arrive;
    for (const ir_op *op = t->last->next; op != end; op = op->next)
        if (ir_has_access(op, IR_MMA_ISSUE, NULL))
            return t->arrive;
    return end;
}

/// Whether a wait just before leaves at most the newest batch: releases of several pipes share it.
static bool has_waited(const ir_op *at)
{
    const ir_op *op = at->prev;
    while (op != NULL && (op->kind == IR_PIPE_ARRIVE || op->kind == IR_CONST))
        op = op->prev;
    return op != NULL && op->kind == IR_MMA_WAIT && op->attr.i <= 1;
}

/// Slots are filled in turn: one that is held while later ones are got and freed would keep the putter from
/// the next round. So every get of the pipe in the loop must be one that passes the held slot on.
static bool gets_only_here(const ring *r)
{
    return ir_count_gets(&r->loop->reg[0], r->pipe) == (int)r->sites.len;
}

/// In the loop each site frees the slot of the one before it; behind the loop the last one is freed.
static void make_late(releaser *s, ring *r)
{
    ir_kernel *k = s->f->k;
    ir_builder b = {.kernel = k, .region = r->loop->parent, .before = r->loop, .pos = r->loop->pos};
    ir_value *no = ir_build_int(&b, PKC_E_BOOL, 0), *nothing = build_poison_slot(&b, r->pipe);
    ir_add_carry(k, r->loop, nothing, nothing->type);
    ir_add_carry(k, r->loop, no, no->type);
    int slot_index = r->loop->n_out - 2, held_index = r->loop->n_out - 1;
    ir_value *slot = &r->loop->reg[0].args[1 + slot_index], *held = &r->loop->reg[0].args[1 + held_index];
    for (size_t i = 0; i < r->sites.len; i++) {
        site *t = &r->sites.data[i];
        ir_op *at = late_point(r, t);
        ir_value *mine = ir_in(t->arrive, 0);
        if (!has_waited(at))
            ir_flight_mma_wait(k, at, t->arrive->pos, 1, 0, NULL);
        build_arrive(k, at, t->arrive->pos, slot, held);
        ir_erase(t->arrive);
        slot = mine;
        held = NULL;
    }
    ir_set_yield(k, r->loop, 0, slot_index, slot);
    ir_builder end = {
        .kernel = k, .region = &r->loop->reg[0], .before = r->loop->reg[0].last, .pos = r->loop->pos};
    ir_set_yield(k, r->loop, 0, held_index, ir_build_int(&end, PKC_E_BOOL, 1));
    if (!is_drain(r->loop->next))
        ir_flight_mma_wait(k, r->loop->next, r->loop->pos, 0, 0, NULL);
    build_arrive(k, r->loop->next->next, r->loop->pos, &r->loop->out[slot_index], &r->loop->out[held_index]);
}

void ir_flight_release(ir_flight *f)
{
    releaser s = {.f = f};
    ring_list rings = {0};
    ir_walk(f->role->body, find_sites, NULL, &s);
    for (size_t i = 0; i < s.all.len; i++) {
        site *t = &s.all.data[i];
        bool alone = !stored_too(t);
        if (alone && move_behind_wait(&s, t))
            continue;
        if (alone && can_be_late(&s, t))
            add_to_ring(&s, &rings, t);
        else
            wait_here(&s, t);
    }
    for (size_t i = 0; i < rings.len; i++)
        if (gets_only_here(rings.data[i]))
            make_late(&s, rings.data[i]);
        else
            for (size_t j = 0; j < rings.data[i]->sites.len; j++)
                wait_here(&s, &rings.data[i]->sites.data[j]);
}
