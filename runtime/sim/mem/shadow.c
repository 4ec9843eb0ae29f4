// SPDX-License-Identifier: Apache-2.0
#include "sim/mem/shadow.h"

#include <string.h>

static uint8_t low_bits(size_t count)
{
    return (uint8_t)((1u << count) - 1);
}

void pksim_shadow_mark_range(uint8_t *shadow, size_t offset, size_t size)
{
    size_t end = offset + size;
    size_t first = offset >> 3, last = end >> 3;
    if (first == last) {
        shadow[first] |= (uint8_t)(low_bits(size) << (offset & 7));
        return;
    }
    if (offset & 7)
        shadow[first++] |= (uint8_t)~low_bits(offset & 7);
    memset(shadow + first, 0xff, last - first);
    if (end & 7)
        shadow[last] |= low_bits(end & 7);
}

static bool bit_is_set(const uint8_t *shadow, size_t offset)
{
    return (shadow[offset >> 3] >> (offset & 7)) & 1;
}

// From an offset that is a multiple of 8: bytes at the front that are all written, in steps of 8.
static size_t written_groups(const uint8_t *shadow, size_t offset, size_t size)
{
    const uint8_t *at = shadow + (offset >> 3);
    size_t groups = size >> 3, i = 0;
    for (; i + 8 <= groups; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        if (word != UINT64_MAX)
            break;
    }
    while (i < groups && at[i] == 0xff)
        i++;
    return i << 3;
}

size_t pksim_shadow_find_unwritten(const uint8_t *shadow, size_t offset, size_t size)
{
    size_t i = 0;
    for (; i < size && ((offset + i) & 7) != 0; i++)
        if (!bit_is_set(shadow, offset + i))
            return i;
    i += written_groups(shadow, offset + i, size - i);
    for (; i < size; i++)
        if (!bit_is_set(shadow, offset + i))
            return i;
    return size;
}

static void copy_bit(uint8_t *to, size_t to_offset, bool set)
{
    uint8_t bit = (uint8_t)(1u << (to_offset & 7));
    if (set)
        to[to_offset >> 3] |= bit;
    else
        to[to_offset >> 3] &= (uint8_t)~bit;
}

void pksim_shadow_copy(uint8_t *to, size_t to_offset, const uint8_t *from, size_t from_offset, size_t size)
{
    bool alike = (to_offset & 7) == (from_offset & 7);
    size_t i = 0;
    for (; i < size && (!alike || ((to_offset + i) & 7) != 0); i++)
        copy_bit(to, to_offset + i, bit_is_set(from, from_offset + i));
    size_t groups = (size - i) >> 3;
    memmove(to + ((to_offset + i) >> 3), from + ((from_offset + i) >> 3), groups);
    for (i += groups << 3; i < size; i++)
        copy_bit(to, to_offset + i, bit_is_set(from, from_offset + i));
}
