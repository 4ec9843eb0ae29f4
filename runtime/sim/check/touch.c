// SPDX-License-Identifier: Apache-2.0
// Instructions as accesses.
#include <stdlib.h>

#include "sim/check/inside.h"

static struct pksim_check *check_of(const struct pksim_warp *warp)
{
    return warp->check->launch->check;
}

static bool is_off(const struct pksim_warp *warp)
{
    return check_of(warp)->failed || warp->exec->faulted;
}

static struct stroke begin(struct pksim_warp *warp, struct pksim_operation *operation, uint32_t flags)
{
    return (struct stroke){
        .warp = warp, .lanes = operation->lanes, .access = {.operation = operation, .flags = (uint8_t)flags}};
}

static void touch_global(struct stroke *s, const unsigned char *host, uint64_t address, uint64_t size)
{
    s->shared = false;
    s->host = host;
    s->address = address;
    s->size = size;
    pksim_cells_touch(s, host, size);
}

static void touch_shared(struct stroke *s, const struct pksim_cta *cta, uint32_t offset, uint32_t size)
{
    if (offset > cta->shared.size || size > cta->shared.size - offset)
        return; // the instruction itself will be refused
    s->shared = true;
    s->cta = cta;
    s->host = cta->shared.bytes + offset;
    s->address = offset;
    s->size = size;
    pksim_cells_touch(s, s->host, size);
}

static uint32_t flags_of(struct pksim_access_kind kind, bool rmw)
{
    return (kind.access & PKSIM_READ ? ACCESS_READ : 0u) | (kind.access & PKSIM_WRITE ? ACCESS_WRITE : 0u) |
           (rmw || kind.order != PKSIM_WEAK ? ACCESS_ATOMIC : 0u);
}

static uint8_t scope_of(struct pksim_access_kind kind)
{
    return kind.order == PKSIM_VOLATILE || (kind.order != PKSIM_WEAK && !kind.scope) ? PKSIM_SCOPE_SYS
                                                                                     : kind.scope;
}

void pksim_check_access(struct pksim_warp *warp, uint32_t lane, const struct pksim_ref *ref, uint32_t size,
                        struct pksim_access_kind kind, bool rmw)
{
    bool orders = rmw || kind.order != PKSIM_WEAK;
    if (!ref->shadow || is_off(warp))
        return;
    enum poll poll =
        orders && kind.access == PKSIM_READ ? pksim_word_poll(warp, lane, ref->host) : POLL_FIRST;
    if (orders && (kind.access & PKSIM_READ) && poll != POLL_SAME)
        pksim_word_read(warp, lane, ref->host, kind);
    if (poll != POLL_FIRST)
        return;
    struct pksim_operation *o = pksim_operation_new(warp, 1u << lane,
                                                    orders && rmw               ? OPERATION_ATOMIC
                                                    : kind.access & PKSIM_WRITE ? OPERATION_STORE
                                                                                : OPERATION_LOAD,
                                                    false);
    if (!o)
        return;
    struct stroke s = begin(warp, o, flags_of(kind, rmw));
    s.access.scope = scope_of(kind);
    if (ref->shared)
        touch_shared(&s, ref->cta, (uint32_t)ref->shadow_offset, size);
    else
        touch_global(&s, ref->host, ref->address, size);
    pksim_cells_finish(&s);
    pksim_operation_release(o);
    if (orders && (kind.access & PKSIM_WRITE))
        pksim_word_write(warp, lane, ref->host, kind, rmw);
}

void pksim_check_rows(struct pksim_warp *warp, const struct pksim_cta *cta, const uint32_t *rows,
                      uint32_t count, bool writes)
{
    struct pksim_operation *o =
        is_off(warp) ? NULL
                     : pksim_operation_new(warp, warp->live,
                                           writes ? OPERATION_MATRIX_STORE : OPERATION_MATRIX_LOAD, false);
    if (!o)
        return;
    struct stroke s = begin(warp, o, writes ? ACCESS_WRITE : ACCESS_READ);
    for (uint32_t i = 0; i < count; i++)
        touch_shared(&s, cta, rows[i], 16);
    pksim_cells_finish(&s);
    pksim_operation_release(o);
}

void pksim_check_multimem(struct pksim_warp *warp, uint32_t lane, const struct pksim_span *spans,
                          uint32_t count, uint64_t address, uint32_t size, struct pksim_access_kind kind,
                          bool rmw)
{
    bool orders = rmw || kind.order != PKSIM_WEAK;
    struct pksim_operation *o =
        is_off(warp) ? NULL : pksim_operation_new(warp, 1u << lane, OPERATION_MULTIMEM, false);
    if (!o)
        return;
    struct stroke s = begin(warp, o, flags_of(kind, rmw) | ACCESS_ALIAS);
    s.access.scope = scope_of(kind);
    for (uint32_t k = 0; k < count; k++) {
        const unsigned char *host = spans[k].host + (address - spans[k].base);
        if (orders && (kind.access & PKSIM_READ))
            pksim_word_read(warp, lane, host, kind);
        touch_global(&s, host, address, size);
    }
    pksim_cells_finish(&s);
    pksim_operation_release(o);
    for (uint32_t k = 0; orders && (kind.access & PKSIM_WRITE) && k < count; k++)
        pksim_word_write(warp, lane, spans[k].host + (address - spans[k].base), kind, rmw);
}

// ---- Bulk copies
// ---------------------------------------------------------------------------------------------------

// A row of global memory, in all memories behind its address. What cannot be accessed will be refused when
// the copy is carried out.
static void touch_row(struct stroke *s, struct pksim_span spans[PKSIM_MAX_DEVICES], uint32_t *count,
                      uint64_t address, uint64_t size)
{
    const struct pksim_mem *mem = s->warp->exec->config.mem;
    uint32_t device = s->warp->cta->run->device;
    struct pksim_mem_fault fault;
    if (!*count || !pksim_span_at(&spans[0], address, size, 0)) {
        *count = 0;
        if (pksim_mem_is_multicast(mem, address)) {
            s->access.flags |= ACCESS_ALIAS;
            if (!pksim_mem_multicast(mem, device, address, size, 1, PKSIM_WRITE, spans, count, &fault))
                return;
        } else if (pksim_mem_resolve(mem, device, address, size, 1, 0, spans, &fault)) {
            *count = 1;
        } else {
            return;
        }
    }
    for (uint32_t k = 0; k < *count; k++)
        if (spans[k].shadow)
            touch_global(s, spans[k].host + (address - spans[k].base), address, size);
}

static void touch_box(struct stroke *s, const struct pksim_box *box)
{
    struct pksim_span spans[PKSIM_MAX_DEVICES];
    uint32_t count = 0, i[4];
    for (i[3] = 0; i[3] < box->counts[3]; i[3]++)
        for (i[2] = 0; i[2] < box->counts[2]; i[2]++)
            for (i[1] = 0; i[1] < box->counts[1]; i[1]++)
                for (i[0] = 0; i[0] < box->counts[0]; i[0]++) {
                    uint64_t address = box->address;
                    for (uint32_t d = 0; d < 4; d++)
                        address += i[d] * box->strides[d];
                    touch_row(s, spans, &count, address, box->bytes);
                }
}

static void touch_global_side(struct stroke *s, const struct pksim_copy *copy)
{
    struct pksim_box box;
    struct pksim_span spans[PKSIM_MAX_DEVICES];
    uint32_t count = 0;
    if (!copy->tensor) {
        if (copy->bytes)
            touch_row(s, spans, &count, copy->global, copy->bytes);
        return;
    }
    s->map = &copy->map;
    if (pksim_map_box(&copy->map, copy->coords, &box))
        touch_box(s, &box);
}

static uint32_t shared_extent(const struct pksim_copy *copy)
{
    return copy->tensor ? pksim_map_box_extent(&copy->map) : copy->bytes;
}

static enum operation_kind kind_of(const struct pksim_copy *copy)
{
    switch (copy->kind) {
    case PKSIM_COPY_LOAD:
        return OPERATION_BULK_LOAD;
    case PKSIM_COPY_STORE:
        return OPERATION_BULK_STORE;
    case PKSIM_COPY_REDUCE:
        return OPERATION_BULK_REDUCE;
    case PKSIM_COPY_CLUSTER:
    case PKSIM_COPY_CLUSTER_REDUCE:
        break;
    }
    return OPERATION_BULK_CLUSTER;
}

// A destination in shared memory, and the mbarrier that counts its bytes.
static void touch_destination(struct pksim_warp *warp, struct pksim_operation *o,
                              const struct pksim_copy *copy, const struct pksim_cta *to,
                              const struct pksim_cta *barrier)
{
    bool adds = copy->kind == PKSIM_COPY_CLUSTER_REDUCE;
    struct stroke s = begin(warp, o, adds ? ACCESS_READ | ACCESS_WRITE | ACCESS_ADD : ACCESS_WRITE);
    touch_shared(&s, to, copy->to_offset, shared_extent(copy));
    pksim_cells_finish(&s);
    if (!copy->counts)
        return;
    struct stroke b = begin(warp, o, ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC);
    b.access.scope = PKSIM_SCOPE_SYS;
    touch_shared(&b, barrier, copy->barrier, 8);
    pksim_cells_finish(&b);
}

static void touch_destinations(struct pksim_warp *warp, uint32_t lane, struct pksim_operation *o,
                               const struct pksim_copy *copy)
{
    if (!copy->to_mask) {
        touch_destination(warp, o, copy, copy->to, copy->barrier_cta);
        return;
    }
    PKSIM_EACH(rank, copy->to_mask)
    {
        struct pksim_operation *part = pksim_operation_new(warp, 1u << lane, o->kind, true);
        if (!part)
            return;
        o->parts[o->part_count++] = part;
        const struct pksim_cta *cta = &copy->to->cluster->ctas[rank];
        touch_destination(warp, part, copy, cta, cta);
    }
}

static void join_group(struct pksim_warp *warp, uint32_t lane, struct pksim_operation *o)
{
    struct pksim_check_lane *l = &warp->check->lanes[lane];
    if (l->count == l->capacity) {
        uint32_t more = l->capacity ? l->capacity * 2 : 4;
        struct bulk *bulks = realloc(l->bulks, more * sizeof *bulks);
        if (!bulks) {
            check_of(warp)->failed = true;
            return;
        }
        l->bulks = bulks;
        l->capacity = more;
    }
    l->bulks[l->count++] = (struct bulk){.operation = pksim_operation_retain(o), .group = l->group};
}

struct pksim_operation *pksim_check_copy(struct pksim_warp *warp, uint32_t lane,
                                         const struct pksim_copy *copy)
{
    struct pksim_operation *o =
        is_off(warp) ? NULL : pksim_operation_new(warp, 1u << lane, kind_of(copy), true);
    if (!o)
        return NULL;
    bool reduces = copy->kind == PKSIM_COPY_REDUCE;
    if (copy->kind == PKSIM_COPY_LOAD || copy->from) {
        struct stroke s = begin(warp, o, ACCESS_READ);
        if (copy->from)
            touch_shared(&s, copy->from, copy->from_offset, shared_extent(copy));
        else
            touch_global_side(&s, copy);
        pksim_cells_finish(&s);
    }
    if (copy->kind == PKSIM_COPY_STORE || reduces) {
        struct stroke s = begin(warp, o, reduces ? ACCESS_READ | ACCESS_WRITE | ACCESS_ADD : ACCESS_WRITE);
        touch_global_side(&s, copy);
        pksim_cells_finish(&s);
    } else {
        touch_destinations(warp, lane, o, copy);
    }
    if (!copy->counts)
        join_group(warp, lane, o);
    return o;
}

// ---- Matrix products
// -----------------------------------------------------------------------------------------------

void pksim_check_wgmma(struct pksim_warp *warp, const uint32_t *pieces, uint32_t count)
{
    struct pksim_check_warp *w = warp->check;
    struct pksim_operation *o =
        is_off(warp) ? NULL : pksim_operation_new(warp, warp->live, OPERATION_WGMMA, true);
    if (!o)
        return;
    struct stroke s = begin(warp, o, ACCESS_READ);
    for (uint32_t i = 0; i < count; i++)
        touch_shared(&s, warp->cta, pieces[i], 16);
    pksim_cells_finish(&s);
    if (w->product_count == w->product_capacity) {
        uint32_t more = w->product_capacity ? w->product_capacity * 2 : 8;
        struct bulk *products = realloc(w->products, more * sizeof *products);
        if (!products) {
            check_of(warp)->failed = true;
            pksim_operation_release(o);
            return;
        }
        w->products = products;
        w->product_capacity = more;
    }
    w->products[w->product_count++] = (struct bulk){.operation = o, .group = w->group};
}

// ---- mbarriers as memory
// -------------------------------------------------------------------------------------------

void pksim_check_mbarrier_access(struct pksim_warp *warp, uint32_t lanes, const struct pksim_cta *cta,
                                 uint32_t offset, bool init)
{
    struct pksim_operation *o =
        is_off(warp)
            ? NULL
            : pksim_operation_new(warp, lanes, init ? OPERATION_MBARRIER_INIT : OPERATION_MBARRIER, false);
    if (!o)
        return;
    struct stroke s = begin(warp, o, init ? ACCESS_WRITE : ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC);
    s.access.scope = init ? PKSIM_SCOPE_NONE : PKSIM_SCOPE_SYS;
    touch_shared(&s, cta, offset, 8);
    pksim_cells_finish(&s);
    pksim_operation_release(o);
}
