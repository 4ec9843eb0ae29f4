// SPDX-License-Identifier: Apache-2.0
#include "sim/exec/access.h"

#include <inttypes.h>

#include "sim/check/check.h"
#include "sim/exec/lanes.h"

static enum pksim_fault_kind kind_of(enum pksim_mem_fault_kind kind)
{
    switch (kind) {
    case PKSIM_MEM_FAULT_OK:
        return PKSIM_FAULT_NONE;
    case PKSIM_MEM_FAULT_UNMAPPED:
    case PKSIM_MEM_FAULT_NO_ACCESS:
    case PKSIM_MEM_FAULT_OUT_OF_BOUNDS:
    case PKSIM_MEM_FAULT_FREED:
        return PKSIM_FAULT_OUT_OF_BOUNDS;
    case PKSIM_MEM_FAULT_READ_ONLY:
        return PKSIM_FAULT_READ_ONLY;
    case PKSIM_MEM_FAULT_MISALIGNED:
        return PKSIM_FAULT_MISALIGNED;
    case PKSIM_MEM_FAULT_MULTICAST:
        return PKSIM_FAULT_MULTICAST;
    case PKSIM_MEM_FAULT_NOT_MULTICAST:
    case PKSIM_MEM_FAULT_UNBOUND:
        return PKSIM_FAULT_NOT_MULTICAST;
    case PKSIM_MEM_FAULT_UNWRITTEN:
        return PKSIM_FAULT_UNINITIALISED;
    }
    return PKSIM_FAULT_OUT_OF_BOUNDS;
}

void pksim_raise_mem(struct pksim_warp *w, uint32_t lane, const struct pksim_mem_fault *fault)
{
    char text[600];
    pksim_mem_fault_format(fault, text, sizeof text);
    pksim_raise(w->exec, w, kind_of(fault->kind), "lane %u: %s", lane, text);
}

// ---- Shared
// --------------------------------------------------------------------------------------------------------

struct pksim_cta *pksim_shared_cta(const struct pksim_warp *w, uint64_t address, uint32_t *offset)
{
    uint64_t rank = (address & 0xffffffffu) >> PKSIM_SHARED_RANK_SHIFT;
    *offset = (uint32_t)address & ((1u << PKSIM_SHARED_RANK_SHIFT) - 1);
    return rank < w->cta->cluster->count ? &w->cta->cluster->ctas[rank] : NULL;
}

static bool bad_shared(struct pksim_warp *w, uint32_t lane, uint64_t address, uint64_t size, const char *why)
{
    pksim_raise(w->exec, w, PKSIM_FAULT_OUT_OF_BOUNDS,
                "lane %u: %" PRIu64 " bytes at shared address 0x%" PRIx64 ": %s; the CTA has 0x%x to 0x%x",
                lane, size, address, why, PKSIM_SHARED_BASE, w->cta->shared.size);
    return false;
}

static bool locate_shared(struct pksim_warp *w, bool cluster, uint64_t address, uint64_t size, uint32_t lane,
                          struct pksim_ref *ref)
{
    uint32_t offset;
    struct pksim_cta *cta = pksim_shared_cta(w, address, &offset);
    if (!cta || (address & ~PKSIM_WINDOW_MASK) >> 32)
        return bad_shared(w, lane, address, size, "no such CTA in the cluster");
    if (cta != w->cta && !cluster)
        return bad_shared(w, lane, address, size, "it lies in another CTA of the cluster");
    if (offset < PKSIM_SHARED_BASE || size > cta->shared.size || offset > cta->shared.size - size)
        return bad_shared(w, lane, address, size, "outside shared memory");
    if (!cta->live_warps)
        return bad_shared(w, lane, address, size, "that CTA has exited");
    *ref = (struct pksim_ref){.host = cta->shared.bytes + offset,
                              .shadow = cta->shared.shadow,
                              .shadow_offset = offset,
                              .shared = &cta->shared,
                              .cta = cta,
                              .address = address};
    return true;
}

// ---- Local, parameters, global
// -------------------------------------------------------------------------------------

static bool locate_local(struct pksim_warp *w, uint64_t address, uint64_t size, uint32_t lane,
                         struct pksim_ref *ref)
{
    uint32_t frame = w->cta->run->program->local_bytes;
    if (size > frame || address > frame - size) {
        pksim_raise(w->exec, w, PKSIM_FAULT_OUT_OF_BOUNDS,
                    "lane %u: %" PRIu64 " bytes at local address 0x%" PRIx64 "; the thread has %u bytes",
                    lane, size, address, frame);
        return false;
    }
    *ref = (struct pksim_ref){.host = w->local + (size_t)lane * frame + address, .address = address};
    return true;
}

static bool locate_param(struct pksim_warp *w, uint64_t address, uint64_t size, uint32_t access,
                         uint32_t lane, struct pksim_ref *ref)
{
    uint32_t bytes = w->cta->run->function->entry->param_bytes;
    if (size > bytes || address > bytes - size) {
        pksim_raise(w->exec, w, PKSIM_FAULT_OUT_OF_BOUNDS,
                    "lane %u: %" PRIu64 " bytes at offset 0x%" PRIx64 " of the %u bytes of parameters", lane,
                    size, address, bytes);
        return false;
    }
    if (access & PKSIM_WRITE) {
        pksim_raise(w->exec, w, PKSIM_FAULT_READ_ONLY, "lane %u: write to the kernel's parameters", lane);
        return false;
    }
    *ref = (struct pksim_ref){.host = w->cta->run->params + address, .address = address};
    return true;
}

static bool locate_global(struct pksim_warp *w, uint64_t address, uint64_t size, uint32_t align,
                          uint32_t access, uint32_t lane, struct pksim_ref *ref)
{
    struct pksim_run *run = w->cta->run;
    struct pksim_span *span = &run->spans[(address >> 21 ^ address >> 12) % PKSIM_SPANS];
    unsigned char *host = address & (align - 1) ? NULL : pksim_span_at(span, address, size, access);
    if (!host) {
        struct pksim_mem_fault fault;
        if (!pksim_mem_resolve(w->exec->config.mem, run->device, address, size, align, access, span,
                               &fault)) {
            pksim_raise_mem(w, lane, &fault);
            return false;
        }
        host = span->host + (address - span->base);
    }
    *ref = (struct pksim_ref){
        .host = host, .shadow = span->shadow, .shadow_offset = address - span->base, .address = address};
    return true;
}

static enum pksim_ptx_space space_of(uint64_t address)
{
    uint64_t window = address & PKSIM_WINDOW_MASK;
    if (window == PKSIM_WINDOW_SHARED)
        return PKSIM_PTX_SHARED;
    if (window == PKSIM_WINDOW_LOCAL)
        return PKSIM_PTX_LOCAL;
    return window == PKSIM_WINDOW_PARAM ? PKSIM_PTX_PARAM : PKSIM_PTX_GLOBAL;
}

bool pksim_locate(struct pksim_warp *w, enum pksim_ptx_space space, bool cluster, uint64_t address,
                  uint64_t size, uint32_t align, uint32_t access, uint32_t lane, struct pksim_ref *ref)
{
    if (space == PKSIM_PTX_GENERIC) {
        space = space_of(address);
        cluster = true;
        if (space != PKSIM_PTX_GLOBAL)
            address &= ~PKSIM_WINDOW_MASK;
    }
    if (address & (align - 1)) {
        pksim_raise(w->exec, w, PKSIM_FAULT_MISALIGNED,
                    "lane %u: %" PRIu64 " bytes at 0x%" PRIx64 ", which is not a multiple of %u", lane, size,
                    address, align);
        return false;
    }
    switch (space) {
    case PKSIM_PTX_SHARED:
        return locate_shared(w, cluster, address, size, lane, ref);
    case PKSIM_PTX_LOCAL:
        return locate_local(w, address, size, lane, ref);
    case PKSIM_PTX_PARAM:
        return locate_param(w, address, size, access, lane, ref);
    case PKSIM_PTX_GLOBAL:
    case PKSIM_PTX_CONST:
    case PKSIM_PTX_GENERIC:
        break;
    }
    return locate_global(w, address, size, align, access, lane, ref);
}

static bool unwritten(struct pksim_warp *w, const struct pksim_ref *ref, uint32_t size, uint32_t lane)
{
    if (ref->shared) {
        pksim_raise(w->exec, w, PKSIM_FAULT_UNINITIALISED,
                    "lane %u: %u bytes at shared address 0x%" PRIx64 " were never written", lane, size,
                    ref->address);
        return false;
    }
    struct pksim_mem_fault fault;
    pksim_mem_unwritten(w->exec->config.mem, w->cta->run->device, ref->address, size, &fault);
    pksim_raise_mem(w, lane, &fault);
    return false;
}

bool pksim_access(struct pksim_warp *w, enum pksim_ptx_space space, bool cluster, uint64_t address,
                  uint32_t size, struct pksim_access_kind kind, uint32_t lane, struct pksim_ref *ref)
{
    if (!pksim_locate(w, space, cluster, address, size, size, kind.access, lane, ref))
        return false;
    if (!ref->shadow)
        return true;
    if ((kind.access & PKSIM_READ) && !w->exec->config.no_init_check &&
        !pksim_shadow_written(ref->shadow, ref->shadow_offset, size))
        return unwritten(w, ref, size, lane);
    if (kind.access & PKSIM_WRITE) {
        if (ref->shared)
            pksim_shared_mark(ref->shared, (uint32_t)ref->shadow_offset, size);
        else
            pksim_shadow_mark(ref->shadow, ref->shadow_offset, size);
    }
    if (w->check)
        pksim_check_access(w, lane, ref, size, kind, kind.rmw);
    return !w->exec->faulted;
}

uint64_t pksim_lane_address(const struct pksim_warp *w, const struct pksim_address *address,
                            enum pksim_ptx_space space, uint32_t lane)
{
    uint64_t offset = (uint64_t)address->offset;
    if (address->known)
        return space == PKSIM_PTX_SHARED ? offset + ((uint64_t)w->cta->rank << PKSIM_SHARED_RANK_SHIFT)
                                         : offset;
    if (address->base_bytes == 4)
        return (uint32_t)(pksim_get32(w, address->base, (int)lane) + (uint32_t)offset);
    return pksim_get64(w, address->base, (int)lane) + offset;
}

struct pksim_access_kind pksim_mod_order(struct pksim_decoder *d)
{
    struct pksim_access_kind kind = {.order = PKSIM_WEAK};
    static const struct {
        const char *name;
        uint8_t order;
    } orders[] = {{"weak", PKSIM_WEAK},       {"relaxed", PKSIM_RELAXED}, {"acquire", PKSIM_ACQUIRE},
                  {"release", PKSIM_RELEASE}, {"acq_rel", PKSIM_ACQ_REL}, {"volatile", PKSIM_VOLATILE},
                  {"mmio", PKSIM_RELAXED}};
    static const struct {
        const char *name;
        uint8_t scope;
    } scopes[] = {{"cta", PKSIM_SCOPE_CTA},
                  {"cluster", PKSIM_SCOPE_CLUSTER},
                  {"gpu", PKSIM_SCOPE_GPU},
                  {"sys", PKSIM_SCOPE_SYS}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        if (pksim_mod(d, orders[i].name))
            kind.order = orders[i].order;
    }
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (pksim_mod(d, scopes[i].name))
            kind.scope = scopes[i].scope;
    }
    return kind;
}
