// SPDX-License-Identifier: Apache-2.0
// Modules and declarations of the text form. print.c and text.c write what this reads.
#include <string.h>

#include "ir/parse_impl.h"
#include "support/vec.h"

// ---- lookups -------------------------------------------------------------------------------------------

ir_pipe *ir_parse_find_pipe(ir_parser *p, pkc_str name)
{
    ir_pipe *pipe = p->k->pipes;
    while (pipe && pipe->name != name)
        pipe = pipe->next;
    if (!pipe)
        ir_parse_expected(p, "a declared pipe");
    return pipe;
}

ir_param *ir_parse_find_param(ir_parser *p, pkc_str name)
{
    for (int i = 0; i < p->k->n_params; i++)
        if (p->k->params[i].name == name)
            return &p->k->params[i];
    ir_parse_expected(p, "a declared parameter");
    return NULL;
}

ir_group *ir_parse_find_group(ir_parser *p, pkc_str name)
{
    ir_group *g = p->k->groups;
    while (g && g->name != name)
        g = g->next;
    if (!g)
        ir_parse_expected(p, "a declared group");
    return g;
}

ir_role *ir_parse_find_role(ir_parser *p, const ir_group *group, pkc_str name)
{
    for (ir_group *g = p->k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r && (!group || g == group); r = r->next)
            if (r->name == name)
                return r;
    ir_parse_expected(p, "a declared role");
    return NULL;
}

// ---- declarations --------------------------------------------------------------------------------------

static void parse_dim(ir_parser *p)
{
    ir_kernel *k = p->k;
    pkc_str *dims = PKC_NEW_ARRAY(k->arena, pkc_str, k->n_dims + 1);
    if (k->n_dims)
        memcpy(dims, k->dims, (size_t)k->n_dims * sizeof *dims);
    dims[k->n_dims++] = ir_parse_symbol(p);
    k->dims = dims;
}

static void parse_const(ir_parser *p)
{
    ir_const *c = PKC_NEW(p->k->arena, ir_const);
    c->name = ir_parse_symbol(p);
    c->value = ir_parse_int(p);
    ir_const **at = &p->k->consts;
    while (*at)
        at = &(*at)->next;
    *at = c;
}

static ir_param_kind param_kind(ir_parser *p)
{
    static const char *const words[] = {"local", "peer", "signal", "scalar"};
    for (int i = 0; i < 4; i++)
        if (ir_parse_try(p, words[i]))
            return (ir_param_kind)i;
    ir_parse_expected(p, "local, peer, signal or scalar");
    return IR_PARAM_LOCAL;
}

static void parse_param(ir_parser *p)
{
    ir_kernel *k = p->k;
    if (k->body || k->groups) // ops and bodies point to parameters
        ir_parse_expected(p, "parameters before everything else");
    ir_param *params = PKC_NEW_ARRAY(k->arena, ir_param, k->n_params + 1);
    if (k->n_params)
        memcpy(params, k->params, (size_t)k->n_params * sizeof *params);
    ir_param *x = &params[k->n_params];
    *x = (ir_param){.index = k->n_params, .pos = k->pos};
    k->params = params;
    x->name = ir_parse_symbol(p);
    x->kind = param_kind(p);
    x->elem = ir_parse_elem(p);
    if (ir_parse_try(p, "["))
        while (!p->failed && !ir_parse_try(p, "]")) {
            if (x->n_dims == IR_MAX_AXES)
                ir_parse_expected(p, "at most 5 dimensions");
            else
                x->dims[x->n_dims++] = ir_parse_hx(p);
        }
    ir_parse_members(p, x, ir_param_members);
    k->n_params++;
}

static ir_group *add_group(ir_parser *p, pkc_str name, const ir_hx *count)
{
    ir_group *g = PKC_NEW(p->k->arena, ir_group);
    *g = (ir_group){.name = name, .count = count, .pos = p->k->pos, .keeper_warp = -1};
    ir_group **at = &p->k->groups;
    for (; *at; at = &(*at)->next)
        g->index++;
    *at = g;
    return g;
}

static void parse_group(ir_parser *p)
{
    pkc_str name = ir_parse_symbol(p);
    ir_group *g = add_group(p, name, ir_parse_hx(p));
    ir_parse_members(p, g, ir_group_members);
}

static ir_group *last_group(ir_parser *p)
{
    ir_group *g = p->k->groups;
    if (!g)
        return add_group(p, pkc_session_str(p->session, ""), ir_hx_leaf(p->k->arena, IR_HX_SMS));
    while (g->next)
        g = g->next;
    return g;
}

static void parse_role(ir_parser *p)
{
    ir_role *r = PKC_NEW(p->k->arena, ir_role);
    r->pos = p->k->pos;
    r->group = last_group(p);
    r->name = ir_parse_symbol(p);
    int kind = 0;
    while (kind <= IR_ROLE_WARPGROUPS && !ir_parse_try(p, ir_role_kind_text((ir_role_kind)kind)))
        kind++;
    if (kind > IR_ROLE_WARPGROUPS)
        ir_parse_expected(p, "a kind of role");
    r->kind = (ir_role_kind)kind;
    r->count = (int32_t)ir_parse_int_in(p, 1, 64, "a number of warps or warpgroups");
    ir_parse_members(p, r, ir_role_members);
    ir_role **at = &r->group->roles;
    while (*at)
        at = &(*at)->next;
    *at = r;
}

static void parse_field(ir_parser *p, ir_pipe *pipe)
{
    if (pipe->n_fields == IR_MAX_FIELDS) {
        ir_parse_expected(p, "at most 16 fields");
        return;
    }
    ir_field *f = &pipe->field[pipe->n_fields++];
    f->pos = p->k->pos;
    f->name = ir_parse_symbol(p);
    f->elem = ir_parse_elem(p);
    ir_parse_shape(p, &f->rows, &f->cols);
    f->layout = ir_parse_layout(p);
    ir_parse_members(p, f, ir_field_members);
}

static void parse_pipe(ir_parser *p)
{
    ir_pipe *pipe = PKC_NEW(p->k->arena, ir_pipe);
    pipe->pos = p->k->pos;
    pipe->name = ir_parse_symbol(p);
    ir_parse_need(p, "[");
    pipe->slots = (int32_t)ir_parse_int_in(p, 1, 1 << 16, "a number of slots");
    ir_parse_need(p, "]");
    pipe->group = ir_parse_try(p, "group") ? ir_parse_find_group(p, ir_parse_symbol(p)) : last_group(p);
    if (ir_parse_try(p, "putter"))
        pipe->putter = ir_parse_find_role(p, pipe->group, ir_parse_symbol(p));
    ir_parse_members(p, pipe, ir_pipe_members);
    ir_parse_need(p, "fields");
    while (ir_parse_try(p, "field"))
        parse_field(p, pipe);
    ir_pipe **at = &p->k->pipes;
    while (*at)
        at = &(*at)->next;
    *at = pipe;
}

static void parse_shared(ir_parser *p)
{
    ir_shared *s = PKC_NEW(p->k->arena, ir_shared);
    s->pos = p->k->pos;
    s->name = ir_parse_symbol(p);
    s->elem = ir_parse_elem(p);
    ir_parse_shape(p, &s->rows, &s->cols);
    s->layout = ir_parse_layout(p);
    ir_parse_members(p, s, ir_shared_members);
    ir_shared **at = &p->k->shared;
    while (*at)
        at = &(*at)->next;
    *at = s;
}

static void parse_require(ir_parser *p, ir_require **list)
{
    ir_require *r = PKC_NEW(p->k->arena, ir_require);
    r->pos = p->k->pos;
    r->expr = ir_parse_hx(p);
    ir_parse_skip(p);
    if (*p->at == '"')
        r->why = ir_parse_string(p);
    while (*list)
        list = &(*list)->next;
    *list = r;
}

static void parse_body(ir_parser *p)
{
    ir_region **to = &p->k->body;
    if (!ir_parse_try(p, "all")) {
        ir_parse_skip(p);
        ir_group *g = NULL;
        if (*p->at != '@') { // GROUP.@role
            pkc_str name = ir_parse_word(p, "a group");
            size_t len = strlen(name);
            g = ir_parse_find_group(
                p, pkc_intern_n(&p->session->strings, name, len && name[len - 1] == '.' ? len - 1 : len));
        }
        ir_role *r = ir_parse_find_role(p, g, ir_parse_symbol(p));
        if (!r)
            return;
        to = &r->body;
    }
    if (*to)
        ir_parse_expected(p, "one body for each role");
    *to = ir_region_new(p->k, 0, NULL);
    p->b.region = *to;
    ir_parse_need(p, "{");
    ir_parse_region(p, *to);
}

static bool parse_declaration(ir_parser *p)
{
    if (ir_parse_try(p, "dim"))
        parse_dim(p);
    else if (ir_parse_try(p, "const"))
        parse_const(p);
    else if (ir_parse_try(p, "param"))
        parse_param(p);
    else if (ir_parse_try(p, "group"))
        parse_group(p);
    else if (ir_parse_try(p, "role"))
        parse_role(p);
    else if (ir_parse_try(p, "pipe"))
        parse_pipe(p);
    else if (ir_parse_try(p, "shared"))
        parse_shared(p);
    else if (ir_parse_try(p, "require"))
        parse_require(p, &p->k->requires);
    else if (ir_parse_try(p, "fact"))
        parse_require(p, &p->k->facts);
    else if (ir_parse_try(p, "state"))
        ir_parse_members(p, p->k, ir_kernel_members);
    else if (ir_parse_try(p, "place"))
        ir_parse_members(p, &p->k->place, ir_place_members);
    else if (ir_parse_try(p, "body"))
        parse_body(p);
    else
        return false;
    return true;
}

static ir_form parse_form(ir_parser *p)
{
    static const char *const forms[] = {"L", "P", "U", "O"};
    ir_parse_need(p, "form");
    for (int i = 0; i < 4; i++)
        if (ir_parse_try(p, forms[i]))
            return (ir_form)i;
    ir_parse_expected(p, "L, P, U or O");
    return IR_FORM_L;
}

static ir_kernel *parse_kernel(ir_parser *p)
{
    ir_kernel *k = PKC_NEW(&p->session->arena, ir_kernel);
    uint32_t begin = (uint32_t)(p->at - p->file->text);
    k->arena = &p->session->arena;
    k->session = p->session;
    k->pos = (pkc_span){p->file, begin, begin};
    p->k = k;
    p->b = (ir_builder){.kernel = k, .pos = k->pos};
    ir_ptrmap_init(&p->values, k->arena);
    k->name = ir_parse_symbol(p);
    k->form = parse_form(p);
    ir_parse_need(p, "{");
    while (!p->failed && !ir_parse_try(p, "}"))
        if (!parse_declaration(p))
            ir_parse_expected(p, "a declaration or '}'");
    pkc_buf why = {0};
    if (!p->failed && !ir_verify(k, &why)) {
        p->failed = true;
        pkc_diag_error(p->session, PKC_DIAG_IR_INVALID, k->pos, pkc_buf_cstr(&why));
    }
    pkc_buf_free(&why);
    return k;
}

ir_module *ir_parse_module(pkc_session *session, const pkc_file *file)
{
    ir_parser p = {.session = session, .file = file, .at = file->text};
    PKC_VEC(ir_kernel *) kernels = {0};
    while (!p.failed && ir_parse_try(&p, "kernel"))
        pkc_vec_push(&session->arena, &kernels, parse_kernel(&p));
    ir_parse_skip(&p);
    if (*p.at)
        ir_parse_expected(&p, "'kernel' or the end of the file");
    ir_module *m = PKC_NEW(&session->arena, ir_module);
    *m = (ir_module){session, kernels.data, (int)kernels.len};
    return p.failed ? NULL : m;
}
