// SPDX-License-Identifier: Apache-2.0
// The events of all roles against each other.
#include "game.h"
#include "ir/place.h"

/// One barrier: arrivals that are missing in this phase, bytes that are, and the phase.
typedef struct barrier {
    int missing, phase;
    int64_t bytes;
} barrier;

typedef struct slot_state {
    barrier full, free;
    int readers; // products and bulk stores that still read it
    uint64_t field[IR_MAX_FIELDS];
} slot_state;

/// A slot that an issued product or a committed bulk store reads.
typedef struct reading {
    slot_state *slot;
    int number; // of the batch or group
} reading;

typedef PKC_VEC(reading) readings;

typedef struct player {
    trace *trace;
    size_t at;
    uint64_t *reg;
    int *batch;              // of the product that makes the register, 0: none
    int issued, retired;     // batches
    int groups, groups_done; // committed, retired
    readings products, stores;
} player;

typedef struct table {
    pkc_arena *arena;
    ir_ptrmap slots; // pipe -> slot_state[]
    outcome *out;
} table;

static slot_state *slot_at(table *t, place at)
{
    slot_state *slots = ir_ptrmap_get(&t->slots, at.pipe);
    return &slots[at.slot];
}

static void fail(table *t, const player *p, const char *what)
{
    if (t->out->fault == NULL)
        t->out->fault = pkc_arena_printf(t->arena, "%s: event %zu: %s", p->trace->role->name, p->at, what);
}

static int arrivals_of(const ir_role *role)
{
    return role->thin ? 1 : ir_role_warps(role);
}

static void settle(barrier *b, int count)
{
    if (b->missing == 0 && b->bytes == 0) {
        b->phase = !b->phase;
        b->missing = count;
    }
}

static void arrive(table *t, player *p, const event *e, ir_side side)
{
    slot_state *slot = slot_at(t, e->x);
    barrier *b = side == IR_SIDE_FULL ? &slot->full : &slot->free;
    b->missing -= arrivals_of(p->trace->role);
    if (b->missing < 0)
        fail(t, p, "more arrivals than the barrier counts");
    settle(b, side == IR_SIDE_FULL ? e->x.pipe->full_count : e->x.pipe->free_count);
}

static void write_slot(table *t, player *p, place at, uint64_t value)
{
    slot_state *slot = slot_at(t, at);
    if (slot->readers > 0)
        fail(t, p, "a slot is written while it is read");
    slot->field[at.field] = value;
}

static uint64_t read_reg(table *t, player *p, int reg)
{
    if (reg == -1)
        return 1;
    if (reg == -2) {
        fail(t, p, "poison is read");
        return 0;
    }
    if (p->batch[reg] > p->retired)
        fail(t, p, "a register in flight is read");
    return p->reg[reg];
}

/// Readings of batches (groups) up to `done` are over.
static void retire(readings *list, int done)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->len; i++) {
        if (list->data[i].number <= done)
            list->data[i].slot->readers--;
        else
            list->data[kept++] = list->data[i];
    }
    list->len = kept;
}

static void play_mma(table *t, player *p, const event *e)
{
    uint64_t acc = 0;
    if (!e->flag && e->a == -2)
        fail(t, p, "a product adds to poison");
    if (!e->flag && e->a >= 0)
        acc = p->reg[e->a];
    place at[] = {e->x, e->y};
    if (e->b >= 0)
        acc = mix(acc, read_reg(t, p, e->b));
    p->issued++;
    for (int i = 0; i < 2; i++) {
        if (at[i].pipe == NULL)
            continue;
        slot_state *slot = slot_at(t, at[i]);
        acc = mix(acc, slot->field[at[i].field]);
        slot->readers++;
        reading r = {slot, p->issued};
        pkc_vec_push(t->arena, &p->products, r);
    }
    p->reg[e->dst] = acc;
    p->batch[e->dst] = p->issued;
}

static void play_copy_out(table *t, player *p, const event *e)
{
    slot_state *slot = slot_at(t, e->x);
    uint64_t store = mix(e->tag, slot->field[e->x.field]);
    pkc_vec_push(t->arena, &t->out->stores, store);
    slot->readers++;
    reading r = {slot, p->groups + 1};
    pkc_vec_push(t->arena, &p->stores, r);
}

static bool ready(table *t, const event *e)
{
    const slot_state *slot = slot_at(t, e->x);
    const barrier *b = e->side == IR_SIDE_FULL ? &slot->full : &slot->free;
    return b->phase != e->phase;
}

static void play_event(table *t, player *p, const event *e)
{
    slot_state *slot;
    switch (e->kind) {
    case EV_WAIT:
        break;
    case EV_EXPECT:
        slot_at(t, e->x)->full.bytes += e->n;
        if (e->flag)
            arrive(t, p, e, IR_SIDE_FULL);
        break;
    case EV_ARRIVE:
        arrive(t, p, e, e->side);
        break;
    case EV_COPY_IN:
        slot = slot_at(t, e->x);
        write_slot(t, p, e->x, e->tag);
        slot->full.bytes -= e->n;
        settle(&slot->full, e->x.pipe->full_count);
        break;
    case EV_STORE:
        write_slot(t, p, e->x, read_reg(t, p, e->a));
        break;
    case EV_OP:
        p->reg[e->dst] =
            mix(mix(mix(e->tag, read_reg(t, p, e->a)), read_reg(t, p, e->b)), read_reg(t, p, e->c));
        break;
    case EV_MMA:
        play_mma(t, p, e);
        break;
    case EV_MMA_WAIT:
        p->retired = p->issued - (int)e->n > p->retired ? p->issued - (int)e->n : p->retired;
        retire(&p->products, p->retired);
        break;
    case EV_COPY_OUT:
        play_copy_out(t, p, e);
        break;
    case EV_COMMIT:
        p->groups++;
        break;
    case EV_BULK_WAIT:
        p->groups_done = p->groups - (int)e->n > p->groups_done ? p->groups - (int)e->n : p->groups_done;
        retire(&p->stores, p->groups_done);
        break;
    }
}

/// As many events of the role as can be played; true where there was one.
static bool advance(table *t, player *p)
{
    size_t start = p->at;
    for (; p->at < p->trace->events.len && t->out->fault == NULL; p->at++) {
        const event *e = &p->trace->events.data[p->at];
        if (e->kind == EV_WAIT && !ready(t, e))
            break;
        play_event(t, p, e);
    }
    return p->at > start;
}

static void make_slots(table *t, const ir_kernel *k)
{
    ir_ptrmap_init(&t->slots, t->arena);
    for (const ir_pipe *p = k->pipes; p != NULL; p = p->next) {
        slot_state *slots = PKC_NEW_ARRAY(t->arena, slot_state, p->slots);
        for (int i = 0; i < p->slots; i++) {
            slots[i].full.missing = p->full_count;
            slots[i].free.missing = p->free_count;
        }
        ir_ptrmap_set(&t->slots, p, slots);
    }
}

static void check_end(table *t, const player *p)
{
    if (p->at < p->trace->events.len)
        fail(t, p, "stuck");
    else if (p->products.len > 0 || p->stores.len > 0)
        fail(t, p, "work is in flight at the end");
}

outcome play(pkc_arena *arena, const ir_kernel *k, trace *traces, int n)
{
    outcome out = {0};
    table t = {.arena = arena, .out = &out};
    player *players = PKC_NEW_ARRAY(arena, player, n);
    make_slots(&t, k);
    for (int i = 0; i < n; i++) {
        players[i].trace = &traces[i];
        players[i].reg = PKC_NEW_ARRAY(arena, uint64_t, traces[i].registers + 1);
        players[i].batch = PKC_NEW_ARRAY(arena, int, traces[i].registers + 1);
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < n; i++)
            moved = advance(&t, &players[i]) || moved;
    }
    for (int i = 0; i < n; i++)
        check_end(&t, &players[i]);
    return out;
}
