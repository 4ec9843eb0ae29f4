// SPDX-License-Identifier: Apache-2.0
// The normal form of a value.
#include <inttypes.h>
#include <string.h>

#include "ir/norm.h"

/// A loop one of whose carries is being described: the carries that the description came upon, in order, and
/// the normal forms inside the loop, which mention them by their places in that order.
typedef struct ir_norm_scope {
    const ir_op *loop;
    PKC_VEC(int) carries;
    ir_ptrmap values;
    struct ir_norm_scope *outer;
} scope;

// ---- loops ---------------------------------------------------------------------------------------------

/// Loops around a region: names the loop's variable in every body alike.
static int loop_depth(const ir_region *region)
{
    int depth = 0;
    for (const ir_op *op = region->owner; op; op = op->parent->owner)
        depth += op->kind == IR_FOR;
    return depth;
}

static bool stands_in(const ir_value *v, const ir_region *region)
{
    const ir_region *at = v->def ? v->def->parent : v->owner;
    while (at && at != region)
        at = at->owner ? at->owner->parent : NULL;
    return at != NULL;
}

/// Where a value's normal form is kept: inside a loop that is being described only as long as that lasts.
static ir_ptrmap *memory_for(ir_norms *t, const ir_value *v)
{
    for (scope *s = t->scope; s; s = s->outer)
        if (stands_in(v, &s->loop->reg[0]))
            return &s->values;
    return &t->values;
}

static ir_norm unique(ir_norms *t, const ir_value *v)
{
    const ir_region *region = v->def ? v->def->parent : v->owner;
    const char *text = pkc_arena_printf(t->k->arena, "value%p", (const void *)v);
    return ir_norm_atom(t, text,
                        (ir_atom){.value = v,
                                  .depth = loop_depth(region),
                                  .least = INT64_MIN,
                                  .truth = v->type->elem == PKC_E_BOOL});
}

/// The carry's place in the description that is under way; it is added where it is new.
static int place_in(ir_norms *t, scope *s, int carry)
{
    for (size_t i = 0; i < s->carries.len; i++)
        if (s->carries.data[i] == carry)
            return (int)i;
    pkc_vec_push(t->k->arena, &s->carries, carry);
    return (int)s->carries.len - 1;
}

/// What a carry starts from and becomes, and the same of the carries that takes part: equal text, equal
/// values in every iteration.
static const char *describe_carry(ir_norms *t, const ir_op *loop, int carry)
{
    pkc_buf text = {0};
    scope s = {.loop = loop, .outer = t->scope};
    ir_ptrmap_init(&s.values, t->k->arena);
    place_in(t, &s, carry);
    for (size_t i = 0; i < s.carries.len; i++) {
        int c = s.carries.data[i];
        const ir_value *next = ir_yielded(&loop->reg[0], c);
        pkc_buf_printf(&text, "[%s", ir_norm_text(t, ir_norm_of(t, ir_in(loop, 3 + c))));
        t->scope = &s;
        pkc_buf_printf(&text, "|%s]", next ? ir_norm_text(t, ir_norm_of(t, next)) : "");
        t->scope = s.outer;
    }
    const char *kept = pkc_arena_printf(t->k->arena, "%s", pkc_buf_cstr(&text));
    pkc_buf_free(&text);
    return kept;
}

static ir_norm carried(ir_norms *t, const ir_value *v, const ir_op *loop, int carry)
{
    int depth = loop_depth(&loop->reg[0]);
    bool truth = v->type->elem == PKC_E_BOOL;
    ir_atom like = {.value = v, .depth = depth, .least = truth ? 0 : INT64_MIN, .truth = truth};
    for (scope *s = t->scope; s && !v->def; s = s->outer)
        if (s->loop == loop) {
            const char *self = pkc_arena_printf(t->k->arena, "self%d.%d", depth, place_in(t, s, carry));
            return ir_norm_atom(t, self, like);
        }
    const char *what = describe_carry(t, loop, carry);
    if (!v->def) {
        like.kind = IR_ATOM_CARRY;
        return ir_norm_atom(t, pkc_arena_printf(t->k->arena, "carry%d%s", depth, what), like);
    }
    like.depth = depth - 1;
    const char *trips = ir_norm_text(t, ir_norm_trips(t, loop));
    const char *first = ir_norm_text(t, ir_norm_of(t, ir_in(loop, 0)));
    const char *step = ir_norm_text(t, ir_norm_of(t, ir_in(loop, 2)));
    return ir_norm_atom(
        t, pkc_arena_printf(t->k->arena, "after%d(%s,%s,%s)%s", depth, trips, first, step, what), like);
}

static ir_norm loop_variable(ir_norms *t, const ir_value *v, const ir_op *loop)
{
    int depth = loop_depth(v->owner);
    int64_t least = ir_norm_least(ir_norm_of(t, ir_in(loop, 0)));
    // The bound is one of the variable of this loop only, so it is part of the name.
    const char *text = pkc_arena_printf(t->k->arena, "loop%d>=%" PRId64, depth, least);
    return ir_norm_atom(t, text, (ir_atom){.kind = IR_ATOM_LOOP, .value = v, .depth = depth, .least = least});
}

// ---- operations ----------------------------------------------------------------------------------------

static bool whole(const ir_value *v)
{
    return v->type->kind == IR_T_SCALAR && pkc_elem_class(v->type->elem) != 'f';
}

static int64_t least_of_read(ir_read sub)
{
    switch (sub) {
    case IR_READ_RANK:
    case IR_READ_WORKER:
        return 0;
    case IR_READ_RANKS:
    case IR_READ_SMS:
    case IR_READ_WORKERS:
        return 1;
    case IR_READ_COUNT:
        break;
    }
    return INT64_MIN;
}

/// A lower bound of an integer operation that is an atom.
static int64_t least_of(const ir_op *op, const ir_norm *args)
{
    int64_t a = op->n_in > 0 ? ir_norm_least(args[0]) : INT64_MIN;
    int64_t b = op->n_in > 1 ? ir_norm_least(args[1]) : INT64_MIN;
    if (op->kind == IR_DIM)
        return 1;
    if (op->kind == IR_READ)
        return least_of_read((ir_read)op->sub);
    if (op->kind != IR_BIN)
        return op->n_out && pkc_elem_class(op->out[0].type->elem) == 'i' ? INT64_MIN : 0;
    bool natural = a >= 0 && b >= 1;
    if (op->sub == IR_BIN_CDIV && natural)
        return a >= 1;
    if (op->sub == IR_BIN_DIV || op->sub == IR_BIN_MOD)
        return natural ? 0 : INT64_MIN;
    if (op->sub == IR_BIN_MIN)
        return a < b ? a : b;
    if (op->sub == IR_BIN_MAX)
        return a > b ? a : b;
    return INT64_MIN;
}

/// What the text of an operation says beside its operands: types decide how it computes.
static void put_name(const ir_op *op, pkc_buf *out)
{
    const char *sub = ir_sub_text(op->kind, op->sub);
    pkc_buf_printf(out, "%s.%s", ir_op_text(op->kind), sub ? sub : "");
    if (op->n_out && op->kind != IR_VIEW)
        pkc_buf_printf(out, ":%s", pkc_elem_name(op->out[0].type->elem));
    if (op->n_in && op->kind != IR_ELEM)
        pkc_buf_printf(out, ":%s", pkc_elem_name(ir_in(op, 0)->type->elem));
    if (op->attr.param)
        pkc_buf_printf(out, "[%s %d]", op->attr.param->name, (int)op->attr.peer);
    if (op->attr.name)
        pkc_buf_printf(out, "[%s]", op->attr.name);
    if (op->kind == IR_CONST)
        pkc_buf_printf(out, "[%" PRId64 " %a]", op->attr.i, op->attr.f);
}

static bool commutes(const ir_op *op)
{
    bool yes = op->sub == IR_BIN_MIN || op->sub == IR_BIN_MAX || op->sub == IR_BIN_AND ||
               op->sub == IR_BIN_OR || op->sub == IR_BIN_XOR;
    return op->kind == IR_BIN && yes;
}

static ir_norm operation(ir_norms *t, const ir_op *op)
{
    pkc_buf name = {0};
    ir_norm *args = PKC_NEW_ARRAY(t->k->arena, ir_norm, op->n_in + 1);
    for (int i = 0; i < op->n_in; i++)
        args[i] = ir_norm_of(t, ir_in(op, i));
    if (commutes(op) && strcmp(ir_norm_text(t, args[0]), ir_norm_text(t, args[1])) > 0) {
        ir_norm first = args[0];
        args[0] = args[1];
        args[1] = first;
    }
    bool truth = op->n_out && op->out[0].type->kind == IR_T_SCALAR && op->out[0].type->elem == PKC_E_BOOL;
    ir_atom like = {.value = op->n_out ? &op->out[0] : NULL, .truth = truth, .least = least_of(op, args)};
    like.kind = op->kind == IR_BIN || op->kind == IR_CMP || op->kind == IR_UN || op->kind == IR_CAST
                    ? IR_ATOM_OP
                    : IR_ATOM_LEAF;
    put_name(op, &name);
    ir_norm result = ir_norm_call(t, pkc_buf_cstr(&name), like, op->n_in, args);
    pkc_buf_free(&name);
    return result;
}

/// a and b by a constant: exact where it divides every factor; all else is an atom.
static ir_norm quotient(ir_norms *t, const ir_op *op, ir_norm a, ir_norm b)
{
    ir_norm q;
    int64_t by;
    if (!ir_norm_is_const(b, &by) || !ir_norm_divide(t, a, by, &q))
        return operation(t, op);
    return op->sub == IR_BIN_MOD ? ir_norm_const(t, 0) : q;
}

/// The one that is known to be the other at least; NULL where that is not known.
static const ir_norm *greater(ir_norms *t, const ir_norm *a, const ir_norm *b)
{
    if (ir_norm_least(ir_norm_add(t, *a, *b, -1)) >= 0)
        return a;
    return ir_norm_least(ir_norm_add(t, *b, *a, -1)) >= 0 ? b : NULL;
}

static ir_norm binary(ir_norms *t, const ir_op *op)
{
    ir_norm a = ir_norm_of(t, ir_in(op, 0)), b = ir_norm_of(t, ir_in(op, 1));
    bool truth = op->out[0].type->elem == PKC_E_BOOL;
    const ir_norm *most;
    if (op->sub == IR_BIN_ADD || op->sub == IR_BIN_SUB)
        return ir_norm_add(t, a, b, op->sub == IR_BIN_ADD ? 1 : -1);
    if (op->sub == IR_BIN_MUL || (truth && op->sub == IR_BIN_AND))
        return ir_norm_mul(t, a, b);
    if (truth && op->sub == IR_BIN_OR)
        return ir_norm_add(t, ir_norm_add(t, a, b, 1), ir_norm_mul(t, a, b), -1);
    if (op->sub == IR_BIN_DIV || op->sub == IR_BIN_CDIV || op->sub == IR_BIN_MOD)
        return quotient(t, op, a, b);
    if ((op->sub == IR_BIN_MIN || op->sub == IR_BIN_MAX) && (most = greater(t, &a, &b)) != NULL)
        return (most == &a) == (op->sub == IR_BIN_MAX) ? a : b;
    return operation(t, op);
}

static ir_norm truth_of(ir_norms *t, ir_atom_kind kind, ir_norm arg)
{
    int64_t n;
    if (ir_norm_is_const(arg, &n))
        return ir_norm_const(t, kind == IR_ATOM_ZERO ? n == 0 : n > 0);
    ir_atom like = {.kind = kind, .truth = true};
    return ir_norm_call(t, kind == IR_ATOM_ZERO ? "zero" : "positive", like, 1, &arg);
}

static ir_norm negated(ir_norms *t, ir_norm a)
{
    return ir_norm_add(t, ir_norm_const(t, 1), a, -1);
}

/// a == b as a - b == 0, a < b as b - a > 0; the other comparisons are their opposites. Differences of
/// unsigned numbers wrap, so those compare as they stand.
static ir_norm comparison(ir_norms *t, const ir_op *op)
{
    ir_norm a = ir_norm_of(t, ir_in(op, 0)), b = ir_norm_of(t, ir_in(op, 1));
    bool equality = op->sub == IR_CMP_EQ || op->sub == IR_CMP_NE;
    if (!equality && pkc_elem_class(ir_in(op, 0)->type->elem) != 'i')
        return operation(t, op);
    bool turned = op->sub == IR_CMP_GT || op->sub == IR_CMP_LE;
    ir_norm difference = turned ? ir_norm_add(t, a, b, -1) : ir_norm_add(t, b, a, -1);
    if (equality && difference.n && difference.terms[0].factor < 0)
        difference = ir_norm_add(t, ir_norm_const(t, 0), difference, -1);
    ir_norm is = truth_of(t, equality ? IR_ATOM_ZERO : IR_ATOM_POSITIVE, difference);
    bool opposite = op->sub == IR_CMP_NE || op->sub == IR_CMP_GE || op->sub == IR_CMP_LE;
    return opposite ? negated(t, is) : is;
}

static ir_norm selected(ir_norms *t, const ir_value *v, ir_norm c, ir_norm x, ir_norm y)
{
    ir_norm args[] = {c, x, y};
    int64_t known, a = ir_norm_least(x), b = ir_norm_least(y);
    if (ir_norm_equal(x, y) || (ir_norm_is_const(c, &known) && known))
        return x;
    if (ir_norm_is_const(c, &known))
        return y;
    ir_atom like = {.kind = IR_ATOM_SELECT, .value = v, .truth = v->type->elem == PKC_E_BOOL};
    like.least = a < b ? a : b;
    return ir_norm_call(t, "select", like, 3, args);
}

/// Conversions that keep every value of their operand.
static bool keeps_value(const ir_op *op)
{
    pkc_elem from = ir_in(op, 0)->type->elem, to = op->out[0].type->elem;
    unsigned width = from == PKC_E_BOOL ? 1 : pkc_elem_bits(from);
    if (!whole(ir_in(op, 0)) || to == PKC_E_BOOL)
        return false;
    return pkc_elem_class(from) == pkc_elem_class(to)
               ? width <= pkc_elem_bits(to)
               : pkc_elem_class(from) != 'i' && width < pkc_elem_bits(to);
}

static ir_norm result_of(ir_norms *t, const ir_value *v)
{
    const ir_op *op = v->def;
    if (op->kind == IR_FOR)
        return carried(t, v, op, v->index);
    if (op->kind == IR_IF && ir_yielded(&op->reg[0], v->index) && ir_yielded(&op->reg[1], v->index))
        return selected(t, v, ir_norm_of(t, ir_in(op, 0)), ir_norm_of(t, ir_yielded(&op->reg[0], v->index)),
                        ir_norm_of(t, ir_yielded(&op->reg[1], v->index)));
    return unique(t, v);
}

static ir_norm compute(ir_norms *t, const ir_value *v)
{
    const ir_op *op = v->def, *owner = op ? NULL : v->owner->owner;
    int64_t i;
    if (owner && owner->kind == IR_FOR)
        return v->index ? carried(t, v, owner, v->index - 1) : loop_variable(t, v, owner);
    if (!op || (v->type->kind != IR_T_SCALAR && op->kind != IR_VIEW))
        return unique(t, v);
    if (op->n_reg)
        return result_of(t, v);
    if (ir_const_int(v, &i))
        return ir_norm_const(t, i);
    if (op->kind == IR_ELEM && ir_in(op, 0)->def && ir_in(op, 0)->def->attr.param &&
        ir_in(op, 0)->def->attr.param->written)
        return unique(t, v);
    if (op->kind == IR_CMP && whole(ir_in(op, 0)))
        return comparison(t, op);
    if (!whole(v))
        return operation(t, op);
    if (op->kind == IR_BIN)
        return binary(t, op);
    if (op->kind == IR_UN && op->sub == IR_UN_NOT && v->type->elem == PKC_E_BOOL)
        return negated(t, ir_norm_of(t, ir_in(op, 0)));
    if (op->kind == IR_UN && op->sub == IR_UN_NEG)
        return ir_norm_add(t, ir_norm_const(t, 0), ir_norm_of(t, ir_in(op, 0)), -1);
    if (op->kind == IR_SELECT)
        return selected(t, v, ir_norm_of(t, ir_in(op, 0)), ir_norm_of(t, ir_in(op, 1)),
                        ir_norm_of(t, ir_in(op, 2)));
    return op->kind == IR_CAST && keeps_value(op) ? ir_norm_of(t, ir_in(op, 0)) : operation(t, op);
}

ir_norm ir_norm_of(ir_norms *t, const ir_value *v)
{
    ir_ptrmap *memory = memory_for(t, v);
    const ir_norm *known = ir_ptrmap_get(memory, v);
    if (known)
        return *known;
    if (t->nest == IR_NORM_NEST)
        return unique(t, v);
    t->nest++;
    ir_norm *found = PKC_NEW(t->k->arena, ir_norm);
    *found = compute(t, v);
    t->nest--;
    ir_ptrmap_set(memory, v, found);
    return *found;
}
