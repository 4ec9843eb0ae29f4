// SPDX-License-Identifier: Apache-2.0
#include "ir/trace.h"

#include <string.h>

#include "ir/agree.h"

// ---- building ------------------------------------------------------------------------------------------

static pkc_str loop_key(ir_kernel *k, const ir_op *op)
{
    const char *part[3];
    for (int i = 0; i < 3; i++)
        part[i] = ir_norm_text(k, ir_norm_of(k, ir_in(op, i)));
    return pkc_session_str(k->session,
                           pkc_arena_printf(k->arena, "%s..%s step %s", part[0], part[1], part[2]));
}

static ir_trace *trace_op(ir_kernel *k, const ir_op *op, const ir_pipe *pipe)
{
    bool use = (op->kind == IR_PUT || op->kind == IR_GET) && (!pipe || op->attr.pipe == pipe);
    ir_trace *inner = op->n_reg ? ir_trace_of(k, &op->reg[0], pipe) : NULL;
    ir_trace *other = op->kind == IR_IF ? ir_trace_of(k, &op->reg[1], pipe) : NULL;
    if (!use && !inner && !other)
        return NULL;
    if (!use && (op->kind == IR_PUT || op->kind == IR_GET)) // another pipe's: only what stands in it counts
        return inner;
    ir_trace *t = PKC_NEW(k->arena, ir_trace);
    *t = (ir_trace){.kind = IR_TRACE_USE, .op = op, .inner = inner, .other = other};
    if (op->kind == IR_FOR) {
        t->kind = IR_TRACE_LOOP;
        t->key = loop_key(k, op);
        t->trips = ir_norm_trips(k, op);
    } else if (op->kind == IR_IF) {
        t->kind = IR_TRACE_IF;
        t->key = ir_norm_text(k, ir_norm_of(k, ir_in(op, 0)));
    }
    return t;
}

ir_trace *ir_trace_of(ir_kernel *k, const ir_region *region, const ir_pipe *pipe)
{
    ir_trace *first = NULL, **at = &first;
    for (const ir_op *op = region->first; op; op = op->next) {
        *at = trace_op(k, op, pipe);
        while (*at)
            at = &(*at)->next;
    }
    return first;
}

// ---- comparing -----------------------------------------------------------------------------------------

static bool same(const ir_trace *a, const ir_trace *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || a->key != b->key || !same(a->inner, b->inner) || !same(a->other, b->other))
            return false;
    return !a && !b;
}

/// How often a trace uses the pipe: a normal form, and a host expression where it is made of parameters.
typedef struct count {
    bool known;
    ir_norm norm;
    const ir_hx *host;
} count;

static count count_all(ir_kernel *k, const ir_trace *t);

static count times(ir_kernel *k, const ir_trace *loop, count body)
{
    count c = {0};
    const ir_op *op = loop->op;
    const ir_hx *lo = ir_host_of(k, ir_in(op, 0)), *hi = ir_host_of(k, ir_in(op, 1)),
                *step = ir_host_of(k, ir_in(op, 2));
    if (!body.known || ir_norm_mentions(body.norm, "loop"))
        return c;
    c.known = true;
    c.norm = ir_norm_mul(k, loop->trips, body.norm);
    if (lo && hi && step && body.host) {
        const ir_hx *trips = ir_hx_bin(k->arena, IR_HX_CDIV, ir_hx_bin(k->arena, IR_HX_SUB, hi, lo), step);
        trips = ir_hx_bin(k->arena, IR_HX_MAX, trips, ir_hx_const(k->arena, 0));
        c.host = ir_hx_bin(k->arena, IR_HX_MUL, trips, body.host);
    }
    return c;
}

static count count_one(ir_kernel *k, const ir_trace *t)
{
    count inner = count_all(k, t->inner);
    if (t->kind == IR_TRACE_LOOP)
        return times(k, t, inner);
    if (t->kind == IR_TRACE_IF) {
        count other = count_all(k, t->other);
        inner.known = inner.known && other.known && ir_norm_equal(inner.norm, other.norm);
        return inner;
    }
    if (!inner.known)
        return inner;
    inner.norm = ir_norm_add(k, inner.norm, ir_norm_const(k, 1), 1);
    inner.host = inner.host ? ir_hx_bin(k->arena, IR_HX_ADD, inner.host, ir_hx_const(k->arena, 1)) : NULL;
    return inner;
}

static count count_all(ir_kernel *k, const ir_trace *t)
{
    count sum = {true, ir_norm_const(k, 0), ir_hx_const(k->arena, 0)};
    for (; t; t = t->next) {
        count c = count_one(k, t);
        sum.known &= c.known;
        if (!sum.known)
            return sum;
        sum.norm = ir_norm_add(k, sum.norm, c.norm, 1);
        sum.host = sum.host && c.host ? ir_hx_bin(k->arena, IR_HX_ADD, sum.host, c.host) : NULL;
    }
    return sum;
}

/// Into loops and branches that both traces share as their only part: the counts are compared inside them.
static void descend(const ir_trace **a, const ir_trace **b)
{
    while (*a && *b && !(*a)->next && !(*b)->next && (*a)->kind == (*b)->kind && (*a)->kind != IR_TRACE_USE &&
           (*a)->key == (*b)->key && !(*a)->other && !(*b)->other) {
        *a = (*a)->inner;
        *b = (*b)->inner;
    }
}

// ---- judging -------------------------------------------------------------------------------------------

/// "K/64 times": the host expression as a person reads it.
static const char *in_words(ir_kernel *k, const count *c)
{
    int64_t n;
    if (ir_norm_is_const(c->norm, &n))
        return pkc_arena_printf(k->arena, n == 1 ? "once" : "%lld times", (long long)n);
    pkc_buf text = {0};
    if (c->host)
        ir_hx_print_text(c->host, &text);
    else
        pkc_buf_puts(&text, "another number of");
    const char *words = pkc_arena_printf(k->arena, "%s times", pkc_buf_cstr(&text));
    pkc_buf_free(&text);
    return words;
}

static void report_difference(ir_kernel *k, const ir_pipe *p, const ir_role *putter, const ir_role *getter,
                              const count *put, const count *get, const ir_trace *puts, const ir_trace *gets)
{
    pkc_span at = gets ? gets->op->pos : getter->pos;
    pkc_diag *d = pkc_diag_error(k->session, PKC_DIAG_COUNTS_DIFFER, at, putter->name, p->name,
                                 in_words(k, put), getter->name, in_words(k, get));
    pkc_diag_note(d, puts ? puts->op->pos : putter->pos, "'%s' is put here", p->name);
}

/// Whether two host expressions differ at every one of many sizes: then no ordinary launch could work, and it
/// is an error now.
static bool differ_everywhere(ir_kernel *k, const ir_hx *a, const ir_hx *b)
{
    enum { SAMPLES = 64 };
    for (uint32_t i = 0; i < SAMPLES; i++) {
        int64_t x, y;
        if (ir_hx_sample(a, i, &x) && ir_hx_sample(b, i, &y) && x == y)
            return false;
    }
    (void)k;
    return true;
}

static void require_equal(ir_kernel *k, const ir_pipe *p, const ir_role *putter, const ir_role *getter,
                          const count *put, const count *get)
{
    ir_require *r = PKC_NEW(k->arena, ir_require);
    r->expr = ir_hx_bin(k->arena, IR_HX_EQ, put->host, get->host);
    r->why = pkc_arena_printf(k->arena, "%s puts %s %s, %s gets it %s", putter->name, p->name,
                              in_words(k, put), getter->name, in_words(k, get));
    r->pos = p->pos;
    ir_require **at = &k->requires;
    while (*at)
        at = &(*at)->next;
    *at = r;
}

void ir_agree_pair(ir_kernel *k, const ir_pipe *p, const ir_role *putter, const ir_role *getter)
{
    const ir_trace *puts = ir_trace_of(k, putter->body, p), *gets = ir_trace_of(k, getter->body, p);
    int64_t difference;
    if (same(puts, gets))
        return;
    descend(&puts, &gets);
    count put = count_all(k, puts), get = count_all(k, gets);
    if (put.known && get.known && ir_norm_equal(put.norm, get.norm))
        return;
    bool differ = put.known && get.known &&
                  ir_norm_is_const(ir_norm_add(k, put.norm, get.norm, -1), &difference) && difference != 0;
    bool host = put.known && get.known && put.host && get.host;
    if (differ || (host && differ_everywhere(k, put.host, get.host))) {
        report_difference(k, p, putter, getter, &put, &get, puts, gets);
    } else if (host) {
        require_equal(k, p, putter, getter, &put, &get);
    } else {
        pkc_diag *d =
            pkc_diag_warning(k->session, PKC_DIAG_COUNTS_UNKNOWN, gets ? gets->op->pos : getter->pos,
                             putter->name, getter->name, p->name);
        pkc_diag_note(d, puts ? puts->op->pos : putter->pos, "'%s' is put here", p->name);
    }
}
