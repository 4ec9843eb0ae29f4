// SPDX-License-Identifier: Apache-2.0
// Places for the registers of a function.
#ifndef PKSIM_EXEC_ALLOCATE_H
#define PKSIM_EXEC_ALLOCATE_H

#include "sim/exec/decode.h"

// Gives a place to every register, but predicates, that the function at hand mentions. LLVM's PTX names each
// value once, so registers whose values are never needed at the same time share a place: a warp's registers
// then take a few pages.
void pksim_allocate_registers(struct pksim_decoder *d);

#endif
