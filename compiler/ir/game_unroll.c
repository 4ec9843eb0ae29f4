// SPDX-License-Identifier: Apache-2.0
// What a role does for one choice of numbers. Atoms that nothing decides get small numbers: counts 2, 1, one
// more than fills the largest pipe twice, and 0; conditions both outcomes. What is made of loop variables is
// computed.
#include <string.h>

#include "ir/game.h"

enum { MOST_PLAYS = 256, MOST_EVENTS = 20000 };

// ---- choosing ------------------------------------------------------------------------------------------

static int options(const ir_atom *a)
{
    return a->truth ? 2 : a->least >= 1 ? 3 : 4;
}

static int64_t chosen(ir_valuation *v, const ir_atom *a)
{
    const int64_t values[] = {2, 1, 2 * (int64_t)v->most_slots + 1, 0};
    intptr_t at = (intptr_t)ir_ptrmap_get(&v->place, a);
    if (!at) {
        pkc_vec_push(v->norms->k->arena, &v->choices, ((ir_choice){a, 0}));
        at = (intptr_t)v->choices.len;
        ir_ptrmap_set(&v->place, a, (void *)at);
    }
    int option = v->choices.data[at - 1].option;
    if (a->truth)
        return option == 0;
    return values[option] < a->least ? a->least : values[option];
}

bool ir_valuation_next(ir_valuation *v, uint32_t play)
{
    double all = 1;
    for (size_t i = 0; i < v->choices.len; i++)
        all *= options(v->choices.data[i].atom);
    if (play >= MOST_PLAYS || play >= all || v->work <= 0)
        return false;
    uint32_t digits = play;
    for (size_t i = 0; i < v->choices.len; i++) {
        ir_choice *c = &v->choices.data[i];
        uint32_t n = (uint32_t)options(c->atom);
        // Of more combinations than can be played some from everywhere.
        uint32_t spread = (play + 0x9e3779b9u * (uint32_t)i) * 2654435761u;
        c->option = (int)((all > MOST_PLAYS && play ? spread >> 13 : digits) % n);
        digits /= n;
    }
    return true;
}

// ---- computing -----------------------------------------------------------------------------------------

static const double huge_count = 1e12; // beyond it a count is only "many"

static int64_t limited(double x)
{
    return (int64_t)(x > huge_count ? huge_count : x < -huge_count ? -huge_count : x);
}

int64_t ir_valuation_of(ir_valuation *v, ir_norm a);

static int64_t cdiv(int64_t a, int64_t b)
{
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static int64_t value_of_op(ir_valuation *v, const ir_atom *a)
{
    const ir_op *op = a->value->def;
    bool extreme = op && op->kind == IR_BIN && (op->sub == IR_BIN_MIN || op->sub == IR_BIN_MAX);
    bool divides = op && op->kind == IR_BIN &&
                   (op->sub == IR_BIN_DIV || op->sub == IR_BIN_CDIV || op->sub == IR_BIN_MOD);
    if (!extreme && !(divides && a->depth > 0))
        return chosen(v, a);
    int64_t x = ir_valuation_of(v, a->args[0]), y = ir_valuation_of(v, a->args[1]);
    if (extreme)
        return (op->sub == IR_BIN_MIN) == (x < y) ? x : y;
    if (y == 0)
        return chosen(v, a);
    return op->sub == IR_BIN_DIV ? x / y : op->sub == IR_BIN_MOD ? x % y : cdiv(x, y);
}

static int64_t value_of_trips(ir_valuation *v, const ir_atom *a)
{
    int64_t by;
    bool one = ir_norm_is_const(a->args[1], &by) && by == 1;
    if (!one && a->depth == 0)
        return chosen(v, a);
    int64_t length = ir_valuation_of(v, a->args[0]), step = ir_valuation_of(v, a->args[1]);
    return length <= 0 ? 0 : cdiv(length, step < 1 ? 1 : step);
}

static int64_t value_of_atom(ir_valuation *v, const ir_atom *a)
{
    intptr_t at;
    switch (a->kind) {
    case IR_ATOM_LEAF:
        return chosen(v, a);
    case IR_ATOM_LOOP:
        return (size_t)a->depth <= v->loops.len ? v->loops.data[a->depth - 1] : chosen(v, a);
    case IR_ATOM_CARRY:
        at = (intptr_t)ir_ptrmap_get(&v->place, a);
        return at && (size_t)a->depth <= v->loops.len ? v->watches.data[at - 1].value : 0;
    case IR_ATOM_OP:
        return value_of_op(v, a);
    case IR_ATOM_SELECT:
        return ir_valuation_of(v, a->args[ir_valuation_of(v, a->args[0]) ? 1 : 2]);
    case IR_ATOM_POSITIVE:
        return a->depth ? ir_valuation_of(v, a->args[0]) > 0 : chosen(v, a);
    case IR_ATOM_ZERO:
        return a->depth ? ir_valuation_of(v, a->args[0]) == 0 : chosen(v, a);
    case IR_ATOM_TRIPS:
        return value_of_trips(v, a);
    }
    return 0;
}

int64_t ir_valuation_of(ir_valuation *v, ir_norm a)
{
    double sum = 0;
    for (int i = 0; i < a.n; i++) {
        double product = (double)a.terms[i].factor;
        for (int j = 0; j < a.terms[i].n; j++)
            product *= (double)value_of_atom(v, a.terms[i].atoms[j]);
        sum += product;
    }
    return limited(sum);
}

// ---- carried values ------------------------------------------------------------------------------------

static void watch_norm(ir_valuation *v, ir_norm a);

static void watch_atom(ir_valuation *v, const ir_atom *a)
{
    for (int i = 0; i < a->n; i++)
        watch_norm(v, a->args[i]);
    if (a->kind != IR_ATOM_CARRY || ir_ptrmap_get(&v->place, a))
        return;
    const ir_op *loop = a->value->owner->owner;
    int carry = a->value->index - 1;
    const ir_value *next = ir_yielded(&loop->reg[0], carry);
    ir_watch w = {.atom = a, .first = ir_norm_of(v->norms, ir_in(loop, 3 + carry))};
    w.next = next ? ir_norm_of(v->norms, next) : w.first;
    pkc_vec_push(v->norms->k->arena, &v->watches, w);
    ir_ptrmap_set(&v->place, a, (void *)(intptr_t)v->watches.len);
    watch_norm(v, w.first);
    watch_norm(v, w.next);
}

static void watch_norm(ir_valuation *v, ir_norm a)
{
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.terms[i].n; j++)
            watch_atom(v, a.terms[i].atoms[j]);
}

void ir_valuation_watch(ir_valuation *v, const ir_trace *trace)
{
    for (; trace; trace = trace->next) {
        if (trace->kind != IR_TRACE_USE)
            watch_norm(v, trace->norm);
        if (trace->kind == IR_TRACE_LOOP)
            watch_norm(v, ir_norm_of(v->norms, ir_in(trace->op, 0)));
        ir_valuation_watch(v, trace->inner);
        ir_valuation_watch(v, trace->other);
    }
}

/// All carries of the loops at this depth: at the start, or from one iteration to the next at once.
static void step_watches(ir_valuation *v, int depth, bool start)
{
    for (size_t i = 0; i < v->watches.len; i++) {
        ir_watch *w = &v->watches.data[i];
        if (w->atom->depth == depth)
            w->following = ir_valuation_of(v, start ? w->first : w->next);
    }
    for (size_t i = 0; i < v->watches.len; i++)
        if (v->watches.data[i].atom->depth == depth)
            v->watches.data[i].value = v->watches.data[i].following;
}

// ---- unrolling -----------------------------------------------------------------------------------------

typedef struct unrolling {
    ir_valuation *v;
    pkc_arena *arena;
    ir_events *out;
    bool too_long;
} unrolling;

static void unroll(unrolling *u, const ir_trace *t);

static void add_event(unrolling *u, ir_event_kind kind, const ir_op *op)
{
    int pipe = (int)(intptr_t)ir_ptrmap_get(&u->v->pipes, op->attr.pipe) - 1;
    pkc_vec_push(u->arena, u->out, ((ir_event){kind, pipe, op}));
}

/// A loop runs no more often than shows whether pipes of these sizes can stand still.
static void unroll_loop(unrolling *u, const ir_trace *t)
{
    ir_valuation *v = u->v;
    int64_t n = ir_valuation_of(v, t->norm), most = 8 * (int64_t)v->most_slots + 8;
    int64_t at = ir_valuation_of(v, ir_norm_of(v->norms, ir_in(t->op, 0)));
    int64_t step = ir_valuation_of(v, ir_norm_of(v->norms, ir_in(t->op, 2)));
    step_watches(v, (int)v->loops.len + 1, true);
    pkc_vec_push(v->norms->k->arena, &v->loops, at);
    for (int64_t i = 0; i < n && i < most && !u->too_long; i++) {
        pkc_vec_last(&v->loops) = at;
        unroll(u, t->inner);
        step_watches(v, (int)v->loops.len, false);
        at += step < 1 ? 1 : step;
    }
    (void)pkc_vec_pop(&v->loops);
}

static void unroll_one(unrolling *u, const ir_trace *t)
{
    if (t->kind == IR_TRACE_USE) {
        bool put = t->op->kind == IR_PUT;
        add_event(u, put ? IR_EVENT_TAKE_FREE : IR_EVENT_TAKE_FULL, t->op);
        unroll(u, t->inner);
        add_event(u, put ? IR_EVENT_HAND_OVER : IR_EVENT_GIVE_BACK, t->op);
    } else if (t->kind == IR_TRACE_IF) {
        unroll(u, ir_valuation_of(u->v, t->norm) ? t->inner : t->other);
    } else {
        unroll_loop(u, t);
    }
}

static void unroll(unrolling *u, const ir_trace *t)
{
    for (; t && !u->too_long; t = t->next) {
        u->too_long = u->out->len >= MOST_EVENTS || u->v->work-- <= 0;
        unroll_one(u, t);
    }
}

bool ir_valuation_unroll(ir_valuation *v, const ir_trace *trace, pkc_arena *arena, ir_events *out)
{
    unrolling u = {v, arena, out, false};
    unroll(&u, trace);
    return !u.too_long;
}
