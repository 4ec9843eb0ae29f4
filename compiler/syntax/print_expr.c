// SPDX-License-Identifier: Apache-2.0
// Expressions as source, with the fewest parentheses that keep the tree.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syntax/print.h"

// How tightly an expression holds together; the grammar's levels.
enum { LEVEL_OR = 1, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY, LEVEL_POSTFIX };

static int binary_level(pkc_binary_op op)
{
    switch (op) {
    case PKC_BINARY_OR:
        return LEVEL_OR;
    case PKC_BINARY_AND:
        return LEVEL_AND;
    case PKC_BINARY_EQ:
    case PKC_BINARY_NE:
    case PKC_BINARY_LT:
    case PKC_BINARY_GT:
    case PKC_BINARY_LE:
    case PKC_BINARY_GE:
        return LEVEL_COMPARE;
    case PKC_BINARY_ADD:
    case PKC_BINARY_SUB:
        return LEVEL_SUM;
    case PKC_BINARY_MUL:
    case PKC_BINARY_DIV:
    case PKC_BINARY_MOD:
        return LEVEL_PRODUCT;
    case PKC_BINARY_COUNT:
        break;
    }
    return LEVEL_POSTFIX;
}

static int level(const pkc_expr *expr)
{
    if (expr->kind == PKC_EXPR_BINARY)
        return binary_level(expr->as.binary.op);
    return expr->kind == PKC_EXPR_UNARY ? LEVEL_UNARY : LEVEL_POSTFIX;
}

static void print_at(const pkc_expr *expr, int least, pkc_buf *out)
{
    bool parens = level(expr) < least;
    if (parens)
        pkc_buf_putc(out, '(');
    pkc_print_expr(expr, out);
    if (parens)
        pkc_buf_putc(out, ')');
}

static void print_binary(const struct pkc_expr_binary *binary, pkc_buf *out)
{
    int own = binary_level(binary->op);
    print_at(binary->left, own == LEVEL_COMPARE ? own + 1 : own, out); // comparisons do not chain
    pkc_buf_printf(out, " %s ", pkc_binary_text(binary->op));
    print_at(binary->right, own + 1, out);
}

// The shortest decimal form that reads back as the same value, always with a point or an exponent.
static void print_number(double value, pkc_buf *out)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    pkc_buf_puts(out, text);
    if (!strpbrk(text, ".e"))
        pkc_buf_puts(out, ".0");
}

static void print_index(const pkc_index *index, pkc_buf *out)
{
    switch (index->kind) {
    case PKC_INDEX_PLAIN:
        pkc_print_expr(index->at, out);
        break;
    case PKC_INDEX_ALL:
        pkc_buf_putc(out, ':');
        break;
    case PKC_INDEX_SIZED:
        pkc_print_expr(index->at, out);
        pkc_buf_putc(out, ':');
        pkc_print_expr(index->size, out);
        break;
    case PKC_INDEX_FROM:
    case PKC_INDEX_RANGE:
        pkc_print_expr(index->at, out);
        pkc_buf_puts(out, "..");
        if (index->end)
            pkc_print_expr(index->end, out);
        pkc_buf_putc(out, ':');
        pkc_print_expr(index->size, out);
        break;
    case PKC_INDEX_COUNT:
        break;
    }
}

static void print_indices(const pkc_indices *list, pkc_buf *out)
{
    pkc_buf_putc(out, '[');
    for (size_t i = 0; i < list->len; i++) {
        if (i)
            pkc_buf_puts(out, ", ");
        print_index(list->data[i], out);
    }
    pkc_buf_putc(out, ']');
}

static void print_peer(const struct pkc_expr_peer *peer, pkc_buf *out)
{
    bool bare = peer->place->kind == PKC_EXPR_NAME || peer->place->kind == PKC_EXPR_INT;
    print_at(peer->base, LEVEL_POSTFIX, out);
    pkc_buf_puts(out, bare ? "@" : "@(");
    pkc_print_expr(peer->place, out);
    if (!bare)
        pkc_buf_putc(out, ')');
}

void pkc_print_exprs(const pkc_exprs *list, pkc_buf *out)
{
    for (size_t i = 0; i < list->len; i++) {
        if (i)
            pkc_buf_puts(out, ", ");
        pkc_print_expr(list->data[i], out);
    }
}

void pkc_print_expr(const pkc_expr *expr, pkc_buf *out)
{
    switch (expr->kind) {
    case PKC_EXPR_INT:
        pkc_buf_printf(out, "%" PRIu64, expr->as.int_.value);
        break;
    case PKC_EXPR_FLOAT:
        print_number(expr->as.float_.value, out);
        break;
    case PKC_EXPR_NAME:
        pkc_buf_puts(out, expr->as.name.name.text);
        break;
    case PKC_EXPR_UNARY:
        pkc_buf_puts(out, pkc_unary_text(expr->as.unary.op));
        print_at(expr->as.unary.operand, LEVEL_UNARY, out);
        break;
    case PKC_EXPR_BINARY:
        print_binary(&expr->as.binary, out);
        break;
    case PKC_EXPR_CALL:
        print_at(expr->as.call.callee, LEVEL_POSTFIX, out);
        pkc_buf_putc(out, '(');
        pkc_print_exprs(&expr->as.call.args, out);
        pkc_buf_putc(out, ')');
        break;
    case PKC_EXPR_INDEX:
        print_at(expr->as.index.base, LEVEL_POSTFIX, out);
        print_indices(&expr->as.index.indices, out);
        break;
    case PKC_EXPR_MEMBER:
        print_at(expr->as.member.base, LEVEL_POSTFIX, out);
        pkc_buf_printf(out, ".%s", expr->as.member.name.text);
        break;
    case PKC_EXPR_PEER:
        print_peer(&expr->as.peer, out);
        break;
    case PKC_EXPR_TUPLE:
        pkc_buf_putc(out, '(');
        pkc_print_exprs(&expr->as.tuple.parts, out);
        pkc_buf_putc(out, ')');
        break;
    case PKC_EXPR_COUNT:
        break;
    }
}
