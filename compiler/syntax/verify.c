// SPDX-License-Identifier: Apache-2.0
// The tree's invariants, checked by the same table that lays it out.
#include "syntax/syntax.h"

typedef struct checker {
    pkc_session *session;
    const char *problem; // the first one found
    const char *node;    // printed name of the node whose fields are being checked
    pkc_span span;       // and its span
} checker;

static void fail(checker *c, const char *field, const char *what)
{
    if (!c->problem)
        c->problem =
            pkc_arena_printf(&c->session->arena, "%s at byte %u: %s %s", c->node, c->span.begin, field, what);
}

static void check_span(checker *c, const char *field, pkc_span span)
{
    if (span.file != c->span.file || span.begin > span.end)
        fail(c, field, "has no proper span");
    else if (span.begin < c->span.begin || span.end > c->span.end)
        fail(c, field, "reaches beyond its node");
}

static void check_expr(checker *c, const pkc_expr *expr);
static void check_type(checker *c, const pkc_tyexpr *type);
static void check_block(checker *c, const pkc_block *block);

#define NO_CHECK(KIND)                                                                                       \
    static void check_##KIND(checker *c, const PKC_AST_C_##KIND *value, const char *field)                   \
    {                                                                                                        \
        (void)c;                                                                                             \
        (void)value;                                                                                         \
        (void)field;                                                                                         \
    }
NO_CHECK(FLAG)
NO_CHECK(INTEGER)
NO_CHECK(NUMBER)
#undef NO_CHECK

#define CHECK_ENUM(KIND, limit)                                                                              \
    static void check_##KIND(checker *c, const PKC_AST_C_##KIND *value, const char *field)                   \
    {                                                                                                        \
        if ((unsigned)*value >= (unsigned)(limit))                                                           \
            fail(c, field, "is out of range");                                                               \
    }
CHECK_ENUM(UNARY_OP, PKC_UNARY_COUNT)
CHECK_ENUM(BINARY_OP, PKC_BINARY_COUNT)
CHECK_ENUM(ASSIGN_OP, PKC_ASSIGN_COUNT)
CHECK_ENUM(ROLE_KIND, PKC_ROLE_COUNT)
CHECK_ENUM(ROLE_UNIT, PKC_UNIT_COUNT)
#undef CHECK_ENUM

static void check_NAME(checker *c, const pkc_name *name, const char *field)
{
    if (!name->text || !*name->text)
        fail(c, field, "is missing");
    check_span(c, field, name->span);
}

static void check_NAMES(checker *c, const pkc_names *list, const char *field)
{
    for (size_t i = 0; i < list->len; i++)
        check_NAME(c, &list->data[i], field);
}

static void check_STRING(checker *c, const pkc_string *string, const char *field)
{
    if (!string->text)
        fail(c, field, "is missing");
    check_span(c, field, string->span);
}

static void check_OPT_EXPR(checker *c, pkc_expr *const *expr, const char *field)
{
    if (!*expr)
        return;
    check_span(c, field, (*expr)->span);
    check_expr(c, *expr);
}

static void check_EXPR(checker *c, pkc_expr *const *expr, const char *field)
{
    if (!*expr)
        fail(c, field, "is missing");
    check_OPT_EXPR(c, expr, field);
}

static void check_EXPRS(checker *c, const pkc_exprs *list, const char *field)
{
    for (size_t i = 0; i < list->len; i++)
        check_EXPR(c, &list->data[i], field);
}

static void check_INDICES(checker *c, const pkc_indices *list, const char *field)
{
    for (size_t i = 0; i < list->len; i++) {
        const pkc_index *index = list->data[i];
        bool at = index->kind != PKC_INDEX_ALL, end = index->kind == PKC_INDEX_RANGE;
        bool size = at && index->kind != PKC_INDEX_PLAIN;
        if ((index->at != NULL) != at || (index->end != NULL) != end || (index->size != NULL) != size)
            fail(c, field, "does not have its kind's parts");
        check_OPT_EXPR(c, &index->at, field);
        check_OPT_EXPR(c, &index->end, field);
        check_OPT_EXPR(c, &index->size, field);
    }
}

static void check_OPT_TYPE(checker *c, pkc_tyexpr *const *type, const char *field)
{
    if (!*type)
        return;
    check_span(c, field, (*type)->span);
    check_type(c, *type);
}

static void check_TYPES(checker *c, const pkc_tyexprs *list, const char *field)
{
    for (size_t i = 0; i < list->len; i++)
        check_OPT_TYPE(c, &list->data[i], field);
}

static void check_PARAM(checker *c, pkc_param *const *param, const char *field)
{
    if (!*param) {
        fail(c, field, "is missing");
        return;
    }
    check_span(c, field, (*param)->span);
    check_NAME(c, &(*param)->name, field);
    check_OPT_TYPE(c, &(*param)->type, field);
    check_OPT_EXPR(c, &(*param)->init, field);
}

static void check_PARAMS(checker *c, const pkc_params *list, const char *field)
{
    for (size_t i = 0; i < list->len; i++)
        check_PARAM(c, &list->data[i], field);
}

static void check_BINDINGS(checker *c, const pkc_bindings *list, const char *field)
{
    if (list->len == 0)
        fail(c, field, "is empty");
    for (size_t i = 0; i < list->len; i++) {
        const pkc_binding *binding = list->data[i];
        check_span(c, field, binding->span);
        check_NAMES(c, &binding->names, field);
        check_OPT_TYPE(c, &binding->type, field);
        check_EXPR(c, &binding->value, field);
    }
}

static void check_OPT_BLOCK(checker *c, pkc_block *const *block, const char *field)
{
    if (!*block)
        return;
    check_span(c, field, (*block)->span);
    check_block(c, *block);
}

static void check_BLOCK(checker *c, pkc_block *const *block, const char *field)
{
    if (!*block)
        fail(c, field, "is missing");
    check_OPT_BLOCK(c, block, field);
}

#define F(kind, name) check_##kind(&inner, &node->name, #name);
#define S(type, name)

static void check_type(checker *c, const pkc_tyexpr *type)
{
    checker inner = {c->session, c->problem, "type", type->span};
    switch (type->kind) {
#define PKC_AST_TYPE(id, member, printed, fields)                                                            \
    case PKC_TYEXPR_##id: {                                                                                  \
        const struct pkc_tyexpr_##member *node = &type->as.member;                                           \
        inner.node = printed;                                                                                \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_TYEXPR_COUNT:
        fail(&inner, "kind", "is out of range");
        break;
    }
    c->problem = inner.problem;
}

static void check_expr(checker *c, const pkc_expr *expr)
{
    checker inner = {c->session, c->problem, "expression", expr->span};
    if (expr->depth < 1 || expr->depth > PKC_MAX_NESTING)
        fail(&inner, "depth", "is out of range");
    switch (expr->kind) {
#define PKC_AST_EXPR(id, member, printed, fields)                                                            \
    case PKC_EXPR_##id: {                                                                                    \
        const struct pkc_expr_##member *node = &expr->as.member;                                             \
        inner.node = printed;                                                                                \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_EXPR_COUNT:
        fail(&inner, "kind", "is out of range");
        break;
    }
    c->problem = inner.problem;
}

static void check_stmt(checker *c, const pkc_stmt *stmt)
{
    checker inner = {c->session, c->problem, "statement", stmt->span};
    if (stmt->depth < 1 || stmt->depth > PKC_MAX_NESTING)
        fail(&inner, "depth", "is out of range");
    switch (stmt->kind) {
#define PKC_AST_STMT(id, member, printed, fields)                                                            \
    case PKC_STMT_##id: {                                                                                    \
        const struct pkc_stmt_##member *node = &stmt->as.member;                                             \
        (void)node;                                                                                          \
        inner.node = printed;                                                                                \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_STMT_COUNT:
        fail(&inner, "kind", "is out of range");
        break;
    }
    c->problem = inner.problem;
}

static void check_block(checker *c, const pkc_block *block)
{
    checker inner = {c->session, c->problem, "block", block->span};
    for (size_t i = 0; i < block->stmts.len; i++) {
        check_span(&inner, "statement", block->stmts.data[i]->span);
        check_stmt(&inner, block->stmts.data[i]);
    }
    c->problem = inner.problem;
}

static void check_item(checker *c, const pkc_item *item)
{
    checker inner = {c->session, c->problem, "item", item->span};
    switch (item->kind) {
#define PKC_AST_ITEM(id, member, printed, fields)                                                            \
    case PKC_ITEM_##id: {                                                                                    \
        const struct pkc_item_##member *node = &item->as.member;                                             \
        inner.node = printed;                                                                                \
        fields break;                                                                                        \
    }
#include "syntax/ast.def"
    case PKC_ITEM_COUNT:
        fail(&inner, "kind", "is out of range");
        break;
    }
    c->problem = inner.problem;
}

const char *pkc_ast_verify(pkc_session *session, const pkc_module *module)
{
    checker c = {.session = session};
    for (size_t i = 0; i < module->items.len; i++)
        check_item(&c, module->items.data[i]);
    return c.problem;
}
