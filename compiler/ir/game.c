// SPDX-License-Identifier: Apache-2.0
// The token game: bodies run against each other as abstract processes with bounded pipes. Each pipe has one
// putter and hands its slots on in order, and conditions are the same for every role, so the network is
// deterministic: one schedule decides for each choice of numbers. A choice for which puts and gets do not
// agree is none that a launch can have (compare.c has seen to that, or has warned), so it is left out.
#include "ir/game.h"

#include <limits.h>

enum { MOST_WORK = 4000000 }; // events and iterations of all plays of a group

typedef struct process {
    const ir_role *role;
    ir_trace *trace;
    ir_events events;
    size_t at;
} process;

/// What one process has got from one pipe and given back; `all`: how often it gets in this play.
typedef struct getting {
    bool getter; // in some play
    int all, got, back;
} getting;

typedef struct putting {
    const ir_pipe *pipe;
    int slots, all, taken, put;
} putting;

typedef struct game {
    ir_kernel *k;
    ir_valuation v;
    PKC_VEC(process) processes;
    int n_pipes;
    putting *puts;
    getting *gets; // [pipe][process]
} game;

static getting *gets_of(const game *g, int pipe, size_t who)
{
    return &g->gets[(size_t)pipe * g->processes.len + who];
}

// ---- playing -------------------------------------------------------------------------------------------

/// Slots that every getter has given back.
static int freed(const game *g, int pipe)
{
    int least = INT_MAX;
    for (size_t i = 0; i < g->processes.len; i++) {
        const getting *a = gets_of(g, pipe, i);
        if (a->getter && a->back < least)
            least = a->back;
    }
    return least == INT_MAX ? g->puts[pipe].taken : least;
}

static bool step(const game *g, size_t who, const ir_event *e)
{
    putting *p = &g->puts[e->pipe];
    getting *a = gets_of(g, e->pipe, who);
    switch (e->kind) {
    case IR_EVENT_TAKE_FREE:
        if (p->taken - freed(g, e->pipe) >= p->slots)
            return false;
        p->taken++;
        return true;
    case IR_EVENT_HAND_OVER:
        p->put++;
        return true;
    case IR_EVENT_TAKE_FULL:
        if (a->got >= p->put)
            return false;
        a->got++;
        return true;
    case IR_EVENT_GIVE_BACK:
        a->back++;
        return true;
    }
    return false;
}

static void start_again(game *g)
{
    for (int i = 0; i < g->n_pipes; i++) {
        g->puts[i].taken = g->puts[i].put = 0;
        for (size_t j = 0; j < g->processes.len; j++)
            gets_of(g, i, j)->got = gets_of(g, i, j)->back = 0;
    }
    for (size_t i = 0; i < g->processes.len; i++)
        g->processes.data[i].at = 0;
}

static bool finished(const game *g)
{
    for (size_t i = 0; i < g->processes.len; i++)
        if (g->processes.data[i].at < g->processes.data[i].events.len)
            return false;
    return true;
}

/// Plays to the end, or until nobody can go on: false.
static bool run(game *g)
{
    start_again(g);
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < g->processes.len; i++) {
            process *p = &g->processes.data[i];
            while (p->at < p->events.len && step(g, i, &p->events.data[p->at])) {
                p->at++;
                moved = true;
            }
        }
    }
    return finished(g);
}

/// Counts the puts and gets of this play; false where they differ.
static bool agrees(game *g)
{
    for (int i = 0; i < g->n_pipes; i++) {
        g->puts[i].all = 0;
        for (size_t j = 0; j < g->processes.len; j++)
            gets_of(g, i, j)->all = 0;
    }
    for (size_t j = 0; j < g->processes.len; j++)
        for (size_t e = 0; e < g->processes.data[j].events.len; e++) {
            const ir_event *event = &g->processes.data[j].events.data[e];
            g->puts[event->pipe].all += event->kind == IR_EVENT_TAKE_FREE;
            gets_of(g, event->pipe, j)->all += event->kind == IR_EVENT_TAKE_FULL;
        }
    for (int i = 0; i < g->n_pipes; i++)
        for (size_t j = 0; j < g->processes.len; j++)
            if (gets_of(g, i, j)->getter && gets_of(g, i, j)->all != g->puts[i].all)
                return false;
    return true;
}

static bool ends_with(const game *g, const ir_pipe *wider, int slots);

// ---- reporting -----------------------------------------------------------------------------------------

static const ir_event *stands_at(const process *p)
{
    return p->at < p->events.len ? &p->events.data[p->at] : NULL;
}

static const char *wait_words(const game *g, const process *p)
{
    const ir_event *e = stands_at(p);
    return pkc_arena_printf(g->k->arena, "role '%s' waits for a %s slot of '%s'", p->role->name,
                            e->kind == IR_EVENT_TAKE_FREE ? "free" : "filled", e->op->attr.pipe->name);
}

/// The least number of slots with which some full pipe lets every play end; help for the reader.
static void advise(game *g, pkc_diag *d)
{
    enum { MOST_MORE = 4 };
    PKC_VEC(const ir_pipe *) full = {0};
    for (size_t i = 0; i < g->processes.len; i++) {
        const ir_event *e = stands_at(&g->processes.data[i]);
        if (e && e->kind == IR_EVENT_TAKE_FREE)
            pkc_vec_push(g->k->arena, &full, e->op->attr.pipe);
    }
    for (int more = 1; more <= MOST_MORE; more++)
        for (size_t i = 0; i < full.len; i++)
            if (ends_with(g, full.data[i], full.data[i]->slots + more)) {
                pkc_diag_help(d, "put and get in another order, or give '%s' %d slots", full.data[i]->name,
                              full.data[i]->slots + more);
                return;
            }
    pkc_diag_help(d, "let all roles put and get in the same order");
}

static void report(game *g)
{
    pkc_buf words = {0};
    const process *first = NULL;
    for (size_t i = 0; i < g->processes.len; i++) {
        const process *p = &g->processes.data[i];
        if (!stands_at(p))
            continue;
        pkc_buf_printf(&words, "%s%s", first ? ", " : "", wait_words(g, p));
        first = first ? first : p;
    }
    pkc_diag *d = pkc_diag_error(g->k->session, PKC_DIAG_GETS_DEADLOCK, stands_at(first)->op->pos,
                                 pkc_buf_cstr(&words));
    for (size_t i = 0; i < g->processes.len; i++) {
        const process *p = &g->processes.data[i];
        if (stands_at(p) && p != first)
            pkc_diag_note(d, stands_at(p)->op->pos, "%s here", wait_words(g, p));
    }
    advise(g, d);
    pkc_buf_free(&words);
}

// ---- the game ------------------------------------------------------------------------------------------

/// Plays one combination. False: it stopped, and was reported where that is wanted.
static bool play(game *g, bool quiet)
{
    pkc_arena arena;
    pkc_arena_init(&arena);
    bool whole = true;
    for (size_t i = 0; i < g->processes.len && whole; i++) {
        process *p = &g->processes.data[i];
        p->events = (ir_events){0};
        whole = ir_valuation_unroll(&g->v, p->trace, &arena, &p->events);
        g->v.work -= (int64_t)p->events.len;
    }
    bool stopped = whole && agrees(g) && !run(g);
    if (stopped && !quiet)
        report(g);
    pkc_arena_free(&arena);
    return !stopped;
}

static void note_getters(game *g, const ir_trace *t, size_t who)
{
    for (; t; t = t->next) {
        if (t->kind == IR_TRACE_USE && t->op->kind == IR_GET)
            gets_of(g, (int)(intptr_t)ir_ptrmap_get(&g->v.pipes, t->op->attr.pipe) - 1, who)->getter = true;
        note_getters(g, t->inner, who);
        note_getters(g, t->other, who);
    }
}

/// A fresh game over all pipes; `wider`, where there is one, with other slots than it has.
static void set_up(game *g, const ir_pipe *wider, int slots)
{
    ir_norms *norms = g->v.norms;
    g->v = (ir_valuation){.norms = norms, .most_slots = 1, .work = MOST_WORK};
    ir_ptrmap_init(&g->v.place, g->k->arena);
    ir_ptrmap_init(&g->v.pipes, g->k->arena);
    g->n_pipes = 0;
    for (const ir_pipe *p = g->k->pipes; p; p = p->next)
        g->n_pipes++;
    g->puts = PKC_NEW_ARRAY(g->k->arena, putting, g->n_pipes + 1);
    g->gets = PKC_NEW_ARRAY(g->k->arena, getting, (size_t)g->n_pipes * g->processes.len + 1);
    int i = 0;
    for (const ir_pipe *p = g->k->pipes; p; p = p->next) {
        int s = p == wider ? slots : p->slots;
        g->puts[i++] = (putting){.pipe = p, .slots = s};
        ir_ptrmap_set(&g->v.pipes, p, (void *)(intptr_t)i);
        g->v.most_slots = s > g->v.most_slots ? s : g->v.most_slots;
    }
    for (size_t j = 0; j < g->processes.len; j++) {
        note_getters(g, g->processes.data[j].trace, j);
        ir_valuation_watch(&g->v, g->processes.data[j].trace);
    }
}

static bool play_all(game *g, bool quiet)
{
    for (uint32_t i = 0; ir_valuation_next(&g->v, i); i++)
        if (!play(g, quiet))
            return false;
    return true;
}

/// Whether all plays would end if the pipe had that many slots.
static bool ends_with(const game *g, const ir_pipe *wider, int slots)
{
    game other = {.k = g->k, .v = {.norms = g->v.norms}};
    for (size_t i = 0; i < g->processes.len; i++) {
        process p = {.role = g->processes.data[i].role, .trace = g->processes.data[i].trace};
        pkc_vec_push(g->k->arena, &other.processes, p);
    }
    set_up(&other, wider, slots);
    return play_all(&other, true);
}

bool ir_game(ir_norms *t, const ir_agent *agents, int n)
{
    game g = {.k = t->k, .v = {.norms = t}};
    for (int i = 0; i < n; i++)
        if (agents[i].trace)
            pkc_vec_push(t->k->arena, &g.processes,
                         ((process){.role = agents[i].role, .trace = agents[i].trace}));
    set_up(&g, NULL, 0);
    return play_all(&g, false);
}
