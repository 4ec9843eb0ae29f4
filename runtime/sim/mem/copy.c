// SPDX-License-Identifier: Apache-2.0
// Copies and fills that the host program asks for: any mapped memory, whatever device may access it.
#include <string.h>

#include "sim/mem/space.h"

// The region around addr, and how many of `size` bytes it holds. NULL: *fault says why.
static struct region *piece_at(const struct pksim_mem *mem, uint64_t addr, uint64_t size, uint32_t access,
                               uint64_t *piece, struct pksim_mem_fault *fault)
{
    struct region *region = pksim_region_at(mem, addr);
    if (!region || !region->host) {
        struct pksim_span unused;
        // Device 0 stands in for the host here: what fails is that nothing (or a multicast window) is there.
        pksim_mem_resolve(mem, 0, addr, size, 1, access, &unused, fault);
        return NULL;
    }
    uint64_t left = region->size - (addr - region->base);
    *piece = size < left ? size : left;
    return region;
}

static void mark(struct region *region, uint64_t offset, uint64_t size)
{
    if (region->shadow)
        pksim_shadow_mark(region->shadow, offset, size);
}

bool pksim_mem_write(struct pksim_mem *mem, uint64_t to, const void *from, uint64_t size,
                     struct pksim_mem_fault *fault)
{
    const unsigned char *source = from;
    uint64_t piece;
    for (; size > 0; size -= piece, to += piece, source += piece) {
        struct region *region = piece_at(mem, to, size, PKSIM_WRITE, &piece, fault);
        if (!region)
            return false;
        memmove(region->host + (to - region->base), source, piece);
        mark(region, to - region->base, piece);
    }
    return true;
}

bool pksim_mem_read(const struct pksim_mem *mem, void *to, uint64_t from, uint64_t size,
                    struct pksim_mem_fault *fault)
{
    unsigned char *target = to;
    uint64_t piece;
    for (; size > 0; size -= piece, from += piece, target += piece) {
        const struct region *region = piece_at(mem, from, size, PKSIM_READ, &piece, fault);
        if (!region)
            return false;
        memmove(target, region->host + (from - region->base), piece);
    }
    return true;
}

bool pksim_mem_copy(struct pksim_mem *mem, uint64_t to, uint64_t from, uint64_t size,
                    struct pksim_mem_fault *fault)
{
    uint64_t piece;
    for (; size > 0; size -= piece, to += piece, from += piece) {
        const struct region *source = piece_at(mem, from, size, PKSIM_READ, &piece, fault);
        if (!source)
            return false;
        struct region *target = piece_at(mem, to, piece, PKSIM_WRITE, &piece, fault);
        if (!target)
            return false;
        uint64_t target_offset = to - target->base, source_offset = from - source->base;
        memmove(target->host + target_offset, source->host + source_offset, piece);
        if (target->shadow && source->shadow)
            pksim_shadow_copy(target->shadow, target_offset, source->shadow, source_offset, piece);
        else
            mark(target, target_offset, piece);
    }
    return true;
}

static void fill_piece(unsigned char *at, uint32_t value, uint32_t width, uint64_t bytes)
{
    if (width == 1) {
        memset(at, (int)(value & 0xff), bytes);
        return;
    }
    for (uint64_t i = 0; i < bytes; i += width)
        memcpy(at + i, &value, width); // little-endian, as every host that CUDA knows
}

bool pksim_mem_fill(struct pksim_mem *mem, uint64_t to, uint32_t value, uint32_t width, uint64_t count,
                    struct pksim_mem_fault *fault)
{
    uint64_t piece;
    for (uint64_t size = count * width; size > 0; size -= piece, to += piece) {
        struct region *region = piece_at(mem, to, size, PKSIM_WRITE, &piece, fault);
        if (!region)
            return false;
        piece -= piece % width;
        if (piece == 0)
            return fault->kind = PKSIM_MEM_FAULT_OUT_OF_BOUNDS, false;
        fill_piece(region->host + (to - region->base), value, width, piece);
        mark(region, to - region->base, piece);
    }
    return true;
}
