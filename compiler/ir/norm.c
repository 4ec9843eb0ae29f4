// SPDX-License-Identifier: Apache-2.0
#include "ir/norm.h"

#include <inttypes.h>
#include <string.h>

// ---- arithmetic of terms -------------------------------------------------------------------------------

typedef PKC_VEC(ir_term) term_list;

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a < 0 ? -a : a;
}

static ir_term reduced(ir_term t)
{
    int64_t g = gcd(t.num, t.den);
    if (g > 1) {
        t.num /= g;
        t.den /= g;
    }
    if (t.den < 0) {
        t.num = -t.num;
        t.den = -t.den;
    }
    return t;
}

static int compare_atoms(const ir_term *a, const ir_term *b)
{
    for (int i = 0; i < a->n && i < b->n; i++) {
        int c = a->atoms[i] == b->atoms[i] ? 0 : strcmp(a->atoms[i], b->atoms[i]);
        if (c)
            return c;
    }
    return a->n - b->n;
}

/// Adds a term to a sorted list, joining it with one of the same atoms.
static void insert_term(pkc_arena *arena, term_list *list, ir_term t)
{
    size_t at = 0;
    while (at < list->len && compare_atoms(&list->data[at], &t) < 0)
        at++;
    if (at < list->len && compare_atoms(&list->data[at], &t) == 0) {
        ir_term *s = &list->data[at];
        s->num = s->num * t.den + t.num * s->den;
        s->den *= t.den;
        *s = reduced(*s);
        if (s->num == 0) {
            memmove(s, s + 1, (list->len - at - 1) * sizeof *s);
            list->len--;
        }
        return;
    }
    if (t.num == 0)
        return;
    pkc_vec_push(arena, list, t);
    memmove(&list->data[at + 1], &list->data[at], (list->len - 1 - at) * sizeof t);
    list->data[at] = reduced(t);
}

static ir_norm from_list(const term_list *list)
{
    return (ir_norm){(int)list->len, list->data};
}

ir_norm ir_norm_add(ir_kernel *k, ir_norm a, ir_norm b, int64_t factor)
{
    term_list list = {0};
    for (int i = 0; i < a.n; i++)
        insert_term(k->arena, &list, a.terms[i]);
    for (int i = 0; i < b.n; i++) {
        ir_term t = b.terms[i];
        t.num *= factor;
        insert_term(k->arena, &list, t);
    }
    return from_list(&list);
}

static ir_norm atom(ir_kernel *k, pkc_str name)
{
    ir_term *t = PKC_NEW(k->arena, ir_term);
    *t = (ir_term){.num = 1, .den = 1, .n = 1, .atoms = {name}};
    return (ir_norm){1, t};
}

ir_norm ir_norm_const(ir_kernel *k, int64_t value)
{
    ir_term *t = PKC_NEW(k->arena, ir_term);
    *t = (ir_term){.num = value, .den = 1};
    return (ir_norm){value != 0, t};
}

static bool multiply(const ir_term *a, const ir_term *b, ir_term *out)
{
    if (a->n + b->n > IR_NORM_ATOMS)
        return false;
    *out = (ir_term){.num = a->num * b->num, .den = a->den * b->den, .n = a->n + b->n};
    int i = 0, j = 0;
    for (int n = 0; n < out->n; n++) {
        bool left = j == b->n || (i < a->n && strcmp(a->atoms[i], b->atoms[j]) <= 0);
        out->atoms[n] = left ? a->atoms[i++] : b->atoms[j++];
    }
    return true;
}

ir_norm ir_norm_mul(ir_kernel *k, ir_norm a, ir_norm b)
{
    term_list list = {0};
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < b.n; j++) {
            ir_term t;
            if (!multiply(&a.terms[i], &b.terms[j], &t)) {
                const char *text =
                    pkc_arena_printf(k->arena, "mul(%s,%s)", ir_norm_text(k, a), ir_norm_text(k, b));
                return atom(k, pkc_session_str(k->session, text));
            }
            insert_term(k->arena, &list, t);
        }
    return from_list(&list);
}

bool ir_norm_equal(ir_norm a, ir_norm b)
{
    if (a.n != b.n)
        return false;
    for (int i = 0; i < a.n; i++)
        if (compare_atoms(&a.terms[i], &b.terms[i]) != 0 || a.terms[i].num != b.terms[i].num ||
            a.terms[i].den != b.terms[i].den)
            return false;
    return true;
}

bool ir_norm_is_const(ir_norm a, int64_t *value)
{
    if (a.n > 1 || (a.n == 1 && (a.terms[0].n || a.terms[0].den != 1)))
        return false;
    *value = a.n ? a.terms[0].num : 0;
    return true;
}

pkc_str ir_norm_text(ir_kernel *k, ir_norm a)
{
    pkc_buf out = {0};
    if (a.n == 0)
        pkc_buf_putc(&out, '0');
    for (int i = 0; i < a.n; i++) {
        const ir_term *t = &a.terms[i];
        pkc_buf_printf(&out, "%s%" PRId64, i ? "+" : "", t->num);
        if (t->den != 1)
            pkc_buf_printf(&out, "/%" PRId64, t->den);
        for (int j = 0; j < t->n; j++)
            pkc_buf_printf(&out, "*%s", t->atoms[j]);
    }
    pkc_str text = pkc_session_str(k->session, pkc_buf_cstr(&out));
    pkc_buf_free(&out);
    return text;
}

bool ir_norm_mentions(ir_norm a, const char *prefix)
{
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.terms[i].n; j++)
            if (strstr(a.terms[i].atoms[j], prefix))
                return true;
    return false;
}

// ---- values --------------------------------------------------------------------------------------------

/// Loops around a region: names the loop's variable in every body alike.
static int loop_depth(const ir_region *region)
{
    int depth = 0;
    for (const ir_op *op = region->owner; op; op = op->parent->owner)
        depth += op->kind == IR_FOR;
    return depth;
}

static ir_norm named(ir_kernel *k, const char *text)
{
    return atom(k, pkc_session_str(k->session, text));
}

/// A carried value or a result of a region: known by its source name and place, which the bodies of all roles
/// share.
static ir_norm carried(ir_kernel *k, const ir_value *v)
{
    const ir_op *op = v->def ? v->def : v->owner->owner;
    const char *name = v->name ? v->name : "?";
    if (!v->name) // without a name nothing says that two are the same
        return named(k, pkc_arena_printf(k->arena, "value%p", (const void *)v));
    return named(
        k, pkc_arena_printf(k->arena, "%s:%s@%u", v->def ? "out" : "carry", name, op ? op->pos.begin : 0));
}

/// An operation that is no sum or product: an atom of its operands' normal forms.
static ir_norm operation(ir_kernel *k, const ir_op *op)
{
    pkc_buf text = {0};
    const char *sub = ir_sub_text(op->kind, op->sub);
    pkc_buf_printf(&text, "%s.%s", ir_op_text(op->kind), sub ? sub : "");
    if (op->attr.param)
        pkc_buf_printf(&text, "[%s%d]", op->attr.param->name, (int)op->attr.peer);
    for (int i = 0; i < op->n_in; i++)
        pkc_buf_printf(&text, "%c%s", i ? ',' : '(', ir_norm_text(k, ir_norm_of(k, ir_in(op, i))));
    pkc_buf_puts(&text, op->n_in ? ")" : "");
    ir_norm result = named(k, pkc_buf_cstr(&text));
    pkc_buf_free(&text);
    return result;
}

/// a / b where b is a constant that divides every coefficient.
static bool divide(ir_kernel *k, ir_norm a, int64_t by, ir_norm *out)
{
    for (int i = 0; i < a.n; i++)
        if (by == 0 || a.terms[i].den != 1 || a.terms[i].num % by != 0)
            return false;
    term_list list = {0};
    for (int i = 0; i < a.n; i++) {
        ir_term t = a.terms[i];
        t.num /= by;
        insert_term(k->arena, &list, t);
    }
    *out = from_list(&list);
    return by != 0;
}

static ir_norm binary(ir_kernel *k, const ir_op *op)
{
    ir_norm a = ir_norm_of(k, ir_in(op, 0)), b = ir_norm_of(k, ir_in(op, 1)), q;
    int64_t by;
    bool divides = op->sub == IR_BIN_DIV || op->sub == IR_BIN_CDIV;
    if (op->sub == IR_BIN_ADD || op->sub == IR_BIN_SUB)
        return ir_norm_add(k, a, b, op->sub == IR_BIN_ADD ? 1 : -1);
    if (op->sub == IR_BIN_MUL)
        return ir_norm_mul(k, a, b);
    if (divides && ir_norm_is_const(b, &by) && divide(k, a, by, &q))
        return q;
    return operation(k, op);
}

ir_norm ir_norm_of(ir_kernel *k, const ir_value *v)
{
    int64_t i;
    const ir_op *op = v->def;
    if (ir_const_int(v, &i))
        return ir_norm_const(k, i);
    if (!op && v->index == 0 && v->owner->owner && v->owner->owner->kind == IR_FOR)
        return named(k, pkc_arena_printf(k->arena, "loop%d.", loop_depth(v->owner)));
    if (!op || op->n_reg)
        return carried(k, v);
    if (op->kind == IR_DIM)
        return named(k, pkc_arena_printf(k->arena, "dim:%s", op->attr.name));
    return op->kind == IR_BIN && v->type->kind == IR_T_SCALAR && pkc_elem_class(v->type->elem) != 'f'
               ? binary(k, op)
               : operation(k, op);
}

ir_norm ir_norm_trips(ir_kernel *k, const ir_op *loop)
{
    ir_norm lo = ir_norm_of(k, ir_in(loop, 0)), hi = ir_norm_of(k, ir_in(loop, 1)),
            step = ir_norm_of(k, ir_in(loop, 2));
    ir_norm length = ir_norm_add(k, hi, lo, -1), q;
    int64_t by;
    if (ir_norm_is_const(step, &by) && divide(k, length, by, &q))
        return q;
    return named(k,
                 pkc_arena_printf(k->arena, "trips(%s,%s)", ir_norm_text(k, length), ir_norm_text(k, step)));
}

// ---- host expressions ----------------------------------------------------------------------------------

static const ir_hx *host_bin(ir_kernel *k, const ir_op *op)
{
    static const ir_hx_op map[IR_BIN_COUNT] = {
        [IR_BIN_ADD] = IR_HX_ADD, [IR_BIN_SUB] = IR_HX_SUB,   [IR_BIN_MUL] = IR_HX_MUL,
        [IR_BIN_DIV] = IR_HX_DIV, [IR_BIN_CDIV] = IR_HX_CDIV, [IR_BIN_MOD] = IR_HX_MOD,
        [IR_BIN_MIN] = IR_HX_MIN, [IR_BIN_MAX] = IR_HX_MAX,   [IR_BIN_AND] = IR_HX_AND,
        [IR_BIN_OR] = IR_HX_OR};
    const ir_hx *a = ir_host_of(k, ir_in(op, 0)), *b = ir_host_of(k, ir_in(op, 1));
    return a && b && map[op->sub] != IR_HX_CONST ? ir_hx_bin(k->arena, map[op->sub], a, b) : NULL;
}

const ir_hx *ir_host_of(ir_kernel *k, const ir_value *v)
{
    int64_t i;
    const ir_op *op = v->def;
    if (ir_const_int(v, &i))
        return ir_hx_const(k->arena, i);
    if (!op || v->type->kind != IR_T_SCALAR)
        return NULL;
    if (op->kind == IR_DIM)
        return ir_hx_dim(k->arena, op->attr.name);
    if (op->kind == IR_READ && op->sub == IR_READ_RANKS)
        return ir_hx_leaf(k->arena, IR_HX_RANKS);
    if (op->kind == IR_READ && op->sub == IR_READ_SMS)
        return ir_hx_leaf(k->arena, IR_HX_SMS);
    return op->kind == IR_BIN && pkc_elem_class(v->type->elem) != 'f' ? host_bin(k, op) : NULL;
}
