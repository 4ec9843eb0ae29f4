// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pksim_arena_block {
    struct pksim_arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

enum { BLOCK_BYTES = 64 * 1024 };

static struct pksim_arena_block *new_block(struct pksim_arena *arena, size_t size)
{
    size_t room = size > BLOCK_BYTES ? size : (size_t)BLOCK_BYTES;
    struct pksim_arena_block *block = calloc(1, sizeof *block + room);
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    block->size = room;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *pksim_arena_alloc(struct pksim_arena *arena, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    struct pksim_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        block = new_block(arena, size);
        if (!block)
            return NULL;
    }
    void *result = block->bytes + block->used;
    block->used += size;
    return result;
}

void pksim_arena_free(struct pksim_arena *arena)
{
    while (arena->blocks) {
        struct pksim_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

bool pksim_arena_grow(struct pksim_arena *arena, void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity ? *capacity * 2 : 16;
    void *bigger = pksim_arena_alloc(arena, more * size);
    if (!bigger)
        return false;
    if (count)
        memcpy(bigger, *items, count * size);
    *items = bigger;
    *capacity = more;
    return true;
}
