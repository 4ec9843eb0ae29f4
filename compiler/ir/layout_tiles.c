// SPDX-License-Identifier: Apache-2.0
// Layouts of shared tiles: each use scores the layouts it allows, the largest sum wins, a tie goes to lin.
#include "ir/dist.h"
#include "ir/layout.h"
#include "ir/place.h"
#include "ir/slay.h"
#include "support/vec.h"

/// A later layout wins only with a larger sum: a tie goes to lin, else to the widest panels.
static const ir_layout layouts[] = {IR_LAY_LIN, IR_LAY_SW128, IR_LAY_SW64, IR_LAY_SW32};

enum { N_LAYOUTS = sizeof layouts / sizeof layouts[0] };

typedef struct tile_use {
    ir_tile_use use;
    pkc_span pos;
} tile_use;

/// A field of a pipe or a shared tile, with all its uses in all roles.
typedef struct tile {
    ir_field *field;
    ir_shared *shared;
    PKC_VEC(tile_use) uses;
} tile;

typedef struct tiles {
    ir_kernel *k;
    PKC_VEC(tile *) all;
    bool ok;
} tiles;

static tile *tile_of(tiles *s, ir_field *field, ir_shared *shared)
{
    for (size_t i = 0; i < s->all.len; i++)
        if (s->all.data[i]->field == field && s->all.data[i]->shared == shared)
            return s->all.data[i];
    tile *t = PKC_NEW(s->k->arena, tile);
    t->field = field;
    t->shared = shared;
    pkc_vec_push(s->k->arena, &s->all, t);
    return t;
}

/// What a tile value stands for, through transpositions.
static tile *root_of(tiles *s, const ir_value *v)
{
    while (v->def != NULL && v->def->kind == IR_TRANS)
        v = ir_in(v->def, 0);
    if (v->def != NULL && v->def->kind == IR_SHARED)
        return tile_of(s, NULL, v->def->attr.shared);
    // In form L every other tile is an argument of a put or get, one a field.
    return tile_of(s, &v->owner->owner->attr.pipe->field[v->index], NULL);
}

static void add_use(tiles *s, const ir_value *v, ir_tile_use use, pkc_span pos)
{
    tile *t = root_of(s, v);
    tile_use u = {use, pos};
    pkc_vec_push(s->k->arena, &t->uses, u);
}

static ir_tile_use access_use(const ir_type *reg)
{
    if (reg->dist.base != IR_DIST_QUAD)
        return IR_USE_LINE;
    return pkc_elem_bits(reg->elem) == 16 ? IR_USE_QUAD16 : IR_USE_QUAD;
}

static ir_tile_use copy_use(const ir_op *copy)
{
    if (ir_copy_is_flat(copy))
        return IR_USE_COPY_FLAT;
    return ir_copy_has_end(copy) ? IR_USE_COPY_ROWS : IR_USE_COPY;
}

static void shape_error(tiles *s, const ir_op *op, const char *axis, int32_t size, const char *need)
{
    pkc_diag_error(s->k->session, PKC_DIAG_PRODUCT_SHAPE, op->pos, axis, size, need);
    s->ok = false;
}

static void check_mma(tiles *s, const ir_op *op)
{
    const ir_type *b = ir_in(op, 2)->type, *acc = ir_in(op, 0)->type;
    int32_t step = (int32_t)(256 / pkc_elem_bits(b->elem));
    int32_t k = b->transposed ? b->cols : b->rows;
    if (acc->cols % 8 != 0 || acc->cols > 256)
        shape_error(s, op, "columns", acc->cols, "a multiple of 8 up to 256 is needed");
    if (k % step != 0)
        shape_error(s, op, "contracted size", k,
                    pkc_arena_printf(s->k->arena, "a multiple of %d is needed", step));
}

/// Operand A is [M,K], so its contracted axis is contiguous unless transposed; operand B [K,N] the other way
/// round.
static void add_operand(tiles *s, const ir_op *op, int index)
{
    const ir_value *v = ir_in(op, index);
    if (v->type->kind != IR_T_TILE)
        return;
    bool k_major = v->type->transposed == (index == 2);
    if (!k_major && pkc_elem_bits(v->type->elem) != 16) {
        pkc_diag *d = pkc_diag_error(s->k->session, PKC_DIAG_PRODUCT_ELEMENT, op->pos);
        pkc_diag_help(d, "keep %s in memory with the contracted axis last%s",
                      index == 1 ? "the first operand" : "the second operand",
                      index == 2 ? " and multiply by its '.T'" : "");
        s->ok = false;
    }
    add_use(s, v, k_major ? IR_USE_MMA_K : IR_USE_MMA_MN, op->pos);
}

static void add_mma(tiles *s, const ir_op *op)
{
    check_mma(s, op);
    add_operand(s, op, 1);
    add_operand(s, op, 2);
    for (int i = 3; i < op->n_in; i++)
        if (ir_in(op, i)->type->kind == IR_T_TILE)
            add_use(s, ir_in(op, i), IR_USE_LINE, op->pos);
}

static bool collect(ir_op *op, void *user)
{
    tiles *s = user;
    switch ((int)op->kind) { // only ops that read or write shared tiles
    case IR_MMA:
        add_mma(s, op);
        break;
    case IR_COPY_IN:
    case IR_COPY_OUT:
        add_use(s, ir_copy_tile(op), copy_use(op), op->pos);
        break;
    case IR_LOAD:
        if (ir_in(op, 0)->type->kind == IR_T_TILE)
            add_use(s, ir_in(op, 0), access_use(op->out[0].type), op->pos);
        break;
    case IR_STORE:
        if (ir_in(op, 1)->type->kind == IR_T_TILE)
            add_use(s, ir_in(op, 1), access_use(ir_in(op, 0)->type), op->pos);
        break;
    }
    return true;
}

static pkc_elem tile_elem(const tile *t)
{
    return t->field != NULL ? t->field->elem : t->shared->elem;
}

static int32_t tile_rows(const tile *t)
{
    return t->field != NULL ? t->field->rows : t->shared->rows;
}

static int32_t tile_cols(const tile *t)
{
    return t->field != NULL ? t->field->cols : t->shared->cols;
}

static int use_score(const tile *t, size_t use, ir_layout layout)
{
    return ir_layout_score(layout, t->uses.data[use].use, tile_elem(t), tile_rows(t), tile_cols(t));
}

/// Sum over the uses, 0 where one of them does not allow the layout. A tile that nothing uses is lin.
static int total_score(const tile *t, ir_layout layout)
{
    int sum = layout == IR_LAY_LIN && t->uses.len == 0 ? 1 : 0;
    for (size_t i = 0; i < t->uses.len; i++) {
        int score = use_score(t, i, layout);
        if (score == 0)
            return 0;
        sum += score;
    }
    return sum;
}

static bool both_allow(const tile *t, size_t a, size_t b)
{
    for (int l = 0; l < N_LAYOUTS; l++)
        if (use_score(t, a, layouts[l]) != 0 && use_score(t, b, layouts[l]) != 0)
            return true;
    return false;
}

static const char *fix_of(ir_tile_use use)
{
    switch (use) {
    case IR_USE_MMA_K:
    case IR_USE_MMA_MN:
        return "make its rows 32, 64 or a multiple of 128 bytes long, and their number a multiple of 8";
    case IR_USE_COPY:
        return "make it at most 256 rows high, with rows of a multiple of 16 bytes: up to 256 elements, or a "
               "multiple of 128 bytes "
               "and 8 rows";
    case IR_USE_COPY_ROWS:
        return "make its rows a multiple of 128 bytes long, and it at most 256 rows high";
    case IR_USE_COPY_FLAT:
    case IR_USE_QUAD16:
    case IR_USE_QUAD:
    case IR_USE_LINE:
        return "use two tiles, one for each of the uses";
    }
    return "";
}

static void note_uses(const tile *t, pkc_diag *d, size_t a, size_t b)
{
    pkc_diag_note(d, t->uses.data[a].pos, "it is %s here", ir_tile_use_text(t->uses.data[a].use));
    if (a != b)
        pkc_diag_note(d, t->uses.data[b].pos, "and %s here", ir_tile_use_text(t->uses.data[b].use));
    pkc_diag_help(d, "%s", fix_of(t->uses.data[a].use));
}

/// Names the first use that no layout suits, or the first two that no layout suits together.
static void report_tile(tiles *s, const tile *t)
{
    const char *name = t->field != NULL ? t->field->name : t->shared->name;
    pkc_span pos = t->field != NULL ? t->field->pos : t->shared->pos;
    pkc_diag *d = pkc_diag_error(s->k->session, PKC_DIAG_NO_LAYOUT, pos, name);
    for (size_t a = 0; a < t->uses.len; a++)
        if (!both_allow(t, a, a)) {
            note_uses(t, d, a, a);
            return;
        }
    for (size_t a = 0; a < t->uses.len; a++)
        for (size_t b = 0; b < a; b++)
            if (!both_allow(t, a, b)) {
                note_uses(t, d, b, a);
                return;
            }
}

static void choose(tiles *s, tile *t)
{
    ir_layout best = IR_LAY_UNKNOWN;
    int most = 0;
    for (int l = 0; l < N_LAYOUTS; l++) {
        int score = total_score(t, layouts[l]);
        if (score > most) {
            most = score;
            best = layouts[l];
        }
    }
    if (t->field != NULL)
        t->field->layout = best;
    else
        t->shared->layout = best;
    if (best == IR_LAY_UNKNOWN) {
        report_tile(s, t);
        s->ok = false;
    }
}

static void retype_value(tiles *s, ir_value *v)
{
    const ir_type *old = v->type;
    if (old->kind != IR_T_TILE)
        return;
    tile *t = root_of(s, v);
    ir_layout layout = t->field != NULL ? t->field->layout : t->shared->layout;
    v->type = ir_type_tile(s->k, old->elem, old->rows, old->cols, layout, old->transposed);
}

static bool retype(ir_op *op, void *user)
{
    tiles *s = user;
    for (int i = 0; i < op->n_out; i++)
        retype_value(s, &op->out[i]);
    for (int r = 0; r < op->n_reg; r++)
        for (int i = 0; i < op->reg[r].n_args; i++)
            retype_value(s, &op->reg[r].args[i]);
    return true;
}

static void walk_roles(tiles *s, ir_visit visit)
{
    for (ir_group *g = s->k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            ir_walk(r->body, visit, NULL, s);
}

bool ir_layout_tiles(ir_kernel *k)
{
    tiles s = {.k = k, .ok = true};
    for (ir_pipe *p = k->pipes; p != NULL; p = p->next)
        for (int f = 0; f < p->n_fields; f++)
            tile_of(&s, &p->field[f], NULL);
    for (ir_shared *h = k->shared; h != NULL; h = h->next)
        tile_of(&s, NULL, h);
    walk_roles(&s, collect);
    for (size_t i = 0; i < s.all.len && s.ok; i++)
        choose(&s, s.all.data[i]);
    if (s.ok)
        walk_roles(&s, retype);
    return s.ok;
}
