// SPDX-License-Identifier: Apache-2.0
// Constant folding of scalar arithmetic, used by the builder.
#ifndef PKC_IR_FOLD_H
#define PKC_IR_FOLD_H

#include "ir/ir.h"

/// An integer brought into the range of its type: i32 and u32 wrap to 32 bits and so on.
int64_t ir_wrap(pkc_elem elem, int64_t value);
/// The value that the operation folds to: a constant, or an operand (x + 0, x * 1). NULL where it does not.
/// Floating-point identities are left alone: x + 0.0 and x * 0.0 depend on signs and NaN.
ir_value *ir_fold_bin(ir_builder *b, unsigned sub, ir_value *x, ir_value *y);
ir_value *ir_fold_un(ir_builder *b, unsigned sub, ir_value *x);
ir_value *ir_fold_cmp(ir_builder *b, unsigned sub, ir_value *x, ir_value *y);
ir_value *ir_fold_cast(ir_builder *b, ir_value *x, pkc_elem elem);

#endif
