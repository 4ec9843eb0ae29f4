// SPDX-License-Identifier: Apache-2.0
// Inside of the address space, for the files of mem/ only.
#ifndef PKSIM_MEM_SPACE_H
#define PKSIM_MEM_SPACE_H

#include "sim/mem/mem.h"

struct pksim_phys {
    uint32_t references;
    uint32_t device;
    uint64_t size;
    unsigned char *host;
    uint8_t *shadow;
    size_t mapped_bytes; // of the host mapping that holds both
    int descriptor;      // memfd, or -1
    bool imported;       // counted by the process that made it
};

// Memory bound into a multicast object.
struct binding {
    uint64_t offset, size, phys_offset;
    struct pksim_phys *phys;
};

struct pksim_mcast {
    uint32_t references;
    uint32_t devices; // that will be added
    uint64_t added;   // mask
    uint64_t size;
    struct binding *bindings;
    uint32_t count, capacity;
};

enum region_kind { REGION_ALLOC, REGION_HOST, REGION_REGISTERED, REGION_MAPPED, REGION_MULTICAST };

// A stretch of addresses with one backing.
struct region {
    uint64_t base, size;
    enum region_kind kind;
    uint32_t owner;
    struct pksim_phys *phys; // ALLOC, MAPPED
    struct pksim_mcast *mcast;
    uint64_t offset;     // into either
    unsigned char *host; // of base; NULL for MULTICAST
    uint8_t *shadow;
    uint64_t readers, writers; // masks of devices
    uint64_t id;
    char name[48];
};

struct range {
    uint64_t base, size;
    char name[48];
};

enum { FREED_RANGES = 64 };

struct pksim_mem {
    uint32_t devices;
    uint64_t capacity;
    uint64_t used[PKSIM_MAX_DEVICES];
    uint64_t peers[PKSIM_MAX_DEVICES]; // mask of devices that may access this one's cuMemAlloc memory
    struct region *regions;            // by base
    uint32_t region_count, region_capacity;
    struct range *reservations; // in the order in which they were made
    uint32_t reservation_count, reservation_capacity;
    struct range freed[FREED_RANGES]; // the newest ones, a ring
    uint32_t freed_next;
    uint64_t next_va, next_id, generation;
    struct pksim_mem_counts counts;
    pksim_gone_fn *gone;
    void *gone_argument;
};

// The region that holds addr, or NULL.
struct region *pksim_region_at(const struct pksim_mem *mem, uint64_t addr);
// Index of the first region whose base is not below addr.
uint32_t pksim_region_index(const struct pksim_mem *mem, uint64_t addr);
// Inserts a copy of *region, giving it an id. NULL: out of host memory. The array moves.
struct region *pksim_region_add(struct pksim_mem *mem, const struct region *region);
// Takes it out and remembers that its addresses were in use.
void pksim_region_remove(struct pksim_mem *mem, struct region *region);
bool pksim_region_overlaps(const struct pksim_mem *mem, uint64_t base, uint64_t size);
// Fresh addresses, followed by a gap; 0: none left.
uint64_t pksim_va_take(struct pksim_mem *mem, uint64_t size, uint64_t align);

#endif
