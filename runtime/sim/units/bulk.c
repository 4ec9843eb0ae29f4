// SPDX-License-Identifier: Apache-2.0
// Flat bulk copies (PTX ISA 9.7.9.25.4, cp.async.bulk and cp.reduce.async.bulk).
#include <string.h>

#include "sim/units/window.h"

static bool check_bulk(uint64_t address, uint32_t bytes, struct pksim_unit_error *error)
{
    if (bytes % 16 != 0)
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "bulk copy of %u bytes: no multiple of 16", bytes);
    if (address % 16 != 0)
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND,
                               "bulk copy at global address 0x%llx: no multiple of 16",
                               (unsigned long long)address);
    return true;
}

bool pksim_bulk_load(const struct pksim_copy_site *site, uint64_t address, uint32_t bytes,
                     struct pksim_shared *const *shared, uint32_t shared_count, uint32_t offset,
                     struct pksim_unit_error *error)
{
    if (!check_bulk(address, bytes, error))
        return false;
    for (uint32_t i = 0; i < shared_count; i++)
        if (!pksim_unit_shared(shared[i], offset, bytes, 16, "bulk copy", error))
            return false;
    struct window window = {.count = 0};
    if (bytes == 0 || shared_count == 0)
        return true;
    unsigned char *first = shared[0]->bytes + offset;
    if (!pksim_window_read(site, &window, address, bytes, first, error))
        return false;
    pksim_shared_mark(shared[0], offset, bytes);
    for (uint32_t i = 1; i < shared_count; i++) {
        memcpy(shared[i]->bytes + offset, first, bytes);
        pksim_shared_mark(shared[i], offset, bytes);
    }
    return true;
}

static bool check_source(const struct pksim_copy_site *site, const struct pksim_shared *shared,
                         uint32_t offset, uint32_t bytes, struct pksim_unit_error *error)
{
    if (!pksim_unit_shared(shared, offset, bytes, 16, "bulk copy", error))
        return false;
    return bytes == 0 || !site->check_written ||
           pksim_unit_written(shared, offset, bytes, "bulk copy", error);
}

bool pksim_bulk_store(const struct pksim_copy_site *site, uint64_t address, uint32_t bytes,
                      const struct pksim_shared *shared, uint32_t offset, struct pksim_unit_error *error)
{
    if (!check_bulk(address, bytes, error) || !check_source(site, shared, offset, bytes, error))
        return false;
    struct window window = {.count = 0};
    return pksim_window_write(site, &window, address, bytes, shared->bytes + offset, error);
}

bool pksim_bulk_reduce(const struct pksim_copy_site *site, uint64_t address, uint32_t bytes,
                       const struct pksim_shared *shared, uint32_t offset, enum pksim_reduce op,
                       enum pksim_number type, struct pksim_unit_error *error)
{
    if (!pksim_reduce_known(op, type))
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "bulk reduction that PTX does not have");
    if (!check_bulk(address, bytes, error) || !check_source(site, shared, offset, bytes, error))
        return false;
    struct window window = {.count = 0};
    return pksim_window_reduce(site, &window, address, bytes, shared->bytes + offset, op, type, error);
}

static bool check_shared_pair(const struct pksim_copy_site *site, const struct pksim_shared *to,
                              uint32_t to_offset, const struct pksim_shared *from, uint32_t from_offset,
                              uint32_t bytes, struct pksim_unit_error *error)
{
    return check_bulk(0, bytes, error) && check_source(site, from, from_offset, bytes, error) &&
           pksim_unit_shared(to, to_offset, bytes, 16, "bulk copy", error);
}

bool pksim_bulk_shared(const struct pksim_copy_site *site, struct pksim_shared *to, uint32_t to_offset,
                       const struct pksim_shared *from, uint32_t from_offset, uint32_t bytes,
                       struct pksim_unit_error *error)
{
    if (!check_shared_pair(site, to, to_offset, from, from_offset, bytes, error))
        return false;
    if (bytes == 0)
        return true;
    memmove(to->bytes + to_offset, from->bytes + from_offset, bytes);
    pksim_shared_mark(to, to_offset, bytes);
    return true;
}

bool pksim_bulk_shared_reduce(const struct pksim_copy_site *site, struct pksim_shared *to, uint32_t to_offset,
                              const struct pksim_shared *from, uint32_t from_offset, uint32_t bytes,
                              enum pksim_reduce op, enum pksim_number type, struct pksim_unit_error *error)
{
    if (!pksim_reduce_known(op, type))
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "bulk reduction that PTX does not have");
    if (!check_shared_pair(site, to, to_offset, from, from_offset, bytes, error))
        return false;
    if (bytes == 0)
        return true;
    if (site->check_written && !pksim_unit_written(to, to_offset, bytes, "bulk reduction", error))
        return false;
    pksim_reduce_apply(op, type, to->bytes + to_offset, from->bytes + from_offset,
                       bytes / pksim_number_bytes(type));
    pksim_shared_mark(to, to_offset, bytes);
    return true;
}
