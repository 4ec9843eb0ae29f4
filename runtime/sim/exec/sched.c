// SPDX-License-Identifier: Apache-2.0
// The scheduler: which warp runs next, what happens when none can, when CTAs come and go.
#include <stdlib.h>

#include "sim/exec/lanes.h"

enum {
    DOZE_AFTER = 16, // repeats of a poll after which a warp runs only when nothing else can
    PARK_AFTER =
        3000,    // repeats after which only a changed word wakes it; more than the distance of any rare check
    WINDOW = 48, // warps
    CHECK_POLLS = 64 // quanta between looks at what dozing warps poll
};

// splitmix64 (Steele, Lea and Flood, 2014).
uint64_t pksim_random(struct pksim_exec *exec)
{
    uint64_t z = exec->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// ---- Lists
// ---------------------------------------------------------------------------------------------------------

static struct pksim_warp_list *list_of(struct pksim_exec *exec, enum pksim_warp_state state)
{
    switch (state) {
    case PKSIM_WARP_READY:
        return &exec->ready;
    case PKSIM_WARP_DOZING:
        return &exec->dozing;
    case PKSIM_WARP_PARKED:
        return &exec->parked;
    case PKSIM_WARP_WAITING:
    case PKSIM_WARP_RUNNING:
    case PKSIM_WARP_DONE:
        break;
    }
    return NULL;
}

static bool push(struct pksim_warp_list *list, struct pksim_warp *w)
{
    if (list->count == list->capacity) {
        uint32_t more = list->capacity ? list->capacity * 2 : 64;
        struct pksim_warp **items = realloc(list->items, more * sizeof(struct pksim_warp *));
        if (!items)
            return false;
        list->items = items;
        list->capacity = more;
    }
    w->slot = list->count;
    list->items[list->count++] = w;
    return true;
}

static void drop(struct pksim_warp_list *list, struct pksim_warp *w)
{
    struct pksim_warp *last = list->items[--list->count];
    list->items[w->slot] = last;
    last->slot = w->slot;
}

void pksim_set_state(struct pksim_warp *w, enum pksim_warp_state state)
{
    struct pksim_warp_list *from = list_of(w->exec, w->state), *to = list_of(w->exec, state);
    if (w->state == state)
        return;
    if (from)
        drop(from, w);
    w->state = state;
    if (to && !push(to, w)) {
        w->state = PKSIM_WARP_WAITING;
        pksim_raise(w->exec, w, PKSIM_FAULT_OUT_OF_MEMORY, "list of warps");
    }
}

void pksim_wake(struct pksim_warp *w, struct pksim_frag *frag)
{
    frag->wait.kind = PKSIM_WAIT_NONE;
    if (w->state == PKSIM_WARP_RUNNING) {
        if (frag != &w->frags[w->current] && frag->pc < w->next_pc)
            w->next_pc = frag->pc;
        return;
    }
    pksim_note_effect(w);
    pksim_set_state(w, PKSIM_WARP_READY);
}

// ---- One warp's turn
// -----------------------------------------------------------------------------------------------

static bool any_runnable(const struct pksim_warp *w)
{
    for (uint32_t i = 0; i < w->frag_count; i++) {
        if (w->frags[i].wait.kind == PKSIM_WAIT_NONE)
            return true;
    }
    return false;
}

static void run_one(struct pksim_exec *exec, struct pksim_warp *w, uint32_t quantum)
{
    if (!w->regs && !pksim_cluster_begin(exec, w->cta->cluster)) {
        pksim_raise(exec, w, PKSIM_FAULT_OUT_OF_MEMORY, "registers or shared memory");
        return;
    }
    pksim_set_state(w, PKSIM_WARP_RUNNING);
    pksim_warp_run(w, quantum);
    if (exec->faulted)
        return;
    if (!w->live)
        pksim_warp_exit(w);
    else if (w->poll.repeats >= PARK_AFTER)
        pksim_set_state(w, PKSIM_WARP_PARKED);
    else if (!any_runnable(w))
        pksim_set_state(w, PKSIM_WARP_WAITING);
    else if (w->poll.repeats >= DOZE_AFTER)
        pksim_set_state(w, PKSIM_WARP_DOZING);
    else
        pksim_set_state(w, PKSIM_WARP_READY);
}

// Mostly one of the first in the list: what few CTAs use stays in the host's caches, and CTAs without work
// end before the next ones have taken memory. Sometimes any, so that nothing starves and far-apart warps
// interleave too; more rarely one that has not begun.
static struct pksim_warp *pick_any(struct pksim_exec *exec, const struct pksim_warp_list *list)
{
    uint64_t r = pksim_random(exec);
    bool far = list->count <= WINDOW || r % 16 == 0;
    struct pksim_warp *w = list->items[(r >> 8) % (far ? list->count : WINDOW)];
    if (w->regs || list->count <= WINDOW || r >> 60 == 0)
        return w;
    return list->items[(r >> 8) % WINDOW];
}

static struct pksim_warp *pick(struct pksim_exec *exec, const struct pksim_warp_list *list)
{
    struct pksim_warp *w = pick_any(exec, list);
    if ((int32_t)w->cta->run->device == exec->config.straggler && pksim_random(exec) % 8)
        w = pick_any(exec, list);
    return w;
}

// Mostly long turns, which are fast; some short ones, which show more interleavings.
static uint32_t choose_quantum(struct pksim_exec *exec)
{
    uint64_t r = pksim_random(exec);
    return r % 8 ? 128 + (uint32_t)(r >> 8) % 128 : 1 + (uint32_t)(r >> 8) % 16;
}

// ---- When nothing is ready
// -----------------------------------------------------------------------------------------

static bool poll_changed(const struct pksim_warp *w)
{
    for (uint32_t i = 0; i < w->poll.count; i++) {
        uint64_t now = 0;
        memcpy(&now, w->poll.words[i].at, w->poll.words[i].size);
        if (now != w->poll.words[i].value)
            return true;
    }
    return false;
}

// try_wait returns false where it waits: the loop around it may look at something else.
static bool give_up_waits(struct pksim_warp *w)
{
    bool any = false;
    for (uint32_t i = 0; i < w->frag_count; i++) {
        struct pksim_frag *frag = &w->frags[i];
        if (frag->wait.kind != PKSIM_WAIT_MBARRIER)
            continue;
        frag->wait.kind = PKSIM_WAIT_NONE;
        frag->wait.gave_up = true;
        any = true;
    }
    return any;
}

static void look_again(struct pksim_warp *w)
{
    give_up_waits(w);
    pksim_note_effect(w);
    pksim_set_state(w, PKSIM_WARP_READY);
}

static bool wake_changed(struct pksim_warp_list *list)
{
    bool any = false;
    for (uint32_t i = list->count; i-- > 0;) {
        struct pksim_warp *w = list->items[i];
        if (!poll_changed(w))
            continue;
        look_again(w);
        any = true;
    }
    return any;
}

static bool wake_polls(struct pksim_exec *exec)
{
    bool any = wake_changed(&exec->dozing);
    return wake_changed(&exec->parked) || any;
}

// Lets every warp that waits on an mbarrier with a time limit have its try_wait time out.
static bool time_out_waits(struct pksim_exec *exec)
{
    bool any = false;
    for (struct pksim_run *run = exec->runs; run; run = run->next) {
        for (struct pksim_cluster *cluster = run->live; cluster; cluster = cluster->next) {
            for (uint32_t c = 0; c < cluster->count; c++) {
                for (uint32_t k = 0; k < run->warps; k++) {
                    struct pksim_warp *w = &cluster->ctas[c].warps[k];
                    if (w->state != PKSIM_WARP_WAITING || !give_up_waits(w))
                        continue;
                    pksim_set_state(w, PKSIM_WARP_READY);
                    any = true;
                }
            }
        }
    }
    return any;
}

static bool find_work(struct pksim_exec *exec)
{
    if (wake_polls(exec))
        return true;
    if (pksim_event_complete_one(exec))
        return true;
    if (exec->dozing.count) {
        run_one(exec, pick(exec, &exec->dozing), 512);
        return true;
    }
    return time_out_waits(exec);
}

static enum pksim_exec_status idle_status(const struct pksim_exec *exec)
{
    for (const struct pksim_run *run = exec->runs; run; run = run->next) {
        if (run->cluster_left)
            return PKSIM_EXEC_STALLED;
    }
    return PKSIM_EXEC_DONE;
}

static bool over_limit(struct pksim_exec *exec)
{
    if (!exec->config.max_steps || exec->clock < exec->config.max_steps)
        return false;
    pksim_raise(exec, NULL, PKSIM_FAULT_STEP_LIMIT, "%llu warp instructions without an end",
                (unsigned long long)exec->clock);
    return true;
}

static void between_turns(struct pksim_exec *exec)
{
    if (exec->event_count && !exec->config.late && pksim_random(exec) % 4 == 0)
        pksim_event_complete_one(exec);
    if (++exec->tick % CHECK_POLLS == 0)
        wake_polls(exec);
}

static void check_generation(struct pksim_exec *exec)
{
    uint64_t now = pksim_mem_generation(exec->config.mem);
    if (now == exec->generation)
        return;
    exec->generation = now;
    for (struct pksim_run *run = exec->runs; run; run = run->next)
        memset(run->spans, 0, sizeof run->spans);
    // What polling warps look at may have moved: let them look again.
    while (exec->dozing.count)
        look_again(exec->dozing.items[0]);
    while (exec->parked.count)
        look_again(exec->parked.items[0]);
}

enum pksim_exec_status pksim_exec_run(struct pksim_exec *exec, uint64_t budget)
{
    uint64_t stop = budget ? exec->clock + budget : UINT64_MAX;
    check_generation(exec);
    pksim_place_ctas(exec);
    while (!exec->faulted && !over_limit(exec)) {
        if (exec->clock >= stop)
            return PKSIM_EXEC_BUSY;
        if (!exec->ready.count && !find_work(exec))
            return exec->faulted ? PKSIM_EXEC_FAULT : idle_status(exec);
        if (exec->ready.count && !exec->faulted)
            run_one(exec, pick(exec, &exec->ready), choose_quantum(exec));
        between_turns(exec);
    }
    exec->stats.instructions = exec->clock;
    return PKSIM_EXEC_FAULT;
}
