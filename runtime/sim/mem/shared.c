// SPDX-License-Identifier: Apache-2.0
#include "sim/mem/shared.h"

#include "sim/mem/pages.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t block_count(uint32_t size)
{
    return (((size_t)size + (1u << PKSIM_SHARED_BLOCK_LOG2) - 1) >> PKSIM_SHARED_BLOCK_LOG2) + 1;
}

// Where versions start: later than any version of a shared memory that lay at the same place before, as a
// write takes more than a nanosecond. So what is cached by version needs no notice when a shared memory goes.
static uint64_t first_tick(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Never 0, and room for a vector load that begins inside.
static size_t mapped_bytes(uint32_t size)
{
    return ((size_t)size + 1024) & ~(size_t)1023;
}

bool pksim_shared_init(struct pksim_shared *shared, uint32_t size)
{
    uint64_t tick = first_tick();
    *shared = (struct pksim_shared){.size = size, .tick = tick, .fresh = tick};
    shared->bytes = pksim_pages(mapped_bytes(size));
    shared->shadow = pksim_pages(pksim_shadow_bytes(mapped_bytes(size)));
    shared->versions = calloc(block_count(size), sizeof *shared->versions);
    if (!shared->bytes || !shared->shadow || !shared->versions) {
        pksim_shared_release(shared);
        return false;
    }
    for (size_t i = 0; i < block_count(size); i++)
        shared->versions[i] = shared->tick;
    return true;
}

void pksim_shared_reset(struct pksim_shared *shared)
{
    const size_t block = (size_t)1 << PKSIM_SHARED_BLOCK_LOG2;
    uint64_t tick = ++shared->tick;
    for (size_t i = 0; i < block_count(shared->size); i++) {
        if (shared->versions[i] != shared->fresh) {
            memset(shared->bytes + i * block, PKSIM_POISON, block);
            memset(shared->shadow + pksim_shadow_bytes(i * block), 0, pksim_shadow_bytes(block));
        }
        shared->versions[i] = tick;
    }
    shared->fresh = tick;
}

void pksim_shared_release(struct pksim_shared *shared)
{
    pksim_pages_free(shared->bytes, mapped_bytes(shared->size));
    pksim_pages_free(shared->shadow, pksim_shadow_bytes(mapped_bytes(shared->size)));
    free(shared->versions);
    *shared = (struct pksim_shared){0};
}

uint64_t pksim_shared_version(const struct pksim_shared *shared, uint32_t offset, uint32_t size)
{
    uint64_t newest = 0;
    uint32_t last = (offset + size - 1) >> PKSIM_SHARED_BLOCK_LOG2;
    for (uint32_t block = offset >> PKSIM_SHARED_BLOCK_LOG2; block <= last; block++)
        if (shared->versions[block] > newest)
            newest = shared->versions[block];
    return newest;
}
