// SPDX-License-Identifier: Apache-2.0
// Expressions to meanings.
#include <math.h>
#include <string.h>

#include "ir/lower_impl.h"
#include "syntax/syntax.h"

static meaning read_RANK(lower *l)
{
    meaning m = lower_value(ir_build_read(&l->b, IR_READ_RANK));
    m.hx = ir_hx_leaf(l->k->arena, IR_HX_RANK);
    return m;
}

static meaning read_RANKS(lower *l)
{
    meaning m = lower_value(ir_build_read(&l->b, IR_READ_RANKS));
    m.hx = ir_hx_leaf(l->k->arena, IR_HX_RANKS);
    return m;
}

static meaning read_SMS(lower *l)
{
    meaning m = lower_value(ir_build_read(&l->b, IR_READ_SMS));
    m.hx = ir_hx_leaf(l->k->arena, IR_HX_SMS);
    return m;
}

static meaning read_WORKER(lower *l)
{
    return lower_value(ir_build_read(&l->b, IR_READ_WORKER));
}

static meaning read_WORKERS(lower *l)
{
    meaning m = lower_value(ir_build_read(&l->b, IR_READ_WORKERS));
    m.hx = l->group ? l->group->count : ir_hx_leaf(l->k->arena, IR_HX_SMS);
    return m;
}

static meaning read_INF(lower *l)
{
    meaning m = lower_value(ir_build_float(&l->b, PKC_E_F32, INFINITY));
    m.literal = true;
    return m;
}

static meaning read_TRUE(lower *l)
{
    return lower_value(ir_build_int(&l->b, PKC_E_BOOL, 1));
}

static meaning read_FALSE(lower *l)
{
    return lower_value(ir_build_int(&l->b, PKC_E_BOOL, 0));
}

static meaning (*const standing[])(lower *) = {
#define PKC_STANDING(id, name, doc) [PKC_STANDING_##id] = read_##id,
#include "sema/standing.def"
#undef PKC_STANDING
};

static meaning lower_name(lower *l, const pkc_name *name)
{
    const pkc_symbol *s = name->sym;
    if (s->kind == PKC_SYM_STANDING)
        return standing[s->standing](l);
    meaning *m = lower_meaning(l, s);
    if (m->kind == MEAN_UNBOUND && s->kind == PKC_SYM_FIELD) // a tile that the pipe of this call has not
        pkc_diag_error(l->s, PKC_DIAG_UNKNOWN_NAME, name->span, name->text);
    return m->kind == MEAN_UNBOUND ? lower_poison() : *m;
}

static meaning lower_integer(lower *l, const pkc_expr *e)
{
    if (e->as.int_.value > INT64_MAX) {
        pkc_diag_error(l->s, PKC_DIAG_INTEGER_TOO_LARGE, e->span);
        return lower_poison();
    }
    return lower_int(l, (int64_t)e->as.int_.value);
}

static meaning lower_float(lower *l, const pkc_expr *e)
{
    meaning m = lower_value(ir_build_float(&l->b, PKC_E_F32, e->as.float_.value));
    m.literal = true;
    return m;
}

static meaning lower_tuple(lower *l, const pkc_expr *e)
{
    size_t n = e->as.tuple.parts.len;
    meaning m = {.kind = MEAN_TUPLE, .n_parts = (int)n, .parts = PKC_NEW_ARRAY(&l->s->arena, meaning, n)};
    for (size_t i = 0; i < n; i++)
        m.parts[i] = lower_expr(l, e->as.tuple.parts.data[i]);
    return m;
}

/// D@r, D@all.
static meaning lower_peer(lower *l, const pkc_expr *e)
{
    meaning m = lower_expr(l, e->as.peer.base);
    if (m.kind != MEAN_TENSOR)
        return lower_wrong_kind(l, e->as.peer.base->span, "a peer tensor or signals before '@'", &m);
    if (m.param->kind != IR_PARAM_PEER && m.param->kind != IR_PARAM_SIGNAL) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_PEER_NEEDED, e->as.peer.base->span, m.param->name);
        pkc_diag_note(d, m.param->pos, "'%s' is declared here", m.param->name);
        pkc_diag_help(d, "declare it as %s: peer %s[..]", m.param->name, pkc_elem_name(m.param->elem));
        return lower_poison();
    }
    const pkc_expr *place = e->as.peer.place;
    if (place->kind == PKC_EXPR_NAME && strcmp(place->as.name.name.text, "all") == 0) {
        m.peer = IR_PEER_ALL;
        return m;
    }
    m.peer = IR_PEER_RANK;
    m.peer_rank = lower_index(l, place);
    return m.peer_rank ? m : lower_poison();
}

static bool note_reading(pkc_visitor *v, pkc_expr *e)
{
    *(bool *)v->context |= e->kind == PKC_EXPR_INDEX || (e->kind == PKC_EXPR_CALL && e->as.call.fn);
    return true;
}

bool lower_may_read(const pkc_expr *e)
{
    bool found = false;
    pkc_visitor v = {.expr = note_reading, .context = &found};
    pkc_walk_expr(&v, (pkc_expr *)e);
    return found;
}

/// a && b as `if a { b } else { false }`, a || b as `if a { true } else { b }`.
static meaning lower_guarded(lower *l, const pkc_expr *e, meaning x)
{
    bool both = e->as.binary.op == PKC_BINARY_AND;
    ir_op *op = ir_build_if(&l->b, x.v, 1, &x.v->type);
    ir_builder old = l->b;
    l->b = (ir_builder){.kernel = l->k, .region = &op->reg[both ? 0 : 1], .pos = old.pos};
    meaning y = lower_operand(l, e->as.binary.right);
    bool ok = !lower_is_poison(&y) && ir_type_equal(y.v->type, x.v->type);
    if (!ok && !lower_is_poison(&y))
        pkc_diag_error(l->s, PKC_DIAG_TYPE_MISMATCH, e->span, lower_describe(l, &x), lower_describe(l, &y));
    ir_build_yield(&l->b, 1, ok ? &y.v : &x.v);
    l->b.region = &op->reg[both ? 1 : 0];
    ir_value *known = ir_build_int(&l->b, PKC_E_BOOL, !both);
    ir_build_yield(&l->b, 1, &known);
    l->b = old;
    return ok ? lower_value(&op->out[0]) : lower_poison();
}

static meaning lower_binary_expr(lower *l, const pkc_expr *e)
{
    pkc_binary_op op = e->as.binary.op;
    meaning x = lower_operand(l, e->as.binary.left);
    bool logic = op == PKC_BINARY_AND || op == PKC_BINARY_OR;
    bool truth =
        logic && !lower_is_poison(&x) && x.v->type->kind == IR_T_SCALAR && x.v->type->elem == PKC_E_BOOL;
    int64_t known;
    if (truth && ir_const_int(x.v, &known) && known == (op == PKC_BINARY_OR))
        return x; // decided: the right side is dead
    if (truth && !ir_const_int(x.v, &known) && lower_may_read(e->as.binary.right))
        return lower_guarded(l, e, x);
    return lower_binary(l, e->span, op, x, lower_operand(l, e->as.binary.right));
}

static meaning lower_expr_kind(lower *l, const pkc_expr *e)
{
    switch (e->kind) {
    case PKC_EXPR_INT:
        return lower_integer(l, e);
    case PKC_EXPR_FLOAT:
        return lower_float(l, e);
    case PKC_EXPR_NAME:
        return lower_name(l, &e->as.name.name);
    case PKC_EXPR_UNARY:
        return lower_unary(l, e->span, e->as.unary.op == PKC_UNARY_NEG ? IR_UN_NEG : IR_UN_NOT,
                           lower_operand(l, e->as.unary.operand));
    case PKC_EXPR_BINARY:
        return lower_binary_expr(l, e);
    case PKC_EXPR_CALL:
        return lower_call(l, e);
    case PKC_EXPR_INDEX:
        return lower_index_expr(l, e);
    case PKC_EXPR_MEMBER:
        return lower_transpose(l, e);
    case PKC_EXPR_PEER:
        return lower_peer(l, e);
    case PKC_EXPR_TUPLE:
        return lower_tuple(l, e);
    case PKC_EXPR_COUNT:
        break;
    }
    return lower_poison();
}

meaning lower_expr(lower *l, const pkc_expr *e)
{
    pkc_span pos = l->b.pos;
    l->b.pos = e->span;
    meaning m = lower_expr_kind(l, e);
    m.span = e->span;
    l->b.pos = pos;
    return m;
}

meaning lower_operand(lower *l, const pkc_expr *e)
{
    meaning m = lower_expr(l, e);
    if (m.kind == MEAN_VIEW)
        m = lower_element(l, &m);
    if (m.kind == MEAN_TILE) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, e->span, "a value", lower_describe(l, &m));
        pkc_diag_help(d, "load(..) gives the register value of a shared tile");
        return lower_poison();
    }
    return m.kind == MEAN_VALUE ? m : lower_wrong_kind(l, e->span, "a value", &m);
}

ir_value *lower_as_index(lower *l, pkc_span span, meaning m)
{
    m = lower_adapt(l, span, m, PKC_E_I32);
    if (lower_is_poison(&m))
        return NULL;
    if (m.v->type->kind != IR_T_SCALAR || m.v->type->elem != PKC_E_I32) {
        lower_wrong_kind(l, span, "an i32", &m);
        return NULL;
    }
    return m.v;
}

ir_value *lower_index(lower *l, const pkc_expr *e)
{
    return lower_as_index(l, e->span, lower_operand(l, e));
}

bool lower_constant(lower *l, const pkc_expr *e, const char *what, int64_t *out)
{
    meaning m = lower_operand(l, e);
    if (lower_is_poison(&m))
        return false;
    if (!ir_const_int(m.v, out)) {
        pkc_diag_error(l->s, PKC_DIAG_NOT_CONSTANT, e->span, what);
        return false;
    }
    if (*out < INT32_MIN || *out > INT32_MAX) {
        const char *text = pkc_arena_printf(l->k->arena, "%lld", (long long)*out);
        pkc_diag_error(l->s, PKC_DIAG_CONSTANT_RANGE, e->span, text, "i32");
        return false;
    }
    return true;
}

const ir_hx *lower_hx(lower *l, const pkc_expr *e, const char *what)
{
    meaning m = lower_operand(l, e);
    if (lower_is_poison(&m))
        return NULL;
    const ir_hx *hx = m.hx && l->in_dims && ir_hx_has(m.hx, IR_HX_SCALAR) ? NULL : m.hx;
    if (!hx)
        pkc_diag_error(l->s, PKC_DIAG_NOT_HOST, e->span, what,
                       l->in_dims ? " and sms" : ", sms and i32 parameters");
    return hx;
}
