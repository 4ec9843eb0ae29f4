// SPDX-License-Identifier: Apache-2.0
// Bulk copies between global and shared memory. A tile of P panels is P boxes that complete on one mbarrier;
// the last axis of a box is one panel across. The flat form moves one contiguous row without a tensor map.
#include "nvptx/emit.h"
#include "nvptx/memory.h"

typedef struct copy {
    const ir_op *view;
    const ir_type *tile;
    int64_t flat_bytes;  // of the flat form: a row that never hangs over its axis
    LLVMValueRef offset; // of the tile in shared memory
    const nv_tmap *map;
    LLVMValueRef map_ptr;
} copy;

// Coordinates in the map's order (innermost first); panel p is that many panels along the tile's columns.
static int coordinates(nv_emit *e, const copy *c, int p, LLVMValueRef *out)
{
    int across = c->map->box[0];
    for (int i = 0; i < c->map->n_axes; i++) {
        out[i] = nv_view_coord(e, c->view, c->map->axis[i]);
        if (i == 0)
            out[i] = nv_addi(e, out[i], (int64_t)p * across);
    }
    return c->map->n_axes;
}

static int panels(const copy *c)
{
    return (c->tile->cols + c->map->box[0] - 1) / c->map->box[0];
}

static LLVMValueRef panel_ptr(nv_emit *e, const copy *c, int p)
{
    int64_t bytes = (int64_t)c->tile->rows * c->map->box[0] * (int)pkc_elem_bits(c->tile->elem) / 8;
    return nv_shared(e, nv_addi(e, c->offset, p * bytes));
}

static LLVMValueRef full_barrier(nv_emit *e, const ir_value *slot)
{
    const ir_pipe *pipe = slot->type->pipe;
    return nv_shared(e, nv_addi(e, nv_muli(e, nv_get(e, slot).v[0], 8), pipe->full_bar));
}

static copy open_copy(nv_emit *e, const ir_op *op, const ir_op *view, const ir_value *tile)
{
    copy c = {.view = view, .tile = tile->type, .offset = nv_get(e, tile).v[0]};
    c.map = nv_map_of(e->lay, op);
    // A tensor map knows the tensor's edges only: beyond the view's own end it would write.
    if (view->attr.has_row_hi || view->attr.has_col_hi)
        llvmc_unsupported(e->c, "a bulk copy of a view with an end of its own");
    c.flat_bytes = nv_flat_bytes(op);
    return c;
}

void nv_emit_copy_in(nv_emit *e, const ir_op *op)
{
    copy c = open_copy(e, op, ir_in(op, 1)->def, ir_in(op, 0));
    LLVMBasicBlockRef after = nv_begin_one(e);
    LLVMValueRef barrier = full_barrier(e, ir_in(op, 2)), rank = nv_view_rank(e, c.view);
    if (!c.map) {
        nv_view v = nv_view_open(e, c.view, NULL);
        nv_call(e, NV_BULK_G2S, nv_shared(e, c.offset), barrier, v.base, nv_i32(e, c.flat_bytes),
                nv_i64(e, 0), llvmc_bool(e->c, false));
        nv_end_one(e, after);
        return;
    }
    LLVMValueRef map = nv_tensor_map(e, c.map, rank);
    for (int p = 0; p < panels(&c); p++) {
        LLVMValueRef args[12] = {panel_ptr(e, &c, p), barrier, map};
        int n = 3 + coordinates(e, &c, p, args + 3);
        args[n++] = nv_i64(e, 0);
        args[n++] = llvmc_bool(e->c, false);
        llvmc_call(e->c, (nv_intrinsic)(NV_TMA_G2S_1D + c.map->n_axes - 1), n, args);
    }
    nv_end_one(e, after);
}

// ---- stores
// ------------------------------------------------------------------------------------------------

static nv_intrinsic store_intrinsic(ir_red sub)
{
    switch (sub) {
    case IR_RED_SET:
    case IR_RED_COUNT:
        break;
    case IR_RED_ADD:
        return NV_TMA_ADD_1D;
    case IR_RED_MIN:
        return NV_TMA_MIN_1D;
    case IR_RED_MAX:
        return NV_TMA_MAX_1D;
    }
    return NV_TMA_S2G_1D;
}

static void store_boxes(nv_emit *e, const copy *c, ir_red sub, LLVMValueRef rank)
{
    LLVMValueRef map = nv_tensor_map(e, c->map, rank);
    for (int p = 0; p < panels(c); p++) {
        LLVMValueRef args[10] = {panel_ptr(e, c, p), map};
        int n = 2 + coordinates(e, c, p, args + 2);
        args[n++] = nv_i64(e, 0);
        args[n++] = llvmc_bool(e->c, false);
        llvmc_call(e->c, (nv_intrinsic)(store_intrinsic(sub) + c->map->n_axes - 1), n, args);
    }
}

// Reductions of contiguous bytes have no intrinsic.
static const char *flat_type(nv_emit *e, ir_red sub, pkc_elem elem)
{
    bool add = sub == IR_RED_ADD;
    switch (elem) {
    case PKC_E_BF16:
        return add ? "noftz.bf16" : "bf16";
    case PKC_E_F16:
        return add ? "noftz.f16" : "f16";
    case PKC_E_F32:
        if (add)
            return "f32";
        break;
    case PKC_E_I32:
        return add ? "u32" : "s32";
    case PKC_E_U32:
        return "u32";
    case PKC_E_BOOL:
    case PKC_E_U8:
    case PKC_E_I8:
    case PKC_E_E4M3:
    case PKC_E_E5M2:
    case PKC_E_I64:
    case PKC_E_U64:
    case PKC_E_F64:
    case PKC_E_COUNT:
        break;
    }
    llvmc_unsupported(e->c, "this reduction of such elements at the destination");
    return "u32";
}

static void store_flat(nv_emit *e, const copy *c, ir_red sub, LLVMValueRef rank)
{
    nv_view v = nv_view_open(e, c->view, rank);
    LLVMValueRef from = nv_shared(e, c->offset), bytes = nv_i32(e, c->flat_bytes);
    if (sub == IR_RED_SET) {
        nv_call(e, NV_BULK_S2G, v.base, from, bytes, nv_i64(e, 0), llvmc_bool(e->c, false));
        return;
    }
    const char *op = sub == IR_RED_ADD ? "add" : sub == IR_RED_MIN ? "min" : "max";
    const char *text =
        pkc_arena_printf(e->arena, "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [$0], [$1], $2;",
                         op, flat_type(e, sub, c->tile->elem));
    LLVMValueRef at = LLVMBuildPtrToInt(e->b, from, e->c->i32, "");
    llvmc_asm(e->c, e->c->void_t, text, "l,r,r,~{memory}", 3, (LLVMValueRef[]){v.base, at, bytes});
}

static void store_to(nv_emit *e, const copy *c, ir_red sub, LLVMValueRef rank)
{
    if (c->map)
        store_boxes(e, c, sub, rank);
    else
        store_flat(e, c, sub, rank);
}

void nv_emit_copy_out(nv_emit *e, const ir_op *op)
{
    copy c = open_copy(e, op, ir_in(op, 0)->def, ir_in(op, 1));
    LLVMBasicBlockRef after = nv_begin_one(e);
    if (c.view->attr.peer != IR_PEER_ALL) {
        store_to(e, &c, op->sub, nv_view_rank(e, c.view));
    } else {
        nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_ranks(e));
        store_to(e, &c, op->sub, nv_next_rank(e, loop.i));
        nv_loop_end(e, &loop, nv_i32(e, 1));
    }
    nv_end_one(e, after);
}

void nv_emit_bulk(nv_emit *e, const ir_op *op)
{
    LLVMBasicBlockRef after = nv_begin_one(e);
    if (op->kind == IR_BULK_COMMIT)
        nv_call0(e, NV_BULK_COMMIT);
    else
        nv_call(e, op->sub == IR_BULK_READ ? NV_BULK_WAIT_READ : NV_BULK_WAIT, nv_i32(e, op->attr.i));
    nv_end_one(e, after);
}
