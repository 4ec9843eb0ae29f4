// SPDX-License-Identifier: Apache-2.0
#include "ir/fold.h"

#include <math.h>

int64_t ir_wrap(pkc_elem elem, int64_t v)
{
    unsigned bits = elem == PKC_E_BOOL ? 1 : pkc_elem_bits(elem);
    if (bits == 64)
        return v;
    uint64_t low = (uint64_t)v & ((UINT64_C(1) << bits) - 1);
    if (pkc_elem_class(elem) != 'i')
        return (int64_t)low;
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (int64_t)((low ^ sign) - sign);
}

static bool divide(unsigned sub, bool is_signed, int64_t x, int64_t y, int64_t *out)
{
    if (y == 0 || (is_signed && y == -1))
        return false;
    int64_t q = is_signed ? x / y : (int64_t)((uint64_t)x / (uint64_t)y);
    int64_t r = is_signed ? x % y : (int64_t)((uint64_t)x % (uint64_t)y);
    if (sub == IR_BIN_MOD)
        *out = r;
    else if (sub == IR_BIN_DIV)
        *out = q;
    else // cdiv rounds towards plus infinity
        *out = q + (r != 0 && (!is_signed || (x < 0) == (y < 0)));
    return true;
}

static bool shift(unsigned sub, bool is_signed, unsigned bits, int64_t x, int64_t y, int64_t *out)
{
    if (y < 0 || y >= bits)
        return false;
    if (sub == IR_BIN_SHL)
        *out = (int64_t)((uint64_t)x << y);
    else
        *out = is_signed ? x >> y : (int64_t)((uint64_t)x >> y);
    return true;
}

static bool bin_int(unsigned sub, pkc_elem e, int64_t x, int64_t y, int64_t *out)
{
    bool is_signed = pkc_elem_class(e) == 'i';
    bool less = is_signed ? x < y : (uint64_t)x < (uint64_t)y;
    switch ((ir_bin)sub) {
    case IR_BIN_ADD:
        *out = (int64_t)((uint64_t)x + (uint64_t)y);
        return true;
    case IR_BIN_SUB:
        *out = (int64_t)((uint64_t)x - (uint64_t)y);
        return true;
    case IR_BIN_MUL:
        *out = (int64_t)((uint64_t)x * (uint64_t)y);
        return true;
    case IR_BIN_DIV:
    case IR_BIN_CDIV:
    case IR_BIN_MOD:
        return divide(sub, is_signed, x, y, out);
    case IR_BIN_MIN:
        *out = less ? x : y;
        return true;
    case IR_BIN_MAX:
        *out = less ? y : x;
        return true;
    case IR_BIN_AND:
        *out = x & y;
        return true;
    case IR_BIN_OR:
        *out = x | y;
        return true;
    case IR_BIN_XOR:
        *out = x ^ y;
        return true;
    case IR_BIN_SHL:
    case IR_BIN_SHR:
        return shift(sub, is_signed, pkc_elem_bits(e), x, y, out);
    case IR_BIN_COUNT:
        break;
    }
    return false;
}

/// Folds f32 as the hardware does it: add, sub and mul round to nearest, denormals flush. Others are
/// approximations and stay.
static bool bin_float(unsigned sub, double x, double y, double *out)
{
    float a = (float)x, b = (float)y, r;
    if (sub == IR_BIN_ADD)
        r = a + b;
    else if (sub == IR_BIN_SUB)
        r = a - b;
    else if (sub == IR_BIN_MUL)
        r = a * b;
    else
        return false;
    *out = fpclassify(r) == FP_SUBNORMAL ? copysign(0.0, r) : (double)r;
    return true;
}

/// x op y where one side is the operation's neutral element.
static ir_value *identity(unsigned sub, ir_value *x, ir_value *y)
{
    int64_t v;
    if (ir_const_int(y, &v)) {
        bool zero = v == 0 && (sub == IR_BIN_ADD || sub == IR_BIN_SUB || sub == IR_BIN_OR ||
                               sub == IR_BIN_SHL || sub == IR_BIN_SHR);
        bool one = v == 1 && (sub == IR_BIN_MUL || sub == IR_BIN_DIV || sub == IR_BIN_CDIV);
        bool all = v == 1 && sub == IR_BIN_AND && y->type->elem == PKC_E_BOOL;
        return zero || one || all ? x : NULL;
    }
    if (!ir_const_int(x, &v))
        return NULL;
    bool keep = (v == 0 && (sub == IR_BIN_ADD || sub == IR_BIN_OR)) || (v == 1 && sub == IR_BIN_MUL);
    return keep || (v == 1 && sub == IR_BIN_AND && x->type->elem == PKC_E_BOOL) ? y : NULL;
}

/// x * 0 and x % 1, and x and/or the constant that decides.
static ir_value *absorbed(ir_builder *b, unsigned sub, ir_value *x, ir_value *y)
{
    int64_t v;
    if (ir_const_int(x, &v) && (sub == IR_BIN_MUL || sub == IR_BIN_AND || sub == IR_BIN_OR)) {
        ir_value *t = x;
        x = y;
        y = t;
    }
    if (x->type->kind != IR_T_SCALAR || !ir_const_int(y, &v))
        return NULL;
    if (v == 0 && (sub == IR_BIN_MUL || sub == IR_BIN_AND))
        return ir_build_int(b, x->type->elem, 0);
    if (v == 1 && sub == IR_BIN_MOD)
        return ir_build_int(b, x->type->elem, 0);
    if (v == 1 && sub == IR_BIN_OR && x->type->elem == PKC_E_BOOL)
        return ir_build_int(b, PKC_E_BOOL, 1);
    return NULL;
}

ir_value *ir_fold_bin(ir_builder *b, unsigned sub, ir_value *x, ir_value *y)
{
    int64_t i, j, r;
    double f, g, s;
    if (ir_const_int(x, &i) && ir_const_int(y, &j) && bin_int(sub, x->type->elem, i, j, &r))
        return ir_build_int(b, x->type->elem, r);
    if (x->type->elem == PKC_E_F32 && ir_const_float(x, &f) && ir_const_float(y, &g) &&
        bin_float(sub, f, g, &s))
        return ir_build_float(b, PKC_E_F32, s);
    if (pkc_elem_class(x->type->elem) == 'f')
        return NULL;
    ir_value *v = identity(sub, x, y);
    return v ? v : absorbed(b, sub, x, y);
}

ir_value *ir_fold_un(ir_builder *b, unsigned sub, ir_value *x)
{
    int64_t i;
    double f;
    if (ir_const_float(x, &f)) {
        if (sub == IR_UN_NEG)
            return ir_build_float(b, x->type->elem, -f);
        return sub == IR_UN_ABS ? ir_build_float(b, x->type->elem, fabs(f)) : NULL;
    }
    if (!ir_const_int(x, &i))
        return NULL;
    if (sub == IR_UN_NEG)
        return ir_build_int(b, x->type->elem, (int64_t)(0 - (uint64_t)i));
    if (sub == IR_UN_NOT)
        return ir_build_int(b, x->type->elem, x->type->elem == PKC_E_BOOL ? !i : ~i);
    if (sub == IR_UN_ABS)
        return ir_build_int(b, x->type->elem, i < 0 ? (int64_t)(0 - (uint64_t)i) : i);
    return NULL;
}

static bool compare_int(unsigned sub, bool is_signed, int64_t x, int64_t y)
{
    bool less = is_signed ? x < y : (uint64_t)x < (uint64_t)y;
    switch ((ir_cmp)sub) {
    case IR_CMP_EQ:
        return x == y;
    case IR_CMP_NE:
        return x != y;
    case IR_CMP_LT:
        return less;
    case IR_CMP_LE:
        return less || x == y;
    case IR_CMP_GT:
        return !less && x != y;
    case IR_CMP_GE:
        return !less;
    case IR_CMP_COUNT:
        break;
    }
    return false;
}

static bool compare_float(unsigned sub, double x, double y)
{
    switch ((ir_cmp)sub) {
    case IR_CMP_EQ:
        return x == y;
    case IR_CMP_NE:
        return x != y;
    case IR_CMP_LT:
        return x < y;
    case IR_CMP_LE:
        return x <= y;
    case IR_CMP_GT:
        return x > y;
    case IR_CMP_GE:
        return x >= y;
    case IR_CMP_COUNT:
        break;
    }
    return false;
}

ir_value *ir_fold_cmp(ir_builder *b, unsigned sub, ir_value *x, ir_value *y)
{
    int64_t i, j;
    double f, g;
    if (ir_const_int(x, &i) && ir_const_int(y, &j))
        return ir_build_int(b, PKC_E_BOOL, compare_int(sub, pkc_elem_class(x->type->elem) == 'i', i, j));
    if (ir_const_float(x, &f) && ir_const_float(y, &g))
        return ir_build_int(b, PKC_E_BOOL, compare_float(sub, f, g));
    bool same = x == y && x->type->kind == IR_T_SCALAR && pkc_elem_class(x->type->elem) != 'f';
    return same ? ir_build_int(b, PKC_E_BOOL, compare_int(sub, true, 0, 0)) : NULL;
}

ir_value *ir_fold_cast(ir_builder *b, ir_value *x, pkc_elem elem)
{
    int64_t i;
    double f;
    bool to_float = pkc_elem_class(elem) == 'f';
    if (ir_const_int(x, &i)) {
        bool big = pkc_elem_class(x->type->elem) == 'u' && i < 0;
        if (elem == PKC_E_F32 || elem == PKC_E_F64)
            return ir_build_float(b, elem, big ? (double)(uint64_t)i : (double)i);
        return to_float ? NULL : ir_build_int(b, elem, elem == PKC_E_BOOL ? i != 0 : i);
    }
    if (ir_const_float(x, &f) && (elem == PKC_E_F32 || elem == PKC_E_F64))
        return ir_build_float(b, elem, f);
    return NULL; // a float to an integer or a narrow float saturates or rounds: the hardware's to do
}
