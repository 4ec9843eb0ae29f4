// SPDX-License-Identifier: Apache-2.0
// What the files of the verifier share.
#ifndef PKC_IR_VERIFY_IMPL_H
#define PKC_IR_VERIFY_IMPL_H

#include "ir/ir.h"
#include "ir/ptrmap.h"
#include "support/vec.h"

typedef struct ir_verifier {
    const ir_kernel *k;
    const ir_role *role;
    pkc_buf *why;
    pkc_arena arena;
    ir_ptrmap seen;                   // value in scope -> how often it has been met as an operand, from 1
    PKC_VEC(const ir_value *) values; // all of them
    bool ok;
} ir_verifier;

/// Says what is wrong with an op; only the first is kept.
void ir_verify_fail(ir_verifier *v, const ir_op *op, const char *what);
/// Types, attributes and numbers of operands of an op whose operands are all there (verify_types.c).
void ir_verify_types(ir_verifier *v, const ir_op *op);

#endif
