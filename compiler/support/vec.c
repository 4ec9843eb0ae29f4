// SPDX-License-Identifier: Apache-2.0
#include "support/vec.h"

#include <string.h>

void *pkc_vec_grow(pkc_arena *arena, void *data, size_t len, size_t *cap, size_t elem_size)
{
    size_t wanted = len < 4 ? 4 : len * 2;
    *cap = wanted;
    if (!arena)
        return pkc_xrealloc(data, wanted * elem_size);
    void *grown = pkc_arena_alloc(arena, wanted * elem_size);
    if (len)
        memcpy(grown, data, len * elem_size);
    return grown;
}
