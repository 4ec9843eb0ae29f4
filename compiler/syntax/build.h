// SPDX-License-Identifier: Apache-2.0
// Makes the nodes that the grammar's actions ask for. NULL parts come from mistakes that were reported, and a
// node nested beyond PKC_MAX_NESTING is reported and replaced by a leaf.
#ifndef PKC_SYNTAX_BUILD_H
#define PKC_SYNTAX_BUILD_H

#include "syntax/parser.h"

/// What stands before a role's block.
typedef struct pkc_role_head {
    pkc_role_kind kind;
    pkc_name name;
    pkc_role_unit unit;
    pkc_expr *count;
} pkc_role_head;

// Lists: the list with one more element; a NULL element is left out.
pkc_names pkc_build_names(pkc_parser *p, pkc_names list, pkc_name name);
pkc_params pkc_build_params(pkc_parser *p, pkc_params list, pkc_param *param);
pkc_tyexprs pkc_build_types(pkc_parser *p, pkc_tyexprs list, pkc_tyexpr *type);
pkc_stmts pkc_build_stmts(pkc_parser *p, pkc_stmts list, pkc_stmt *stmt);
pkc_bindings pkc_build_bindings(pkc_parser *p, pkc_bindings list, pkc_binding *binding);
pkc_exprs pkc_build_exprs(pkc_parser *p, pkc_exprs list, pkc_expr *expr);
pkc_indices pkc_build_indices(pkc_parser *p, pkc_indices list, pkc_index *index);

void pkc_build_add_item(pkc_parser *p, pkc_item *item);
pkc_item *pkc_build_import(pkc_parser *p, pkc_span span, pkc_name name);
pkc_item *pkc_build_kernel(pkc_parser *p, pkc_span span, pkc_names attributes, pkc_name name,
                           pkc_params consts, pkc_params params, pkc_block *body);
pkc_item *pkc_build_fn(pkc_parser *p, pkc_span span, pkc_name name, pkc_params consts, pkc_params params,
                       pkc_tyexpr *result, pkc_block *body);

pkc_param *pkc_build_param(pkc_parser *p, pkc_span span, pkc_name name, pkc_tyexpr *type, pkc_expr *init);
pkc_tyexpr *pkc_build_type(pkc_parser *p, pkc_span span, bool peer, pkc_name elem, pkc_exprs dims);
pkc_tyexpr *pkc_build_tuple_type(pkc_parser *p, pkc_span span, pkc_tyexprs types);

pkc_block *pkc_build_block(pkc_parser *p, pkc_span span, pkc_stmts stmts);
pkc_block *pkc_build_else_if(pkc_parser *p, pkc_span span, pkc_stmt *stmt);
/// The statement with its ';' taken into the span.
pkc_stmt *pkc_build_end(pkc_parser *p, pkc_stmt *stmt, pkc_span semicolon);
pkc_stmt *pkc_build_let(pkc_parser *p, pkc_span span, pkc_bindings bindings);
pkc_stmt *pkc_build_var(pkc_parser *p, pkc_span span, pkc_bindings bindings);
pkc_stmt *pkc_build_require(pkc_parser *p, pkc_span span, pkc_expr *condition, pkc_string message);
pkc_stmt *pkc_build_shared(pkc_parser *p, pkc_span span, pkc_param *param);
pkc_stmt *pkc_build_return(pkc_parser *p, pkc_span span, pkc_expr *value);
pkc_stmt *pkc_build_barrier(pkc_parser *p, pkc_span span);
pkc_stmt *pkc_build_expr_stmt(pkc_parser *p, pkc_span span, pkc_expr *value);
pkc_stmt *pkc_build_assign(pkc_parser *p, pkc_span span, pkc_expr *target, pkc_assign_op op, pkc_expr *value);
pkc_stmt *pkc_build_if(pkc_parser *p, pkc_span span, pkc_expr *condition, pkc_block *then_body,
                       pkc_block *else_body);
pkc_stmt *pkc_build_for(pkc_parser *p, pkc_span span, bool is_const, pkc_name name, pkc_expr *from,
                        pkc_expr *to, pkc_expr *step, pkc_block *body);
pkc_stmt *pkc_build_pipe(pkc_parser *p, pkc_span span, pkc_name name, pkc_expr *slots, pkc_params fields);
pkc_stmt *pkc_build_put(pkc_parser *p, pkc_span span, pkc_name pipe, pkc_block *body);
pkc_stmt *pkc_build_get(pkc_parser *p, pkc_span span, pkc_name pipe, pkc_block *body);
pkc_stmt *pkc_build_group(pkc_parser *p, pkc_span span, pkc_name name, pkc_expr *count, pkc_block *body);
pkc_role_head pkc_build_plain_role(pkc_parser *p, pkc_span word, pkc_role_kind kind, pkc_expr *count);
pkc_role_head pkc_build_user_role(pkc_parser *p, pkc_name name, pkc_name unit, pkc_expr *count);
pkc_stmt *pkc_build_role(pkc_parser *p, pkc_span span, pkc_role_head head, pkc_block *body);
pkc_binding *pkc_build_binding(pkc_parser *p, pkc_span span, pkc_name name, pkc_tyexpr *type,
                               pkc_expr *value);
pkc_binding *pkc_build_tuple_binding(pkc_parser *p, pkc_span span, pkc_names names, pkc_expr *value);

pkc_expr *pkc_build_int(pkc_parser *p, pkc_span span, uint64_t value);
pkc_expr *pkc_build_float(pkc_parser *p, pkc_span span, double value);
pkc_expr *pkc_build_name(pkc_parser *p, pkc_name name);
pkc_expr *pkc_build_unary(pkc_parser *p, pkc_span span, pkc_unary_op op, pkc_expr *operand);
pkc_expr *pkc_build_binary(pkc_parser *p, pkc_span span, pkc_binary_op op, pkc_expr *left, pkc_expr *right);
/// A comparison whose left side is one without parentheses is refused.
pkc_expr *pkc_build_compare(pkc_parser *p, pkc_span span, pkc_binary_op op, pkc_span op_span, pkc_expr *left,
                            pkc_expr *right);
pkc_expr *pkc_build_call(pkc_parser *p, pkc_span span, pkc_expr *callee, pkc_exprs args);
pkc_expr *pkc_build_view(pkc_parser *p, pkc_span span, pkc_expr *base, pkc_indices indices);
pkc_expr *pkc_build_member(pkc_parser *p, pkc_span span, pkc_expr *base, pkc_name name);
pkc_expr *pkc_build_peer(pkc_parser *p, pkc_span span, pkc_expr *base, pkc_expr *place);
/// One part: that expression with the parentheses in its span; several: a tuple.
pkc_expr *pkc_build_parens(pkc_parser *p, pkc_span span, pkc_exprs parts);
pkc_index *pkc_build_index(pkc_parser *p, pkc_span span, pkc_index_kind kind, pkc_expr *at, pkc_expr *end,
                           pkc_expr *size);

#endif
