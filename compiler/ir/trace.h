// SPDX-License-Identifier: Apache-2.0
// Traces: what a body does to pipes, without the rest. The pass `agree` compares them (compare.c) and plays
// them (game.c).
#ifndef PKC_IR_TRACE_H
#define PKC_IR_TRACE_H

#include "ir/norm.h"

typedef enum ir_trace_kind { IR_TRACE_USE, IR_TRACE_LOOP, IR_TRACE_IF } ir_trace_kind;

typedef struct ir_trace ir_trace;
/// A put or get with what stands in it; a loop with its body; an if with both arms. Siblings hang on `next`.
struct ir_trace {
    ir_trace_kind kind;
    const ir_op *op;
    pkc_str key;             // LOOP: trips, first value and step as text; IF: the condition
    ir_norm norm;            // LOOP: trips; IF: the condition, of which `inner` is the arm where it holds
    ir_trace *inner, *other; // other: the arm where it does not hold
    ir_trace *next;
};

/// The trace of a region: what it does to all pipes. NULL: nothing.
ir_trace *ir_trace_of(ir_norms *t, const ir_region *region);
/// What is left of a trace for one pipe.
ir_trace *ir_trace_for(ir_norms *t, const ir_trace *all, const ir_pipe *pipe);

#endif
