// SPDX-License-Identifier: Apache-2.0
// Register pressure of a role: register tiles that are alive together.
#ifndef PKC_IR_REGS_H
#define PKC_IR_REGS_H

#include "ir/ir.h"

enum { IR_REGS_TOP = 3 };

typedef struct ir_pressure {
    int64_t regs;                     // of register tiles, at the fullest point
    const ir_value *top[IR_REGS_TOP]; // the largest of them, largest first; NULL where there are fewer
} ir_pressure;

/// Linear scan over the region tree: a value lives from its definition to its last use, and through a whole
/// loop that uses it from outside. Distributions must be known.
ir_pressure ir_role_pressure(ir_kernel *k, const ir_role *role);

#endif
