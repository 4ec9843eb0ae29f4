// SPDX-License-Identifier: Apache-2.0
// Making operations. Folding is in fold.c.
#include "ir/ir.h"

#include "ir/fold.h"

static void reserve(ir_kernel *k, ir_op *op, int n_in, int n_out, int n_reg)
{
    op->n_in = (uint16_t)n_in;
    op->n_out = (uint16_t)n_out;
    op->n_reg = (uint16_t)n_reg;
    op->in = PKC_NEW_ARRAY(k->arena, ir_use, n_in ? n_in : 1);
    op->out = PKC_NEW_ARRAY(k->arena, ir_value, n_out ? n_out : 1);
    op->reg = PKC_NEW_ARRAY(k->arena, ir_region, n_reg ? n_reg : 1);
}

ir_op *ir_build(ir_builder *b, ir_op_kind kind, unsigned sub, int n_in, ir_value *const *in, int n_out,
                const ir_type *const *types, int n_reg)
{
    ir_op *op = PKC_NEW(b->kernel->arena, ir_op);
    op->kind = kind;
    op->sub = (uint8_t)sub;
    op->pos = b->pos;
    reserve(b->kernel, op, n_in, n_out, n_reg);
    for (int i = 0; in && i < n_in; i++)
        ir_set_in(op, i, in[i]);
    for (int i = 0; i < n_out; i++)
        op->out[i] = (ir_value){.type = types ? types[i] : NULL, .def = op, .index = (uint16_t)i};
    for (int i = 0; i < n_reg; i++)
        op->reg[i].owner = op;
    ir_insert(op, b->region, b->before);
    return op;
}

static ir_value *build1(ir_builder *b, ir_op_kind kind, unsigned sub, int n_in, ir_value *const *in,
                        const ir_type *type)
{
    return &ir_build(b, kind, sub, n_in, in, 1, &type, 0)->out[0];
}

ir_value *ir_build_int(ir_builder *b, pkc_elem elem, int64_t value)
{
    ir_value *v = build1(b, IR_CONST, 0, 0, NULL, ir_type_scalar(b->kernel, elem));
    v->def->attr.i = ir_wrap(elem, value);
    return v;
}

ir_value *ir_build_float(ir_builder *b, pkc_elem elem, double value)
{
    ir_value *v = build1(b, IR_CONST, 0, 0, NULL, ir_type_scalar(b->kernel, elem));
    v->def->attr.f = pkc_elem_round(elem, value);
    return v;
}

ir_value *ir_build_read(ir_builder *b, unsigned sub)
{
    return build1(b, IR_READ, sub, 0, NULL, ir_type_scalar(b->kernel, PKC_E_I32));
}

bool ir_const_int(const ir_value *v, int64_t *value)
{
    if (!v->def || v->def->kind != IR_CONST || pkc_elem_class(v->type->elem) == 'f')
        return false;
    *value = v->def->attr.i;
    return true;
}

bool ir_const_float(const ir_value *v, double *value)
{
    if (!v->def || v->def->kind != IR_CONST || pkc_elem_class(v->type->elem) != 'f')
        return false;
    *value = v->def->attr.f;
    return true;
}

/// The type of an element-wise result with the elements of `elem`: a tile as soon as one operand is one.
static const ir_type *joined(ir_kernel *k, pkc_elem elem, int n, ir_value *const *in)
{
    int32_t rows = 1, cols = 1;
    bool tile = false;
    ir_dist dist = {0};
    for (int i = 0; i < n; i++) {
        const ir_type *t = in[i]->type;
        if (t->kind != IR_T_REG)
            continue;
        tile = true;
        rows = t->rows > rows ? t->rows : rows;
        cols = t->cols > cols ? t->cols : cols;
        if (dist.base == IR_DIST_UNKNOWN || dist.base == IR_DIST_ANY)
            dist = t->dist;
    }
    return tile ? ir_type_reg(k, elem, rows, cols, dist) : ir_type_scalar(k, elem);
}

ir_value *ir_build_bin(ir_builder *b, unsigned sub, ir_value *x, ir_value *y)
{
    ir_value *folded = ir_fold_bin(b, sub, x, y);
    if (folded)
        return folded;
    ir_value *in[] = {x, y};
    return build1(b, IR_BIN, sub, 2, in, joined(b->kernel, x->type->elem, 2, in));
}

ir_value *ir_build_un(ir_builder *b, unsigned sub, ir_value *x)
{
    ir_value *folded = ir_fold_un(b, sub, x);
    return folded ? folded : build1(b, IR_UN, sub, 1, &x, joined(b->kernel, x->type->elem, 1, &x));
}

ir_value *ir_build_cmp(ir_builder *b, unsigned sub, ir_value *x, ir_value *y)
{
    ir_value *folded = ir_fold_cmp(b, sub, x, y);
    if (folded)
        return folded;
    ir_value *in[] = {x, y};
    return build1(b, IR_CMP, sub, 2, in, joined(b->kernel, PKC_E_BOOL, 2, in));
}

ir_value *ir_build_select(ir_builder *b, ir_value *c, ir_value *x, ir_value *y)
{
    int64_t v;
    if (ir_const_int(c, &v))
        return v ? x : y;
    ir_value *in[] = {c, x, y};
    return build1(b, IR_SELECT, 0, 3, in, joined(b->kernel, x->type->elem, 3, in));
}

ir_value *ir_build_cast(ir_builder *b, ir_value *x, pkc_elem elem)
{
    if (x->type->elem == elem)
        return x;
    ir_value *folded = ir_fold_cast(b, x, elem);
    return folded ? folded : build1(b, IR_CAST, 0, 1, &x, joined(b->kernel, elem, 1, &x));
}

ir_region *ir_region_new(ir_kernel *k, int n_args, const ir_type *const *types)
{
    ir_region *r = PKC_NEW(k->arena, ir_region);
    ir_region_args(k, r, n_args, types);
    return r;
}

void ir_region_args(ir_kernel *k, ir_region *r, int n_args, const ir_type *const *types)
{
    r->n_args = (uint16_t)n_args;
    r->args = PKC_NEW_ARRAY(k->arena, ir_value, n_args ? n_args : 1);
    for (int i = 0; i < n_args; i++)
        r->args[i] = (ir_value){.type = types[i], .owner = r, .index = (uint16_t)i};
}

ir_op *ir_build_for(ir_builder *b, ir_value *lo, ir_value *hi, ir_value *step, int n, ir_value *const *inits)
{
    ir_kernel *k = b->kernel;
    ir_value **in = PKC_NEW_ARRAY(k->arena, ir_value *, n + 3);
    const ir_type **types = PKC_NEW_ARRAY(k->arena, const ir_type *, n + 1);
    in[0] = lo;
    in[1] = hi;
    in[2] = step;
    types[0] = lo->type;
    for (int i = 0; i < n; i++) {
        in[3 + i] = inits[i];
        types[1 + i] = inits[i]->type;
    }
    ir_op *op = ir_build(b, IR_FOR, 0, n + 3, in, n, types + 1, 1);
    ir_region_args(k, &op->reg[0], n + 1, types);
    return op;
}

ir_op *ir_build_if(ir_builder *b, ir_value *cond, int n_out, const ir_type *const *types)
{
    return ir_build(b, IR_IF, 0, 1, &cond, n_out, types, 2);
}

void ir_build_yield(ir_builder *b, int n, ir_value *const *values)
{
    ir_build(b, IR_YIELD, 0, n, values, 0, NULL, 0);
}
