// SPDX-License-Identifier: Apache-2.0
// What lanes and warps know. A lane has the warp's view until it learns or releases something alone; what
// lanes of one warp know of each other is not in the clocks but in `synced`, `fenced` and the warp's tick.
#include <stdlib.h>
#include <string.h>

#include "sim/check/inside.h"

// ---- Knowledge
// -----------------------------------------------------------------------------------------------------

void pksim_knowledge_join(struct pksim_check *check, struct knowledge *to, const struct knowledge *from)
{
    for (uint32_t c = 0; c < CLOCKS; c++) {
        struct pksim_clock *sum =
            pksim_clock_join(to->clock[c], from->clock[c], check->horizon, 0, &check->failed);
        pksim_clock_release(to->clock[c]);
        to->clock[c] = sum;
    }
}

void pksim_knowledge_copy(struct knowledge *to, const struct knowledge *from)
{
    for (uint32_t c = 0; c < CLOCKS; c++)
        to->clock[c] = pksim_clock_retain(from->clock[c]);
}

void pksim_knowledge_drop(struct knowledge *known)
{
    for (uint32_t c = 0; c < CLOCKS; c++)
        pksim_clock_release(known->clock[c]);
    *known = (struct knowledge){0};
}

// ---- Views
// ---------------------------------------------------------------------------------------------------------

void pksim_view_drop(struct view *view)
{
    pksim_knowledge_drop(&view->now);
    for (uint32_t s = 0; s <= PKSIM_SCOPE_SYS; s++) {
        pksim_knowledge_drop(&view->released[s]);
        pksim_knowledge_drop(&view->pending[s]);
    }
}

const struct view *pksim_lane_view(const struct pksim_check_warp *w, uint32_t lane)
{
    return w->lanes[lane].view ? w->lanes[lane].view : &w->view;
}

struct view *pksim_own_view(struct pksim_check *check, struct pksim_check_warp *w, uint32_t lane)
{
    struct view *view = w->lanes[lane].view;
    if (view)
        return view;
    view = calloc(1, sizeof *view);
    if (!view) {
        check->failed = true;
        return &w->view;
    }
    pksim_knowledge_copy(&view->now, &w->view.now);
    for (uint32_t s = 0; s <= PKSIM_SCOPE_SYS; s++) {
        pksim_knowledge_copy(&view->released[s], &w->view.released[s]);
        pksim_knowledge_copy(&view->pending[s], &w->view.pending[s]);
    }
    memcpy(view->fenced, w->view.fenced, sizeof view->fenced);
    w->lanes[lane].view = view;
    return view;
}

static uint32_t fenced(const struct pksim_check_warp *w, uint32_t lanes, uint32_t clock)
{
    uint32_t least = w->tick;
    PKSIM_EACH(lane, lanes)
    {
        uint32_t tick = pksim_lane_view(w, lane)->fenced[clock];
        least = tick < least ? tick : least;
    }
    return least;
}

// ---- Telling and learning
// -----------------------------------------------------------------------------------------

static bool is_own_time(uint32_t clock)
{
    return clock == CLOCK_ORDER || clock == CLOCK_ANY;
}

// What single lanes have fenced of their own.
static void add_fences(const struct pksim_check_warp *w, uint32_t lanes, uint32_t clock,
                       struct pksim_entry *entry)
{
    PKSIM_EACH(lane, lanes)
    pksim_entry_add(entry, 1u << lane, pksim_lane_view(w, lane)->fenced[clock]);
}

void pksim_publish(struct pksim_warp *warp, uint32_t lanes, struct knowledge *out)
{
    struct pksim_check_warp *w = warp->check;
    struct pksim_check *check = w->launch->check;
    struct knowledge sum = {0};
    bool common = lanes == warp->live;
    if (common)
        pksim_knowledge_copy(&sum, &w->view.now);
    PKSIM_EACH(lane, lanes)
    {
        if (!common || w->lanes[lane].view)
            pksim_knowledge_join(check, &sum, &pksim_lane_view(w, lane)->now);
    }
    for (uint32_t c = 0; c < CLOCKS && !check->failed; c++) {
        struct pksim_entry entry = {.all = w->synced[c]};
        uint32_t tick = is_own_time(c) ? w->tick : fenced(w, lanes, c);
        if (common && tick > entry.all)
            entry.all = tick;
        else
            pksim_entry_add(&entry, lanes, tick);
        if (!is_own_time(c))
            add_fences(w, lanes, c, &entry);
        if (entry.all || entry.mask[0] || entry.mask[1])
            sum.clock[c] = pksim_clock_add(sum.clock[c], w->launch->number, w->launch->height, w->number,
                                           &entry, &check->failed);
    }
    w->tick++;
    *out = sum;
}

void pksim_acquire(struct pksim_warp *warp, uint32_t lanes, const struct knowledge *known)
{
    struct pksim_check_warp *w = warp->check;
    struct pksim_check *check = w->launch->check;
    bool all = lanes == warp->live;
    if (all)
        pksim_knowledge_join(check, &w->view.now, known);
    PKSIM_EACH(lane, lanes)
    {
        if (!all || w->lanes[lane].view)
            pksim_knowledge_join(check, &pksim_own_view(check, w, lane)->now, known);
    }
}

// Views of lanes go into the warp's. What one lane had released by a fence counts for all: knowing too much
// misses a race, knowing too little would invent one.
static void merge_views(struct pksim_warp *warp)
{
    struct pksim_check_warp *w = warp->check;
    struct pksim_check *check = w->launch->check;
    uint32_t least[CLOCKS];
    for (uint32_t c = 0; c < CLOCKS; c++) {
        struct pksim_entry entry = {0};
        least[c] = fenced(w, warp->live, c);
        if (is_own_time(c))
            continue;
        add_fences(w, warp->live, c, &entry);
        if (entry.tick[0] > least[c] || entry.tick[1] > least[c])
            w->view.now.clock[c] = pksim_clock_add(w->view.now.clock[c], w->launch->number, w->launch->height,
                                                   w->number, &entry, &check->failed);
    }
    for (uint32_t lane = 0; lane < PKSIM_LANES; lane++) {
        struct view *view = w->lanes[lane].view;
        if (!view)
            continue;
        pksim_knowledge_join(check, &w->view.now, &view->now);
        for (uint32_t s = 0; s <= PKSIM_SCOPE_SYS; s++) {
            pksim_knowledge_join(check, &w->view.released[s], &view->released[s]);
            pksim_knowledge_join(check, &w->view.pending[s], &view->pending[s]);
        }
        pksim_view_drop(view);
        free(view);
        w->lanes[lane].view = NULL;
    }
    memcpy(w->view.fenced, least, sizeof least);
}

void pksim_sync_lanes(struct pksim_warp *warp)
{
    struct pksim_check_warp *w = warp->check;
    merge_views(warp);
    for (uint32_t c = 0; c < CLOCKS; c++) {
        uint32_t tick = is_own_time(c) ? w->tick : w->view.fenced[c];
        w->synced[c] = tick > w->synced[c] ? tick : w->synced[c];
    }
    w->tick++;
}

void pksim_check_warp_sync(struct pksim_warp *warp, uint32_t lanes)
{
    struct knowledge known;
    if (warp->check->launch->check->failed)
        return;
    if ((lanes & warp->live) == warp->live) {
        pksim_sync_lanes(warp);
        return;
    }
    pksim_publish(warp, lanes & warp->live, &known);
    pksim_acquire(warp, lanes & warp->live, &known);
    pksim_knowledge_drop(&known);
}

// ---- Fences
// --------------------------------------------------------------------------------------------------------

// Calls for the warp's view where all lanes are at the fence, and for those that lanes have of their own.
static void fence_view(struct pksim_warp *warp, struct view *view, enum pksim_scope scope,
                       const struct knowledge *known)
{
    struct pksim_check *check = warp->check->launch->check;
    for (uint32_t s = PKSIM_SCOPE_CTA; s <= (uint32_t)scope; s++) {
        pksim_knowledge_join(check, &view->now, &view->pending[s]);
        pksim_knowledge_drop(&view->pending[s]);
    }
    for (uint32_t s = PKSIM_SCOPE_CTA; s <= (uint32_t)scope; s++)
        pksim_knowledge_join(check, &view->released[s], known);
}

// What was pending counts first, so that it is released, too.
static void take_pending(struct pksim_warp *warp, uint32_t lanes, enum pksim_scope scope)
{
    struct pksim_check_warp *w = warp->check;
    PKSIM_EACH(lane, lanes)
    {
        const struct view *view = pksim_lane_view(w, lane);
        for (uint32_t s = PKSIM_SCOPE_CTA; s <= (uint32_t)scope; s++)
            if (view->pending[s].clock[CLOCK_ORDER])
                pksim_acquire(warp, view == &w->view ? lanes : 1u << lane, &view->pending[s]);
    }
}

void pksim_check_fence(struct pksim_warp *warp, uint32_t lanes, enum pksim_scope scope)
{
    struct pksim_check_warp *w = warp->check;
    struct pksim_check *check = w->launch->check;
    struct knowledge known;
    bool all = lanes == warp->live;
    if (check->failed || !scope)
        return;
    take_pending(warp, lanes, scope);
    pksim_publish(warp, lanes, &known);
    if (all)
        fence_view(warp, &w->view, scope, &known);
    PKSIM_EACH(lane, lanes)
    {
        if (!all || w->lanes[lane].view)
            fence_view(warp, pksim_own_view(check, w, lane), scope, &known);
    }
    pksim_knowledge_drop(&known);
}

static void proxy_fence_view(struct pksim_warp *warp, struct view *view, uint32_t clock)
{
    struct pksim_check_warp *w = warp->check;
    struct pksim_check *check = w->launch->check;
    struct pksim_entry entry = {.all = w->synced[CLOCK_ORDER]};
    pksim_clock_release(view->now.clock[clock]);
    view->now.clock[clock] = pksim_clock_retain(view->now.clock[CLOCK_ORDER]);
    if (entry.all)
        view->now.clock[clock] = pksim_clock_add(view->now.clock[clock], w->launch->number, w->launch->height,
                                                 w->number, &entry, &check->failed);
    view->fenced[clock] = w->tick;
}

void pksim_check_proxy_fence(struct pksim_warp *warp, uint32_t lanes, uint32_t proxies)
{
    static const uint32_t clocks[] = {CLOCK_SHARED, CLOCK_GLOBAL, CLOCK_ALIAS};
    struct pksim_check_warp *w = warp->check;
    struct pksim_check *check = w->launch->check;
    bool all = lanes == warp->live;
    for (uint32_t k = 0; k < 3 && !check->failed; k++) {
        if (!(proxies >> k & 1))
            continue;
        if (all)
            proxy_fence_view(warp, &w->view, clocks[k]);
        PKSIM_EACH(lane, lanes)
        {
            if (!all || w->lanes[lane].view)
                proxy_fence_view(warp, pksim_own_view(check, w, lane), clocks[k]);
        }
    }
    w->tick++;
}

// ---- Asking
// --------------------------------------------------------------------------------------------------------

// Of the warp that asks: a lane knows itself, and the others as far as something has joined them.
static bool knows_own_lane(const struct stroke *s, const struct view *view, uint32_t clock, uint32_t lane,
                           uint32_t asks, uint32_t tick)
{
    const struct pksim_check_warp *w = s->warp->check;
    if (lane != asks)
        return tick <= w->synced[clock];
    return is_own_time(clock) || tick <= view->fenced[clock] || tick <= w->synced[clock];
}

// Does lane `asks` of the warp that `what` is of know it?
static bool knows_in_warp(const struct stroke *s, const struct view *view, uint32_t clock,
                          const struct observation *what, bool any, const struct pksim_entry *entry,
                          uint32_t asks)
{
    uint32_t known = 0;
    // What the whole warp does at once follows what the whole warp did at once.
    bool together = (s->lanes & (s->lanes - 1)) && s->lanes == what->lanes;
    if (any && (what->lanes >> asks & 1) && is_own_time(clock))
        return true;
    PKSIM_EACH(lane, what->lanes)
    {
        bool knows = (entry && pksim_entry_knows(entry, 1u << lane, what->tick, false)) ||
                     knows_own_lane(s, view, clock, lane, together ? lane : asks, what->tick);
        known |= (uint32_t)knows << lane;
    }
    return any ? known != 0 : known == what->lanes;
}

static bool knows_by(const struct stroke *s, const struct view *view, uint32_t clock,
                     const struct observation *what, bool any, uint32_t asks)
{
    const struct pksim_check_warp *w = s->warp->check;
    bool whole;
    const struct pksim_entry *entry =
        pksim_clock_find(view->now.clock[clock], what->launch->number, what->warp, &whole);
    if (whole)
        return true;
    if (what->launch == w->launch && what->warp == w->number)
        return knows_in_warp(s, view, clock, what, any, entry, asks);
    return entry && pksim_entry_knows(entry, what->lanes, what->tick, any);
}

uint32_t pksim_who_knows(const struct stroke *s, uint32_t clock, const struct observation *what, bool any)
{
    const struct pksim_check_warp *w = s->warp->check;
    bool own = what->launch == w->launch && what->warp == w->number, asked = false, common = false;
    uint32_t known = 0;
    if (what->launch->retired)
        return s->lanes;
    PKSIM_EACH(lane, s->lanes)
    {
        const struct view *view = pksim_lane_view(w, lane);
        bool knows = asked && !own && view == &w->view ? common : knows_by(s, view, clock, what, any, lane);
        if (view == &w->view) {
            asked = true;
            common = knows;
        }
        known |= (uint32_t)knows << lane;
    }
    return known;
}

bool pksim_knows(const struct stroke *s, uint32_t clock, const struct observation *what, bool any)
{
    return pksim_who_knows(s, clock, what, any) == s->lanes;
}
