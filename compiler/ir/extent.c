// SPDX-License-Identifier: Apache-2.0
#include "ir/extent.h"

// ---- variables -----------------------------------------------------------------------------------------

/// What is replaced by its end: a loop's variable, by its depth, or a builtin scalar.
typedef struct variable {
    int depth;    // of the loop; 0: a builtin
    ir_read read; // the builtin
} variable;

static bool is_read(const ir_atom *a, ir_read read)
{
    const ir_op *op = a->value ? a->value->def : NULL;
    return op && op->kind == IR_READ && op->sub == read;
}

static bool is_variable(const ir_atom *a, variable v)
{
    return v.depth ? a->kind == IR_ATOM_LOOP && a->depth == v.depth : is_read(a, v.read);
}

/// The variable stands inside the atom, so that nothing is known of how the atom moves with it.
static bool hides(const ir_atom *a, variable v)
{
    if (v.depth && a->depth == v.depth && a->kind != IR_ATOM_LOOP)
        return true;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < a->args[i].n; j++)
            for (int f = 0; f < a->args[i].terms[j].n; f++) {
                const ir_atom *in = a->args[i].terms[j].atoms[f];
                if (is_variable(in, v) || hides(in, v))
                    return true;
            }
    return false;
}

/// The variable's place among the factors of a term, -1: none; false where the term does not move evenly with
/// it.
static bool find_factor(const ir_term *term, variable v, int *at)
{
    *at = -1;
    for (int i = 0; i < term->n; i++) {
        if (hides(term->atoms[i], v) || (is_variable(term->atoms[i], v) && *at >= 0))
            return false;
        if (is_variable(term->atoms[i], v))
            *at = i;
    }
    for (int i = 0; i < term->n && *at >= 0; i++)
        if (i != *at && term->atoms[i]->least < 0)
            return false;
    return true;
}

static ir_norm without(ir_norms *t, const ir_term *term, int at)
{
    ir_term *rest = PKC_NEW(t->k->arena, ir_term);
    *rest = (ir_term){.factor = term->factor};
    for (int i = 0; i < term->n; i++)
        if (i != at)
            rest->atoms[rest->n++] = term->atoms[i];
    return (ir_norm){1, rest};
}

/// 1: the sum rises with the variable, -1: it falls, 0: it does not mention it; false: neither.
static bool direction(ir_norm a, variable v, int *out)
{
    *out = 0;
    for (int i = 0; i < a.n; i++) {
        int at, sign = a.terms[i].factor > 0 ? 1 : -1;
        if (!find_factor(&a.terms[i], v, &at) || (at >= 0 && *out == -sign))
            return false;
        *out = at >= 0 ? sign : *out;
    }
    return true;
}

static ir_norm replace(ir_norms *t, ir_norm a, variable v, ir_norm by)
{
    ir_norm sum = ir_norm_const(t, 0);
    for (int i = 0; i < a.n; i++) {
        int at = -1;
        find_factor(&a.terms[i], v, &at);
        ir_norm rest = without(t, &a.terms[i], at);
        sum = ir_norm_add(t, sum, at < 0 ? rest : ir_norm_mul(t, rest, by), 1);
    }
    return sum;
}

static bool single_read(ir_norm a, ir_read read)
{
    return a.n == 1 && a.terms[0].factor == 1 && a.terms[0].n == 1 && is_read(a.terms[0].atoms[0], read);
}

// ---- loops ---------------------------------------------------------------------------------------------

/// `for t in worker .. n step workers`: all workers together go through 0 .. n - 1.
static bool is_shared(ir_norms *t, const ir_op *loop)
{
    return single_read(ir_norm_of(t, ir_in(loop, 0)), IR_READ_WORKER) &&
           single_read(ir_norm_of(t, ir_in(loop, 2)), IR_READ_WORKERS);
}

static ir_norm first_of(ir_norms *t, const ir_op *loop)
{
    return is_shared(t, loop) ? ir_norm_const(t, 0) : ir_norm_of(t, ir_in(loop, 0));
}

static bool last_of(ir_norms *t, const ir_op *loop, ir_norm *out)
{
    int64_t step, length;
    ir_norm first = first_of(t, loop), one = ir_norm_const(t, 1);
    *out = ir_norm_add(t, ir_norm_of(t, ir_in(loop, 1)), one, -1);
    if (is_shared(t, loop))
        return true;
    if (!ir_norm_is_const(ir_norm_of(t, ir_in(loop, 2)), &step) || step < 1)
        return false;
    if (step == 1)
        return true;
    bool known = ir_norm_is_const(ir_norm_add(t, *out, first, -1), &length) && length >= 0;
    *out = ir_norm_add(t, first, ir_norm_const(t, known ? length / step * step : 0), 1);
    return known;
}

static ir_norm length_of(ir_norms *t, const ir_op *loop)
{
    return ir_norm_add(t, ir_norm_of(t, ir_in(loop, 1)), first_of(t, loop), -1);
}

static bool varies(ir_norm a)
{
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.terms[i].n; j++) {
            const ir_atom *f = a.terms[i].atoms[j];
            if (f->depth > 0 || is_read(f, IR_READ_RANK) || is_read(f, IR_READ_WORKER) ||
                hides(f, (variable){.read = IR_READ_RANK}) || hides(f, (variable){.read = IR_READ_WORKER}))
                return true;
        }
    return false;
}

ir_stand ir_stand_of(ir_norms *t, const ir_op *op)
{
    ir_stand s = {.always = true};
    for (const ir_op *at = op->parent->owner; at; at = at->parent->owner) {
        if (at->kind == IR_IF)
            s.always = false;
        if (at->kind != IR_FOR)
            continue;
        if (s.n == IR_EXTENT_LOOPS) {
            s.too_deep = true;
            break;
        }
        ir_norm length = length_of(t, at);
        if (varies(length) && ir_norm_least(length) < 1)
            s.always = false;
        s.loops[s.n++] = at;
    }
    for (int i = 0; i < s.n / 2; i++) {
        const ir_op *outer = s.loops[s.n - 1 - i];
        s.loops[s.n - 1 - i] = s.loops[i];
        s.loops[i] = outer;
    }
    return s;
}

// ---- extents -------------------------------------------------------------------------------------------

static bool end_in_loop(ir_norms *t, const ir_op *loop, int depth, bool largest, ir_norm *a)
{
    variable v = {.depth = depth};
    ir_norm end;
    int way;
    if (!direction(*a, v, &way))
        return false;
    if (way == 0)
        return true;
    if ((way > 0) != largest)
        end = first_of(t, loop);
    else if (!last_of(t, loop, &end))
        return false;
    *a = replace(t, *a, v, end);
    return true;
}

/// The value of a builtin scalar as a sum, made in a region that nobody sees.
static ir_norm read_norm(ir_norms *t, ir_read read)
{
    ir_builder b = {.kernel = t->k, .region = ir_region_new(t->k, 0, NULL)};
    return ir_norm_of(t, ir_build_read(&b, read));
}

static bool end_of_read(ir_norms *t, ir_read read, ir_read count, bool largest, ir_norm *a)
{
    variable v = {.read = read};
    int way;
    if (!direction(*a, v, &way))
        return false;
    if (way == 0)
        return true;
    ir_norm last = ir_norm_add(t, read_norm(t, count), ir_norm_const(t, 1), -1);
    *a = replace(t, *a, v, (way > 0) == largest ? last : ir_norm_const(t, 0));
    return true;
}

bool ir_extent(ir_norms *t, const ir_stand *s, ir_norm a, bool largest, ir_norm *out)
{
    if (s->too_deep)
        return false;
    for (int d = s->n; d > 0; d--)
        if (!end_in_loop(t, s->loops[d - 1], d, largest, &a))
            return false;
    if (!end_of_read(t, IR_READ_RANK, IR_READ_RANKS, largest, &a) ||
        !end_of_read(t, IR_READ_WORKER, IR_READ_WORKERS, largest, &a))
        return false;
    *out = a;
    return ir_norm_depth(a) == 0;
}

const ir_hx *ir_stand_empty(ir_norms *t, const ir_stand *s, bool *known)
{
    const ir_hx *any = NULL;
    pkc_arena *arena = t->k->arena;
    *known = true;
    for (int i = 0; i < s->n; i++) {
        ir_norm length = length_of(t, s->loops[i]);
        if (ir_norm_least(length) >= 1)
            continue;
        const ir_hx *hx = varies(length) ? NULL : ir_host_of_norm(t, length);
        *known = *known && hx;
        if (!*known)
            return NULL;
        const ir_hx *empty = ir_hx_bin(arena, IR_HX_LE, hx, ir_hx_const(arena, 0));
        any = any ? ir_hx_bin(arena, IR_HX_OR, any, empty) : empty;
    }
    return any;
}

// ---- host expressions ----------------------------------------------------------------------------------

const ir_hx *ir_host_of_norm(ir_norms *t, ir_norm a)
{
    pkc_arena *arena = t->k->arena;
    const ir_hx *sum = ir_hx_const(arena, 0);
    for (int i = 0; i < a.n; i++) {
        int64_t factor = a.terms[i].factor;
        const ir_hx *product = ir_hx_const(arena, factor < 0 ? -factor : factor);
        for (int j = 0; j < a.terms[i].n; j++) {
            const ir_value *v = a.terms[i].atoms[j]->value;
            const ir_hx *one = v ? ir_host_of(t, v) : NULL;
            if (!one)
                return NULL;
            product = ir_hx_bin(arena, IR_HX_MUL, one, product);
        }
        sum = ir_hx_bin(arena, factor < 0 ? IR_HX_SUB : IR_HX_ADD, sum, product);
    }
    return sum;
}

static ir_value *build_host(ir_builder *b, const ir_hx *hx)
{
    static const int bins[IR_HX_COUNT] = {
        [IR_HX_ADD] = IR_BIN_ADD + 1, [IR_HX_SUB] = IR_BIN_SUB + 1,   [IR_HX_MUL] = IR_BIN_MUL + 1,
        [IR_HX_DIV] = IR_BIN_DIV + 1, [IR_HX_CDIV] = IR_BIN_CDIV + 1, [IR_HX_MOD] = IR_BIN_MOD + 1,
        [IR_HX_MIN] = IR_BIN_MIN + 1, [IR_HX_MAX] = IR_BIN_MAX + 1};
    const ir_type *type = ir_type_scalar(b->kernel, PKC_E_I32);
    int64_t value;
    if (ir_hx_is_const(hx, &value))
        return ir_build_int(b, PKC_E_I32, value);
    if (hx->op == IR_HX_RANKS || hx->op == IR_HX_SMS)
        return ir_build_read(b, hx->op == IR_HX_RANKS ? IR_READ_RANKS : IR_READ_SMS);
    if (hx->op == IR_HX_DIM) {
        ir_op *op = ir_build(b, IR_DIM, 0, 0, NULL, 1, &type, 0);
        op->attr.name = hx->name;
        return &op->out[0];
    }
    ir_value *x = bins[hx->op] ? build_host(b, hx->a) : NULL, *y = x ? build_host(b, hx->b) : NULL;
    return y ? ir_build_bin(b, (unsigned)bins[hx->op] - 1, x, y) : NULL;
}

bool ir_norm_of_host(ir_norms *t, const ir_hx *hx, ir_norm *out)
{
    ir_builder b = {.kernel = t->k, .region = ir_region_new(t->k, 0, NULL)};
    ir_value *v = build_host(&b, hx);
    if (v)
        *out = ir_norm_of(t, v);
    return v != NULL;
}
