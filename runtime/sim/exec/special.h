// SPDX-License-Identifier: Apache-2.0
// Values that come from where and when a warp runs: special registers, addresses of module variables.
#ifndef PKSIM_EXEC_SPECIAL_H
#define PKSIM_EXEC_SPECIAL_H

#include "sim/exec/decode.h"

// Make *insn, whose dst is set, fetch the value.
void pksim_special_register(struct pksim_decoder *d, struct pksim_insn *insn, enum pksim_sreg id,
                            uint32_t bytes);
void pksim_special_variable(struct pksim_decoder *d, struct pksim_insn *insn, uint32_t variable,
                            int64_t addend);
// A shared address of this CTA: it carries the CTA's rank in its cluster, so that it is a shared::cluster
// address too.
void pksim_special_shared(struct pksim_decoder *d, struct pksim_insn *insn, uint32_t offset, uint32_t bytes);

#endif
