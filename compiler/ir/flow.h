// SPDX-License-Identifier: Apache-2.0
// What follows from given values: everything computed from them, and everything that a condition or the
// bounds of a loop made of them decides.
#ifndef PKC_IR_FLOW_H
#define PKC_IR_FLOW_H

#include "ir/ir.h"
#include "ir/ptrmap.h"
#include "support/vec.h"

typedef struct ir_flow {
    pkc_arena *arena;
    ir_ptrmap cause; // value -> the op where it began
    PKC_VEC(ir_value *) work;
} ir_flow;

void ir_flow_init(ir_flow *f, pkc_arena *arena);
/// The value, and with it all that follows, comes from `cause`. The first cause of a value stays.
void ir_flow_from(ir_flow *f, ir_value *v, ir_op *cause);
/// The op where what the value depends on began; NULL: it depends on none of them.
ir_op *ir_flow_cause(const ir_flow *f, const ir_value *v);
/// The cause of an if's condition or a loop's bounds; NULL for other ops.
ir_op *ir_flow_control(const ir_flow *f, const ir_op *op);

#endif
