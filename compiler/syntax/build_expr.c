// SPDX-License-Identifier: Apache-2.0
#include "syntax/build.h"
#include "syntax/depth.h"

// The expression, or a leaf in its place where it is nested too deeply.
static pkc_expr *finish(pkc_parser *p, pkc_expr expr)
{
    unsigned depth = pkc_expr_depth(&expr);
    if (depth >= PKC_MAX_NESTING) {
        pkc_report_depth(p, expr.span);
        expr = (pkc_expr){.kind = PKC_EXPR_INT, .span = expr.span};
        depth = 1;
    }
    pkc_expr *copy = PKC_NEW(&p->session->arena, pkc_expr);
    *copy = expr;
    copy->depth = (uint16_t)depth;
    return copy;
}

#define EXPR(id, member, ...)                                                                                \
    finish(p, (pkc_expr){.kind = PKC_EXPR_##id, .span = span, .as.member = {__VA_ARGS__}})

pkc_expr *pkc_build_int(pkc_parser *p, pkc_span span, uint64_t value)
{
    return EXPR(INT, int_, value);
}

pkc_expr *pkc_build_float(pkc_parser *p, pkc_span span, double value)
{
    return EXPR(FLOAT, float_, value);
}

pkc_expr *pkc_build_name(pkc_parser *p, pkc_name name)
{
    pkc_span span = name.span;
    return EXPR(NAME, name, name);
}

pkc_expr *pkc_build_unary(pkc_parser *p, pkc_span span, pkc_unary_op op, pkc_expr *operand)
{
    return EXPR(UNARY, unary, op, operand);
}

pkc_expr *pkc_build_binary(pkc_parser *p, pkc_span span, pkc_binary_op op, pkc_expr *left, pkc_expr *right)
{
    return EXPR(BINARY, binary, op, left, right);
}

static bool is_comparison(const pkc_expr *expr)
{
    if (expr->kind != PKC_EXPR_BINARY)
        return false;
    pkc_binary_op op = expr->as.binary.op;
    return op >= PKC_BINARY_EQ && op <= PKC_BINARY_GE;
}

// Parentheses widen an expression's span beyond its first operand's.
static bool in_parentheses(const pkc_expr *binary)
{
    return binary->span.begin != binary->as.binary.left->span.begin;
}

pkc_expr *pkc_build_compare(pkc_parser *p, pkc_span span, pkc_binary_op op, pkc_span op_span, pkc_expr *left,
                            pkc_expr *right)
{
    if (is_comparison(left) && !in_parentheses(left)) {
        pkc_diag *d = pkc_diag_error(p->session, PKC_DIAG_CHAINED_COMPARISON, op_span);
        pkc_diag_help(d, "join two comparisons with '&&'");
    }
    return pkc_build_binary(p, span, op, left, right);
}

pkc_expr *pkc_build_call(pkc_parser *p, pkc_span span, pkc_expr *callee, pkc_exprs args)
{
    return EXPR(CALL, call, callee, args, NULL, NULL);
}

pkc_expr *pkc_build_view(pkc_parser *p, pkc_span span, pkc_expr *base, pkc_indices indices)
{
    return EXPR(INDEX, index, base, indices);
}

pkc_expr *pkc_build_member(pkc_parser *p, pkc_span span, pkc_expr *base, pkc_name name)
{
    return EXPR(MEMBER, member, base, name);
}

pkc_expr *pkc_build_peer(pkc_parser *p, pkc_span span, pkc_expr *base, pkc_expr *place)
{
    return EXPR(PEER, peer, base, place);
}

pkc_expr *pkc_build_parens(pkc_parser *p, pkc_span span, pkc_exprs parts)
{
    if (parts.len > 1)
        return EXPR(TUPLE, tuple, parts);
    parts.data[0]->span = span;
    return parts.data[0];
}

pkc_index *pkc_build_index(pkc_parser *p, pkc_span span, pkc_index_kind kind, pkc_expr *at, pkc_expr *end,
                           pkc_expr *size)
{
    pkc_index *index = PKC_NEW(&p->session->arena, pkc_index);
    *index = (pkc_index){kind, span, at, end, size};
    return index;
}
