// SPDX-License-Identifier: Apache-2.0
// Scalars outside the IR: as host expressions, and as the user wrote them.
#include <inttypes.h>

#include "ir/norm.h"

// ---- host expressions ----------------------------------------------------------------------------------

/// With the number of its nodes, so that none becomes longer than a requirement may be.
typedef struct host {
    const ir_hx *hx;
    int size;
} host;

enum { MOST_NODES = 64 };

static host host_value(ir_norms *t, const ir_value *v);

static host host_bin(ir_norms *t, const ir_op *op)
{
    static const ir_hx_op map[IR_BIN_COUNT] = {
        [IR_BIN_ADD] = IR_HX_ADD, [IR_BIN_SUB] = IR_HX_SUB,   [IR_BIN_MUL] = IR_HX_MUL,
        [IR_BIN_DIV] = IR_HX_DIV, [IR_BIN_CDIV] = IR_HX_CDIV, [IR_BIN_MOD] = IR_HX_MOD,
        [IR_BIN_MIN] = IR_HX_MIN, [IR_BIN_MAX] = IR_HX_MAX};
    host none = {0}, a = host_value(t, ir_in(op, 0)), b = host_value(t, ir_in(op, 1));
    if (!a.hx || !b.hx || map[op->sub] == IR_HX_CONST || a.size + b.size >= MOST_NODES)
        return none;
    return (host){ir_hx_bin(t->k->arena, map[op->sub], a.hx, b.hx), a.size + b.size + 1};
}

static host compute(ir_norms *t, const ir_value *v)
{
    pkc_arena *arena = t->k->arena;
    const ir_op *op = v->def;
    int64_t i;
    if (ir_const_int(v, &i))
        return (host){ir_hx_const(arena, i), 1};
    if (!op || v->type->kind != IR_T_SCALAR || pkc_elem_class(v->type->elem) == 'f')
        return (host){0};
    if (op->kind == IR_DIM)
        return (host){ir_hx_dim(arena, op->attr.name), 1};
    if (op->kind == IR_SCALAR)
        return (host){ir_hx_scalar(arena, op->attr.param->name), 1};
    if (op->kind == IR_READ && op->sub == IR_READ_RANKS)
        return (host){ir_hx_leaf(arena, IR_HX_RANKS), 1};
    if (op->kind == IR_READ && op->sub == IR_READ_SMS)
        return (host){ir_hx_leaf(arena, IR_HX_SMS), 1};
    return op->kind == IR_BIN && v->type->elem == PKC_E_I32 ? host_bin(t, op) : (host){0};
}

static host host_value(ir_norms *t, const ir_value *v)
{
    const host *known = ir_ptrmap_get(&t->hosts, v);
    if (known)
        return *known;
    host *found = PKC_NEW(t->k->arena, host);
    if (t->nest < IR_NORM_NEST) {
        t->nest++;
        *found = compute(t, v);
        t->nest--;
    }
    ir_ptrmap_set(&t->hosts, v, found);
    return *found;
}

const ir_hx *ir_host_of(ir_norms *t, const ir_value *v)
{
    return host_value(t, v).hx;
}

// ---- words ---------------------------------------------------------------------------------------------

enum { MOST_NESTED = 4 }; // deeper operands are left out: "cdiv(.., 64)"

static void sum_words(ir_norm a, int nest, pkc_buf *out);

static void call_words(const char *name, const ir_atom *a, int nest, pkc_buf *out)
{
    pkc_buf_printf(out, "%s(", name);
    for (int i = 0; i < a->n; i++) {
        pkc_buf_puts(out, i ? ", " : "");
        sum_words(a->args[i], nest, out);
    }
    pkc_buf_putc(out, ')');
}

static void operand_words(ir_norm a, int nest, pkc_buf *out)
{
    int64_t value;
    bool single = ir_norm_is_const(a, &value) || (a.n == 1 && a.terms[0].n == 1 && a.terms[0].factor == 1);
    pkc_buf_puts(out, single ? "" : "(");
    sum_words(a, nest, out);
    pkc_buf_puts(out, single ? "" : ")");
}

/// The operator between two operands, NULL for calls.
static const char *infix(const ir_op *op)
{
    if (op->kind == IR_BIN && (op->sub == IR_BIN_DIV || op->sub == IR_BIN_MOD))
        return op->sub == IR_BIN_DIV ? "/" : "%";
    static const char *const compare[IR_CMP_COUNT] = {"==", "!=", "<", "<=", ">", ">="};
    return op->kind == IR_CMP ? compare[op->sub] : NULL;
}

static void op_words(const ir_atom *a, int nest, pkc_buf *out)
{
    const ir_op *op = a->value->def;
    const char *sub = ir_sub_text(op->kind, op->sub), *between = infix(op);
    if (op->kind == IR_CAST) {
        call_words(pkc_elem_name(a->value->type->elem), a, nest, out);
    } else if (between && a->n == 2) {
        operand_words(a->args[0], nest, out);
        pkc_buf_printf(out, " %s ", between);
        operand_words(a->args[1], nest, out);
    } else {
        call_words(sub ? sub : "..", a, nest, out);
    }
}

/// `A[i, j]`, `A@r[i, j]`: an element, by its view's coordinates.
static void element_words(const ir_atom *view, int nest, pkc_buf *out)
{
    const ir_attr *a = &view->value->def->attr;
    int i = 0;
    pkc_buf_puts(out, a->param->name);
    if (a->peer == IR_PEER_RANK) {
        pkc_buf_putc(out, '@');
        operand_words(view->args[i++], nest, out);
    }
    for (int first = i; i < view->n; i++) {
        pkc_buf_puts(out, i == first ? "[" : ", ");
        sum_words(view->args[i], nest, out);
    }
    pkc_buf_putc(out, ']');
}

static void leaf_words(const ir_atom *a, int nest, pkc_buf *out)
{
    const ir_op *op = a->value ? a->value->def : NULL;
    if (op && op->kind == IR_DIM)
        pkc_buf_puts(out, op->attr.name);
    else if (op && op->kind == IR_CONST)
        pkc_buf_printf(out, "%g", op->attr.f);
    else if (op && op->kind == IR_SCALAR)
        pkc_buf_puts(out, op->attr.param->name);
    else if (op && op->kind == IR_READ)
        pkc_buf_puts(out, ir_sub_text(op->kind, op->sub));
    else if (op && op->kind == IR_ELEM && a->n == 1)
        element_words(a->args[0].terms[0].atoms[0], nest, out);
    else
        pkc_buf_puts(out, "..");
}

static void atom_words(const ir_atom *a, int nest, pkc_buf *out)
{
    int64_t step;
    if (a->value && a->value->name && a->kind != IR_ATOM_OP) {
        pkc_buf_puts(out, a->value->name);
    } else if (nest == 0) {
        pkc_buf_puts(out, "..");
    } else if (a->kind == IR_ATOM_OP && a->value->def) {
        op_words(a, nest - 1, out);
    } else if (a->kind == IR_ATOM_SELECT) {
        call_words("select", a, nest - 1, out);
    } else if (a->kind == IR_ATOM_POSITIVE || a->kind == IR_ATOM_ZERO) {
        operand_words(a->args[0], nest - 1, out);
        pkc_buf_puts(out, a->kind == IR_ATOM_ZERO ? " == 0" : " > 0");
    } else if (a->kind == IR_ATOM_TRIPS && ir_norm_is_const(a->args[1], &step) && step == 1) {
        operand_words(a->args[0], nest, out);
    } else if (a->kind == IR_ATOM_TRIPS) {
        call_words("cdiv", a, nest - 1, out);
    } else {
        leaf_words(a, nest - 1, out);
    }
}

static void term_words(const ir_term *t, int nest, pkc_buf *out)
{
    uint64_t factor = t->factor < 0 ? 0 - (uint64_t)t->factor : (uint64_t)t->factor;
    if (factor != 1 || t->n == 0)
        pkc_buf_printf(out, "%" PRIu64, factor);
    for (int i = 0; i < t->n; i++) {
        pkc_buf_puts(out, i || factor != 1 ? " * " : "");
        atom_words(t->atoms[i], nest, out);
    }
}

/// The constant, which sorts first, is written last.
static void sum_words(ir_norm a, int nest, pkc_buf *out)
{
    int constant = a.n > 1 && a.terms[0].n == 0;
    if (a.n == 0)
        pkc_buf_putc(out, '0');
    for (int i = 0; i < a.n; i++) {
        const ir_term *t = &a.terms[(i + constant) % a.n];
        bool minus = t->factor < 0;
        pkc_buf_puts(out, i == 0 ? (minus ? "-" : "") : minus ? " - " : " + ");
        term_words(t, nest, out);
    }
}

void ir_norm_words(ir_norm a, pkc_buf *out)
{
    sum_words(a, MOST_NESTED, out);
}
