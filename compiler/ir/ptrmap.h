// SPDX-License-Identifier: Apache-2.0
// A map from addresses to addresses, for what a pass knows about values and ops. Lives in an arena.
#ifndef PKC_IR_PTRMAP_H
#define PKC_IR_PTRMAP_H

#include <stddef.h>

#include "support/arena.h"

typedef struct ir_ptrmap_slot {
    const void *key;
    void *value;
} ir_ptrmap_slot;

typedef struct ir_ptrmap {
    pkc_arena *arena;
    ir_ptrmap_slot *slots;
    size_t size, used; // size is a power of two, or 0
} ir_ptrmap;

void ir_ptrmap_init(ir_ptrmap *map, pkc_arena *arena);
/// Sets the value of a key that is not NULL.
void ir_ptrmap_set(ir_ptrmap *map, const void *key, void *value);
/// The value, NULL where the key has none.
void *ir_ptrmap_get(const ir_ptrmap *map, const void *key);

#endif
