// SPDX-License-Identifier: Apache-2.0
// Memory of a parsed module: allocated piecewise, freed at once.
#ifndef PKSIM_PTX_ARENA_H
#define PKSIM_PTX_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct pksim_arena_block;
struct pksim_arena {
    struct pksim_arena_block *blocks;
    bool failed; // an allocation failed; what was returned for it is NULL
};

// `size` zeroed bytes, aligned to 16; NULL when the host is out of memory (and `failed` is set).
void *pksim_arena_alloc(struct pksim_arena *arena, size_t size);
void pksim_arena_free(struct pksim_arena *arena);

// Makes room for one more element in a growing array of `arena`: *items has *count of *capacity elements of
// `size` bytes. False when out of memory.
bool pksim_arena_grow(struct pksim_arena *arena, void **items, size_t count, size_t *capacity, size_t size);

#endif
