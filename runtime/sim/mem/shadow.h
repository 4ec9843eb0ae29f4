// SPDX-License-Identifier: Apache-2.0
// Which bytes of a memory were ever written: one bit a byte. offset and size are in bytes of the memory; bit
// i of shadow[j] stands for byte 8 j + i.
#ifndef PKSIM_MEM_SHADOW_H
#define PKSIM_MEM_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Byte that fresh memory is filled with: a NaN in every floating-point format, an address that is never
// mapped.
enum { PKSIM_POISON = 0xff };

static inline size_t pksim_shadow_bytes(size_t memory_bytes)
{
    return (memory_bytes + 7) / 8;
}

// The long forms; use the inline ones below.
void pksim_shadow_mark_range(uint8_t *shadow, size_t offset, size_t size);
size_t pksim_shadow_find_unwritten(const uint8_t *shadow, size_t offset, size_t size);

// Marks bytes [offset, offset + size) written.
static inline void pksim_shadow_mark(uint8_t *shadow, size_t offset, size_t size)
{
    uint32_t shift = offset & 7;
    if (shift + size <= 8)
        shadow[offset >> 3] |= (uint8_t)(((1u << size) - 1) << shift);
    else
        pksim_shadow_mark_range(shadow, offset, size);
}

// True when all bytes [offset, offset + size) were written.
static inline bool pksim_shadow_written(const uint8_t *shadow, size_t offset, size_t size)
{
    uint32_t shift = offset & 7;
    if (shift + size <= 8) {
        uint32_t mask = ((1u << size) - 1) << shift;
        return (shadow[offset >> 3] & mask) == mask;
    }
    return pksim_shadow_find_unwritten(shadow, offset, size) == size;
}

// Bytes of `to` become written or not as those of `from` are.
void pksim_shadow_copy(uint8_t *to, size_t to_offset, const uint8_t *from, size_t from_offset, size_t size);

#endif
