// SPDX-License-Identifier: Apache-2.0
// What can be checked without types. Afterwards every use of a name points at its symbol (pkc_name.sym),
// calls know their function or builtin, and blocks, ifs and loops know which outer variables they assign.
#ifndef PKC_SEMA_SEMA_H
#define PKC_SEMA_SEMA_H

#include "source/session.h"
#include "syntax/ast.h"

/// Resolves and checks all modules of the program. False: mistakes are in the session.
bool pkc_sema(pkc_session *session, pkc_program *program);

/// Whether a block has a role, its own or one of a function that it calls. Only after pkc_sema.
bool pkc_sema_has_roles(const pkc_block *block);

#endif
