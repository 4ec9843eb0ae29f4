// SPDX-License-Identifier: Apache-2.0
// Products as batches, and the first one of a sum overwriting its accumulator.
//
// An accumulator that is a carry of a loop, starts as zeros, and is touched by nothing but products until the
// first one, needs no zeros: a flag carried beside it is true until a product has been issued, and the
// product overwrites while it is. After the loop the flag tells whether there was none; then the zeros are
// made.
#include "ir/flight.h"
#include "ir/ptrmap.h"
#include "support/vec.h"

/// A loop carry (or result of an if) with the number of its flag.
typedef struct flagged {
    ir_op *op;
    int index, flag;
} flagged;

typedef struct issuer {
    ir_flight *f;
    PKC_VEC(flagged) flags;
} issuer;

static bool is_zero_splat(const ir_value *v)
{
    int64_t i;
    double x;
    if (v->def == NULL || v->def->kind != IR_SPLAT)
        return false;
    const ir_value *scalar = ir_in(v->def, 0);
    return (ir_const_int(scalar, &i) && i == 0) || (ir_const_float(scalar, &x) && x == 0.0);
}

static ir_value *build_poison(ir_builder *b, const ir_type *type)
{
    return &ir_build(b, IR_POISON, 0, 0, NULL, 1, &type, 0)->out[0];
}

static ir_builder at_op(ir_kernel *k, ir_op *before, pkc_span pos)
{
    return (ir_builder){.kernel = k, .region = before->parent, .before = before, .pos = pos};
}

/// Builder at the end of a region, before its yield.
static ir_builder at_end(ir_kernel *k, ir_region *region, pkc_span pos)
{
    ir_op *last = region->last;
    ir_op *before = last != NULL && last->kind == IR_YIELD ? last : NULL;
    return (ir_builder){.kernel = k, .region = region, .before = before, .pos = pos};
}

// ---- accumulators
// --------------------------------------------------------------------------------------------

typedef struct acc_check {
    ir_ptrmap seen;
} acc_check;

static bool acc_only(acc_check *c, const ir_value *v);

static bool yield_ok(acc_check *c, const ir_op *yield, int index)
{
    ir_op *owner = yield->parent->owner;
    if (owner == NULL)
        return false;
    if (owner->kind == IR_FOR && !acc_only(c, &owner->reg[0].args[1 + index]))
        return false;
    return acc_only(c, &owner->out[index]);
}

static bool use_ok(acc_check *c, const ir_use *u)
{
    const ir_op *op = u->user;
    if (op->kind == IR_MMA_ISSUE || op->kind == IR_MMA)
        return u->index == 0;
    if (op->kind == IR_YIELD)
        return yield_ok(c, op, u->index);
    if (op->kind == IR_FOR && u->index >= 3)
        return acc_only(c, &op->reg[0].args[u->index - 2]) && acc_only(c, &op->out[u->index - 3]);
    return false;
}

static bool acc_only(acc_check *c, const ir_value *v)
{
    static const char mark; // only its address is used
    if (ir_ptrmap_get(&c->seen, v) != NULL)
        return true;
    ir_ptrmap_set(&c->seen, v, (void *)&mark);
    for (const ir_use *u = v->uses; u != NULL; u = u->next)
        if (!use_ok(c, u))
            return false;
    return true;
}

bool ir_flight_acc_only(ir_kernel *k, const ir_value *v)
{
    acc_check c;
    ir_ptrmap_init(&c.seen, k->arena);
    return acc_only(&c, v);
}

/// Like acc_only of the loop's argument, but what leaves the loop as its own result may be used freely.
static bool can_start_poisoned(ir_kernel *k, ir_op *loop, int index)
{
    acc_check c;
    ir_ptrmap_init(&c.seen, k->arena);
    ir_ptrmap_set(&c.seen, &loop->out[index], loop);
    return acc_only(&c, &loop->reg[0].args[1 + index]);
}

static bool list_has_mma(const ir_region *region)
{
    for (const ir_op *op = region->first; op != NULL; op = op->next) {
        if (op->kind == IR_MMA_ISSUE)
            return true;
        for (int r = 0; r < op->n_reg; r++)
            if (list_has_mma(&op->reg[r]))
                return true;
    }
    return false;
}

// ---- flags
// ---------------------------------------------------------------------------------------------------

static int flag_of(const issuer *s, const ir_op *op, int index)
{
    for (size_t i = 0; i < s->flags.len; i++)
        if (s->flags.data[i].op == op && s->flags.data[i].index == index)
            return s->flags.data[i].flag;
    return -1;
}

static ir_value *flag_before(issuer *s, const ir_value *v, ir_builder *b);

static void add_flag(issuer *s, ir_op *op, int index, int flag)
{
    flagged entry = {op, index, flag};
    pkc_vec_push(s->f->k->arena, &s->flags, entry);
}

/// Gives an if beside result `index` a flag: each branch's own.
static ir_value *flag_if(issuer *s, ir_op *op, int index)
{
    ir_kernel *k = s->f->k;
    ir_add_carry(k, op, NULL, ir_type_scalar(k, PKC_E_BOOL));
    int flag = op->n_out - 1;
    add_flag(s, op, index, flag);
    for (int r = 0; r < op->n_reg; r++) {
        ir_builder b = at_end(k, &op->reg[r], op->pos);
        ir_set_yield(k, op, r, flag, flag_before(s, ir_yielded(&op->reg[r], index), &b));
    }
    return &op->out[flag];
}

/// Gives a loop beside carry `index` a flag that starts as `init`.
static void flag_for(issuer *s, ir_op *op, int index, ir_value *init)
{
    ir_kernel *k = s->f->k;
    ir_add_carry(k, op, init, ir_type_scalar(k, PKC_E_BOOL));
    int flag = op->n_out - 1;
    add_flag(s, op, index, flag);
    ir_builder b = at_end(k, &op->reg[0], op->pos);
    ir_set_yield(k, op, 0, flag, flag_before(s, ir_yielded(&op->reg[0], index), &b));
}

/// The flag of an accumulator: true while no product has been added to it. `b` is where a constant may be
/// built.
static ir_value *flag_before(issuer *s, const ir_value *v, ir_builder *b)
{
    if (v->owner != NULL && v->owner->owner != NULL) {
        int flag = flag_of(s, v->owner->owner, v->index - 1);
        if (flag >= 0)
            return &v->owner->args[1 + flag];
    }
    if (v->def != NULL && (v->def->kind == IR_IF || v->def->kind == IR_FOR)) {
        int flag = flag_of(s, v->def, v->index);
        if (flag >= 0)
            return &v->def->out[flag];
        if (v->def->kind == IR_IF)
            return flag_if(s, v->def, v->index);
        // A loop inside: its carry starts with the flag of what it starts with.
        ir_builder at = at_op(s->f->k, v->def, v->def->pos);
        flag_for(s, v->def, v->index, flag_before(s, ir_in(v->def, 3 + v->index), &at));
        return &v->def->out[flag_of(s, v->def, v->index)];
    }
    return ir_build_int(b, PKC_E_BOOL, 0);
}

/// Zeros after a loop that may have run without a product, else the sum, which is waited for.
static void guard_result(issuer *s, ir_op *loop, int index)
{
    ir_kernel *k = s->f->k;
    PKC_VEC(ir_use *) uses = {0};
    for (ir_use *u = loop->out[index].uses; u != NULL; u = u->next)
        pkc_vec_push(k->arena, &uses, u);
    if (uses.len == 0)
        return;
    ir_value *sum = &loop->out[index], *none = &loop->out[flag_of(s, loop, index)];
    ir_op *wait = ir_flight_mma_wait(k, loop->next, loop->pos, 0, 1, &sum);
    ir_builder b = at_op(k, wait->next, loop->pos);
    b.region = loop->parent;
    ir_op *choice = ir_build_if(&b, none, 1, &sum->type);
    ir_builder then = {.kernel = k, .region = &choice->reg[0], .pos = loop->pos};
    ir_value *zero = pkc_elem_class(sum->type->elem) == 'f' ? ir_build_float(&then, sum->type->elem, 0.0)
                                                            : ir_build_int(&then, sum->type->elem, 0);
    ir_value *zeros = &ir_build(&then, IR_SPLAT, 0, 1, &zero, 1, &sum->type, 0)->out[0];
    ir_set_yield(k, choice, 0, 0, zeros);
    ir_set_yield(k, choice, 1, 0, &wait->out[0]);
    for (size_t i = 0; i < uses.len; i++)
        ir_set_in(uses.data[i]->user, uses.data[i]->index, &choice->out[0]);
    choice->out[0].name = sum->name;
}

static bool runs_at_least_once(const ir_op *loop)
{
    int64_t lo, hi;
    return ir_const_int(ir_in(loop, 0), &lo) && ir_const_int(ir_in(loop, 1), &hi) && lo < hi;
}

/// Sets the overwrite flags of the products whose accumulators come from the loop's carry.
static void set_zero_flags(issuer *s, ir_region *region)
{
    for (ir_op *op = region->first; op != NULL; op = op->next) {
        for (int r = 0; r < op->n_reg; r++)
            set_zero_flags(s, &op->reg[r]);
        if (op->kind != IR_MMA_ISSUE)
            continue;
        ir_builder b = at_op(s->f->k, op, op->pos);
        ir_value *flag = flag_before(s, ir_in(op, 0), &b);
        int64_t value;
        if (!ir_const_int(flag, &value)) // otherwise the constant that is there stands
            ir_set_in(op, 3, flag);
        else if (flag->uses == NULL)
            ir_erase(flag->def);
    }
}

static void poison_carry(issuer *s, ir_op *loop, int index)
{
    ir_kernel *k = s->f->k;
    ir_builder b = at_op(k, loop, loop->pos);
    const ir_type *type = loop->out[index].type;
    ir_value *zeros = ir_in(loop, 3 + index);
    ir_set_in(loop, 3 + index, build_poison(&b, type));
    if (zeros->uses == NULL)
        ir_erase(zeros->def);
    flag_for(s, loop, index, ir_build_int(&b, PKC_E_BOOL, 1));
    set_zero_flags(s, &loop->reg[0]);
    int64_t flag;
    bool never = ir_const_int(ir_yielded(&loop->reg[0], flag_of(s, loop, index)), &flag) && flag == 0;
    if (!never || !runs_at_least_once(loop))
        guard_result(s, loop, index);
}

/// Outer loops first, so that the flag starts where the zeros stood.
static void poison_loops(issuer *s, ir_region *region)
{
    for (ir_op *op = region->first; op != NULL; op = op->next) {
        if (op->kind == IR_FOR && list_has_mma(&op->reg[0]))
            for (int i = 0, n = op->n_out; i < n; i++)
                if (op->out[i].type->kind == IR_T_REG && is_zero_splat(ir_in(op, 3 + i)) &&
                    can_start_poisoned(s->f->k, op, i))
                    poison_carry(s, op, i);
        for (int r = 0; r < op->n_reg; r++)
            poison_loops(s, &op->reg[r]);
    }
}

// ---- products
// ------------------------------------------------------------------------------------------------

static void issue_product(ir_kernel *k, ir_op *op)
{
    ir_builder b = at_op(k, op, op->pos);
    ir_value *acc = ir_in(op, 0);
    bool fresh = is_zero_splat(acc);
    ir_value *old = acc;
    if (fresh)
        acc = build_poison(&b, acc->type);
    ir_value *in[6] = {acc, ir_in(op, 1), ir_in(op, 2), ir_build_int(&b, PKC_E_BOOL, fresh)};
    for (int i = 3; i < op->n_in; i++)
        in[i + 1] = ir_in(op, i);
    const ir_type *types[] = {op->out[0].type, ir_type_token(k, IR_TOK_MMA)};
    ir_op *issue = ir_build(&b, IR_MMA_ISSUE, 0, op->n_in + 1, in, 2, types, 0);
    issue->out[0].name = op->out[0].name;
    ir_replace(&op->out[0], &issue->out[0]);
    ir_erase(op);
    if (fresh && old->uses == NULL)
        ir_erase(old->def);
}

static void issue_region(ir_kernel *k, ir_region *region)
{
    for (ir_op *op = region->first, *next; op != NULL; op = next) {
        next = op->next;
        for (int r = 0; r < op->n_reg; r++)
            issue_region(k, &op->reg[r]);
        if (op->kind == IR_MMA)
            issue_product(k, op);
    }
}

void ir_flight_issue(ir_flight *f)
{
    issuer s = {.f = f};
    issue_region(f->k, f->role->body);
    poison_loops(&s, f->role->body);
}
