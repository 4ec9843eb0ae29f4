// SPDX-License-Identifier: Apache-2.0
// Counters and ranks: waits that nothing ends, signals that nobody waits for, counters beyond the end of
// their array, ranks that are none. What can be known is an error here; what depends on the sizes of a launch
// becomes a requirement that the host checks.
#include "ir/agree.h"
#include "ir/extent.h"

typedef struct checker {
    ir_kernel *k;
    ir_norms *t;
    PKC_VEC(const ir_op *) signals, waits;
} checker;

static const ir_op *counter_of(const ir_op *op)
{
    return ir_in(op, 0)->def;
}

static int first_index(const ir_op *op)
{
    return op->attr.peer == IR_PEER_RANK ? 1 : 0;
}

/// Where to point: at the operand where it was written there, otherwise at the whole.
static pkc_span place_of(const ir_op *op, int operand)
{
    const ir_op *def = ir_in(op, operand)->def;
    bool inside = def && def->pos.file == op->pos.file && def->pos.begin >= op->pos.begin &&
                  def->pos.end <= op->pos.end;
    return inside ? def->pos : op->pos;
}

static const char *words(checker *c, ir_norm a)
{
    pkc_buf out = {0};
    ir_norm_words(a, &out);
    const char *kept = pkc_arena_printf(c->k->arena, "%s", pkc_buf_cstr(&out));
    pkc_buf_free(&out);
    return kept;
}

// ---- who signals and who waits -------------------------------------------------------------------------

/// The two may mean one counter: no axis has two different constants.
static bool may_meet(checker *c, const ir_op *a, const ir_op *b)
{
    int64_t x, y;
    if (a->attr.param != b->attr.param)
        return false;
    for (int i = 0; i < a->attr.param->n_dims; i++)
        if (ir_norm_is_const(ir_norm_of(c->t, ir_in(a, first_index(a) + i)), &x) &&
            ir_norm_is_const(ir_norm_of(c->t, ir_in(b, first_index(b) + i)), &y) && x != y)
            return false;
    return true;
}

/// A wait for 0 is met as it stands.
static bool waits_for_nothing(checker *c, const ir_op *wait)
{
    int64_t n;
    return ir_norm_is_const(ir_norm_of(c->t, ir_in(wait, 1)), &n) && n <= 0;
}

static void check_wait(checker *c, const ir_op *wait)
{
    const ir_op *counter = counter_of(wait), *other = NULL;
    for (size_t i = 0; i < c->signals.len; i++) {
        const ir_op *signal = counter_of(c->signals.data[i]);
        if (may_meet(c, counter, signal))
            return;
        if (signal->attr.param == counter->attr.param && !other)
            other = c->signals.data[i];
    }
    if (waits_for_nothing(c, wait))
        return;
    pkc_diag *d = pkc_diag_error(c->k->session, PKC_DIAG_NO_SIGNALLER, wait->pos, counter->attr.param->name);
    if (other)
        pkc_diag_note(d, other->pos, "this signals another counter of '%s'", counter->attr.param->name);
    pkc_diag_note(d, counter->attr.param->pos, "'%s' is declared here", counter->attr.param->name);
    pkc_diag_help(d, "signal(%s@r[..], n) adds to a counter of rank r, signal_all(%s[..], n) to all",
                  counter->attr.param->name, counter->attr.param->name);
}

/// Data that is announced and that nobody waits for is read too early, or the signal is left over.
static void check_signal(checker *c, const ir_op *signal)
{
    const ir_param *p = counter_of(signal)->attr.param;
    for (size_t i = 0; i < c->waits.len; i++)
        if (counter_of(c->waits.data[i])->attr.param == p)
            return;
    for (size_t i = 0; c->signals.data[i] != signal; i++) // one warning an array
        if (counter_of(c->signals.data[i])->attr.param == p)
            return;
    pkc_diag *d = pkc_diag_warning(c->k->session, PKC_DIAG_NOBODY_WAITS, signal->pos, p->name);
    pkc_diag_note(d, p->pos, "'%s' is declared here", p->name);
    pkc_diag_help(d, "whoever uses what it announces waits first: wait(%s[..], n)", p->name);
}

// ---- bounds --------------------------------------------------------------------------------------------

/// An index of a counter, or a rank, with what it may be and where it stands.
typedef struct bound {
    const ir_op *op;
    int operand, axis; // axis -1: a rank
    ir_stand stand;
    ir_norm index, count; // 0 .. count - 1
} bound;

static void report_bound(checker *c, const bound *b, ir_norm reached, bool below)
{
    const ir_param *p = b->op->attr.param;
    pkc_span at = place_of(b->op, b->operand);
    if (b->axis >= 0) {
        pkc_diag *d = pkc_diag_error(c->k->session, PKC_DIAG_SIGNAL_RANGE, at, b->axis, p->name,
                                     words(c, reached), words(c, b->count));
        pkc_diag_note(d, p->pos, "'%s' is declared here", p->name);
        return;
    }
    const char *what =
        below ? "goes below 0" : pkc_arena_printf(c->k->arena, "reaches %s", words(c, reached));
    pkc_diag *d = pkc_diag_error(c->k->session, PKC_DIAG_RANK_RANGE, at, what);
    pkc_diag_help(d, "go round with the remainder: (rank + 1) %% ranks, (rank + ranks - 1) %% ranks");
}

/// The remainder of something below zero is below zero: `(rank - 1) % ranks` on rank 0.
static bool remainder_below(checker *c, const bound *b)
{
    ir_norm a = b->index, low;
    const ir_atom *atom =
        a.n == 1 && a.terms[0].n == 1 && a.terms[0].factor == 1 ? a.terms[0].atoms[0] : NULL;
    const ir_op *op = atom && atom->value ? atom->value->def : NULL;
    if (!op || op->kind != IR_BIN || op->sub != IR_BIN_MOD || !b->stand.always)
        return false;
    if (!ir_norm_equal(atom->args[1], b->count) || !ir_extent(c->t, &b->stand, atom->args[0], false, &low))
        return false;
    int64_t n;
    if (!ir_norm_is_const(low, &n) || n != -1)
        return false;
    report_bound(c, b, low, true);
    return true;
}

static ir_norm minus(checker *c, ir_norm a, ir_norm b)
{
    return ir_norm_add(c->t, a, b, -1);
}

static const char *requirement(checker *c, const bound *b, ir_norm high)
{
    pkc_arena *a = c->k->arena;
    if (b->axis < 0)
        return pkc_arena_printf(a, "the kernel uses rank %s", words(c, high));
    return pkc_arena_printf(a, "index %d of %s reaches %s, and there are %s", b->axis,
                            b->op->attr.param->name, words(c, high), words(c, b->count));
}

/// A requirement that the largest index is below the count, unless a loop around it is empty.
static void require_bound(checker *c, const bound *b, ir_norm high)
{
    pkc_arena *a = c->k->arena;
    bool known;
    const ir_hx *most = ir_host_of_norm(c->t, high), *count = ir_host_of_norm(c->t, b->count);
    const ir_hx *empty = ir_stand_empty(c->t, &b->stand, &known);
    if (!most || !count || !known)
        return;
    const ir_hx *fits = ir_hx_bin(a, IR_HX_LT, most, count);
    fits = empty ? ir_hx_bin(a, IR_HX_OR, empty, fits) : fits;
    ir_require **at = &c->k->requires;
    for (; *at; at = &(*at)->next)
        if (ir_hx_equal((*at)->expr, fits))
            return;
    *at = PKC_NEW(a, ir_require);
    **at = (ir_require){.expr = fits, .pos = place_of(b->op, b->operand)};
    (*at)->why = requirement(c, b, high);
}

static void check_bound(checker *c, const bound *b)
{
    ir_norm low, high;
    bool lower = ir_extent(c->t, &b->stand, b->index, false, &low);
    bool upper = ir_extent(c->t, &b->stand, b->index, true, &high);
    ir_norm minus_one = ir_norm_const(c->t, -1);
    if (remainder_below(c, b))
        return;
    // Where it stands under a condition, only what lies outside whatever the condition lets through.
    ir_norm *least = b->stand.always ? &high : &low, *most = b->stand.always ? &low : &high;
    if ((b->stand.always ? upper : lower) && ir_norm_least(minus(c, *least, b->count)) >= 0)
        report_bound(c, b, *least, false);
    else if ((b->stand.always ? lower : upper) && ir_norm_least(minus(c, minus_one, *most)) >= 0)
        report_bound(c, b, *most, true);
    else if (upper && b->stand.always &&
             ir_norm_least(minus(c, minus(c, b->count, high), ir_norm_const(c->t, 1))) < 0)
        require_bound(c, b, high);
}

static void check_indices(checker *c, const ir_op *op)
{
    const ir_param *p = op->attr.param;
    bound b = {.op = op, .stand = ir_stand_of(c->t, op)};
    for (int i = 0; i < p->n_dims; i++) {
        if (!ir_norm_of_host(c->t, p->dims[i], &b.count))
            continue;
        b.operand = first_index(op) + i;
        b.index = ir_norm_of(c->t, ir_in(op, b.operand));
        b.axis = i;
        check_bound(c, &b);
    }
}

static void check_rank(checker *c, const ir_op *op)
{
    bound b = {.op = op, .stand = ir_stand_of(c->t, op), .axis = -1};
    b.index = ir_norm_of(c->t, ir_in(op, 0));
    if (ir_norm_of_host(c->t, ir_hx_leaf(c->k->arena, IR_HX_RANKS), &b.count))
        check_bound(c, &b);
}

// ---- all bodies ----------------------------------------------------------------------------------------

static bool visit(ir_op *op, void *user)
{
    checker *c = user;
    if (op->kind == IR_SIGNAL)
        pkc_vec_push(c->k->arena, &c->signals, op);
    if (op->kind == IR_WAIT)
        pkc_vec_push(c->k->arena, &c->waits, op);
    if (op->kind == IR_SIG)
        check_indices(c, op);
    if ((op->kind == IR_SIG || op->kind == IR_VIEW) && op->attr.peer == IR_PEER_RANK)
        check_rank(c, op);
    return true;
}

void ir_check_signals(ir_norms *t)
{
    checker c = {.k = t->k, .t = t};
    for (ir_group *g = c.k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next)
            ir_walk(r->body, visit, NULL, &c);
    for (size_t i = 0; i < c.waits.len; i++)
        check_wait(&c, c.waits.data[i]);
    for (size_t i = 0; i < c.signals.len; i++)
        check_signal(&c, c.signals.data[i]);
}
