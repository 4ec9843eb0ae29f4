// SPDX-License-Identifier: Apache-2.0
// PTX types as the units' element types.
#ifndef PKSIM_EXEC_NUMBERS_H
#define PKSIM_EXEC_NUMBERS_H

#include "sim/exec/decode.h"
#include "sim/units/units.h"

// The element type; packs have that of their elements, b32 and b64 are unsigned. An error where there is
// none.
enum pksim_number pksim_mod_number(struct pksim_decoder *d, enum pksim_ptx_type type);
bool pksim_mod_reduce(struct pksim_decoder *d, enum pksim_reduce *op);

#endif
