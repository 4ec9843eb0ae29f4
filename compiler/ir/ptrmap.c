// SPDX-License-Identifier: Apache-2.0
// Open addressing with linear probing; at most half full.
#include "ir/ptrmap.h"

#include <stdint.h>

void ir_ptrmap_init(ir_ptrmap *map, pkc_arena *arena)
{
    *map = (ir_ptrmap){.arena = arena};
}

static ir_ptrmap_slot *find(const ir_ptrmap *map, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & (map->size - 1);
    while (map->slots[i].key != NULL && map->slots[i].key != key)
        i = (i + 1) & (map->size - 1);
    return &map->slots[i];
}

static void grow(ir_ptrmap *map)
{
    ir_ptrmap old = *map;
    map->size = old.size == 0 ? 64 : old.size * 2;
    map->slots = PKC_NEW_ARRAY(map->arena, ir_ptrmap_slot, map->size);
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].key != NULL)
            *find(map, old.slots[i].key) = old.slots[i];
}

void ir_ptrmap_set(ir_ptrmap *map, const void *key, void *value)
{
    if (2 * (map->used + 1) > map->size)
        grow(map);
    ir_ptrmap_slot *slot = find(map, key);
    if (slot->key == NULL)
        map->used++;
    *slot = (ir_ptrmap_slot){key, value};
}

void *ir_ptrmap_get(const ir_ptrmap *map, const void *key)
{
    return map->size == 0 ? NULL : find(map, key)->value;
}
