// SPDX-License-Identifier: Apache-2.0
// What can be known of signals and ranks before a launch: waits that nothing ends, signals that nobody waits
// for, and indices of signals and ranks that lie outside. Only what no size and no condition can excuse is an
// error; where nothing is known nothing is said, and the simulator sees what happens.
#include "ir/agree.h"

typedef struct checker {
    ir_norms *t;
    ir_kernel *k;
    const ir_op **waits, **signals; // by parameter: the first of each
} checker;

// ---- who signals, who waits
// ----------------------------------------------------------------------------------

static bool note_use(ir_op *op, void *user)
{
    checker *c = user;
    if (op->kind != IR_SIGNAL && op->kind != IR_WAIT)
        return true;
    const ir_op **first = op->kind == IR_WAIT ? c->waits : c->signals;
    int param = ir_in(op, 0)->def->attr.param->index;
    first[param] = first[param] ? first[param] : op;
    return true;
}

static void check_partners(const checker *c)
{
    for (int i = 0; i < c->k->n_params; i++) {
        const ir_param *p = &c->k->params[i];
        if (c->waits[i] && !c->signals[i]) {
            pkc_diag *d = pkc_diag_error(c->k->session, PKC_DIAG_NO_SIGNALLER, c->waits[i]->pos, p->name);
            pkc_diag_note(d, p->pos, "'%s' is declared here", p->name);
            pkc_diag_help(d, "signal(%s@r[..], n) adds to a counter of rank r, signal_all(%s[..], n) to all",
                          p->name, p->name);
        } else if (c->signals[i] && !c->waits[i]) {
            pkc_diag *d = pkc_diag_warning(c->k->session, PKC_DIAG_NOBODY_WAITS, c->signals[i]->pos, p->name);
            pkc_diag_note(d, p->pos, "'%s' is declared here", p->name);
        }
    }
}

// ---- how far an index reaches
// ------------------------------------------------------------------------------

enum { MAX_NEST = 64 };

static const ir_hx *reach(const checker *c, const ir_value *v, int nest);

static const ir_hx *less_one(const checker *c, const ir_hx *a)
{
    pkc_arena *arena = c->k->arena;
    return a ? ir_hx_bin(arena, IR_HX_SUB, a, ir_hx_const(arena, 1)) : NULL;
}

static bool constant(const ir_value *v, int64_t *value)
{
    *value = v->def && v->def->kind == IR_CONST ? v->def->attr.i : 0;
    return v->def && v->def->kind == IR_CONST;
}

/// Sums, and products and quotients by constants that keep the order.
static const ir_hx *reach_bin(const checker *c, const ir_op *op, int nest)
{
    pkc_arena *arena = c->k->arena;
    int64_t by;
    bool by_constant = constant(ir_in(op, 1), &by);
    const ir_hx *a = reach(c, ir_in(op, 0), nest), *b = ir_hx_const(arena, by);
    switch ((int)op->sub) {
    case IR_BIN_ADD:
        b = reach(c, ir_in(op, 1), nest);
        return a && b ? ir_hx_bin(arena, IR_HX_ADD, a, b) : NULL;
    case IR_BIN_SUB:
        return a && by_constant ? ir_hx_bin(arena, IR_HX_SUB, a, b) : NULL;
    case IR_BIN_MUL:
        return a && by_constant && by > 0 ? ir_hx_bin(arena, IR_HX_MUL, a, b) : NULL;
    case IR_BIN_DIV:
        return a && by_constant && by > 0 ? ir_hx_bin(arena, IR_HX_DIV, a, b) : NULL;
    }
    return NULL;
}

/// The largest value that an index takes, for any worker and rank and in every loop around it, as a host
/// expression; NULL where it is not known or may never be taken.
static const ir_hx *reach(const checker *c, const ir_value *v, int nest)
{
    pkc_arena *arena = c->k->arena;
    const ir_hx *host = ir_host_of(c->t, v);
    if (host || nest == 0)
        return host;
    if (!v->def) { // a region's argument: the first of a loop's is its variable
        const ir_op *loop = v->owner ? v->owner->owner : NULL;
        int64_t step;
        bool counts =
            loop && loop->kind == IR_FOR && v->index == 0 && constant(ir_in(loop, 2), &step) && step == 1;
        return counts ? less_one(c, reach(c, ir_in(loop, 1), nest - 1)) : NULL;
    }
    if (v->def->kind == IR_READ && v->def->sub == IR_READ_RANK)
        return less_one(c, ir_hx_leaf(arena, IR_HX_RANKS));
    return v->def->kind == IR_BIN ? reach_bin(c, v->def, nest - 1) : NULL;
}

/// Whether the index is the count or beyond it, by the same number at every size that is tried. One that
/// varies may be right for the sizes that the kernel is meant for.
static bool beyond(const ir_hx *index, const ir_hx *count)
{
    int64_t by = 0;
    for (uint32_t seed = 0; seed < IR_HX_SAMPLES; seed++) {
        int64_t i, n;
        if (!ir_hx_sample(index, seed, &i) || !ir_hx_sample(count, seed, &n) || (seed > 0 && i - n != by))
            return false;
        by = i - n;
    }
    return by >= 0;
}

/// In a branch an index may be kept inside by the condition.
static bool in_branch(const ir_op *op)
{
    for (const ir_op *around = op->parent->owner; around; around = around->parent->owner)
        if (around->kind == IR_IF)
            return true;
    return false;
}

static void check_index(const checker *c, const ir_op *op, int axis)
{
    const ir_param *p = op->attr.param;
    const ir_hx *index = reach(c, ir_in(op, axis + (op->attr.peer == IR_PEER_RANK)), MAX_NEST);
    if (!index || !beyond(index, p->dims[axis]))
        return;
    pkc_buf at = {0}, count = {0};
    ir_hx_print_text(index, &at);
    ir_hx_print_text(p->dims[axis], &count);
    pkc_diag *d = pkc_diag_error(c->k->session, PKC_DIAG_SIGNAL_RANGE, op->pos, axis, p->name,
                                 pkc_buf_cstr(&at), pkc_buf_cstr(&count));
    pkc_diag_note(d, p->pos, "'%s' is declared here", p->name);
    pkc_buf_free(&at);
    pkc_buf_free(&count);
}

static void report_rank(const checker *c, const ir_op *op, const char *what)
{
    pkc_diag *d = pkc_diag_error(c->k->session, PKC_DIAG_RANK_RANGE, op->pos, what);
    pkc_diag_help(d, "go round with the remainder: (rank + 1) %% ranks, (rank + ranks - 1) %% ranks");
}

/// rank - n: rank 0 has none before it.
static bool before_first(const ir_value *rank)
{
    int64_t n;
    const ir_op *op = rank->def;
    if (constant(rank, &n))
        return n < 0;
    return op && op->kind == IR_BIN && op->sub == IR_BIN_SUB && ir_in(op, 0)->def &&
           ir_in(op, 0)->def->kind == IR_READ && ir_in(op, 0)->def->sub == IR_READ_RANK &&
           constant(ir_in(op, 1), &n) && n > 0;
}

/// A rank that is named by its number must be there.
static void require_ranks(const checker *c, const ir_op *op, int64_t rank)
{
    ir_kernel *k = c->k;
    const ir_hx *there =
        ir_hx_bin(k->arena, IR_HX_LT, ir_hx_const(k->arena, rank), ir_hx_leaf(k->arena, IR_HX_RANKS));
    ir_require **at = &k->requires;
    for (; *at; at = &(*at)->next)
        if (ir_hx_equal((*at)->expr, there))
            return;
    *at = PKC_NEW(k->arena, ir_require);
    **at = (ir_require){there, pkc_arena_printf(k->arena, "the kernel uses rank %lld", (long long)rank),
                        op->pos, NULL};
}

static void check_rank(const checker *c, const ir_op *op)
{
    const ir_value *rank = ir_in(op, 0);
    const ir_hx *most = reach(c, rank, MAX_NEST);
    int64_t n;
    if (before_first(rank)) {
        report_rank(c, op, "goes below 0");
    } else if (constant(rank, &n) && n > 0) {
        require_ranks(c, op, n);
    } else if (most && beyond(most, ir_hx_leaf(c->k->arena, IR_HX_RANKS))) {
        pkc_buf text = {0};
        ir_hx_print_text(most, &text);
        report_rank(c, op, pkc_arena_printf(c->k->arena, "reaches %s", pkc_buf_cstr(&text)));
        pkc_buf_free(&text);
    }
}

static bool check_op(ir_op *op, void *user)
{
    const checker *c = user;
    if ((op->kind != IR_SIG && op->kind != IR_VIEW) || in_branch(op))
        return true;
    if (op->attr.peer == IR_PEER_RANK)
        check_rank(c, op);
    for (int axis = 0; op->kind == IR_SIG && axis < op->attr.param->n_dims; axis++)
        check_index(c, op, axis);
    return true;
}

void ir_check_signals(ir_norms *t)
{
    ir_kernel *k = t->k;
    size_t n = (size_t)k->n_params + 1;
    checker c = {.t = t, .k = k};
    c.waits = PKC_NEW_ARRAY(k->arena, const ir_op *, n);
    c.signals = PKC_NEW_ARRAY(k->arena, const ir_op *, n);
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next) {
            ir_walk(r->body, note_use, NULL, &c);
            ir_walk(r->body, check_op, NULL, &c);
        }
    check_partners(&c);
}
