// SPDX-License-Identifier: Apache-2.0
// Dead code: what neither has an effect nor feeds something that has.
#ifndef PKC_IR_DCE_H
#define PKC_IR_DCE_H

#include "ir/ir.h"

/// Deletes dead ops of a body, regions without effect whose results nobody uses, and carries and results that
/// only feed themselves. One mark from the effects backwards and one sweep.
void ir_remove_dead(ir_kernel *k, ir_region *body);

#endif
