// SPDX-License-Identifier: Apache-2.0
// Reductions over the ranks' copies of a tile: `reduce` to a view of this rank, `all_reduce` back to every
// copy.
//
// The threads of the role take the tile's vectors in turn. Each adds the ranks' values in the order of the
// ranks, in single precision, so that every rank comes to the same bits, and rounds once.
#include "nvptx/emit.h"
#include "nvptx/geometry.h"
#include "nvptx/memory.h"

enum { VEC = 8 };

typedef struct reduction {
    const ir_op *op, *src, *dst; // views
    ir_red how;
    pkc_elem elem;
    int rows, cols;
} reduction;

static bool is_half(pkc_elem elem)
{
    return elem == PKC_E_BF16 || elem == PKC_E_F16;
}

static LLVMValueRef widen(nv_emit *e, pkc_elem elem, LLVMValueRef v)
{
    return is_half(elem) ? LLVMBuildFPExt(e->b, v, e->c->f32, "") : v;
}

static LLVMValueRef combine(nv_emit *e, const reduction *r, LLVMValueRef a, LLVMValueRef b)
{
    bool real = pkc_elem_class(r->elem) == 'f', sign = pkc_elem_class(r->elem) == 'i';
    switch (r->how) {
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

static LLVMValueRef address(nv_emit *e, const nv_view *v, LLVMValueRef row, LLVMValueRef col)
{
    LLVMValueRef offset =
        nv_add(e, nv_mul(e, nv_wide(e, row), v->row_stride), nv_mul(e, nv_wide(e, col), v->col_stride));
    return LLVMBuildGEP2(e->b, e->c->i8, v->base, &offset, 1, "");
}

static void load_rank(nv_emit *e, const reduction *r, LLVMValueRef rank, LLVMValueRef row, LLVMValueRef col,
                      int run, LLVMValueRef in, LLVMValueRef *out)
{
    nv_view v = nv_view_open(e, r->src, rank);
    nv_load_vec(e, address(e, &v, row, col), r->elem, run, in, out);
    for (int i = 0; i < run; i++)
        out[i] = widen(e, r->elem, out[i]);
}

// Rank 0's values, then the others' in a loop that carries the sums.
static void sum_ranks(nv_emit *e, const reduction *r, LLVMValueRef row, LLVMValueRef col, int run,
                      LLVMValueRef in, LLVMValueRef *sum)
{
    LLVMValueRef first[VEC], next[VEC], phi[VEC], out[VEC];
    load_rank(e, r, nv_i32(e, 0), row, col, run, in, first);
    LLVMBasicBlockRef before = nv_here(e), body = nv_block(e, "ranks"), exit = nv_block(e, "summed");
    LLVMValueRef ranks = nv_ranks(e);
    nv_branch(e, nv_cmp(e, LLVMIntSLT, nv_i32(e, 1), ranks), body, exit);
    nv_enter(e, body);
    LLVMValueRef rank = nv_phi(e, e->c->i32);
    nv_phi_add(rank, nv_i32(e, 1), before);
    for (int i = 0; i < run; i++) {
        phi[i] = nv_phi(e, LLVMTypeOf(first[i]));
        nv_phi_add(phi[i], first[i], before);
    }
    load_rank(e, r, rank, row, col, run, in, next);
    LLVMBasicBlockRef latch = nv_here(e);
    for (int i = 0; i < run; i++) {
        out[i] = combine(e, r, phi[i], next[i]);
        nv_phi_add(phi[i], out[i], latch);
    }
    LLVMValueRef after = nv_addi(e, rank, 1);
    nv_phi_add(rank, after, latch);
    llvmc_no_unroll(e->c, LLVMBuildCondBr(e->b, nv_cmp(e, LLVMIntSLT, after, ranks), body, exit));
    nv_enter(e, exit);
    for (int i = 0; i < run; i++) {
        sum[i] = nv_phi(e, LLVMTypeOf(first[i]));
        nv_phi_add(sum[i], first[i], before);
        nv_phi_add(sum[i], out[i], latch);
    }
}

static void store_one(nv_emit *e, const reduction *r, LLVMValueRef rank, LLVMValueRef row, LLVMValueRef col,
                      int run, LLVMValueRef in, LLVMValueRef *sum)
{
    nv_view v = nv_view_open(e, r->dst, rank);
    nv_store_vec(e, address(e, &v, row, col), r->elem, run, in, sum);
}

static void store_sum(nv_emit *e, const reduction *r, LLVMValueRef row, LLVMValueRef col, int run,
                      LLVMValueRef in, LLVMValueRef *sum)
{
    for (int i = 0; i < run; i++)
        if (is_half(r->elem))
            sum[i] = LLVMBuildFPTrunc(e->b, sum[i], llvmc_elem(e->c, r->elem), "");
    if (r->dst->attr.peer != IR_PEER_ALL) {
        store_one(e, r, NULL, row, col, run, in, sum);
        return;
    }
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_ranks(e));
    store_one(e, r, nv_next_rank(e, loop.i), row, col, run, in, sum);
    nv_loop_end(e, &loop, nv_i32(e, 1));
}

// The tile in runs of `run` columns, dealt to the threads of the role.
static void walk_tile(nv_emit *e, const reduction *r, int run)
{
    int across = r->cols / run;
    nv_view v = nv_view_open(e, r->dst, r->dst->attr.peer == IR_PEER_ALL ? nv_rank(e) : NULL);
    nv_loop loop = nv_loop_begin(e, e->role_thread, nv_i32(e, (int64_t)r->rows * across));
    LLVMValueRef row = LLVMBuildUDiv(e->b, loop.i, nv_i32(e, across), "");
    LLVMValueRef col = nv_muli(e, LLVMBuildURem(e->b, loop.i, nv_i32(e, across), ""), run);
    LLVMValueRef in = nv_and(e, nv_cmp(e, LLVMIntSLT, row, v.rows), nv_cmp(e, LLVMIntSLT, col, v.cols));
    LLVMBasicBlockRef after = nv_begin_if(e, in);
    LLVMValueRef sum[VEC];
    sum_ranks(e, r, row, col, run, NULL, sum);
    store_sum(e, r, row, col, run, NULL, sum);
    nv_end_if(e, after);
    nv_loop_end(e, &loop, nv_i32(e, (int64_t)32 * e->role->warps));
}

// i1: both views consist of whole aligned vectors. Copies of all ranks are aligned alike.
static LLVMValueRef vectors_fit(nv_emit *e, const reduction *r)
{
    const ir_op *view[2] = {r->src, r->dst};
    LLVMValueRef low = nv_i64(e, 0), whole = NULL;
    for (int i = 0; i < 2; i++) {
        nv_view v = nv_view_open(e, view[i], view[i]->attr.peer == IR_PEER_ALL ? nv_rank(e) : NULL);
        low = nv_or(e, low, nv_or(e, LLVMBuildPtrToInt(e->b, v.base, e->c->i64, ""), v.row_stride));
        LLVMValueRef fits = nv_or(e, nv_is(e, nv_andi(e, v.cols, VEC - 1), 0),
                                  nv_cmp(e, LLVMIntSGE, v.cols, nv_i32(e, r->cols)));
        whole = nv_both(e, whole, fits);
    }
    return nv_and(e, whole, nv_is(e, nv_andi(e, low, 15), 0));
}

static bool can_reduce(nv_emit *e, const reduction *r)
{
    unsigned bits = pkc_elem_bits(r->elem);
    if ((bits == 32 || is_half(r->elem)) && r->how != IR_RED_SET)
        return true;
    llvmc_unsupported(e->c, "a reduction over ranks of such elements");
    return false;
}

void nv_emit_net(nv_emit *e, const ir_op *op)
{
    bool all = op->kind == IR_NET_ALL;
    const ir_value *dst = ir_in(op, 0), *src = ir_in(op, all ? 0 : 1);
    reduction r = {op, src->def, dst->def, op->sub, src->type->elem, src->type->rows, src->type->cols};
    if (!can_reduce(e, &r))
        return;
    bool side_by_side = r.src->attr.col_axis == r.src->attr.param->n_dims - 1 &&
                        r.dst->attr.col_axis == r.dst->attr.param->n_dims - 1 && r.cols % VEC == 0;
    if (!side_by_side) {
        walk_tile(e, &r, 1);
        return;
    }
    LLVMBasicBlockRef vec = nv_block(e, "vectors"), one = nv_block(e, "elements"),
                      after = nv_block(e, "reduced");
    nv_branch(e, vectors_fit(e, &r), vec, one);
    nv_enter(e, vec);
    walk_tile(e, &r, VEC);
    nv_goto(e, after);
    nv_enter(e, one);
    walk_tile(e, &r, 1);
    nv_goto(e, after);
    nv_enter(e, after);
}
