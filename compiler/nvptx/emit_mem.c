// SPDX-License-Identifier: Apache-2.0
// Generic loads and stores of register tiles. Global memory is element-exact: beyond an edge a load gives
// zeros and a store writes nothing. Whole vectors are used where the view allows them (rows of whole, aligned
// vectors); that is known once a tile, so there are two versions under one uniform branch.
#include "ir/dist.h"
#include "nvptx/emit.h"
#include "nvptx/geometry.h"
#include "nvptx/memory.h"

void nv_emit_elem(nv_emit *e, const ir_op *op)
{
    pkc_elem elem = ir_in(op, 0)->type->elem;
    nv_view v = nv_view_open(e, ir_in(op, 0)->def, NULL);
    LLVMValueRef load = LLVMBuildLoad2(e->b, llvmc_elem(e->c, elem), v.base, "");
    LLVMSetAlignment(load, pkc_elem_bits(elem) / 8);
    nv_out(e, op, nv_cast(e, elem, op->out[0].type->elem, load));
}

// i1: every row of the tile starts at a multiple of the vector's size and ends at a whole vector.
static LLVMValueRef vectors_fit(nv_emit *e, const nv_view *v, const nv_geo *g, pkc_elem elem)
{
    int size = (int)pkc_elem_bits(elem) / 8, bytes = g->vec * size < 16 ? g->vec * size : 16;
    LLVMValueRef low = LLVMBuildPtrToInt(e->b, v->base, e->c->i64, "");
    if (g->rows > 1)
        low = nv_or(e, low, v->row_stride);
    LLVMValueRef aligned = nv_is(e, nv_andi(e, low, bytes - 1), 0);
    LLVMValueRef whole = nv_is(e, nv_andi(e, v->cols, g->vec - 1), 0);
    LLVMValueRef beyond = nv_cmp(e, LLVMIntSGE, v->cols, nv_i32(e, g->cols));
    return nv_and(e, aligned, nv_or(e, whole, beyond));
}

static LLVMValueRef address(nv_emit *e, const nv_view *v, nv_place at)
{
    LLVMValueRef row = nv_mul(e, nv_wide(e, at.row), v->row_stride);
    LLVMValueRef col = nv_mul(e, nv_wide(e, at.col), v->col_stride), offset = nv_add(e, row, col);
    return LLVMBuildGEP2(e->b, e->c->i8, v->base, &offset, 1, "");
}

static LLVMValueRef exists(nv_emit *e, const nv_view *v, nv_place at)
{
    LLVMValueRef row = nv_cmp(e, LLVMIntSLT, at.row, v->rows), col = nv_cmp(e, LLVMIntSLT, at.col, v->cols);
    return nv_both(e, at.in, nv_and(e, row, col));
}

typedef enum access { ACCESS_LOAD, ACCESS_STORE, ACCESS_STORE_ALL } access; // the last: multicast

// Visits the tile in runs of `run` columns; elems holds all elements of the thread.
static void view_runs(nv_emit *e, const nv_view *v, const nv_geo *g, pkc_elem elem, int run, access how,
                      LLVMValueRef *elems)
{
    LLVMValueRef owner = how == ACCESS_LOAD ? NULL : nv_geo_owner(e, g);
    for (int r = 0; r < g->row_parts; r++)
        for (int c = 0; c < g->col_parts; c += run) {
            nv_place at = nv_geo_place(e, g, r, c);
            LLVMValueRef ptr = address(e, v, at), pred = nv_both(e, owner, exists(e, v, at));
            LLVMValueRef *at_elem = &elems[nv_geo_index(g, r, c)];
            if (how == ACCESS_LOAD)
                nv_load_vec(e, ptr, elem, run, pred, at_elem);
            else
                (how == ACCESS_STORE ? nv_store_vec : nv_store_vec_all)(e, ptr, elem, run, pred, at_elem);
        }
}

static bool may_vectorise(const nv_view *v, const nv_geo *g)
{
    return v->contiguous && g->vec > 1;
}

static void load_view(nv_emit *e, const ir_op *op, const nv_geo *g, pkc_elem elem)
{
    nv_view v = nv_view_open(e, ir_in(op, 0)->def, NULL);
    int n = nv_geo_elems(g);
    LLVMTypeRef t = llvmc_elem(e->c, elem);
    LLVMValueRef *slow = PKC_NEW_ARRAY(e->arena, LLVMValueRef, n),
                 *fast = PKC_NEW_ARRAY(e->arena, LLVMValueRef, n);
    if (!may_vectorise(&v, g)) {
        view_runs(e, &v, g, elem, 1, ACCESS_LOAD, slow);
        nv_set(e, &op->out[0], nv_pack(e, g, slow, t));
        return;
    }
    LLVMBasicBlockRef vec = nv_block(e, "vectors"), one = nv_block(e, "elements"),
                      after = nv_block(e, "loaded");
    nv_branch(e, vectors_fit(e, &v, g, elem), vec, one);
    nv_enter(e, vec);
    view_runs(e, &v, g, elem, g->vec, ACCESS_LOAD, fast);
    nv_val a = nv_pack(e, g, fast, t);
    nv_goto(e, after);
    nv_enter(e, one);
    view_runs(e, &v, g, elem, 1, ACCESS_LOAD, slow);
    nv_val b = nv_pack(e, g, slow, t);
    nv_goto(e, after);
    nv_enter(e, after);
    for (int i = 0; i < a.n; i++) {
        LLVMValueRef phi = nv_phi(e, LLVMTypeOf(a.v[i]));
        nv_phi_add(phi, a.v[i], vec);
        nv_phi_add(phi, b.v[i], one);
        a.v[i] = phi;
    }
    nv_set(e, &op->out[0], a);
}

static void store_view(nv_emit *e, const ir_op *op, const nv_geo *g, pkc_elem elem, LLVMValueRef *elems,
                       LLVMValueRef rank)
{
    nv_view v = nv_view_open(e, ir_in(op, 1)->def, rank);
    if (!may_vectorise(&v, g)) {
        view_runs(e, &v, g, elem, 1, ACCESS_STORE, elems);
        return;
    }
    LLVMBasicBlockRef vec = nv_block(e, "vectors"), one = nv_block(e, "elements"),
                      after = nv_block(e, "stored");
    nv_branch(e, vectors_fit(e, &v, g, elem), vec, one);
    nv_enter(e, vec);
    view_runs(e, &v, g, elem, g->vec, ACCESS_STORE, elems);
    nv_goto(e, after);
    nv_enter(e, one);
    view_runs(e, &v, g, elem, 1, ACCESS_STORE, elems);
    nv_goto(e, after);
    nv_enter(e, after);
}

// ---- shared tiles
// ------------------------------------------------------------------------------------------

// Columns that may be moved at once: those of a vector that lie in one 16-byte chunk.
static int shared_run(const nv_geo *g, const ir_type *tile)
{
    if (tile->transposed)
        return 1;
    int most = 16 / ((int)pkc_elem_bits(tile->elem) / 8), run = g->vec < most ? g->vec : most;
    int bytes = nv_span(tile);
    while (run > 1 && bytes % (run * (int)pkc_elem_bits(tile->elem) / 8))
        run /= 2;
    return run;
}

static void tile_runs(nv_emit *e, const ir_type *tile, LLVMValueRef base, const nv_geo *g, bool store,
                      LLVMValueRef *elems)
{
    LLVMValueRef owner = store ? nv_geo_owner(e, g) : NULL;
    int run = shared_run(g, tile);
    for (int r = 0; r < g->row_parts; r++)
        for (int c = 0; c < g->col_parts; c += run) {
            nv_place at = nv_geo_place(e, g, r, c);
            LLVMValueRef row = tile->transposed ? at.col : at.row, col = tile->transposed ? at.row : at.col;
            LLVMValueRef ptr = nv_shared(e, nv_tile_at(e, tile, base, row, col));
            LLVMValueRef *at_elem = &elems[nv_geo_index(g, r, c)];
            if (store)
                nv_store_vec(e, ptr, tile->elem, run, nv_both(e, owner, at.in), at_elem);
            else
                nv_load_vec(e, ptr, tile->elem, run, at.in, at_elem);
        }
}

// Four 8x8 matrices at once: registers 4i .. 4i + 3 of a 64-row block hold columns 16i .. 16i + 15 of a
// warp's 16 rows, as stmatrix.x4 takes them; lane l gives the address of row l % 16, columns 16i + 8 (l /
// 16).
static void store_matrices(nv_emit *e, const ir_type *tile, LLVMValueRef base, const nv_geo *g, nv_val v)
{
    LLVMValueRef warp_row = nv_muli(e, nv_andi(e, e->role_warp, 3), 16);
    LLVMValueRef group_row = nv_muli(e, nv_shri(e, e->role_warp, 2), g->rows / g->w);
    LLVMValueRef row = nv_add(e, nv_add(e, group_row, warp_row), nv_andi(e, e->lane, 15));
    LLVMValueRef col = nv_muli(e, nv_shri(e, e->lane, 4), 8);
    int sixteens = g->cols / 16;
    for (int block = 0; block < g->row_parts / 2; block++)
        for (int i = 0; i < sixteens; i++) {
            LLVMValueRef at = nv_tile_at(e, tile, base, nv_addi(e, row, (int64_t)block * 64),
                                         nv_addi(e, col, (int64_t)i * 16));
            LLVMValueRef args[5] = {nv_shared(e, at)};
            for (int m = 0; m < 4; m++)
                args[1 + m] = LLVMBuildBitCast(e->b, v.v[(block * sixteens + i) * 4 + m], e->c->i32, "");
            llvmc_call(e->c, NV_STMATRIX_X4, 5, args);
        }
}

static bool can_store_matrices(const nv_geo *g, const ir_type *tile)
{
    return g->base == IR_DIST_QUAD && g->rows > 1 && g->cols % 16 == 0 && pkc_elem_bits(tile->elem) == 16 &&
           !tile->transposed;
}

// ---- the ops
// -----------------------------------------------------------------------------------------------

void nv_emit_load(nv_emit *e, const ir_op *op)
{
    const ir_type *type = op->out[0].type, *from = ir_in(op, 0)->type;
    if (nv_is_lazy(type)) {
        llvmc_unsupported(e->c, "a load without a distribution");
        return;
    }
    nv_geo g = nv_geometry(type);
    if (from->kind == IR_T_VIEW) {
        load_view(e, op, &g, type->elem);
        return;
    }
    LLVMValueRef *elems = PKC_NEW_ARRAY(e->arena, LLVMValueRef, nv_geo_elems(&g));
    tile_runs(e, from, nv_in(e, op, 0), &g, false, elems);
    nv_set(e, &op->out[0], nv_pack(e, &g, elems, llvmc_elem(e->c, type->elem)));
}

// A loop that starts with the next rank, so that ranks do not crowd on one.
static void store_each(nv_emit *e, const ir_op *op, const nv_geo *g, pkc_elem elem, LLVMValueRef *elems)
{
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_ranks(e));
    store_view(e, op, g, elem, elems, nv_next_rank(e, loop.i));
    nv_loop_end(e, &loop, nv_i32(e, 1));
}

// Stores to every rank's copy: through a multicast address where the launch has one and the tile consists of
// vectors that such an address takes, else to each in turn.
static void store_all(nv_emit *e, const ir_op *op, const nv_geo *g, pkc_elem elem, LLVMValueRef *elems)
{
    const ir_op *view = ir_in(op, 1)->def;
    LLVMValueRef first = nv_multicast(e, view->attr.param);
    nv_view own = nv_view_open(e, view, NULL);
    if (!first || !own.contiguous || g->vec * pkc_elem_bits(elem) % 32 != 0) {
        store_each(e, op, g, elem, elems);
        return;
    }
    LLVMBasicBlockRef multi = nv_block(e, "multicast"), each = nv_block(e, "loop"),
                      after = nv_block(e, "sent");
    LLVMValueRef fits = vectors_fit(e, &own, g, elem); // all copies are aligned alike
    nv_branch(e, nv_and(e, nv_is_address(e, first), fits), multi, each);
    nv_enter(e, multi);
    nv_view v = nv_view_open_at(e, view, first);
    view_runs(e, &v, g, elem, g->vec, ACCESS_STORE_ALL, elems);
    nv_goto(e, after);
    nv_enter(e, each);
    store_each(e, op, g, elem, elems);
    nv_goto(e, after);
    nv_enter(e, after);
}

void nv_emit_store(nv_emit *e, const ir_op *op)
{
    const ir_value *from = ir_in(op, 0), *to = ir_in(op, 1);
    ir_type type = *from->type;
    if (nv_is_lazy(&type)) // equal everywhere or computed: any way of dealing it will do
        type.dist = (ir_dist){IR_DIST_LINE, (uint16_t)e->role->warps, (uint16_t)ir_dist_lanes_for(type.cols)};
    nv_geo g = nv_geometry(&type);
    nv_val v = nv_operand(e, from, &type);
    if (to->type->kind == IR_T_TILE && can_store_matrices(&g, to->type)) {
        store_matrices(e, to->type, nv_in(e, op, 1), &g, v);
        return;
    }
    LLVMValueRef *elems = nv_unpack(e, &g, v).v;
    if (to->type->kind == IR_T_TILE)
        tile_runs(e, to->type, nv_in(e, op, 1), &g, true, elems);
    else if (to->def->attr.peer == IR_PEER_ALL)
        store_all(e, op, &g, type.elem, elems);
    else
        store_view(e, op, &g, type.elem, elems, NULL);
}
