// SPDX-License-Identifier: Apache-2.0
// How far an index reaches: its smallest and largest value over the loops around it, over the ranks and over
// the workers that share a loop.
#ifndef PKC_IR_EXTENT_H
#define PKC_IR_EXTENT_H

#include "ir/norm.h"

enum { IR_EXTENT_LOOPS = 16 };

/// Where an op stands: the loops around it, and whether it is reached in every iteration of all of them.
typedef struct ir_stand {
    const ir_op *loops[IR_EXTENT_LOOPS]; // by depth, the outermost first
    int n;
    bool always;   // no condition around it, and no loop that is empty for some rank or iteration
    bool too_deep; // more loops than fit: nothing is known
} ir_stand;

ir_stand ir_stand_of(ir_norms *t, const ir_op *op);

/// The largest (smallest) value of `a` at that place, as a sum of what is the same in all iterations, on all
/// ranks and in all workers. It is reached where the op stands `always`; elsewhere it is a bound. False where
/// it is not known: `a` does not rise or fall evenly in one of the loop variables, or a loop's end is not
/// known.
bool ir_extent(ir_norms *t, const ir_stand *s, ir_norm a, bool largest, ir_norm *out);

/// When the op is not reached at all because a loop around it is empty: NULL: never. `*known` is false where
/// the host cannot tell.
const ir_hx *ir_stand_empty(ir_norms *t, const ir_stand *s, bool *known);

/// The host expression of a sum; NULL where it is made of more than the host knows.
const ir_hx *ir_host_of_norm(ir_norms *t, ir_norm a);
/// The sum that a host expression is. False where it has parts that bodies cannot read.
bool ir_norm_of_host(ir_norms *t, const ir_hx *hx, ir_norm *out);

#endif
