// SPDX-License-Identifier: Apache-2.0
// What the files of the name resolution share.
#ifndef PKC_SEMA_RESOLVE_H
#define PKC_SEMA_RESOLVE_H

#include "sema/scope.h"
#include "sema/sema.h"

typedef PKC_VEC(pkc_varset *) pkc_varsets;

/// A put or get around whose pipe only the call knows.
typedef struct pkc_unknown_slot {
    pkc_varset *fields; // the names that may be its tiles
    uint16_t level;     // of the scope that it opens
} pkc_unknown_slot;

typedef struct resolver {
    pkc_session *session;
    pkc_scopes scopes;
    pkc_module *module;
    const pkc_item *item; // the kernel or function being walked
    const pkc_stmt *role; // the role block being walked
    pkc_varsets frames;   // by level: the set of what is assigned there
    PKC_VEC(pkc_unknown_slot) unknown;
    uint32_t symbols; // made so far
    bool in_dims;     // in the dimensions of a kernel's parameters
} resolver;

// ---- names (resolve.c)
/// Makes the symbol of a declaration and puts it into the innermost scope. Reports a second one of the same
/// name.
pkc_symbol *pkc_declare(resolver *r, pkc_symbol_kind kind, pkc_name *name);
/// Its two halves: the reports, and the symbol.
void pkc_check_fresh(resolver *r, pkc_symbol_kind kind, const pkc_name *name);
pkc_symbol *pkc_add_symbol(resolver *r, pkc_symbol_kind kind, pkc_name *name);
/// Finds what a name means; NULL after a report. Counts as a use.
pkc_symbol *pkc_use(resolver *r, pkc_name *name);
/// A use where a value, tile, tensor or pipe is expected.
void pkc_use_value(resolver *r, pkc_name *name);
/// The name of a variable that is assigned here.
void pkc_assign_name(resolver *r, pkc_name *name);
/// Opens a scope whose assignments are collected in `assigned` (NULL: nobody asks).
void pkc_enter(resolver *r, pkc_varset *assigned);
/// Closes it with warnings for what was never used.
void pkc_leave(resolver *r);
pkc_varset *pkc_new_set(resolver *r);
/// "did you mean" as a fix of the diagnostic: names in scope and builtins, or element types.
void pkc_suggest_name(resolver *r, pkc_diag *d, const pkc_name *name);
void pkc_suggest_type(pkc_diag *d, const pkc_name *name);

// ---- expressions and types (resolve_expr.c)
void pkc_resolve_expr(resolver *r, pkc_expr *e);

typedef enum pkc_type_place {
    PKC_TYPE_KERNEL, // of a kernel's parameter: signal is an element type
    PKC_TYPE_FN,     // of a function's parameter: an unknown name in a dimension is declared
    PKC_TYPE_VALUE   // of a value, tile or result
} pkc_type_place;

void pkc_resolve_type(resolver *r, pkc_tyexpr *type, pkc_type_place place);

// ---- statements (resolve_stmt.c)
void pkc_resolve_block(resolver *r, pkc_block *block);

// ---- structure (structure.c)
/// Checks where statements and calls stand, callees first.
void pkc_check_structure(pkc_session *session, pkc_program *program);

#endif
