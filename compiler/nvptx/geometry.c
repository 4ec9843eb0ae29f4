// SPDX-License-Identifier: Apache-2.0
#include "nvptx/geometry.h"

#include "ir/dist.h"

enum { VEC = 8 }; // columns of a vector of line and flat tiles

static int round_up(int a, int b)
{
    return (a + b - 1) / b;
}

static void line_geometry(nv_geo *g)
{
    g->vec = g->cols % VEC ? 1 : VEC;
    g->row_parts = round_up(g->rows, g->w * (32 / g->lanes));
    g->col_parts = g->cols > 1 ? round_up(g->cols, g->lanes * VEC) * VEC : 1;
}

static void flat_geometry(nv_geo *g)
{
    g->vec = g->cols % VEC ? 1 : VEC;
    g->col_parts = round_up(g->rows * g->cols / g->vec, 32 * g->w) * g->vec;
}

static void quad_geometry(nv_geo *g)
{
    g->vec = g->cols % 2 == 0 ? 2 : 1;
    g->row_parts = g->rows > 1 ? g->rows / (64 * g->w) * 2 : 1;
    g->col_parts = g->cols > 1 ? round_up(g->cols, 8) * 2 : 1;
}

nv_geo nv_geometry(const ir_type *type)
{
    nv_geo g = {.base = type->dist.base,
                .w = type->dist.w ? type->dist.w : 1,
                .lanes = ir_dist_lanes(type->dist),
                .rows = type->rows,
                .cols = type->cols};
    g.row_parts = g.col_parts = g.vec = g.pack = 1;
    if (g.rows == 1 && g.cols == 1)
        return g;
    switch (g.base) {
    case IR_DIST_QUAD:
        quad_geometry(&g);
        break;
    case IR_DIST_LINE:
        line_geometry(&g);
        break;
    case IR_DIST_FLAT:
        flat_geometry(&g);
        break;
    case IR_DIST_UNKNOWN:
    case IR_DIST_LANE:
    case IR_DIST_ANY:
        break;
    }
    if (g.vec % 2 == 0 && pkc_elem_bits(type->elem) <= 16 && type->elem != PKC_E_BOOL)
        g.pack = 2;
    return g;
}

int nv_geo_elems(const nv_geo *g)
{
    return g->row_parts * g->col_parts;
}

int nv_geo_index(const nv_geo *g, int row_part, int col_part)
{
    int r = g->row_parts > 1 ? row_part : 0, c = g->col_parts > 1 ? col_part : 0;
    if (g->base == IR_DIST_QUAD && g->row_parts > 1 && g->col_parts > 1)
        return ((r >> 1) * (g->col_parts / 2) + (c >> 1)) * 4 + (r & 1) * 2 + (c & 1);
    return r * g->col_parts + c;
}

// Thread-dependent part first, constant last: LLVM then shares the first over all elements.
static nv_place quad_place(nv_emit *e, const nv_geo *g, int r, int c)
{
    nv_place p = {nv_i32(e, 0), nv_i32(e, 0), NULL};
    if (g->rows > 1) {
        LLVMValueRef group = nv_muli(e, nv_shri(e, e->role_warp, 2), g->rows / g->w);
        LLVMValueRef row = nv_add(e, nv_muli(e, nv_andi(e, e->role_warp, 3), 16), nv_shri(e, e->lane, 2));
        p.row = nv_addi(e, nv_add(e, group, row), (r >> 1) * 64 + (r & 1) * 8);
    }
    if (g->cols > 1) {
        int from = (c >> 1) * 8 + (c & 1);
        LLVMValueRef pair = nv_muli(e, nv_andi(e, e->lane, 3), 2);
        p.col = nv_addi(e, pair, from);
        if ((c >> 1) * 8 + 8 > g->cols)
            p.in = nv_cmp(e, LLVMIntSLT, pair, nv_i32(e, g->cols - from));
    }
    return p;
}

static nv_place line_place(nv_emit *e, const nv_geo *g, int r, int c)
{
    nv_place p = {nv_i32(e, 0), nv_i32(e, 0), NULL};
    LLVMValueRef row_in = NULL, col_in = NULL;
    int at_once = 32 / g->lanes, step = g->w * at_once;
    if (g->rows > 1) {
        LLVMValueRef first = nv_muli(e, e->role_warp, at_once);
        if (at_once > 1)
            first = nv_add(e, first, LLVMBuildUDiv(e->b, e->lane, nv_i32(e, g->lanes), ""));
        p.row = nv_addi(e, first, (int64_t)r * step);
        if ((r + 1) * step > g->rows)
            row_in = nv_cmp(e, LLVMIntSLT, first, nv_i32(e, g->rows - r * step));
    }
    if (g->cols > 1) {
        LLVMValueRef base = nv_muli(e, nv_andi(e, e->lane, g->lanes - 1), VEC);
        int from = c / VEC * g->lanes * VEC + c % VEC;
        p.col = nv_addi(e, base, from);
        if ((c / VEC + 1) * g->lanes * VEC > g->cols)
            col_in = nv_cmp(e, LLVMIntSLT, base, nv_i32(e, g->cols - from));
    }
    p.in = row_in && col_in ? nv_and(e, row_in, col_in) : row_in ? row_in : col_in;
    return p;
}

static nv_place flat_place(nv_emit *e, const nv_geo *g, int c)
{
    int threads = 32 * g->w, vectors = g->rows * g->cols / g->vec, across = g->cols / g->vec;
    LLVMValueRef v = nv_addi(e, e->role_thread, c / g->vec * threads);
    nv_place p = {nv_i32(e, 0), nv_i32(e, 0), NULL};
    LLVMValueRef count = nv_i32(e, across), col = v;
    if (g->rows > 1) {
        p.row = LLVMBuildUDiv(e->b, v, count, "");
        col = LLVMBuildURem(e->b, v, count, "");
    }
    p.col = nv_addi(e, nv_muli(e, col, g->vec), c % g->vec);
    if ((c / g->vec + 1) * threads > vectors)
        p.in = nv_cmp(e, LLVMIntSLT, v, nv_i32(e, vectors));
    return p;
}

nv_place nv_geo_place(nv_emit *e, const nv_geo *g, int row_part, int col_part)
{
    if (g->rows == 1 && g->cols == 1) // equal in all threads
        return (nv_place){nv_i32(e, 0), nv_i32(e, 0), NULL};
    switch (g->base) {
    case IR_DIST_QUAD:
        return quad_place(e, g, row_part, col_part);
    case IR_DIST_LINE:
        return line_place(e, g, row_part, col_part);
    case IR_DIST_FLAT:
        return flat_place(e, g, col_part);
    case IR_DIST_UNKNOWN:
    case IR_DIST_LANE:
    case IR_DIST_ANY:
        break;
    }
    return (nv_place){nv_i32(e, 0), nv_i32(e, 0), NULL};
}

// A row is held by all lanes of a quad (or all that share it), a column by all quads of all warps.
LLVMValueRef nv_geo_owner(nv_emit *e, const nv_geo *g)
{
    if (g->rows == 1 && g->cols == 1)
        return nv_is(e, e->role_thread, 0);
    if (g->base == IR_DIST_FLAT || (g->rows > 1 && g->cols > 1))
        return NULL;
    int lanes = g->base == IR_DIST_QUAD ? 4 : g->lanes;
    if (g->cols == 1)
        return nv_is(e, nv_andi(e, e->lane, lanes - 1), 0);
    return nv_cmp(e, LLVMIntULT, e->role_thread, nv_i32(e, lanes));
}

bool nv_is_lazy(const ir_type *type)
{
    return type->kind == IR_T_REG && type->dist.base == IR_DIST_ANY && (type->rows > 1 || type->cols > 1);
}

int nv_components(const ir_type *type)
{
    switch (type->kind) {
    case IR_T_SCALAR:
    case IR_T_SLOT:
    case IR_T_TILE:
        return 1;
    case IR_T_STATE:
        return 2;
    case IR_T_VIEW:
    case IR_T_SIG:
    case IR_T_TOKEN:
        return 0;
    case IR_T_REG:
        break;
    }
    if (nv_is_lazy(type))
        return 0;
    nv_geo g = nv_geometry(type);
    return nv_geo_elems(&g) / g.pack;
}

LLVMTypeRef nv_component_type(const nv_emit *e, const ir_type *type)
{
    if (type->kind == IR_T_SCALAR)
        return llvmc_elem(e->c, type->elem);
    if (type->kind != IR_T_REG)
        return e->c->i32;
    LLVMTypeRef t = llvmc_elem(e->c, type->elem);
    return nv_geometry(type).pack == 2 ? LLVMVectorType(t, 2) : t;
}

LLVMValueRef nv_elem_get(nv_emit *e, const nv_geo *g, nv_val v, int i)
{
    if (g->pack == 1)
        return v.v[i];
    return LLVMBuildExtractElement(e->b, v.v[i / 2], nv_i32(e, i % 2), "");
}

nv_val nv_pack(nv_emit *e, const nv_geo *g, LLVMValueRef *elems, LLVMTypeRef type)
{
    int n = nv_geo_elems(g);
    nv_val r = nv_new(e, n / g->pack);
    for (int i = 0; i < r.n; i++) {
        if (g->pack == 1) {
            r.v[i] = elems[i];
            continue;
        }
        LLVMValueRef pair = LLVMGetPoison(LLVMVectorType(type, 2));
        pair = LLVMBuildInsertElement(e->b, pair, elems[2 * i], nv_i32(e, 0), "");
        r.v[i] = LLVMBuildInsertElement(e->b, pair, elems[2 * i + 1], nv_i32(e, 1), "");
    }
    return r;
}

nv_val nv_unpack(nv_emit *e, const nv_geo *g, nv_val v)
{
    nv_val r = nv_new(e, nv_geo_elems(g));
    for (int i = 0; i < r.n; i++)
        r.v[i] = nv_elem_get(e, g, v, i);
    return r;
}
