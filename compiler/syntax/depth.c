// SPDX-License-Identifier: Apache-2.0
#include "syntax/depth.h"

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

// One function a field kind of ast.def; most hold nothing that is nested.
#define NOT_NESTED(KIND)                                                                                     \
    static unsigned depth_##KIND(const PKC_AST_C_##KIND *field)                                              \
    {                                                                                                        \
        (void)field;                                                                                         \
        return 0;                                                                                            \
    }
NOT_NESTED(NAME)
NOT_NESTED(STRING)
NOT_NESTED(FLAG)
NOT_NESTED(INTEGER)
NOT_NESTED(NUMBER)
NOT_NESTED(UNARY_OP)
NOT_NESTED(BINARY_OP)
NOT_NESTED(ASSIGN_OP)
NOT_NESTED(ROLE_KIND)
NOT_NESTED(ROLE_UNIT)
#undef NOT_NESTED

static unsigned depth_OPT_EXPR(pkc_expr *const *expr)
{
    return *expr ? (*expr)->depth : 0;
}

static unsigned depth_EXPR(pkc_expr *const *expr)
{
    return depth_OPT_EXPR(expr);
}

static unsigned depth_EXPRS(const pkc_exprs *list)
{
    unsigned depth = 0;
    for (size_t i = 0; i < list->len; i++)
        depth = larger(depth, list->data[i]->depth);
    return depth;
}

static unsigned depth_INDICES(const pkc_indices *list)
{
    unsigned depth = 0;
    for (size_t i = 0; i < list->len; i++) {
        const pkc_index *index = list->data[i];
        depth = larger(depth, depth_OPT_EXPR(&index->at));
        depth = larger(depth, depth_OPT_EXPR(&index->end));
        depth = larger(depth, depth_OPT_EXPR(&index->size));
    }
    return depth;
}

static unsigned depth_BINDINGS(const pkc_bindings *list)
{
    unsigned depth = 0;
    for (size_t i = 0; i < list->len; i++)
        depth = larger(depth, depth_OPT_EXPR(&list->data[i]->value));
    return depth;
}

// Types nest by brackets, which the scanner counts; they are leaves here.
static unsigned depth_PARAM(pkc_param *const *param)
{
    return *param ? depth_OPT_EXPR(&(*param)->init) : 0;
}

static unsigned depth_PARAMS(const pkc_params *list)
{
    unsigned depth = 0;
    for (size_t i = 0; i < list->len; i++)
        depth = larger(depth, depth_PARAM(&list->data[i]));
    return depth;
}

static unsigned depth_OPT_BLOCK(pkc_block *const *block)
{
    return *block ? (*block)->depth : 0;
}

static unsigned depth_BLOCK(pkc_block *const *block)
{
    return depth_OPT_BLOCK(block);
}

#define F(kind, name) depth = larger(depth, depth_##kind(&node->name));
#define S(type, name)

unsigned pkc_expr_depth(const pkc_expr *expr)
{
    unsigned depth = 0;
    switch (expr->kind) {
#define PKC_AST_EXPR(id, member, printed, fields)                                                            \
    case PKC_EXPR_##id: {                                                                                    \
        const struct pkc_expr_##member *node = &expr->as.member;                                             \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_EXPR_COUNT:
        break;
    }
    return depth + 1;
}

unsigned pkc_stmt_depth(const pkc_stmt *stmt)
{
    unsigned depth = 0;
    switch (stmt->kind) {
#define PKC_AST_STMT(id, member, printed, fields)                                                            \
    case PKC_STMT_##id: {                                                                                    \
        const struct pkc_stmt_##member *node = &stmt->as.member;                                             \
        (void)node;                                                                                          \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_STMT_COUNT:
        break;
    }
    return depth + 1;
}

unsigned pkc_stmts_depth(const pkc_stmts *stmts)
{
    unsigned depth = 0;
    for (size_t i = 0; i < stmts->len; i++)
        depth = larger(depth, stmts->data[i]->depth);
    return depth;
}
