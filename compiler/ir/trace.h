// SPDX-License-Identifier: Apache-2.0
// Traces: what a body does to pipes, without the rest. The passes compare them (agree.c) and play them
// (game.c).
#ifndef PKC_IR_TRACE_H
#define PKC_IR_TRACE_H

#include "ir/norm.h"

typedef enum ir_trace_kind { IR_TRACE_USE, IR_TRACE_LOOP, IR_TRACE_IF } ir_trace_kind;

typedef struct ir_trace ir_trace;
/// A put or get with what stands in it; a loop with its body; an if with both arms. Siblings hang on `next`.
struct ir_trace {
    ir_trace_kind kind;
    const ir_op *op;
    pkc_str key;             // LOOP: lo, hi and step as text; IF: the condition
    ir_norm trips;           // LOOP
    ir_trace *inner, *other; // other: the else arm
    ir_trace *next;
};

/// The trace of a region: of one pipe, or of all with NULL. NULL: nothing touches them.
ir_trace *ir_trace_of(ir_kernel *k, const ir_region *region, const ir_pipe *pipe);

#endif
