// SPDX-License-Identifier: Apache-2.0
// The other half of the pass `defer`: a loop whose iterations begin with one product and end with another, as
// attention does, runs the last product of an iteration behind the first one of the next.
//
//     for j { s = get a { mma }   x = f(s, x)   y = get b { mma(g(y), x) } }
// becomes
//     if lo < hi { s = get a { mma }   x = f(s, x)   w = g(y)                     the first iteration
//                  for j = lo + 1 .. { s = get a { mma }   y = get b { mma(w, x) }   x = f(s, x)   w = g(y) }
//                  }
//     if lo < hi { y = get b { mma(w, x) } }                                      the last product
// The product with b is then in flight while f, which needs only s, is computed. The first iteration is
// peeled: a product under a condition would make ptxas serialise.
//
// Legal when (i) the last thing with an effect is the get with a product, the first is another; (ii) what
// lies between is computation; (iii) the sum that the last product makes is not looked at before or in the
// first; (iv) the putter of a can go on with a's next slot though b's is freed later; (v) registers suffice.
#include "ir/defer.h"

#include "ir/place.h"
#include "ir/regs.h"
#include "support/vec.h"

typedef struct turn {
    ir_kernel *k;
    ir_role *role;
    ir_op *loop, *first, *last; // the gets
    PKC_VEC(ir_value *) values; // that the last get reads and an iteration makes or carries
    bool *sum;                  // of carry i: the last get makes its next value
    int n_sums;
    ir_value *runs; // the loop has an iteration
} turn;

// ---- legality ------------------------------------------------------------------------------------------

static bool computes(const ir_op *op);

static bool region_computes(const ir_region *region)
{
    for (const ir_op *op = region->first; op != NULL; op = op->next)
        if (!computes(op))
            return false;
    return true;
}

/// Pure, or an if or a loop of such ops.
static bool computes(const ir_op *op)
{
    if (op->kind == IR_IF || op->kind == IR_FOR)
        return region_computes(&op->reg[0]) && (op->n_reg < 2 || region_computes(&op->reg[1]));
    return op->n_reg == 0 && ir_op_effects(op->kind) == IR_PURE;
}

/// A get that makes one product and otherwise computes.
static bool is_product(const ir_op *op)
{
    int products = 0;
    if (op == NULL || op->kind != IR_GET)
        return false;
    for (const ir_op *o = op->reg[0].first; o != NULL; o = o->next) {
        if (o->kind != IR_MMA && !computes(o))
            return false;
        products += o->kind == IR_MMA;
    }
    return products == 1;
}

/// (i) and (ii).
static bool find_gets(turn *t)
{
    ir_region *body = &t->loop->reg[0];
    for (ir_op *op = body->first; op != NULL; op = op->next) {
        if (op->kind == IR_YIELD || computes(op))
            continue;
        if (!is_product(op) || (t->first != NULL && t->last != NULL))
            return false;
        *(t->first == NULL ? &t->first : &t->last) = op;
    }
    return t->last != NULL && t->first->attr.pipe != t->last->attr.pipe;
}

static bool stands_before(const ir_op *op, const ir_op *other)
{
    for (const ir_op *o = op; o != NULL; o = o->next)
        if (o == other)
            return true;
    return false;
}

/// The op of the loop's body in which the user stands.
static const ir_op *top_of(const turn *t, const ir_op *user)
{
    while (user->parent != &t->loop->reg[0])
        user = user->parent->owner;
    return user;
}

/// (iii): of the carries that the last get makes nothing is read up to the first get, and the last get's
/// results go nowhere but into the next iteration.
static bool sums_fit(turn *t)
{
    ir_region *body = &t->loop->reg[0];
    t->sum = PKC_NEW_ARRAY(t->k->arena, bool, t->loop->n_out + 1);
    for (int i = 0; i < t->loop->n_out; i++) {
        t->sum[i] = ir_yielded(body, i)->def == t->last;
        t->n_sums += t->sum[i];
        const ir_value *arg = &body->args[1 + i];
        for (const ir_use *u = arg->uses; t->sum[i] && u != NULL; u = u->next)
            if (stands_before(top_of(t, u->user), t->first))
                return false;
    }
    for (int i = 0; i < t->last->n_out; i++)
        for (const ir_use *u = t->last->out[i].uses; u != NULL; u = u->next)
            if (u->user != body->last)
                return false;
    return t->n_sums > 0;
}

typedef struct put_search {
    const ir_pipe *pipe;
    ir_op *put;
    int n;
} put_search;

static bool find_put(ir_op *op, void *user)
{
    put_search *s = user;
    if (op->kind == IR_PUT && op->attr.pipe == s->pipe) {
        s->put = op;
        s->n++;
    }
    return true;
}

/// (iv): different putters must not wait for each other. One putter puts both in one place each, a first, or
/// b has a slot more than what is held.
static bool order_fits(const turn *t, const ir_deps *deps)
{
    ir_pipe *a = t->first->attr.pipe, *b = t->last->attr.pipe;
    if (a->putter == NULL || b->putter == NULL)
        return false;
    if (a->putter != b->putter)
        return !ir_deps_path(deps, b->putter, a->putter, t->role);
    put_search pa = {a, NULL, 0}, pb = {b, NULL, 0};
    ir_walk(a->putter->body, find_put, NULL, &pa);
    ir_walk(b->putter->body, find_put, NULL, &pb);
    if (pa.n != 1 || pb.n != 1 || pa.put->parent != pb.put->parent)
        return false;
    return stands_before(pa.put, pb.put) || b->slots >= 2;
}

static bool fits(turn *t, const ir_deps *deps)
{
    return find_gets(t) && sums_fit(t) && order_fits(t, deps);
}

// ---- changing ------------------------------------------------------------------------------------------

static bool reads_slot(const ir_op *op, const ir_region *slot)
{
    for (int i = 0; i < op->n_in; i++) {
        const ir_value *v = ir_in(op, i);
        if (v->owner == slot || (v->def != NULL && v->def->parent == slot))
            return true;
    }
    return false;
}

/// Conversions that need nothing of the slot are done in the iteration that computes, but behind the wait for
/// the product of the one before: their results take over the registers that it reads.
static void hoist(const turn *t)
{
    ir_region *slot = &t->last->reg[0];
    for (ir_op *op = slot->first, *next; op != NULL; op = next) {
        next = op->next;
        if (op->kind != IR_YIELD && computes(op) && !reads_slot(op, slot))
            ir_move_before(op, t->last);
    }
}

typedef struct value_search {
    turn *t;
} value_search;

static void add_value(turn *t, ir_value *v)
{
    const ir_region *home = v->def != NULL ? v->def->parent : v->owner;
    if (home != &t->loop->reg[0])
        return;
    for (size_t i = 0; i < t->values.len; i++)
        if (t->values.data[i] == v)
            return;
    pkc_vec_push(t->k->arena, &t->values, v);
}

static bool add_operands(ir_op *op, void *user)
{
    value_search *s = user;
    for (int i = 0; i < op->n_in; i++)
        add_value(s->t, ir_in(op, i));
    return true;
}

/// Clones the ops of the body from `from` up to `to` (exclusive; NULL: to the yield), the last get left out.
static void clone_ops(const turn *t, ir_builder *b, ir_op *from, const ir_op *to, ir_map *map)
{
    for (ir_op *op = from; op != to && op->kind != IR_YIELD; op = op->next)
        if (op != t->last)
            ir_clone_op(b, op, map);
}

/// What goes on into the next iteration: the carries that are no sums, then the values.
static int collect_next(const turn *t, const ir_map *map, ir_value **out)
{
    int n = 0;
    for (int i = 0; i < t->loop->n_out; i++)
        if (!t->sum[i])
            out[n++] = ir_map_get(map, ir_yielded(&t->loop->reg[0], i));
    for (size_t i = 0; i < t->values.len; i++)
        out[n++] = ir_map_get(map, t->values.data[i]);
    return n;
}

static void set_sums(const turn *t, ir_map *map, const ir_op *product)
{
    for (int i = 0; i < t->loop->n_out; i++)
        if (t->sum[i])
            ir_map_set(map, &t->loop->reg[0].args[1 + i],
                       &product->out[ir_yielded(&t->loop->reg[0], i)->index]);
}

/// Maps what an iteration begins with, in the order of collect_next, to `from`.
static void map_next(const turn *t, ir_map *carries, ir_map *values, ir_value *from)
{
    int n = 0;
    for (int i = 0; i < t->loop->n_out; i++)
        if (!t->sum[i])
            ir_map_set(carries, &t->loop->reg[0].args[1 + i], &from[n++]);
    for (size_t i = 0; i < t->values.len; i++)
        ir_map_set(values, t->values.data[i], &from[n++]);
}

/// The iterations from the second on.
static ir_op *build_loop(const turn *t, ir_builder *b, ir_value **next, int n)
{
    ir_value *lo = ir_build_bin(b, IR_BIN_ADD, ir_in(t->loop, 0), ir_in(t->loop, 2));
    ir_op *loop = ir_build_for(b, lo, ir_in(t->loop, 1), ir_in(t->loop, 2), n, next);
    ir_region *body = &loop->reg[0];
    ir_map *map = ir_map_new(t->k->arena), *before = ir_map_new(t->k->arena);
    ir_map_set(map, &t->loop->reg[0].args[0], &body->args[0]);
    map_next(t, map, before, &body->args[1]);
    ir_builder in = {.kernel = t->k, .region = body, .pos = t->loop->pos};
    clone_ops(t, &in, t->loop->reg[0].first, t->first->next, map);
    set_sums(t, map, ir_clone_op(&in, t->last, before));
    clone_ops(t, &in, t->first->next, NULL, map);
    ir_value **yield = PKC_NEW_ARRAY(t->k->arena, ir_value *, n + 1);
    collect_next(t, map, yield);
    ir_build_yield(&in, n, yield);
    return loop;
}

static void yield_results(ir_kernel *k, ir_region *region, ir_op *from, pkc_span pos)
{
    ir_value **out = PKC_NEW_ARRAY(k->arena, ir_value *, from->n_out + 1);
    for (int i = 0; i < from->n_out; i++)
        out[i] = &from->out[i];
    ir_builder b = {.kernel = k, .region = region, .pos = pos};
    ir_build_yield(&b, from->n_out, out);
}

/// Which of the values the last product adds to for the sum of carry i; -1: none of them.
static int base_of(const turn *t, int i)
{
    const ir_value *sum = ir_yielded(&t->last->reg[0], ir_yielded(&t->loop->reg[0], i)->index);
    for (size_t v = 0; sum->def != NULL && sum->def->kind == IR_MMA && v < t->values.len; v++)
        if (t->values.data[v] == ir_in(sum->def, 0))
            return (int)v;
    return -1;
}

/// Where there is no iteration: the initial values, and nothing for what a last product would read but what
/// it adds to. There the sum's initial value waits, which need then not stay beside it.
static void yield_nothing(const turn *t, ir_op *branch)
{
    ir_value **out = PKC_NEW_ARRAY(t->k->arena, ir_value *, branch->n_out + 1);
    ir_builder b = {.kernel = t->k, .region = &branch->reg[1], .pos = t->loop->pos};
    int n = 0;
    for (int i = 0; i < t->loop->n_out; i++)
        if (!t->sum[i])
            out[n++] = ir_in(t->loop, 3 + i);
    for (int i = 0; i < t->loop->n_out; i++)
        if (t->sum[i] && base_of(t, i) >= 0)
            out[n + base_of(t, i)] = ir_in(t->loop, 3 + i);
    for (; n < branch->n_out; n++)
        if (out[n] == NULL)
            out[n] = &ir_build(&b, IR_POISON, 0, 0, NULL, 1, &branch->out[n].type, 0)->out[0];
    ir_build_yield(&b, branch->n_out, out);
}

/// `if lo < hi { the first iteration; the others }`: the carries that are no sums, then the values.
static ir_op *build_iterations(const turn *t, ir_builder *b)
{
    int n = t->loop->n_out - t->n_sums + (int)t->values.len;
    ir_value **next = PKC_NEW_ARRAY(t->k->arena, ir_value *, n + 1);
    const ir_type **types = PKC_NEW_ARRAY(t->k->arena, const ir_type *, n + 1);
    ir_map *map = ir_map_new(t->k->arena);
    collect_next(t, map, next); // nothing is mapped yet: the types
    for (int i = 0; i < n; i++)
        types[i] = next[i]->type;
    ir_op *branch = ir_build_if(b, t->runs, n, types);
    ir_builder in = {.kernel = t->k, .region = &branch->reg[0], .pos = t->loop->pos};
    ir_map_set(map, &t->loop->reg[0].args[0], ir_in(t->loop, 0));
    for (int i = 0; i < t->loop->n_out; i++)
        ir_map_set(map, &t->loop->reg[0].args[1 + i], ir_in(t->loop, 3 + i));
    clone_ops(t, &in, t->loop->reg[0].first, NULL, map);
    collect_next(t, map, next);
    yield_results(t->k, &branch->reg[0], build_loop(t, &in, next, n), t->loop->pos);
    yield_nothing(t, branch);
    return branch;
}

/// `if lo < hi { the last product }`: the sums. Its own if, so that what only the loop reads is free before.
static ir_op *build_last(const turn *t, ir_builder *b, ir_op *iterations)
{
    ir_value **sums = PKC_NEW_ARRAY(t->k->arena, ir_value *, t->n_sums + 1),
             **inits = PKC_NEW_ARRAY(t->k->arena, ir_value *, t->n_sums + 1);
    const ir_type **types = PKC_NEW_ARRAY(t->k->arena, const ir_type *, t->n_sums + 1);
    ir_value *values = iterations->out + t->loop->n_out - t->n_sums;
    int n = 0;
    for (int i = 0; i < t->loop->n_out; i++)
        if (t->sum[i]) {
            types[n] = t->loop->out[i].type;
            inits[n++] = base_of(t, i) >= 0 ? &values[base_of(t, i)] : ir_in(t->loop, 3 + i);
        }
    ir_op *branch = ir_build_if(b, t->runs, n, types);
    ir_builder in = {.kernel = t->k, .region = &branch->reg[0], .pos = t->last->pos};
    ir_map *map = ir_map_new(t->k->arena), *carries = ir_map_new(t->k->arena);
    map_next(t, carries, map, iterations->out);
    ir_op *product = ir_clone_op(&in, t->last, map);
    n = 0;
    for (int i = 0; i < t->loop->n_out; i++)
        if (t->sum[i])
            sums[n++] = &product->out[ir_yielded(&t->loop->reg[0], i)->index];
    ir_build_yield(&in, n, sums);
    ir_builder none = {.kernel = t->k, .region = &branch->reg[1], .pos = t->last->pos};
    ir_build_yield(&none, n, inits);
    return branch;
}

static void change(turn *t)
{
    value_search search = {t};
    hoist(t);
    ir_walk(&t->last->reg[0], add_operands, NULL, &search);
    ir_builder b = {.kernel = t->k, .region = t->loop->parent, .before = t->loop, .pos = t->loop->pos};
    t->runs = ir_build_cmp(&b, IR_CMP_LT, ir_in(t->loop, 0), ir_in(t->loop, 1));
    ir_op *iterations = build_iterations(t, &b), *last = build_last(t, &b, iterations);
    int sums = 0, others = 0;
    for (int i = 0; i < t->loop->n_out; i++) {
        ir_value *v = t->sum[i] ? &last->out[sums++] : &iterations->out[others++];
        v->name = t->loop->out[i].name;
        ir_replace(&t->loop->out[i], v);
    }
    ir_erase(t->loop);
}

// ---- roles ---------------------------------------------------------------------------------------------

static bool first_fit(ir_kernel *k, ir_role *role, ir_region *region, const ir_deps *deps, turn *out)
{
    for (ir_op *op = region->first; op != NULL; op = op->next) {
        *out = (turn){.k = k, .role = role, .loop = op};
        if (op->kind == IR_FOR && fits(out, deps))
            return true;
        for (int r = 0; r < op->n_reg; r++)
            if (first_fit(k, role, &op->reg[r], deps, out))
                return true;
    }
    return false;
}

/// The scan sees the operands of the last product end where it is issued, though they stay until it is done.
/// The fullest point is before that: where both products have been issued, with all operands alive.
void ir_defer_product(ir_kernel *k, ir_role *role, const ir_options *options)
{
    turn t;
    if (!first_fit(k, role, role->body, ir_deps_new(k), &t))
        return;
    ir_region *before = ir_clone_region(k, role->body, ir_map_new(k->arena));
    change(&t);
    int estimate = (int)ir_role_pressure(k, role).regs + IR_REGS_ADDRESSES;
    if (estimate > ir_role_budget(k, role, options->regs_per_sm))
        role->body = before;
    else
        role->reg_estimate = estimate;
}
