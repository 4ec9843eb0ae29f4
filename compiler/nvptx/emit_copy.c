// SPDX-License-Identifier: Apache-2.0
// Bulk copies between global and shared memory. A tile of P panels is P boxes that complete on one mbarrier;
// the last axis of a box is one panel across. The flat form moves one contiguous row without a tensor map.
#include "nvptx/emit.h"
#include "nvptx/memory.h"

typedef struct copy {
    const ir_op *op, *view;
    const ir_type *tile;
    ir_red sub;                // of a store
    int64_t flat_bytes;        // of the flat form: a row that never hangs over its axis
    LLVMValueRef offset;       // of the tile in shared memory
    LLVMValueRef barrier;      // of a load
    const nv_tmap *map, *rows; // `rows`: of single rows, for a view that may end inside the tile
} copy;

/// Boxes of one instruction each: the whole tile, or one row of it.
typedef struct boxes {
    const nv_tmap *map;
    LLVMValueRef map_ptr;
    LLVMValueRef row;    // NULL: the whole tile; which row of it otherwise (i32)
    LLVMValueRef at_row; // its coordinate
} boxes;

// Coordinates in the map's order (innermost first); panel p is that many panels along the tile's columns.
static int coordinates(nv_emit *e, const copy *c, const boxes *b, int p, LLVMValueRef *out)
{
    for (int i = 0; i < b->map->n_axes; i++) {
        int axis = b->map->axis[i];
        out[i] = b->row && axis == c->view->attr.row_axis ? b->at_row : nv_view_coord(e, c->view, axis);
        if (i == 0)
            out[i] = nv_addi(e, out[i], (int64_t)p * b->map->box[0]);
    }
    return b->map->n_axes;
}

static int panels(const copy *c)
{
    return (c->tile->cols + c->map->box[0] - 1) / c->map->box[0];
}

static LLVMValueRef panel_ptr(nv_emit *e, const copy *c, const boxes *b, int p)
{
    int64_t row_bytes = (int64_t)c->map->box[0] * (int)pkc_elem_bits(c->tile->elem) / 8;
    LLVMValueRef at = nv_addi(e, c->offset, p * c->tile->rows * row_bytes);
    return nv_shared(e, b->row ? nv_add(e, at, nv_muli(e, b->row, row_bytes)) : at);
}

static LLVMValueRef full_barrier(nv_emit *e, const ir_value *slot)
{
    const ir_pipe *pipe = slot->type->pipe;
    return nv_shared(e, nv_addi(e, nv_muli(e, nv_get(e, slot).v[0], 8), pipe->full_bar));
}

static copy open_copy(nv_emit *e, const ir_op *op, const ir_op *view, const ir_value *tile)
{
    copy c = {.op = op, .view = view, .tile = tile->type, .sub = op->sub, .offset = nv_get(e, tile).v[0]};
    c.map = nv_map_of(e->lay, op);
    c.rows = nv_row_map_of(e->lay, op);
    c.flat_bytes = nv_flat_bytes(op);
    return c;
}

// Rows of the tile before the view's own end; may be negative or larger than the tile.
static LLVMValueRef rows_inside(nv_emit *e, const copy *c)
{
    int hi = (c->view->attr.peer == IR_PEER_RANK ? 1 : 0) + c->view->attr.param->n_dims;
    return nv_sub(e, nv_in(e, c->view, hi), nv_view_coord(e, c->view, c->view->attr.row_axis));
}

// ---- loads
// ------------------------------------------------------------------------------------------------

static void load_boxes(nv_emit *e, const copy *c, const boxes *b)
{
    for (int p = 0; p < panels(c); p++) {
        LLVMValueRef args[12] = {panel_ptr(e, c, b, p), c->barrier, b->map_ptr};
        int n = 3 + coordinates(e, c, b, p, args + 3);
        args[n++] = nv_i64(e, 0);
        args[n++] = llvmc_bool(e->c, false);
        llvmc_call(e->c, (nv_intrinsic)(NV_TMA_G2S_1D + b->map->n_axes - 1), n, args);
    }
}

// A row beyond the view's end is asked for beyond the tensor's: it comes as zeros, and the barrier gets as
// many bytes as ever.
static void load_rows(nv_emit *e, const copy *c, LLVMValueRef rank)
{
    boxes b = {.map = c->rows, .map_ptr = nv_tensor_map(e, c->rows, rank)};
    int axis = c->view->attr.row_axis;
    LLVMValueRef inside = rows_inside(e, c), outside = nv_axis(e, c->view->attr.param, axis);
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_i32(e, c->tile->rows));
    b.row = loop.i;
    b.at_row = nv_select(e, nv_cmp(e, LLVMIntSLT, b.row, inside),
                         nv_add(e, nv_view_coord(e, c->view, axis), b.row), outside);
    load_boxes(e, c, &b);
    nv_loop_end(e, &loop, nv_i32(e, 1));
}

static void load_tile(nv_emit *e, const copy *c, LLVMValueRef rank)
{
    boxes b = {.map = c->map, .map_ptr = nv_tensor_map(e, c->map, rank)};
    load_boxes(e, c, &b);
}

/// Emits one of two copies: of the whole tile, or row by row where the view ends inside it.
static void choose(nv_emit *e, const copy *c, LLVMValueRef rank,
                   void (*tile)(nv_emit *, const copy *, LLVMValueRef),
                   void (*rows)(nv_emit *, const copy *, LLVMValueRef))
{
    if (!c->rows) {
        tile(e, c, rank);
        return;
    }
    LLVMBasicBlockRef all = nv_block(e, "tile"), some = nv_block(e, "rows"), after = nv_block(e, "copied");
    nv_branch(e, nv_cmp(e, LLVMIntSGE, rows_inside(e, c), nv_i32(e, c->tile->rows)), all, some);
    nv_enter(e, all);
    tile(e, c, rank);
    nv_goto(e, after);
    nv_enter(e, some);
    rows(e, c, rank);
    nv_goto(e, after);
    nv_enter(e, after);
}

void nv_emit_copy_in(nv_emit *e, const ir_op *op)
{
    copy c = open_copy(e, op, ir_in(op, 1)->def, ir_in(op, 0));
    LLVMBasicBlockRef after = nv_begin_one(e);
    c.barrier = full_barrier(e, ir_in(op, 2));
    if (c.map) {
        choose(e, &c, nv_view_rank(e, c.view), load_tile, load_rows);
    } else {
        nv_view v = nv_view_open(e, c.view, NULL);
        nv_call(e, NV_BULK_G2S, nv_shared(e, c.offset), c.barrier, v.base, nv_i32(e, c.flat_bytes),
                nv_i64(e, 0), llvmc_bool(e->c, false));
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

static void store_boxes(nv_emit *e, const copy *c, const boxes *b)
{
    for (int p = 0; p < panels(c); p++) {
        LLVMValueRef args[10] = {panel_ptr(e, c, b, p), b->map_ptr};
        int n = 2 + coordinates(e, c, b, p, args + 2);
        args[n++] = nv_i64(e, 0);
        args[n++] = llvmc_bool(e->c, false);
        llvmc_call(e->c, (nv_intrinsic)(store_intrinsic(c->sub) + b->map->n_axes - 1), n, args);
    }
}

static void store_tile(nv_emit *e, const copy *c, LLVMValueRef rank)
{
    boxes b = {.map = c->map, .map_ptr = nv_tensor_map(e, c->map, rank)};
    store_boxes(e, c, &b);
}

static void store_rows(nv_emit *e, const copy *c, LLVMValueRef rank)
{
    boxes b = {.map = c->rows, .map_ptr = nv_tensor_map(e, c->rows, rank)};
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), rows_inside(e, c));
    b.row = loop.i;
    b.at_row = nv_add(e, nv_view_coord(e, c->view, c->view->attr.row_axis), b.row);
    store_boxes(e, c, &b);
    nv_loop_end(e, &loop, nv_i32(e, 1));
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

static void store_flat(nv_emit *e, const copy *c, LLVMValueRef rank)
{
    ir_red sub = c->sub;
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

static void store_to(nv_emit *e, const copy *c, LLVMValueRef rank)
{
    if (c->map)
        choose(e, c, rank, store_tile, store_rows);
    else
        store_flat(e, c, rank);
}

void nv_emit_copy_out(nv_emit *e, const ir_op *op)
{
    copy c = open_copy(e, op, ir_in(op, 0)->def, ir_in(op, 1));
    LLVMBasicBlockRef after = nv_begin_one(e);
    if (c.view->attr.peer != IR_PEER_ALL) {
        store_to(e, &c, nv_view_rank(e, c.view));
    } else {
        nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_ranks(e));
        store_to(e, &c, nv_next_rank(e, loop.i));
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
