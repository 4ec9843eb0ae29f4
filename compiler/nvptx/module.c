// SPDX-License-Identifier: Apache-2.0
#include "nvptx/module.h"

#include "ir/slay.h"
#include "nvptx/abi.h"
#include "support/vec.h"

struct nv_copy_map {
    const ir_op *copy;
    int map, row_map; // row_map: of a copy that may end inside the tile, -1: none
};

typedef PKC_VEC(nv_tmap) map_vec;
typedef PKC_VEC(struct nv_copy_map) copy_vec;
typedef PKC_VEC(nv_field) field_vec;

typedef struct maker {
    pkc_arena *arena;
    nv_layout *lay;
    map_vec maps;
    copy_vec copies;
    field_vec fields;
    int64_t at, at_ranks;
} maker;

// ---- tensor maps
// -------------------------------------------------------------------------------------------

static nv_tmap map_for(const ir_op *copy, int32_t rows)
{
    const ir_op *view = ir_copy_view(copy)->def;
    const ir_type *tile = ir_copy_tile(copy)->type;
    const ir_param *p = view->attr.param;
    int32_t across;
    ir_tile_panels(tile, &across);
    nv_tmap m = {.param = p, .per_rank = view->attr.peer != IR_PEER_OWN, .n_axes = p->n_dims};
    for (int i = 0; i < p->n_dims; i++) {
        int axis = p->n_dims - 1 - i;
        m.axis[i] = axis;
        m.box[i] = axis == view->attr.col_axis ? across : axis == view->attr.row_axis ? rows : 1;
    }
    m.swizzle = ir_layout_span(tile->layout);
    return m;
}

static bool same_map(const nv_tmap *a, const nv_tmap *b)
{
    if (a->param != b->param || a->swizzle != b->swizzle)
        return false;
    for (int i = 0; i < a->n_axes; i++)
        if (a->box[i] != b->box[i])
            return false;
    return true;
}

static int add_map(maker *m, nv_tmap map)
{
    for (size_t i = 0; i < m->maps.len; i++)
        if (same_map(&m->maps.data[i], &map)) {
            m->maps.data[i].per_rank |= map.per_rank;
            return (int)i;
        }
    pkc_vec_push(m->arena, &m->maps, map);
    return (int)m->maps.len - 1;
}

static bool see_copy(ir_op *op, void *user)
{
    maker *m = user;
    if ((op->kind == IR_COPY_IN || op->kind == IR_COPY_OUT) && !ir_copy_is_flat(op)) {
        struct nv_copy_map c = {op, add_map(m, map_for(op, ir_copy_tile(op)->type->rows)), -1};
        if (ir_copy_has_end(op))
            c.row_map = add_map(m, map_for(op, 1));
        pkc_vec_push(m->arena, &m->copies, c);
    }
    return true;
}

static void collect_maps(maker *m)
{
    for (const ir_group *g = m->lay->k->groups; g; g = g->next)
        for (const ir_role *r = g->roles; r; r = r->next)
            if (r->body)
                ir_walk(r->body, see_copy, NULL, m);
    m->lay->maps = m->maps.data;
    m->lay->n_maps = (int)m->maps.len;
    m->lay->copies = m->copies.data;
    m->lay->n_copies = (int)m->copies.len;
}

static const struct nv_copy_map *find_copy(const nv_layout *lay, const ir_op *copy)
{
    for (int i = 0; i < lay->n_copies; i++)
        if (lay->copies[i].copy == copy)
            return &lay->copies[i];
    return NULL;
}

const nv_tmap *nv_map_of(const nv_layout *lay, const ir_op *copy)
{
    const struct nv_copy_map *c = find_copy(lay, copy);
    return c ? &lay->maps[c->map] : NULL;
}

const nv_tmap *nv_row_map_of(const nv_layout *lay, const ir_op *copy)
{
    const struct nv_copy_map *c = find_copy(lay, copy);
    return c && c->row_map >= 0 ? &lay->maps[c->row_map] : NULL;
}

int64_t nv_flat_bytes(const ir_op *copy)
{
    const ir_type *tile = ir_copy_tile(copy)->type;
    return ir_tile_bytes(tile->elem, tile->rows, tile->cols);
}

// ---- the block
// ---------------------------------------------------------------------------------------------

static void add_field(maker *m, nv_field f, int64_t size, bool each_rank)
{
    if (!m->at_ranks) // what comes once a rank lies at the end, and is made of multiples of 8 bytes
        m->at = (m->at + size - 1) / size * size;
    f.at = m->at;
    f.at_ranks = m->at_ranks;
    if (each_rank)
        m->at_ranks += size;
    else
        m->at += size;
    pkc_vec_push(m->arena, &m->fields, f);
}

static int64_t scalar_size(const ir_param *p)
{
    unsigned bits = pkc_elem_bits(p->elem);
    return bits < 32 ? 4 : bits / 8;
}

static bool is_tensor(const ir_param *p)
{
    return p->kind == IR_PARAM_LOCAL || p->kind == IR_PARAM_PEER;
}

static void add_small(maker *m)
{
    const ir_kernel *k = m->lay->k;
    for (int i = 0; i < k->n_dims; i++)
        add_field(m, (nv_field){.what = NV_WHAT_DIM, .dim = k->dims[i]}, 4, false);
    for (const ir_group *g = k->groups; g; g = g->next)
        if (k->groups->next || *g->name)
            add_field(m, (nv_field){.what = NV_WHAT_FIRST, .group = g}, 4, false);
    for (int i = 0; i < k->n_params; i++)
        if (k->params[i].kind == IR_PARAM_SCALAR)
            add_field(m, (nv_field){.what = NV_WHAT_SCALAR, .param = &k->params[i]},
                      scalar_size(&k->params[i]), false);
    for (int i = 0; i < k->n_params; i++)
        if (k->params[i].kind == IR_PARAM_SIGNAL)
            add_field(m, (nv_field){.what = NV_WHAT_SIGNAL, .param = &k->params[i]}, 4, false);
    if (k->has_signals)
        add_field(m, (nv_field){.what = NV_WHAT_BANK}, 4, false);
}

/// How the bodies reach a tensor: by address, or through tensor maps alone.
typedef struct address_query {
    const nv_layout *lay;
    const ir_param *param;
    bool own, peers;
} address_query;

static bool see_address(ir_op *op, void *user)
{
    address_query *q = user;
    for (int i = 0; i < op->n_in && !find_copy(q->lay, op); i++) {
        const ir_value *v = ir_in(op, i);
        if (v->type->kind != IR_T_VIEW || v->def->attr.param != q->param)
            continue;
        q->own = true;
        q->peers |= v->def->attr.peer != IR_PEER_OWN;
    }
    return true;
}

/// The block has the addresses that are used: with many ranks on a device all their blocks must fit into one
/// launch.
static address_query find_addresses(const nv_layout *lay, const ir_param *param)
{
    address_query q = {.lay = lay, .param = param, .own = param->clear};
    for (const ir_group *g = lay->k->groups; g; g = g->next)
        for (const ir_role *r = g->roles; r; r = r->next)
            if (r->body)
                ir_walk(r->body, see_address, NULL, &q);
    return q;
}

static void add_tensors(maker *m)
{
    const ir_kernel *k = m->lay->k;
    for (int i = 0; i < k->n_params; i++) {
        const ir_param *p = &k->params[i];
        if (!is_tensor(p) || !find_addresses(m->lay, p).own)
            continue;
        add_field(m, (nv_field){.what = NV_WHAT_POINTER, .param = p}, 8, false);
        for (int axis = 0; axis + 1 < p->n_dims; axis++)
            add_field(m, (nv_field){.what = NV_WHAT_STRIDE, .param = p, .axis = axis}, 8, false);
    }
}

bool nv_uses_multicast(const ir_op *op, int i)
{
    bool kind = op->kind == IR_NET_REDUCE || op->kind == IR_NET_ALL || op->kind == IR_STORE;
    const ir_value *v = kind && i < op->n_in ? ir_in(op, i) : NULL;
    return v && v->type->kind == IR_T_VIEW && v->def->attr.peer == IR_PEER_ALL;
}

/// What a body reaches on all ranks at once.
typedef struct all_query {
    const ir_param *param; // a tensor, or NULL: the state, by signals
    bool found;
} all_query;

static bool see_all(ir_op *op, void *user)
{
    all_query *q = user;
    if (!q->param)
        q->found |= op->kind == IR_SIG && op->attr.peer == IR_PEER_ALL;
    for (int i = 0; q->param && i < op->n_in; i++)
        q->found |= nv_uses_multicast(op, i) && ir_in(op, i)->def->attr.param == q->param;
    return !q->found;
}

static bool reaches_all(const ir_kernel *k, const ir_param *param)
{
    all_query q = {param, false};
    for (const ir_group *g = k->groups; g; g = g->next)
        for (const ir_role *r = g->roles; r && !q.found; r = r->next)
            if (r->body)
                ir_walk(r->body, see_all, NULL, &q);
    return q.found;
}

static void add_multicast(maker *m)
{
    const ir_kernel *k = m->lay->k;
    for (int i = 0; i < k->n_params; i++)
        if (k->params[i].kind == IR_PARAM_PEER && reaches_all(k, &k->params[i]))
            add_field(m, (nv_field){.what = NV_WHAT_MULTI, .param = &k->params[i]}, 8, false);
    if (reaches_all(k, NULL))
        add_field(m, (nv_field){.what = NV_WHAT_MULTI_STATE}, 8, false);
}

static void add_maps(maker *m, bool per_rank)
{
    for (int i = 0; i < m->lay->n_maps; i++)
        if (m->maps.data[i].per_rank == per_rank)
            add_field(m, (nv_field){.what = per_rank ? NV_WHAT_MAPS : NV_WHAT_MAP, .map = &m->maps.data[i]},
                      NV_ABI_MAP_BYTES, per_rank);
}

static void add_peers(maker *m)
{
    const ir_kernel *k = m->lay->k;
    for (int i = 0; i < k->n_params; i++)
        if (k->params[i].kind == IR_PARAM_PEER && find_addresses(m->lay, &k->params[i]).peers)
            add_field(m, (nv_field){.what = NV_WHAT_PEERS, .param = &k->params[i]}, 8, true);
    if (k->touches_peers || k->needs_entry || nv_has_exit(k))
        add_field(m, (nv_field){.what = NV_WHAT_STATES}, 8, true);
}

const nv_layout *nv_layout_make(const ir_kernel *k)
{
    maker m = {.arena = k->arena, .lay = PKC_NEW(k->arena, nv_layout)};
    m.lay->k = k;
    collect_maps(&m);
    m.at = NV_ABI_BLOCK_HEAD;
    add_small(&m);
    add_tensors(&m);
    add_multicast(&m);
    add_maps(&m, false);
    add_maps(&m, true);
    add_peers(&m);
    m.lay->fields = m.fields.data;
    m.lay->n_fields = (int)m.fields.len;
    m.lay->size = m.at;
    m.lay->size_ranks = m.at_ranks;
    return m.lay;
}

// ---- looking up
// --------------------------------------------------------------------------------------------

const nv_field *nv_field_dim(const nv_layout *lay, pkc_str name)
{
    for (int i = 0; i < lay->n_fields; i++)
        if (lay->fields[i].what == NV_WHAT_DIM && lay->fields[i].dim == name)
            return &lay->fields[i];
    return NULL;
}

const nv_field *nv_field_param(const nv_layout *lay, nv_what what, const ir_param *param, int axis)
{
    for (int i = 0; i < lay->n_fields; i++) {
        const nv_field *f = &lay->fields[i];
        if (f->what == what && f->param == param && f->axis == axis)
            return f;
    }
    return NULL;
}

const nv_field *nv_field_group(const nv_layout *lay, const ir_group *group)
{
    for (int i = 0; i < lay->n_fields; i++)
        if (lay->fields[i].what == NV_WHAT_FIRST && lay->fields[i].group == group)
            return &lay->fields[i];
    return NULL;
}

const nv_field *nv_field_map(const nv_layout *lay, const nv_tmap *map)
{
    for (int i = 0; i < lay->n_fields; i++)
        if (lay->fields[i].map == map && map)
            return &lay->fields[i];
    return NULL;
}
