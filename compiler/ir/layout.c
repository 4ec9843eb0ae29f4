// SPDX-License-Identifier: Apache-2.0
// Pass `layout`: distributions of register tiles, layouts of shared tiles, and whether the registers suffice.
#include "ir/layout.h"

#include "ir/dist.h"
#include "ir/place.h"
#include "ir/regs.h"

static const char *value_text(ir_kernel *k, const ir_value *v)
{
    const char *type =
        pkc_arena_printf(k->arena, "%s[%d, %d]", pkc_elem_name(v->type->elem), v->type->rows, v->type->cols);
    if (v->name != NULL)
        return pkc_arena_printf(k->arena, "'%s', %s", v->name, type);
    return pkc_arena_printf(k->arena, "a value of type %s", type);
}

static pkc_span value_pos(const ir_value *v)
{
    if (v->def != NULL)
        return v->def->pos;
    return v->owner != NULL && v->owner->owner != NULL ? v->owner->owner->pos : (pkc_span){0};
}

static bool check_registers(ir_kernel *k, ir_role *role, const ir_options *options)
{
    ir_pressure p = ir_role_pressure(k, role);
    int budget = ir_role_budget(k, role, options->regs_per_sm);
    if (p.regs == 0 || role->reg_estimate <= budget)
        return true;
    pkc_diag *d = pkc_diag_error(k->session, PKC_DIAG_TOO_MANY_REGISTERS, role->pos, role->name,
                                 role->reg_estimate, budget);
    for (int i = 0; i < IR_REGS_TOP && p.top[i] != NULL; i++)
        pkc_diag_note(d, value_pos(p.top[i]), "%s takes %lld registers a thread", value_text(k, p.top[i]),
                      (long long)ir_dist_regs(p.top[i]->type));
    if (role->implicit)
        pkc_diag_note(d, (pkc_span){0}, "what has no role is one communicator(%d)", role->count);
    pkc_diag_help(d, "%s",
                  role->implicit ? "use smaller tiles, or write a role of more warps: communicator(16) { .. }"
                                 : "use smaller tiles, or more warps or warpgroups in the role");
    return false;
}

/// Before anything is dealt to warps: registers depend on their number.
static bool check_warps(ir_kernel *k)
{
    int warps = ir_plan_threads(k) / 32;
    if (warps <= IR_MAX_WARPS)
        return true;
    pkc_diag_error(k->session, PKC_DIAG_TOO_MANY_THREADS, k->pos, warps);
    return false;
}

typedef struct entry_check {
    ir_kernel *k;
    int entry; // registers a thread when the kernel starts
    bool ok;
} entry_check;

/// ptxas wants room for the operands of one wgmma in the registers of the start, whatever setmaxnreg does
/// later (C7602).
static bool check_entry(ir_op *op, void *user)
{
    entry_check *c = user;
    if (op->kind != IR_MMA)
        return true;
    int cols = op->out[0].type->cols, need = cols / 2 + IR_REGS_PRODUCT;
    if (need <= c->entry)
        return true;
    pkc_diag_error(c->k->session, PKC_DIAG_PRODUCT_REGISTERS, op->pos, cols, need, ir_plan_threads(c->k),
                   c->entry);
    c->ok = false;
    return true;
}

static bool check_products(ir_kernel *k, ir_role *role, const ir_options *options)
{
    entry_check c = {k, ir_plan_regs(k, role->group, options->regs_per_sm).entry, true};
    ir_walk(role->body, check_entry, NULL, &c);
    return c.ok;
}

bool ir_pass_layout(ir_kernel *k, const ir_options *options)
{
    bool ok = check_warps(k);
    if (!ok)
        return false;
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            ok = ir_layout_registers(k, r) && ok;
    ok = ok && ir_layout_tiles(k);
    if (!ok)
        return false;
    // All estimates first: what one role needs decides what the others may have.
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            r->reg_estimate = (int)(ir_role_pressure(k, r).regs + IR_REGS_ADDRESSES);
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            ok = check_registers(k, r, options) && check_products(k, r, options) && ok;
    return ok;
}
