// SPDX-License-Identifier: Apache-2.0
// Registers and shared memory of CTAs. They are taken at the first turn of a warp and kept for CTAs to come
// at the end: a launch fills all multiprocessors, and fresh pages for each of its CTAs cost more than what
// most of them do. Only one size of each is kept, as launches of one kernel follow each other; another size
// drives it out.
#include "sim/exec/machine.h"
#include "sim/mem/pages.h"

// ---- Registers
// -----------------------------------------------------------------------------------------------------

// Bytes of a warp's registers, a multiple of a cache line, with room for a vector load at the end.
static size_t register_stride(const struct pksim_run *run)
{
    return ((size_t)run->program->register_bytes + 64) & ~(size_t)63;
}

static size_t register_bytes(const struct pksim_run *run)
{
    return run->warps * register_stride(run);
}

static void drop_registers(struct pksim_storage *storage)
{
    while (storage->register_count)
        pksim_pages_free(storage->registers[--storage->register_count], storage->register_bytes);
}

// The one given back last. What a register holds before its first write is not defined, on a GPU as here.
static uint8_t *take_registers(struct pksim_storage *storage, size_t bytes)
{
    if (storage->register_count && storage->register_bytes == bytes)
        return storage->registers[--storage->register_count];
    return pksim_pages(bytes);
}

static void give_registers(struct pksim_storage *storage, uint8_t *registers, size_t bytes)
{
    if (!registers)
        return;
    if (storage->register_bytes != bytes)
        drop_registers(storage);
    storage->register_bytes = bytes;
    if (storage->register_count < PKSIM_SPARE_CTAS)
        storage->registers[storage->register_count++] = registers;
    else
        pksim_pages_free(registers, bytes);
}

// ---- Shared memory
// -------------------------------------------------------------------------------------------------

static void drop_shared(struct pksim_storage *storage)
{
    while (storage->shared_count)
        pksim_shared_release(&storage->shared[--storage->shared_count]);
}

static bool take_shared(struct pksim_storage *storage, struct pksim_shared *shared, uint32_t size)
{
    if (!storage->shared_count || storage->shared[0].size != size)
        return pksim_shared_init(shared, size);
    *shared = storage->shared[--storage->shared_count];
    pksim_shared_reset(shared);
    return true;
}

static void give_shared(struct pksim_storage *storage, struct pksim_shared *shared)
{
    if (!shared->bytes)
        return;
    if (storage->shared_count && storage->shared[0].size != shared->size)
        drop_shared(storage);
    if (storage->shared_count < PKSIM_SPARE_CTAS)
        storage->shared[storage->shared_count++] = *shared;
    else
        pksim_shared_release(shared);
    *shared = (struct pksim_shared){0};
}

// ---- CTAs
// ----------------------------------------------------------------------------------------------------------

static bool begin_cta(struct pksim_storage *storage, struct pksim_cta *cta)
{
    const struct pksim_run *run = cta->run;
    if (!cta->shared.bytes && !take_shared(storage, &cta->shared, PKSIM_SHARED_BASE + run->shared_bytes))
        return false;
    if (!cta->registers)
        cta->registers = take_registers(storage, register_bytes(run));
    for (uint32_t i = 0; cta->registers && i < cta->warp_count; i++) {
        struct pksim_warp *w = &cta->warps[i];
        w->regs = cta->registers + i * register_stride(run);
        w->bank[0] = w->regs;
    }
    return cta->registers != NULL;
}

// A CTA may reach into the shared memory of the others of its cluster, so they get theirs together.
bool pksim_cluster_begin(struct pksim_exec *exec, struct pksim_cluster *cluster)
{
    for (uint32_t c = 0; c < cluster->count; c++) {
        if (!begin_cta(&exec->storage, &cluster->ctas[c]))
            return false;
    }
    return true;
}

void pksim_cta_give_storage(struct pksim_exec *exec, struct pksim_cta *cta)
{
    give_shared(&exec->storage, &cta->shared);
    give_registers(&exec->storage, cta->registers, register_bytes(cta->run));
    cta->registers = NULL;
}

void pksim_storage_free(struct pksim_storage *storage)
{
    drop_registers(storage);
    drop_shared(storage);
}
