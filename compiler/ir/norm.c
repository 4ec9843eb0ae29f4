// SPDX-License-Identifier: Apache-2.0
// Sums of products: arithmetic that never overflows. What does not fit 64 bits, or grows too long, becomes an
// atom.
#include "ir/norm.h"

#include <inttypes.h>
#include <string.h>

// ---- terms ---------------------------------------------------------------------------------------------

static int compare_terms(const ir_term *a, const ir_term *b)
{
    for (int i = 0; i < a->n && i < b->n; i++)
        if (a->atoms[i] != b->atoms[i])
            return a->atoms[i]->id < b->atoms[i]->id ? -1 : 1;
    return a->n - b->n;
}

/// Merges two sorted lists. False where a factor leaves 64 bits or the sum grows too long.
static bool add(ir_norms *t, ir_norm a, ir_norm b, int64_t factor, ir_norm *out)
{
    ir_term *sum = PKC_NEW_ARRAY(t->k->arena, ir_term, a.n + b.n + 1);
    int n = 0;
    for (int i = 0, j = 0; i < a.n || j < b.n;) {
        int order = i == a.n ? 1 : j == b.n ? -1 : compare_terms(&a.terms[i], &b.terms[j]);
        ir_term next = order <= 0 ? a.terms[i] : b.terms[j];
        int64_t more = 0;
        if (order >= 0 && __builtin_mul_overflow(b.terms[j].factor, factor, &more))
            return false;
        if (__builtin_add_overflow(order <= 0 ? next.factor : 0, more, &next.factor))
            return false;
        i += order <= 0;
        j += order >= 0;
        if (next.factor != 0)
            sum[n++] = next;
    }
    *out = (ir_norm){n, sum};
    return n <= IR_NORM_TERMS;
}

static bool multiply_terms(const ir_term *a, const ir_term *b, ir_term *out)
{
    if (a->n + b->n > IR_NORM_ATOMS)
        return false;
    *out = (ir_term){.n = a->n + b->n};
    int i = 0, j = 0;
    for (int n = 0; n < out->n; n++) {
        bool left = j == b->n || (i < a->n && a->atoms[i]->id <= b->atoms[j]->id);
        out->atoms[n] = left ? a->atoms[i++] : b->atoms[j++];
    }
    return !__builtin_mul_overflow(a->factor, b->factor, &out->factor);
}

/// A truth value is its own square.
static void drop_squares(ir_term *term)
{
    int n = 0;
    for (int i = 0; i < term->n; i++)
        if (!n || term->atoms[n - 1] != term->atoms[i] || !term->atoms[i]->truth)
            term->atoms[n++] = term->atoms[i];
    term->n = n;
}

static bool multiply(ir_norms *t, ir_norm a, ir_norm b, ir_norm *out)
{
    *out = (ir_norm){0};
    if (a.n * b.n > IR_NORM_TERMS)
        return false;
    for (int i = 0; i < a.n; i++) {
        ir_norm row = {0};
        for (int j = 0; j < b.n; j++) {
            ir_term *term = PKC_NEW(t->k->arena, ir_term);
            if (!multiply_terms(&a.terms[i], &b.terms[j], term))
                return false;
            drop_squares(term);
            if (!add(t, row, (ir_norm){1, term}, 1, &row))
                return false;
        }
        if (!add(t, *out, row, 1, out))
            return false;
    }
    return true;
}

// ---- atoms ---------------------------------------------------------------------------------------------

ir_norms *ir_norms_new(ir_kernel *k)
{
    ir_norms *t = PKC_NEW(k->arena, ir_norms);
    *t = (ir_norms){.k = k};
    ir_ptrmap_init(&t->values, k->arena);
    ir_ptrmap_init(&t->atoms, k->arena);
    ir_ptrmap_init(&t->hosts, k->arena);
    return t;
}

ir_norm ir_norm_atom(ir_norms *t, const char *text, ir_atom like)
{
    pkc_str key = pkc_session_str(t->k->session, text);
    ir_atom *a = ir_ptrmap_get(&t->atoms, key);
    if (!a) {
        a = PKC_NEW(t->k->arena, ir_atom);
        *a = like;
        a->text = key;
        a->id = t->n_atoms++;
        ir_ptrmap_set(&t->atoms, key, a);
    }
    ir_term *term = PKC_NEW(t->k->arena, ir_term);
    *term = (ir_term){.factor = 1, .n = 1, .atoms = {a}};
    return (ir_norm){1, term};
}

static void put_text(ir_norm a, pkc_buf *out)
{
    if (a.n == 0)
        pkc_buf_putc(out, '0');
    for (int i = 0; i < a.n; i++) {
        pkc_buf_printf(out, "%s%" PRId64, i ? "+" : "", a.terms[i].factor);
        for (int j = 0; j < a.terms[i].n; j++)
            pkc_buf_printf(out, "*#%d", a.terms[i].atoms[j]->id);
    }
}

pkc_str ir_norm_text(ir_norms *t, ir_norm a)
{
    pkc_buf out = {0};
    put_text(a, &out);
    pkc_str text = pkc_session_str(t->k->session, pkc_buf_cstr(&out));
    pkc_buf_free(&out);
    return text;
}

ir_norm ir_norm_call(ir_norms *t, const char *name, ir_atom like, int n, const ir_norm *args)
{
    pkc_buf text = {0};
    ir_norm *kept = PKC_NEW_ARRAY(t->k->arena, ir_norm, n + 1);
    pkc_buf_puts(&text, name);
    for (int i = 0; i < n; i++) {
        pkc_buf_putc(&text, i ? ',' : '(');
        put_text(args[i], &text);
        kept[i] = args[i];
        int depth = ir_norm_depth(args[i]);
        like.depth = depth > like.depth ? depth : like.depth;
    }
    like.n = n;
    like.args = kept;
    ir_norm result = ir_norm_atom(t, pkc_buf_cstr(&text), like);
    pkc_buf_free(&text);
    return result;
}

// ---- sums and products ---------------------------------------------------------------------------------

ir_norm ir_norm_const(ir_norms *t, int64_t value)
{
    ir_term *term = PKC_NEW(t->k->arena, ir_term);
    *term = (ir_term){.factor = value};
    return (ir_norm){value != 0, term};
}

ir_norm ir_norm_add(ir_norms *t, ir_norm a, ir_norm b, int64_t factor)
{
    ir_norm out;
    if (add(t, a, b, factor, &out))
        return out;
    ir_norm args[] = {a, b, ir_norm_const(t, factor)};
    return ir_norm_call(t, "sum", (ir_atom){.least = INT64_MIN}, 3, args);
}

ir_norm ir_norm_mul(ir_norms *t, ir_norm a, ir_norm b)
{
    ir_norm out;
    if (multiply(t, a, b, &out))
        return out;
    bool least = ir_norm_least(a) >= 0 && ir_norm_least(b) >= 0;
    bool swap = strcmp(ir_norm_text(t, a), ir_norm_text(t, b)) > 0;
    ir_norm args[] = {swap ? b : a, swap ? a : b};
    return ir_norm_call(t, "product", (ir_atom){.least = least ? 0 : INT64_MIN}, 2, args);
}

bool ir_norm_equal(ir_norm a, ir_norm b)
{
    if (a.n != b.n)
        return false;
    for (int i = 0; i < a.n; i++)
        if (compare_terms(&a.terms[i], &b.terms[i]) != 0 || a.terms[i].factor != b.terms[i].factor)
            return false;
    return true;
}

bool ir_norm_is_const(ir_norm a, int64_t *value)
{
    if (a.n > 1 || (a.n == 1 && a.terms[0].n))
        return false;
    *value = a.n ? a.terms[0].factor : 0;
    return true;
}

int64_t ir_norm_gcd(ir_norm a)
{
    uint64_t g = 0;
    for (int i = 0; i < a.n; i++) {
        int64_t f = a.terms[i].factor;
        uint64_t x = f < 0 ? 0 - (uint64_t)f : (uint64_t)f;
        while (x) {
            uint64_t rest = g % x;
            g = x;
            x = rest;
        }
    }
    return g > INT64_MAX ? 1 : (int64_t)g;
}

bool ir_norm_divide(ir_norms *t, ir_norm a, int64_t by, ir_norm *out)
{
    if (by <= 0)
        return false;
    ir_term *terms = PKC_NEW_ARRAY(t->k->arena, ir_term, a.n + 1);
    for (int i = 0; i < a.n; i++) {
        if (a.terms[i].factor % by != 0)
            return false;
        terms[i] = a.terms[i];
        terms[i].factor /= by;
    }
    *out = (ir_norm){a.n, terms};
    return true;
}

// ---- what is known of a sum ----------------------------------------------------------------------------

int ir_norm_depth(ir_norm a)
{
    int depth = 0;
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.terms[i].n; j++)
            depth = a.terms[i].atoms[j]->depth > depth ? a.terms[i].atoms[j]->depth : depth;
    return depth;
}

/// A lower bound of a term: that of its factors, where they are not negative. False: none is known.
static bool least_of_term(const ir_term *term, int64_t *out)
{
    *out = term->factor;
    if (term->n && term->factor < 0)
        return false;
    for (int i = 0; i < term->n; i++)
        if (term->atoms[i]->least < 0 || __builtin_mul_overflow(*out, term->atoms[i]->least, out))
            return false;
    return true;
}

/// 1 - a and the like, where a is a truth value: the negative factors count in full.
static bool least_of_truth(const ir_term *term, int64_t *out)
{
    *out = term->factor < 0 ? term->factor : 0;
    for (int i = 0; i < term->n; i++)
        if (!term->atoms[i]->truth)
            return false;
    return term->n > 0;
}

int64_t ir_norm_least(ir_norm a)
{
    int64_t sum = 0, one;
    for (int i = 0; i < a.n; i++)
        if ((!least_of_term(&a.terms[i], &one) && !least_of_truth(&a.terms[i], &one)) ||
            __builtin_add_overflow(sum, one, &sum))
            return INT64_MIN;
    return sum;
}

// ---- trips ---------------------------------------------------------------------------------------------

static ir_norm trips_atom(ir_norms *t, ir_norm length, ir_norm step)
{
    ir_norm args[] = {length, step};
    return ir_norm_call(t, "trips", (ir_atom){.kind = IR_ATOM_TRIPS, .least = 0}, 2, args);
}

/// The common factor of length and step goes, and one of the length alone comes out, so that loops to 2 n and
/// to n stay in proportion.
static ir_norm constant_step(ir_norms *t, ir_norm length, int64_t step)
{
    int64_t all = ir_norm_gcd(length), common = all, rest = step;
    while (rest) {
        int64_t next = common % rest;
        common = rest;
        rest = next;
    }
    ir_norm_divide(t, length, common, &length);
    step /= common;
    if (step == 1 && ir_norm_least(length) >= 0)
        return length;
    int64_t out = step == 1 ? all / common : 1;
    ir_norm_divide(t, length, out, &length);
    return ir_norm_mul(t, ir_norm_const(t, out), trips_atom(t, length, ir_norm_const(t, step)));
}

ir_norm ir_norm_trips(ir_norms *t, const ir_op *loop)
{
    ir_norm step = ir_norm_of(t, ir_in(loop, 2));
    ir_norm length = ir_norm_add(t, ir_norm_of(t, ir_in(loop, 1)), ir_norm_of(t, ir_in(loop, 0)), -1);
    int64_t by, n;
    if (!ir_norm_is_const(step, &by) || by < 1)
        return trips_atom(t, length, step);
    if (ir_norm_is_const(length, &n))
        return ir_norm_const(t, n <= 0 ? 0 : (n - 1) / by + 1);
    return constant_step(t, length, by);
}
