// SPDX-License-Identifier: Apache-2.0
// The syntax tree. ast.def lists the node kinds and their fields; this file gives the fields' C types.
// A node is used through its kind: `if (e->kind == PKC_EXPR_CALL) use(e->as.call.args)`.
// Everything lives in the session's arena. After a parse without errors no required pointer is NULL.
#ifndef PKC_SYNTAX_AST_H
#define PKC_SYNTAX_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "source/source.h"
#include "support/vec.h"

// What sema hangs into the tree; the syntax layer knows only that it exists.
struct pkc_symbol;
struct pkc_varset;
struct pkc_builtin;
struct pkc_type;
struct pkc_module;

typedef struct pkc_expr pkc_expr;
typedef struct pkc_stmt pkc_stmt;
typedef struct pkc_item pkc_item;
typedef struct pkc_tyexpr pkc_tyexpr;

/// Deepest nesting of expressions, statements and types that the parser accepts; whoever recurses over the
/// tree may rely on it.
#define PKC_MAX_NESTING 200

/// A name where it is declared or used; `sym` is set by sema.
typedef struct pkc_name {
    pkc_str text;
    pkc_span span;
    struct pkc_symbol *sym;
} pkc_name;

/// A string literal, escapes resolved, quotes not included.
typedef struct pkc_string {
    pkc_str text;
    pkc_span span;
} pkc_string;

typedef PKC_VEC(pkc_name) pkc_names;
typedef PKC_VEC(pkc_expr *) pkc_exprs;
typedef PKC_VEC(pkc_stmt *) pkc_stmts;
typedef PKC_VEC(pkc_item *) pkc_items;
typedef PKC_VEC(pkc_tyexpr *) pkc_tyexprs;

/// `{ ... }`; `else_if` marks the block that stands for the `if` after an `else`.
typedef struct pkc_block {
    pkc_span span;
    pkc_stmts stmts;
    bool else_if;
    uint16_t depth;
    struct pkc_varset *assigned; // set by sema: variables from outside that the block assigns
} pkc_block;

/// `name: type = init`: a kernel or function parameter, a const parameter (no type, with init), a pipe's
/// field or a shared tile (no init).
typedef struct pkc_param {
    pkc_span span;
    pkc_name name;
    pkc_tyexpr *type; // NULL: left out
    pkc_expr *init;   // NULL: none
} pkc_param;
typedef PKC_VEC(pkc_param *) pkc_params;

/// `name: type = value` or `(a, b) = value`.
typedef struct pkc_binding {
    pkc_span span;
    bool tuple; // in parentheses: the value is a tuple of names.len parts
    pkc_names names;
    pkc_tyexpr *type; // NULL: left out
    pkc_expr *value;
} pkc_binding;
typedef PKC_VEC(pkc_binding *) pkc_bindings;

typedef enum pkc_index_kind {
#define PKC_AST_INDEX(id, printed) PKC_INDEX_##id,
#include "syntax/ast.def"
    PKC_INDEX_COUNT
} pkc_index_kind;

/// One index of a view; which of the three are set follows from the kind.
typedef struct pkc_index {
    pkc_index_kind kind;
    pkc_span span;
    pkc_expr *at;   // PLAIN, SIZED: the index; FROM, RANGE: the first element; ALL: NULL
    pkc_expr *end;  // RANGE: the element after the last
    pkc_expr *size; // SIZED, FROM, RANGE
} pkc_index;
typedef PKC_VEC(pkc_index *) pkc_indices;

typedef enum pkc_unary_op {
#define PKC_AST_UNARY(id, text) PKC_UNARY_##id,
#include "syntax/ast.def"
    PKC_UNARY_COUNT
} pkc_unary_op;

typedef enum pkc_binary_op {
#define PKC_AST_BINARY(id, text) PKC_BINARY_##id,
#include "syntax/ast.def"
    PKC_BINARY_COUNT
} pkc_binary_op;

typedef enum pkc_assign_op {
#define PKC_AST_ASSIGN(id, text) PKC_ASSIGN_##id,
#include "syntax/ast.def"
    PKC_ASSIGN_COUNT
} pkc_assign_op;

typedef enum pkc_role_kind {
#define PKC_AST_ROLE(id, text) PKC_ROLE_##id,
#include "syntax/ast.def"
    PKC_ROLE_COUNT
} pkc_role_kind;

typedef enum pkc_role_unit {
#define PKC_AST_UNIT(id, text) PKC_UNIT_##id,
#include "syntax/ast.def"
    PKC_UNIT_COUNT
} pkc_role_unit;

typedef enum pkc_item_kind {
#define PKC_AST_ITEM(id, member, printed, fields) PKC_ITEM_##id,
#include "syntax/ast.def"
    PKC_ITEM_COUNT
} pkc_item_kind;

typedef enum pkc_stmt_kind {
#define PKC_AST_STMT(id, member, printed, fields) PKC_STMT_##id,
#include "syntax/ast.def"
    PKC_STMT_COUNT
} pkc_stmt_kind;

typedef enum pkc_expr_kind {
#define PKC_AST_EXPR(id, member, printed, fields) PKC_EXPR_##id,
#include "syntax/ast.def"
    PKC_EXPR_COUNT
} pkc_expr_kind;

typedef enum pkc_tyexpr_kind {
#define PKC_AST_TYPE(id, member, printed, fields) PKC_TYEXPR_##id,
#include "syntax/ast.def"
    PKC_TYEXPR_COUNT
} pkc_tyexpr_kind;

// The C type of each field kind of ast.def. OPT_ may be NULL, the others may not.
typedef pkc_name PKC_AST_C_NAME;
typedef pkc_names PKC_AST_C_NAMES;
typedef pkc_string PKC_AST_C_STRING;
typedef pkc_expr *PKC_AST_C_EXPR;
typedef pkc_expr *PKC_AST_C_OPT_EXPR;
typedef pkc_exprs PKC_AST_C_EXPRS;
typedef pkc_indices PKC_AST_C_INDICES;
typedef pkc_tyexpr *PKC_AST_C_OPT_TYPE;
typedef pkc_tyexprs PKC_AST_C_TYPES;
typedef pkc_param *PKC_AST_C_PARAM;
typedef pkc_params PKC_AST_C_PARAMS;
typedef pkc_bindings PKC_AST_C_BINDINGS;
typedef pkc_block *PKC_AST_C_BLOCK;
typedef pkc_block *PKC_AST_C_OPT_BLOCK;
typedef bool PKC_AST_C_FLAG;
typedef uint64_t PKC_AST_C_INTEGER;
typedef double PKC_AST_C_NUMBER;
typedef pkc_unary_op PKC_AST_C_UNARY_OP;
typedef pkc_binary_op PKC_AST_C_BINARY_OP;
typedef pkc_assign_op PKC_AST_C_ASSIGN_OP;
typedef pkc_role_kind PKC_AST_C_ROLE_KIND;
typedef pkc_role_unit PKC_AST_C_ROLE_UNIT;

#define F(kind, name) PKC_AST_C_##kind name;
#define S(type, name) type *name;
#define PKC_AST_ITEM(id, member, printed, fields)                                                            \
    struct pkc_item_##member {                                                                               \
        fields                                                                                               \
    };
#define PKC_AST_STMT(id, member, printed, fields)                                                            \
    struct pkc_stmt_##member {                                                                               \
        fields                                                                                               \
    };
#define PKC_AST_EXPR(id, member, printed, fields)                                                            \
    struct pkc_expr_##member {                                                                               \
        fields                                                                                               \
    };
#define PKC_AST_TYPE(id, member, printed, fields)                                                            \
    struct pkc_tyexpr_##member {                                                                             \
        fields                                                                                               \
    };
#include "syntax/ast.def"
#undef F
#undef S

struct pkc_item {
    pkc_item_kind kind;
    pkc_span span;
    pkc_str doc; // the comment lines right above, `//` taken off; NULL: none
    union {
#define PKC_AST_ITEM(id, member, printed, fields) struct pkc_item_##member member;
#include "syntax/ast.def"
    } as;
};

struct pkc_stmt {
    pkc_stmt_kind kind;
    uint16_t depth; // as in pkc_expr, expressions and blocks within counted
    pkc_span span;
    union {
#define PKC_AST_STMT(id, member, printed, fields) struct pkc_stmt_##member member;
#include "syntax/ast.def"
    } as;
};

struct pkc_expr {
    pkc_expr_kind kind;
    uint16_t depth;        // 1 for a leaf; at most PKC_MAX_NESTING
    pkc_span span;         // parentheses around it included
    struct pkc_type *type; // set by sema
    union {
#define PKC_AST_EXPR(id, member, printed, fields) struct pkc_expr_##member member;
#include "syntax/ast.def"
    } as;
};

struct pkc_tyexpr {
    pkc_tyexpr_kind kind;
    pkc_span span;
    union {
#define PKC_AST_TYPE(id, member, printed, fields) struct pkc_tyexpr_##member member;
#include "syntax/ast.def"
    } as;
};

/// One parsed file. `name` is what importers call it; the root's is its file name without folder and ending.
typedef struct pkc_module {
    pkc_str name;
    const pkc_file *file;
    pkc_items items;
} pkc_module;
typedef PKC_VEC(pkc_module *) pkc_modules;

/// A root file with all that it imports, each once.
typedef struct pkc_program {
    pkc_module *root;
    pkc_modules modules; // imported ones before their importers; root is the last
    uint32_t symbols;    // set by sema: every symbol's index is below
} pkc_program;

/// Spelling in the language: "+", "loader".
const char *pkc_unary_text(pkc_unary_op op);
const char *pkc_binary_text(pkc_binary_op op);
const char *pkc_assign_text(pkc_assign_op op);
const char *pkc_role_text(pkc_role_kind role);
const char *pkc_unit_text(pkc_role_unit unit);

#endif
