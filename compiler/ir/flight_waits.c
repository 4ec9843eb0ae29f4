// SPDX-License-Identifier: Apache-2.0
// `mma.wait` before the results of products are used.
//
// The walk keeps the accumulators whose products may be in flight, each with its age: how many batches have
// surely been issued after its own. Batches retire in order, so waiting until at most `age` are left is
// enough, and every accumulator at least that old is done too. An age is a lower bound, so a wait may be
// stricter than need be, never weaker.
#include "ir/flight.h"
#include "support/vec.h"

typedef struct pending {
    ir_value *acc;
    int age;
    bool outer; // made before the if that the walk is in: a wait in here cannot name it
} pending;

typedef PKC_VEC(pending) pendings;

static void walk_region(ir_flight *f, ir_region *region, pendings *p);

ir_op *ir_flight_mma_wait(ir_kernel *k, ir_op *before, pkc_span pos, int left, int n, ir_value *const *accs)
{
    ir_builder b = {.kernel = k, .region = before->parent, .before = before, .pos = pos};
    const ir_type **types = PKC_NEW_ARRAY(k->arena, const ir_type *, n > 0 ? n : 1);
    for (int i = 0; i < n; i++)
        types[i] = accs[i]->type;
    ir_op *wait = ir_build(&b, IR_MMA_WAIT, 0, n, accs, n, types, 0);
    wait->attr.i = left;
    for (int i = 0; i < n; i++)
        wait->out[i].name = accs[i]->name;
    return wait;
}

static int find(const pendings *p, const ir_value *v)
{
    for (size_t i = 0; i < p->len; i++)
        if (p->data[i].acc == v)
            return (int)i;
    return -1;
}

static void drop(pendings *p, size_t i)
{
    p->data[i] = p->data[--p->len];
}

/// Whether `op`, or what holds it, stands before `at` in at's region: a branch before it may have passed an
/// accumulator on that is still in flight.
static bool stands_before(const ir_op *op, const ir_op *at)
{
    while (op != NULL && op->parent != at->parent)
        op = op->parent->owner;
    for (const ir_op *o = at->prev; op != NULL && o != NULL; o = o->prev)
        if (o == op)
            return true;
    return false;
}

static bool used_from(const ir_value *v, const ir_op *at)
{
    for (const ir_use *u = v->uses; u != NULL; u = u->next)
        if (!stands_before(u->user, at))
            return true;
    return false;
}

static void replace_after(ir_value *v, ir_value *by, const ir_op *wait)
{
    for (ir_use *u = v->uses, *next; u != NULL; u = next) {
        next = u->next;
        if (u->user != wait && !stands_before(u->user, wait))
            ir_set_in(u->user, u->index, by);
    }
}

/// Waits before `op` for all accumulators of at least this age; they are the results of the wait from there
/// on.
static void wait_before(ir_flight *f, ir_op *op, pendings *p, int age)
{
    PKC_VEC(ir_value *) done = {0};
    for (size_t i = 0; i < p->len;) {
        bool waited = p->data[i].age >= age && !p->data[i].outer;
        if (waited && !used_from(p->data[i].acc, op)) {
            drop(p, i);
            continue;
        }
        if (waited)
            pkc_vec_push(f->k->arena, &done, p->data[i].acc);
        i++;
    }
    ir_op *wait = ir_flight_mma_wait(f->k, op, op->pos, age, (int)done.len, done.data);
    for (size_t i = 0; i < done.len; i++) {
        replace_after(done.data[i], &wait->out[i], wait);
        drop(p, (size_t)find(p, done.data[i]));
    }
}

static void wait_for(ir_flight *f, ir_op *op, pendings *p, const ir_value *v)
{
    int i = find(p, v);
    if (i >= 0)
        wait_before(f, op, p, p->data[i].age);
}

static void visit_issue(ir_flight *f, ir_op *op, pendings *p)
{
    for (int i = 1; i < op->n_in; i++)
        wait_for(f, op, p, ir_in(op, i));
    int old = find(p, ir_in(op, 0));
    if (old >= 0)
        drop(p, (size_t)old);
    for (size_t i = 0; i < p->len; i++)
        p->data[i].age++;
    pending now = {&op->out[0], 0, false};
    pkc_vec_push(f->k->arena, p, now);
}

static void visit_wait(ir_op *op, pendings *p)
{
    for (size_t i = p->len; i-- > 0;)
        if (p->data[i].age >= op->attr.i)
            drop(p, i);
}

/// Whether the value is read, not only passed on to products, in the op's regions.
static bool read_inside(ir_flight *f, const ir_op *op, const ir_value *v)
{
    for (const ir_use *u = v->uses; u != NULL; u = u->next) {
        if (u->user == op)
            continue;
        bool inside = false;
        for (int r = 0; r < op->n_reg; r++)
            inside = inside || ir_inside(u->user, &op->reg[r]);
        if (!inside)
            continue;
        bool passed =
            (u->user->kind == IR_MMA_ISSUE && u->index == 0) || u->user->kind == IR_YIELD ||
            (u->user->kind == IR_FOR && ir_flight_acc_only(f->k, &u->user->reg[0].args[u->index - 2]));
        if (!passed)
            return true;
    }
    return false;
}

static void wait_for_reads_inside(ir_flight *f, ir_op *op, pendings *p)
{
    for (size_t i = 0; i < p->len;) {
        if (!read_inside(f, op, p->data[i].acc)) {
            i++;
            continue;
        }
        wait_for(f, op, p, p->data[i].acc);
        i = 0;
    }
}

/// An accumulator may be in flight around a loop where the loop only adds to it.
static void visit_for(ir_flight *f, ir_op *op, pendings *p)
{
    pendings inner = {0};
    wait_for_reads_inside(f, op, p);
    for (int i = 0; i < op->n_out; i++) {
        ir_value *arg = &op->reg[0].args[1 + i];
        bool in_flight = arg->type->kind == IR_T_REG && ir_flight_acc_only(f->k, arg);
        if (!in_flight) {
            wait_for(f, op, p, ir_in(op, 3 + i));
            continue;
        }
        int at = find(p, ir_in(op, 3 + i));
        if (at >= 0)
            drop(p, (size_t)at);
        pending carried = {arg, 0, false};
        pkc_vec_push(f->k->arena, &inner, carried);
    }
    walk_region(f, &op->reg[0], &inner);
    for (int i = 0; i < op->n_out; i++) {
        if (find(&inner, ir_yielded(&op->reg[0], i)) < 0)
            continue;
        pending result = {&op->out[i], 0, false};
        pkc_vec_push(f->k->arena, p, result);
    }
    if (op->next == NULL || (op->next->kind == IR_MMA_WAIT && op->next->attr.i == 0))
        return;
    for (size_t i = 0; i < p->len; i++)
        if (p->data[i].acc->def == op && p->data[i].acc->uses != NULL &&
            !ir_flight_acc_only(f->k, p->data[i].acc)) {
            wait_before(f, op->next, p, 0); // what is read later is waited for where its loop ends
            break;
        }
}

static void copy_outer(ir_flight *f, pendings *to, const pendings *from)
{
    for (size_t i = 0; i < from->len; i++) {
        pending outer = {from->data[i].acc, from->data[i].age, true};
        pkc_vec_push(f->k->arena, to, outer);
    }
}

/// What is in flight after an if was so before it and is in both branches, or is a result that is in one of
/// them.
static void visit_if(ir_flight *f, ir_op *op, pendings *p)
{
    wait_for_reads_inside(f, op, p);
    pendings after = {0};
    pendings branch[2] = {{0}, {0}};
    for (int r = 0; r < 2; r++) {
        copy_outer(f, &branch[r], p);
        walk_region(f, &op->reg[r], &branch[r]);
    }
    for (size_t i = 0; i < p->len; i++) {
        int a = find(&branch[0], p->data[i].acc), b = find(&branch[1], p->data[i].acc);
        if (a < 0 || b < 0)
            continue;
        pkc_vec_push(f->k->arena, &after, p->data[i]);
    }
    for (int i = 0; i < op->n_out; i++) {
        bool flies = false;
        for (int r = 0; r < 2; r++)
            flies = flies || find(&branch[r], ir_yielded(&op->reg[r], i)) >= 0;
        pending result = {&op->out[i], 0, false};
        if (flies)
            pkc_vec_push(f->k->arena, &after, result);
    }
    *p = after;
}

/// The yield of a loop: what its argument's users read must be done, sums may stay in flight. An if's results
/// keep flying.
static void visit_yield(ir_flight *f, ir_op *op, pendings *p)
{
    ir_op *owner = op->parent->owner;
    if (owner == NULL || owner->kind != IR_FOR)
        return;
    for (int i = 0; i < op->n_in; i++)
        if (!ir_flight_acc_only(f->k, &owner->reg[0].args[1 + i]))
            wait_for(f, op, p, ir_in(op, i));
}

static void visit_other(ir_flight *f, ir_op *op, pendings *p)
{
    for (int i = 0; i < op->n_in; i++)
        wait_for(f, op, p, ir_in(op, i));
}

static void visit(ir_flight *f, ir_op *op, pendings *p)
{
    if (op->kind == IR_MMA_ISSUE)
        visit_issue(f, op, p);
    else if (op->kind == IR_MMA_WAIT)
        visit_wait(op, p);
    else if (op->kind == IR_FOR)
        visit_for(f, op, p);
    else if (op->kind == IR_IF)
        visit_if(f, op, p);
    else if (op->kind == IR_YIELD)
        visit_yield(f, op, p);
    else
        visit_other(f, op, p);
}

static void walk_region(ir_flight *f, ir_region *region, pendings *p)
{
    for (ir_op *op = region->first, *next; op != NULL; op = next) {
        next = op->next;
        visit(f, op, p);
    }
}

void ir_flight_waits(ir_flight *f)
{
    pendings p = {0};
    walk_region(f, f->role->body, &p);
}
