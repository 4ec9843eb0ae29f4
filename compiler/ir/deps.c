// SPDX-License-Identifier: Apache-2.0
#include "ir/deps.h"

#include "support/vec.h"

/// One role at one end of a pipe, one signal array, or the barrier.
typedef struct meeting {
    const ir_role *role;
    const ir_pipe *pipe;    // or NULL
    const ir_param *param;  // or NULL; both NULL: a barrier
    bool gives;             // puts, signals
    const ir_region *where; // of the op; NULL after a second one at another place
    int count;
} meeting;

struct ir_deps {
    ir_kernel *k;
    int n;
    const ir_role **roles;
    bool *edge; // n * n
    PKC_VEC(meeting) meetings;
};

typedef struct collector {
    ir_deps *deps;
    const ir_role *role;
} collector;

static void add_meeting(collector *c, const ir_op *op, const ir_pipe *pipe, const ir_param *param, bool gives)
{
    ir_deps *d = c->deps;
    for (size_t i = 0; i < d->meetings.len; i++) {
        meeting *m = &d->meetings.data[i];
        if (m->role != c->role || m->pipe != pipe || m->param != param || m->gives != gives)
            continue;
        m->count++;
        m->where = NULL;
        return;
    }
    meeting m = {c->role, pipe, param, gives, op->parent, 1};
    pkc_vec_push(d->k->arena, &d->meetings, m);
}

static bool collect(ir_op *op, void *user)
{
    collector *c = user;
    switch ((int)op->kind) { // only ops at which roles meet
    case IR_PUT:
    case IR_GET:
        add_meeting(c, op, op->attr.pipe, NULL, op->kind == IR_PUT);
        break;
    case IR_PIPE_WAIT:
        add_meeting(c, op, op->out[0].type->pipe, NULL, op->sub == IR_SIDE_FREE);
        break;
    case IR_SIGNAL:
    case IR_WAIT:
        add_meeting(c, op, NULL, ir_in(op, 0)->def->attr.param, op->kind == IR_SIGNAL);
        break;
    case IR_BARRIER:
        add_meeting(c, op, NULL, NULL, true);
        break;
    }
    return true;
}

static int index_of(const ir_deps *d, const ir_role *role)
{
    for (int i = 0; i < d->n; i++)
        if (d->roles[i] == role)
            return i;
    return -1;
}

/// The second waits for the first. A pipe's ends wait for each other; a waiter waits for signallers.
static bool waits_for(const meeting *first, const meeting *second)
{
    if (first->pipe != second->pipe || first->param != second->param)
        return false;
    if (first->pipe != NULL)
        return first->gives != second->gives;
    return first->param == NULL || (first->gives && !second->gives);
}

static void link_meetings(ir_deps *d)
{
    for (size_t a = 0; a < d->meetings.len; a++)
        for (size_t b = 0; b < d->meetings.len; b++) {
            const meeting *x = &d->meetings.data[a], *y = &d->meetings.data[b];
            if (a != b && waits_for(x, y))
                d->edge[index_of(d, x->role) * d->n + index_of(d, y->role)] = true;
        }
}

ir_deps *ir_deps_new(ir_kernel *k)
{
    ir_deps *d = PKC_NEW(k->arena, ir_deps);
    d->k = k;
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            d->n++;
    d->roles = PKC_NEW_ARRAY(k->arena, const ir_role *, d->n);
    d->edge = PKC_NEW_ARRAY(k->arena, bool, d->n * d->n);
    int at = 0;
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next) {
            d->roles[at++] = r;
            collector c = {d, r};
            ir_walk(r->body, collect, NULL, &c);
        }
    link_meetings(d);
    return d;
}

static bool reaches(const ir_deps *d, int from, int to, int except, bool *seen)
{
    if (from == to)
        return true;
    if (from == except || seen[from])
        return false;
    seen[from] = true;
    for (int i = 0; i < d->n; i++)
        if (d->edge[from * d->n + i] && i != except && reaches(d, i, to, except, seen))
            return true;
    return false;
}

bool ir_deps_path(const ir_deps *deps, const ir_role *from, const ir_role *to, const ir_role *except)
{
    bool *seen = PKC_NEW_ARRAY(deps->k->arena, bool, deps->n);
    return reaches(deps, index_of(deps, from), index_of(deps, to), index_of(deps, except), seen);
}

static const meeting *find_meeting(const ir_deps *d, const ir_role *role, const ir_pipe *pipe, bool gives)
{
    for (size_t i = 0; i < d->meetings.len; i++) {
        const meeting *m = &d->meetings.data[i];
        if (m->role == role && m->pipe == pipe && m->gives == gives && m->param == NULL)
            return m;
    }
    return NULL;
}

/// Both pipes are put at one place each of one region: the n-th slot of each before the next of the other.
static bool put_in_step(const ir_deps *d, const ir_role *putter, const ir_pipe *a, const ir_pipe *b)
{
    const meeting *pa = find_meeting(d, putter, a, true), *pb = find_meeting(d, putter, b, true);
    return pa != NULL && pb != NULL && pa->where != NULL && pa->where == pb->where;
}

/// Both pipes are put at one place each of one region, and got so too: the putter is never more than one slot
/// of the one ahead of the other.
static bool in_step(const ir_deps *d, const ir_role *putter, const ir_role *getter, const ir_pipe *a,
                    const ir_pipe *b)
{
    const meeting *ga = find_meeting(d, getter, a, false), *gb = find_meeting(d, getter, b, false);
    return put_in_step(d, putter, a, b) && ga != NULL && gb != NULL && ga->where != NULL &&
           ga->where == gb->where;
}

/// Two pipes of one getter.
typedef struct pair {
    const ir_pipe *a, *b;
} pair;

static bool leads(const ir_region *region, pair p, int *ahead);

/// An if on the path where `cond` holds, path[0], and on the other one. Until an if has made them differ they
/// are one, and `cond` is NULL.
static bool leads_if(const ir_op *op, pair p, const ir_value **cond, int path[2])
{
    int after[2][2];
    bool same = *cond == ir_in(op, 0);
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < 2; r++) {
            after[i][r] = path[i];
            if ((!same || i == r) && !leads(&op->reg[r], p, &after[i][r]))
                return false;
        }
    bool even = after[0][0] == after[0][1] && after[1][0] == after[1][1];
    if (!same && !even && *cond != NULL)
        return false;
    if (!even)
        *cond = ir_in(op, 0);
    for (int i = 0; i < 2; i++)
        path[i] = after[i][i];
    return true;
}

/// Whether on every path the slots of a got so far are at least those of b; `ahead`: by how many. Loops
/// leave that as it was.
static bool leads(const ir_region *region, pair p, int *ahead)
{
    int path[2] = {*ahead, *ahead};
    const ir_value *cond = NULL;
    for (const ir_op *op = region->first; op != NULL; op = op->next) {
        bool gets = op->kind == IR_PIPE_WAIT && op->sub == IR_SIDE_FULL;
        if (op->kind == IR_IF && !leads_if(op, p, &cond, path))
            return false;
        for (int i = 0; i < 2; i++) {
            path[i] += gets ? (op->out[0].type->pipe == p.a) - (op->out[0].type->pipe == p.b) : 0;
            int after = path[i];
            bool loop = op->kind == IR_FOR;
            if (path[i] < 0 || (loop && (!leads(&op->reg[0], p, &after) || after != path[i])))
                return false;
        }
    }
    *ahead = path[0];
    return path[0] == path[1];
}

static const ir_role *putter_of(const ir_deps *d, const ir_pipe *pipe)
{
    for (size_t i = 0; i < d->meetings.len; i++)
        if (d->meetings.data[i].pipe == pipe && d->meetings.data[i].gives)
            return d->meetings.data[i].role;
    return NULL;
}

/// What the op waits at, as the other side sees it.
static meeting met_by(const ir_role *role, const ir_op *op)
{
    meeting m = {.role = role};
    if (op->kind == IR_PIPE_WAIT) {
        m.pipe = op->out[0].type->pipe;
        m.gives = op->sub == IR_SIDE_FREE;
    } else if (op->kind == IR_WAIT) {
        m.param = ir_in(op, 0)->def->attr.param;
    }
    return m;
}

bool ir_deps_may_hold(const ir_deps *deps, const ir_role *role, const ir_op *op, const ir_pipe *pipe)
{
    meeting at = met_by(role, op);
    const ir_role *putter = putter_of(deps, pipe);
    if (op->kind == IR_BARRIER || putter == NULL)
        return false;
    if (at.pipe == pipe)
        return true; // one slot less than there are is held at most
    if (at.pipe != NULL && !at.gives && in_step(deps, putter, role, pipe, at.pipe))
        return true;
    // A slot that is held is one that the putter filled no earlier than the one waited for, or just before
    // it.
    int ahead = 0;
    if (at.pipe != NULL && !at.gives && put_in_step(deps, putter, pipe, at.pipe) &&
        leads(role->body, (pair){pipe, at.pipe}, &ahead))
        return true;
    for (size_t i = 0; i < deps->meetings.len; i++) {
        const meeting *m = &deps->meetings.data[i];
        if (m->role != role && waits_for(m, &at) && ir_deps_path(deps, putter, m->role, role))
            return false;
    }
    return true;
}
