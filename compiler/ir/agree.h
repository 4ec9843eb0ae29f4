// SPDX-License-Identifier: Apache-2.0
// The parts of the pass `agree`.
#ifndef PKC_IR_AGREE_H
#define PKC_IR_AGREE_H

#include "ir/ir.h"
#include "ir/ptrmap.h"

/// Values of a body that differ from worker to worker.
typedef struct ir_dependence {
    ir_kernel *k;
    ir_ptrmap values;
    bool changed;
} ir_dependence;

void ir_dependence_init(ir_dependence *d, ir_region *body);
bool ir_depends_on_worker(const ir_dependence *d, const ir_value *v);

/// Compares the puts of one role with the gets of another (trace.c): nothing where they are the same, a
/// requirement for the host where their counts are made of parameters, an error where they differ, a warning
/// where nothing can be said.
void ir_agree_pair(ir_kernel *k, const ir_pipe *p, const ir_role *putter, const ir_role *getter);

/// Reports tiles of a pipe that a put loads twice or reads before they have arrived, and tiles that are got
/// and never filled (fill.c).
void ir_check_fills(ir_kernel *k, const ir_pipe *pipe);

/// Plays the bodies against each other with the slots that the pipes have (game.c). False: they stop, and the
/// error says where.
bool ir_game(ir_kernel *k);

#endif
