// SPDX-License-Identifier: Apache-2.0
// Slots that bulk stores read: at the place where such a slot would be freed its stores are committed as one
// group, and the slot is freed when d more groups have been committed and a wait leaves no more than those.
// The slots held back shift through d variables, each with a flag. d is half of the slots: with all but one
// held the putter could fill only one at a time.
#include "ir/flight.h"
#include "ir/slots.h"
#include "ir/vars.h"
#include "support/vec.h"

/// Variables of a pipe: first + 2 i is the slot that was committed i + 1 groups ago, first + 2 i + 1 whether
/// there is one.
typedef struct held {
    const ir_pipe *pipe;
    int depth, first;
} held;

typedef struct bulk {
    ir_flight *f;
    PKC_VEC(held) held;
} bulk;

static bool copies_out_before(const ir_op *arrive)
{
    const ir_value *slot = ir_in(arrive, 0);
    for (const ir_op *o = arrive->prev; o != NULL; o = o->prev)
        if (ir_has_access(o, IR_COPY_OUT, slot))
            return true;
    return false;
}

static bool is_site(const ir_op *op)
{
    return op->kind == IR_PIPE_ARRIVE && op->sub == IR_SIDE_FREE && copies_out_before(op);
}

static held *held_of(bulk *s, const ir_pipe *pipe)
{
    for (size_t i = 0; i < s->held.len; i++)
        if (s->held.data[i].pipe == pipe)
            return &s->held.data[i];
    return NULL;
}

typedef struct block_check {
    const bulk *s;
    const ir_pipe *pipe;
    bool ok;
} block_check;

static bool check_block(ir_op *op, void *user)
{
    block_check *c = user;
    bool blocks = op->kind == IR_PIPE_WAIT || op->kind == IR_WAIT || op->kind == IR_BARRIER;
    if (blocks && !ir_deps_may_hold(c->s->f->deps, c->s->f->role, op, c->pipe))
        c->ok = false;
    return c->ok;
}

typedef struct site_count {
    const ir_pipe *pipe;
    int n;
} site_count;

static bool count_site(ir_op *op, void *user)
{
    site_count *c = user;
    c->n += is_site(op) && ir_in(op, 0)->type->pipe == c->pipe;
    return true;
}

/// Slots are filled in turn, so every get of the pipe must pass the held ones on.
static bool all_are_sites(const bulk *s, const ir_pipe *pipe)
{
    site_count c = {pipe, 0};
    ir_walk(s->f->role->body, count_site, NULL, &c);
    return c.n == ir_count_gets(s->f->role->body, pipe);
}

/// Slots that may be held back while the role waits for anything it waits for.
static int depth_of(const bulk *s, const ir_pipe *pipe)
{
    block_check c = {s, pipe, s->f->late && all_are_sites(s, pipe)};
    ir_walk(s->f->role->body, check_block, NULL, &c);
    return c.ok ? pipe->slots / 2 : 0;
}

static bool find_pipes(ir_op *op, void *user)
{
    bulk *s = user;
    if (!is_site(op))
        return true;
    const ir_pipe *pipe = ir_in(op, 0)->type->pipe;
    if (held_of(s, pipe) != NULL)
        return true;
    int first = s->held.len == 0 ? 0 : pkc_vec_last(&s->held).first + 2 * pkc_vec_last(&s->held).depth;
    held h = {pipe, depth_of(s, pipe), first};
    pkc_vec_push(s->f->k->arena, &s->held, h);
    return true;
}

static void build_commit(ir_builder *b, int left)
{
    const ir_type *token = ir_type_token(b->kernel, IR_TOK_BULK);
    ir_build(b, IR_BULK_COMMIT, 0, 0, NULL, 1, &token, 0);
    ir_build(b, IR_BULK_WAIT, IR_BULK_READ, 0, NULL, 0, NULL, 0)->attr.i = left;
}

/// Stores whose tile is not freed in this role's hands are waited for at once.
static bool commit_others(ir_op *op, void *user)
{
    bulk *s = user;
    if (op->kind != IR_COPY_OUT)
        return true;
    const ir_value *slot = ir_tile_slot(ir_in(op, 1));
    if (slot != NULL && slot->def != NULL && slot->def->sub == IR_SIDE_FULL)
        return true;
    ir_builder b = {.kernel = s->f->k, .region = op->parent, .before = op->next, .pos = op->pos};
    build_commit(&b, 0);
    return true;
}

static bool sets_held(const ir_op *op, int var, void *user)
{
    bulk *s = user;
    if (!is_site(op))
        return false;
    const held *h = held_of(s, ir_in(op, 0)->type->pipe);
    return var >= h->first && var < h->first + 2 * h->depth;
}

static void visit_site(ir_vars *v, ir_op *op)
{
    bulk *s = v->user;
    if (!is_site(op))
        return;
    const held *h = held_of(s, ir_in(op, 0)->type->pipe);
    ir_builder b = {.kernel = v->k, .region = op->parent, .before = op, .pos = op->pos};
    build_commit(&b, h->depth);
    if (h->depth == 0)
        return;
    ir_value **cur = &v->cur[h->first];
    int last = 2 * (h->depth - 1);
    ir_value *in[] = {cur[last], cur[last + 1]};
    ir_build(&b, IR_PIPE_ARRIVE, IR_SIDE_FREE, 2, in, 0, NULL, 0);
    for (int i = last; i > 0; i -= 2) {
        cur[i] = cur[i - 2];
        cur[i + 1] = cur[i - 1];
    }
    cur[0] = ir_in(op, 0);
    cur[1] = ir_build_int(&b, PKC_E_BOOL, 1);
    ir_erase(op);
}

static void start_held(bulk *s, ir_vars *v, const held *h)
{
    ir_region *body = s->f->role->body;
    ir_builder b = {.kernel = v->k, .region = body, .before = body->first, .pos = s->f->role->pos};
    for (int i = 0; i < h->depth; i++) {
        int at = h->first + 2 * i;
        v->types[at] = ir_type_slot(v->k, h->pipe);
        v->types[at + 1] = ir_type_scalar(v->k, PKC_E_BOOL);
        v->cur[at] = &ir_build(&b, IR_POISON, 0, 0, NULL, 1, &v->types[at], 0)->out[0];
        v->cur[at + 1] = ir_build_int(&b, PKC_E_BOOL, 0);
    }
}

/// The last slots held are never freed: the putter puts no more than is got.
void ir_flight_bulk(ir_flight *f)
{
    bulk s = {.f = f};
    ir_kernel *k = f->k;
    ir_walk(f->role->body, commit_others, NULL, &s);
    ir_walk(f->role->body, find_pipes, NULL, &s);
    if (s.held.len == 0)
        return;
    int n = pkc_vec_last(&s.held).first + 2 * pkc_vec_last(&s.held).depth;
    ir_vars v = {.k = k, .n = n, .user = &s, .sets = sets_held, .visit = visit_site};
    v.types = PKC_NEW_ARRAY(k->arena, const ir_type *, n > 0 ? n : 1);
    v.cur = PKC_NEW_ARRAY(k->arena, ir_value *, n > 0 ? n : 1);
    for (size_t i = 0; i < s.held.len; i++)
        start_held(&s, &v, &s.held.data[i]);
    ir_vars_walk(&v, f->role->body);
}
