// SPDX-License-Identifier: Apache-2.0
// Variables of a pass in SSA form: what a pass would like to assign and read along a body (the state of a
// pipe, a slot held back) becomes results and carries of the regions in which it changes, as `var` does in
// `lower`.
#ifndef PKC_IR_VARS_H
#define PKC_IR_VARS_H

#include "ir/ir.h"

typedef struct ir_vars ir_vars;
struct ir_vars {
    ir_kernel *k;
    int n;
    const ir_type **types;
    ir_value **cur; // the value of each variable at the point of the walk; the caller sets the first ones
    void *user;
    /// Whether `op` itself (not what its regions hold) assigns the variable. Ops that `visit` inserts do not
    /// count.
    bool (*sets)(const ir_op *op, int var, void *user);
    /// Called at each op without regions, in program order; may read and change `cur` and insert or erase
    /// ops, also `op` itself.
    void (*visit)(ir_vars *vars, ir_op *op);
};

/// Walks the body. A `for` in which a variable changes carries it (so the variable's value before the first
/// iteration is the one before the loop), an `if` gives it as a result.
void ir_vars_walk(ir_vars *vars, ir_region *body);

#endif
