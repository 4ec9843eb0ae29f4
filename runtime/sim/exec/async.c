// SPDX-License-Identifier: Apache-2.0
#include "sim/exec/async.h"

#include <stdlib.h>

#include "sim/check/check.h"
#include "sim/exec/lanes.h"

struct pksim_event {
    struct pksim_copy copy;
    struct pksim_warp *warp; // that issued it: its cluster stays while events of it are in flight
    uint32_t lane, group, pc;
    bool has_read;
    struct pksim_operation *operation; // of the race detector; NULL: none
    // What a store has read: shared memory of the same alignment and addresses.
    struct pksim_shared snapshot;
    unsigned char *bytes;
    uint32_t bytes_capacity;
    uint8_t *shadow;
    struct pksim_event *next_free;
};

// ---- Bulk groups
// ---------------------------------------------------------------------------------------------------

static struct pksim_bulk_lane *bulk_lane(struct pksim_warp *w, uint32_t lane)
{
    if (!w->bulk)
        w->bulk = calloc(PKSIM_LANES, sizeof *w->bulk);
    if (!w->bulk)
        return NULL;
    struct pksim_bulk_lane *b = &w->bulk[lane];
    if (!b->groups) {
        b->groups = calloc(4, sizeof *b->groups);
        b->capacity = b->groups ? 4 : 0;
    }
    return b->groups ? b : NULL;
}

static bool grow_groups(struct pksim_bulk_lane *b)
{
    struct pksim_bulk_group *groups = calloc(b->capacity * 2, sizeof *groups);
    if (!groups)
        return false;
    for (uint32_t g = b->first; g <= b->open; g++)
        groups[g % (b->capacity * 2)] = b->groups[g % b->capacity];
    free(b->groups);
    b->groups = groups;
    b->capacity *= 2;
    return true;
}

static void drop_finished(struct pksim_bulk_lane *b)
{
    while (b->first < b->open) {
        const struct pksim_bulk_group *group = &b->groups[b->first % b->capacity];
        if (group->reads || group->writes)
            return;
        b->first++;
    }
}

bool pksim_bulk_commit(struct pksim_warp *w, uint32_t lane)
{
    struct pksim_bulk_lane *b = bulk_lane(w, lane);
    if (!b || (b->open + 1 - b->first >= b->capacity && !grow_groups(b))) {
        pksim_raise(w->exec, w, PKSIM_FAULT_OUT_OF_MEMORY, "bulk groups");
        return false;
    }
    b->open++;
    b->groups[b->open % b->capacity] = (struct pksim_bulk_group){0};
    drop_finished(b);
    return true;
}

bool pksim_bulk_done(const struct pksim_warp *w, uint32_t lane, uint32_t keep, bool reads)
{
    if (!w->bulk || !w->bulk[lane].groups)
        return true;
    const struct pksim_bulk_lane *b = &w->bulk[lane];
    for (uint32_t g = b->first; g + keep < b->open; g++) {
        const struct pksim_bulk_group *group = &b->groups[g % b->capacity];
        if (group->reads || (!reads && group->writes))
            return false;
    }
    return true;
}

void pksim_warp_bulk_free(struct pksim_warp *w)
{
    for (uint32_t l = 0; w->bulk && l < PKSIM_LANES; l++)
        free(w->bulk[l].groups);
    free(w->bulk);
}

static void wake_bulk_waits(struct pksim_warp *w)
{
    for (uint32_t i = 0; i < w->frag_count; i++) {
        if (w->frags[i].wait.kind == PKSIM_WAIT_BULK)
            pksim_wake(w, &w->frags[i]);
    }
}

// ---- Events
// --------------------------------------------------------------------------------------------------------

static struct pksim_event *new_event(struct pksim_exec *exec)
{
    struct pksim_event *event = exec->free_events;
    if (event) {
        exec->free_events = event->next_free;
        return event;
    }
    return calloc(1, sizeof *event);
}

static bool push_event(struct pksim_exec *exec, struct pksim_event *event)
{
    if (exec->event_count == exec->event_capacity) {
        uint32_t more = exec->event_capacity ? exec->event_capacity * 2 : 64;
        struct pksim_event **events = realloc(exec->events, more * sizeof(struct pksim_event *));
        if (!events)
            return false;
        exec->events = events;
        exec->event_capacity = more;
    }
    exec->events[exec->event_count++] = event;
    return true;
}

static void free_event(struct pksim_event *event)
{
    if (event->operation)
        pksim_check_copy_free(event->operation);
    free(event->bytes);
    free(event->shadow);
    free(event);
}

void pksim_events_free(struct pksim_exec *exec)
{
    for (uint32_t i = 0; i < exec->event_count; i++)
        free_event(exec->events[i]);
    while (exec->free_events) {
        struct pksim_event *next = exec->free_events->next_free;
        free_event(exec->free_events);
        exec->free_events = next;
    }
    free(exec->events);
}

static bool writes_shared(const struct pksim_copy *copy)
{
    return copy->kind == PKSIM_COPY_LOAD || copy->kind >= PKSIM_COPY_CLUSTER;
}

// Calls `visit` for each CTA whose shared memory the copy writes.
static uint32_t destinations(const struct pksim_copy *copy, struct pksim_cta *ctas[16])
{
    uint32_t count = 0;
    if (!writes_shared(copy))
        return 0;
    if (!copy->to_mask) {
        ctas[0] = copy->to;
        return 1;
    }
    PKSIM_EACH(rank, copy->to_mask)
    ctas[count++] = &copy->to->cluster->ctas[rank];
    return count;
}

static void count_users(const struct pksim_copy *copy, int by)
{
    struct pksim_cta *ctas[16];
    uint32_t count = destinations(copy, ctas);
    for (uint32_t i = 0; i < count; i++)
        ctas[i]->async_shared += (uint32_t)by;
}

bool pksim_copy_issue(struct pksim_warp *w, uint32_t lane, const struct pksim_copy *copy)
{
    struct pksim_exec *exec = w->exec;
    struct pksim_event *event = new_event(exec);
    struct pksim_bulk_lane *b = copy->counts ? NULL : bulk_lane(w, lane);
    if (!event || (!copy->counts && !b) || !push_event(exec, event)) {
        if (event)
            free_event(event);
        pksim_raise(exec, w, PKSIM_FAULT_OUT_OF_MEMORY, "a bulk copy");
        return false;
    }
    event->copy = *copy;
    event->warp = w;
    event->lane = lane;
    event->pc = w->pc;
    event->has_read = false;
    event->operation = w->check ? pksim_check_copy(w, lane, copy) : NULL;
    if (b) {
        event->group = b->open;
        b->groups[b->open % b->capacity].reads++;
        b->groups[b->open % b->capacity].writes++;
    }
    w->cta->cluster->async_pending++;
    count_users(copy, 1);
    if (copy->from)
        copy->from->async_shared++;
    exec->stats.copies++;
    exec->stats.copied_bytes += copy->bytes;
    return !exec->faulted;
}

// ---- What an event does
// --------------------------------------------------------------------------------------------

static uint32_t source_extent(const struct pksim_copy *copy)
{
    return copy->tensor ? pksim_map_box_extent(&copy->map) : copy->bytes;
}

static bool take_snapshot(struct pksim_event *event)
{
    const struct pksim_shared *from = &event->copy.from->shared;
    uint32_t start = event->copy.from_offset & ~1023u,
             end = event->copy.from_offset + source_extent(&event->copy);
    // A copy that runs out of shared memory is refused later, by the unit: read what there is.
    end = end < from->size ? end : from->size;
    uint32_t size = end > start ? end - start : 0;
    if (size > event->bytes_capacity) {
        free(event->bytes);
        free(event->shadow);
        event->bytes = aligned_alloc(1024, (size + 1023) & ~(size_t)1023);
        event->shadow = malloc(pksim_shadow_bytes((size + 1023) & ~(size_t)1023));
        event->bytes_capacity = event->bytes && event->shadow ? size : 0;
        if (!event->bytes_capacity)
            return false;
    }
    memcpy(event->bytes, from->bytes + start, size);
    memcpy(event->shadow, from->shadow + start / 8, pksim_shadow_bytes(size));
    // Offsets count from the start of the window: let the copy appear at its own.
    event->snapshot = (struct pksim_shared){.bytes = (unsigned char *)((uintptr_t)event->bytes - start),
                                            .shadow = (uint8_t *)((uintptr_t)event->shadow - start / 8),
                                            .size = from->size};
    return true;
}

static void finish_read(struct pksim_event *event)
{
    const struct pksim_copy *copy = &event->copy;
    event->has_read = true;
    copy->from->async_shared--;
    if (copy->counts)
        return;
    struct pksim_bulk_lane *b = &event->warp->bulk[event->lane];
    b->groups[event->group % b->capacity].reads--;
    drop_finished(b);
    wake_bulk_waits(event->warp);
}

static struct pksim_copy_site site_of(const struct pksim_event *event)
{
    const struct pksim_exec *exec = event->warp->exec;
    return (struct pksim_copy_site){exec->config.mem, event->warp->cta->run->device,
                                    !exec->config.no_init_check};
}

static bool do_load(const struct pksim_event *event, struct pksim_unit_error *error)
{
    const struct pksim_copy *copy = &event->copy;
    struct pksim_copy_site site = site_of(event);
    struct pksim_cta *ctas[16];
    struct pksim_shared *shared[16];
    uint32_t count = destinations(copy, ctas);
    for (uint32_t i = 0; i < count; i++)
        shared[i] = &ctas[i]->shared;
    if (copy->tensor)
        return pksim_tensor_load(&site, &copy->map, copy->coords, shared, count, copy->to_offset, error);
    return pksim_bulk_load(&site, copy->global, copy->bytes, shared, count, copy->to_offset, error);
}

static bool do_write(const struct pksim_event *event, const struct pksim_shared *from,
                     struct pksim_unit_error *error)
{
    const struct pksim_copy *c = &event->copy;
    struct pksim_copy_site site = site_of(event);
    switch (c->kind) {
    case PKSIM_COPY_LOAD:
        return do_load(event, error);
    case PKSIM_COPY_STORE:
        if (c->tensor)
            return pksim_tensor_store(&site, &c->map, c->coords, from, c->from_offset, error);
        return pksim_bulk_store(&site, c->global, c->bytes, from, c->from_offset, error);
    case PKSIM_COPY_REDUCE:
        if (c->tensor)
            return pksim_tensor_reduce(&site, &c->map, c->coords, from, c->from_offset, c->reduce, error);
        return pksim_bulk_reduce(&site, c->global, c->bytes, from, c->from_offset, c->reduce, c->type, error);
    case PKSIM_COPY_CLUSTER:
        return pksim_bulk_shared(&site, &c->to->shared, c->to_offset, from, c->from_offset, c->bytes, error);
    case PKSIM_COPY_CLUSTER_REDUCE:
        return pksim_bulk_shared_reduce(&site, &c->to->shared, c->to_offset, from, c->from_offset, c->bytes,
                                        c->reduce, c->type, error);
    }
    return true;
}

static bool count_bytes(struct pksim_event *event)
{
    const struct pksim_copy *copy = &event->copy;
    struct pksim_warp *w = event->warp;
    struct pksim_cta *ctas[16];
    uint32_t count = destinations(copy, ctas), at = w->pc;
    bool ok = true;
    w->pc = event->pc;
    for (uint32_t i = 0; i < count && ok; i++) {
        struct pksim_cta *cta = copy->to_mask ? ctas[i] : copy->barrier_cta;
        if (event->operation)
            pksim_check_copy_arrives(event->operation, i, cta, copy->barrier);
        ok = pksim_mbarrier_complete_tx(w->exec, w, cta, copy->barrier, copy->bytes);
    }
    w->pc = at;
    return ok;
}

static void finish_write(struct pksim_event *event)
{
    const struct pksim_copy *copy = &event->copy;
    struct pksim_warp *w = event->warp;
    if (!event->has_read && copy->from)
        finish_read(event);
    count_users(copy, -1);
    if (copy->counts) {
        count_bytes(event);
    } else {
        struct pksim_bulk_lane *b = &w->bulk[event->lane];
        b->groups[event->group % b->capacity].writes--;
        drop_finished(b);
        wake_bulk_waits(w);
    }
}

static void remove_event(struct pksim_exec *exec, uint32_t index)
{
    struct pksim_event *event = exec->events[index];
    exec->events[index] = exec->events[--exec->event_count];
    if (event->operation)
        pksim_check_copy_free(event->operation);
    event->operation = NULL;
    event->next_free = exec->free_events;
    exec->free_events = event;
}

// Stores often read now and write later; which, the seed says.
static bool advance(struct pksim_exec *exec, uint32_t index)
{
    struct pksim_event *event = exec->events[index];
    struct pksim_unit_error error;
    struct pksim_cluster *cluster = event->warp->cta->cluster;
    if (event->copy.from && !event->has_read && (exec->config.late || pksim_random(exec) % 2)) {
        if (!take_snapshot(event)) {
            pksim_raise(exec, event->warp, PKSIM_FAULT_OUT_OF_MEMORY, "a bulk copy");
            return false;
        }
        finish_read(event);
        return true;
    }
    const struct pksim_shared *from = event->has_read    ? &event->snapshot
                                      : event->copy.from ? &event->copy.from->shared
                                                         : NULL;
    if (!do_write(event, from, &error)) {
        pksim_raise_unit(event->warp, event->pc, event->lane, &error);
        return false;
    }
    finish_write(event);
    remove_event(exec, index);
    cluster->async_pending--;
    pksim_cluster_settle(cluster);
    return true;
}

bool pksim_event_complete_one(struct pksim_exec *exec)
{
    if (!exec->event_count || exec->faulted)
        return false;
    return advance(exec, (uint32_t)(pksim_random(exec) % exec->event_count));
}
