// SPDX-License-Identifier: Apache-2.0
// Kernels: const parameters, parameters and their dimensions, requirements, groups and roles.
#include <string.h>

#include "ir/lower_impl.h"
#include "sema/roles.h"
#include "sema/sema.h"

// ---- requirements and shapes ---------------------------------------------------------------------------

void lower_add_require(lower *l, const ir_hx *expr, const char *why, pkc_span pos, bool fact)
{
    ir_require *r = PKC_NEW(l->k->arena, ir_require);
    *r = (ir_require){.expr = expr, .why = why, .pos = pos};
    ir_require **at = fact ? &l->k->facts : &l->k->requires;
    while (*at)
        at = &(*at)->next;
    *at = r;
}

static bool dimension(lower *l, const pkc_expr *e, int32_t *out)
{
    int64_t v;
    if (!lower_constant(l, e, "a dimension of a tile", &v))
        return false;
    if (v < 1 || v > (1 << 20)) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, e->span, "a dimension of a tile", (long long)v,
                       "from 1 to 1048576");
        return false;
    }
    *out = (int32_t)v;
    return true;
}

bool lower_shape(lower *l, const pkc_tyexpr *type, pkc_elem *elem, int32_t *rows, int32_t *cols)
{
    if (type->kind != PKC_TYEXPR_NAMED || type->as.named.peer || type->as.named.dims.len > 2) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_PARAMETER, type->span,
                       "a tile is ELEM[rows, columns] or ELEM[columns]");
        return false;
    }
    const pkc_name *name = &type->as.named.elem;
    if (!pkc_elem_find(name->text, elem))
        return false;
    const pkc_exprs *d = &type->as.named.dims;
    *rows = d->len ? 1 : 0;
    *cols = 0;
    if (d->len == 2 && !dimension(l, d->data[0], rows))
        return false;
    return d->len == 0 || dimension(l, d->data[d->len - 1], cols);
}

// ---- const parameters ----------------------------------------------------------------------------------

static bool overridden(lower *l, pkc_str name, int64_t *out)
{
    bool found = false;
    for (size_t i = 0; i < l->s->settings.defines.len; i++) {
        pkc_define *d = &l->s->settings.defines.data[i];
        if (d->name == name && (!d->kernel || d->kernel == l->k->name)) {
            d->used = true;
            *out = d->value;
            found = true;
        }
    }
    return found;
}

static void lower_consts(lower *l, const pkc_params *consts)
{
    ir_const **at = &l->k->consts;
    for (size_t i = 0; i < consts->len; i++) {
        const pkc_param *p = consts->data[i];
        ir_const *c = PKC_NEW(l->k->arena, ir_const);
        c->name = p->name.text;
        bool ok = overridden(l, c->name, &c->value) ||
                  lower_constant(l, p->init, "a const parameter's default", &c->value);
        if (ok && (c->value < INT32_MIN || c->value > INT32_MAX)) {
            const char *text = pkc_arena_printf(l->k->arena, "%lld", (long long)c->value);
            pkc_diag_error(l->s, PKC_DIAG_CONSTANT_RANGE, p->span, text, "i32");
            ok = false;
        }
        lower_bind(l, &p->name, ok ? lower_int(l, c->value) : lower_poison());
        *at = c;
        at = &c->next;
    }
}

// ---- parameters ----------------------------------------------------------------------------------------

static void declare_dim(lower *l, const pkc_expr *e)
{
    const pkc_symbol *sym = e->kind == PKC_EXPR_NAME ? e->as.name.name.sym : NULL;
    if (!sym || sym->kind != PKC_SYM_DIM || lower_meaning(l, sym)->kind != MEAN_UNBOUND)
        return;
    ir_kernel *k = l->k;
    pkc_str *dims = PKC_NEW_ARRAY(k->arena, pkc_str, k->n_dims + 1);
    if (k->n_dims)
        memcpy(dims, k->dims, (size_t)k->n_dims * sizeof *dims);
    dims[k->n_dims++] = sym->name;
    k->dims = dims;
    const ir_type *type = ir_type_scalar(k, PKC_E_I32);
    ir_op *op = ir_build(&l->b, IR_DIM, 0, 0, NULL, 1, &type, 0);
    op->attr.name = sym->name;
    meaning m = lower_value(&op->out[0]);
    m.hx = ir_hx_dim(k->arena, sym->name);
    const ir_hx *some = ir_hx_bin(k->arena, IR_HX_LE, ir_hx_const(k->arena, 1), m.hx);
    lower_add_require(l, some, "a dimension is at least 1", e->span, true);
    lower_bind(l, &e->as.name.name, m);
}

/// First the bare names of all parameters, as sema declared them.
static void declare_dims(lower *l, const pkc_params *params)
{
    for (size_t i = 0; i < params->len; i++) {
        const pkc_tyexpr *t = params->data[i]->type;
        for (size_t j = 0; t && t->kind == PKC_TYEXPR_NAMED && j < t->as.named.dims.len; j++)
            declare_dim(l, t->as.named.dims.data[j]);
    }
}

static bool lower_dims(lower *l, const pkc_param *p, ir_param *out)
{
    const pkc_exprs *d = &p->type->as.named.dims;
    bool ok = true;
    if (d->len > IR_MAX_AXES || (d->len == 0 && out->kind == IR_PARAM_PEER)) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_DIMENSION, p->span, "a tensor has 1 to 5 dimensions");
        return false;
    }
    l->in_dims = true;
    for (size_t i = 0; i < d->len; i++) {
        int64_t v = 1;
        out->dims[i] = lower_hx(l, d->data[i], "a dimension");
        if (out->dims[i] && ir_hx_is_const(out->dims[i], &v) && (v < 1 || v > INT32_MAX)) {
            pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, d->data[i]->span, "a dimension", (long long)v,
                           "from 1 to 2147483647");
            ok = false;
        }
        ok &= out->dims[i] != NULL;
    }
    l->in_dims = false;
    out->n_dims = (int)d->len;
    return ok;
}

static bool bad_parameter(lower *l, pkc_span span, const char *why)
{
    pkc_diag_error(l->s, PKC_DIAG_BAD_PARAMETER, span, why);
    return false;
}

static bool classify(lower *l, const pkc_param *p, ir_param *out)
{
    if (!p->type || p->type->kind != PKC_TYEXPR_NAMED)
        return bad_parameter(
            l, p->span,
            "a kernel parameter needs a type: ELEM[dims], peer ELEM[dims], signal[dims] or a scalar");
    const pkc_name *name = &p->type->as.named.elem;
    bool peer = p->type->as.named.peer, dims = p->type->as.named.dims.len > 0;
    if (strcmp(name->text, "signal") == 0) {
        out->kind = IR_PARAM_SIGNAL;
        out->elem = PKC_E_U32;
        return !peer ||
               bad_parameter(l, p->span, "signals are symmetric already: signal[dims], without peer");
    }
    if (!pkc_elem_find(name->text, &out->elem))
        return false;
    out->kind = peer ? IR_PARAM_PEER : dims ? IR_PARAM_LOCAL : IR_PARAM_SCALAR;
    if (out->kind == IR_PARAM_SCALAR)
        return pkc_elem_in_scalar(out->elem) ||
               bad_parameter(l, p->span, "a scalar is i32 u32 i64 u64 f32 or bool");
    return pkc_elem_in_tensor(out->elem) ||
           bad_parameter(l, p->span, "a tensor's elements are bf16 f16 f32 e4m3 e5m2 i8 i32 or u32");
}

static bool lower_clear(lower *l, const pkc_param *p, ir_param *out)
{
    int64_t v = 1;
    if (!p->init)
        return true;
    if (out->kind != IR_PARAM_PEER || p->init->kind != PKC_EXPR_INT ||
        !lower_constant(l, p->init, "the value", &v) || v != 0)
        return bad_parameter(
            l, p->span, "only '= 0' may follow a parameter, and only a peer tensor: the kernel clears it");
    out->clear = true;
    return true;
}

static meaning scalar_meaning(lower *l, ir_param *p)
{
    const ir_type *type = ir_type_scalar(l->k, p->elem);
    ir_op *op = ir_build(&l->b, IR_SCALAR, 0, 0, NULL, 1, &type, 0);
    op->attr.param = p;
    meaning m = lower_value(&op->out[0]);
    if (p->elem == PKC_E_I32)
        m.hx = ir_hx_scalar(l->k->arena, p->name);
    return m;
}

/// Binds the names first: a parameter in a dimension is a mistake that is told better when it is known.
static void bind_params(lower *l, const pkc_params *params, bool *ok)
{
    for (size_t i = 0; i < params->len; i++) {
        const pkc_param *p = params->data[i];
        ir_param *out = &l->k->params[i];
        *out = (ir_param){.name = p->name.text, .pos = p->span, .index = (int)i};
        ok[i] = classify(l, p, out);
        meaning m = {.kind = MEAN_TENSOR, .param = out, .peer = IR_PEER_OWN};
        lower_bind(l, &p->name,
                   !ok[i]                         ? lower_poison()
                   : out->kind == IR_PARAM_SCALAR ? scalar_meaning(l, out)
                                                  : m);
    }
}

static void lower_params(lower *l, const pkc_params *params)
{
    l->k->n_params = (int)params->len;
    l->k->params = PKC_NEW_ARRAY(l->k->arena, ir_param, params->len + 1);
    declare_dims(l, params);
    bool *ok = PKC_NEW_ARRAY(l->k->arena, bool, params->len + 1);
    bind_params(l, params, ok);
    for (size_t i = 0; i < params->len; i++) {
        ir_param *p = &l->k->params[i];
        if (ok[i] && p->kind != IR_PARAM_SCALAR)
            ok[i] = lower_dims(l, params->data[i], p);
        if (!ok[i] || !lower_clear(l, params->data[i], p))
            lower_bind(l, &params->data[i]->name, lower_poison());
    }
}

static void lower_attributes(lower *l, const pkc_names *names)
{
    for (size_t i = 0; i < names->len; i++) {
        l->k->no_entry_wait |= strcmp(names->data[i].text, "no_entry_wait") == 0;
        l->k->no_exit_barrier |= strcmp(names->data[i].text, "no_exit_barrier") == 0;
    }
}

/// `require` at the head of a kernel: checked by the host, a fact for the passes.
static void lower_require(lower *l, const pkc_stmt *s)
{
    int64_t v;
    const ir_hx *hx = lower_hx(l, s->as.require.condition, "a requirement");
    if (!hx)
        return;
    if (!ir_hx_is_const(hx, &v)) {
        lower_add_require(l, hx, s->as.require.message.text, s->span, true);
        lower_add_require(l, hx, s->as.require.message.text, s->span, false);
    } else if (!v) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_PARAMETER, s->span, s->as.require.message.text);
    }
}

// ---- groups and roles ----------------------------------------------------------------------------------

static ir_group *add_group(lower *l, pkc_str name, const ir_hx *count, pkc_span pos)
{
    ir_group *g = PKC_NEW(l->k->arena, ir_group);
    *g = (ir_group){.name = name, .count = count, .pos = pos, .keeper_warp = -1};
    ir_group **at = &l->k->groups;
    for (; *at; at = &(*at)->next)
        g->index++;
    *at = g;
    return g;
}

static ir_role *find_role(ir_group *g, pkc_str name)
{
    for (ir_role *r = g->roles; r; r = r->next)
        if (r->name == name)
            return r;
    return NULL;
}

static ir_role *add_role(lower *l, ir_role role)
{
    ir_role *r = PKC_NEW(l->k->arena, ir_role);
    *r = role;
    r->group = l->group;
    r->ring = 0;
    ir_role **at = &l->group->roles;
    while (*at)
        at = &(*at)->next;
    *at = r;
    return r;
}

static ir_role_kind role_kind(const struct pkc_stmt_role *s)
{
    switch (s->role) {
    case PKC_ROLE_LOADER:
        return IR_ROLE_LOADER;
    case PKC_ROLE_STORER:
        return IR_ROLE_STORER;
    case PKC_ROLE_CONSUMER:
        return IR_ROLE_CONSUMER;
    case PKC_ROLE_COMMUNICATOR:
        return IR_ROLE_COMMUNICATOR;
    case PKC_ROLE_USER:
    case PKC_ROLE_COUNT:
        break;
    }
    return s->unit == PKC_UNIT_WARPS ? IR_ROLE_WARPS : IR_ROLE_WARPGROUPS;
}

/// The role of a block: a new one, or the one of an earlier block with the same name and count.
static ir_role *role_of(lower *l, const pkc_stmt *s)
{
    const struct pkc_stmt_role *d = &s->as.role;
    ir_role_kind kind = role_kind(d);
    const pkc_role_row *row = pkc_role_row_of((pkc_role_row_id)kind);
    int64_t count = 1;
    if (d->count && !lower_constant(l, d->count, "the count of a role", &count))
        return NULL;
    if (d->count && (count < 1 || count > row->most)) {
        pkc_diag_error(l->s, PKC_DIAG_BAD_COUNT, d->count->span, "the count of a role", (long long)count,
                       pkc_arena_printf(l->k->arena, "from 1 to %d %s", row->most, row->unit));
        return NULL;
    }
    ir_role *r = find_role(l->group, d->name.text);
    if (!r)
        return add_role(
            l, (ir_role){.name = d->name.text, .kind = kind, .count = (int32_t)count, .pos = s->span});
    if (r->kind == kind && r->count == count)
        return r;
    pkc_diag *diag = pkc_diag_error(l->s, PKC_DIAG_ROLE_COUNTS, s->span, r->name, (int)count, row->unit,
                                    r->count, pkc_role_row_of((pkc_role_row_id)r->kind)->unit);
    pkc_diag_note(diag, r->pos, "the earlier block is here");
    return NULL;
}

static void walk_role(lower *l, ir_role *role, const pkc_block *body)
{
    ir_op *op = ir_build(&l->b, IR_ROLE, 0, 0, NULL, 0, NULL, 1);
    op->attr.role = role;
    ir_builder old = l->b;
    l->b.region = &op->reg[0];
    l->b.before = NULL;
    l->role = role;
    lower_block(l, body);
    l->role = NULL;
    l->b = old;
}

void lower_role(lower *l, const pkc_stmt *s)
{
    ir_role *role = role_of(l, s);
    if (role)
        walk_role(l, role, s->as.role.body);
}

/// A body without roles is one communicator(8).
static void walk_group_body(lower *l, const pkc_block *body)
{
    enum { DEFAULT_WARPS = 8 };
    if (pkc_sema_has_roles(body)) {
        lower_block(l, body);
        return;
    }
    ir_role role = {.name = pkc_session_str(l->s, "communicator"),
                    .kind = IR_ROLE_COMMUNICATOR,
                    .count = DEFAULT_WARPS,
                    .implicit = true,
                    .pos = body->span};
    walk_role(l, add_role(l, role), body);
}

void lower_group(lower *l, const pkc_stmt *s)
{
    const ir_hx *count = lower_hx(l, s->as.group.count, "the count of a group");
    if (!count)
        return;
    l->group = add_group(l, s->as.group.name.text, count, s->span);
    ir_op *op = ir_build(&l->b, IR_GROUP, 0, 0, NULL, 0, NULL, 1);
    op->attr.group = l->group;
    ir_builder old = l->b;
    l->b.region = &op->reg[0];
    walk_group_body(l, s->as.group.body);
    l->b = old;
    l->group = NULL;
}

// ---- kernels -------------------------------------------------------------------------------------------

static bool has_groups(const pkc_block *body)
{
    for (size_t i = 0; i < body->stmts.len; i++)
        if (body->stmts.data[i]->kind == PKC_STMT_GROUP)
            return true;
    return false;
}

/// Statements of a kernel: requirements first, then the rest.
static void walk_kernel_body(lower *l, const pkc_block *body)
{
    size_t n = 0;
    while (n < body->stmts.len && body->stmts.data[n]->kind == PKC_STMT_REQUIRE) {
        l->b.pos = body->stmts.data[n]->span;
        lower_require(l, body->stmts.data[n++]);
    }
    pkc_block rest = *body;
    rest.stmts.data += n;
    rest.stmts.len -= n;
    if (has_groups(body)) {
        lower_block(l, &rest);
        return;
    }
    l->group = add_group(l, pkc_session_str(l->s, ""), ir_hx_leaf(l->k->arena, IR_HX_SMS), l->k->pos);
    walk_group_body(l, &rest);
}

static ir_kernel *lower_kernel(pkc_session *session, const pkc_item *item, meaning *env)
{
    ir_kernel *k = PKC_NEW(&session->arena, ir_kernel);
    k->arena = &session->arena;
    k->session = session;
    k->name = item->as.kernel.name.text;
    k->pos = item->span;
    k->body = ir_region_new(k, 0, NULL);
    lower l = {.s = session, .k = k, .env = env};
    l.b = (ir_builder){.kernel = k, .region = k->body, .pos = item->as.kernel.name.span};
    lower_attributes(&l, &item->as.kernel.attributes);
    lower_consts(&l, &item->as.kernel.consts);
    lower_params(&l, &item->as.kernel.params);
    walk_kernel_body(&l, item->as.kernel.body);
    for (size_t i = 0; i < l.bound.len; i++) // only these: a file may have thousands of kernels
        env[l.bound.data[i]] = (meaning){0};
    return k;
}

static size_t count_kernels(const pkc_module *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->items.len; i++)
        n += m->items.data[i]->kind == PKC_ITEM_KERNEL;
    return n;
}

ir_module *ir_lower(pkc_session *session, const pkc_program *program)
{
    const pkc_module *root = program->root;
    ir_module *m = PKC_NEW(&session->arena, ir_module);
    m->session = session;
    m->kernels = PKC_NEW_ARRAY(&session->arena, ir_kernel *, count_kernels(root) + 1);
    meaning *env = PKC_NEW_ARRAY(&session->arena, meaning, program->symbols + 1);
    for (size_t i = 0; i < root->items.len; i++) {
        if (root->items.data[i]->kind != PKC_ITEM_KERNEL)
            continue;
        m->kernels[m->n_kernels++] = lower_kernel(session, root->items.data[i], env);
    }
    return pkc_has_errors(session) ? NULL : m;
}
