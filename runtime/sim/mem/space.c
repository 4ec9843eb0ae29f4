// SPDX-License-Identifier: Apache-2.0
// The table of regions, and the resolution of addresses.
#include "sim/mem/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pksim_mem *pksim_mem_create(uint32_t devices, uint64_t capacity)
{
    struct pksim_mem *mem = calloc(1, sizeof *mem);
    if (!mem)
        return NULL;
    mem->devices = devices;
    mem->capacity = capacity;
    // Not at the very start, so that small offsets below the first allocation still fault as "near" it.
    mem->next_va = PKSIM_VA_FIRST + PKSIM_VA_GRANULE;
    mem->next_id = 1;
    mem->generation = 1;
    return mem;
}

static void drop_backing(struct pksim_mem *mem, struct region *region)
{
    switch (region->kind) {
    case REGION_ALLOC:
    case REGION_MAPPED:
        pksim_phys_release(mem, region->phys);
        break;
    case REGION_MULTICAST:
        pksim_mcast_release(mem, region->mcast);
        break;
    case REGION_HOST:
        free(region->host);
        break;
    case REGION_REGISTERED:
        break;
    }
}

void pksim_mem_destroy(struct pksim_mem *mem)
{
    if (!mem)
        return;
    for (uint32_t i = 0; i < mem->region_count; i++)
        drop_backing(mem, &mem->regions[i]);
    free(mem->regions);
    free(mem->reservations);
    free(mem);
}

uint64_t pksim_mem_generation(const struct pksim_mem *mem)
{
    return mem->generation;
}

uint32_t pksim_region_index(const struct pksim_mem *mem, uint64_t addr)
{
    uint32_t low = 0, high = mem->region_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (mem->regions[middle].base < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool holds(uint64_t base, uint64_t size, uint64_t addr)
{
    return addr - base < size;
}

struct region *pksim_region_at(const struct pksim_mem *mem, uint64_t addr)
{
    uint32_t index = pksim_region_index(mem, addr);
    if (index < mem->region_count && mem->regions[index].base == addr)
        return &mem->regions[index];
    if (index > 0 && holds(mem->regions[index - 1].base, mem->regions[index - 1].size, addr))
        return &mem->regions[index - 1];
    return NULL;
}

struct region *pksim_region_add(struct pksim_mem *mem, const struct region *region)
{
    if (mem->region_count == mem->region_capacity) {
        uint32_t capacity = mem->region_capacity ? 2 * mem->region_capacity : 16;
        struct region *grown = realloc(mem->regions, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        mem->regions = grown;
        mem->region_capacity = capacity;
    }
    uint32_t index = pksim_region_index(mem, region->base);
    struct region *at = mem->regions + index;
    memmove(at + 1, at, (mem->region_count - index) * sizeof *at);
    *at = *region;
    at->id = mem->next_id++;
    mem->region_count++;
    mem->generation++;
    return at;
}

void pksim_region_remove(struct pksim_mem *mem, struct region *region)
{
    struct range *freed = &mem->freed[mem->freed_next++ % FREED_RANGES];
    freed->base = region->base;
    freed->size = region->size;
    memcpy(freed->name, region->name, sizeof freed->name);
    size_t index = (size_t)(region - mem->regions);
    memmove(region, region + 1, (mem->region_count - index - 1) * sizeof *region);
    mem->region_count--;
    mem->generation++;
}

bool pksim_region_overlaps(const struct pksim_mem *mem, uint64_t base, uint64_t size)
{
    uint32_t index = pksim_region_index(mem, base);
    if (index < mem->region_count && mem->regions[index].base - base < size)
        return true;
    return index > 0 && holds(mem->regions[index - 1].base, mem->regions[index - 1].size, base);
}

uint64_t pksim_va_take(struct pksim_mem *mem, uint64_t size, uint64_t align)
{
    if (align < PKSIM_VA_GRANULE)
        align = PKSIM_VA_GRANULE;
    uint64_t room = PKSIM_VA_END - PKSIM_VA_FIRST;
    if (size == 0 || size > room || align > room)
        return 0;
    uint64_t base = (mem->next_va + align - 1) & ~(align - 1);
    uint64_t end = ((base + size + PKSIM_VA_GRANULE - 1) & ~(PKSIM_VA_GRANULE - 1)) + PKSIM_VA_GRANULE;
    if (end > PKSIM_VA_END)
        return 0;
    mem->next_va = end;
    return base;
}

// ---- Faults

static void near_range(struct pksim_mem_fault *fault, uint64_t base, uint64_t size, const char *name)
{
    fault->near_base = base;
    fault->near_bytes = size;
    memcpy(fault->near_name, name, sizeof fault->near_name);
}

static const struct range *freed_at(const struct pksim_mem *mem, uint64_t addr)
{
    for (uint32_t i = 0; i < FREED_RANGES; i++)
        if (holds(mem->freed[i].base, mem->freed[i].size, addr))
            return &mem->freed[i];
    return NULL;
}

static const struct region *nearest(const struct pksim_mem *mem, uint64_t addr)
{
    uint32_t index = pksim_region_index(mem, addr);
    const struct region *after = index < mem->region_count ? &mem->regions[index] : NULL;
    const struct region *before = index > 0 ? &mem->regions[index - 1] : NULL;
    if (!after || !before)
        return after ? after : before;
    return after->base - addr < addr - (before->base + before->size) ? after : before;
}

// An address outside of all regions. "Out of bounds" is for what lies in the gap beside an allocation, or
// runs over its end.
static void fault_outside(const struct pksim_mem *mem, struct pksim_mem_fault *fault)
{
    const struct range *freed = freed_at(mem, fault->address);
    if (freed) {
        fault->kind = PKSIM_MEM_FAULT_FREED;
        near_range(fault, freed->base, freed->size, freed->name);
        return;
    }
    fault->kind = PKSIM_MEM_FAULT_UNMAPPED;
    const struct region *region = nearest(mem, fault->address);
    if (!region)
        return;
    uint64_t distance = region->base > fault->address ? region->base - fault->address
                                                      : fault->address - (region->base + region->size);
    if (distance > PKSIM_VA_GRANULE)
        return;
    fault->kind = PKSIM_MEM_FAULT_OUT_OF_BOUNDS;
    fault->owner = region->owner;
    near_range(fault, region->base, region->size, region->name);
}

static bool fault_inside(const struct region *region, struct pksim_mem_fault *fault,
                         enum pksim_mem_fault_kind kind)
{
    fault->kind = kind;
    fault->owner = region->owner;
    near_range(fault, region->base, region->size, region->name);
    return false;
}

static bool may_access(const struct region *region, struct pksim_mem_fault *fault)
{
    uint64_t bit = UINT64_C(1) << fault->device;
    if (!(region->readers & bit))
        return fault_inside(region, fault, PKSIM_MEM_FAULT_NO_ACCESS);
    if ((fault->access & PKSIM_WRITE) && !(region->writers & bit))
        return fault_inside(region, fault, PKSIM_MEM_FAULT_READ_ONLY);
    if (fault->size > region->size - (fault->address - region->base))
        return fault_inside(region, fault, PKSIM_MEM_FAULT_OUT_OF_BOUNDS);
    if (fault->address % fault->align != 0)
        return fault_inside(region, fault, PKSIM_MEM_FAULT_MISALIGNED);
    return true;
}

static struct pksim_mem_fault access_of(uint32_t device, uint64_t addr, uint64_t size, uint64_t align,
                                        uint32_t access)
{
    return (struct pksim_mem_fault){.device = device,
                                    .owner = PKSIM_HOST,
                                    .access = access,
                                    .align = align ? (uint32_t)align : 1,
                                    .address = addr,
                                    .size = size};
}

static uint32_t access_mask(const struct region *region, uint32_t device)
{
    return ((region->readers >> device) & 1 ? (uint32_t)PKSIM_READ : 0) |
           ((region->writers >> device) & 1 ? (uint32_t)PKSIM_WRITE : 0);
}

bool pksim_mem_resolve(const struct pksim_mem *mem, uint32_t device, uint64_t addr, uint64_t size,
                       uint64_t align, uint32_t access, struct pksim_span *span,
                       struct pksim_mem_fault *fault)
{
    struct pksim_mem_fault now = access_of(device, addr, size, align, access);
    const struct region *region = pksim_region_at(mem, addr);
    bool ok = false;
    if (!region)
        fault_outside(mem, &now);
    else if (region->kind == REGION_MULTICAST)
        fault_inside(region, &now, PKSIM_MEM_FAULT_MULTICAST);
    else
        ok = may_access(region, &now);
    if (!ok) {
        *fault = now;
        return false;
    }
    *span = (struct pksim_span){.base = region->base,
                                .size = region->size,
                                .host = region->host,
                                .shadow = region->shadow,
                                .access = access_mask(region, device),
                                .owner = region->owner};
    return true;
}

bool pksim_mem_is_multicast(const struct pksim_mem *mem, uint64_t addr)
{
    const struct region *region = pksim_region_at(mem, addr);
    return region && region->kind == REGION_MULTICAST;
}

static const struct binding *bound_at(const struct pksim_mcast *mcast, uint32_t device, uint64_t offset,
                                      uint64_t size)
{
    for (uint32_t i = 0; i < mcast->count; i++) {
        const struct binding *binding = &mcast->bindings[i];
        if (binding->phys->device == device && holds(binding->offset, binding->size, offset) &&
            size <= binding->size - (offset - binding->offset))
            return binding;
    }
    return NULL;
}

// The span of one bound memory, at multicast addresses.
static struct pksim_span bound_span(const struct region *region, const struct binding *binding,
                                    uint32_t device)
{
    uint64_t start = binding->offset > region->offset ? binding->offset : region->offset;
    uint64_t binding_end = binding->offset + binding->size, region_end = region->offset + region->size;
    uint64_t end = binding_end < region_end ? binding_end : region_end;
    uint64_t phys_offset = binding->phys_offset + (start - binding->offset);
    return (struct pksim_span){.base = region->base + (start - region->offset),
                               .size = end - start,
                               .host = binding->phys->host + phys_offset,
                               .shadow = binding->phys->shadow + phys_offset / 8,
                               .access = access_mask(region, device),
                               .owner = binding->phys->device};
}

bool pksim_mem_multicast(const struct pksim_mem *mem, uint32_t device, uint64_t addr, uint64_t size,
                         uint64_t align, uint32_t access, struct pksim_span *spans, uint32_t *count,
                         struct pksim_mem_fault *fault)
{
    *fault = access_of(device, addr, size, align, access);
    *count = 0;
    const struct region *region = pksim_region_at(mem, addr);
    if (!region)
        return fault_outside(mem, fault), false;
    if (region->kind != REGION_MULTICAST)
        return fault_inside(region, fault, PKSIM_MEM_FAULT_NOT_MULTICAST);
    if (!may_access(region, fault))
        return false;
    for (uint32_t i = 0; i < mem->devices; i++) {
        if (!((region->mcast->added >> i) & 1))
            continue;
        const struct binding *binding =
            bound_at(region->mcast, i, addr - region->base + region->offset, size);
        if (!binding) {
            fault_inside(region, fault, PKSIM_MEM_FAULT_UNBOUND);
            fault->owner = i;
            return false;
        }
        spans[(*count)++] = bound_span(region, binding, device);
    }
    return true;
}

void pksim_mem_unwritten(const struct pksim_mem *mem, uint32_t device, uint64_t addr, uint64_t size,
                         struct pksim_mem_fault *fault)
{
    *fault = access_of(device, addr, size, 1, PKSIM_READ);
    const struct region *region = pksim_region_at(mem, addr);
    if (region)
        fault_inside(region, fault, PKSIM_MEM_FAULT_UNWRITTEN);
    else
        fault_outside(mem, fault);
}

const char *pksim_mem_fault_words(enum pksim_mem_fault_kind kind)
{
    switch (kind) {
#define MEM_FAULT(id, words)                                                                                 \
    case PKSIM_MEM_FAULT_##id:                                                                               \
        return words;
#include "sim/mem/fault.def"
    }
    return "";
}

// "of 'weights'" or "of the allocation of 512 bytes at 0x..", and where the access lies against it.
static void format_near(const struct pksim_mem_fault *fault, char *out, size_t size)
{
    if (fault->near_bytes == 0) {
        snprintf(out, size, "; nothing is allocated near it");
        return;
    }
    char where[64];
    uint64_t end = fault->near_base + fault->near_bytes;
    if (fault->address < fault->near_base)
        snprintf(where, sizeof where, "%llu bytes before",
                 (unsigned long long)(fault->near_base - fault->address));
    else if (fault->address + fault->size > end && fault->kind != PKSIM_MEM_FAULT_FREED)
        snprintf(where, sizeof where, "%llu bytes past the end of",
                 (unsigned long long)(fault->address + fault->size - end));
    else
        snprintf(where, sizeof where, "%llu bytes into",
                 (unsigned long long)(fault->address - fault->near_base));
    char owner[40] = "host memory";
    if (fault->owner != PKSIM_HOST)
        snprintf(owner, sizeof owner, "memory of device %u", fault->owner);
    const char *what = fault->kind == PKSIM_MEM_FAULT_FREED ? "memory in use earlier" : owner;
    const char *quote = fault->near_name[0] ? "'" : "";
    snprintf(out, size, ", %s %s%s%s%s%s at 0x%llx (%llu bytes)", where, quote, fault->near_name, quote,
             fault->near_name[0] ? ", " : "", what, (unsigned long long)fault->near_base,
             (unsigned long long)fault->near_bytes);
}

int pksim_mem_fault_format(const struct pksim_mem_fault *fault, char *out, size_t size)
{
    char near[200];
    format_near(fault, near, sizeof near);
    char align[48] = "";
    if (fault->kind == PKSIM_MEM_FAULT_MISALIGNED)
        snprintf(align, sizeof align, " (needs a multiple of %u)", fault->align);
    return snprintf(out, size, "%s: device %u %s %llu bytes at 0x%llx%s%s",
                    pksim_mem_fault_words(fault->kind), fault->device,
                    fault->access & PKSIM_WRITE ? "writes" : "reads", (unsigned long long)fault->size,
                    (unsigned long long)fault->address, align, near);
}

bool pksim_mem_query(const struct pksim_mem *mem, uint64_t addr, struct pksim_mem_info *info)
{
    const struct region *region = pksim_region_at(mem, addr);
    if (!region)
        return false;
    *info = (struct pksim_mem_info){.base = region->base,
                                    .size = region->size,
                                    .owner = region->owner,
                                    .id = region->id,
                                    .multicast = region->kind == REGION_MULTICAST};
    if (region->owner == PKSIM_HOST)
        info->host = region->host + (addr - region->base);
    else
        info->access = access_mask(region, region->owner);
    return true;
}

enum pksim_mem_status pksim_mem_name(struct pksim_mem *mem, uint64_t addr, const char *name)
{
    struct region *region = pksim_region_at(mem, addr);
    if (!region)
        return PKSIM_MEM_NOT_FOUND;
    snprintf(region->name, sizeof region->name, "%s", name);
    return PKSIM_MEM_DONE;
}

uint64_t pksim_mem_used(const struct pksim_mem *mem, uint32_t device)
{
    return mem->used[device];
}

uint64_t pksim_mem_capacity(const struct pksim_mem *mem)
{
    return mem->capacity;
}

void pksim_mem_count(const struct pksim_mem *mem, struct pksim_mem_counts *counts)
{
    *counts = mem->counts;
}
