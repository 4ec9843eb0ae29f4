// SPDX-License-Identifier: Apache-2.0
// The operations of atom, red and cp.reduce on one element.
#ifndef PKSIM_EXEC_RMW_H
#define PKSIM_EXEC_RMW_H

#include <stdbool.h>

#include "sim/exec/decode.h"

enum pksim_rmw_op {
#define RMW(id, name) PKSIM_RMW_##id,
#include "sim/exec/rmw.def"
};

// Takes the operation's modifier; false with an error when there is none.
bool pksim_mod_rmw(struct pksim_decoder *d, enum pksim_rmw_op *op);
// True when the operation exists for the type.
bool pksim_rmw_allowed(enum pksim_rmw_op op, enum pksim_ptx_type type);
// The new value: old and b (for CAS: compares old with b, then c) hold an element in their low bytes.
uint64_t pksim_rmw(enum pksim_rmw_op op, enum pksim_ptx_type type, uint64_t old, uint64_t b, uint64_t c);

#endif
