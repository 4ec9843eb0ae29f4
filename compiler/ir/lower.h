// SPDX-License-Identifier: Apache-2.0
// From the syntax tree to form L, in one walk that types, checks, folds and builds at once: functions are
// inlined by walking their bodies, `for const` by walking its body n times, and of an `if` on a constant only
// the live branch is walked.
#ifndef PKC_IR_LOWER_H
#define PKC_IR_LOWER_H

#include "ir/ir.h"
#include "syntax/ast.h"

/// All kernels of the root module, in source order. NULL where there was an error; it is in the session.
/// Const parameters take their values from the session's -D settings where those name them.
ir_module *ir_lower(pkc_session *session, const pkc_program *program);

#endif
