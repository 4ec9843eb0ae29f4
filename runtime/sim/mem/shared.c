// SPDX-License-Identifier: Apache-2.0
#include "sim/mem/shared.h"

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

bool pksim_shared_init(struct pksim_shared *shared, uint32_t size)
{
    // A multiple of the alignment, as aligned_alloc asks; never 0.
    size_t rounded = ((size_t)size + 1024) & ~(size_t)1023;
    *shared = (struct pksim_shared){.size = size, .tick = first_tick()};
    shared->bytes = aligned_alloc(1024, rounded);
    shared->shadow = malloc(pksim_shadow_bytes(rounded));
    shared->versions = calloc(block_count(size), sizeof *shared->versions);
    if (!shared->bytes || !shared->shadow || !shared->versions) {
        pksim_shared_release(shared);
        return false;
    }
    pksim_shared_reset(shared);
    return true;
}

void pksim_shared_reset(struct pksim_shared *shared)
{
    memset(shared->bytes, PKSIM_POISON, shared->size);
    memset(shared->shadow, 0, pksim_shadow_bytes(shared->size));
    uint64_t tick = ++shared->tick;
    for (size_t i = 0; i < block_count(shared->size); i++)
        shared->versions[i] = tick;
}

void pksim_shared_release(struct pksim_shared *shared)
{
    free(shared->bytes);
    free(shared->shadow);
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
