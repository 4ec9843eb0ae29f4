// SPDX-License-Identifier: Apache-2.0
// mbarrier objects: one 64-bit word in shared memory.
#ifndef PKSIM_EXEC_MBARRIER_H
#define PKSIM_EXEC_MBARRIER_H

#include "sim/exec/access.h"

// Ranges of PTX ISA 9.7.13.15.4.
enum { PKSIM_MBARRIER_MAX_COUNT = (1 << 20) - 1, PKSIM_MBARRIER_MAX_TX = (1 << 20) - 1 };

// The word, from bit 0: phase parity (1), expected arrivals (20), pending arrivals (20), bytes still to come
// (21, signed), a mark (2) by which an initialised object is known from stray bytes.
struct pksim_mbarrier {
    uint32_t phase, expected, pending;
    int32_t tx;
};
bool pksim_mbarrier_unpack(uint64_t word, struct pksim_mbarrier *barrier);
uint64_t pksim_mbarrier_pack(const struct pksim_mbarrier *barrier);

// The object at `offset` of a CTA's shared memory; false when there is none.
bool pksim_mbarrier_at(const struct pksim_cta *cta, uint32_t offset, struct pksim_mbarrier *barrier);

#endif
