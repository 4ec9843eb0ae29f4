// SPDX-License-Identifier: Apache-2.0
// What the lowering says about meanings, in words.
#include "ir/lower_impl.h"

meaning lower_poison(void)
{
    return (meaning){.kind = MEAN_POISON};
}

bool lower_is_poison(const meaning *m)
{
    return m->kind == MEAN_POISON || m->kind == MEAN_UNBOUND;
}

static const char *describe_value(lower *l, const ir_type *t)
{
    if (t->kind == IR_T_SCALAR)
        return pkc_elem_name(t->elem);
    const char *what = t->kind != IR_T_TILE ? "" : t->transposed ? "a transposed tile " : "a shared tile ";
    return pkc_arena_printf(&l->s->arena, "%s%s[%d, %d]", what, pkc_elem_name(t->elem),
                            t->transposed ? t->cols : t->rows, t->transposed ? t->rows : t->cols);
}

static const char *describe_literal(lower *l, const ir_value *v)
{
    int64_t i;
    double f = 0;
    if (ir_const_int(v, &i))
        return pkc_arena_printf(&l->s->arena, "the constant %lld", (long long)i);
    ir_const_float(v, &f);
    return pkc_arena_printf(&l->s->arena, "the constant %g", f);
}

const char *lower_describe(lower *l, const meaning *m)
{
    switch (m->kind) {
    case MEAN_UNBOUND:
    case MEAN_POISON:
        return "an error";
    case MEAN_VALUE:
        return m->literal ? describe_literal(l, m->v) : describe_value(l, m->v->type);
    case MEAN_TILE:
        return describe_value(l, m->v->type);
    case MEAN_TENSOR:
        return pkc_arena_printf(&l->s->arena, "%s '%s'",
                                m->param->kind == IR_PARAM_SIGNAL ? "the signals" : "the tensor",
                                m->param->name);
    case MEAN_VIEW:
        return pkc_arena_printf(&l->s->arena, "a view of '%s'", m->param->name);
    case MEAN_PIPE:
        return pkc_arena_printf(&l->s->arena, "the pipe '%s'", m->pipe->name);
    case MEAN_TUPLE:
        return pkc_arena_printf(&l->s->arena, "a tuple of %d", m->n_parts);
    case MEAN_NOTHING:
        return "no value";
    }
    return "?";
}

meaning lower_wrong_kind(lower *l, pkc_span span, const char *expected, const meaning *got)
{
    if (!lower_is_poison(got))
        pkc_diag_error(l->s, PKC_DIAG_WRONG_KIND, span, expected, lower_describe(l, got));
    return lower_poison();
}
