// SPDX-License-Identifier: Apache-2.0
// Whether puts and gets of a pipe agree: in structure, or in number around the innermost loop that both
// share.
#include <inttypes.h>

#include "ir/agree.h"

static bool same(const ir_trace *a, const ir_trace *b);

static bool same_node(const ir_trace *a, const ir_trace *b)
{
    return a->kind == b->kind && a->key == b->key && same(a->inner, b->inner) && same(a->other, b->other);
}

static bool same(const ir_trace *a, const ir_trace *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (!same_node(a, b))
            return false;
    return !a && !b;
}

// ---- counting ------------------------------------------------------------------------------------------

/// How often a trace uses the pipe: a normal form, and a host expression where it is made of parameters.
typedef struct count {
    bool known;
    ir_norm norm;
    const ir_hx *host;
} count;

static count count_all(ir_norms *t, const ir_trace *trace);

/// Host expressions that are not negative whatever the launch.
static bool natural(const ir_hx *a)
{
    int64_t v;
    if (ir_hx_is_const(a, &v))
        return v >= 0;
    bool leaf = a->op == IR_HX_DIM || a->op == IR_HX_RANKS || a->op == IR_HX_SMS;
    bool keeps = a->op == IR_HX_ADD || a->op == IR_HX_MUL || a->op == IR_HX_DIV || a->op == IR_HX_CDIV ||
                 a->op == IR_HX_MOD || a->op == IR_HX_MIN || a->op == IR_HX_MAX;
    return leaf || (keeps && natural(a->a) && natural(a->b));
}

static const ir_hx *host_trips(ir_norms *t, const ir_op *loop)
{
    pkc_arena *arena = t->k->arena;
    const ir_hx *lo = ir_host_of(t, ir_in(loop, 0)), *hi = ir_host_of(t, ir_in(loop, 1)),
                *step = ir_host_of(t, ir_in(loop, 2));
    if (!lo || !hi || !step)
        return NULL;
    const ir_hx *trips = ir_hx_bin(arena, IR_HX_CDIV, ir_hx_bin(arena, IR_HX_SUB, hi, lo), step);
    ir_norm span = ir_norm_add(t, ir_norm_of(t, ir_in(loop, 1)), ir_norm_of(t, ir_in(loop, 0)), -1);
    return ir_norm_least(span) >= 0 || natural(trips)
               ? trips
               : ir_hx_bin(arena, IR_HX_MAX, trips, ir_hx_const(arena, 0));
}

static int depth_of(const ir_op *loop)
{
    int depth = 0;
    for (const ir_op *op = loop; op; op = op->parent->owner)
        depth += op->kind == IR_FOR;
    return depth;
}

/// A count that may change from one iteration to the next is not multiplied.
static count times(ir_norms *t, const ir_trace *loop, count body)
{
    count c = {0};
    if (!body.known || ir_norm_depth(body.norm) >= depth_of(loop->op))
        return c;
    const ir_hx *trips = body.host ? host_trips(t, loop->op) : NULL;
    c.known = true;
    c.norm = ir_norm_mul(t, loop->norm, body.norm);
    c.host = trips ? ir_hx_bin(t->k->arena, IR_HX_MUL, trips, body.host) : NULL;
    return c;
}

/// Of an if: both arms by the condition, which is 0 or 1. The host does not compute conditions.
static count either(ir_norms *t, const ir_trace *branch)
{
    count a = count_all(t, branch->inner), b = count_all(t, branch->other);
    if (!a.known || !b.known)
        return (count){0};
    if (ir_norm_equal(a.norm, b.norm))
        return a;
    ir_norm more = ir_norm_mul(t, branch->norm, ir_norm_add(t, a.norm, b.norm, -1));
    return (count){true, ir_norm_add(t, b.norm, more, 1), NULL};
}

static count count_one(ir_norms *t, const ir_trace *trace)
{
    pkc_arena *arena = t->k->arena;
    if (trace->kind == IR_TRACE_LOOP)
        return times(t, trace, count_all(t, trace->inner));
    if (trace->kind == IR_TRACE_IF)
        return either(t, trace);
    count inner = count_all(t, trace->inner);
    if (!inner.known)
        return inner;
    inner.norm = ir_norm_add(t, inner.norm, ir_norm_const(t, 1), 1);
    inner.host = inner.host ? ir_hx_bin(arena, IR_HX_ADD, inner.host, ir_hx_const(arena, 1)) : NULL;
    return inner;
}

static count count_all(ir_norms *t, const ir_trace *trace)
{
    count sum = {true, ir_norm_const(t, 0), ir_hx_const(t->k->arena, 0)};
    for (; trace; trace = trace->next) {
        count c = count_one(t, trace);
        if (!c.known)
            return c;
        sum.norm = ir_norm_add(t, sum.norm, c.norm, 1);
        sum.host = sum.host && c.host ? ir_hx_bin(t->k->arena, IR_HX_ADD, sum.host, c.host) : NULL;
    }
    return sum;
}

/// Into loops and branches that both traces share as their only part: the counts are compared inside them.
static void descend(ir_trace **a, ir_trace **b)
{
    while (*a && *b && !(*a)->next && !(*b)->next && (*a)->kind == (*b)->kind && (*a)->kind != IR_TRACE_USE &&
           (*a)->key == (*b)->key && (!(*a)->inner == !(*b)->inner) && !((*a)->inner && (*a)->other) &&
           !((*b)->inner && (*b)->other)) {
        bool inner = (*a)->inner != NULL;
        *a = inner ? (*a)->inner : (*a)->other;
        *b = inner ? (*b)->inner : (*b)->other;
    }
}

static size_t length(const ir_trace *t)
{
    size_t n = 0;
    for (; t; t = t->next)
        n++;
    return n;
}

/// Takes the parts away with which both begin, and with which both end.
static void strip(ir_norms *t, ir_trace **a, ir_trace **b)
{
    for (; *a && *b && same_node(*a, *b); *a = (*a)->next)
        *b = (*b)->next;
    size_t n = length(*a), m = length(*b);
    ir_trace ***at = PKC_NEW_ARRAY(t->k->arena, ir_trace **, n + 1),
             ***bt = PKC_NEW_ARRAY(t->k->arena, ir_trace **, m + 1);
    for (size_t i = 0; i < n; i++)
        at[i] = i ? &(*at[i - 1])->next : a;
    for (size_t i = 0; i < m; i++)
        bt[i] = i ? &(*bt[i - 1])->next : b;
    for (; n && m && same_node(*at[n - 1], *bt[m - 1]); n--, m--)
        *at[n - 1] = *bt[m - 1] = NULL;
}

// ---- judging -------------------------------------------------------------------------------------------

static bool has_condition(ir_norm a)
{
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.terms[i].n; j++)
            if (a.terms[i].atoms[j]->truth)
                return true;
    return false;
}

/// "K / 64 times" as a person reads it.
static const char *in_words(ir_norms *t, const count *c)
{
    int64_t n;
    pkc_buf text = {0};
    if (!c->known)
        return "a varying number of times";
    if (has_condition(c->norm))
        return "where a condition holds";
    if (ir_norm_is_const(c->norm, &n))
        return pkc_arena_printf(t->k->arena, n == 1 ? "once" : "%" PRId64 " times", n);
    if (c->host)
        ir_hx_print_text(c->host, &text);
    else
        ir_norm_words(c->norm, &text);
    const char *words = pkc_arena_printf(t->k->arena, "%s times", pkc_buf_cstr(&text));
    pkc_buf_free(&text);
    return words;
}

/// One comparison: of which pipe, between whom, what was counted.
typedef struct pair {
    ir_norms *t;
    const ir_pipe *pipe;
    const ir_role *putter, *getter;
    ir_trace *puts, *gets;
    count put, get;
} pair;

static void note_puts(const pair *p, pkc_diag *d)
{
    pkc_diag_note(d, p->puts ? p->puts->op->pos : p->putter->pos, "'%s' is put here", p->pipe->name);
}

static void report_difference(const pair *p)
{
    pkc_span at = p->gets ? p->gets->op->pos : p->getter->pos;
    pkc_diag *d = pkc_diag_error(p->t->k->session, PKC_DIAG_COUNTS_DIFFER, at, p->putter->name, p->pipe->name,
                                 in_words(p->t, &p->put), p->getter->name, in_words(p->t, &p->get));
    note_puts(p, d);
    pkc_diag_help(
        d,
        "each slot that '%s' puts is got once by '%s': let both loops run equally often, or get several "
        "slots in one iteration",
        p->putter->name, p->getter->name);
}

static void warn(const pair *p)
{
    pkc_span at = p->gets ? p->gets->op->pos : p->getter->pos;
    pkc_diag *d = pkc_diag_warning(p->t->k->session, PKC_DIAG_COUNTS_UNKNOWN, at, p->putter->name,
                                   p->getter->name, p->pipe->name);
    note_puts(p, d);
    pkc_diag_note(d, (pkc_span){0}, "%s puts it %s, %s gets it %s", p->putter->name, in_words(p->t, &p->put),
                  p->getter->name, in_words(p->t, &p->get));
    pkc_diag_help(d, "write the same bounds and conditions around both, or compute them outside the roles");
}

/// Whether two host expressions differ at every one of many sizes: then no ordinary launch could work, and it
/// is an error now. A number that was written out may be meant for the one size that fits it; once is rather
/// a forgotten loop.
static bool differ_everywhere(const ir_hx *a, const ir_hx *b)
{
    int64_t n;
    if ((ir_hx_is_const(a, &n) || ir_hx_is_const(b, &n)) && n > 1)
        return false;
    for (uint32_t i = 0; i < IR_HX_SAMPLES; i++) {
        int64_t x, y;
        if (ir_hx_sample(a, i, &x) && ir_hx_sample(b, i, &y) && x == y)
            return false;
    }
    return true;
}

static void require_equal(const pair *p)
{
    ir_kernel *k = p->t->k;
    ir_require *r = PKC_NEW(k->arena, ir_require);
    r->expr = ir_hx_bin(k->arena, IR_HX_EQ, p->put.host, p->get.host);
    r->why = pkc_arena_printf(k->arena, "%s puts %s %s, %s gets it %s", p->putter->name, p->pipe->name,
                              in_words(p->t, &p->put), p->getter->name, in_words(p->t, &p->get));
    r->pos = p->pipe->pos;
    ir_require **at = &k->requires;
    for (; *at; at = &(*at)->next)
        if (ir_hx_equal((*at)->expr, r->expr))
            return;
    *at = r;
}

/// Where the whole cannot be counted: whether what is left beside the parts that both share can, and is
/// equal.
static bool rest_agrees(const pair *p)
{
    ir_trace *puts = p->puts, *gets = p->gets;
    strip(p->t, &puts, &gets);
    count put = count_all(p->t, puts), get = count_all(p->t, gets);
    return put.known && get.known && ir_norm_equal(put.norm, get.norm);
}

void ir_agree_pair(ir_norms *t, const ir_pipe *pipe, const ir_agent *putter, const ir_agent *getter)
{
    pair p = {t,
              pipe,
              putter->role,
              getter->role,
              ir_trace_for(t, putter->trace, pipe),
              ir_trace_for(t, getter->trace, pipe),
              {0},
              {0}};
    int64_t difference;
    if (same(p.puts, p.gets))
        return;
    descend(&p.puts, &p.gets);
    p.put = count_all(t, p.puts);
    p.get = count_all(t, p.gets);
    bool known = p.put.known && p.get.known, host = known && p.put.host && p.get.host;
    if (known ? ir_norm_equal(p.put.norm, p.get.norm) : rest_agrees(&p))
        return;
    bool differ = known && ir_norm_is_const(ir_norm_add(t, p.put.norm, p.get.norm, -1), &difference);
    if (differ || (host && differ_everywhere(p.put.host, p.get.host)))
        report_difference(&p);
    else if (host)
        require_equal(&p);
    else
        warn(&p);
}
