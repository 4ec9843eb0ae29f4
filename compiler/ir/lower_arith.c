// SPDX-License-Identifier: Apache-2.0
// Arithmetic on meanings: typing, literals, broadcasting, and host expressions beside the values.
#include "ir/lower_impl.h"

meaning lower_value(ir_value *v)
{
    return (meaning){.kind = MEAN_VALUE, .v = v};
}

meaning lower_int(lower *l, int64_t value)
{
    pkc_elem e = value >= INT32_MIN && value <= INT32_MAX ? PKC_E_I32 : PKC_E_I64;
    meaning m = lower_value(ir_build_int(&l->b, e, value));
    m.literal = true;
    m.hx = ir_hx_const(l->k->arena, value);
    return m;
}

static bool fits(pkc_elem e, int64_t v)
{
    if (e == PKC_E_U32)
        return v >= 0 && v <= UINT32_MAX;
    if (e == PKC_E_I32)
        return v >= INT32_MIN && v <= INT32_MAX;
    if (e == PKC_E_U8)
        return v >= 0 && v <= UINT8_MAX;
    if (e == PKC_E_I8)
        return v >= INT8_MIN && v <= INT8_MAX;
    if (e == PKC_E_BOOL)
        return false;
    return e != PKC_E_U64 || v >= 0;
}

meaning lower_adapt(lower *l, pkc_span span, meaning x, pkc_elem elem)
{
    int64_t i;
    double f;
    if (x.kind != MEAN_VALUE || !x.literal || x.v->type->elem == elem)
        return x;
    bool to_float = pkc_elem_class(elem) == 'f';
    if (ir_const_int(x.v, &i) && !to_float) {
        if (!fits(elem, i)) {
            const char *text = pkc_arena_printf(l->k->arena, "%lld", (long long)i);
            pkc_diag_error(l->s, PKC_DIAG_CONSTANT_RANGE, span, text, pkc_elem_name(elem));
            return lower_poison();
        }
        x.v = ir_build_int(&l->b, elem, i);
    } else if (ir_const_int(x.v, &i)) {
        x.v = ir_build_float(&l->b, elem, (double)i);
    } else if (ir_const_float(x.v, &f) && to_float) {
        x.v = ir_build_float(&l->b, elem, f);
    } else {
        return x;
    }
    return x;
}

bool lower_fits(lower *l, pkc_span span, int64_t rows, int64_t cols)
{
    // More than the registers of a worker hold, 64K of 4 bytes. An op on WORK_ELEMS elements counts as a
    // statement.
    enum { MOST_ELEMS = 1 << 18, WORK_ELEMS = 1 << 11 };
    l->work += rows * cols / WORK_ELEMS;
    if (rows * cols <= MOST_ELEMS)
        return true;
    pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, span, "the number of elements", (long long)(rows * cols),
                   "at most 262144");
    return false;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

ir_value *lower_to_reg(lower *l, pkc_span span, meaning x, pkc_elem elem, int32_t rows, int32_t cols)
{
    x = lower_adapt(l, span, x, elem);
    if (x.kind != MEAN_VALUE)
        return NULL;
    const ir_type *t = x.v->type;
    if (!lower_fits(l, span, rows, cols))
        return NULL;
    if (t->elem != elem) {
        const ir_type *want = ir_type_reg(l->k, elem, rows, cols, (ir_dist){0});
        meaning w = lower_value(&(ir_value){.type = want});
        pkc_diag_error(l->s, PKC_DIAG_TYPE_MISMATCH, span, lower_describe(l, &w), lower_describe(l, &x));
        return NULL;
    }
    if (t->kind == IR_T_SCALAR) {
        const ir_type *type = ir_type_reg(l->k, elem, rows, cols, (ir_dist){0});
        return &ir_build(&l->b, IR_SPLAT, 0, 1, &x.v, 1, &type, 0)->out[0];
    }
    if (t->rows == rows && t->cols == cols)
        return x.v;
    if ((t->rows != 1 && t->rows != rows) || (t->cols != 1 && t->cols != cols)) {
        pkc_diag_error(l->s, PKC_DIAG_SHAPES, span, rows, cols, t->rows, t->cols);
        return NULL;
    }
    // A value repeated along an axis: added to a zero of the full shape would change -0.0, so select takes it
    // whole.
    const ir_type *type = ir_type_reg(l->k, elem, rows, cols, (ir_dist){0});
    meaning zero = lower_adapt(l, span, lower_int(l, 0), elem);
    ir_value *full = &ir_build(&l->b, IR_SPLAT, 0, 1, &zero.v, 1, &type, 0)->out[0];
    const ir_type *ones = ir_type_reg(l->k, PKC_E_BOOL, rows, cols, (ir_dist){0});
    ir_value *yes = ir_build_int(&l->b, PKC_E_BOOL, 1);
    ir_value *all = &ir_build(&l->b, IR_SPLAT, 0, 1, &yes, 1, &ones, 0)->out[0];
    return ir_build_select(&l->b, all, x.v, full);
}

static bool axis_fits(int32_t a, int32_t b)
{
    return a == b || a == 1 || b == 1;
}

/// Both shapes broadcast to one.
static bool shapes_fit(lower *l, pkc_span span, const ir_type *a, const ir_type *b)
{
    if (axis_fits(a->rows, b->rows) && axis_fits(a->cols, b->cols))
        return lower_fits(l, span, larger(a->rows, b->rows), larger(a->cols, b->cols));
    pkc_diag_error(l->s, PKC_DIAG_SHAPES, span, a->rows, a->cols, b->rows, b->cols);
    return false;
}

/// A scalar as a register value of one element; others as they are.
static ir_value *at_least_reg(lower *l, pkc_span span, meaning x)
{
    const ir_type *t = x.v->type;
    return t->kind == IR_T_SCALAR ? lower_to_reg(l, span, x, t->elem, 1, 1) : x.v;
}

/// Brings two operands to one element type and, if either is a register value, both to register values.
static bool join(lower *l, pkc_span span, meaning *x, meaning *y)
{
    if (x->literal)
        *x = lower_adapt(l, span, *x, y->v->type->elem);
    else
        *y = lower_adapt(l, span, *y, x->v->type->elem);
    if (x->kind != MEAN_VALUE || y->kind != MEAN_VALUE)
        return false;
    const ir_type *a = x->v->type, *b = y->v->type;
    if (a->elem != b->elem) {
        pkc_diag *d =
            pkc_diag_error(l->s, PKC_DIAG_TYPE_MISMATCH, span, lower_describe(l, x), lower_describe(l, y));
        pkc_diag_help(d, "convert one side: %s(x)", pkc_elem_name(a->elem));
        return false;
    }
    bool tile = a->kind == IR_T_REG || b->kind == IR_T_REG;
    if (!tile)
        return true;
    x->v = at_least_reg(l, span, *x);
    y->v = at_least_reg(l, span, *y);
    return shapes_fit(l, span, x->v->type, y->v->type);
}

/// Literals are whole numbers of 64 bits until they meet a type.
static bool widen(lower *l, pkc_span span, unsigned sub, meaning *x, meaning *y)
{
    int64_t a, b, r;
    if (!ir_const_int(x->v, &a) || !ir_const_int(y->v, &b) || x->v->type->elem == PKC_E_BOOL)
        return true;
    bool over = (sub == IR_BIN_ADD && __builtin_add_overflow(a, b, &r)) ||
                (sub == IR_BIN_SUB && __builtin_sub_overflow(a, b, &r)) ||
                (sub == IR_BIN_MUL && __builtin_mul_overflow(a, b, &r));
    if (over) {
        const char *text = pkc_arena_printf(l->k->arena, "'%s' of %lld and %lld", ir_sub_text(IR_BIN, sub),
                                            (long long)a, (long long)b);
        pkc_diag_error(l->s, PKC_DIAG_CONSTANT_RANGE, span, text, "64 bits");
        return false;
    }
    x->v = ir_build_int(&l->b, PKC_E_I64, a);
    y->v = ir_build_int(&l->b, PKC_E_I64, b);
    return true;
}

/// The result of an operation on literals is one.
static meaning literal_result(lower *l, meaning r)
{
    int64_t i;
    if (ir_const_int(r.v, &i) && r.v->type->elem == PKC_E_I64)
        return lower_int(l, i);
    r.literal = true;
    return r;
}

/// The host operation of a scalar one; COUNT where there is none.
static ir_hx_op host_op(unsigned sub)
{
    switch ((ir_bin)sub) {
    case IR_BIN_ADD:
        return IR_HX_ADD;
    case IR_BIN_SUB:
        return IR_HX_SUB;
    case IR_BIN_MUL:
        return IR_HX_MUL;
    case IR_BIN_DIV:
        return IR_HX_DIV;
    case IR_BIN_CDIV:
        return IR_HX_CDIV;
    case IR_BIN_MOD:
        return IR_HX_MOD;
    case IR_BIN_MIN:
        return IR_HX_MIN;
    case IR_BIN_MAX:
        return IR_HX_MAX;
    case IR_BIN_AND:
        return IR_HX_AND;
    case IR_BIN_OR:
        return IR_HX_OR;
    case IR_BIN_XOR:
    case IR_BIN_SHL:
    case IR_BIN_SHR:
    case IR_BIN_COUNT:
        break;
    }
    return IR_HX_COUNT;
}

static const ir_hx *host_bin(lower *l, ir_hx_op op, const meaning *x, const meaning *y)
{
    return x->hx && y->hx && op != IR_HX_COUNT ? ir_hx_bin(l->k->arena, op, x->hx, y->hx) : NULL;
}

/// Division of constants comes out even; in a dimension the host checks the same.
static bool check_even(lower *l, pkc_span span, const meaning *x, const meaning *y)
{
    int64_t a, b;
    bool both = ir_const_int(x->v, &a) && ir_const_int(y->v, &b);
    if (both && (b == 0 || (b != -1 && a % b != 0))) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_INEXACT, span, (long long)a, (long long)b);
        pkc_diag_help(d, b ? "cdiv(%lld, %lld) rounds up" : "the divisor of %lld is %lld", (long long)a,
                      (long long)b);
        return false;
    }
    if (!both && l->in_dims && x->hx && y->hx) {
        const ir_hx *rest = ir_hx_bin(l->k->arena, IR_HX_MOD, x->hx, y->hx);
        pkc_buf text = {0};
        ir_hx_print_text(x->hx, &text);
        pkc_buf_puts(&text, " must be a multiple of ");
        ir_hx_print_text(y->hx, &text);
        const ir_hx *even = ir_hx_bin(l->k->arena, IR_HX_EQ, rest, ir_hx_const(l->k->arena, 0));
        lower_add_require(l, even, pkc_arena_strdup(l->k->arena, pkc_buf_cstr(&text)), span, false);
        pkc_buf_free(&text);
    }
    return true;
}

static bool allowed(lower *l, pkc_span span, const char *what, const meaning *x, bool ok, const char *needs)
{
    if (!ok)
        pkc_diag_error(l->s, PKC_DIAG_WRONG_TYPE, span, what, needs, lower_describe(l, x));
    return ok;
}

meaning lower_arith(lower *l, pkc_span span, unsigned sub, meaning x, meaning y)
{
    if (lower_is_poison(&x) || lower_is_poison(&y))
        return lower_poison();
    bool literal = x.literal && y.literal;
    if (!join(l, span, &x, &y) || (literal && !widen(l, span, sub, &x, &y)))
        return lower_poison();
    char class = pkc_elem_class(x.v->type->elem);
    const char *name = ir_sub_text(IR_BIN, sub);
    bool whole = sub == IR_BIN_MOD || sub == IR_BIN_CDIV;
    bool logic = sub == IR_BIN_AND || sub == IR_BIN_OR;
    if (!allowed(l, span, name, &x, !whole || class == 'i' || class == 'u', "whole numbers") ||
        !allowed(l, span, name, &x, (class == 'b') == logic, logic ? "truth values" : "numbers"))
        return lower_poison();
    bool divides = sub == IR_BIN_DIV && class != 'f';
    int64_t by;
    if ((divides || whole) && ir_const_int(y.v, &by) && by == 0) {
        pkc_diag_error(l->s, PKC_DIAG_DIVIDES_BY_ZERO, span);
        return lower_poison();
    }
    if (divides &&
        (literal || l->in_dims ||
         (x.hx && y.hx && x.v->def && x.v->def->kind == IR_CONST && y.v->def &&
          y.v->def->kind == IR_CONST)) &&
        !check_even(l, span, &x, &y))
        return lower_poison();
    meaning r = lower_value(ir_build_bin(&l->b, sub, x.v, y.v));
    r.hx = host_bin(l, host_op(sub), &x, &y);
    return literal ? literal_result(l, r) : r;
}

static const struct compare_row {
    unsigned sub;
    ir_hx_op host;
    bool swapped; // the host has only lt and le
} compares[PKC_BINARY_COUNT] = {
    [PKC_BINARY_EQ] = {IR_CMP_EQ, IR_HX_EQ, false}, [PKC_BINARY_NE] = {IR_CMP_NE, IR_HX_NE, false},
    [PKC_BINARY_LT] = {IR_CMP_LT, IR_HX_LT, false}, [PKC_BINARY_GT] = {IR_CMP_GT, IR_HX_LT, true},
    [PKC_BINARY_LE] = {IR_CMP_LE, IR_HX_LE, false}, [PKC_BINARY_GE] = {IR_CMP_GE, IR_HX_LE, true},
};

static meaning compare(lower *l, pkc_span span, const struct compare_row *row, meaning x, meaning y)
{
    if (lower_is_poison(&x) || lower_is_poison(&y) || !join(l, span, &x, &y))
        return lower_poison();
    bool order = row->sub != IR_CMP_EQ && row->sub != IR_CMP_NE;
    if (!allowed(l, span, ir_sub_text(IR_CMP, row->sub), &x, !order || pkc_elem_class(x.v->type->elem) != 'b',
                 "numbers"))
        return lower_poison();
    meaning r = lower_value(ir_build_cmp(&l->b, row->sub, x.v, y.v));
    r.hx = row->swapped ? host_bin(l, row->host, &y, &x) : host_bin(l, row->host, &x, &y);
    return r;
}

meaning lower_binary(lower *l, pkc_span span, pkc_binary_op op, meaning x, meaning y)
{
    switch (op) {
    case PKC_BINARY_ADD:
        return lower_arith(l, span, IR_BIN_ADD, x, y);
    case PKC_BINARY_SUB:
        return lower_arith(l, span, IR_BIN_SUB, x, y);
    case PKC_BINARY_MUL:
        return lower_arith(l, span, IR_BIN_MUL, x, y);
    case PKC_BINARY_DIV:
        return lower_arith(l, span, IR_BIN_DIV, x, y);
    case PKC_BINARY_MOD:
        return lower_arith(l, span, IR_BIN_MOD, x, y);
    case PKC_BINARY_AND:
        return lower_arith(l, span, IR_BIN_AND, x, y);
    case PKC_BINARY_OR:
        return lower_arith(l, span, IR_BIN_OR, x, y);
    case PKC_BINARY_EQ:
    case PKC_BINARY_NE:
    case PKC_BINARY_LT:
    case PKC_BINARY_GT:
    case PKC_BINARY_LE:
    case PKC_BINARY_GE:
        return compare(l, span, &compares[op], x, y);
    case PKC_BINARY_COUNT:
        break;
    }
    return lower_poison();
}

meaning lower_select(lower *l, pkc_span span, meaning c, meaning x, meaning y)
{
    if (lower_is_poison(&c) || lower_is_poison(&x) || lower_is_poison(&y) || !join(l, span, &x, &y))
        return lower_poison();
    if (c.v->type->elem != PKC_E_BOOL) {
        pkc_diag_error(l->s, PKC_DIAG_WRONG_TYPE, span, "select", "a truth value first",
                       lower_describe(l, &c));
        return lower_poison();
    }
    int64_t known;
    if (ir_const_int(c.v, &known) && ir_type_equal(x.v->type, y.v->type))
        return known ? x : y;
    if (c.v->type->kind == IR_T_REG) {
        x.v = at_least_reg(l, span, x);
        y.v = at_least_reg(l, span, y);
        if (!shapes_fit(l, span, c.v->type, x.v->type) || !shapes_fit(l, span, c.v->type, y.v->type))
            return lower_poison();
    }
    return lower_value(ir_build_select(&l->b, c.v, x.v, y.v));
}

meaning lower_unary(lower *l, pkc_span span, unsigned sub, meaning x)
{
    if (lower_is_poison(&x))
        return x;
    char class = pkc_elem_class(x.v->type->elem);
    bool real = sub != IR_UN_NEG && sub != IR_UN_NOT && sub != IR_UN_ABS;
    if (real)
        x = lower_adapt(l, span, x, class == 'f' ? x.v->type->elem : PKC_E_F32);
    class = lower_is_poison(&x) ? 'x' : pkc_elem_class(x.v->type->elem);
    const char *name = ir_sub_text(IR_UN, sub);
    if (!allowed(l, span, name, &x, (class == 'b') == (sub == IR_UN_NOT),
                 sub == IR_UN_NOT ? "a truth value" : "a number") ||
        !allowed(l, span, name, &x,
                 !real || (class == 'f' && (sub == IR_UN_SQRT || x.v->type->elem != PKC_E_F64)), "f32"))
        return lower_poison();
    meaning r = lower_value(ir_build_un(&l->b, sub, x.v));
    r.literal = x.literal;
    if (x.hx && sub == IR_UN_NOT)
        r.hx = ir_hx_not(l->k->arena, x.hx);
    if (x.hx && sub == IR_UN_NEG)
        r.hx = ir_hx_bin(l->k->arena, IR_HX_SUB, ir_hx_const(l->k->arena, 0), x.hx);
    return r;
}

meaning lower_cast(lower *l, pkc_span span, meaning x, pkc_elem elem)
{
    if (lower_is_poison(&x))
        return x;
    bool tile = x.v->type->kind == IR_T_REG;
    if (x.literal && pkc_elem_class(elem) == 'f') { // also of an element type that only tensors have
        x = lower_adapt(l, span, x, elem);
        x.literal = false;
        return x;
    }
    if (!(tile ? pkc_elem_in_tensor(elem) : pkc_elem_in_scalar(elem))) {
        pkc_diag_error(l->s, PKC_DIAG_WRONG_TYPE, span, pkc_elem_name(elem),
                       tile ? "a scalar" : "a register value", lower_describe(l, &x));
        return lower_poison();
    }
    meaning r = lower_value(ir_build_cast(&l->b, x.v, elem));
    r.hx = elem == PKC_E_I32 || elem == PKC_E_I64 ? x.hx : NULL;
    return r;
}
