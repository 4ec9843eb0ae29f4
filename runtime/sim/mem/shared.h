// SPDX-License-Identifier: Apache-2.0
// Shared memory of one CTA: bytes, which of them were written, and when each block changed last. Addresses
// are offsets in the CTA's shared window, the same that a shared::cta pointer holds.
#ifndef PKSIM_MEM_SHARED_H
#define PKSIM_MEM_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/mem/shadow.h"

// Blocks for which a version is kept. A version is the `tick` of the last write.
enum { PKSIM_SHARED_BLOCK_LOG2 = 8 };

struct pksim_shared {
    unsigned char *bytes; // aligned to 1024
    uint8_t *shadow;
    uint64_t *versions;
    uint64_t tick;  // writes so far
    uint64_t fresh; // version of blocks that were never written
    uint32_t size;  // allocated bytes
};

// Unwritten; pages take memory when they are touched. False: out of memory.
bool pksim_shared_init(struct pksim_shared *shared, uint32_t size);
// Unwritten again, and poisoned where something was written, without allocating: for the next CTA in the same
// place. Versions go on counting.
void pksim_shared_reset(struct pksim_shared *shared);
void pksim_shared_release(struct pksim_shared *shared);

// True when [offset, offset + size) lies inside.
static inline bool pksim_shared_inside(const struct pksim_shared *shared, uint32_t offset, uint32_t size)
{
    return offset <= shared->size && size <= shared->size - offset;
}

// Call after (or before) writing bytes [offset, offset + size), size > 0, which must lie inside.
static inline void pksim_shared_mark(struct pksim_shared *shared, uint32_t offset, uint32_t size)
{
    uint64_t tick = ++shared->tick;
    pksim_shadow_mark(shared->shadow, offset, size);
    uint32_t last = (offset + size - 1) >> PKSIM_SHARED_BLOCK_LOG2;
    for (uint32_t block = offset >> PKSIM_SHARED_BLOCK_LOG2; block <= last; block++)
        shared->versions[block] = tick;
}

static inline bool pksim_shared_written(const struct pksim_shared *shared, uint32_t offset, uint32_t size)
{
    return pksim_shadow_written(shared->shadow, offset, size);
}

// The newest version in [offset, offset + size), size > 0, which must lie inside: unchanged means that no
// byte changed.
uint64_t pksim_shared_version(const struct pksim_shared *shared, uint32_t offset, uint32_t size);

#endif
