// SPDX-License-Identifier: Apache-2.0
#include "ir/hexpr.h"

#include <inttypes.h>

static const struct hx_row {
    const char *text;
    int arity;
} rows[] = {
#define IR_HX(id, text, arity) [IR_HX_##id] = {#text, arity},
#include "ir/hexpr.def"
#undef IR_HX
};

static const ir_hx *make(pkc_arena *arena, ir_hx hx)
{
    ir_hx *x = PKC_NEW(arena, ir_hx);
    *x = hx;
    return x;
}

const ir_hx *ir_hx_const(pkc_arena *arena, int64_t value)
{
    return make(arena, (ir_hx){.op = IR_HX_CONST, .value = value});
}

const ir_hx *ir_hx_dim(pkc_arena *arena, pkc_str name)
{
    return make(arena, (ir_hx){.op = IR_HX_DIM, .name = name});
}

const ir_hx *ir_hx_stride(pkc_arena *arena, pkc_str param, int axis)
{
    return make(arena, (ir_hx){.op = IR_HX_STRIDE, .name = param, .value = axis});
}

const ir_hx *ir_hx_scalar(pkc_arena *arena, pkc_str param)
{
    return make(arena, (ir_hx){.op = IR_HX_SCALAR, .name = param});
}

const ir_hx *ir_hx_leaf(pkc_arena *arena, ir_hx_op op)
{
    return make(arena, (ir_hx){.op = op});
}

/// a op b in 64 bits; false where it overflows or divides by zero (then the host's check will say so).
static bool fold_arith(ir_hx_op op, int64_t a, int64_t b, int64_t *out)
{
    bool divides = op == IR_HX_DIV || op == IR_HX_CDIV || op == IR_HX_MOD;
    if (divides && (b == 0 || (b == -1 && a == INT64_MIN)))
        return false;
    if (op == IR_HX_ADD)
        return !__builtin_add_overflow(a, b, out);
    if (op == IR_HX_SUB)
        return !__builtin_sub_overflow(a, b, out);
    if (op == IR_HX_MUL)
        return !__builtin_mul_overflow(a, b, out);
    if (!divides)
        return false;
    *out = op == IR_HX_MOD ? a % b : a / b;
    if (op == IR_HX_CDIV && a % b != 0 && (a < 0) == (b < 0))
        ++*out;
    return true;
}

static bool fold_logic(ir_hx_op op, int64_t a, int64_t b, int64_t *out)
{
    if (op == IR_HX_MIN || op == IR_HX_MAX)
        *out = (op == IR_HX_MIN) == (a < b) ? a : b;
    else if (op == IR_HX_EQ || op == IR_HX_NE)
        *out = (a == b) == (op == IR_HX_EQ);
    else if (op == IR_HX_LT)
        *out = a < b;
    else if (op == IR_HX_LE)
        *out = a <= b;
    else if (op == IR_HX_AND)
        *out = a && b;
    else if (op == IR_HX_OR)
        *out = a || b;
    else
        return false;
    return true;
}

/// (a + n) + y and its like: one addend of a constant. NULL where it is nothing of the kind.
static const ir_hx *fold_addends(pkc_arena *arena, ir_hx_op op, const ir_hx *a, int64_t y)
{
    int64_t n, sum;
    bool adds = op == IR_HX_ADD || op == IR_HX_SUB, added = a->op == IR_HX_ADD || a->op == IR_HX_SUB;
    if (!adds || !added || !ir_hx_is_const(a->b, &n) || n == INT64_MIN || y == INT64_MIN)
        return NULL;
    if (__builtin_add_overflow(a->op == IR_HX_ADD ? n : -n, op == IR_HX_ADD ? y : -y, &sum) ||
        sum == INT64_MIN)
        return NULL;
    return ir_hx_bin(arena, sum < 0 ? IR_HX_SUB : IR_HX_ADD, a->a, ir_hx_const(arena, sum < 0 ? -sum : sum));
}

const ir_hx *ir_hx_bin(pkc_arena *arena, ir_hx_op op, const ir_hx *a, const ir_hx *b)
{
    int64_t x = 0, y = 0, v = 0;
    const ir_hx *folded;
    bool ca = ir_hx_is_const(a, &x), cb = ir_hx_is_const(b, &y);
    if (ca && cb && (fold_arith(op, x, y, &v) || fold_logic(op, x, y, &v)))
        return ir_hx_const(arena, v);
    bool divides = op == IR_HX_DIV || op == IR_HX_CDIV;
    if (cb && ((y == 0 && (op == IR_HX_ADD || op == IR_HX_SUB)) || (y == 1 && (op == IR_HX_MUL || divides))))
        return a;
    if (cb && y == 1 && op == IR_HX_MOD)
        return ir_hx_const(arena, 0);
    if (cb && (folded = fold_addends(arena, op, a, y)))
        return folded;
    if (ca && ((x == 0 && op == IR_HX_ADD) || (x == 1 && op == IR_HX_MUL)))
        return b;
    return make(arena, (ir_hx){.op = op, .a = a, .b = b});
}

const ir_hx *ir_hx_not(pkc_arena *arena, const ir_hx *a)
{
    int64_t v;
    if (ir_hx_is_const(a, &v))
        return ir_hx_const(arena, !v);
    return make(arena, (ir_hx){.op = IR_HX_NOT, .a = a});
}

bool ir_hx_equal(const ir_hx *a, const ir_hx *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->op != b->op || a->value != b->value || a->name != b->name)
        return false;
    return rows[a->op].arity == 0 ||
           (ir_hx_equal(a->a, b->a) && (rows[a->op].arity == 1 || ir_hx_equal(a->b, b->b)));
}

bool ir_hx_has(const ir_hx *a, ir_hx_op op)
{
    return a && (a->op == op || ir_hx_has(a->a, op) || ir_hx_has(a->b, op));
}

bool ir_hx_is_const(const ir_hx *a, int64_t *value)
{
    if (a->op != IR_HX_CONST)
        return false;
    *value = a->value;
    return true;
}

void ir_hx_print_json(const ir_hx *a, pkc_buf *out)
{
    if (a->op == IR_HX_CONST) {
        pkc_buf_printf(out, "%" PRId64, a->value);
        return;
    }
    pkc_buf_printf(out, "[\"%s\"", rows[a->op].text);
    if (a->name)
        pkc_buf_printf(out, ",\"%s\"", a->name);
    if (a->op == IR_HX_STRIDE)
        pkc_buf_printf(out, ",%" PRId64, a->value);
    if (a->a) {
        pkc_buf_putc(out, ',');
        ir_hx_print_json(a->a, out);
    }
    if (a->b) {
        pkc_buf_putc(out, ',');
        ir_hx_print_json(a->b, out);
    }
    pkc_buf_putc(out, ']');
}

/// The operator between operands, NULL for those written as calls.
static const char *infix(ir_hx_op op)
{
    switch (op) {
    case IR_HX_ADD:
        return "+";
    case IR_HX_SUB:
        return "-";
    case IR_HX_MUL:
        return "*";
    case IR_HX_DIV:
        return "/";
    case IR_HX_MOD:
        return "%";
    case IR_HX_EQ:
        return "==";
    case IR_HX_NE:
        return "!=";
    case IR_HX_LT:
        return "<";
    case IR_HX_LE:
        return "<=";
    case IR_HX_AND:
        return "&&";
    case IR_HX_OR:
        return "||";
    case IR_HX_CONST:
    case IR_HX_DIM:
    case IR_HX_STRIDE:
    case IR_HX_SCALAR:
    case IR_HX_RANK:
    case IR_HX_RANKS:
    case IR_HX_SMS:
    case IR_HX_CDIV:
    case IR_HX_MIN:
    case IR_HX_MAX:
    case IR_HX_NOT:
    case IR_HX_COUNT:
        break;
    }
    return NULL;
}

static void print_operand(const ir_hx *a, pkc_buf *out)
{
    bool wrap = infix(a->op) != NULL;
    if (wrap)
        pkc_buf_putc(out, '(');
    ir_hx_print_text(a, out);
    if (wrap)
        pkc_buf_putc(out, ')');
}

static void print_leaf(const ir_hx *a, pkc_buf *out)
{
    if (a->op == IR_HX_CONST)
        pkc_buf_printf(out, "%" PRId64, a->value);
    else if (a->op == IR_HX_STRIDE)
        pkc_buf_printf(out, "stride(%s, %" PRId64 ")", a->name, a->value);
    else
        pkc_buf_puts(out, a->name ? a->name : rows[a->op].text);
}

void ir_hx_print_text(const ir_hx *a, pkc_buf *out)
{
    if (rows[a->op].arity == 0) {
        print_leaf(a, out);
    } else if (rows[a->op].arity == 1) {
        pkc_buf_putc(out, '!');
        print_operand(a->a, out);
    } else if (infix(a->op)) {
        print_operand(a->a, out);
        pkc_buf_printf(out, " %s ", infix(a->op));
        print_operand(a->b, out);
    } else {
        pkc_buf_printf(out, "%s(", rows[a->op].text);
        ir_hx_print_text(a->a, out);
        pkc_buf_puts(out, ", ");
        ir_hx_print_text(a->b, out);
        pkc_buf_putc(out, ')');
    }
}

/// FNV-1a of the leaf's kind, its name unless `alike`, and the seed.
static uint32_t leaf_hash(const ir_hx *a, uint32_t seed, bool alike)
{
    uint32_t h = 2166136261u ^ (alike ? 0 : (uint32_t)a->op + 31u * (uint32_t)a->value) ^ (seed * 16777619u);
    for (const char *c = a->name && !alike ? a->name : ""; *c; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    h *= 16777619u;
    return h ^ h >> 15;
}

/// Sizes as launches have them: all alike, multiples of 512 and of 4096, any.
static int64_t sample_leaf(const ir_hx *a, uint32_t seed)
{
    uint32_t mode = seed % 4, h = leaf_hash(a, seed, mode == 0);
    if (a->op == IR_HX_RANKS || a->op == IR_HX_RANK)
        return a->op == IR_HX_RANKS ? 1 + seed % 16 : 0;
    if (a->op == IR_HX_SMS)
        return seed % 8 < 4 ? 132 : 1 + h % 256;
    if (mode == 1)
        return 512 * (4 + (int64_t)(h % 124));
    if (mode == 2)
        return 2048 + (h & 0xffff);
    return 4096 * (1 + (int64_t)(h % 16));
}

bool ir_hx_sample(const ir_hx *a, uint32_t seed, int64_t *out)
{
    int64_t x = 0, y = 0;
    if (a->op == IR_HX_CONST) {
        *out = a->value;
        return true;
    }
    if (rows[a->op].arity == 0) {
        *out = sample_leaf(a, seed);
        return true;
    }
    if (!ir_hx_sample(a->a, seed, &x) || (a->b && !ir_hx_sample(a->b, seed, &y)))
        return false;
    if (a->op == IR_HX_NOT) {
        *out = !x;
        return true;
    }
    return fold_arith(a->op, x, y, out) || fold_logic(a->op, x, y, out);
}
