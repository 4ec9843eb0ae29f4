// SPDX-License-Identifier: Apache-2.0
// Modules as source in one fixed form.
#include "syntax/print.h"

typedef struct printer {
    pkc_buf *out;
    size_t indent;
} printer;

enum { INDENT = 2 };

static void print_stmt(printer *p, const pkc_stmt *stmt);

void pkc_print_string(const char *text, pkc_buf *out)
{
    pkc_buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '\n' || *text == '\t')
            pkc_buf_puts(out, *text == '\n' ? "\\n" : "\\t");
        else if (*text == '"' || *text == '\\')
            pkc_buf_printf(out, "\\%c", *text);
        else
            pkc_buf_putc(out, *text);
    }
    pkc_buf_putc(out, '"');
}

static void print_types(const pkc_tyexprs *list, pkc_buf *out)
{
    pkc_buf_putc(out, '(');
    for (size_t i = 0; i < list->len; i++) {
        if (i)
            pkc_buf_puts(out, ", ");
        pkc_print_type(list->data[i], out);
    }
    pkc_buf_putc(out, ')');
}

void pkc_print_type(const pkc_tyexpr *type, pkc_buf *out)
{
    switch (type->kind) {
    case PKC_TYEXPR_NAMED:
        pkc_buf_printf(out, "%s%s", type->as.named.peer ? "peer " : "", type->as.named.elem.text);
        if (type->as.named.dims.len) {
            pkc_buf_putc(out, '[');
            pkc_print_exprs(&type->as.named.dims, out);
            pkc_buf_putc(out, ']');
        }
        break;
    case PKC_TYEXPR_TUPLE:
        print_types(&type->as.tuple.types, out);
        break;
    case PKC_TYEXPR_COUNT:
        break;
    }
}

static void print_param(const pkc_param *param, pkc_buf *out)
{
    pkc_buf_puts(out, param->name.text);
    if (param->type) {
        pkc_buf_puts(out, ": ");
        pkc_print_type(param->type, out);
    }
    if (param->init) {
        pkc_buf_puts(out, " = ");
        pkc_print_expr(param->init, out);
    }
}

static void print_params(const char *open, const pkc_params *list, const char *close, pkc_buf *out)
{
    pkc_buf_puts(out, open);
    for (size_t i = 0; i < list->len; i++) {
        if (i)
            pkc_buf_puts(out, ", ");
        print_param(list->data[i], out);
    }
    pkc_buf_puts(out, close);
}

static void print_consts(const pkc_params *consts, pkc_buf *out)
{
    if (consts->len)
        print_params("<", consts, ">", out);
}

static void begin_line(printer *p)
{
    pkc_buf_fill(p->out, ' ', p->indent);
}

static void print_block(printer *p, const pkc_block *block)
{
    if (block->stmts.len == 0) {
        pkc_buf_puts(p->out, "{ }");
        return;
    }
    pkc_buf_puts(p->out, "{\n");
    p->indent += INDENT;
    for (size_t i = 0; i < block->stmts.len; i++) {
        begin_line(p);
        print_stmt(p, block->stmts.data[i]);
        pkc_buf_putc(p->out, '\n');
    }
    p->indent -= INDENT;
    begin_line(p);
    pkc_buf_putc(p->out, '}');
}

static void print_names(const pkc_names *names, pkc_buf *out)
{
    for (size_t i = 0; i < names->len; i++)
        pkc_buf_printf(out, "%s%s", i ? ", " : "", names->data[i].text);
}

static void print_bindings(const char *word, const pkc_bindings *list, pkc_buf *out)
{
    pkc_buf_puts(out, word);
    for (size_t i = 0; i < list->len; i++) {
        const pkc_binding *binding = list->data[i];
        pkc_buf_puts(out, i ? ", " : " ");
        pkc_buf_puts(out, binding->tuple ? "(" : "");
        print_names(&binding->names, out);
        pkc_buf_puts(out, binding->tuple ? ")" : "");
        if (binding->type) {
            pkc_buf_puts(out, ": ");
            pkc_print_type(binding->type, out);
        }
        pkc_buf_puts(out, " = ");
        pkc_print_expr(binding->value, out);
    }
    pkc_buf_putc(out, ';');
}

static void print_if(printer *p, const struct pkc_stmt_if_ *node)
{
    pkc_buf_puts(p->out, "if ");
    pkc_print_expr(node->condition, p->out);
    pkc_buf_putc(p->out, ' ');
    print_block(p, node->then_body);
    if (!node->else_body)
        return;
    pkc_buf_puts(p->out, " else ");
    if (node->else_body->else_if)
        print_stmt(p, node->else_body->stmts.data[0]);
    else
        print_block(p, node->else_body);
}

static void print_for(printer *p, const struct pkc_stmt_for_ *node)
{
    pkc_buf_printf(p->out, "for %s%s in ", node->is_const ? "const " : "", node->name.text);
    pkc_print_expr(node->from, p->out);
    pkc_buf_puts(p->out, " .. ");
    pkc_print_expr(node->to, p->out);
    if (node->step) {
        pkc_buf_puts(p->out, " step ");
        pkc_print_expr(node->step, p->out);
    }
    pkc_buf_putc(p->out, ' ');
    print_block(p, node->body);
}

static void print_pipe(const struct pkc_stmt_pipe *node, pkc_buf *out)
{
    pkc_buf_printf(out, "pipe %s[", node->name.text);
    pkc_print_expr(node->slots, out);
    pkc_buf_puts(out, "] { ");
    for (size_t i = 0; i < node->fields.len; i++) {
        print_param(node->fields.data[i], out);
        pkc_buf_puts(out, "; ");
    }
    pkc_buf_putc(out, '}');
}

static void print_named_block(printer *p, const char *word, const pkc_name *name, const pkc_expr *count,
                              const pkc_block *body)
{
    pkc_buf_printf(p->out, "%s %s", word, name->text);
    if (count) {
        pkc_buf_putc(p->out, '(');
        pkc_print_expr(count, p->out);
        pkc_buf_putc(p->out, ')');
    }
    pkc_buf_putc(p->out, ' ');
    print_block(p, body);
}

static void print_role(printer *p, const struct pkc_stmt_role *node)
{
    pkc_buf_puts(p->out, pkc_role_text(node->role));
    if (node->role == PKC_ROLE_USER)
        pkc_buf_printf(p->out, " %s: %s", node->name.text, pkc_unit_text(node->unit));
    if (node->count) {
        pkc_buf_putc(p->out, '(');
        pkc_print_expr(node->count, p->out);
        pkc_buf_putc(p->out, ')');
    }
    pkc_buf_putc(p->out, ' ');
    print_block(p, node->body);
}

// Statements that end with ';'.
static void print_simple(const pkc_stmt *stmt, pkc_buf *out)
{
    switch (stmt->kind) {
    case PKC_STMT_REQUIRE:
        pkc_buf_puts(out, "require ");
        pkc_print_expr(stmt->as.require.condition, out);
        pkc_buf_puts(out, ", ");
        pkc_print_string(stmt->as.require.message.text, out);
        break;
    case PKC_STMT_SHARED:
        pkc_buf_puts(out, "shared ");
        print_param(stmt->as.shared.param, out);
        break;
    case PKC_STMT_RETURN:
        pkc_buf_puts(out, "return ");
        pkc_print_expr(stmt->as.return_.value, out);
        break;
    case PKC_STMT_BARRIER:
        pkc_buf_puts(out, "barrier");
        break;
    case PKC_STMT_EXPR:
        pkc_print_expr(stmt->as.expr.value, out);
        break;
    case PKC_STMT_ASSIGN:
        pkc_print_expr(stmt->as.assign.target, out);
        pkc_buf_printf(out, " %s ", pkc_assign_text(stmt->as.assign.op));
        pkc_print_expr(stmt->as.assign.value, out);
        break;
    case PKC_STMT_LET:
    case PKC_STMT_VAR:
    case PKC_STMT_IF:
    case PKC_STMT_FOR:
    case PKC_STMT_PIPE:
    case PKC_STMT_PUT:
    case PKC_STMT_GET:
    case PKC_STMT_GROUP:
    case PKC_STMT_ROLE:
    case PKC_STMT_COUNT:
        return; // print_stmt's
    }
    pkc_buf_putc(out, ';');
}

static void print_stmt(printer *p, const pkc_stmt *stmt)
{
    switch (stmt->kind) {
    case PKC_STMT_LET:
        print_bindings("let", &stmt->as.let.bindings, p->out);
        break;
    case PKC_STMT_VAR:
        print_bindings("var", &stmt->as.var.bindings, p->out);
        break;
    case PKC_STMT_IF:
        print_if(p, &stmt->as.if_);
        break;
    case PKC_STMT_FOR:
        print_for(p, &stmt->as.for_);
        break;
    case PKC_STMT_PIPE:
        print_pipe(&stmt->as.pipe, p->out);
        break;
    case PKC_STMT_PUT:
        print_named_block(p, "put", &stmt->as.put.pipe, NULL, stmt->as.put.body);
        break;
    case PKC_STMT_GET:
        print_named_block(p, "get", &stmt->as.get.pipe, NULL, stmt->as.get.body);
        break;
    case PKC_STMT_GROUP:
        print_named_block(p, "group", &stmt->as.group.name, stmt->as.group.count, stmt->as.group.body);
        break;
    case PKC_STMT_ROLE:
        print_role(p, &stmt->as.role);
        break;
    case PKC_STMT_REQUIRE:
    case PKC_STMT_SHARED:
    case PKC_STMT_RETURN:
    case PKC_STMT_BARRIER:
    case PKC_STMT_EXPR:
    case PKC_STMT_ASSIGN:
    case PKC_STMT_COUNT:
        print_simple(stmt, p->out);
        break;
    }
}

static void print_kernel(printer *p, const struct pkc_item_kernel *kernel)
{
    for (size_t i = 0; i < kernel->attributes.len; i++)
        pkc_buf_printf(p->out, "@%s ", kernel->attributes.data[i].text);
    pkc_buf_printf(p->out, "kernel %s", kernel->name.text);
    print_consts(&kernel->consts, p->out);
    print_params("(", &kernel->params, ")\n", p->out);
    print_block(p, kernel->body);
}

static void print_fn(printer *p, const struct pkc_item_fn *fn)
{
    pkc_buf_printf(p->out, "fn %s", fn->name.text);
    print_consts(&fn->consts, p->out);
    print_params("(", &fn->params, ")", p->out);
    if (fn->result) {
        pkc_buf_puts(p->out, " -> ");
        pkc_print_type(fn->result, p->out);
    }
    pkc_buf_putc(p->out, '\n');
    print_block(p, fn->body);
}

static void print_doc(const char *doc, pkc_buf *out)
{
    if (!doc)
        return;
    pkc_buf_puts(out, "// ");
    for (; *doc; doc++) {
        pkc_buf_putc(out, *doc);
        if (*doc == '\n')
            pkc_buf_puts(out, "// ");
    }
    pkc_buf_putc(out, '\n');
}

void pkc_print_module(const pkc_module *module, pkc_buf *out)
{
    printer p = {out, 0};
    for (size_t i = 0; i < module->items.len; i++) {
        const pkc_item *item = module->items.data[i];
        if (i && !(item->kind == PKC_ITEM_IMPORT && module->items.data[i - 1]->kind == PKC_ITEM_IMPORT))
            pkc_buf_putc(out, '\n');
        print_doc(item->doc, out);
        switch (item->kind) {
        case PKC_ITEM_IMPORT:
            pkc_buf_printf(out, "import %s;", item->as.import.name.text);
            break;
        case PKC_ITEM_KERNEL:
            print_kernel(&p, &item->as.kernel);
            break;
        case PKC_ITEM_FN:
            print_fn(&p, &item->as.fn);
            break;
        case PKC_ITEM_COUNT:
            break;
        }
        pkc_buf_putc(out, '\n');
    }
}
