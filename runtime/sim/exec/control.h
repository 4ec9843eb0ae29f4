// SPDX-License-Identifier: Apache-2.0
// Branches, calls and exits.
#ifndef PKSIM_EXEC_CONTROL_H
#define PKSIM_EXEC_CONTROL_H

#include "sim/exec/program.h"

// After all functions are decoded: the target of a call is where its function begins.
void pksim_call_resolve(struct pksim_insn *insn);

#endif
