// SPDX-License-Identifier: Apache-2.0
// Statements. Assigned variables of a region become values that it carries or yields.
#include "ir/lower_impl.h"

// Calls within calls and loops unrolled in loops multiply; real kernels have a few hundred statements.
enum { WORK_LIMIT = 20000 };

// ---- regions -------------------------------------------------------------------------------------------

/// Builds inside `region` until region_leave gives the old place back.
static ir_builder region_enter(lower *l, ir_region *region)
{
    ir_builder old = l->b;
    l->b.region = region;
    l->b.before = NULL;
    return old;
}

static void region_leave(lower *l, ir_builder old)
{
    l->b.region = old.region;
    l->b.before = old.before;
}

static ir_value **current_values(lower *l, const pkc_varset *vars)
{
    ir_value **v = PKC_NEW_ARRAY(&l->s->arena, ir_value *, vars->len + 1);
    for (size_t i = 0; i < vars->len; i++)
        v[i] = lower_meaning(l, vars->data[i])->v;
    return v;
}

/// The variables become the results or arguments that stand in a row from `values` on.
static void set_values(lower *l, const pkc_varset *vars, ir_value *values)
{
    for (size_t i = 0; i < vars->len; i++) {
        values[i].name = vars->data[i]->name;
        *lower_meaning(l, vars->data[i]) = lower_value(&values[i]);
    }
}

/// Yields the variables' values; one that became poison yields what the region began with.
static void yield_values(lower *l, const pkc_varset *vars, ir_value **before)
{
    ir_value **v = PKC_NEW_ARRAY(&l->s->arena, ir_value *, vars->len + 1);
    for (size_t i = 0; i < vars->len; i++) {
        const meaning *m = lower_meaning(l, vars->data[i]);
        v[i] = m->kind == MEAN_VALUE ? m->v : before[i];
    }
    ir_build_yield(&l->b, (int)vars->len, v);
}

static const ir_type **types_of(lower *l, ir_value **values, size_t n)
{
    const ir_type **t = PKC_NEW_ARRAY(&l->s->arena, const ir_type *, n + 1);
    for (size_t i = 0; i < n; i++)
        t[i] = values[i]->type;
    return t;
}

// ---- for -----------------------------------------------------------------------------------------------

static void unroll(lower *l, const pkc_stmt *s)
{
    enum { UNROLL_LIMIT = 1024 };
    const struct pkc_stmt_for_ *f = &s->as.for_;
    int64_t from, to, step = 1;
    if (!lower_constant(l, f->from, "the first value of a for const", &from) ||
        !lower_constant(l, f->to, "the end of a for const", &to) ||
        (f->step && !lower_constant(l, f->step, "the step of a for const", &step)))
        return;
    int64_t count = step < 1 || from >= to ? 0 : (to - from - 1) / step + 1;
    if (step < 1 || count > UNROLL_LIMIT) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, s->span,
                       step < 1 ? "the step of a loop" : "the count of a for const",
                       (long long)(step < 1 ? step : count), step < 1 ? "at least 1" : "at most 1024");
        return;
    }
    for (int64_t i = from; i < to; i += step) {
        lower_bind(l, &f->name, lower_int(l, i));
        lower_block(l, f->body);
    }
}

/// Task counts must fit the 32-bit loop counter; the host checks products of dimensions.
static void require_count(lower *l, const meaning *hi, pkc_span span)
{
    if (!hi->hx || hi->hx->op != IR_HX_MUL)
        return;
    const ir_hx *ok = ir_hx_bin(l->k->arena, IR_HX_LE, hi->hx, ir_hx_const(l->k->arena, INT32_MAX));
    for (const ir_require *r = l->k->requires; r; r = r->next)
        if (ir_hx_equal(r->expr, ok))
            return;
    lower_add_require(l, ok, "too many tasks for one launch", span, false);
}

/// A step that is known only at run time counts as 1 where it is less, so that no loop runs for ever. workers
/// is at least 1.
static ir_value *positive_step(lower *l, ir_value *step)
{
    int64_t v;
    bool known = ir_const_int(step, &v) || (step->def && step->def->kind == IR_READ);
    return known ? step : ir_build_bin(&l->b, IR_BIN_MAX, step, ir_build_int(&l->b, PKC_E_I32, 1));
}

static ir_value *loop_step(lower *l, const pkc_expr *e)
{
    int64_t v;
    if (!e)
        return ir_build_int(&l->b, PKC_E_I32, 1);
    ir_value *step = lower_index(l, e);
    if (step && ir_const_int(step, &v) && v < 1) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, e->span, "the step of a loop", (long long)v, "at least 1");
        return NULL;
    }
    return step ? positive_step(l, step) : NULL;
}

static void lower_for(lower *l, const pkc_stmt *s)
{
    const struct pkc_stmt_for_ *f = &s->as.for_;
    if (f->is_const) {
        unroll(l, s);
        return;
    }
    ir_value *lo = lower_index(l, f->from);
    meaning end = lower_operand(l, f->to);
    ir_value *hi = lower_as_index(l, f->to->span, end), *step = loop_step(l, f->step);
    if (!lo || !hi || !step)
        return;
    require_count(l, &end, f->to->span);
    pkc_varset vars = lower_carried(l, s->as.for_.assigned);
    ir_value **inits = current_values(l, &vars);
    ir_op *op = ir_build_for(&l->b, lo, hi, step, (int)vars.len, inits);
    ir_builder old = region_enter(l, &op->reg[0]);
    set_values(l, &vars, op->reg[0].args + 1);
    lower_bind(l, &f->name, lower_value(&op->reg[0].args[0]));
    lower_block(l, f->body);
    yield_values(l, &vars, inits);
    region_leave(l, old);
    set_values(l, &vars, op->out);
}

// ---- if ------------------------------------------------------------------------------------------------

typedef PKC_VEC(const pkc_expr *) conditions;

/// What an if waits for, one after the other. `a && b` is two conditions where b may read memory, which must
/// not happen where a is false; as ifs within each other they keep the form that `agree` understands.
typedef struct branching {
    const pkc_block *then_body, *else_body;
    const pkc_varset *assigned;
    conditions all;
} branching;

static void lower_conditions(lower *l, const branching *f, size_t i);

static void lower_branch(lower *l, ir_region *region, const branching *f, size_t next, const pkc_varset *vars)
{
    ir_value **before = current_values(l, vars);
    ir_builder old = region_enter(l, region);
    if (next)
        lower_conditions(l, f, next);
    else if (f->else_body)
        lower_block(l, f->else_body);
    yield_values(l, vars, before);
    region_leave(l, old);
    for (size_t i = 0; i < vars->len; i++)
        *lower_meaning(l, vars->data[i]) = lower_value(before[i]);
}

static void lower_conditions(lower *l, const branching *f, size_t i)
{
    if (i == f->all.len) {
        lower_block(l, f->then_body);
        return;
    }
    const pkc_expr *e = f->all.data[i];
    meaning c = lower_operand(l, e);
    int64_t known;
    if (lower_is_poison(&c))
        return;
    if (c.v->type->kind != IR_T_SCALAR || c.v->type->elem != PKC_E_BOOL) {
        lower_wrong_kind(l, e->span, "a truth value that is one for the whole role", &c);
        return;
    }
    if (ir_const_int(c.v, &known)) {
        if (known)
            lower_conditions(l, f, i + 1);
        else if (f->else_body)
            lower_block(l, f->else_body);
        return;
    }
    pkc_varset vars = lower_carried(l, f->assigned);
    ir_value **now = current_values(l, &vars);
    ir_op *op = ir_build_if(&l->b, c.v, (int)vars.len, types_of(l, now, vars.len));
    lower_branch(l, &op->reg[0], f, i + 1, &vars);
    lower_branch(l, &op->reg[1], f, 0, &vars);
    set_values(l, &vars, op->out);
}

static void split_condition(lower *l, const pkc_expr *e, conditions *out)
{
    if (e->kind == PKC_EXPR_BINARY && e->as.binary.op == PKC_BINARY_AND &&
        lower_may_read(e->as.binary.right)) {
        split_condition(l, e->as.binary.left, out);
        split_condition(l, e->as.binary.right, out);
        return;
    }
    pkc_vec_push(&l->s->arena, out, e);
}

static void lower_if(lower *l, const pkc_stmt *s)
{
    const struct pkc_stmt_if_ *f = &s->as.if_;
    branching b = {.then_body = f->then_body, .else_body = f->else_body, .assigned = f->assigned};
    if (f->else_body)
        pkc_vec_push(&l->s->arena, &b.all, f->condition);
    else
        split_condition(l, f->condition, &b.all);
    lower_conditions(l, &b, 0);
}

// ---- put, get ------------------------------------------------------------------------------------------

/// Sema compares the names of pipes; a pipe that a function was given may be one that is open already.
static bool may_open(lower *l, const ir_pipe *p, bool put, pkc_span span)
{
    for (size_t i = 0; i < l->open.len; i++)
        if (l->open.data[i] == p && (put || l->putting == p)) {
            pkc_diag_error(l->s, PKC_DIAG_OPEN_PIPE, span, p->name);
            return false;
        }
    return true;
}

static ir_pipe *find_pipe(lower *l, const pkc_name *name)
{
    meaning *m = lower_meaning(l, name->sym);
    if (m->kind != MEAN_PIPE)
        lower_wrong_kind(l, name->span, "a pipe", m);
    return m->kind == MEAN_PIPE ? m->pipe : NULL;
}

static meaning field_meaning(ir_pipe *p, ir_region *region, pkc_str name)
{
    for (int i = 0; i < p->n_fields; i++)
        if (p->field[i].name == name)
            return (meaning){.kind = MEAN_TILE, .v = &region->args[i], .pipe = p};
    return (meaning){.kind = MEAN_UNBOUND};
}

/// Binds the names of the slot's tiles; `old` keeps what they meant around the put or get.
static void bind_fields(lower *l, ir_pipe *p, ir_region *region, const pkc_varset *fields, meaning *old)
{
    for (int i = 0; i < p->n_fields; i++)
        region->args[i].name = p->field[i].name;
    for (size_t i = 0; i < fields->len; i++) {
        meaning *m = lower_meaning(l, fields->data[i]), new = field_meaning(p, region, fields->data[i]->name);
        old[i] = *m;
        if (new.kind != MEAN_UNBOUND)
            *m = new;
    }
}

static void open_slot(lower *l, ir_pipe *p, bool put, const pkc_block *body)
{
    ir_pipe *outer = l->putting;
    l->putting = put ? p : NULL;
    pkc_vec_push(&l->s->arena, &l->open, p);
    lower_block(l, body);
    l->open.len--;
    l->putting = outer;
}

static ir_op *build_put_get(lower *l, ir_pipe *p, bool put, ir_value **before, size_t n)
{
    ir_op *op = ir_build(&l->b, put ? IR_PUT : IR_GET, 0, 0, NULL, (int)n, types_of(l, before, n), 1);
    op->attr.pipe = p;
    const ir_type *types[IR_MAX_FIELDS];
    for (int i = 0; i < p->n_fields; i++) {
        const ir_field *f = &p->field[i];
        types[i] = ir_type_tile(l->k, f->elem, f->rows, f->cols, IR_LAY_UNKNOWN, false);
    }
    ir_region_args(l->k, &op->reg[0], p->n_fields, types);
    return op;
}

static void lower_put_get(lower *l, const pkc_stmt *s, const pkc_name *name, const pkc_block *body,
                          const pkc_varset *fields)
{
    bool put = s->kind == PKC_STMT_PUT;
    ir_pipe *p = find_pipe(l, name);
    if (!p || !may_open(l, p, put, s->span))
        return;
    pkc_varset vars = lower_carried(l, body->assigned);
    ir_value **before = current_values(l, &vars);
    ir_op *op = build_put_get(l, p, put, before, vars.len);
    ir_builder old = region_enter(l, &op->reg[0]);
    meaning *meant = PKC_NEW_ARRAY(&l->s->arena, meaning, fields->len + 1);
    bind_fields(l, p, &op->reg[0], fields, meant);
    open_slot(l, p, put, body);
    yield_values(l, &vars, before);
    region_leave(l, old);
    for (size_t i = 0; i < fields->len; i++)
        *lower_meaning(l, fields->data[i]) = meant[i];
    set_values(l, &vars, op->out);
}

// ---- declarations --------------------------------------------------------------------------------------

static meaning declared(lower *l, const pkc_binding *b)
{
    pkc_elem elem;
    int32_t rows, cols;
    meaning m = lower_expr(l, b->value);
    if (m.kind == MEAN_VIEW && b->type)
        m = lower_element(l, &m);
    if (m.kind == MEAN_NOTHING)
        return lower_wrong_kind(l, b->value->span, "a value", &m);
    if (!b->type || lower_is_poison(&m))
        return m;
    if (!lower_shape(l, b->type, &elem, &rows, &cols))
        return lower_poison();
    if (m.kind != MEAN_VALUE)
        return lower_wrong_kind(l, b->value->span, "a value", &m);
    if (rows) {
        m.v = lower_to_reg(l, b->value->span, m, elem, rows, cols);
        return m.v ? lower_value(m.v) : lower_poison();
    }
    m = lower_adapt(l, b->value->span, m, elem);
    m.literal = false;
    if (!lower_is_poison(&m) && (m.v->type->kind != IR_T_SCALAR || m.v->type->elem != elem))
        return lower_wrong_kind(l, b->value->span, pkc_elem_name(elem), &m);
    return m;
}

/// A variable has a type of its own, also where its first value is a literal.
static meaning first_value(lower *l, const pkc_expr *value, meaning m, bool var)
{
    if (!var || lower_is_poison(&m))
        return m;
    if (m.kind == MEAN_VIEW)
        m = lower_element(l, &m);
    if (m.kind != MEAN_VALUE)
        return lower_wrong_kind(l, value->span, "a value", &m);
    m.literal = false;
    return m;
}

static void bind_tuple(lower *l, const pkc_binding *b, meaning m, bool var)
{
    bool ok = m.kind == MEAN_TUPLE && (size_t)m.n_parts == b->names.len;
    if (m.kind == MEAN_TUPLE && !ok)
        pkc_diag_error(l->s, PKC_DIAG_ONE_RESULT, b->span, (int)b->names.len, m.n_parts);
    else if (!ok)
        lower_wrong_kind(l, b->value->span, "a tuple", &m);
    for (size_t i = 0; i < b->names.len; i++)
        lower_bind(l, &b->names.data[i], ok ? first_value(l, b->value, m.parts[i], var) : lower_poison());
}

static void lower_bindings(lower *l, const pkc_bindings *list, bool var)
{
    for (size_t i = 0; i < list->len; i++) {
        const pkc_binding *b = list->data[i];
        meaning m = declared(l, b);
        if (b->tuple)
            bind_tuple(l, b, m, var);
        else
            lower_bind(l, &b->names.data[0], first_value(l, b->value, m, var));
    }
}

static int64_t smem_elems(int32_t rows, int32_t cols)
{
    return (int64_t)rows * cols;
}

static bool declare_field(lower *l, const pkc_param *p, ir_field *f)
{
    int32_t rows, cols;
    if (!p->type || !lower_shape(l, p->type, &f->elem, &rows, &cols))
        return false;
    if (!rows || !pkc_elem_in_tensor(f->elem) || smem_elems(rows, cols) > (1 << 24)) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_PARAMETER, p->span,
                       "a shared tile is ELEM[rows, columns] of constant size");
        return false;
    }
    f->name = p->name.text;
    f->rows = rows;
    f->cols = cols;
    f->pos = p->span;
    return true;
}

static bool is_taken(const ir_kernel *k, pkc_str name)
{
    for (const ir_pipe *p = k->pipes; p; p = p->next)
        if (p->name == name)
            return true;
    for (const ir_shared *s = k->shared; s; s = s->next)
        if (s->name == name)
            return true;
    return false;
}

/// Two groups may each have a pipe of one name, and a function that has one may be called twice: those of the
/// IR are told apart by a number.
static pkc_str fresh_name(lower *l, pkc_str name)
{
    pkc_str fresh = name;
    for (int n = 1; is_taken(l->k, fresh); n++)
        fresh = pkc_session_str(l->s, pkc_arena_printf(l->k->arena, "%s.%d", name, n));
    return fresh;
}

static void lower_pipe(lower *l, const pkc_stmt *s)
{
    const struct pkc_stmt_pipe *d = &s->as.pipe;
    ir_pipe *p = PKC_NEW(l->k->arena, ir_pipe);
    int64_t slots = 1;
    *p = (ir_pipe){.name = fresh_name(l, d->name.text), .group = l->group, .pos = s->span};
    bool ok = lower_constant(l, d->slots, "the number of slots", &slots);
    if (ok && (slots < 1 || slots > 64)) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, d->slots->span, "the number of slots", (long long)slots,
                       "from 1 to 64");
        ok = false;
    }
    if (d->fields.len == 0 || d->fields.len > IR_MAX_FIELDS) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, s->span, "the number of tiles of a slot",
                       (long long)d->fields.len, "from 1 to 16");
        ok = false;
    }
    for (size_t i = 0; i < d->fields.len && i < IR_MAX_FIELDS; i++)
        ok &= declare_field(l, d->fields.data[i], &p->field[p->n_fields++]);
    p->slots = (int32_t)slots;
    lower_bind(l, &d->name, ok ? (meaning){.kind = MEAN_PIPE, .pipe = p} : lower_poison());
    ir_pipe **at = &l->k->pipes;
    while (*at)
        at = &(*at)->next;
    *at = p;
}

static meaning build_shared(lower *l, const ir_field *f)
{
    ir_shared *x = PKC_NEW(l->k->arena, ir_shared);
    *x = (ir_shared){.name = fresh_name(l, f->name),
                     .elem = f->elem,
                     .rows = f->rows,
                     .cols = f->cols,
                     .role = l->role,
                     .pos = f->pos};
    x->next = l->k->shared;
    l->k->shared = x;
    const ir_type *type = ir_type_tile(l->k, f->elem, f->rows, f->cols, IR_LAY_UNKNOWN, false);
    ir_op *op = ir_build(&l->b, IR_SHARED, 0, 0, NULL, 1, &type, 0);
    op->attr.shared = x;
    return (meaning){.kind = MEAN_TILE, .v = &op->out[0]};
}

static void lower_shared(lower *l, const pkc_stmt *s)
{
    const pkc_param *p = s->as.shared.param;
    ir_field f = {0};
    lower_bind(l, &p->name, declare_field(l, p, &f) ? build_shared(l, &f) : lower_poison());
}

// ---- assignment, return, barrier -----------------------------------------------------------------------

static void lower_barrier(lower *l)
{
    const ir_kernel *k = l->k;
    const char *attribute = k->no_entry_wait     ? "no_entry_wait"
                            : k->no_exit_barrier ? "no_exit_barrier"
                                                 : NULL;
    if (attribute)
        pkc_diag_error(l->s, PKC_DIAG_ATTRIBUTE_SIGNALS, l->b.pos, attribute, "a barrier");
    ir_build(&l->b, IR_BARRIER, 0, 0, NULL, 0, NULL, 0);
}

static const unsigned assign_sub[PKC_ASSIGN_COUNT] = {[PKC_ASSIGN_ADD] = IR_BIN_ADD,
                                                      [PKC_ASSIGN_SUB] = IR_BIN_SUB,
                                                      [PKC_ASSIGN_MUL] = IR_BIN_MUL,
                                                      [PKC_ASSIGN_DIV] = IR_BIN_DIV};

static void assign_tuple(lower *l, const pkc_expr *target, meaning m)
{
    const pkc_exprs *parts = &target->as.tuple.parts;
    if (m.kind != MEAN_TUPLE) {
        lower_wrong_kind(l, target->span, "a tuple", &m);
        return;
    }
    if ((size_t)m.n_parts != parts->len) {
        pkc_diag_error(l->s, PKC_DIAG_ONE_RESULT, target->span, (int)parts->len, m.n_parts);
        return;
    }
    for (size_t i = 0; i < parts->len; i++) {
        meaning part = m.parts[i];
        if (part.kind == MEAN_VIEW)
            part = lower_element(l, &part);
        lower_assign(l, &parts->data[i]->as.name.name, part);
    }
}

static void lower_assignment(lower *l, const pkc_stmt *s)
{
    const struct pkc_stmt_assign *a = &s->as.assign;
    if (a->target->kind == PKC_EXPR_TUPLE) {
        assign_tuple(l, a->target, lower_expr(l, a->value));
        return;
    }
    meaning m = lower_operand(l, a->value);
    if (a->op != PKC_ASSIGN_SET)
        m = lower_arith(l, s->span, assign_sub[a->op], lower_operand(l, a->target), m);
    lower_assign(l, &a->target->as.name.name, m);
}

static void lower_expr_stmt(lower *l, const pkc_stmt *s)
{
    meaning m = lower_expr(l, s->as.expr.value);
    if (m.kind != MEAN_NOTHING)
        lower_wrong_kind(l, s->span, "a statement with an effect", &m);
}

static void lower_stmt(lower *l, const pkc_stmt *s)
{
    l->b.pos = s->span;
    switch (s->kind) {
    case PKC_STMT_LET:
        lower_bindings(l, &s->as.let.bindings, false);
        return;
    case PKC_STMT_VAR:
        lower_bindings(l, &s->as.var.bindings, true);
        return;
    case PKC_STMT_REQUIRE: // at the head of the kernel: lower_kernel.c
    case PKC_STMT_COUNT:
        return;
    case PKC_STMT_SHARED:
        lower_shared(l, s);
        return;
    case PKC_STMT_RETURN:
        l->result = lower_expr(l, s->as.return_.value);
        return;
    case PKC_STMT_BARRIER:
        lower_barrier(l);
        return;
    case PKC_STMT_EXPR:
        lower_expr_stmt(l, s);
        return;
    case PKC_STMT_ASSIGN:
        lower_assignment(l, s);
        return;
    case PKC_STMT_IF:
        lower_if(l, s);
        return;
    case PKC_STMT_FOR:
        lower_for(l, s);
        return;
    case PKC_STMT_PIPE:
        lower_pipe(l, s);
        return;
    case PKC_STMT_PUT:
        lower_put_get(l, s, &s->as.put.pipe, s->as.put.body, s->as.put.fields);
        return;
    case PKC_STMT_GET:
        lower_put_get(l, s, &s->as.get.pipe, s->as.get.body, s->as.get.fields);
        return;
    case PKC_STMT_GROUP:
        lower_group(l, s);
        return;
    case PKC_STMT_ROLE:
        lower_role(l, s);
        return;
    }
}

void lower_stmts(lower *l, pkc_stmt *const *stmts, size_t n)
{
    pkc_span pos = l->b.pos;
    for (size_t i = 0; i < n; i++) {
        if (++l->work > WORK_LIMIT) {
            pkc_diag_error(l->s, PKC_DIAG_TOO_MUCH_INLINED, l->k->pos, l->k->name);
            l->result = lower_poison();
            break;
        }
        lower_stmt(l, stmts[i]);
    }
    l->b.pos = pos;
}

void lower_block(lower *l, const pkc_block *block)
{
    lower_stmts(l, block->stmts.data, block->stmts.len);
}
