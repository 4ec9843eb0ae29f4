// SPDX-License-Identifier: Apache-2.0
// Reserved addresses and what is mapped there.
#include <stdlib.h>
#include <string.h>

#include "sim/mem/space.h"

static bool granular(uint64_t value)
{
    return value % PKSIM_VA_GRANULE == 0;
}

enum pksim_mem_status pksim_mem_reserve(struct pksim_mem *mem, uint64_t size, uint64_t align, uint64_t hint,
                                        uint64_t *addr)
{
    (void)hint; // a hint: addresses are never given out twice
    if (size == 0 || !granular(size) || (align & (align - 1)) != 0)
        return PKSIM_MEM_INVALID;
    if (mem->reservation_count == mem->reservation_capacity) {
        uint32_t capacity = mem->reservation_capacity ? 2 * mem->reservation_capacity : 16;
        struct range *grown = realloc(mem->reservations, capacity * sizeof *grown);
        if (!grown)
            return PKSIM_MEM_EXHAUSTED;
        mem->reservations = grown;
        mem->reservation_capacity = capacity;
    }
    uint64_t base = pksim_va_take(mem, size, align);
    if (base == 0)
        return PKSIM_MEM_EXHAUSTED;
    mem->reservations[mem->reservation_count++] = (struct range){.base = base, .size = size};
    mem->counts.reservations++;
    *addr = base;
    return PKSIM_MEM_DONE;
}

static struct range *reservation_holding(const struct pksim_mem *mem, uint64_t addr, uint64_t size)
{
    for (uint32_t i = 0; i < mem->reservation_count; i++) {
        struct range *range = &mem->reservations[i];
        if (addr - range->base < range->size && size <= range->size - (addr - range->base))
            return range;
    }
    return NULL;
}

enum pksim_mem_status pksim_mem_unreserve(struct pksim_mem *mem, uint64_t addr, uint64_t size)
{
    struct range *range = reservation_holding(mem, addr, size);
    if (!range || range->base != addr || range->size != size)
        return PKSIM_MEM_NOT_FOUND;
    if (pksim_region_overlaps(mem, addr, size))
        return PKSIM_MEM_IN_USE;
    *range = mem->reservations[--mem->reservation_count];
    mem->counts.reservations--;
    return PKSIM_MEM_DONE;
}

static uint32_t bits_in(uint64_t mask)
{
    uint32_t count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

static enum pksim_mem_status check_map(const struct pksim_mem *mem, uint64_t addr, uint64_t size,
                                       uint64_t offset, uint64_t backing)
{
    if (size == 0 || !granular(addr) || !granular(size) || !granular(offset))
        return PKSIM_MEM_INVALID;
    if (offset > backing || size > backing - offset || !reservation_holding(mem, addr, size))
        return PKSIM_MEM_INVALID;
    return pksim_region_overlaps(mem, addr, size) ? PKSIM_MEM_IN_USE : PKSIM_MEM_DONE;
}

enum pksim_mem_status pksim_mem_map(struct pksim_mem *mem, uint64_t addr, uint64_t size, uint64_t offset,
                                    struct pksim_phys *phys, struct pksim_mcast *mcast)
{
    enum pksim_mem_status status = check_map(mem, addr, size, offset, phys ? phys->size : mcast->size);
    if (status != PKSIM_MEM_DONE)
        return status;
    // All devices are added before a multicast object is mapped (CUDA driver API, cuMulticastCreate).
    if (!phys && bits_in(mcast->added) != mcast->devices)
        return PKSIM_MEM_INVALID;
    struct region region = {.base = addr, .size = size, .offset = offset, .phys = phys, .mcast = mcast};
    if (phys) {
        region.kind = REGION_MAPPED;
        region.owner = phys->device;
        region.host = phys->host + offset;
        region.shadow = phys->shadow + offset / 8;
    } else {
        region.kind = REGION_MULTICAST;
    }
    if (!pksim_region_add(mem, &region))
        return PKSIM_MEM_EXHAUSTED;
    if (phys)
        pksim_phys_retain(phys);
    else
        pksim_mcast_retain(mcast);
    mem->counts.mappings++;
    return PKSIM_MEM_DONE;
}

static bool is_mapping(const struct region *region)
{
    return region->kind == REGION_MAPPED || region->kind == REGION_MULTICAST;
}

// [addr, addr + size) is made of whole, adjacent mappings: their index range, or false.
static bool whole_mappings(const struct pksim_mem *mem, uint64_t addr, uint64_t size, uint32_t *first,
                           uint32_t *count)
{
    uint32_t index = pksim_region_index(mem, addr);
    uint64_t at = addr, end = addr + size;
    *first = index;
    while (at < end && index < mem->region_count) {
        const struct region *region = &mem->regions[index];
        if (region->base != at || !is_mapping(region))
            return false;
        at += region->size;
        index++;
    }
    *count = index - *first;
    return size > 0 && at == end;
}

enum pksim_mem_status pksim_mem_unmap(struct pksim_mem *mem, uint64_t addr, uint64_t size)
{
    uint32_t first, count;
    if (!whole_mappings(mem, addr, size, &first, &count))
        return PKSIM_MEM_NOT_FOUND;
    for (uint32_t i = 0; i < count; i++) {
        struct region region = mem->regions[first];
        pksim_region_remove(mem, &mem->regions[first]);
        if (region.phys)
            pksim_phys_release(mem, region.phys);
        else
            pksim_mcast_release(mem, region.mcast);
        mem->counts.mappings--;
    }
    return PKSIM_MEM_DONE;
}

static uint64_t with_bit(uint64_t mask, uint32_t bit, bool set)
{
    return set ? mask | UINT64_C(1) << bit : mask & ~(UINT64_C(1) << bit);
}

enum pksim_mem_status pksim_mem_set_access(struct pksim_mem *mem, uint64_t addr, uint64_t size,
                                           uint32_t device, uint32_t access)
{
    uint32_t first, count;
    if (device >= mem->devices)
        return PKSIM_MEM_INVALID;
    if (!whole_mappings(mem, addr, size, &first, &count))
        return PKSIM_MEM_NOT_FOUND;
    for (uint32_t i = first; i < first + count; i++) {
        struct region *region = &mem->regions[i];
        region->readers = with_bit(region->readers, device, access & PKSIM_READ);
        region->writers = with_bit(region->writers, device, access & PKSIM_WRITE);
    }
    mem->generation++;
    return PKSIM_MEM_DONE;
}

// ---- Multicast objects

enum pksim_mem_status pksim_mcast_create(struct pksim_mem *mem, uint32_t devices, uint64_t size,
                                         struct pksim_mcast **out)
{
    if (devices == 0 || devices > mem->devices || size == 0 || !granular(size))
        return PKSIM_MEM_INVALID;
    struct pksim_mcast *mcast = calloc(1, sizeof *mcast);
    if (!mcast)
        return PKSIM_MEM_EXHAUSTED;
    mcast->references = 1;
    mcast->devices = devices;
    mcast->size = size;
    mem->counts.multicast++;
    *out = mcast;
    return PKSIM_MEM_DONE;
}

void pksim_mcast_retain(struct pksim_mcast *mcast)
{
    mcast->references++;
}

void pksim_mcast_release(struct pksim_mem *mem, struct pksim_mcast *mcast)
{
    if (--mcast->references > 0)
        return;
    for (uint32_t i = 0; i < mcast->count; i++)
        pksim_phys_release(mem, mcast->bindings[i].phys);
    free(mcast->bindings);
    free(mcast);
    mem->counts.multicast--;
}

uint64_t pksim_mcast_size(const struct pksim_mcast *mcast)
{
    return mcast->size;
}

enum pksim_mem_status pksim_mcast_add_device(struct pksim_mcast *mcast, uint32_t device)
{
    if ((mcast->added >> device) & 1 || bits_in(mcast->added) == mcast->devices)
        return PKSIM_MEM_INVALID;
    mcast->added |= UINT64_C(1) << device;
    return PKSIM_MEM_DONE;
}

static bool bound_already(const struct pksim_mcast *mcast, uint32_t device, uint64_t offset, uint64_t size)
{
    for (uint32_t i = 0; i < mcast->count; i++) {
        const struct binding *other = &mcast->bindings[i];
        if (other->phys->device == device && offset < other->offset + other->size &&
            other->offset < offset + size)
            return true;
    }
    return false;
}

static bool add_binding(struct pksim_mcast *mcast, const struct binding *binding)
{
    if (mcast->count == mcast->capacity) {
        uint32_t capacity = mcast->capacity ? 2 * mcast->capacity : 8;
        struct binding *grown = realloc(mcast->bindings, capacity * sizeof *grown);
        if (!grown)
            return false;
        mcast->bindings = grown;
        mcast->capacity = capacity;
    }
    mcast->bindings[mcast->count++] = *binding;
    return true;
}

enum pksim_mem_status pksim_mcast_bind(struct pksim_mem *mem, struct pksim_mcast *mcast, uint64_t offset,
                                       struct pksim_phys *phys, uint64_t phys_offset, uint64_t size)
{
    if (size == 0 || !granular(offset) || !granular(phys_offset) || !granular(size))
        return PKSIM_MEM_INVALID;
    if (offset > mcast->size || size > mcast->size - offset || phys_offset > phys->size ||
        size > phys->size - phys_offset)
        return PKSIM_MEM_INVALID;
    // All devices are added before memory is bound (CUDA driver API, cuMulticastBindMem).
    if (!((mcast->added >> phys->device) & 1) || bits_in(mcast->added) != mcast->devices)
        return PKSIM_MEM_INVALID;
    if (bound_already(mcast, phys->device, offset, size))
        return PKSIM_MEM_IN_USE;
    struct binding binding = {offset, size, phys_offset, phys};
    if (!add_binding(mcast, &binding))
        return PKSIM_MEM_EXHAUSTED;
    pksim_phys_retain(phys);
    mem->generation++;
    return PKSIM_MEM_DONE;
}

enum pksim_mem_status pksim_mcast_bind_address(struct pksim_mem *mem, struct pksim_mcast *mcast,
                                               uint64_t mcast_offset, uint64_t addr, uint64_t size)
{
    const struct region *region = pksim_region_at(mem, addr);
    if (!region || region->kind != REGION_MAPPED || size > region->size - (addr - region->base))
        return PKSIM_MEM_INVALID;
    return pksim_mcast_bind(mem, mcast, mcast_offset, region->phys, region->offset + (addr - region->base),
                            size);
}

enum pksim_mem_status pksim_mcast_unbind(struct pksim_mem *mem, struct pksim_mcast *mcast, uint32_t device,
                                         uint64_t mcast_offset, uint64_t size)
{
    for (uint32_t i = 0; i < mcast->count; i++) {
        struct binding *binding = &mcast->bindings[i];
        if (binding->phys->device != device || binding->offset != mcast_offset || binding->size != size)
            continue;
        pksim_phys_release(mem, binding->phys);
        *binding = mcast->bindings[--mcast->count];
        mem->generation++;
        return PKSIM_MEM_DONE;
    }
    return PKSIM_MEM_NOT_FOUND;
}
