// SPDX-License-Identifier: Apache-2.0
// From source text to syntax trees.
#ifndef PKC_SYNTAX_SYNTAX_H
#define PKC_SYNTAX_SYNTAX_H

#include "source/session.h"
#include "support/buf.h"
#include "syntax/ast.h"

/// Parses one file. Mistakes are reported in the session; the module holds the items that could be read (NULL
/// only where nothing could). Imports are not followed.
pkc_module *pkc_parse(pkc_session *session, const pkc_file *file);

/// Parses the file and everything that it imports: beside the importing file, then in -I folders, then in the
/// stdlib. Missing modules and cycles are reported. NULL where any error was.
pkc_program *pkc_load(pkc_session *session, const pkc_file *root);

/// Visits a tree, children in source order. A NULL callback visits nothing of its own and goes on to the
/// children; a callback that returns false leaves the children out.
typedef struct pkc_visitor {
    bool (*item)(struct pkc_visitor *v, pkc_item *item);
    bool (*stmt)(struct pkc_visitor *v, pkc_stmt *stmt);
    bool (*expr)(struct pkc_visitor *v, pkc_expr *expr);
    bool (*type)(struct pkc_visitor *v, pkc_tyexpr *type);
    bool (*param)(struct pkc_visitor *v, pkc_param *param);
    void (*name)(struct pkc_visitor *v, pkc_name *name);
    void *context;
} pkc_visitor;
void pkc_walk_module(pkc_visitor *v, pkc_module *module);
void pkc_walk_item(pkc_visitor *v, pkc_item *item);
void pkc_walk_block(pkc_visitor *v, pkc_block *block);
void pkc_walk_stmt(pkc_visitor *v, pkc_stmt *stmt);
void pkc_walk_expr(pkc_visitor *v, pkc_expr *expr);

/// The tree as .pk source in one fixed form; parsing it again gives the same tree (`--emit=ast`).
void pkc_print_module(const pkc_module *module, pkc_buf *out);
/// One expression or type as source, for messages.
void pkc_print_expr(const pkc_expr *expr, pkc_buf *out);
void pkc_print_type(const pkc_tyexpr *type, pkc_buf *out);

/// Checks what every tree of the parser must satisfy (required children, spans inside their parents', kinds
/// in range). Returns NULL, or what is wrong in words for a developer, in the session's arena.
const char *pkc_ast_verify(pkc_session *session, const pkc_module *module);

#endif
