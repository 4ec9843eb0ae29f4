// SPDX-License-Identifier: Apache-2.0
// How deeply nodes are nested, from what their children say of themselves.
#ifndef PKC_SYNTAX_DEPTH_H
#define PKC_SYNTAX_DEPTH_H

#include "syntax/ast.h"

/// One more than the deepest child; 1 for a leaf. May exceed PKC_MAX_NESTING by the one level just added.
unsigned pkc_expr_depth(const pkc_expr *expr);
unsigned pkc_stmt_depth(const pkc_stmt *stmt);
/// Of the deepest statement; a block adds no level of its own.
unsigned pkc_stmts_depth(const pkc_stmts *stmts);

#endif
