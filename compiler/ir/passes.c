// SPDX-License-Identifier: Apache-2.0
// Runs the passes of passes.def in order.
#include "ir/ir.h"

static bool (*const passes[])(ir_kernel *, const ir_options *) = {
#define IR_PASS(id, name, form, guarantee) ir_pass_##name,
#include "ir/passes.def"
#undef IR_PASS
};

static const ir_form forms[] = {
#define IR_PASS(id, name, form, guarantee) IR_FORM_##form,
#include "ir/passes.def"
#undef IR_PASS
};

static bool unknown_type(const ir_type *t)
{
    return (t->kind == IR_T_REG && t->dist.base == IR_DIST_UNKNOWN) ||
           (t->kind == IR_T_TILE && t->layout == IR_LAY_UNKNOWN);
}

static bool find_unknown(ir_op *op, void *user)
{
    bool *found = user;
    for (int i = 0; i < op->n_out; i++)
        *found |= unknown_type(op->out[i].type);
    for (int r = 0; r < op->n_reg; r++)
        for (int i = 0; i < op->reg[r].n_args; i++)
            *found |= unknown_type(op->reg[r].args[i].type);
    return !*found;
}

const char *ir_pass_lacks(const ir_kernel *k, ir_pass pass)
{
    bool unknown = false;
    if (k->form != (pass > 0 ? forms[pass - 1] : IR_FORM_L))
        return "another form: the passes before it have not run, or it has";
    if (pass == IR_PASS_ROLES)
        return k->body ? NULL : "one body for all roles";
    for (const ir_group *g = k->groups; g; g = g->next)
        for (const ir_role *r = g->roles; r; r = r->next) {
            if (!r->body)
                return "a body for each role";
            if (pass > IR_PASS_LAYOUT)
                ir_walk(r->body, find_unknown, NULL, &unknown);
        }
    for (const ir_pipe *p = k->pipes; p && pass > IR_PASS_AGREE; p = p->next)
        if (!p->putter)
            return "a putter for each pipe";
    return unknown ? "layouts and distributions" : NULL;
}

/// In debug builds what a pass leaves behind is verified at once, so that the mistake is the pass's.
static bool good_after(const ir_kernel *k, ir_pass pass)
{
    pkc_buf why = {0};
    bool good = !k->session->settings.verify || ir_verify(k, &why);
    if (!good)
        pkc_diag_error(k->session, PKC_DIAG_INTERNAL, k->pos,
                       pkc_arena_printf(k->arena, "after '%s': %s", ir_pass_name(pass), pkc_buf_cstr(&why)));
    pkc_buf_free(&why);
    return good;
}

bool ir_run_passes(ir_kernel *k, const ir_options *options, ir_pass last,
                   void (*after)(ir_kernel *k, ir_pass pass, void *user), void *user)
{
    for (int p = 0; p <= (int)last && p < IR_PASS_COUNT; p++) {
        if (!passes[p](k, options))
            return false;
        k->form = forms[p];
        if (!good_after(k, (ir_pass)p))
            return false;
        if (after)
            after(k, (ir_pass)p, user);
    }
    return true;
}
