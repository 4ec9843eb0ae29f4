// SPDX-License-Identifier: Apache-2.0
// Linear scan. Ops are numbered in program order, regions at their place; a loop and its end have numbers of
// their own. An interval is half open: an operand that ends at an op leaves its registers to the op's result,
// as an accumulator does, and a yielded value to the next iteration's argument.
#include "ir/regs.h"

#include "ir/dist.h"
#include "ir/ptrmap.h"
#include "support/vec.h"

/// The end of a use and the region it stands in.
typedef struct live_end {
    int to;
    const ir_region *region;
} live_end;

typedef struct live {
    const ir_value *value;
    const ir_region *home; // where it begins
    int from;
    PKC_VEC(live_end) ends;
    int64_t regs;
} live;

typedef struct span {
    const ir_region *region;
    int from, to;
} span;

typedef struct scan {
    pkc_arena *arena;
    ir_ptrmap numbers; // op -> its number
    ir_ptrmap spans;   // region -> span
    PKC_VEC(live) lives;
    int next;
} scan;

static void number_region(scan *s, const ir_region *region)
{
    span *sp = PKC_NEW(s->arena, span);
    sp->region = region;
    sp->from = s->next++;
    for (const ir_op *op = region->first; op != NULL; op = op->next) {
        for (int r = 0; r < op->n_reg; r++)
            number_region(s, &op->reg[r]);
        int *number = PKC_NEW(s->arena, int);
        *number = s->next++;
        ir_ptrmap_set(&s->numbers, op, number);
    }
    sp->to = s->next;
    ir_ptrmap_set(&s->spans, region, sp);
}

static const span *span_of(const scan *s, const ir_region *region)
{
    return ir_ptrmap_get(&s->spans, region);
}

/// Where a use keeps the value alive: at the user, or at the end of the outermost loop between it and the
/// value's own region.
static int use_end(const scan *s, const ir_op *user, const ir_region *home)
{
    // A loop takes its initial values where it begins: from there on they are its arguments.
    int end = user->kind == IR_FOR ? span_of(s, &user->reg[0])->from
                                   : *(const int *)ir_ptrmap_get(&s->numbers, user);
    for (const ir_region *r = user->parent; r != NULL && r != home; r = r->owner ? r->owner->parent : NULL)
        if (r->owner != NULL && r->owner->kind == IR_FOR)
            end = span_of(s, r)->to;
    return end;
}

enum { GENERATED_DEPTH = 8 };

/// Whether the value is one row or column made of constants, scalars and places alone: it is then made anew
/// where it is used and stays in no register.
static bool is_generated(const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if (v->type->kind == IR_T_SCALAR)
        return true;
    if (op == NULL || depth == GENERATED_DEPTH || op->n_reg > 0)
        return false;
    bool one_row = v->type->kind == IR_T_REG && ir_dist_kind_of(v->type) != IR_KIND_FULL;
    if (op->kind == IR_POISON || (one_row && (op->kind == IR_SPLAT || op->kind == IR_IOTA)))
        return true;
    bool same_place = op->kind == IR_TRANS || op->kind == IR_BIN || op->kind == IR_UN || op->kind == IR_CAST;
    for (int i = 0; one_row && same_place && i < op->n_in; i++)
        if (!is_generated(ir_in(op, i), depth + 1))
            return false;
    return one_row && same_place;
}

static void add_value(scan *s, const ir_value *v, const ir_region *home, int from)
{
    if (v->type->kind != IR_T_REG || v->uses == NULL || is_generated(v, 0))
        return;
    live l = {.value = v, .home = home, .from = from, .regs = ir_dist_regs(v->type)};
    if (l.regs == 0)
        return;
    for (const ir_use *u = v->uses; u != NULL; u = u->next) {
        live_end end = {use_end(s, u->user, home), u->user->parent};
        pkc_vec_push(s->arena, &l.ends, end);
    }
    pkc_vec_push(s->arena, &s->lives, l);
}

static void add_region(scan *s, const ir_region *region)
{
    for (int i = 0; i < region->n_args; i++)
        add_value(s, &region->args[i], region, span_of(s, region)->from);
    for (const ir_op *op = region->first; op != NULL; op = op->next) {
        for (int r = 0; r < op->n_reg; r++)
            add_region(s, &op->reg[r]);
        for (int i = 0; i < op->n_out; i++)
            add_value(s, &op->out[i], region, *(const int *)ir_ptrmap_get(&s->numbers, op));
    }
}

static void insert_top(ir_pressure *p, const live *l, int64_t sizes[IR_REGS_TOP])
{
    int at = IR_REGS_TOP;
    while (at > 0 && (sizes[at - 1] < l->regs ||
                      (sizes[at - 1] == l->regs && l->value->name != NULL && p->top[at - 1]->name == NULL)))
        at--; // of two alike the one with a name says more
    for (int i = IR_REGS_TOP - 1; i > at; i--) {
        sizes[i] = sizes[i - 1];
        p->top[i] = p->top[i - 1];
    }
    if (at < IR_REGS_TOP) {
        sizes[at] = l->regs;
        p->top[at] = l->value;
    }
}

/// Whether the regions lie in different branches of one if: what the one needs is not alive in the other.
static bool apart(const ir_region *a, const ir_region *b)
{
    for (const ir_region *x = a; x != NULL && x->owner != NULL; x = x->owner->parent)
        for (const ir_region *y = b; y != NULL && y->owner != NULL; y = y->owner->parent)
            if (x->owner == y->owner)
                return x != y;
    return false;
}

static bool alive_at(const live *l, const live *point)
{
    if (l->from > point->from)
        return false;
    for (size_t i = 0; i < l->ends.len; i++)
        if (point->from < l->ends.data[i].to && !apart(point->home, l->ends.data[i].region))
            return true;
    return false;
}

static ir_pressure pressure_at(const scan *s, const live *point)
{
    ir_pressure p = {0};
    int64_t sizes[IR_REGS_TOP] = {0};
    for (size_t i = 0; i < s->lives.len; i++) {
        const live *l = &s->lives.data[i];
        if (alive_at(l, point)) {
            p.regs += l->regs;
            insert_top(&p, l, sizes);
        }
    }
    return p;
}

ir_pressure ir_role_pressure(ir_kernel *k, const ir_role *role)
{
    scan s = {.arena = k->arena};
    ir_ptrmap_init(&s.numbers, k->arena);
    ir_ptrmap_init(&s.spans, k->arena);
    number_region(&s, role->body);
    add_region(&s, role->body);
    ir_pressure most = {0};
    for (size_t i = 0; i < s.lives.len; i++) { // the fullest point is where some value begins
        ir_pressure p = pressure_at(&s, &s.lives.data[i]);
        if (p.regs > most.regs)
            most = p;
    }
    return most;
}
