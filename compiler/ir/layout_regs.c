// SPDX-License-Identifier: Apache-2.0
// Distributions by union-find: values that an element-wise op or a carry ties together share one base. A
// class with an accumulator or a register operand of a product is `quad`; one of equal whole tiles is `flat`;
// any other is `line`. Generators cost nothing, so each use has its own copy and they tie nothing together.
#include "ir/dist.h"
#include "ir/layout.h"
#include "ir/place.h"
#include "ir/ptrmap.h"
#include "support/vec.h"

typedef struct cls cls;
struct cls {
    cls *parent; // NULL: the representative
    ir_value *value;
    const ir_op *quad;  // a product that forces `quad`, or NULL
    bool computed;      // holds more than generators
    bool axes;          // has reductions, broadcasts, slices: rows or columns matter
    int32_t rows, cols; // of the largest member
    const ir_value *largest;
};

typedef struct regs {
    ir_kernel *k;
    ir_role *role;
    ir_ptrmap classes; // value -> cls
    PKC_VEC(cls *) all;
    bool ok;
} regs;

static bool is_reg(const ir_value *v)
{
    return v->type->kind == IR_T_REG;
}

static bool is_generator(const ir_op *op)
{
    return op != NULL && (op->kind == IR_SPLAT || op->kind == IR_IOTA || op->kind == IR_POISON);
}

static cls *find(cls *c)
{
    while (c->parent != NULL) {
        if (c->parent->parent != NULL)
            c->parent = c->parent->parent;
        c = c->parent;
    }
    return c;
}

static cls *class_of(regs *s, ir_value *v)
{
    cls *c = ir_ptrmap_get(&s->classes, v);
    if (c == NULL) {
        c = PKC_NEW(s->k->arena, cls);
        c->value = v;
        c->largest = v;
        c->rows = v->type->rows;
        c->cols = v->type->cols;
        c->computed = !is_generator(v->def);
        ir_ptrmap_set(&s->classes, v, c);
        pkc_vec_push(s->k->arena, &s->all, c);
    }
    return find(c);
}

static bool is_one(int32_t rows, int32_t cols)
{
    return rows == 1 && cols == 1;
}

static void join(regs *s, ir_value *x, ir_value *y)
{
    cls *a = class_of(s, x), *b = class_of(s, y);
    if (a == b)
        return;
    bool same =
        (a->rows == b->rows && a->cols == b->cols) || is_one(a->rows, a->cols) || is_one(b->rows, b->cols);
    b->parent = a;
    a->axes = a->axes || b->axes || !same;
    a->computed = a->computed || b->computed;
    a->quad = a->quad != NULL ? a->quad : b->quad;
    if ((int64_t)b->rows * b->cols > (int64_t)a->rows * a->cols)
        a->largest = b->largest;
    a->rows = b->rows > a->rows ? b->rows : a->rows;
    a->cols = b->cols > a->cols ? b->cols : a->cols;
}

static void mark_axes(regs *s, ir_value *v)
{
    class_of(s, v)->axes = true;
}

static void mark_quad(regs *s, ir_value *v, const ir_op *op)
{
    cls *c = class_of(s, v);
    if (c->quad == NULL)
        c->quad = op;
}

/// Joins all register operands and results of an element-wise op.
static void join_all(regs *s, ir_op *op)
{
    ir_value *first = NULL;
    for (int i = 0; i < op->n_in + op->n_out; i++) {
        ir_value *v = i < op->n_in ? ir_in(op, i) : &op->out[i - op->n_in];
        if (!is_reg(v))
            continue;
        if (first == NULL)
            first = v;
        join(s, first, v);
    }
}

static void join_if_reg(regs *s, ir_value *x, ir_value *y)
{
    if (is_reg(x))
        join(s, x, y);
}

static void join_for(regs *s, ir_op *op)
{
    for (int i = 0; i < op->n_out; i++) {
        ir_value *out = &op->out[i];
        join_if_reg(s, out, ir_in(op, 3 + i));
        join_if_reg(s, out, &op->reg[0].args[1 + i]);
        join_if_reg(s, out, ir_yielded(&op->reg[0], i));
    }
}

static void join_yields(regs *s, ir_op *op)
{
    for (int r = 0; r < op->n_reg; r++)
        for (int i = 0; i < op->n_out; i++)
            join_if_reg(s, &op->out[i], ir_yielded(&op->reg[r], i));
}

static void join_mma(regs *s, ir_op *op)
{
    mark_quad(s, ir_in(op, 0), op);
    join(s, ir_in(op, 0), &op->out[0]);
    if (is_reg(ir_in(op, 1)))
        mark_quad(s, ir_in(op, 1), op);
}

static void touch_regs(regs *s, ir_op *op)
{
    for (int i = 0; i < op->n_in; i++)
        if (is_reg(ir_in(op, i)))
            class_of(s, ir_in(op, i));
    for (int i = 0; i < op->n_out; i++)
        if (is_reg(&op->out[i]))
            class_of(s, &op->out[i]);
}

static bool collect(ir_op *op, void *user)
{
    regs *s = user;
    touch_regs(s, op);
    switch ((int)op->kind) { // ops that tie no register tiles together are left out
    case IR_BIN:
    case IR_UN:
    case IR_CMP:
    case IR_SELECT:
    case IR_CAST:
        join_all(s, op);
        break;
    case IR_SLICE:
    case IR_RRED:
    case IR_CRED:
        join_all(s, op);
        mark_axes(s, &op->out[0]);
        break;
    case IR_FOR:
        join_for(s, op);
        break;
    case IR_IF:
    case IR_PUT:
    case IR_GET:
        join_yields(s, op);
        break;
    case IR_MMA:
        join_mma(s, op);
        break;
    }
    return true;
}

/// One copy of a generator for each use, directly before its user.
static void copy_generator(ir_kernel *k, ir_op *op)
{
    PKC_VEC(ir_use *) uses = {0};
    for (ir_use *u = op->out[0].uses; u != NULL; u = u->next)
        pkc_vec_push(k->arena, &uses, u);
    for (size_t i = 1; i < uses.len; i++) {
        ir_op *user = uses.data[i]->user;
        int index = uses.data[i]->index;
        ir_builder b = {.kernel = k, .region = user->parent, .before = user, .pos = op->pos};
        ir_value *in = op->n_in > 0 ? ir_in(op, 0) : NULL;
        const ir_type *type = op->out[0].type;
        ir_op *copy = ir_build(&b, op->kind, op->sub, op->n_in, &in, 1, &type, 0);
        copy->attr = op->attr;
        copy->out[0].name = op->out[0].name;
        ir_set_in(user, index, &copy->out[0]);
    }
}

static bool copy_generators(ir_op *op, void *user)
{
    regs *s = user;
    if (is_generator(op) && is_reg(&op->out[0]))
        copy_generator(s->k, op);
    return true;
}

/// Columns of a slice stay in their threads where each fragment of 8 is whole in `quad`.
static bool slice_travels(const cls *c, const ir_op *op)
{
    return c->quad == NULL || op->attr.i % 8 != 0 || op->out[0].type->cols % 8 != 0;
}

/// The transposed form of a generator is a generator; any other value travels between threads.
static bool travels(ir_op *op, void *user)
{
    regs *s = user;
    if (op->kind == IR_SLICE && slice_travels(class_of(s, ir_in(op, 0)), op))
        op->kind = IR_REDIST;
    if (op->kind != IR_TRANS || !is_reg(&op->out[0]) || !class_of(s, ir_in(op, 0))->computed)
        return true;
    op->kind = IR_REDIST;
    op->attr.flag = true;
    return true;
}

static bool quad_fits(regs *s, const cls *c)
{
    int groups = ir_role_warpgroups(s->role);
    if (groups == 0) {
        pkc_diag_error(s->k->session, PKC_DIAG_PRODUCT_NEEDS_WARPGROUPS, c->quad->pos, s->role->name);
        return false;
    }
    if (c->rows % (64 * groups) == 0 || c->rows == 1)
        return true;
    pkc_diag *d =
        pkc_diag_error(s->k->session, PKC_DIAG_ACCUMULATOR_ROWS, c->quad->pos, c->rows, groups, 64 * groups);
    pkc_diag_help(d, "each warpgroup takes 64 rows at a time: make the tile %d rows high",
                  (c->rows / (64 * groups) + 1) * 64 * groups);
    return false;
}

static bool choose(regs *s, const cls *c, ir_dist *dist)
{
    *dist = (ir_dist){.base = IR_DIST_LINE, .w = (uint16_t)ir_role_warps(s->role)};
    dist->lanes = (uint16_t)ir_dist_lanes_for(c->cols);
    if (c->quad != NULL) {
        *dist = (ir_dist){.base = IR_DIST_QUAD, .w = (uint16_t)ir_role_warpgroups(s->role)};
        return quad_fits(s, c);
    }
    if (!c->computed)
        *dist = (ir_dist){.base = IR_DIST_ANY};
    else if (!c->axes)
        *dist = (ir_dist){.base = IR_DIST_FLAT, .w = dist->w};
    return true;
}

bool ir_layout_registers(ir_kernel *k, ir_role *role)
{
    regs s = {.k = k, .role = role, .ok = true};
    ir_ptrmap_init(&s.classes, k->arena);
    ir_walk(role->body, copy_generators, NULL, &s);
    ir_walk(role->body, collect, NULL, &s);
    ir_walk(role->body, travels, NULL, &s);
    for (size_t i = 0; i < s.all.len; i++) {
        ir_value *v = s.all.data[i]->value;
        cls *c = find(s.all.data[i]);
        ir_dist dist;
        if (choose(&s, c, &dist))
            v->type = ir_type_reg(k, v->type->elem, v->type->rows, v->type->cols, dist);
        else
            s.ok = false;
    }
    return s.ok;
}
