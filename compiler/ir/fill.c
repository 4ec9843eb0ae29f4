// SPDX-License-Identifier: Apache-2.0
// What puts fill: a tile is loaded in bulk at most once in a put and not read there before it has arrived,
// and what is got was filled.
#include "ir/agree.h"

/// How the tiles of a put's or get's slot are used.
typedef struct slot_use {
    int loads;          // the most on any path
    const ir_op *load;  // the last bulk load
    const ir_op *store; // a store of registers into it
    const ir_op *read;  // anything that reads it
} slot_use;

static void use_in_region(const ir_region *region, const ir_value *tile, slot_use *u);

static void use_by(const ir_op *op, const ir_value *tile, slot_use *u)
{
    for (int i = 0; i < op->n_in; i++) {
        if (ir_in(op, i) != tile)
            continue;
        if (op->kind == IR_COPY_IN && i == 0) {
            u->loads++;
            u->load = op;
        } else if (op->kind == IR_STORE && i == 1) {
            u->store = op;
        } else {
            u->read = op;
        }
    }
}

/// Branches count the fuller one; what a loop loads it may load again.
static void use_inside(const ir_op *op, const ir_value *tile, slot_use *u)
{
    int most = 0, before = u->loads;
    for (int r = 0; r < op->n_reg; r++) {
        u->loads = 0;
        use_in_region(&op->reg[r], tile, u);
        most = u->loads > most ? u->loads : most;
    }
    u->loads = before + (op->kind == IR_FOR ? 2 * most : most);
}

static void use_in_region(const ir_region *region, const ir_value *tile, slot_use *u)
{
    for (const ir_op *op = region->first; op; op = op->next) {
        use_by(op, tile, u);
        if (op->n_reg)
            use_inside(op, tile, u);
    }
}

/// What fills one field of a pipe and what gets it.
typedef struct field_use {
    const ir_op *filled, *got;
} field_use;

typedef struct fills {
    ir_kernel *k;
    ir_ptrmap uses; // pipe -> a field_use for each field
} fills;

static field_use *uses_of(fills *f, const ir_pipe *pipe)
{
    field_use *u = ir_ptrmap_get(&f->uses, pipe);
    if (!u) {
        u = PKC_NEW_ARRAY(f->k->arena, field_use, pipe->n_fields + 1);
        ir_ptrmap_set(&f->uses, pipe, u);
    }
    return u;
}

static void check_put(fills *f, const ir_field *field, const slot_use *u, field_use *all)
{
    if (u->loads > 1) {
        pkc_diag *d = pkc_diag_error(f->k->session, PKC_DIAG_LOADED_TWICE, u->load->pos, field->name);
        pkc_diag_help(d, "the loads would overtake each other: give the slot a tile for each, or put twice");
    }
    if (u->load && u->read) {
        pkc_diag *d = pkc_diag_error(f->k->session, PKC_DIAG_READ_IN_PUT, u->read->pos, field->name);
        pkc_diag_note(d, u->load->pos, "it is loaded here, and has arrived when the put has ended");
    }
    if (u->load || u->store)
        all->filled = u->load ? u->load : u->store;
}

static bool visit(ir_op *op, void *user)
{
    fills *f = user;
    if (op->kind != IR_PUT && op->kind != IR_GET)
        return true;
    field_use *all = uses_of(f, op->attr.pipe);
    for (int i = 0; i < op->attr.pipe->n_fields && i < op->reg[0].n_args; i++) {
        slot_use u = {0};
        use_in_region(&op->reg[0], &op->reg[0].args[i], &u);
        if (op->kind == IR_PUT)
            check_put(f, &op->attr.pipe->field[i], &u, &all[i]);
        else if (u.read)
            all[i].got = u.read;
    }
    return true;
}

void ir_check_fills(ir_kernel *k)
{
    fills f = {.k = k};
    ir_ptrmap_init(&f.uses, k->arena);
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next)
            ir_walk(r->body, visit, NULL, &f);
    for (const ir_pipe *p = k->pipes; p; p = p->next)
        for (int i = 0; p->putter && i < p->n_fields; i++) {
            const field_use *u = &uses_of(&f, p)[i];
            if (!u->got || u->filled)
                continue;
            pkc_diag *d = pkc_diag_error(k->session, PKC_DIAG_NEVER_FILLED, u->got->pos, p->field[i].name);
            pkc_diag_note(d, p->field[i].pos, "it is declared here");
        }
}
