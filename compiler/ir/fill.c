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

/// What all puts and gets of a kernel do with one field.
typedef struct field_use {
    ir_kernel *k;
    const ir_pipe *pipe;
    int field;
    const ir_op *filled, *got;
} field_use;

static void check_put(field_use *f, const slot_use *u)
{
    const char *name = f->pipe->field[f->field].name;
    if (u->loads > 1) {
        pkc_diag *d = pkc_diag_error(f->k->session, PKC_DIAG_LOADED_TWICE, u->load->pos, name);
        pkc_diag_help(d, "the loads would overtake each other: give the slot a tile for each, or put twice");
    }
    if (u->load && u->read) {
        pkc_diag *d = pkc_diag_error(f->k->session, PKC_DIAG_READ_IN_PUT, u->read->pos, name);
        pkc_diag_note(d, u->load->pos, "it is loaded here, and has arrived when the put has ended");
    }
    if (u->load || u->store)
        f->filled = u->load ? u->load : u->store;
}

static bool visit(ir_op *op, void *user)
{
    field_use *f = user;
    slot_use u = {0};
    if ((op->kind != IR_PUT && op->kind != IR_GET) || op->attr.pipe != f->pipe)
        return true;
    use_in_region(&op->reg[0], &op->reg[0].args[f->field], &u);
    if (op->kind == IR_PUT)
        check_put(f, &u);
    else if (u.read)
        f->got = u.read;
    return true;
}

void ir_check_fills(ir_kernel *k, const ir_pipe *pipe)
{
    for (int i = 0; i < pipe->n_fields; i++) {
        field_use f = {.k = k, .pipe = pipe, .field = i};
        for (ir_group *g = k->groups; g; g = g->next)
            for (ir_role *r = g->roles; r; r = r->next)
                ir_walk(r->body, visit, NULL, &f);
        if (!f.got || f.filled)
            continue;
        pkc_diag *d = pkc_diag_error(k->session, PKC_DIAG_NEVER_FILLED, f.got->pos, pipe->field[i].name);
        pkc_diag_note(d, pipe->field[i].pos, "it is declared here");
    }
}
