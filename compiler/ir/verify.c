// SPDX-License-Identifier: Apache-2.0
// Checks of a kernel's IR between passes: structure, dominance, use lists, forms; verify_types.c has the
// types. A failure is a mistake of the compiler, or of who wrote tile IR by hand, so the words are for its
// developers.
#include "ir/verify_impl.h"

#include <stdint.h>

void ir_verify_fail(ir_verifier *v, const ir_op *op, const char *what)
{
    const char *sub = ir_sub_text(op->kind, op->sub);
    if (v->ok)
        pkc_buf_printf(v->why, "kernel %s, role %s, %s%s%s: %s", v->k->name, v->role ? v->role->name : "-",
                       ir_op_text(op->kind), sub ? "." : "", sub ? sub : "", what);
    v->ok = false;
}

// ---- values and uses -----------------------------------------------------------------------------------

static void see(ir_verifier *v, const ir_value *value)
{
    if (!ir_ptrmap_get(&v->seen, value))
        pkc_vec_push(&v->arena, &v->values, value);
    ir_ptrmap_set(&v->seen, value, (void *)(intptr_t)1);
}

static const ir_region *home(const ir_value *value)
{
    return value->def ? value->def->parent : value->owner;
}

/// Values stay seen behind their region, so the region of the value must be around the op.
static void check_operand(ir_verifier *v, const ir_op *op, int i)
{
    const ir_use *u = &op->in[i];
    if (!u->value) {
        ir_verify_fail(v, op, "an operand is missing");
        return;
    }
    if (u->user != op || u->index != i)
        ir_verify_fail(v, op, "an operand's use does not point back");
    intptr_t met = (intptr_t)ir_ptrmap_get(&v->seen, u->value);
    if (!met || !ir_inside(op, home(u->value)))
        ir_verify_fail(v, op, "an operand is not defined here");
    else
        ir_ptrmap_set(&v->seen, u->value, (void *)(met + 1));
}

/// The use list has the operands that were met, each linked both ways, and no others.
static void check_uses(ir_verifier *v, const ir_value *value)
{
    const ir_op *op = value->def ? value->def : value->owner->owner;
    intptr_t met = (intptr_t)ir_ptrmap_get(&v->seen, value) - 1, listed = 0;
    const ir_use *const *link = (const ir_use *const *)&value->uses;
    for (const ir_use *u = value->uses; u && listed <= met && op;
         link = (const ir_use *const *)&u->next, u = u->next) {
        if (u->value != value || (const ir_use *const *)u->prev != link)
            ir_verify_fail(v, op, "the list of a value's uses is broken");
        listed++;
    }
    if (listed != met && op)
        ir_verify_fail(v, op, "the list of a value's uses has other operands than there are");
}

// ---- ops and regions -----------------------------------------------------------------------------------

static void check_counts(ir_verifier *v, const ir_op *op)
{
    int in = ir_op_n_in(op->kind), out = ir_op_n_out(op->kind), reg = ir_op_n_reg(op->kind);
    if ((in >= 0 && in != op->n_in) || (out >= 0 && out != op->n_out) || (reg >= 0 && reg != op->n_reg))
        ir_verify_fail(v, op, "wrong number of operands, results or regions");
    if ((op->sub && !ir_sub_text(op->kind, op->sub)))
        ir_verify_fail(v, op, "there is no such kind of the op");
    for (int i = 0; i < op->n_out; i++)
        if (!op->out[i].type || op->out[i].def != op || op->out[i].index != i)
            ir_verify_fail(v, op, "a result is not its op's");
    for (int i = 0; i < op->n_reg; i++)
        if (op->reg[i].owner != op)
            ir_verify_fail(v, op, "a region does not know its op");
}

static void check_yields(ir_verifier *v, const ir_op *op)
{
    for (int r = 0; r < op->n_reg; r++) {
        const ir_op *last = op->reg[r].last;
        for (int i = 0; i < op->n_out; i++) {
            const ir_value *y = ir_yielded(&op->reg[r], i);
            if (!y)
                ir_verify_fail(v, op, "a result is not yielded");
            else if (!ir_type_equal(y->type, op->out[i].type))
                ir_verify_fail(v, op, "a yielded value has another type than its result");
        }
        if (last && last->kind == IR_YIELD && last->n_in > op->n_out)
            ir_verify_fail(v, op, "more is yielded than there are results");
    }
}

static void check_carries(ir_verifier *v, const ir_op *op)
{
    if (op->kind != IR_FOR)
        return;
    if (op->n_in != op->n_out + 3 || op->reg[0].n_args != op->n_out + 1) {
        ir_verify_fail(v, op, "carries, results and arguments differ in number");
        return;
    }
    for (int i = 0; i < op->n_out; i++)
        if (!ir_type_equal(ir_in(op, 3 + i)->type, op->out[i].type) ||
            !ir_type_equal(op->reg[0].args[1 + i].type, op->out[i].type))
            ir_verify_fail(v, op, "a carry changes its type");
}

/// Once the pipe's putter is known it alone puts, and it gets nothing.
static void check_ends(ir_verifier *v, const ir_op *op)
{
    bool put = op->kind == IR_PUT || (op->kind == IR_PST && op->sub == IR_END_PUT);
    bool get = op->kind == IR_GET || (op->kind == IR_PST && op->sub == IR_END_GET);
    const ir_role *putter = put || get ? op->attr.pipe->putter : NULL;
    if (putter && v->role && put != (putter == v->role))
        ir_verify_fail(v, op, put ? "it is not the pipe's putter" : "the pipe's putter gets nothing");
}

static bool has_register_tile(const ir_op *op)
{
    for (int i = 0; i < op->n_in; i++)
        if (ir_in(op, i)->type->kind == IR_T_REG)
            return true;
    return op->n_out && op->out[0].type->kind == IR_T_REG;
}

static void check_form(ir_verifier *v, const ir_op *op)
{
    bool whole = op->kind == IR_ROLE || op->kind == IR_GROUP;
    if (!ir_op_in_form(op->kind, v->k->form))
        ir_verify_fail(v, op, "the op does not exist in this form");
    if (v->role && whole)
        ir_verify_fail(v, op, "it stands in the body of a role");
    if (v->role && v->role->thin && (ir_op_who(op->kind) != IR_WHO_T || has_register_tile(op)))
        ir_verify_fail(v, op, "a thin role cannot run it");
    if (op->kind == IR_YIELD && (op->next || !op->parent->owner))
        ir_verify_fail(v, op, op->next ? "a yield is not the last op" : "a body yields nothing");
}

static void check_region(ir_verifier *v, const ir_region *region);

static void check_op(ir_verifier *v, const ir_op *op)
{
    check_counts(v, op);
    for (int i = 0; i < op->n_in && v->ok; i++)
        check_operand(v, op, i);
    if (v->ok)
        check_form(v, op);
    if (v->ok)
        check_carries(v, op);
    if (v->ok)
        check_ends(v, op);
    if (v->ok)
        ir_verify_types(v, op);
    for (int r = 0; r < op->n_reg && v->ok; r++)
        check_region(v, &op->reg[r]);
    if (v->ok)
        check_yields(v, op);
    for (int i = 0; i < op->n_out; i++)
        see(v, &op->out[i]);
}

static void check_region(ir_verifier *v, const ir_region *region)
{
    const ir_op *prev = NULL;
    for (int i = 0; i < region->n_args; i++)
        see(v, &region->args[i]);
    for (const ir_op *op = region->first; op && v->ok; op = op->next) {
        if (op->parent != region)
            ir_verify_fail(v, op, "an op does not know its region");
        if (op->prev != prev || (!op->next && region->last != op))
            ir_verify_fail(v, op, "the list of a region's ops is broken");
        check_op(v, op);
        prev = op;
    }
}

/// Either all roles share one body, or each has its own.
static void check_bodies(ir_verifier *v)
{
    for (const ir_group *g = v->k->groups; g; g = g->next)
        for (const ir_role *r = g->roles; r; r = r->next) {
            if (v->ok && !r->body == !v->k->body)
                pkc_buf_printf(v->why, "kernel %s: role %s has %s", v->k->name, r->name,
                               r->body ? "a body beside the one for all" : "no body");
            v->ok = v->ok && !r->body != !v->k->body;
        }
}

bool ir_verify(const ir_kernel *k, pkc_buf *why)
{
    ir_verifier v = {.k = k, .why = why, .ok = true};
    pkc_arena_init(&v.arena);
    ir_ptrmap_init(&v.seen, &v.arena);
    if (k->body)
        check_region(&v, k->body);
    for (const ir_group *g = k->groups; g; g = g->next)
        for (const ir_role *r = g->roles; r; r = r->next) {
            v.role = r;
            if (r->body)
                check_region(&v, r->body);
        }
    check_bodies(&v);
    for (size_t i = 0; i < v.values.len && v.ok; i++)
        check_uses(&v, v.values.data[i]);
    pkc_arena_free(&v.arena);
    return v.ok;
}
