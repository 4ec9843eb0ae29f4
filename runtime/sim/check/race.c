// SPDX-License-Identifier: Apache-2.0
// The rule: which accesses of a cell conflict with a new one and are not ordered before it, and which still
// matter after it.
#include <stdlib.h>

#include "sim/check/inside.h"

// A state with more accesses than this forgets its oldest: that may miss a race, and invents none.
enum { MOST_ACCESSES = 1024 };

// ---- Conflicts
// -----------------------------------------------------------------------------------------------------

static bool same_device(const struct stroke *s, const struct access *a)
{
    return a->operation->launch->device == s->warp->cta->run->device;
}

static bool same_cta(const struct stroke *s, const struct access *a)
{
    const struct pksim_check_warp *w = s->warp->check;
    return a->operation->launch == w->launch &&
           a->operation->warp - a->operation->index == w->number - s->warp->index;
}

// Clusters are rows of CTAs of one launch; which, the scope of a shared word hardly ever asks.
static bool includes(const struct stroke *s, const struct access *a, uint32_t scope)
{
    switch ((enum pksim_scope)scope) {
    case PKSIM_SCOPE_NONE:
        return false;
    case PKSIM_SCOPE_CTA:
        return same_cta(s, a);
    case PKSIM_SCOPE_CLUSTER:
        return a->operation->launch == s->warp->check->launch;
    case PKSIM_SCOPE_GPU:
        return same_device(s, a);
    case PKSIM_SCOPE_SYS:
        return true;
    }
    return false;
}

// Both are atomic, each with a scope that includes the other (PTX ISA 8.7).
static bool morally_strong(const struct stroke *s, const struct access *a)
{
    return (a->flags & ACCESS_ATOMIC) && (s->access.flags & ACCESS_ATOMIC) && includes(s, a, a->scope) &&
           includes(s, a, s->access.scope);
}

static bool conflicts(const struct stroke *s, const struct access *a)
{
    if (!((a->flags | s->access.flags) & ACCESS_WRITE))
        return false;
    if (a->flags & s->access.flags & ACCESS_ADD)
        return false;
    // An addition of a bulk copy and an atomic one of the same element: neither is lost (PTX ISA 9.7.9.25.5).
    if ((a->flags | s->access.flags) & ACCESS_ADD && a->flags & s->access.flags & ACCESS_ATOMIC)
        return false;
    return !morally_strong(s, a);
}

// ---- Order
// ---------------------------------------------------------------------------------------------------------

static uint32_t who_knows(const struct stroke *s, const struct access *a, uint32_t clock,
                          const struct observation *what, bool any)
{
    uint32_t known = pksim_who_knows(s, clock, what, any);
    if (clock != CLOCK_ANY && (a->flags ^ s->access.flags) & ACCESS_ALIAS)
        known &= pksim_who_knows(s, CLOCK_ALIAS, what, any);
    return known;
}

static uint32_t end_needed(const struct stroke *s, const struct access *a)
{
    (void)s;
    return a->flags & ACCESS_WRITE ? END_WRITE : END_READ;
}

// Each lane of the stroke by some observation.
static bool end_is_known(const struct stroke *s, const struct access *a, uint32_t clock)
{
    const struct happening *h = a->operation->ends[end_needed(s, a)];
    uint32_t known = 0;
    for (uint32_t i = 0; h && i < h->count && known != s->lanes; i++)
        known |= who_knows(s, a, clock, &h->seen[i], true);
    return known == s->lanes;
}

static struct observation site_of(const struct access *a)
{
    const struct pksim_operation *o = a->operation;
    return (struct observation){o->launch, o->warp, o->lanes, o->tick};
}

static uint32_t proxy_clock(const struct stroke *s)
{
    if (!s->access.operation->asynchronous)
        return CLOCK_ORDER;
    return s->shared ? CLOCK_SHARED : CLOCK_GLOBAL;
}

static bool whole_before(const struct stroke *s, const struct pksim_check_launch *launch)
{
    bool whole;
    pksim_clock_find(s->warp->check->view.now.clock[CLOCK_ORDER], launch->number, 0, &whole);
    return whole || launch->retired;
}

static bool ordered(const struct stroke *s, const struct access *a)
{
    struct observation site = site_of(a);
    if (whole_before(s, a->operation->launch))
        return true;
    if (a->operation->asynchronous)
        return end_is_known(s, a, CLOCK_ORDER);
    return who_knows(s, a, proxy_clock(s), &site, false) == s->lanes;
}

// ---- What is missing
// -----------------------------------------------------------------------------------------------

static enum missing end_missing(const struct stroke *s, const struct access *a)
{
    uint32_t end = end_needed(s, a);
    struct observation site = site_of(a);
    if (pksim_knows(s, CLOCK_ORDER, &site, true)) // the issue is known, its end is not
        return end == END_READ ? MISSING_READ_END : MISSING_WRITE_END;
    if (a->operation->ends[end] && end_is_known(s, a, CLOCK_ANY))
        return MISSING_STRENGTH;
    if (a->operation->ends[end])
        return a->operation->ends[end]->count ? MISSING_ORDER
               : end == END_READ              ? MISSING_READ_END
                                              : MISSING_WRITE_END;
    return end == END_READ ? MISSING_READ_END : MISSING_WRITE_END;
}

static enum missing what_is_missing(const struct stroke *s, const struct access *a)
{
    struct observation site = site_of(a);
    if (a->operation->asynchronous)
        return end_missing(s, a);
    if (pksim_knows(s, CLOCK_ORDER, &site, false))
        return pksim_knows(s, proxy_clock(s), &site, false) ? MISSING_ALIAS : MISSING_PROXY;
    if (a->operation->launch == s->warp->check->launch && a->operation->warp == s->warp->check->number)
        return MISSING_LANES;
    return pksim_knows(s, CLOCK_ANY, &site, false) ? MISSING_STRENGTH : MISSING_ORDER;
}

// ---- The next state
// ------------------------------------------------------------------------------------------------

// Whatever conflicts with this access conflicts with the new one as well.
static bool is_as_strict(const struct stroke *s, const struct access *a)
{
    uint32_t lenient = s->access.flags & (ACCESS_ATOMIC | ACCESS_ADD);
    if ((a->flags & ACCESS_WRITE) && !(s->access.flags & ACCESS_WRITE))
        return false;
    return !(lenient & ~a->flags) && (!(lenient & ACCESS_ATOMIC) || s->access.scope <= a->scope);
}

// Then whoever is ordered behind the new access, or is flagged with it, need not be held against this one.
static bool is_covered(const struct stroke *s, const struct access *a, bool before)
{
    return before && is_as_strict(s, a);
}

static bool keep(struct access *list, uint32_t *count, const struct access *a, uint16_t bytes)
{
    list[*count] = *a;
    list[*count].bytes = bytes;
    pksim_operation_retain(a->operation);
    ++*count;
    return true;
}

bool pksim_race_next(struct stroke *s, const struct cell_state *state, uint64_t cell, struct access **out,
                     uint32_t *count)
{
    struct pksim_check *check = s->warp->check->launch->check;
    uint32_t first = state->count >= MOST_ACCESSES ? state->count - MOST_ACCESSES + 1 : 0;
    struct access *list = malloc((state->count - first + 1) * sizeof *list);
    *count = 0;
    if (!list) {
        check->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < state->count; i++) {
        const struct access *a = &state->accesses[i];
        bool overlap = a->bytes & s->access.bytes, before = overlap && ordered(s, a);
        if (overlap && !before && conflicts(s, a) && !s->warp->exec->faulted)
            pksim_race_report(s, a, cell, what_is_missing(s, a));
        uint16_t left = is_covered(s, a, before) ? a->bytes & (uint16_t)~s->access.bytes : a->bytes;
        if (left && i >= first)
            keep(list, count, a, left);
    }
    keep(list, count, &s->access, s->access.bytes);
    *out = list;
    return true;
}
