// SPDX-License-Identifier: Apache-2.0
// Matrix instructions.
#ifndef PKSIM_EXEC_MMA_H
#define PKSIM_EXEC_MMA_H

#include "sim/exec/decode.h"

// When the instruction at hand is a wgmma: gives its accumulators neighbouring places, so that the matrix
// unit can work on them where they are.
void pksim_wgmma_place_accumulators(struct pksim_decoder *d);

#endif
