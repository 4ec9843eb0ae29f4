// SPDX-License-Identifier: Apache-2.0
// The token game: bodies run against each other as abstract processes with bounded pipes. Each pipe has one
// putter and hands its slots on in order, and conditions are the same for every role, so the network is
// deterministic: one schedule decides for each choice of loop counts and branches. Counts 0, 1, 2 and one
// more than the largest pipe are tried for what each loop count is made of, both outcomes for each condition.
#include <string.h>

#include "ir/agree.h"
#include "ir/trace.h"

typedef enum event_kind { TAKE_FREE, HAND_OVER, TAKE_FULL, GIVE_BACK } event_kind;

typedef struct event {
    event_kind kind;
    const ir_pipe *pipe;
    const ir_op *op;
} event;
typedef PKC_VEC(event) events;

/// A number that loop counts are made of (an atom of their normal forms) or a condition, and what is chosen
/// for it. Counts that are made of the same atoms stay in proportion: 2 n and n.
typedef struct choice {
    pkc_str key;
    bool atom;
    int value;
} choice;

typedef struct process {
    const ir_role *role;
    ir_trace *trace;
    events events;
    size_t at;
} process;

typedef struct game {
    ir_kernel *k;
    pkc_arena arena; // of one play
    PKC_VEC(choice) choices;
    PKC_VEC(process) processes;
    int most_slots;
    bool too_long;
} game;

enum { MOST_PLAYS = 256, MOST_EVENTS = 20000 };

// ---- choices -------------------------------------------------------------------------------------------

static choice *find_choice(game *g, pkc_str key, bool atom)
{
    for (size_t i = 0; i < g->choices.len; i++)
        if (g->choices.data[i].key == key && g->choices.data[i].atom == atom)
            return &g->choices.data[i];
    pkc_vec_push(g->k->arena, &g->choices, ((choice){key, atom, 0}));
    return &g->choices.data[g->choices.len - 1];
}

static void collect(game *g, const ir_trace *t)
{
    for (; t; t = t->next) {
        if (t->kind == IR_TRACE_IF)
            find_choice(g, t->key, false);
        for (int i = 0; t->kind == IR_TRACE_LOOP && i < t->trips.n; i++)
            for (int j = 0; j < t->trips.terms[i].n; j++)
                find_choice(g, t->trips.terms[i].atoms[j], true);
        collect(g, t->inner);
        collect(g, t->other);
    }
}

static int options(const choice *c)
{
    return c->atom ? 4 : 2;
}

static int atom_value(const game *g, int option)
{
    const int values[] = {2, 1, 2 * g->most_slots + 1, 0};
    return values[option];
}

/// How often a loop runs with the values chosen: at least 0, and no more than shows whether pipes of that
/// size can stand still.
static int64_t loop_count(game *g, ir_norm trips)
{
    double sum = 0;
    for (int i = 0; i < trips.n; i++) {
        const ir_term *t = &trips.terms[i];
        double product = (double)t->num / (double)t->den;
        for (int j = 0; j < t->n; j++)
            product *= atom_value(g, find_choice(g, t->atoms[j], true)->value);
        sum += product;
    }
    double most = 8.0 * g->most_slots + 8;
    return (int64_t)(sum < 0 ? 0 : sum > most ? most : sum);
}

/// The next combination; false when all have been. Beyond MOST_PLAYS of them every choice steps alike, so
/// that small counts meet large ones too.
static bool next_combination(game *g, int play)
{
    double all = 1;
    for (size_t i = 0; i < g->choices.len; i++)
        all *= options(&g->choices.data[i]);
    if (play >= MOST_PLAYS || play >= all)
        return false;
    uint32_t digits = (uint32_t)play;
    for (size_t i = 0; i < g->choices.len; i++) {
        choice *c = &g->choices.data[i];
        uint32_t spread = all > MOST_PLAYS ? (uint32_t)play * 2654435761u >> (5 + i % 24) : digits;
        c->value = (int)(spread % (uint32_t)options(c));
        digits /= (uint32_t)options(c);
    }
    return true;
}

// ---- unrolling -----------------------------------------------------------------------------------------

static void unroll(game *g, events *out, const ir_trace *t);

static void add_event(game *g, events *out, event_kind kind, const ir_op *op)
{
    if (out->len >= MOST_EVENTS)
        g->too_long = true;
    else
        pkc_vec_push(&g->arena, out, ((event){kind, op->attr.pipe, op}));
}

static void unroll_one(game *g, events *out, const ir_trace *t)
{
    if (t->kind == IR_TRACE_USE) {
        bool put = t->op->kind == IR_PUT;
        add_event(g, out, put ? TAKE_FREE : TAKE_FULL, t->op);
        unroll(g, out, t->inner);
        add_event(g, out, put ? HAND_OVER : GIVE_BACK, t->op);
    } else if (t->kind == IR_TRACE_IF) {
        unroll(g, out, find_choice(g, t->key, false)->value == 0 ? t->inner : t->other);
    } else {
        int64_t n = loop_count(g, t->trips);
        for (int64_t i = 0; i < n && !g->too_long; i++)
            unroll(g, out, t->inner);
    }
}

static void unroll(game *g, events *out, const ir_trace *t)
{
    for (; t && !g->too_long; t = t->next)
        unroll_one(g, out, t);
}

// ---- playing -------------------------------------------------------------------------------------------

/// What a process did to a pipe so far.
typedef struct account {
    const ir_pipe *pipe;
    int taken, put;  // by the putter
    int *got, *back; // by each process
} account;

typedef struct table {
    account *accounts;
    size_t n;
} table;

static table open_accounts(game *g)
{
    table t = {0};
    for (const ir_pipe *p = g->k->pipes; p; p = p->next)
        t.n++;
    t.accounts = PKC_NEW_ARRAY(&g->arena, account, t.n + 1);
    size_t i = 0;
    for (const ir_pipe *p = g->k->pipes; p; p = p->next)
        t.accounts[i++] = (account){.pipe = p,
                                    .got = PKC_NEW_ARRAY(&g->arena, int, g->processes.len),
                                    .back = PKC_NEW_ARRAY(&g->arena, int, g->processes.len)};
    return t;
}

static account *account_of(const table *t, const ir_pipe *pipe)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->accounts[i].pipe == pipe)
            return &t->accounts[i];
    return NULL;
}

static bool gets(const process *p, const ir_pipe *pipe)
{
    for (size_t i = 0; i < p->events.len; i++)
        if (p->events.data[i].pipe == pipe && p->events.data[i].kind == TAKE_FULL)
            return true;
    return false;
}

/// Slots that every getter has given back.
static int freed(const game *g, const account *a)
{
    int least = INT32_MAX;
    for (size_t i = 0; i < g->processes.len; i++)
        if (gets(&g->processes.data[i], a->pipe) && a->back[i] < least)
            least = a->back[i];
    return least == INT32_MAX ? a->taken : least;
}

static bool step(const game *g, const table *t, size_t who, const event *e)
{
    account *a = account_of(t, e->pipe);
    switch (e->kind) {
    case TAKE_FREE:
        if (a->taken - freed(g, a) >= e->pipe->slots)
            return false;
        a->taken++;
        return true;
    case HAND_OVER:
        a->put++;
        return true;
    case TAKE_FULL:
        if (a->got[who] >= a->put)
            return false;
        a->got[who]++;
        return true;
    case GIVE_BACK:
        a->back[who]++;
        return true;
    }
    return false;
}

static void run(game *g, const table *t)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < g->processes.len; i++) {
            process *p = &g->processes.data[i];
            while (p->at < p->events.len && step(g, t, i, &p->events.data[p->at])) {
                p->at++;
                moved = true;
            }
        }
    }
}

static bool finished(const game *g)
{
    for (size_t i = 0; i < g->processes.len; i++)
        if (g->processes.data[i].at < g->processes.data[i].events.len)
            return false;
    return true;
}

static const char *wait_words(game *g, const process *p)
{
    const event *e = &p->events.data[p->at];
    return pkc_arena_printf(g->k->arena, "role '%s' waits for a %s slot of '%s'", p->role->name,
                            e->kind == TAKE_FREE ? "free" : "filled", e->pipe->name);
}

static void report(game *g)
{
    pkc_buf words = {0};
    const process *first = NULL;
    for (size_t i = 0; i < g->processes.len; i++) {
        const process *p = &g->processes.data[i];
        if (p->at == p->events.len)
            continue;
        pkc_buf_printf(&words, "%s%s", first ? ", " : "", wait_words(g, p));
        first = first ? first : p;
    }
    pkc_diag *d = pkc_diag_error(g->k->session, PKC_DIAG_GETS_DEADLOCK, first->events.data[first->at].op->pos,
                                 pkc_buf_cstr(&words));
    for (size_t i = 0; i < g->processes.len; i++) {
        const process *p = &g->processes.data[i];
        if (p->at < p->events.len && p != first)
            pkc_diag_note(d, p->events.data[p->at].op->pos, "%s here", wait_words(g, p));
    }
    pkc_buf_free(&words);
}

/// Plays one combination. False: it stopped, and was reported.
static bool play(game *g)
{
    bool ok = true;
    pkc_arena_init(&g->arena);
    g->too_long = false;
    for (size_t i = 0; i < g->processes.len; i++) {
        process *p = &g->processes.data[i];
        p->events = (events){0};
        p->at = 0;
        unroll(g, &p->events, p->trace);
    }
    table t = open_accounts(g);
    run(g, &t);
    if (!g->too_long && !finished(g)) {
        report(g);
        ok = false;
    }
    pkc_arena_free(&g->arena);
    return ok;
}

static bool play_group(ir_kernel *k, const ir_group *group)
{
    game g = {.k = k, .most_slots = 1};
    for (const ir_pipe *p = k->pipes; p; p = p->next)
        g.most_slots = p->slots > g.most_slots ? p->slots : g.most_slots;
    for (const ir_role *r = group->roles; r; r = r->next) {
        process p = {.role = r, .trace = ir_trace_of(k, r->body, NULL)};
        if (p.trace)
            pkc_vec_push(k->arena, &g.processes, p);
        collect(&g, p.trace);
    }
    for (int i = 0; next_combination(&g, i); i++)
        if (!play(&g))
            return false;
    return true;
}

bool ir_game(ir_kernel *k)
{
    for (const ir_group *g = k->groups; g; g = g->next)
        if (!play_group(k, g))
            return false;
    return true;
}
