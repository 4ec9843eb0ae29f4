// SPDX-License-Identifier: Apache-2.0
// The interpreter's loop, and divergence: the lanes of a warp that stand at the same instruction are a
// fragment; the runnable fragment with the smallest pc runs, and fragments that meet become one. A warp that
// has not diverged is one fragment, for which all this is one comparison an instruction.
#include "sim/exec/lanes.h"

enum { ROTATE_QUANTUM = 256 };

// ---- Lanes
// ---------------------------------------------------------------------------------------------------------

#define KEEP(T)                                                                                              \
    PKSIM_EACH(lane, mask)                                                                                   \
    ((T *)to)[lane] = ((const T *)from)[lane]

void pksim_keep_lanes(void *to, const void *from, uint32_t mask, uint32_t bytes)
{
    if (mask == UINT32_MAX)
        memcpy(to, from, bytes ? (size_t)bytes * PKSIM_LANES : 4);
    else if (bytes == 4)
        KEEP(uint32_t);
    else if (bytes == 8)
        KEEP(uint64_t);
    else if (bytes == 2)
        KEEP(uint16_t);
    else if (bytes == 0)
        *(uint32_t *)to = (*(uint32_t *)to & ~mask) | (*(const uint32_t *)from & mask);
    else
        PKSIM_EACH(lane, mask)
    memcpy((uint8_t *)to + (size_t)lane * bytes, (const uint8_t *)from + (size_t)lane * bytes, bytes);
}

// ---- Fragments
// -----------------------------------------------------------------------------------------------------

static void save_current(struct pksim_warp *w)
{
    struct pksim_frag *frag = &w->frags[w->current];
    frag->pc = w->pc;
    frag->mask = w->active;
}

static bool runnable(const struct pksim_frag *frag)
{
    return frag->wait.kind == PKSIM_WAIT_NONE;
}

// A fragment that a barrier has released, but that has not gone past it, must not take in others that only
// arrive.
static bool joinable(const struct pksim_frag *frag)
{
    return runnable(frag) && !frag->wait.released;
}

static void find_next_pc(struct pksim_warp *w)
{
    w->next_pc = UINT32_MAX;
    for (uint32_t i = 0; i < w->frag_count; i++) {
        if (i != w->current && runnable(&w->frags[i]) && w->frags[i].pc < w->next_pc)
            w->next_pc = w->frags[i].pc;
    }
}

static void remove_frag(struct pksim_warp *w, uint32_t index)
{
    uint32_t last = --w->frag_count;
    w->frags[index] = w->frags[last];
    if (w->current == last)
        w->current = index;
}

// Takes in every runnable fragment at the current pc.
static void merge_here(struct pksim_warp *w)
{
    if (w->frags[w->current].wait.released)
        return;
    for (uint32_t i = 0; i < w->frag_count;) {
        const struct pksim_frag *other = &w->frags[i];
        if (i != w->current && joinable(other) && other->pc == w->pc) {
            w->active |= other->mask;
            remove_frag(w, i);
        } else {
            i++;
        }
    }
}

static void load_frag(struct pksim_warp *w, uint32_t index)
{
    w->current = index;
    w->pc = w->frags[index].pc;
    w->active = w->frags[index].mask;
    w->back_jumps = 0;
}

// Makes the runnable fragment with the smallest pc current. False when none can run. The state of the present
// one is saved.
static bool choose_frag(struct pksim_warp *w)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < w->frag_count; i++) {
        if (runnable(&w->frags[i]) && (best == UINT32_MAX || w->frags[i].pc < w->frags[best].pc))
            best = i;
    }
    if (best == UINT32_MAX)
        return false;
    load_frag(w, best);
    merge_here(w);
    find_next_pc(w);
    return true;
}

// Makes another runnable fragment current for a while, though its pc is not the smallest.
static bool rotate_frag(struct pksim_warp *w)
{
    w->rotate = false;
    for (uint32_t k = 1; k < w->frag_count; k++) {
        uint32_t i = (w->current + k) % w->frag_count;
        if (!runnable(&w->frags[i]))
            continue;
        load_frag(w, i);
        w->next_pc = UINT32_MAX;
        return true;
    }
    return false;
}

void pksim_split(struct pksim_warp *w, uint32_t pc, uint32_t lanes)
{
    for (uint32_t i = 0; i < w->frag_count; i++) {
        struct pksim_frag *frag = &w->frags[i];
        if (i != w->current && joinable(frag) && frag->pc == pc) {
            frag->mask |= lanes;
            return;
        }
    }
    // Fragments are disjoint and not empty, so there is always room.
    w->frags[w->frag_count++] = (struct pksim_frag){.pc = pc, .mask = lanes};
    if (pc < w->next_pc)
        w->next_pc = pc;
}

struct pksim_wait *pksim_wait_here(struct pksim_warp *w, enum pksim_wait_kind kind)
{
    struct pksim_wait *wait = &w->frags[w->current].wait;
    *wait = (struct pksim_wait){.kind = kind};
    return wait;
}

bool pksim_converge(struct pksim_warp *w, uint32_t *mask, uint32_t need)
{
    need &= w->live;
    if ((*mask & need) == need)
        return true;
    if (*mask != w->active) {
        pksim_split(w, w->pc + 1, w->active & ~*mask);
        w->active = *mask;
    }
    for (uint32_t i = 0; i < w->frag_count;) {
        const struct pksim_frag *other = &w->frags[i];
        if (i != w->current && other->pc == w->pc &&
            (joinable(other) || other->wait.kind == PKSIM_WAIT_CONVERGE)) {
            w->active |= other->mask;
            remove_frag(w, i);
        } else {
            i++;
        }
    }
    *mask = w->active;
    if ((*mask & need) == need)
        return true;
    pksim_wait_here(w, PKSIM_WAIT_CONVERGE)->mask = need;
    return false;
}

enum pksim_step pksim_lanes_exit(struct pksim_warp *w, uint32_t lanes)
{
    w->live &= ~lanes;
    w->active &= ~lanes;
    for (uint32_t i = 0; i < w->frag_count; i++) {
        struct pksim_frag *frag = &w->frags[i];
        if (i != w->current &&
            (frag->wait.kind == PKSIM_WAIT_CONVERGE || frag->wait.kind == PKSIM_WAIT_WARP_SYNC))
            pksim_wake(w, frag);
    }
    if (w->active)
        return PKSIM_STEP_NEXT;
    remove_frag(w, w->current);
    w->current = 0;
    w->active = 0;
    return PKSIM_STEP_BLOCK;
}

// ---- Arithmetic
// ----------------------------------------------------------------------------------------------------

static void run_alu(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const void *s[PKSIM_MAX_SOURCES];
    for (uint32_t k = 0; k < i->sources; k++)
        s[k] = pksim_at(w, i->src[k]);
    void *d = w->regs + i->dst;
    // Registers of lanes that have exited do not matter.
    if (mask == w->live) {
        i->alu(d, s);
        return;
    }
    _Alignas(64) uint8_t all[8 * PKSIM_LANES];
    i->alu(all, s);
    pksim_keep_lanes(d, all, mask, i->dst_bytes);
}

// ---- The loop
// ------------------------------------------------------------------------------------------------------

static inline uint32_t guarded(const struct pksim_warp *w, const struct pksim_insn *i)
{
    if (i->guard == PKSIM_NO_PLACE)
        return w->active;
    uint32_t guard = pksim_get_mask(w, i->guard);
    return w->active & (i->guard_negated ? ~guard : guard);
}

static inline enum pksim_step step_warp(struct pksim_warp *w)
{
    const struct pksim_insn *i = &w->code[w->pc];
    uint32_t mask = guarded(w, i);
    if (!mask)
        return PKSIM_STEP_NEXT;
    if (i->run)
        return i->run(w, i, mask);
    run_alu(w, i, mask);
    return PKSIM_STEP_NEXT;
}

// A fragment blocked or ended. True when another can go on.
static bool after_block(struct pksim_warp *w)
{
    if (w->active)
        save_current(w);
    return w->live && choose_frag(w);
}

static bool begin(struct pksim_warp *w, uint32_t *quantum)
{
    if (w->rotate && rotate_frag(w)) {
        *quantum = *quantum < ROTATE_QUANTUM ? *quantum : ROTATE_QUANTUM;
        return true;
    }
    return choose_frag(w);
}

// True: go on.
static bool finish_step(struct pksim_warp *w, enum pksim_step step)
{
    switch (step) {
    case PKSIM_STEP_NEXT:
        w->pc++;
        break;
    case PKSIM_STEP_JUMP:
        break;
    case PKSIM_STEP_YIELD:
        w->pc++;
        save_current(w);
        return false;
    case PKSIM_STEP_BLOCK:
        return after_block(w);
    case PKSIM_STEP_STOP:
        save_current(w);
        return false;
    }
    if (w->pc < w->next_pc)
        return true;
    save_current(w);
    return choose_frag(w);
}

void pksim_warp_run(struct pksim_warp *w, uint32_t quantum)
{
    if (!begin(w, &quantum))
        return;
    uint32_t left = quantum;
    bool more = true;
    while (more && left && !w->rotate) {
        left--;
        more = finish_step(w, step_warp(w));
    }
    if (more)
        save_current(w);
    w->steps += quantum - left;
    w->exec->clock += quantum - left;
}

// ---- Polling
// -------------------------------------------------------------------------------------------------------

void pksim_note_effect(struct pksim_warp *w)
{
    w->poll.count = 0;
    w->poll.repeats = 0;
}

void pksim_note_poll(struct pksim_warp *w, const void *at, uint32_t size, uint64_t address)
{
    struct pksim_poll *poll = &w->poll;
    uint64_t value = 0;
    memcpy(&value, at, size);
    for (uint32_t i = 0; i < poll->count; i++) {
        if (poll->words[i].at != at || poll->words[i].size != size)
            continue;
        if (poll->words[i].value != value)
            poll->repeats = 0;
        poll->words[i].value = value;
        return;
    }
    // More words than we keep: forget all, so that the warp is never taken for one that waits.
    if (poll->count == PKSIM_POLL_WORDS)
        pksim_note_effect(w);
    poll->words[poll->count].at = at;
    poll->words[poll->count].size = size;
    poll->words[poll->count].value = value;
    poll->words[poll->count++].address = address;
}

void pksim_note_look(struct pksim_warp *w)
{
    w->poll.repeats++;
}
