// SPDX-License-Identifier: Apache-2.0
// The parts of the pass `defer`.
#ifndef PKC_IR_DEFER_H
#define PKC_IR_DEFER_H

#include "ir/deps.h"
#include "ir/dist.h"
#include "ir/ir.h"

/// In one loop of the role: the product that ends an iteration runs behind the one that begins the next,
/// where that is legal and the registers suffice.
void ir_defer_product(ir_kernel *k, ir_role *role, const ir_options *options);

#endif
