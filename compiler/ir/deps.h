// SPDX-License-Identifier: Apache-2.0
// Who may wait for whom: bodies are the nodes, an edge from X to Y says that Y may wait for X. Through a pipe
// the getter waits for the putter (filled) and the putter for the getter (free), through signals the waiter
// for the signaller (on any rank), at barriers all for all.
#ifndef PKC_IR_DEPS_H
#define PKC_IR_DEPS_H

#include "ir/ir.h"

typedef struct ir_deps ir_deps;

/// Reads the bodies (form L, P or U). The result holds for as long as no body gains or loses a pipe or
/// signal.
ir_deps *ir_deps_new(ir_kernel *k);
/// Whether a chain of waits leads from `from` to `to` that does not pass through `except` (from == to
/// counts).
bool ir_deps_path(const ir_deps *deps, const ir_role *from, const ir_role *to, const ir_role *except);

/// Whether `role` may block at `op` (a wait of any kind) while it holds back a slot of `pipe`, which it gets:
/// true where none of those that could end the wait depends on the putter's having that slot.
bool ir_deps_may_hold(const ir_deps *deps, const ir_role *role, const ir_op *op, const ir_pipe *pipe);

#endif
