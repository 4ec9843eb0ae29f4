// SPDX-License-Identifier: Apache-2.0
// Pass `defer`: the tail of a task, puts that hand registers over, runs inside the products of the next task.
//
//     for t { acc = for k { get { mma } }   put 0 .. put n-1 }
// becomes
//     for t carry (packed values = poison, next = n) {
//         acc, i = for k carry (i = next) { get { mma }   if i == c && due { put c } for each c   i += due }
//         if i <= c { put c } for each c          what a short k loop left over
//         yield the values that the puts store, 0 }
//     if next <= c { put c } for each c
// where `due` spreads the n puts over the k loop. The chain of ifs is no switch on purpose: a multiway branch
// while a product is in flight makes ptxas inject waits.
//
// Legal when (i) the tail does nothing but these puts; (ii) before it an iteration only gets, multiplies and
// computes; (iii) no putter of what is got there waits, but through this role, for a getter of the tail's
// pipe; (iv) the registers suffice. Otherwise the body stays as it is.
#include "ir/defer.h"
#include "ir/deps.h"
#include "ir/place.h"
#include "ir/regs.h"
#include "support/vec.h"

enum { MAX_CHUNKS = 16 };

typedef struct tail {
    ir_kernel *k;
    ir_role *role;
    ir_op *outer, *inner; // the loop over tasks and the loop with the product
    int n;
    ir_op *put[MAX_CHUNKS];
    PKC_VEC(ir_value *) values; // that the puts read and an iteration makes
    int first, next;            // numbers of their carries and of `next` in the outer loop
} tail;

static bool is_pure(const ir_op *op)
{
    return ir_op_effects(op->kind) == IR_PURE && op->n_reg == 0;
}

// ---- legality
// ------------------------------------------------------------------------------------------------

/// (i): only pure ops and stores to the slot.
static bool put_fits(const ir_op *put)
{
    if (put->n_out > 0)
        return false;
    for (const ir_op *op = put->reg[0].first; op != NULL; op = op->next) {
        bool stores = op->kind == IR_STORE && ir_in(op, 1)->owner == &put->reg[0];
        if (!stores && !is_pure(op))
            return false;
    }
    return true;
}

typedef struct head_check {
    bool ok, mma;
} head_check;

static bool check_head(ir_op *op, void *user)
{
    head_check *c = user;
    bool region = op->kind == IR_FOR || op->kind == IR_IF || op->kind == IR_GET;
    c->mma = c->mma || op->kind == IR_MMA;
    c->ok = c->ok && (region || op->kind == IR_MMA || is_pure(op));
    return c->ok;
}

/// (ii): what an iteration does before its tail, the loop with the product included.
static bool head_fits(const tail *t)
{
    head_check c = {true, false};
    for (ir_op *op = t->outer->reg[0].first; op != t->inner->next && c.ok; op = op->next) {
        check_head(op, &c);
        for (int r = 0; r < op->n_reg; r++)
            ir_walk(&op->reg[r], check_head, NULL, &c);
    }
    head_check inner = {true, false};
    ir_walk(&t->inner->reg[0], check_head, NULL, &inner);
    return c.ok && inner.mma;
}

typedef struct path_check {
    const tail *t;
    const ir_deps *deps;
    const ir_role *getter;
    bool ok;
} path_check;

static bool check_path(ir_op *op, void *user)
{
    path_check *c = user;
    if (op->kind == IR_GET && op->attr.pipe->putter != NULL &&
        ir_deps_path(c->deps, c->getter, op->attr.pipe->putter, c->t->role))
        c->ok = false;
    return c->ok;
}

typedef struct get_check {
    const ir_pipe *pipe;
    bool found;
} get_check;

static bool find_get(ir_op *op, void *user)
{
    get_check *c = user;
    c->found = c->found || (op->kind == IR_GET && op->attr.pipe == c->pipe);
    return !c->found;
}

/// (iii), for every role that gets from the tail's pipe.
static bool order_fits(const tail *t)
{
    const ir_deps *deps = ir_deps_new(t->k);
    for (ir_group *g = t->k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next) {
            get_check gets = {t->put[0]->attr.pipe, false};
            ir_walk(r->body, find_get, NULL, &gets);
            path_check c = {t, deps, r, true};
            if (gets.found)
                ir_walk(&t->outer->reg[0], check_path, NULL, &c);
            if (!c.ok)
                return false;
        }
    return true;
}

// ---- finding
// -------------------------------------------------------------------------------------------------

/// Walks back from the end of the loop's body over puts of one pipe and pure ops to the loop with the
/// product.
static bool find_tail(tail *t)
{
    ir_op *op = t->outer->reg[0].last;
    if (op != NULL && op->kind == IR_YIELD)
        op = op->prev;
    for (; op != NULL && (op->kind == IR_PUT || is_pure(op)); op = op->prev) {
        if (op->kind != IR_PUT)
            continue;
        if (t->n == MAX_CHUNKS || !put_fits(op) || (t->n > 0 && op->attr.pipe != t->put[0]->attr.pipe))
            return false;
        t->put[t->n++] = op;
    }
    t->inner = op;
    for (int i = 0; i < t->n / 2; i++) {
        ir_op *swap = t->put[i];
        t->put[i] = t->put[t->n - 1 - i];
        t->put[t->n - 1 - i] = swap;
    }
    int64_t step;
    return t->n > 0 && op != NULL && op->kind == IR_FOR && ir_const_int(ir_in(op, 2), &step) && step == 1;
}

/// The loop's own results, which the tail or a later iteration reads, are fine; gets of other loops in the
/// tail are not.
static bool fits(tail *t)
{
    return find_tail(t) && head_fits(t) && order_fits(t);
}

// ---- changing
// ------------------------------------------------------------------------------------------------

static bool depends_on(const ir_op *op, const ir_region *region)
{
    for (int i = 0; i < op->n_in; i++) {
        const ir_value *v = ir_in(op, i);
        if (v->owner == region || (v->def != NULL && v->def->parent == region))
            return true;
    }
    return false;
}

/// Pure ops that need nothing of the slot leave the put, in order: slices and casts are then done in the
/// iteration.
static void hoist_pure(ir_op *put)
{
    for (ir_op *op = put->reg[0].first, *next; op != NULL; op = next) {
        next = op->next;
        if (op->kind != IR_YIELD && is_pure(op) && !depends_on(op, &put->reg[0]))
            ir_move_before(op, put);
    }
}

static void add_value(tail *t, ir_value *v)
{
    const ir_region *home = v->def != NULL ? v->def->parent : v->owner;
    if (home != &t->outer->reg[0])
        return;
    for (size_t i = 0; i < t->values.len; i++)
        if (t->values.data[i] == v)
            return;
    pkc_vec_push(t->k->arena, &t->values, v);
}

/// What the puts read of the values that the iteration makes.
static void collect_values(tail *t)
{
    for (int c = 0; c < t->n; c++) {
        hoist_pure(t->put[c]);
        for (ir_op *op = t->put[c]->reg[0].first; op != NULL; op = op->next)
            for (int i = 0; i < op->n_in; i++)
                add_value(t, ir_in(op, i));
    }
}

/// Constants are not carried: the puts' copies make their own.
static void add_carries(tail *t)
{
    ir_kernel *k = t->k;
    ir_builder b = {.kernel = k, .region = t->outer->parent, .before = t->outer, .pos = t->outer->pos};
    t->first = t->outer->n_out;
    for (size_t i = 0; i < t->values.len; i++) {
        const ir_type *type = t->values.data[i]->type;
        ir_value *nothing = &ir_build(&b, IR_POISON, 0, 0, NULL, 1, &type, 0)->out[0];
        ir_add_carry(k, t->outer, nothing, type);
    }
    ir_value *none = ir_build_int(&b, PKC_E_I32, t->n);
    ir_add_carry(k, t->outer, none, none->type);
    t->next = t->outer->n_out - 1;
}

/// `if cond { put c }` with the values of the iteration before: arguments of the outer loop, or its results
/// behind it.
static void build_chunk(tail *t, ir_builder *b, int c, ir_value *cond, ir_value *values)
{
    ir_op *branch = ir_build_if(b, cond, 0, NULL);
    ir_map *map = ir_map_new(t->k->arena);
    for (size_t i = 0; i < t->values.len; i++)
        ir_map_set(map, t->values.data[i], &values[i]);
    ir_builder in = {
        .kernel = t->k, .region = &branch->reg[0], .before = branch->reg[0].first, .pos = b->pos};
    ir_clone_op(&in, t->put[c], map);
}

static void build_rest(tail *t, ir_builder *b, ir_value *next, ir_value *values)
{
    for (int c = 0; c < t->n; c++) {
        ir_value *number = ir_build_int(b, PKC_E_I32, c);
        build_chunk(t, b, c, ir_build_cmp(b, IR_CMP_LE, next, number), values);
    }
}

static ir_builder behind(tail *t, ir_op *op)
{
    return (ir_builder){.kernel = t->k, .region = op->parent, .before = op->next, .pos = t->put[0]->pos};
}

/// At the end of each iteration of the inner loop: the next put, when its share of the trip count is reached.
static void spread(tail *t)
{
    ir_kernel *k = t->k;
    ir_value *start = &t->outer->reg[0].args[1 + t->next];
    ir_add_carry(k, t->inner, start, start->type);
    int index = t->inner->n_out - 1;
    ir_region *body = &t->inner->reg[0];
    ir_op *last = body->last != NULL && body->last->kind == IR_YIELD ? body->last : NULL;
    ir_builder b = {.kernel = k, .region = body, .before = last, .pos = t->put[0]->pos};
    ir_value *i = &body->args[1 + index], *lo = ir_in(t->inner, 0), *hi = ir_in(t->inner, 1);
    ir_value *done = ir_build_bin(&b, IR_BIN_SUB, &body->args[0], lo),
             *trips = ir_build_bin(&b, IR_BIN_SUB, hi, lo);
    ir_value *share = ir_build_bin(&b, IR_BIN_MUL, done, ir_build_int(&b, PKC_E_I32, t->n));
    ir_value *due = ir_build_cmp(&b, IR_CMP_GE, share, ir_build_bin(&b, IR_BIN_MUL, i, trips));
    for (int c = 0; c < t->n; c++) {
        ir_value *mine = ir_build_cmp(&b, IR_CMP_EQ, i, ir_build_int(&b, PKC_E_I32, c));
        build_chunk(t, &b, c, ir_build_bin(&b, IR_BIN_AND, mine, due), &t->outer->reg[0].args[1 + t->first]);
    }
    ir_value *more = ir_build_bin(&b, IR_BIN_ADD, i, ir_build_int(&b, PKC_E_I32, 1));
    ir_set_yield(k, t->inner, 0, index, ir_build_select(&b, due, more, i));
}

static void yield_values(tail *t)
{
    for (size_t i = 0; i < t->values.len; i++)
        ir_set_yield(t->k, t->outer, 0, t->first + (int)i, t->values.data[i]);
    ir_op *yield = t->outer->reg[0].last;
    ir_builder b = {.kernel = t->k, .region = yield->parent, .before = yield, .pos = t->outer->pos};
    ir_set_yield(t->k, t->outer, 0, t->next, ir_build_int(&b, PKC_E_I32, 0));
}

static void change(tail *t)
{
    collect_values(t);
    add_carries(t);
    spread(t);
    ir_builder b = behind(t, t->inner);
    build_rest(t, &b, &t->inner->out[t->inner->n_out - 1], &t->outer->reg[0].args[1 + t->first]);
    yield_values(t);
    b = behind(t, t->outer);
    build_rest(t, &b, &t->outer->out[t->next], &t->outer->out[t->first]);
    for (int c = 0; c < t->n; c++)
        ir_erase(t->put[c]);
}

// ---- roles
// ---------------------------------------------------------------------------------------------------

static ir_op *first_fit(ir_kernel *k, ir_role *role, ir_region *region, tail *out)
{
    for (ir_op *op = region->first; op != NULL; op = op->next) {
        *out = (tail){.k = k, .role = role, .outer = op};
        if (op->kind == IR_FOR && fits(out))
            return op;
        for (int r = 0; r < op->n_reg; r++)
            if (first_fit(k, role, &op->reg[r], out) != NULL)
                return out->outer;
    }
    return NULL;
}

/// Condition (iv) is tried out: where the registers do not suffice the body becomes again what it was.
static void run_role(ir_kernel *k, ir_role *role, const ir_options *options)
{
    tail t;
    if (first_fit(k, role, role->body, &t) == NULL)
        return;
    ir_region *before = ir_clone_region(k, role->body, ir_map_new(k->arena));
    change(&t);
    int estimate = (int)ir_role_pressure(k, role).regs + IR_REGS_ADDRESSES;
    if (estimate > ir_role_budget(k, role, options->regs_per_sm))
        role->body = before;
    else
        role->reg_estimate = estimate;
}

bool ir_pass_defer(ir_kernel *k, const ir_options *options)
{
    if (options->no_defer)
        return true;
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next) {
            ir_defer_product(k, r, options);
            run_role(k, r, options);
        }
    return true;
}
