// SPDX-License-Identifier: Apache-2.0
// The parts of the pass `layout`.
#ifndef PKC_IR_LAYOUT_H
#define PKC_IR_LAYOUT_H

#include "ir/ir.h"

/// Gives every register tile of the role a distribution. False: diagnostics were given.
bool ir_layout_registers(ir_kernel *k, ir_role *role);
/// Gives every field of a pipe and every shared tile a layout, and the values that stand for them their
/// types.
bool ir_layout_tiles(ir_kernel *k);

#endif
