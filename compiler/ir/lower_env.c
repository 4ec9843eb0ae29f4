// SPDX-License-Identifier: Apache-2.0
// What names mean while the tree is walked. A function's names have one meaning at a time: it is not
// recursive.
#include "ir/lower_impl.h"

meaning *lower_meaning(lower *l, const pkc_symbol *symbol)
{
    return &l->env[symbol->index];
}

void lower_bind(lower *l, const pkc_name *name, meaning m)
{
    bool own = m.kind == MEAN_VALUE && !m.literal && !m.v->name;
    if (own)
        m.v->name = name->text;
    meaning *now = lower_meaning(l, name->sym);
    if (now->kind == MEAN_UNBOUND)
        pkc_vec_push(&l->s->arena, &l->bound, name->sym->index);
    *now = m;
}

pkc_varset lower_carried(lower *l, const pkc_varset *assigned)
{
    pkc_varset out = {0};
    for (size_t i = 0; i < assigned->len; i++)
        if (lower_meaning(l, assigned->data[i])->kind == MEAN_VALUE)
            pkc_vec_push(&l->s->arena, &out, assigned->data[i]);
    return out;
}

void lower_assign(lower *l, const pkc_name *name, meaning m)
{
    meaning *old = lower_meaning(l, name->sym);
    if (lower_is_poison(&m) || lower_is_poison(old)) {
        *old = lower_poison();
        return;
    }
    if (m.kind != MEAN_VALUE) {
        lower_wrong_kind(l, name->span, "a value", &m);
        return;
    }
    const ir_type *t = old->v->type;
    if (t->kind == IR_T_REG)
        m.v = lower_to_reg(l, name->span, m, t->elem, t->rows, t->cols);
    else
        m = lower_adapt(l, name->span, m, t->elem);
    if (lower_is_poison(&m) || !m.v) {
        *old = lower_poison();
        return;
    }
    if (!ir_type_equal(m.v->type, t)) {
        pkc_diag *d = pkc_diag_error(l->s, PKC_DIAG_TYPE_MISMATCH, name->span, lower_describe(l, old),
                                     lower_describe(l, &m));
        pkc_diag_note(d, name->sym->span, "'%s' is declared here as %s", name->text, lower_describe(l, old));
        return;
    }
    *old = (meaning){.kind = MEAN_VALUE, .v = m.v, .hx = m.hx};
}
