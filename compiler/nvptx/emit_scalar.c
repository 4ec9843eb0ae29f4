// SPDX-License-Identifier: Apache-2.0
// Pure operations on scalars and, element by element, on register tiles. Arithmetic is single precision:
// denormals flush (the kernel's denormal-fp-math-f32), products and sums may contract, and division, exp2,
// log2, sqrt and rsqrt are the hardware's approximations; 16-bit floats are computed in single precision and
// rounded.
#include "nvptx/emit.h"
#include "nvptx/geometry.h"

static bool is_float(pkc_elem elem)
{
    return pkc_elem_class(elem) == 'f';
}
static bool is_signed(pkc_elem elem)
{
    return pkc_elem_class(elem) == 'i';
}
static bool is_half(pkc_elem elem)
{
    return elem == PKC_E_BF16 || elem == PKC_E_F16;
}
static bool is_quarter(pkc_elem elem)
{
    return elem == PKC_E_E4M3 || elem == PKC_E_E5M2;
}

static LLVMValueRef contract(LLVMValueRef v)
{
    if (LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v))
        LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
    return v;
}

static LLVMValueRef unsupported(nv_emit *e, const char *what, LLVMTypeRef type)
{
    llvmc_unsupported(e->c, what);
    return LLVMGetPoison(type);
}

// ---- binary
// ------------------------------------------------------------------------------------------------

static LLVMValueRef float_bin(nv_emit *e, ir_bin sub, bool f64, LLVMValueRef a, LLVMValueRef b)
{
    switch (sub) {
    case IR_BIN_ADD:
        return contract(LLVMBuildFAdd(e->b, a, b, ""));
    case IR_BIN_SUB:
        return contract(LLVMBuildFSub(e->b, a, b, ""));
    case IR_BIN_MUL:
        return contract(LLVMBuildFMul(e->b, a, b, ""));
    case IR_BIN_DIV:
        return f64 ? LLVMBuildFDiv(e->b, a, b, "") : nv_call(e, NV_DIV, a, b);
    case IR_BIN_MIN:
        return nv_call(e, f64 ? NV_MINNUM64 : NV_MINNUM, a, b);
    case IR_BIN_MAX:
        return nv_call(e, f64 ? NV_MAXNUM64 : NV_MAXNUM, a, b);
    case IR_BIN_CDIV:
    case IR_BIN_MOD:
    case IR_BIN_AND:
    case IR_BIN_OR:
    case IR_BIN_XOR:
    case IR_BIN_SHL:
    case IR_BIN_SHR:
    case IR_BIN_COUNT:
        break;
    }
    return unsupported(e, "this operation on floating-point numbers", LLVMTypeOf(a));
}

static LLVMValueRef int_min_max(nv_emit *e, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b)
{
    return nv_select(e, nv_cmp(e, p, a, b), a, b);
}

// Quotient rounded up: one more than the truncated one where there is a rest and the signs agree.
static LLVMValueRef ceil_div(nv_emit *e, bool sign, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef q = sign ? LLVMBuildSDiv(e->b, a, b, "") : LLVMBuildUDiv(e->b, a, b, "");
    LLVMValueRef rest = nv_sub(e, a, nv_mul(e, q, b)), zero = LLVMConstNull(LLVMTypeOf(a));
    LLVMValueRef up = nv_cmp(e, LLVMIntNE, rest, zero);
    if (sign)
        up = nv_and(e, up, nv_cmp(e, LLVMIntSGE, nv_xor(e, a, b), zero));
    return nv_add(e, q, LLVMBuildZExt(e->b, up, LLVMTypeOf(a), ""));
}

static LLVMValueRef int_bin(nv_emit *e, ir_bin sub, bool sign, LLVMValueRef a, LLVMValueRef b)
{
    switch (sub) {
    case IR_BIN_ADD:
        return nv_add(e, a, b);
    case IR_BIN_SUB:
        return nv_sub(e, a, b);
    case IR_BIN_MUL:
        return nv_mul(e, a, b);
    case IR_BIN_DIV:
        return sign ? LLVMBuildSDiv(e->b, a, b, "") : LLVMBuildUDiv(e->b, a, b, "");
    case IR_BIN_CDIV:
        return ceil_div(e, sign, a, b);
    case IR_BIN_MOD:
        return sign ? LLVMBuildSRem(e->b, a, b, "") : LLVMBuildURem(e->b, a, b, "");
    case IR_BIN_MIN:
        return int_min_max(e, sign ? LLVMIntSLT : LLVMIntULT, a, b);
    case IR_BIN_MAX:
        return int_min_max(e, sign ? LLVMIntSGT : LLVMIntUGT, a, b);
    case IR_BIN_AND:
        return nv_and(e, a, b);
    case IR_BIN_OR:
        return nv_or(e, a, b);
    case IR_BIN_XOR:
        return nv_xor(e, a, b);
    case IR_BIN_SHL:
        return LLVMBuildShl(e->b, a, b, "");
    case IR_BIN_SHR:
        return sign ? LLVMBuildAShr(e->b, a, b, "") : LLVMBuildLShr(e->b, a, b, "");
    case IR_BIN_COUNT:
        break;
    }
    return a;
}

// ---- casts
// -------------------------------------------------------------------------------------------------

// 8-bit floats convert in pairs, through half precision on the way out; one of the pair is not used here.
static LLVMValueRef from_quarter(nv_emit *e, pkc_elem elem, LLVMValueRef v)
{
    LLVMValueRef pair = LLVMBuildZExt(e->b, v, e->c->i16, "");
    LLVMValueRef halves = nv_call(e, elem == PKC_E_E4M3 ? NV_FROM_E4M3 : NV_FROM_E5M2, pair);
    return LLVMBuildFPExt(e->b, LLVMBuildExtractElement(e->b, halves, nv_i32(e, 0), ""), e->c->f32, "");
}

static LLVMValueRef to_quarter(nv_emit *e, pkc_elem elem, LLVMValueRef v)
{
    LLVMValueRef pair = nv_call(e, elem == PKC_E_E4M3 ? NV_TO_E4M3 : NV_TO_E5M2, LLVMConstNull(e->c->f32), v);
    return LLVMBuildTrunc(e->b, pair, e->c->i8, "");
}

static LLVMValueRef widen(nv_emit *e, pkc_elem elem, LLVMValueRef v)
{
    if (is_quarter(elem))
        return from_quarter(e, elem, v);
    return is_half(elem) ? LLVMBuildFPExt(e->b, v, e->c->f32, "") : v;
}

static LLVMValueRef narrow(nv_emit *e, pkc_elem elem, LLVMValueRef v)
{
    if (is_quarter(elem))
        return to_quarter(e, elem, v);
    return is_half(elem) ? LLVMBuildFPTrunc(e->b, v, llvmc_elem(e->c, elem), "") : v;
}

static LLVMValueRef float_to_float(nv_emit *e, pkc_elem from, pkc_elem to, LLVMValueRef v)
{
    LLVMTypeRef type = llvmc_elem(e->c, to);
    if (pkc_elem_bits(to) > pkc_elem_bits(from))
        return LLVMBuildFPExt(e->b, v, type, "");
    if (pkc_elem_bits(to) < pkc_elem_bits(from))
        return LLVMBuildFPTrunc(e->b, v, type, "");
    return from == to ? v : LLVMBuildFPTrunc(e->b, widen(e, from, v), type, ""); // bf16 <-> f16
}

static LLVMValueRef int_to_int(nv_emit *e, pkc_elem from, pkc_elem to, LLVMValueRef v)
{
    LLVMTypeRef type = llvmc_elem(e->c, to);
    bool sign = is_signed(from);
    return LLVMBuildIntCast2(e->b, v, type, sign, "");
}

// bf16 is the upper half of f32. Compared as fpext gives it, LLVM would narrow the comparison to bf16, which
// has no form that flushes denormals.
static LLVMValueRef widen_bits(nv_emit *e, pkc_elem elem, LLVMValueRef v)
{
    if (elem != PKC_E_BF16)
        return widen(e, elem, v);
    LLVMValueRef bits = LLVMBuildZExt(e->b, LLVMBuildBitCast(e->b, v, e->c->i16, ""), e->c->i32, "");
    return LLVMBuildBitCast(e->b, LLVMBuildShl(e->b, bits, nv_i32(e, 16), ""), e->c->f32, "");
}

LLVMValueRef nv_cast(nv_emit *e, pkc_elem from, pkc_elem to, LLVMValueRef v)
{
    LLVMTypeRef type = llvmc_elem(e->c, to);
    if (from == to)
        return v;
    if (is_quarter(from))
        return nv_cast(e, PKC_E_F32, to, from_quarter(e, from, v));
    if (is_quarter(to))
        return to_quarter(e, to, nv_cast(e, from, PKC_E_F32, v));
    if (is_float(from) && is_float(to))
        return float_to_float(e, from, to, v);
    if (to == PKC_E_BOOL && is_float(from)) {
        v = widen_bits(e, from, v);
        return LLVMBuildFCmp(e->b, LLVMRealUNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    }
    if (to == PKC_E_BOOL)
        return nv_cmp(e, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)));
    if (is_float(from)) {
        v = widen(e, from, v);
        return is_signed(to) ? LLVMBuildFPToSI(e->b, v, type, "") : LLVMBuildFPToUI(e->b, v, type, "");
    }
    if (is_float(to)) {
        LLVMTypeRef wide = is_half(to) ? e->c->f32 : type;
        v = is_signed(from) ? LLVMBuildSIToFP(e->b, v, wide, "") : LLVMBuildUIToFP(e->b, v, wide, "");
        return narrow(e, to, v);
    }
    return int_to_int(e, from, to, v);
}

// ---- unary and comparisons
// ---------------------------------------------------------------------------------

static LLVMValueRef float_un(nv_emit *e, ir_un sub, bool f64, LLVMValueRef a)
{
    switch (sub) {
    case IR_UN_NEG:
        return LLVMBuildFNeg(e->b, a, "");
    case IR_UN_ABS:
        return nv_call(e, f64 ? NV_FABS64 : NV_FABS, a);
    case IR_UN_SQRT:
        return nv_call(e, f64 ? NV_SQRT64 : NV_SQRT, a);
    case IR_UN_EXP2:
    case IR_UN_LOG2:
    case IR_UN_RSQRT:
    case IR_UN_RCP:
        if (f64)
            break;
        return nv_call(e,
                       sub == IR_UN_EXP2   ? NV_EX2
                       : sub == IR_UN_LOG2 ? NV_LG2
                       : sub == IR_UN_RCP  ? NV_RCP
                                           : NV_RSQRT,
                       a);
    case IR_UN_NOT:
    case IR_UN_COUNT:
        break;
    }
    return unsupported(e, "this function of such numbers", LLVMTypeOf(a));
}

static LLVMValueRef int_un(nv_emit *e, ir_un sub, LLVMValueRef a)
{
    switch (sub) {
    case IR_UN_NEG:
        return LLVMBuildNeg(e->b, a, "");
    case IR_UN_NOT:
        return LLVMBuildNot(e->b, a, "");
    case IR_UN_ABS:
        return int_min_max(e, LLVMIntSGT, a, LLVMBuildNeg(e->b, a, ""));
    case IR_UN_EXP2:
    case IR_UN_LOG2:
    case IR_UN_SQRT:
    case IR_UN_RSQRT:
    case IR_UN_RCP:
    case IR_UN_COUNT:
        break;
    }
    return unsupported(e, "this function of integers", LLVMTypeOf(a));
}

// A column of `iota` is the thread's first one and a constant, neither negative. The constant is compared
// with the other side less the first one: that is one value a row, where the columns would be one each, and
// stay in registers for every mask. No column is below 0, so the other side may be cut off at -1: nothing
// wraps.
static void split_place(nv_emit *e, LLVMValueRef *place, LLVMValueRef *other)
{
    if (!LLVMIsAInstruction(*place) || LLVMGetInstructionOpcode(*place) != LLVMAdd ||
        !LLVMIsAConstantInt(LLVMGetOperand(*place, 1)))
        return;
    LLVMValueRef least = nv_i32(e, -1), first = LLVMGetOperand(*place, 0);
    LLVMValueRef cut = nv_select(e, nv_cmp(e, LLVMIntSGT, *other, least), *other, least);
    *place = LLVMGetOperand(*place, 1);
    *other = nv_sub(e, cut, first);
}

static LLVMValueRef compare(nv_emit *e, ir_cmp sub, pkc_elem elem, LLVMValueRef a, LLVMValueRef b)
{
    static const struct {
        LLVMRealPredicate real;
        LLVMIntPredicate sign, uns;
    } row[] = {
        [IR_CMP_EQ] = {LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ},
        [IR_CMP_NE] = {LLVMRealUNE, LLVMIntNE, LLVMIntNE},
        [IR_CMP_LT] = {LLVMRealOLT, LLVMIntSLT, LLVMIntULT},
        [IR_CMP_LE] = {LLVMRealOLE, LLVMIntSLE, LLVMIntULE},
        [IR_CMP_GT] = {LLVMRealOGT, LLVMIntSGT, LLVMIntUGT},
        [IR_CMP_GE] = {LLVMRealOGE, LLVMIntSGE, LLVMIntUGE},
    };
    if (is_float(elem))
        return LLVMBuildFCmp(e->b, row[sub].real, widen_bits(e, elem, a), widen_bits(e, elem, b), "");
    return nv_cmp(e, is_signed(elem) ? row[sub].sign : row[sub].uns, a, b);
}

// ---- one element of any pure op
// ----------------------------------------------------------------------------

static LLVMValueRef apply(nv_emit *e, const ir_op *op, LLVMValueRef *in)
{
    pkc_elem elem = ir_in(op, op->kind == IR_SELECT ? 1 : 0)->type->elem;
    bool f64 = elem == PKC_E_F64;
    if (op->kind == IR_CMP) {
        LLVMValueRef a = in[0], b = in[1];
        bool place = elem == PKC_E_I32 && ir_in(op, 0)->def && ir_in(op, 0)->def->kind == IR_IOTA;
        if (place)
            split_place(e, &a, &b);
        return compare(e, op->sub, elem, a, b);
    }
    if (op->kind == IR_SELECT)
        return nv_select(e, in[0], in[1], in[2]);
    if (op->kind == IR_CAST)
        return nv_cast(e, elem, op->out[0].type->elem, in[0]);
    if (!is_float(elem))
        return op->kind == IR_BIN ? int_bin(e, op->sub, is_signed(elem), in[0], in[1])
                                  : int_un(e, op->sub, in[0]);
    LLVMValueRef a = widen(e, elem, in[0]);
    LLVMValueRef r = op->kind == IR_BIN ? float_bin(e, op->sub, f64, a, widen(e, elem, in[1]))
                                        : float_un(e, op->sub, f64, a);
    return narrow(e, elem, r);
}

// ---- tiles that are at home everywhere
// ---------------------------------------------------------------------

static LLVMValueRef constant(nv_emit *e, const ir_op *op)
{
    const ir_type *t = op->out[0].type;
    LLVMTypeRef type = llvmc_elem(e->c, t->elem);
    if (t->kind == IR_T_SLOT)
        return nv_i32(e, op->attr.i);
    if (is_quarter(t->elem))
        return to_quarter(e, t->elem, LLVMConstReal(e->c->f32, op->attr.f));
    if (is_float(t->elem))
        return LLVMConstReal(type, op->attr.f);
    return LLVMConstInt(type, (unsigned long long)op->attr.i, true);
}

// The element at (row, col) of a tile that no thread holds: an expression of its place.
static LLVMValueRef lazy_at(nv_emit *e, const ir_value *value, LLVMValueRef row, LLVMValueRef col)
{
    const ir_op *op = value->def;
    if (!nv_is_lazy(value->type) || !op) {
        nv_val v = nv_get(e, value);
        return v.n ? v.v[0] : LLVMGetPoison(llvmc_elem(e->c, value->type->elem));
    }
    if (op->kind == IR_CONST)
        return constant(e, op);
    if (op->kind == IR_POISON)
        return LLVMGetPoison(llvmc_elem(e->c, value->type->elem));
    if (op->kind == IR_IOTA)
        return LLVMBuildIntCast2(e->b, col, llvmc_elem(e->c, value->type->elem), true, "");
    if (op->kind == IR_SPLAT)
        return nv_in(e, op, 0);
    if (op->kind == IR_TRANS)
        return lazy_at(e, ir_in(op, 0), col, row);
    if (op->kind == IR_SLICE)
        return lazy_at(e, ir_in(op, 0), row, nv_addi(e, col, op->attr.i));
    if (op->kind == IR_BIN || op->kind == IR_UN || op->kind == IR_CMP || op->kind == IR_SELECT ||
        op->kind == IR_CAST) {
        LLVMValueRef in[3] = {NULL};
        for (int i = 0; i < op->n_in; i++)
            in[i] = lazy_at(e, ir_in(op, i), row, col);
        return apply(e, op, in);
    }
    return unsupported(e, "a register tile without a distribution", llvmc_elem(e->c, value->type->elem));
}

static ir_type in_dist(const ir_type *type, const ir_type *like)
{
    ir_type t = *type;
    if (t.dist.base == IR_DIST_ANY)
        t.dist = like->dist;
    return t;
}

nv_val nv_operand(nv_emit *e, const ir_value *value, const ir_type *like)
{
    if (!nv_is_lazy(value->type))
        return nv_get(e, value);
    if (like->dist.base == IR_DIST_ANY)
        return nv_new(e, 0);
    ir_type t = in_dist(value->type, like);
    nv_geo g = nv_geometry(&t);
    LLVMValueRef *elems = PKC_NEW_ARRAY(e->arena, LLVMValueRef, nv_geo_elems(&g));
    for (int r = 0; r < g.row_parts; r++)
        for (int c = 0; c < g.col_parts; c++) {
            nv_place at = nv_geo_place(e, &g, r, c);
            elems[nv_geo_index(&g, r, c)] = lazy_at(e, value, at.row, at.col);
        }
    return nv_pack(e, &g, elems, llvmc_elem(e->c, t.elem));
}

// ---- register tiles
// ----------------------------------------------------------------------------------------

// Two single-precision registers to one pair of 16-bit elements: one instruction, cvt.rn.bf16x2.f32.
static nv_val cast_pairs(nv_emit *e, const nv_geo *to, const nv_geo *from, nv_val in, pkc_elem elem)
{
    LLVMTypeRef pair = LLVMVectorType(e->c->f32, 2);
    nv_val r = nv_new(e, nv_geo_elems(to) / 2);
    for (int i = 0; i < r.n; i++) {
        LLVMValueRef v = LLVMGetPoison(pair);
        v = LLVMBuildInsertElement(e->b, v, nv_elem_get(e, from, in, 2 * i), nv_i32(e, 0), "");
        v = LLVMBuildInsertElement(e->b, v, nv_elem_get(e, from, in, 2 * i + 1), nv_i32(e, 1), "");
        r.v[i] = LLVMBuildFPTrunc(e->b, v, LLVMVectorType(llvmc_elem(e->c, elem), 2), "");
    }
    return r;
}

static nv_val each_element(nv_emit *e, const ir_op *op, const ir_type *type, const nv_geo *g)
{
    nv_val in[3] = {{NULL, 0}};
    nv_geo from[3] = {{0}};
    for (int i = 0; i < op->n_in; i++) {
        const ir_value *v = ir_in(op, i);
        ir_type t = in_dist(v->type, type);
        in[i] = nv_operand(e, v, type);
        from[i] =
            v->type->kind == IR_T_REG ? nv_geometry(&t) : (nv_geo){.row_parts = 1, .col_parts = 1, .pack = 1};
    }
    if (op->kind == IR_CAST && g->pack == 2 && is_half(type->elem) && ir_in(op, 0)->type->elem == PKC_E_F32)
        return cast_pairs(e, g, &from[0], in[0], type->elem);
    LLVMValueRef *elems = PKC_NEW_ARRAY(e->arena, LLVMValueRef, nv_geo_elems(g));
    for (int r = 0; r < g->row_parts; r++)
        for (int c = 0; c < g->col_parts; c++) {
            LLVMValueRef arg[3] = {NULL};
            for (int i = 0; i < op->n_in; i++)
                arg[i] = nv_elem_get(e, &from[i], in[i], nv_geo_index(&from[i], r, c));
            elems[nv_geo_index(g, r, c)] = apply(e, op, arg);
        }
    return nv_pack(e, g, elems, llvmc_elem(e->c, type->elem));
}

static nv_val fill(nv_emit *e, const nv_geo *g, LLVMValueRef v)
{
    int n = nv_geo_elems(g);
    LLVMValueRef *elems = PKC_NEW_ARRAY(e->arena, LLVMValueRef, n);
    for (int i = 0; i < n; i++)
        elems[i] = v;
    return nv_pack(e, g, elems, LLVMTypeOf(v));
}

// A generator with a distribution of its own: evaluated at the places of this thread.
static nv_val generate(nv_emit *e, const ir_op *op, const ir_type *type, const nv_geo *g)
{
    LLVMTypeRef t = llvmc_elem(e->c, type->elem);
    LLVMValueRef *elems = PKC_NEW_ARRAY(e->arena, LLVMValueRef, nv_geo_elems(g));
    for (int r = 0; r < g->row_parts; r++)
        for (int c = 0; c < g->col_parts; c++) {
            nv_place at = nv_geo_place(e, g, r, c);
            elems[nv_geo_index(g, r, c)] = op->kind == IR_IOTA ? LLVMBuildIntCast2(e->b, at.col, t, true, "")
                                                               : lazy_at(e, ir_in(op, 0), at.col, at.row);
        }
    return nv_pack(e, g, elems, t);
}

static nv_val poison(nv_emit *e, const ir_type *type)
{
    nv_val r = nv_new(e, nv_components(type));
    LLVMTypeRef t = nv_component_type(e, type);
    for (int i = 0; i < r.n; i++)
        r.v[i] = type->kind == IR_T_REG ? LLVMGetPoison(t) : LLVMConstNull(t);
    return r;
}

static void emit_tile(nv_emit *e, const ir_op *op)
{
    const ir_type *type = op->out[0].type;
    if (nv_is_lazy(type))
        return; // made where it is used
    nv_geo g = nv_geometry(type);
    if (op->kind == IR_SPLAT)
        nv_set(e, &op->out[0], fill(e, &g, nv_in(e, op, 0)));
    else if (op->kind == IR_CONST)
        nv_set(e, &op->out[0], fill(e, &g, constant(e, op)));
    else if (op->kind == IR_IOTA || op->kind == IR_TRANS)
        nv_set(e, &op->out[0], generate(e, op, type, &g));
    else
        nv_set(e, &op->out[0], each_element(e, op, type, &g));
}

// ---- shared tiles and scalars
// ------------------------------------------------------------------------------

static LLVMValueRef field_offset(nv_emit *e, const ir_op *op)
{
    const ir_pipe *pipe = ir_in(op, 0)->type->pipe;
    LLVMValueRef slot = nv_muli(e, nv_in(e, op, 0), pipe->slot_bytes);
    return nv_addi(e, slot, pipe->offset + pipe->field[op->attr.i].offset);
}

static LLVMValueRef read(nv_emit *e, ir_read sub)
{
    switch (sub) {
    case IR_READ_RANK:
        return nv_rank(e);
    case IR_READ_RANKS:
        return nv_ranks(e);
    case IR_READ_SMS:
        return nv_sms(e);
    case IR_READ_WORKER:
        return nv_sub(e, e->cta, nv_group_first(e, e->group));
    case IR_READ_WORKERS:
        return nv_group_count(e, e->group);
    case IR_READ_COUNT:
        break;
    }
    return nv_i32(e, 0);
}

static LLVMValueRef emit_scalar(nv_emit *e, const ir_op *op)
{
    switch ((int)op->kind) {
    case IR_CONST:
        return constant(e, op);
    case IR_READ:
        return read(e, op->sub);
    case IR_DIM:
        return nv_dim(e, op->attr.name);
    case IR_SCALAR:
        return nv_scalar(e, op->attr.param);
    case IR_FIELD:
        return field_offset(e, op);
    case IR_SHARED:
        return nv_i32(e, op->attr.shared->offset);
    case IR_TRANS:
        return nv_in(e, op, 0); // a shared tile: the same bytes, read the other way round
    }
    LLVMValueRef in[3] = {NULL};
    for (int i = 0; i < op->n_in && i < 3; i++)
        in[i] = nv_in(e, op, i);
    return apply(e, op, in);
}

void nv_emit_pure(nv_emit *e, const ir_op *op)
{
    if (op->kind == IR_POISON)
        nv_set(e, &op->out[0], poison(e, op->out[0].type));
    else if (op->out[0].type->kind == IR_T_REG)
        emit_tile(e, op);
    else
        nv_out(e, op, emit_scalar(e, op));
}
