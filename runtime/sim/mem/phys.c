// SPDX-License-Identifier: Apache-2.0
// Physical memory: bytes and their shadow in one host mapping, private or a memory file that other processes
// may map.
#define _GNU_SOURCE // memfd_create
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/mem/space.h"

// Last page of a shareable memory: what an importer must know.
struct trailer {
    uint64_t magic, size;
    uint32_t device;
};
#define TRAILER_MAGIC UINT64_C(0x31736879706d6973)

enum { PAGE = 4096 };

static size_t page_round(size_t size)
{
    return (size + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static struct pksim_phys *phys_new(uint32_t device, uint64_t size)
{
    struct pksim_phys *phys = calloc(1, sizeof *phys);
    if (!phys)
        return NULL;
    phys->references = 1;
    phys->device = device;
    phys->size = size;
    phys->descriptor = -1;
    phys->mapped_bytes = page_round(size) + page_round(pksim_shadow_bytes(size)) + PAGE;
    return phys;
}

static bool phys_map(struct pksim_phys *phys)
{
    int flags = phys->descriptor >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *at =
        mmap(NULL, phys->mapped_bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, phys->descriptor, 0);
    if (at == MAP_FAILED)
        return false;
    phys->host = at;
    phys->shadow = phys->host + page_round(phys->size);
    return true;
}

static void phys_delete(struct pksim_phys *phys)
{
    if (phys->host)
        munmap(phys->host, phys->mapped_bytes);
    if (phys->descriptor >= 0)
        close(phys->descriptor);
    free(phys);
}

static bool open_shareable(struct pksim_phys *phys)
{
    phys->descriptor = memfd_create("pksim", MFD_CLOEXEC);
    return phys->descriptor >= 0 && ftruncate(phys->descriptor, (off_t)phys->mapped_bytes) == 0;
}

enum pksim_mem_status pksim_phys_create(struct pksim_mem *mem, uint32_t device, uint64_t size, bool shareable,
                                        struct pksim_phys **out)
{
    if (device >= mem->devices || size == 0)
        return PKSIM_MEM_INVALID;
    if (size > mem->capacity - mem->used[device])
        return PKSIM_MEM_EXHAUSTED;
    struct pksim_phys *phys = phys_new(device, size);
    if (!phys)
        return PKSIM_MEM_EXHAUSTED;
    if ((shareable && !open_shareable(phys)) || !phys_map(phys)) {
        phys_delete(phys);
        return PKSIM_MEM_EXHAUSTED;
    }
    memset(phys->host, PKSIM_POISON, size);
    struct trailer trailer = {TRAILER_MAGIC, size, device};
    memcpy(phys->host + phys->mapped_bytes - PAGE, &trailer, sizeof trailer);
    mem->used[device] += size;
    mem->counts.physical++;
    *out = phys;
    return PKSIM_MEM_DONE;
}

void pksim_phys_retain(struct pksim_phys *phys)
{
    phys->references++;
}

void pksim_mem_on_gone(struct pksim_mem *mem, pksim_gone_fn *gone, void *argument)
{
    mem->gone = gone;
    mem->gone_argument = argument;
}

void pksim_phys_release(struct pksim_mem *mem, struct pksim_phys *phys)
{
    if (--phys->references > 0)
        return;
    if (mem->gone)
        mem->gone(mem->gone_argument, phys->host, phys->size);
    mem->counts.physical--;
    if (!phys->imported)
        mem->used[phys->device] -= phys->size;
    phys_delete(phys);
}

uint32_t pksim_phys_device(const struct pksim_phys *phys)
{
    return phys->device;
}

uint64_t pksim_phys_size(const struct pksim_phys *phys)
{
    return phys->size;
}

bool pksim_phys_shareable(const struct pksim_phys *phys)
{
    return phys->descriptor >= 0;
}

int pksim_phys_export(const struct pksim_phys *phys)
{
    return phys->descriptor >= 0 ? dup(phys->descriptor) : -1;
}

// Reads and checks the trailer of a memory file.
static bool read_trailer(int descriptor, struct trailer *trailer)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || status.st_size < 2 * PAGE)
        return false;
    if (pread(descriptor, trailer, sizeof *trailer, status.st_size - PAGE) != (ssize_t)sizeof *trailer)
        return false;
    if (trailer->magic != TRAILER_MAGIC || trailer->size == 0 || trailer->size > (uint64_t)status.st_size)
        return false;
    return page_round(trailer->size) + page_round(pksim_shadow_bytes(trailer->size)) + PAGE ==
           (size_t)status.st_size;
}

enum pksim_mem_status pksim_phys_import(struct pksim_mem *mem, int descriptor, struct pksim_phys **out)
{
    struct trailer trailer;
    if (!read_trailer(descriptor, &trailer) || trailer.device >= mem->devices)
        return PKSIM_MEM_INVALID;
    struct pksim_phys *phys = phys_new(trailer.device, trailer.size);
    if (!phys)
        return PKSIM_MEM_EXHAUSTED;
    phys->imported = true;
    phys->descriptor = dup(descriptor);
    if (phys->descriptor < 0 || !phys_map(phys)) {
        phys_delete(phys);
        return PKSIM_MEM_EXHAUSTED;
    }
    mem->counts.physical++;
    *out = phys;
    return PKSIM_MEM_DONE;
}
