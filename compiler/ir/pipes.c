// SPDX-License-Identifier: Apache-2.0
// Pass `pipes`: puts and gets become waits on a slot's barriers, the ops of their bodies, and arrivals.
// Afterwards the state of each end of a pipe is threaded through the body like a variable.
#include "ir/place.h"
#include "ir/slay.h"
#include "ir/slots.h"
#include "ir/vars.h"
#include "support/vec.h"

/// One end of a pipe in one role.
typedef struct end {
    ir_pipe *pipe;
    ir_end side;
    bool loads; // a put of it loads in bulk
} end;

typedef struct piper {
    ir_kernel *k;
    ir_role *role;
    PKC_VEC(end) ends;
    ir_value *start; // stands for every state until they are threaded
    bool ok;
} piper;

static ir_end end_of(const ir_op *op)
{
    return op->kind == IR_PUT ? IR_END_PUT : IR_END_GET;
}

static end *note_end(piper *s, ir_pipe *pipe, ir_end side)
{
    for (size_t i = 0; i < s->ends.len; i++)
        if (s->ends.data[i].pipe == pipe && s->ends.data[i].side == side)
            return &s->ends.data[i];
    end e = {pipe, side, false};
    pkc_vec_push(s->k->arena, &s->ends, e);
    return &s->ends.data[s->ends.len - 1];
}

// ---- bytes that land in a slot
// -------------------------------------------------------------------------------

/// What the paths through a put copy in bulk: the same number of bytes on each, or not.
typedef struct bytes {
    int64_t n;
    bool same;
} bytes;

static bytes bytes_of_list(const ir_op *first, const ir_op *last, const ir_value *slot);

static bytes bytes_of_region(const ir_region *region, const ir_value *slot)
{
    return bytes_of_list(region->first, NULL, slot);
}

/// A loop copies its trip count times its body; only constant bounds are known here.
static bytes bytes_of_for(const ir_op *op, const ir_value *slot)
{
    bytes body = bytes_of_region(&op->reg[0], slot);
    int64_t lo, hi, step;
    if (body.same && body.n == 0)
        return body;
    if (!ir_const_int(ir_in(op, 0), &lo) || !ir_const_int(ir_in(op, 1), &hi) ||
        !ir_const_int(ir_in(op, 2), &step))
        return (bytes){0, false};
    int64_t trips = hi > lo && step > 0 ? (hi - lo + step - 1) / step : 0;
    return (bytes){body.n * trips, body.same};
}

static bytes bytes_of_op(const ir_op *op, const ir_value *slot)
{
    if (op->kind == IR_COPY_IN && ir_tile_slot(ir_copy_tile(op)) == slot) {
        const ir_type *t = ir_copy_tile(op)->type;
        return (bytes){ir_tile_bytes(t->elem, t->rows, t->cols), true};
    }
    if (op->kind == IR_FOR)
        return bytes_of_for(op, slot);
    if (op->kind != IR_IF)
        return (bytes){0, true};
    bytes a = bytes_of_region(&op->reg[0], slot), b = bytes_of_region(&op->reg[1], slot);
    return (bytes){a.n, a.same && b.same && a.n == b.n};
}

/// Ops from `first` up to but not including `last`.
static bytes bytes_of_list(const ir_op *first, const ir_op *last, const ir_value *slot)
{
    bytes sum = {0, true};
    for (const ir_op *op = first; op != last; op = op->next) {
        bytes b = bytes_of_op(op, slot);
        sum.n += b.n;
        sum.same = sum.same && b.same;
    }
    return sum;
}

static bool list_has(const ir_op *first, const ir_op *last, ir_op_kind kind, const ir_value *slot)
{
    for (const ir_op *op = first; op != last; op = op->next)
        if (ir_has_access(op, kind, slot))
            return true;
    return false;
}

// ---- one put or get
// ------------------------------------------------------------------------------------------

static ir_op *build_expect(piper *s, ir_op *before, ir_value *slot, int64_t n, bool arrives)
{
    ir_builder b = {.kernel = s->k, .region = before->parent, .before = before, .pos = before->pos};
    ir_op *op = ir_build(&b, IR_PIPE_EXPECT, 0, 1, &slot, 0, NULL, 0);
    op->attr.i = n;
    op->attr.flag = arrives;
    return op;
}

static void build_arrive(ir_builder *b, ir_value *slot, ir_side side, pkc_span pos)
{
    b->pos = pos;
    ir_build(b, IR_PIPE_ARRIVE, side, 1, &slot, 0, NULL, 0);
}

/// Every bulk load names the slot whose full barrier it completes on; where the paths differ each announces
/// its bytes.
static void finish_copies(piper *s, ir_op *op, ir_value *slot, bool expect_each)
{
    for (int r = 0; r < op->n_reg; r++)
        for (ir_op *o = op->reg[r].first; o != NULL; o = o->next)
            finish_copies(s, o, slot, expect_each);
    if (op->kind != IR_COPY_IN || ir_tile_slot(ir_copy_tile(op)) != slot)
        return;
    const ir_type *t = ir_copy_tile(op)->type;
    if (expect_each)
        build_expect(s, op, slot, ir_tile_bytes(t->elem, t->rows, t->cols), false);
    ir_append_in(s->k, op, slot);
}

/// `first` to `last` (exclusive) are the ops of the put. The expectation of a thin role is also the arrival
/// where it is the same on all paths and nothing else is written.
static void finish_put(piper *s, ir_op *first, ir_op *last, ir_value *slot, pkc_span pos)
{
    bytes b = bytes_of_list(first, last, slot);
    bool arrives = b.same && b.n > 0 && s->role->thin && !list_has(first, last, IR_STORE, slot);
    for (ir_op *op = first; op != last; op = op->next)
        finish_copies(s, op, slot, !b.same);
    if (b.same && b.n > 0) {
        ir_op *expect = build_expect(s, first, slot, b.n, arrives);
        expect->pos = pos;
    }
    if (arrives)
        return;
    ir_builder at = {.kernel = s->k, .region = first->parent, .before = last};
    build_arrive(&at, slot, IR_SIDE_FULL, pos);
}

/// The slot is free after the last op that uses it.
static void finish_get(piper *s, ir_op *wait, ir_op *last, ir_value *slot, pkc_span pos)
{
    ir_op *at = last != NULL ? last->prev : wait->parent->last;
    while (at != wait && !ir_uses_slot(at, slot))
        at = at->prev;
    ir_builder b = {.kernel = s->k, .region = wait->parent, .before = at->next};
    build_arrive(&b, slot, IR_SIDE_FREE, pos);
}

static void bind_fields(piper *s, ir_op *op, ir_value *slot)
{
    ir_builder b = {.kernel = s->k, .region = op->parent, .before = op, .pos = op->pos};
    ir_region *body = &op->reg[0];
    for (int i = 0; i < body->n_args; i++) {
        if (body->args[i].uses == NULL)
            continue;
        const ir_type *type = body->args[i].type;
        ir_op *field = ir_build(&b, IR_FIELD, 0, 1, &slot, 1, &type, 0);
        field->attr.i = i;
        field->out[0].name = body->args[i].name;
        ir_replace(&body->args[i], &field->out[0]);
    }
}

/// Moves the ops of the body in front of `op` and gives its results their values.
static void splice_body(ir_op *op)
{
    ir_region *body = &op->reg[0];
    for (ir_op *o = body->first, *next; o != NULL; o = next) {
        next = o->next;
        if (o->kind != IR_YIELD)
            ir_move_before(o, op);
    }
    for (int i = 0; i < op->n_out; i++)
        ir_replace(&op->out[i], ir_yielded(body, i));
}

static void flatten(piper *s, ir_op *op)
{
    ir_pipe *pipe = op->attr.pipe;
    ir_end side = end_of(op);
    ir_builder b = {.kernel = s->k, .region = op->parent, .before = op, .pos = op->pos};
    const ir_type *types[] = {ir_type_slot(s->k, pipe), ir_type_state(s->k, pipe)};
    ir_op *wait = ir_build(&b, IR_PIPE_WAIT, side == IR_END_PUT ? IR_SIDE_FREE : IR_SIDE_FULL, 1, &s->start,
                           2, types, 0);
    ir_value *slot = &wait->out[0];
    end *e = note_end(s, pipe, side);
    e->loads = e->loads || (side == IR_END_PUT && ir_region_has(&op->reg[0], IR_COPY_IN));
    bind_fields(s, op, slot);
    splice_body(op);
    if (side == IR_END_PUT)
        finish_put(s, wait->next, op, slot, op->pos);
    else
        finish_get(s, wait, op, slot, op->pos);
    ir_erase(op);
}

/// Slots of one pipe that nested puts, or nested gets, of it hold at once.
static int nesting(const ir_op *op)
{
    int depth = 1;
    for (const ir_region *r = op->parent; r != NULL && r->owner != NULL; r = r->owner->parent)
        depth += r->owner->kind == op->kind && r->owner->attr.pipe == op->attr.pipe;
    return depth;
}

static void check_nesting(piper *s, const ir_op *op)
{
    int depth = nesting(op);
    if (depth <= op->attr.pipe->slots)
        return;
    pkc_diag_error(s->k->session, PKC_DIAG_NESTED_SLOTS, op->pos, depth, op->attr.pipe->name,
                   op->attr.pipe->slots);
    s->ok = false;
}

static bool report_signal(ir_op *op, void *user)
{
    piper *s = user;
    if (op->kind != IR_SIGNAL)
        return true;
    pkc_diag *d = pkc_diag_error(s->k->session, PKC_DIAG_SIGNAL_IN_PUT, op->pos);
    pkc_diag_help(d, "%s", "signal after the put");
    s->ok = false;
    return true;
}

/// The loads of a put have not arrived before it ends.
static void check_signal(piper *s, const ir_op *op)
{
    if (op->kind == IR_PUT && ir_region_has(&op->reg[0], IR_COPY_IN))
        ir_walk(&op->reg[0], report_signal, NULL, s);
}

static void flatten_region(piper *s, ir_region *region)
{
    for (ir_op *op = region->first, *next; op != NULL; op = next) {
        next = op->next;
        bool ends = op->kind == IR_PUT || op->kind == IR_GET;
        if (ends) {
            check_nesting(s, op);
            check_signal(s, op);
        }
        for (int r = 0; r < op->n_reg; r++)
            flatten_region(s, &op->reg[r]);
        if (ends)
            flatten(s, op);
    }
}

// ---- states
// --------------------------------------------------------------------------------------------------

static int end_index(const piper *s, const ir_op *op)
{
    ir_end side = op->sub == IR_SIDE_FREE ? IR_END_PUT : IR_END_GET;
    for (size_t i = 0; i < s->ends.len; i++)
        if (s->ends.data[i].pipe == op->out[0].type->pipe && s->ends.data[i].side == side)
            return (int)i;
    return -1;
}

static bool sets_state(const ir_op *op, int var, void *user)
{
    return op->kind == IR_PIPE_WAIT && end_index(user, op) == var;
}

/// What is told to other roles or ranks holds for the bulk loads before it too: they have arrived.
static void wait_landed(ir_vars *v, ir_op *op)
{
    const piper *s = v->user;
    ir_builder b = {.kernel = s->k, .region = op->parent, .before = op, .pos = op->pos};
    for (size_t i = 0; i < s->ends.len; i++)
        if (s->ends.data[i].loads)
            ir_build(&b, IR_PIPE_LANDED, 0, 1, &v->cur[i], 0, NULL, 0);
}

static void thread_state(ir_vars *v, ir_op *op)
{
    if (op->kind == IR_SIGNAL || op->kind == IR_BARRIER)
        wait_landed(v, op);
    if (op->kind != IR_PIPE_WAIT)
        return;
    int i = end_index(v->user, op);
    ir_set_in(op, 0, v->cur[i]);
    v->cur[i] = &op->out[1];
}

static void thread_states(piper *s)
{
    int n = (int)s->ends.len;
    ir_vars v = {.k = s->k, .n = n, .user = s, .sets = sets_state, .visit = thread_state};
    v.types = PKC_NEW_ARRAY(s->k->arena, const ir_type *, n);
    v.cur = PKC_NEW_ARRAY(s->k->arena, ir_value *, n);
    ir_builder b = {
        .kernel = s->k, .region = s->role->body, .before = s->role->body->first, .pos = s->role->pos};
    for (int i = 0; i < n; i++) {
        v.types[i] = ir_type_state(s->k, s->ends.data[i].pipe);
        ir_op *start = ir_build(&b, IR_PST, s->ends.data[i].side, 0, NULL, 1, &v.types[i], 0);
        start->attr.pipe = s->ends.data[i].pipe;
        v.cur[i] = &start->out[0];
    }
    ir_vars_walk(&v, s->role->body);
}

/// A state that all waits share until the real ones are threaded through; nothing uses it afterwards.
static ir_op *build_placeholder(piper *s)
{
    ir_builder b = {
        .kernel = s->k, .region = s->role->body, .before = s->role->body->first, .pos = s->role->pos};
    const ir_type *type = ir_type_state(s->k, s->k->pipes);
    ir_op *op = ir_build(&b, IR_POISON, 0, 0, NULL, 1, &type, 0);
    s->start = &op->out[0];
    return op;
}

static int arrivals(const ir_role *role)
{
    return role->thin ? 1 : ir_role_warps(role);
}

/// Arrivals a phase: of the putter on the full barriers, of all getters on the free ones.
static void count_arrivals(piper *s)
{
    for (size_t i = 0; i < s->ends.len; i++) {
        end e = s->ends.data[i];
        if (e.side == IR_END_PUT) {
            e.pipe->putter = s->role;
            e.pipe->full_count = arrivals(s->role);
        } else {
            e.pipe->free_count += arrivals(s->role);
        }
    }
}

static bool run_role(ir_kernel *k, ir_role *role)
{
    piper s = {.k = k, .role = role, .ok = true};
    ir_op *placeholder = build_placeholder(&s);
    flatten_region(&s, role->body);
    thread_states(&s);
    count_arrivals(&s);
    ir_erase(placeholder);
    return s.ok;
}

bool ir_pass_pipes(ir_kernel *k, const ir_options *options)
{
    (void)options;
    bool ok = true;
    if (k->pipes == NULL) {
        k->form = IR_FORM_P;
        return true;
    }
    for (ir_pipe *p = k->pipes; p != NULL; p = p->next)
        p->full_count = p->free_count = 0;
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            ok = run_role(k, r) && ok;
    k->form = IR_FORM_P;
    return ok;
}
