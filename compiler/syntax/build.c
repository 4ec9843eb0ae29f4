// SPDX-License-Identifier: Apache-2.0
#include "syntax/build.h"

#include <string.h>

#include "support/buf.h"
#include "syntax/depth.h"

static pkc_arena *arena_of(pkc_parser *p)
{
    return &p->session->arena;
}

// --- lists
// ---------------------------------------------------------------------------------------------------

pkc_names pkc_build_names(pkc_parser *p, pkc_names list, pkc_name name)
{
    pkc_vec_push(arena_of(p), &list, name);
    return list;
}

#define LIST_FUNCTION(function, list_type, elem_type)                                                        \
    list_type function(pkc_parser *p, list_type list, elem_type elem)                                        \
    {                                                                                                        \
        if (elem)                                                                                            \
            pkc_vec_push(arena_of(p), &list, elem);                                                          \
        return list;                                                                                         \
    }
LIST_FUNCTION(pkc_build_params, pkc_params, pkc_param *)
LIST_FUNCTION(pkc_build_types, pkc_tyexprs, pkc_tyexpr *)
LIST_FUNCTION(pkc_build_stmts, pkc_stmts, pkc_stmt *)
LIST_FUNCTION(pkc_build_bindings, pkc_bindings, pkc_binding *)
LIST_FUNCTION(pkc_build_exprs, pkc_exprs, pkc_expr *)
LIST_FUNCTION(pkc_build_indices, pkc_indices, pkc_index *)
#undef LIST_FUNCTION

// --- items
// ---------------------------------------------------------------------------------------------------

static uint32_t line_begin(const char *text, uint32_t at)
{
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

// The text of the comment line at `begin` without its "//" and one blank, and where the next line begins;
// NULL where the line is no comment.
static const char *comment_line(const char *text, uint32_t begin, int *len, uint32_t *next)
{
    while (text[begin] == ' ' || text[begin] == '\t')
        begin++;
    if (text[begin] != '/' || text[begin + 1] != '/')
        return NULL;
    begin += text[begin + 2] == ' ' ? 3 : 2;
    const char *newline = strchr(text + begin, '\n');
    if (!newline) // a zero byte, reported already
        return NULL;
    uint32_t end = (uint32_t)(newline - text);
    *next = end + 1;
    while (end > begin && (text[end - 1] == '\r' || text[end - 1] == ' '))
        end--;
    *len = (int)(end - begin);
    return text + begin;
}

// The block of comment lines right above the item: what it says of itself.
static pkc_str doc_above(pkc_parser *p, uint32_t offset)
{
    const char *text = p->file->text;
    uint32_t end = line_begin(text, offset), begin = end, next;
    int len = 0;
    while (begin > 0 && comment_line(text, line_begin(text, begin - 1), &len, &next))
        begin = line_begin(text, begin - 1);
    if (begin == end)
        return NULL;
    pkc_buf doc = {0};
    for (const char *line; begin < end && (line = comment_line(text, begin, &len, &next)); begin = next) {
        pkc_buf_putc(&doc, '\n');
        pkc_buf_write(&doc, line, (size_t)len);
    }
    char *copy = pkc_arena_strdup(arena_of(p), doc.len ? doc.data + 1 : "");
    pkc_buf_free(&doc);
    return copy;
}

static pkc_item *new_item(pkc_parser *p, pkc_item_kind kind, pkc_span span)
{
    pkc_item *item = PKC_NEW(arena_of(p), pkc_item);
    item->kind = kind;
    item->span = span;
    return item;
}

void pkc_build_add_item(pkc_parser *p, pkc_item *item)
{
    if (item)
        pkc_vec_push(arena_of(p), &p->module->items, item);
}

pkc_item *pkc_build_import(pkc_parser *p, pkc_span span, pkc_name name)
{
    pkc_item *item = new_item(p, PKC_ITEM_IMPORT, span);
    item->as.import.name = name;
    return item;
}

pkc_item *pkc_build_kernel(pkc_parser *p, pkc_span span, pkc_names attributes, pkc_name name,
                           pkc_params consts, pkc_params params, pkc_block *body)
{
    pkc_item *item = new_item(p, PKC_ITEM_KERNEL, span);
    item->doc = doc_above(p, span.begin);
    item->as.kernel = (struct pkc_item_kernel){attributes, name, consts, params, body};
    return item;
}

pkc_item *pkc_build_fn(pkc_parser *p, pkc_span span, pkc_name name, pkc_params consts, pkc_params params,
                       pkc_tyexpr *result, pkc_block *body)
{
    pkc_item *item = new_item(p, PKC_ITEM_FN, span);
    item->doc = doc_above(p, span.begin);
    item->as.fn = (struct pkc_item_fn){name, consts, params, result, body};
    return item;
}

// --- parameters and types
// ------------------------------------------------------------------------------------

pkc_param *pkc_build_param(pkc_parser *p, pkc_span span, pkc_name name, pkc_tyexpr *type, pkc_expr *init)
{
    pkc_param *param = PKC_NEW(arena_of(p), pkc_param);
    *param = (pkc_param){span, name, type, init};
    return param;
}

pkc_tyexpr *pkc_build_type(pkc_parser *p, pkc_span span, bool peer, pkc_name elem, pkc_exprs dims)
{
    pkc_tyexpr *type = PKC_NEW(arena_of(p), pkc_tyexpr);
    *type = (pkc_tyexpr){.kind = PKC_TYEXPR_NAMED, .span = span, .as.named = {peer, elem, dims}};
    return type;
}

pkc_tyexpr *pkc_build_tuple_type(pkc_parser *p, pkc_span span, pkc_tyexprs types)
{
    pkc_tyexpr *type = PKC_NEW(arena_of(p), pkc_tyexpr);
    *type = (pkc_tyexpr){.kind = PKC_TYEXPR_TUPLE, .span = span, .as.tuple = {types}};
    return type;
}

// --- statements
// ----------------------------------------------------------------------------------------------

static pkc_block *new_block(pkc_parser *p, pkc_span span, pkc_stmts stmts)
{
    pkc_block *block = PKC_NEW(arena_of(p), pkc_block);
    block->span = span;
    block->stmts = stmts;
    block->depth = (uint16_t)pkc_stmts_depth(&stmts);
    return block;
}

pkc_block *pkc_build_block(pkc_parser *p, pkc_span span, pkc_stmts stmts)
{
    return new_block(p, span, stmts);
}

pkc_block *pkc_build_else_if(pkc_parser *p, pkc_span span, pkc_stmt *stmt)
{
    pkc_block *block = new_block(p, span, pkc_build_stmts(p, (pkc_stmts){0}, stmt));
    block->else_if = stmt != NULL;
    return block;
}

// The statement, or NULL where it is nested too deeply.
static pkc_stmt *finish_stmt(pkc_parser *p, pkc_stmt stmt)
{
    unsigned depth = pkc_stmt_depth(&stmt);
    if (depth >= PKC_MAX_NESTING) {
        pkc_report_depth(p, stmt.span);
        return NULL;
    }
    pkc_stmt *copy = PKC_NEW(arena_of(p), pkc_stmt);
    *copy = stmt;
    copy->depth = (uint16_t)depth;
    return copy;
}

#define STMT(id, member, ...)                                                                                \
    finish_stmt(p, (pkc_stmt){.kind = PKC_STMT_##id, .span = span, .as.member = {__VA_ARGS__}})

pkc_stmt *pkc_build_end(pkc_parser *p, pkc_stmt *stmt, pkc_span semicolon)
{
    (void)p;
    if (stmt)
        stmt->span = pkc_span_join(stmt->span, semicolon);
    return stmt;
}

pkc_stmt *pkc_build_let(pkc_parser *p, pkc_span span, pkc_bindings bindings)
{
    return STMT(LET, let, bindings);
}

pkc_stmt *pkc_build_var(pkc_parser *p, pkc_span span, pkc_bindings bindings)
{
    return STMT(VAR, var, bindings);
}

pkc_stmt *pkc_build_require(pkc_parser *p, pkc_span span, pkc_expr *condition, pkc_string message)
{
    return STMT(REQUIRE, require, condition, message);
}

pkc_stmt *pkc_build_shared(pkc_parser *p, pkc_span span, pkc_param *param)
{
    return STMT(SHARED, shared, param);
}

pkc_stmt *pkc_build_return(pkc_parser *p, pkc_span span, pkc_expr *value)
{
    return STMT(RETURN, return_, value);
}

pkc_stmt *pkc_build_barrier(pkc_parser *p, pkc_span span)
{
    return finish_stmt(p, (pkc_stmt){.kind = PKC_STMT_BARRIER, .span = span});
}

pkc_stmt *pkc_build_expr_stmt(pkc_parser *p, pkc_span span, pkc_expr *value)
{
    return STMT(EXPR, expr, value);
}

pkc_stmt *pkc_build_assign(pkc_parser *p, pkc_span span, pkc_expr *target, pkc_assign_op op, pkc_expr *value)
{
    return STMT(ASSIGN, assign, op, target, value);
}

pkc_stmt *pkc_build_if(pkc_parser *p, pkc_span span, pkc_expr *condition, pkc_block *then_body,
                       pkc_block *else_body)
{
    return STMT(IF, if_, condition, then_body, else_body, NULL);
}

pkc_stmt *pkc_build_for(pkc_parser *p, pkc_span span, bool is_const, pkc_name name, pkc_expr *from,
                        pkc_expr *to, pkc_expr *step, pkc_block *body)
{
    return STMT(FOR, for_, is_const, name, from, to, step, body, NULL);
}

pkc_stmt *pkc_build_pipe(pkc_parser *p, pkc_span span, pkc_name name, pkc_expr *slots, pkc_params fields)
{
    return STMT(PIPE, pipe, name, slots, fields);
}

pkc_stmt *pkc_build_put(pkc_parser *p, pkc_span span, pkc_name pipe, pkc_block *body)
{
    return STMT(PUT, put, pipe, body);
}

pkc_stmt *pkc_build_get(pkc_parser *p, pkc_span span, pkc_name pipe, pkc_block *body)
{
    return STMT(GET, get, pipe, body);
}

pkc_stmt *pkc_build_group(pkc_parser *p, pkc_span span, pkc_name name, pkc_expr *count, pkc_block *body)
{
    return STMT(GROUP, group, name, count, body);
}

pkc_role_head pkc_build_plain_role(pkc_parser *p, pkc_span word, pkc_role_kind kind, pkc_expr *count)
{
    pkc_role_unit unit = kind == PKC_ROLE_CONSUMER ? PKC_UNIT_WARPGROUPS : PKC_UNIT_WARPS;
    pkc_name name = {pkc_session_str(p->session, pkc_role_text(kind)), word, NULL};
    return (pkc_role_head){kind, name, unit, count};
}

pkc_role_head pkc_build_user_role(pkc_parser *p, pkc_name name, pkc_name unit, pkc_expr *count)
{
    pkc_role_head head = {PKC_ROLE_USER, name, PKC_UNIT_WARPS, count};
    for (int i = 0; i < PKC_UNIT_COUNT; i++)
        if (strcmp(pkc_unit_text((pkc_role_unit)i), unit.text) == 0) {
            head.unit = (pkc_role_unit)i;
            return head;
        }
    pkc_diag *d = pkc_diag_error(p->session, PKC_DIAG_BAD_ROLE_UNIT, unit.span, unit.text);
    if (pkc_str_distance(unit.text, "warps", 2) <= 2)
        pkc_diag_fix(d, unit.span, "warps");
    else if (pkc_str_distance(unit.text, "warpgroups", 2) <= 2)
        pkc_diag_fix(d, unit.span, "warpgroups");
    return head;
}

pkc_stmt *pkc_build_role(pkc_parser *p, pkc_span span, pkc_role_head head, pkc_block *body)
{
    return STMT(ROLE, role, head.kind, head.name, head.unit, head.count, body);
}

pkc_binding *pkc_build_binding(pkc_parser *p, pkc_span span, pkc_name name, pkc_tyexpr *type, pkc_expr *value)
{
    pkc_binding *binding = PKC_NEW(arena_of(p), pkc_binding);
    *binding = (pkc_binding){span, false, pkc_build_names(p, (pkc_names){0}, name), type, value};
    return binding;
}

pkc_binding *pkc_build_tuple_binding(pkc_parser *p, pkc_span span, pkc_names names, pkc_expr *value)
{
    pkc_binding *binding = PKC_NEW(arena_of(p), pkc_binding);
    *binding = (pkc_binding){span, true, names, NULL, value};
    return binding;
}
