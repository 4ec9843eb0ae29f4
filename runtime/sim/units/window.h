// SPDX-License-Identifier: Apache-2.0
// Inside of the units: global memory as a copy sees it, and errors.
#ifndef PKSIM_UNITS_WINDOW_H
#define PKSIM_UNITS_WINDOW_H

#include "sim/units/units.h"

// Fills *error; false, so that a check can return it.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool pksim_unit_fail(struct pksim_unit_error *error, enum pksim_unit_fault kind, const char *format, ...);

// The spans that the last access used: one, or one for each device behind a multicast address. Start from
// count 0.
struct window {
    uint32_t count;
    struct pksim_span spans[PKSIM_MAX_DEVICES];
};

// These go piece by piece, so an access may run over from one mapping into the next.
bool pksim_window_read(const struct pksim_copy_site *site, struct window *window, uint64_t addr,
                       uint32_t bytes, void *to, struct pksim_unit_error *error);
bool pksim_window_write(const struct pksim_copy_site *site, struct window *window, uint64_t addr,
                        uint32_t bytes, const void *from, struct pksim_unit_error *error);
bool pksim_window_reduce(const struct pksim_copy_site *site, struct window *window, uint64_t addr,
                         uint32_t bytes, const void *from, enum pksim_reduce op, enum pksim_number type,
                         struct pksim_unit_error *error);

// [offset, offset + bytes) lies in shared memory, at a multiple of align.
bool pksim_unit_shared(const struct pksim_shared *shared, uint32_t offset, uint32_t bytes, uint32_t align,
                       const char *what, struct pksim_unit_error *error);
// It was written.
bool pksim_unit_written(const struct pksim_shared *shared, uint32_t offset, uint32_t bytes, const char *what,
                        struct pksim_unit_error *error);

#endif
