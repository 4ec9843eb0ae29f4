// SPDX-License-Identifier: Apache-2.0
#include "syntax/syntax.h"

static void walk_type(pkc_visitor *v, pkc_tyexpr *type);
static void walk_param(pkc_visitor *v, pkc_param *param);

// One function a field kind of ast.def.
#define NO_CHILDREN(KIND)                                                                                    \
    static void walk_##KIND(pkc_visitor *v, PKC_AST_C_##KIND *field)                                         \
    {                                                                                                        \
        (void)v;                                                                                             \
        (void)field;                                                                                         \
    }
NO_CHILDREN(STRING)
NO_CHILDREN(FLAG)
NO_CHILDREN(INTEGER)
NO_CHILDREN(NUMBER)
NO_CHILDREN(UNARY_OP)
NO_CHILDREN(BINARY_OP)
NO_CHILDREN(ASSIGN_OP)
NO_CHILDREN(ROLE_KIND)
NO_CHILDREN(ROLE_UNIT)
#undef NO_CHILDREN

static void walk_NAME(pkc_visitor *v, pkc_name *name)
{
    if (v->name)
        v->name(v, name);
}

static void walk_NAMES(pkc_visitor *v, pkc_names *list)
{
    for (size_t i = 0; i < list->len; i++)
        walk_NAME(v, &list->data[i]);
}

static void walk_OPT_EXPR(pkc_visitor *v, pkc_expr **expr)
{
    if (*expr)
        pkc_walk_expr(v, *expr);
}

static void walk_EXPR(pkc_visitor *v, pkc_expr **expr)
{
    walk_OPT_EXPR(v, expr);
}

static void walk_EXPRS(pkc_visitor *v, pkc_exprs *list)
{
    for (size_t i = 0; i < list->len; i++)
        walk_EXPR(v, &list->data[i]);
}

static void walk_INDICES(pkc_visitor *v, pkc_indices *list)
{
    for (size_t i = 0; i < list->len; i++) {
        walk_OPT_EXPR(v, &list->data[i]->at);
        walk_OPT_EXPR(v, &list->data[i]->end);
        walk_OPT_EXPR(v, &list->data[i]->size);
    }
}

static void walk_OPT_TYPE(pkc_visitor *v, pkc_tyexpr **type)
{
    if (*type)
        walk_type(v, *type);
}

static void walk_TYPES(pkc_visitor *v, pkc_tyexprs *list)
{
    for (size_t i = 0; i < list->len; i++)
        walk_type(v, list->data[i]);
}

static void walk_PARAM(pkc_visitor *v, pkc_param **param)
{
    walk_param(v, *param);
}

static void walk_PARAMS(pkc_visitor *v, pkc_params *list)
{
    for (size_t i = 0; i < list->len; i++)
        walk_param(v, list->data[i]);
}

static void walk_BINDINGS(pkc_visitor *v, pkc_bindings *list)
{
    for (size_t i = 0; i < list->len; i++) {
        walk_NAMES(v, &list->data[i]->names);
        walk_OPT_TYPE(v, &list->data[i]->type);
        walk_EXPR(v, &list->data[i]->value);
    }
}

static void walk_BLOCK(pkc_visitor *v, pkc_block **block)
{
    pkc_walk_block(v, *block);
}

static void walk_OPT_BLOCK(pkc_visitor *v, pkc_block **block)
{
    if (*block)
        pkc_walk_block(v, *block);
}

#define F(kind, name) walk_##kind(v, &node->name);
#define S(type, name)

static void walk_param(pkc_visitor *v, pkc_param *param)
{
    if (v->param && !v->param(v, param))
        return;
    walk_NAME(v, &param->name);
    walk_OPT_TYPE(v, &param->type);
    walk_OPT_EXPR(v, &param->init);
}

static void walk_type(pkc_visitor *v, pkc_tyexpr *type)
{
    if (v->type && !v->type(v, type))
        return;
    switch (type->kind) {
#define PKC_AST_TYPE(id, member, printed, fields)                                                            \
    case PKC_TYEXPR_##id: {                                                                                  \
        struct pkc_tyexpr_##member *node = &type->as.member;                                                 \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_TYEXPR_COUNT:
        break;
    }
}

void pkc_walk_expr(pkc_visitor *v, pkc_expr *expr)
{
    if (v->expr && !v->expr(v, expr))
        return;
    switch (expr->kind) {
#define PKC_AST_EXPR(id, member, printed, fields)                                                            \
    case PKC_EXPR_##id: {                                                                                    \
        struct pkc_expr_##member *node = &expr->as.member;                                                   \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_EXPR_COUNT:
        break;
    }
}

void pkc_walk_stmt(pkc_visitor *v, pkc_stmt *stmt)
{
    if (v->stmt && !v->stmt(v, stmt))
        return;
    switch (stmt->kind) {
#define PKC_AST_STMT(id, member, printed, fields)                                                            \
    case PKC_STMT_##id: {                                                                                    \
        struct pkc_stmt_##member *node = &stmt->as.member;                                                   \
        (void)node;                                                                                          \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_STMT_COUNT:
        break;
    }
}

void pkc_walk_block(pkc_visitor *v, pkc_block *block)
{
    for (size_t i = 0; i < block->stmts.len; i++)
        pkc_walk_stmt(v, block->stmts.data[i]);
}

void pkc_walk_item(pkc_visitor *v, pkc_item *item)
{
    if (v->item && !v->item(v, item))
        return;
    switch (item->kind) {
#define PKC_AST_ITEM(id, member, printed, fields)                                                            \
    case PKC_ITEM_##id: {                                                                                    \
        struct pkc_item_##member *node = &item->as.member;                                                   \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_ITEM_COUNT:
        break;
    }
}

void pkc_walk_module(pkc_visitor *v, pkc_module *module)
{
    for (size_t i = 0; i < module->items.len; i++)
        pkc_walk_item(v, module->items.data[i]);
}
