// SPDX-License-Identifier: Apache-2.0
// The parts of the pass `agree`.
#ifndef PKC_IR_AGREE_H
#define PKC_IR_AGREE_H

#include "ir/ir.h"
#include "ir/trace.h"

/// What one role does to pipes.
typedef struct ir_agent {
    ir_role *role;
    ir_trace *trace; // NULL: nothing
} ir_agent;

/// Compares the puts of one role with the gets of another (compare.c): nothing where they are the same, a
/// requirement for the host where their counts are made of parameters, an error where they differ, a warning
/// where nothing can be said.
void ir_agree_pair(ir_norms *t, const ir_pipe *p, const ir_agent *putter, const ir_agent *getter);

/// Reports tiles that a put loads twice or reads before they have arrived, and tiles that are got and never
/// filled (fill.c). Pipes that have no putter are left out.
void ir_check_fills(ir_kernel *k);

/// Reports waits that nothing ends, signals that nobody waits for, and indices of signals and ranks that lie
/// outside; where that depends on the sizes of a launch, the host checks it (check_signals.c).
void ir_check_signals(ir_norms *t);

/// Plays the agents of one group against each other with the slots that the pipes have (game.c). False: they
/// stop, and the error says where.
bool ir_game(ir_norms *t, const ir_agent *agents, int n);

#endif
