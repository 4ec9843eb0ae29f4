// SPDX-License-Identifier: Apache-2.0
// The stable text form. parse.c reads it back; docs/compiler.md has its grammar.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/dist.h"
#include "ir/ir.h"
#include "ir/ptrmap.h"
#include "ir/text.h"

typedef struct printer {
    const ir_kernel *k;
    pkc_buf *out;
    bool locations;
    int depth;
    pkc_arena arena;
    ir_ptrmap names; // value -> its printed name
    ir_ptrmap taken; // interned name -> next number
    int next;
} printer;

// ---- values --------------------------------------------------------------------------------------------

/// %name for the first value so called, %name.1 for the next; %0, %1 .. without a name.
static const char *name_of(printer *p, const ir_value *v)
{
    char *name = ir_ptrmap_get(&p->names, v);
    if (name)
        return name;
    if (!v->name) {
        name = pkc_arena_printf(&p->arena, "%%%d", p->next++);
    } else {
        intptr_t n = (intptr_t)ir_ptrmap_get(&p->taken, v->name);
        ir_ptrmap_set(&p->taken, v->name, (void *)(n + 1));
        name = n ? pkc_arena_printf(&p->arena, "%%%s.%d", v->name, (int)n)
                 : pkc_arena_printf(&p->arena, "%%%s", v->name);
    }
    ir_ptrmap_set(&p->names, v, name);
    return name;
}

/// A float so that it reads back as the same number.
static void print_float(pkc_buf *out, double f)
{
    if (isnan(f))
        pkc_buf_puts(out, "nan");
    else if (isinf(f))
        pkc_buf_puts(out, f < 0 ? "-inf" : "inf");
    else if (f == floor(f) && fabs(f) < 1e15)
        pkc_buf_printf(out, "%.1f", f);
    else if (f == floor(f) && fabs(f) < 1e17) // %g would leave the point out, and an integer be read
        pkc_buf_printf(out, "%.16e", f);
    else
        pkc_buf_printf(out, "%.17g", f);
}

void ir_print_type(const ir_type *t, pkc_buf *out)
{
    switch (t->kind) {
    case IR_T_SCALAR:
        pkc_buf_puts(out, pkc_elem_name(t->elem));
        return;
    case IR_T_VIEW:
        pkc_buf_printf(out, "view<%s[%d,%d]%s>", pkc_elem_name(t->elem), t->rows, t->cols,
                       t->element ? ",element" : "");
        return;
    case IR_T_TILE:
        pkc_buf_printf(out, "tile<%s[%d,%d],%s%s>", pkc_elem_name(t->elem), t->rows, t->cols,
                       ir_layout_text(t->layout), t->transposed ? ",T" : "");
        return;
    case IR_T_REG:
        pkc_buf_printf(out, "reg<%s[%d,%d],%s", pkc_elem_name(t->elem), t->rows, t->cols,
                       ir_dist_base_text(t->dist.base));
        if (t->dist.w)
            pkc_buf_printf(out, "(%d", t->dist.w);
        if (ir_dist_lanes(t->dist) != 32)
            pkc_buf_printf(out, ",%d", t->dist.lanes);
        pkc_buf_puts(out, t->dist.w ? ")" : "");
        pkc_buf_putc(out, '>');
        return;
    case IR_T_SLOT:
        pkc_buf_printf(out, "slot<@%s>", t->pipe->name);
        return;
    case IR_T_STATE:
        pkc_buf_printf(out, "pst<@%s>", t->pipe->name);
        return;
    case IR_T_SIG:
        pkc_buf_puts(out, "sig");
        return;
    case IR_T_TOKEN:
        pkc_buf_puts(out, t->token == IR_TOK_MMA ? "tok<mma>" : "tok<bulk>");
        return;
    }
}

/// An operand: a scalar constant as an immediate of its type (`128`, `0.0:f32`), anything else by name.
static void print_operand(printer *p, const ir_value *v)
{
    if (!v->def || v->def->kind != IR_CONST) {
        pkc_buf_puts(p->out, name_of(p, v));
        return;
    }
    if (pkc_elem_class(v->type->elem) == 'f')
        print_float(p->out, v->def->attr.f);
    else if (v->type->elem == PKC_E_BOOL)
        pkc_buf_puts(p->out, v->def->attr.i ? "true" : "false");
    else
        pkc_buf_printf(p->out, "%" PRId64, v->def->attr.i);
    if (v->type->elem != PKC_E_I32 && v->type->elem != PKC_E_F32 && v->type->elem != PKC_E_BOOL)
        pkc_buf_printf(p->out, ":%s", pkc_elem_name(v->type->elem));
}

static void print_operands(printer *p, const ir_op *op, int from)
{
    for (int i = from; i < op->n_in; i++) {
        pkc_buf_puts(p->out, i == from ? " " : ", ");
        print_operand(p, op->in[i].value);
    }
}

// ---- operations ----------------------------------------------------------------------------------------

static void indent(printer *p)
{
    pkc_buf_fill(p->out, ' ', 2 * (size_t)p->depth);
}

static void print_location(printer *p, pkc_span pos)
{
    if (!p->locations || !pos.file)
        return;
    pkc_place at = pkc_span_begin(pos);
    pkc_buf_printf(p->out, " @%u:%u", at.line, at.column);
}

static void print_region(printer *p, const ir_region *region, bool args);

static void print_view_attr(printer *p, const ir_op *op)
{
    static const char *const peers[] = {"own", "rank", "all"};
    const ir_attr *a = &op->attr;
    pkc_buf_printf(p->out, " @%s %s", a->param->name, peers[a->peer]);
    if (op->kind == IR_VIEW) {
        if (a->row_axis >= 0)
            pkc_buf_printf(p->out, " rows %d", a->row_axis);
        if (a->col_axis >= 0)
            pkc_buf_printf(p->out, " cols %d", a->col_axis);
        if (a->has_row_hi)
            pkc_buf_puts(p->out, " rowhi");
        if (a->has_col_hi)
            pkc_buf_puts(p->out, " colhi");
    }
}

static void print_attr(printer *p, const ir_op *op)
{
    const ir_attr *a = &op->attr;
    switch (ir_op_attr(op->kind)) {
    case IR_ATTR_NONE:
    case IR_ATTR_SUB:
    case IR_ATTR_CONST:
        break;
    case IR_ATTR_INT:
        pkc_buf_printf(p->out, " #%" PRId64 "%s", a->i, a->flag ? "!" : "");
        break;
    case IR_ATTR_INT_SUB:
    case IR_ATTR_FIELD:
        pkc_buf_printf(p->out, " #%" PRId64, a->i);
        break;
    case IR_ATTR_NAME:
        pkc_buf_printf(p->out, " @%s", a->name);
        break;
    case IR_ATTR_PARAM:
        pkc_buf_printf(p->out, " @%s", a->param->name);
        break;
    case IR_ATTR_VIEW:
        print_view_attr(p, op);
        break;
    case IR_ATTR_SHARED:
        pkc_buf_printf(p->out, " @%s", a->shared->name);
        break;
    case IR_ATTR_PIPE:
    case IR_ATTR_PIPE_SUB:
        pkc_buf_printf(p->out, " @%s", a->pipe->name);
        break;
    case IR_ATTR_ROLE:
        pkc_buf_printf(p->out, " @%s", a->role->name);
        break;
    case IR_ATTR_GROUP:
        pkc_buf_printf(p->out, " @%s", a->group->name);
        break;
    }
}

static void print_results(printer *p, const ir_op *op)
{
    for (int i = 0; i < op->n_out; i++)
        pkc_buf_printf(p->out, "%s%s", i ? ", " : "", name_of(p, &op->out[i]));
    if (op->n_out)
        pkc_buf_puts(p->out, " = ");
}

static void print_types(printer *p, const ir_op *op)
{
    for (int i = 0; i < op->n_out; i++) {
        pkc_buf_puts(p->out, i ? ", " : " : ");
        ir_print_type(op->out[i].type, p->out);
    }
}

static void print_for(printer *p, const ir_op *op)
{
    const ir_value *args = op->reg[0].args;
    pkc_buf_printf(p->out, "for %s = ", name_of(p, &args[0]));
    print_operand(p, op->in[0].value);
    pkc_buf_puts(p->out, " to ");
    print_operand(p, op->in[1].value);
    pkc_buf_puts(p->out, " step ");
    print_operand(p, op->in[2].value);
    for (int i = 3; i < op->n_in; i++) {
        pkc_buf_printf(p->out, "%s%s = ", i == 3 ? " carry (" : ", ", name_of(p, &args[i - 2]));
        print_operand(p, op->in[i].value);
    }
    if (op->n_in > 3)
        pkc_buf_putc(p->out, ')');
    print_types(p, op);
    print_location(p, op->pos);
    print_region(p, &op->reg[0], false);
}

static void print_plain(printer *p, const ir_op *op)
{
    pkc_buf_puts(p->out, ir_op_text(op->kind));
    const char *sub = ir_sub_text(op->kind, op->sub);
    if (sub)
        pkc_buf_printf(p->out, ".%s", sub);
    print_attr(p, op);
    print_operands(p, op, 0);
    print_types(p, op);
    print_location(p, op->pos);
    for (int r = 0; r < op->n_reg; r++) {
        if (r)
            pkc_buf_puts(p->out, " else");
        print_region(p, &op->reg[r], true);
    }
}

static void print_op(printer *p, const ir_op *op)
{
    if (op->kind == IR_CONST)
        return; // an immediate where it is used
    indent(p);
    print_results(p, op);
    if (op->kind == IR_FOR)
        print_for(p, op);
    else
        print_plain(p, op);
    pkc_buf_putc(p->out, '\n');
}

/// `{ ... }`, with its arguments before it where they have no other place.
static void print_region(printer *p, const ir_region *region, bool args)
{
    for (int i = 0; args && i < region->n_args; i++) {
        pkc_buf_printf(p->out, "%s%s: ", i ? ", " : " (", name_of(p, &region->args[i]));
        ir_print_type(region->args[i].type, p->out);
        if (i + 1 == region->n_args)
            pkc_buf_putc(p->out, ')');
    }
    pkc_buf_puts(p->out, " {\n");
    p->depth++;
    for (const ir_op *op = region->first; op; op = op->next)
        print_op(p, op);
    p->depth--;
    indent(p);
    pkc_buf_putc(p->out, '}');
}

// ---- kernels -------------------------------------------------------------------------------------------

static void print_bodies(printer *p)
{
    if (p->k->body) {
        pkc_buf_puts(p->out, "  body all");
        print_region(p, p->k->body, true);
        pkc_buf_putc(p->out, '\n');
    }
    for (const ir_group *g = p->k->groups; g; g = g->next)
        for (const ir_role *r = g->roles; r; r = r->next) {
            if (!r->body)
                continue;
            pkc_buf_printf(p->out, "  body %s%s@%s", g->name[0] ? g->name : "", g->name[0] ? "." : "",
                           r->name);
            print_region(p, r->body, true);
            pkc_buf_putc(p->out, '\n');
        }
}

void ir_print_kernel(const ir_kernel *k, bool locations, pkc_buf *out)
{
    printer p = {.k = k, .out = out, .locations = locations, .depth = 1};
    pkc_arena_init(&p.arena);
    ir_ptrmap_init(&p.names, &p.arena);
    ir_ptrmap_init(&p.taken, &p.arena);
    ir_print_header(k, out);
    print_bodies(&p);
    pkc_buf_puts(out, "}\n");
    pkc_arena_free(&p.arena);
}

void ir_print_module(const ir_module *m, bool locations, pkc_buf *out)
{
    for (int i = 0; i < m->n_kernels; i++) {
        if (i)
            pkc_buf_putc(out, '\n');
        ir_print_kernel(m->kernels[i], locations, out);
    }
}
