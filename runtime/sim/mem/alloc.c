// SPDX-License-Identifier: Apache-2.0
// cuMemAlloc, peers, and page-locked host memory.
#include <stdlib.h>
#include <string.h>

#include "sim/mem/space.h"

static uint64_t all_devices(const struct pksim_mem *mem)
{
    return mem->devices == 64 ? UINT64_MAX : (UINT64_C(1) << mem->devices) - 1;
}

enum pksim_mem_status pksim_mem_alloc(struct pksim_mem *mem, uint32_t device, uint64_t size, uint64_t *addr)
{
    struct pksim_phys *phys;
    enum pksim_mem_status status = pksim_phys_create(mem, device, size, false, &phys);
    if (status != PKSIM_MEM_DONE)
        return status;
    uint64_t mask = mem->peers[device] | UINT64_C(1) << device;
    struct region region = {.base = pksim_va_take(mem, size, 0),
                            .size = size,
                            .kind = REGION_ALLOC,
                            .owner = device,
                            .phys = phys,
                            .host = phys->host,
                            .shadow = phys->shadow,
                            .readers = mask,
                            .writers = mask};
    if (region.base == 0 || !pksim_region_add(mem, &region)) {
        pksim_phys_release(mem, phys);
        return PKSIM_MEM_EXHAUSTED;
    }
    mem->counts.allocations++;
    *addr = region.base;
    return PKSIM_MEM_DONE;
}

static struct region *region_starting(const struct pksim_mem *mem, uint64_t addr, enum region_kind kind)
{
    struct region *region = pksim_region_at(mem, addr);
    return region && region->base == addr && region->kind == kind ? region : NULL;
}

enum pksim_mem_status pksim_mem_free(struct pksim_mem *mem, uint64_t addr)
{
    struct region *region = region_starting(mem, addr, REGION_ALLOC);
    if (!region)
        return PKSIM_MEM_NOT_FOUND;
    struct pksim_phys *phys = region->phys;
    pksim_region_remove(mem, region);
    pksim_phys_release(mem, phys);
    mem->counts.allocations--;
    return PKSIM_MEM_DONE;
}

void pksim_mem_peer(struct pksim_mem *mem, uint32_t device, uint32_t peer, bool enable)
{
    uint64_t bit = UINT64_C(1) << device;
    mem->peers[peer] = enable ? mem->peers[peer] | bit : mem->peers[peer] & ~bit;
    for (uint32_t i = 0; i < mem->region_count; i++) {
        struct region *region = &mem->regions[i];
        if (region->kind == REGION_ALLOC && region->owner == peer)
            region->readers = region->writers = mem->peers[peer] | UINT64_C(1) << peer;
    }
    mem->generation++;
}

static enum pksim_mem_status host_add(struct pksim_mem *mem, void *ptr, uint64_t size, enum region_kind kind)
{
    struct region region = {.base = (uint64_t)(uintptr_t)ptr,
                            .size = size,
                            .kind = kind,
                            .owner = PKSIM_HOST,
                            .host = ptr,
                            .readers = all_devices(mem),
                            .writers = all_devices(mem)};
    if (pksim_region_overlaps(mem, region.base, size))
        return PKSIM_MEM_IN_USE;
    return pksim_region_add(mem, &region) ? PKSIM_MEM_DONE : PKSIM_MEM_EXHAUSTED;
}

enum pksim_mem_status pksim_mem_host_alloc(struct pksim_mem *mem, uint64_t size, void **out)
{
    if (size == 0 || size > SIZE_MAX - 4096)
        return PKSIM_MEM_INVALID;
    void *ptr = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
    if (!ptr)
        return PKSIM_MEM_EXHAUSTED;
    enum pksim_mem_status status = host_add(mem, ptr, size, REGION_HOST);
    if (status != PKSIM_MEM_DONE) {
        free(ptr);
        return status;
    }
    memset(ptr, 0, size);
    mem->counts.host_allocations++;
    *out = ptr;
    return PKSIM_MEM_DONE;
}

enum pksim_mem_status pksim_mem_host_free(struct pksim_mem *mem, void *ptr)
{
    struct region *region = region_starting(mem, (uint64_t)(uintptr_t)ptr, REGION_HOST);
    if (!region)
        return PKSIM_MEM_NOT_FOUND;
    pksim_region_remove(mem, region);
    free(ptr);
    mem->counts.host_allocations--;
    return PKSIM_MEM_DONE;
}

enum pksim_mem_status pksim_mem_host_register(struct pksim_mem *mem, void *ptr, uint64_t size)
{
    if (!ptr || size == 0)
        return PKSIM_MEM_INVALID;
    enum pksim_mem_status status = host_add(mem, ptr, size, REGION_REGISTERED);
    if (status == PKSIM_MEM_DONE)
        mem->counts.registrations++;
    return status;
}

enum pksim_mem_status pksim_mem_host_unregister(struct pksim_mem *mem, void *ptr)
{
    struct region *region = region_starting(mem, (uint64_t)(uintptr_t)ptr, REGION_REGISTERED);
    if (!region)
        return PKSIM_MEM_NOT_FOUND;
    pksim_region_remove(mem, region);
    mem->counts.registrations--;
    return PKSIM_MEM_DONE;
}
