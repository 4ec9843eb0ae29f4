// SPDX-License-Identifier: Apache-2.0
// Register tiles as wholes: column slices, reductions, changes of distribution.
#include "nvptx/emit.h"
#include "nvptx/geometry.h"
#include "nvptx/memory.h"

void nv_emit_slice(nv_emit *e, const ir_op *op)
{
    const ir_type *to = op->out[0].type, *from = ir_in(op, 0)->type;
    if (nv_is_lazy(to))
        return;
    nv_geo g = nv_geometry(to);
    if (nv_is_lazy(from)) {
        nv_set(e, &op->out[0], nv_operand(e, &op->out[0], to));
        return;
    }
    nv_geo f = nv_geometry(from);
    nv_val v = nv_get(e, ir_in(op, 0));
    int skip = (int)op->attr.i / 4; // column parts before the slice
    LLVMValueRef *elems = PKC_NEW_ARRAY(e->arena, LLVMValueRef, nv_geo_elems(&g));
    if (g.pack == 2) { // pairs move as they are
        nv_val r = nv_new(e, nv_geo_elems(&g) / 2);
        for (int row = 0; row < g.row_parts; row++)
            for (int c = 0; c < g.col_parts; c += 2)
                r.v[nv_geo_index(&g, row, c) / 2] = v.v[nv_geo_index(&f, row, c + skip) / 2];
        nv_set(e, &op->out[0], r);
        return;
    }
    for (int row = 0; row < g.row_parts; row++)
        for (int c = 0; c < g.col_parts; c++)
            elems[nv_geo_index(&g, row, c)] = v.v[nv_geo_index(&f, row, c + skip)];
    nv_set(e, &op->out[0], nv_pack(e, &g, elems, llvmc_elem(e->c, to->elem)));
}

// ---- reductions
// --------------------------------------------------------------------------------------------

static LLVMValueRef combine(nv_emit *e, ir_red sub, pkc_elem elem, LLVMValueRef a, LLVMValueRef b)
{
    if (!a || !b)
        return a ? a : b;
    bool real = pkc_elem_class(elem) == 'f', sign = pkc_elem_class(elem) == 'i';
    switch (sub) {
    case IR_RED_SET:
    case IR_RED_COUNT:
        break;
    case IR_RED_ADD:
        return real ? LLVMBuildFAdd(e->b, a, b, "") : nv_add(e, a, b);
    case IR_RED_MIN:
        return real ? nv_call(e, NV_MINNUM, a, b)
                    : nv_select(e, nv_cmp(e, sign ? LLVMIntSLT : LLVMIntULT, a, b), a, b);
    case IR_RED_MAX:
        return real ? nv_call(e, NV_MAXNUM, a, b)
                    : nv_select(e, nv_cmp(e, sign ? LLVMIntSGT : LLVMIntUGT, a, b), a, b);
    }
    return a;
}

// What changes nothing when it is combined: stands in for elements that are not there.
static LLVMValueRef neutral(nv_emit *e, ir_red sub, pkc_elem elem)
{
    LLVMTypeRef t = llvmc_elem(e->c, elem);
    bool max = sub == IR_RED_MAX;
    if (sub == IR_RED_ADD)
        return LLVMConstNull(t);
    if (pkc_elem_class(elem) == 'f')
        return LLVMConstReal(t, max ? -__builtin_inf() : __builtin_inf());
    if (pkc_elem_class(elem) == 'i')
        return LLVMConstInt(t, max ? 0x80000000u : 0x7fffffffu, true);
    return LLVMConstInt(t, max ? 0 : 0xffffffffu, false);
}

// Combines over lanes that differ in the bits from..to of their number.
static LLVMValueRef across_lanes(nv_emit *e, ir_red sub, pkc_elem elem, LLVMValueRef v, int from, int to)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    for (int bit = from; bit <= to; bit *= 2) {
        LLVMValueRef word = LLVMBuildBitCast(e->b, v, e->c->i32, "");
        LLVMValueRef other = nv_call(e, NV_SHFL_BFLY, nv_i32(e, -1), word, nv_i32(e, bit), nv_i32(e, 31));
        v = combine(e, sub, elem, v, LLVMBuildBitCast(e->b, other, t, ""));
    }
    return v;
}

// Lanes that share a row; those with the same place among them share a column.
static int lanes_of(const nv_geo *g)
{
    return g->base == IR_DIST_QUAD ? 4 : g->lanes;
}

static bool reducible(nv_emit *e, const ir_op *op, const nv_geo *g)
{
    pkc_elem elem = ir_in(op, 0)->type->elem;
    if (pkc_elem_bits(elem) == 32 && (g->base == IR_DIST_QUAD || g->base == IR_DIST_LINE))
        return true;
    llvmc_unsupported(e->c, "a reduction of such a register value");
    return false;
}

// The thread's elements of one row part (or column part) combined; elements outside the tile count as
// neutral.
static LLVMValueRef in_thread(nv_emit *e, const ir_op *op, const nv_geo *g, nv_val v, int part,
                              bool along_row)
{
    pkc_elem elem = ir_in(op, 0)->type->elem;
    LLVMValueRef sum = NULL;
    int n = along_row ? g->col_parts : g->row_parts;
    for (int i = 0; i < n; i++) {
        int r = along_row ? part : i, c = along_row ? i : part;
        LLVMValueRef x = nv_elem_get(e, g, v, nv_geo_index(g, r, c)), in = nv_geo_place(e, g, r, c).in;
        if (in)
            x = nv_select(e, in, x, neutral(e, op->sub, elem));
        sum = combine(e, op->sub, elem, sum, x);
    }
    return sum;
}

void nv_emit_rred(nv_emit *e, const ir_op *op)
{
    const ir_type *from = ir_in(op, 0)->type;
    nv_geo g = nv_geometry(from);
    if (!reducible(e, op, &g))
        return;
    nv_val v = nv_get(e, ir_in(op, 0)), r = nv_new(e, g.row_parts);
    for (int i = 0; i < g.row_parts; i++) {
        LLVMValueRef x = in_thread(e, op, &g, v, i, true);
        r.v[i] = g.cols == 1 ? x : across_lanes(e, op->sub, from->elem, x, 1, lanes_of(&g) / 2);
    }
    nv_set(e, &op->out[0], r);
}

static LLVMValueRef scratch_at(nv_emit *e, LLVMValueRef index)
{
    return nv_shared(e, nv_addi(e, nv_muli(e, index, 4), e->role->scratch));
}

// Every warp, one without rows too, leaves its columns' results in shared memory, all warps then combine all
// rows of that table.
static void across_warps(nv_emit *e, const ir_op *op, const nv_geo *g, nv_val v)
{
    pkc_elem elem = ir_in(op, 0)->type->elem;
    LLVMTypeRef t = llvmc_elem(e->c, elem);
    LLVMValueRef mine = nv_muli(e, e->role_warp, g->cols);
    LLVMValueRef owner = nv_cmp(e, LLVMIntULT, e->lane, nv_i32(e, lanes_of(g)));
    for (int c = 0; c < v.n; c++) {
        nv_place at = nv_geo_place(e, g, 0, c);
        LLVMValueRef in = nv_and(e, owner, nv_cmp(e, LLVMIntSLT, at.col, nv_i32(e, g->cols)));
        nv_store_vec(e, scratch_at(e, nv_add(e, mine, at.col)), elem, 1, in, &v.v[c]);
    }
    nv_sync_role(e);
    for (int c = 0; c < v.n; c++) {
        nv_place at = nv_geo_place(e, g, 0, c);
        LLVMValueRef col = nv_min(e, at.col, nv_i32(e, g->cols - 1)), sum = NULL;
        for (int w = 0; w < e->role->warps; w++) {
            LLVMValueRef ptr = scratch_at(e, nv_addi(e, col, (int64_t)w * g->cols));
            LLVMValueRef x = LLVMBuildLoad2(e->b, t, ptr, "");
            LLVMSetAlignment(x, 4);
            sum = combine(e, op->sub, elem, sum, x);
        }
        v.v[c] = sum;
    }
    nv_sync_role(e); // the table may be used again
}

void nv_emit_cred(nv_emit *e, const ir_op *op)
{
    const ir_type *from = ir_in(op, 0)->type;
    nv_geo g = nv_geometry(from);
    if (!reducible(e, op, &g))
        return;
    nv_val v = nv_get(e, ir_in(op, 0)), r = nv_new(e, g.col_parts);
    for (int c = 0; c < g.col_parts; c++) {
        LLVMValueRef x = in_thread(e, op, &g, v, c, false);
        r.v[c] = g.rows > 1 ? across_lanes(e, op->sub, from->elem, x, lanes_of(&g), 16) : x;
    }
    if (g.rows > 1 && e->role->warps > 1)
        across_warps(e, op, &g, r);
    nv_set(e, &op->out[0], r);
}

// ---- changes of distribution
// -------------------------------------------------------------------------------

// Where element (row, col) of a tile of `cols` columns waits for its new owner.
static LLVMValueRef waiting(nv_emit *e, pkc_elem elem, LLVMValueRef row, LLVMValueRef col, int cols)
{
    LLVMValueRef index = nv_add(e, nv_muli(e, row, cols), col);
    return nv_shared(e, nv_addi(e, nv_muli(e, index, (int)pkc_elem_bits(elem) / 8), e->role->scratch));
}

// Through shared memory: everybody writes, everybody reads. attr says from which column on, and whether rows
// and columns change places.
void nv_emit_redist(nv_emit *e, const ir_op *op)
{
    const ir_type *from = ir_in(op, 0)->type, *to = op->out[0].type;
    pkc_elem elem = from->elem == PKC_E_BOOL ? PKC_E_U8 : from->elem;
    ir_type like = *from;
    if (nv_is_lazy(from))
        like.dist = to->dist;
    nv_geo a = nv_geometry(&like), b = nv_geometry(to);
    nv_val v = nv_unpack(e, &a, nv_operand(e, ir_in(op, 0), &like));
    LLVMTypeRef type = llvmc_elem(e->c, to->elem), stored = llvmc_elem(e->c, elem);
    LLVMValueRef owner = nv_geo_owner(e, &a);
    for (int r = 0; r < a.row_parts; r++)
        for (int c = 0; c < a.col_parts; c++) {
            nv_place at = nv_geo_place(e, &a, r, c);
            LLVMValueRef x = v.v[nv_geo_index(&a, r, c)];
            x = type == stored ? x : LLVMBuildZExt(e->b, x, stored, "");
            nv_store_vec(e, waiting(e, elem, at.row, at.col, a.cols), elem, 1, nv_both(e, owner, at.in), &x);
        }
    nv_sync_role(e);
    LLVMValueRef *elems = PKC_NEW_ARRAY(e->arena, LLVMValueRef, nv_geo_elems(&b));
    for (int r = 0; r < b.row_parts; r++)
        for (int c = 0; c < b.col_parts; c++) {
            nv_place at = nv_geo_place(e, &b, r, c);
            LLVMValueRef row = op->attr.flag ? at.col : at.row, x;
            LLVMValueRef col = nv_addi(e, op->attr.flag ? at.row : at.col, op->attr.i);
            nv_load_vec(e, waiting(e, elem, row, col, a.cols), elem, 1, at.in, &x);
            elems[nv_geo_index(&b, r, c)] = type == stored ? x : LLVMBuildTrunc(e->b, x, type, "");
        }
    nv_sync_role(e); // the space may be used again
    nv_set(e, &op->out[0], nv_pack(e, &b, elems, type));
}
