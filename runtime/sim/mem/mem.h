// SPDX-License-Identifier: Apache-2.0
// Memory of the machine: one 64-bit address space for all devices and the host, as CUDA's unified addressing
// has it. Device memory lies in [PKSIM_VA_FIRST, PKSIM_VA_END), where no host pointer of a 64-bit Linux
// process can be; page-locked host memory is known by its host pointer. Addresses are never given out twice,
// so that use after free is seen.
//
// One thread at a time (the driver's lock). Nothing prints or aborts.
#ifndef PKSIM_MEM_MEM_H
#define PKSIM_MEM_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/mem/shadow.h"
#include "sim/mem/shared.h"

#define PKSIM_VA_FIRST (UINT64_C(1) << 47)
#define PKSIM_VA_END   (UINT64_C(1) << 48)
#define PKSIM_VA_GRANULE                                                                                     \
    (UINT64_C(2) << 20) // of cuMemCreate, reservations and multicast objects, as on an H200

enum { PKSIM_MAX_DEVICES = 64 };
enum { PKSIM_READ = 1, PKSIM_WRITE = 2 };

struct pksim_mem;  // the address space
struct pksim_phys; // physical memory of one device, counted references
struct pksim_mcast;

enum pksim_mem_status {
    PKSIM_MEM_DONE,
    PKSIM_MEM_INVALID,   // an argument against the rules
    PKSIM_MEM_EXHAUSTED, // no room on the device or the host
    PKSIM_MEM_NOT_FOUND, // no such allocation
    PKSIM_MEM_IN_USE     // mapped, bound or registered already
};

// ---- Access from kernels

enum pksim_mem_fault_kind {
#define MEM_FAULT(id, words) PKSIM_MEM_FAULT_##id,
#include "sim/mem/fault.def"
};

// What was wrong with an access. near_* is the nearest allocation or mapping, live or (FREED) freed; 0 bytes:
// none.
struct pksim_mem_fault {
    enum pksim_mem_fault_kind kind;
    uint32_t device, owner; // who accessed; whose memory it is (PKSIM_HOST: the host's)
    uint32_t access;
    uint32_t align; // MISALIGNED: what was needed
    uint64_t address, size;
    uint64_t near_base, near_bytes;
    char near_name[48]; // see pksim_mem_name; "" without
};
#define PKSIM_HOST UINT32_MAX

const char *pksim_mem_fault_words(enum pksim_mem_fault_kind kind);
// One line for a person: "4 bytes at 0x8000000000100: 64 bytes past the end of ..." Returns as snprintf does.
int pksim_mem_fault_format(const struct pksim_mem_fault *fault, char *out, size_t size);

// A stretch of addresses with the same backing, as one device sees it. Valid until the generation changes.
struct pksim_span {
    uint64_t base, size;
    unsigned char *host; // of base
    uint8_t *shadow;     // of base (base is a multiple of 8); NULL: host memory, always taken as written
    uint32_t access;     // PKSIM_READ | PKSIM_WRITE
    uint32_t owner;
};

// Host pointer of addr when [addr, addr + size) lies in the span and may be accessed so; else NULL: then
// resolve.
static inline unsigned char *pksim_span_at(const struct pksim_span *span, uint64_t addr, uint64_t size,
                                           uint32_t access)
{
    uint64_t offset = addr - span->base;
    if (offset >= span->size || size > span->size - offset || (span->access & access) != access)
        return NULL;
    return span->host + offset;
}

// Finds the span around addr and checks that `device` may access [addr, addr + size), size > 0, addr a
// multiple of align. False: *fault says why, and *span is untouched. An access that runs from one mapping
// into an adjacent one is OUT_OF_BOUNDS here: mappings are multiples of 2 MiB, so only bulk copies may do it,
// and they go by pksim_mem_piece.
bool pksim_mem_resolve(const struct pksim_mem *mem, uint32_t device, uint64_t addr, uint64_t size,
                       uint64_t align, uint32_t access, struct pksim_span *span,
                       struct pksim_mem_fault *fault);

// Changes whenever any span may have become invalid.
uint64_t pksim_mem_generation(const struct pksim_mem *mem);

// Spans of every device's memory behind [addr, addr + size) of a multicast address, for multimem instructions
// and bulk stores. *count gets how many; at most PKSIM_MAX_DEVICES. False: *fault says why
// (NOT_MULTICAST: an ordinary address; UNBOUND: a device has added no memory). base is the multicast address
// in all of them.
bool pksim_mem_multicast(const struct pksim_mem *mem, uint32_t device, uint64_t addr, uint64_t size,
                         uint64_t align, uint32_t access, struct pksim_span *spans, uint32_t *count,
                         struct pksim_mem_fault *fault);
bool pksim_mem_is_multicast(const struct pksim_mem *mem, uint64_t addr);

// Fills *fault for a read of a byte that the shadow says was never written.
void pksim_mem_unwritten(const struct pksim_mem *mem, uint32_t device, uint64_t addr, uint64_t size,
                         struct pksim_mem_fault *fault);

// Called before host memory of a device goes back to the host.
typedef void pksim_gone_fn(void *argument, const void *host, uint64_t size);
void pksim_mem_on_gone(struct pksim_mem *mem, pksim_gone_fn *gone, void *argument);

// ---- The driver's side

// capacity: bytes of memory of each device (for accounting).
struct pksim_mem *pksim_mem_create(uint32_t devices, uint64_t capacity);
void pksim_mem_destroy(struct pksim_mem *mem);

// cuMemAlloc: aligned to 512, poisoned, accessible to `device` and to devices with peer access to it.
enum pksim_mem_status pksim_mem_alloc(struct pksim_mem *mem, uint32_t device, uint64_t size, uint64_t *addr);
enum pksim_mem_status pksim_mem_free(struct pksim_mem *mem, uint64_t addr);
// `device` may (or may no longer) access what cuMemAlloc gives on `peer`.
void pksim_mem_peer(struct pksim_mem *mem, uint32_t device, uint32_t peer, bool enable);

// cuMemHostAlloc: aligned to the page. Every device may access it at its host address.
enum pksim_mem_status pksim_mem_host_alloc(struct pksim_mem *mem, uint64_t size, void **ptr);
enum pksim_mem_status pksim_mem_host_free(struct pksim_mem *mem, void *ptr);
enum pksim_mem_status pksim_mem_host_register(struct pksim_mem *mem, void *ptr, uint64_t size);
enum pksim_mem_status pksim_mem_host_unregister(struct pksim_mem *mem, void *ptr);

// cuMemAddressReserve. align 0: the granule.
enum pksim_mem_status pksim_mem_reserve(struct pksim_mem *mem, uint64_t size, uint64_t align, uint64_t hint,
                                        uint64_t *addr);
enum pksim_mem_status pksim_mem_unreserve(struct pksim_mem *mem, uint64_t addr, uint64_t size);

// cuMemCreate: size is a multiple of the granule. shareable: may be exported as a file descriptor. A physical
// memory lives while the handle (released once), a mapping or a multicast object holds it.
enum pksim_mem_status pksim_phys_create(struct pksim_mem *mem, uint32_t device, uint64_t size, bool shareable,
                                        struct pksim_phys **phys);
void pksim_phys_retain(struct pksim_phys *phys);
void pksim_phys_release(struct pksim_mem *mem, struct pksim_phys *phys);
uint32_t pksim_phys_device(const struct pksim_phys *phys);
uint64_t pksim_phys_size(const struct pksim_phys *phys);
bool pksim_phys_shareable(const struct pksim_phys *phys);
// A new descriptor of the memory, owned by the caller; -1: not shareable, or the host refused.
int pksim_phys_export(const struct pksim_phys *phys);
// The memory behind such a descriptor, of this process or another; the descriptor stays the caller's.
enum pksim_mem_status pksim_phys_import(struct pksim_mem *mem, int descriptor, struct pksim_phys **phys);

// cuMulticastCreate and so on. Memory is bound for the device that owns it, which must have been added.
enum pksim_mem_status pksim_mcast_create(struct pksim_mem *mem, uint32_t devices, uint64_t size,
                                         struct pksim_mcast **mcast);
void pksim_mcast_retain(struct pksim_mcast *mcast);
void pksim_mcast_release(struct pksim_mem *mem, struct pksim_mcast *mcast);
uint64_t pksim_mcast_size(const struct pksim_mcast *mcast);
enum pksim_mem_status pksim_mcast_add_device(struct pksim_mcast *mcast, uint32_t device);
enum pksim_mem_status pksim_mcast_bind(struct pksim_mem *mem, struct pksim_mcast *mcast,
                                       uint64_t mcast_offset, struct pksim_phys *phys, uint64_t phys_offset,
                                       uint64_t size);
enum pksim_mem_status pksim_mcast_bind_address(struct pksim_mem *mem, struct pksim_mcast *mcast,
                                               uint64_t mcast_offset, uint64_t addr, uint64_t size);
enum pksim_mem_status pksim_mcast_unbind(struct pksim_mem *mem, struct pksim_mcast *mcast, uint32_t device,
                                         uint64_t mcast_offset, uint64_t size);

// cuMemMap, of a physical memory or a multicast object (the other is NULL), no device having access yet.
enum pksim_mem_status pksim_mem_map(struct pksim_mem *mem, uint64_t addr, uint64_t size, uint64_t offset,
                                    struct pksim_phys *phys, struct pksim_mcast *mcast);
// Whole mappings only.
enum pksim_mem_status pksim_mem_unmap(struct pksim_mem *mem, uint64_t addr, uint64_t size);
// access: 0, PKSIM_READ or PKSIM_READ | PKSIM_WRITE. [addr, addr + size) must be made of whole mappings.
enum pksim_mem_status pksim_mem_set_access(struct pksim_mem *mem, uint64_t addr, uint64_t size,
                                           uint32_t device, uint32_t access);

// Gives the allocation or mapping that holds addr a name for reports (cut to fit).
enum pksim_mem_status pksim_mem_name(struct pksim_mem *mem, uint64_t addr, const char *name);

// What lies at addr (cuPointerGetAttribute).
struct pksim_mem_info {
    uint64_t base, size; // of the allocation, mapping or registered range
    uint32_t owner;      // PKSIM_HOST: host memory
    unsigned char *host; // of addr, for host memory
    uint64_t id;         // unique among all allocations ever made
    uint32_t access;     // of the owner
    bool multicast;
};
bool pksim_mem_query(const struct pksim_mem *mem, uint64_t addr, struct pksim_mem_info *info);

// Copies of the host program; any mapped memory whatever the access. Ordinary host pointers, which are not
// known to the address space, go by `void *`. They stop at the first byte that is not mapped, and then return
// false with *fault.
bool pksim_mem_write(struct pksim_mem *mem, uint64_t to, const void *from, uint64_t size,
                     struct pksim_mem_fault *fault);
bool pksim_mem_read(const struct pksim_mem *mem, void *to, uint64_t from, uint64_t size,
                    struct pksim_mem_fault *fault);
bool pksim_mem_copy(struct pksim_mem *mem, uint64_t to, uint64_t from, uint64_t size,
                    struct pksim_mem_fault *fault);
// `count` elements of `width` bytes (1, 2 or 4).
bool pksim_mem_fill(struct pksim_mem *mem, uint64_t to, uint32_t value, uint32_t width, uint64_t count,
                    struct pksim_mem_fault *fault);

uint64_t pksim_mem_used(const struct pksim_mem *mem, uint32_t device);
uint64_t pksim_mem_capacity(const struct pksim_mem *mem);

struct pksim_mem_counts {
    uint64_t allocations, host_allocations, registrations, reservations, mappings, physical, multicast;
};
void pksim_mem_count(const struct pksim_mem *mem, struct pksim_mem_counts *counts);

#endif
