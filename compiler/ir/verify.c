// SPDX-License-Identifier: Apache-2.0
// Checks of a kernel's IR between passes. A failure is a mistake of the compiler, so the words are for its
// developers.
#include "ir/ir.h"
#include "ir/ptrmap.h"

typedef struct verifier {
    const ir_kernel *k;
    const ir_role *role;
    pkc_buf *why;
    pkc_arena arena;
    ir_ptrmap defined; // values in scope (never taken out: an inner value is checked by its region below)
    bool ok;
} verifier;

static void fail(verifier *v, const ir_op *op, const char *what)
{
    if (v->ok)
        pkc_buf_printf(v->why, "kernel %s, role %s, %s: %s", v->k->name, v->role ? v->role->name : "-",
                       ir_op_text(op->kind), what);
    v->ok = false;
}

/// Whether `region` is the one that `op` stands in or one around it.
static bool encloses(const ir_region *region, const ir_op *op)
{
    return ir_inside(op, region);
}

static const ir_region *home(const ir_value *value)
{
    return value->def ? value->def->parent : value->owner;
}

static void check_operand(verifier *v, const ir_op *op, int i)
{
    const ir_use *u = &op->in[i];
    if (!u->value) {
        fail(v, op, "an operand is missing");
        return;
    }
    if (u->user != op || u->index != i)
        fail(v, op, "an operand's use does not point back");
    if (!ir_ptrmap_get(&v->defined, u->value) || !encloses(home(u->value), op))
        fail(v, op, "an operand is not defined here");
}

static void check_counts(verifier *v, const ir_op *op)
{
    int in = ir_op_n_in(op->kind), out = ir_op_n_out(op->kind), reg = ir_op_n_reg(op->kind);
    if ((in >= 0 && in != op->n_in) || (out >= 0 && out != op->n_out) || (reg >= 0 && reg != op->n_reg))
        fail(v, op, "wrong number of operands, results or regions");
    for (int i = 0; i < op->n_out; i++)
        if (!op->out[i].type || op->out[i].def != op || op->out[i].index != i)
            fail(v, op, "a result is not its op's");
}

static void check_yield_type(verifier *v, const ir_op *op, int r, int i)
{
    const ir_value *y = ir_yielded(&op->reg[r], i);
    if (!y)
        fail(v, op, "a result is not yielded");
    else if (!ir_type_equal(y->type, op->out[i].type))
        fail(v, op, "a yielded value has another type than its result");
}

static void check_region_op(verifier *v, const ir_op *op)
{
    for (int r = 0; r < op->n_reg; r++)
        for (int i = 0; i < op->n_out; i++)
            check_yield_type(v, op, r, i);
    if (op->kind != IR_FOR)
        return;
    if (op->n_in != op->n_out + 3 || op->reg[0].n_args != op->n_out + 1)
        fail(v, op, "carries, results and arguments differ in number");
    for (int i = 0; i < op->n_out && v->ok; i++)
        if (!ir_type_equal(ir_in(op, 3 + i)->type, op->out[i].type) ||
            !ir_type_equal(op->reg[0].args[1 + i].type, op->out[i].type))
            fail(v, op, "a carry changes its type");
}

static void check_elementwise(verifier *v, const ir_op *op)
{
    bool two = op->kind == IR_BIN || op->kind == IR_CMP;
    if (two && ir_in(op, 0)->type->elem != ir_in(op, 1)->type->elem)
        fail(v, op, "operands of two element types");
    if (op->kind == IR_SELECT && ir_in(op, 0)->type->elem != PKC_E_BOOL)
        fail(v, op, "the condition is not a truth value");
    if (op->kind == IR_IF && ir_in(op, 0)->type->kind != IR_T_SCALAR)
        fail(v, op, "the condition is not a scalar");
}

static void check_form(verifier *v, const ir_op *op)
{
    if (!ir_op_in_form(op->kind, v->k->form))
        fail(v, op, "the op does not exist in this form");
    if (v->role && v->role->thin && ir_op_who(op->kind) != IR_WHO_T)
        fail(v, op, "a thin role cannot run it");
    if (op->kind == IR_YIELD && op->next)
        fail(v, op, "a yield is not the last op");
}

static void check_region(verifier *v, const ir_region *region);

static void check_op(verifier *v, const ir_op *op)
{
    check_counts(v, op);
    check_form(v, op);
    for (int i = 0; i < op->n_in && v->ok; i++)
        check_operand(v, op, i);
    if (!v->ok)
        return;
    check_elementwise(v, op);
    for (int r = 0; r < op->n_reg && v->ok; r++)
        check_region(v, &op->reg[r]);
    if (v->ok)
        check_region_op(v, op);
    for (int i = 0; i < op->n_out; i++)
        ir_ptrmap_set(&v->defined, &op->out[i], (void *)&op->out[i]);
}

static void check_region(verifier *v, const ir_region *region)
{
    for (int i = 0; i < region->n_args; i++)
        ir_ptrmap_set(&v->defined, &region->args[i], (void *)&region->args[i]);
    for (const ir_op *op = region->first; op && v->ok; op = op->next) {
        if (op->parent != region)
            fail(v, op, "an op does not know its region");
        check_op(v, op);
    }
}

bool ir_verify(const ir_kernel *k, pkc_buf *why)
{
    verifier v = {.k = k, .why = why, .ok = true};
    pkc_arena_init(&v.arena);
    ir_ptrmap_init(&v.defined, &v.arena);
    if (k->body)
        check_region(&v, k->body);
    for (const ir_group *g = k->groups; g; g = g->next)
        for (const ir_role *r = g->roles; r; r = r->next) {
            v.role = r;
            if (r->body)
                check_region(&v, r->body);
        }
    pkc_arena_free(&v.arena);
    return v.ok;
}
