// SPDX-License-Identifier: Apache-2.0
// The description of a module: all that the runtime must know to bind and launch its kernels. Its form is the
// runtime's (runtime/abi), docs/module.md explains it.
#include "nvptx/describe.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "nvptx/abi.h"
#include "nvptx/module.h"
#include "nvptx/nvptx.h"

static cJSON *expression(const ir_hx *x)
{
    pkc_buf text = {0};
    ir_hx_print_json(x, &text);
    cJSON *json = cJSON_Parse(pkc_buf_cstr(&text));
    pkc_buf_free(&text);
    return json;
}

static void add_int(cJSON *to, const char *key, int64_t v)
{
    cJSON_AddNumberToObject(to, key, (double)v);
}
static void add_text(cJSON *to, const char *key, const char *v)
{
    cJSON_AddStringToObject(to, key, v);
}

/// `["what", a, b]`, the way in which expressions and fields are written.
static cJSON *prefix(const char *what, const char *name, int number)
{
    cJSON *a = cJSON_CreateArray();
    cJSON_AddItemToArray(a, cJSON_CreateString(what));
    if (name)
        cJSON_AddItemToArray(a, cJSON_CreateString(name));
    if (number >= 0)
        cJSON_AddItemToArray(a, cJSON_CreateNumber(number));
    return a;
}

static cJSON *binary(const char *op, cJSON *a, cJSON *b)
{
    cJSON *x = prefix(op, NULL, -1);
    cJSON_AddItemToArray(x, a);
    cJSON_AddItemToArray(x, b);
    return x;
}

/// base + each * ranks
static cJSON *offset(int64_t base, int64_t each)
{
    cJSON *number = cJSON_CreateNumber((double)base);
    if (!each)
        return number;
    return binary("add", number, binary("mul", prefix("ranks", NULL, -1), cJSON_CreateNumber((double)each)));
}

// ---- groups and roles
// --------------------------------------------------------------------------------------

static cJSON *describe_role(const char *name, int first, int warps, bool thin, int regs)
{
    cJSON *j = cJSON_CreateObject();
    add_text(j, "name", name);
    int range[2] = {first, first + warps};
    cJSON_AddItemToObject(j, "warps", cJSON_CreateIntArray(range, 2));
    if (thin)
        cJSON_AddTrueToObject(j, "thin");
    if (regs)
        add_int(j, "regs", regs);
    return j;
}

static cJSON *describe_groups(const ir_kernel *k)
{
    cJSON *all = cJSON_CreateArray();
    for (const ir_group *g = k->groups; g; g = g->next) {
        cJSON *j = cJSON_CreateObject(), *roles = cJSON_CreateArray();
        add_text(j, "name", g->name);
        cJSON_AddItemToObject(j, "count", expression(g->count));
        for (const ir_role *r = g->roles; r; r = r->next)
            if (r->body)
                cJSON_AddItemToArray(roles,
                                     describe_role(r->name, r->first_warp, r->warps, r->thin, r->regs));
        if (g->keeper_warp >= 0)
            cJSON_AddItemToArray(roles, describe_role("keeper", g->keeper_warp, 1, false, 0));
        cJSON_AddItemToObject(j, "roles", roles);
        cJSON_AddItemToArray(all, j);
    }
    return all;
}

// ---- parameters and maps
// -----------------------------------------------------------------------------------

static const char *kind_text(ir_param_kind kind)
{
    switch (kind) {
    case IR_PARAM_LOCAL:
        return "local";
    case IR_PARAM_PEER:
        return "peer";
    case IR_PARAM_SIGNAL:
        return "signal";
    case IR_PARAM_SCALAR:
        return "scalar";
    }
    return "";
}

static cJSON *describe_params(const ir_kernel *k)
{
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < k->n_params; i++) {
        const ir_param *p = &k->params[i];
        cJSON *j = cJSON_CreateObject();
        add_text(j, "name", p->name);
        add_text(j, "kind", kind_text(p->kind));
        if (p->kind != IR_PARAM_SIGNAL)
            add_text(j, "elem", pkc_elem_name(p->elem));
        if (p->kind != IR_PARAM_SCALAR) {
            cJSON *dims = cJSON_AddArrayToObject(j, "dims");
            for (int d = 0; d < p->n_dims; d++)
                cJSON_AddItemToArray(dims, expression(p->dims[d]));
        }
        if (p->clear)
            cJSON_AddTrueToObject(j, "clear");
        if (p->written)
            cJSON_AddTrueToObject(j, "written");
        cJSON_AddItemToArray(all, j);
    }
    return all;
}

static cJSON *describe_maps(const nv_layout *lay)
{
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < lay->n_maps; i++) {
        const nv_tmap *m = &lay->maps[i];
        const nv_field *f = nv_field_map(lay, m);
        cJSON *j = cJSON_CreateObject();
        add_text(j, "param", m->param->name);
        add_text(j, "per", m->per_rank ? "rank" : "own");
        cJSON_AddItemToObject(j, "axes", cJSON_CreateIntArray(m->axis, m->n_axes));
        cJSON_AddItemToObject(j, "box", cJSON_CreateIntArray(m->box, m->n_axes));
        add_int(j, "swizzle", m->swizzle);
        cJSON_AddItemToObject(j, "at", offset(f->at, f->at_ranks));
        cJSON_AddItemToArray(all, j);
    }
    return all;
}

// ---- the block
// ---------------------------------------------------------------------------------------------

static cJSON *pointer(const nv_field *f, const char *whose)
{
    cJSON *x = prefix("pointer", f->param->name, -1);
    cJSON_AddItemToArray(x, cJSON_CreateString(whose));
    return x;
}

static cJSON *field_what(const nv_field *f)
{
    switch (f->what) {
    case NV_WHAT_DIM:
        return prefix("dim", f->dim, -1);
    case NV_WHAT_SCALAR:
        return prefix("scalar", f->param->name, -1);
    case NV_WHAT_FIRST:
        return prefix("first", NULL, f->group->index);
    case NV_WHAT_STRIDE:
        return prefix("stride", f->param->name, f->axis);
    case NV_WHAT_SIGNAL:
        return prefix("signal", f->param->name, -1);
    case NV_WHAT_BANK:
        return prefix("bank_words", NULL, -1);
    case NV_WHAT_STATES:
        return prefix("peer_states", NULL, -1);
    case NV_WHAT_MULTI_STATE:
        return prefix("multicast_state", NULL, -1);
    case NV_WHAT_POINTER:
        return pointer(f, "own");
    case NV_WHAT_PEERS:
        return pointer(f, "rank");
    case NV_WHAT_MULTI:
        return pointer(f, "all");
    case NV_WHAT_MAP:
    case NV_WHAT_MAPS:
        break; // described as maps
    }
    return NULL;
}

static void add_fixed(cJSON *fields, int64_t at, const char *what)
{
    cJSON *j = cJSON_CreateObject();
    add_int(j, "at", at);
    cJSON_AddItemToObject(j, "what", prefix(what, NULL, -1));
    cJSON_AddItemToArray(fields, j);
}

static cJSON *describe_block(const nv_layout *lay)
{
    cJSON *j = cJSON_CreateObject(), *fields = cJSON_CreateArray();
    cJSON_AddItemToObject(j, "size", offset(lay->size, lay->size_ranks));
    add_int(j, "stride_align", NV_ABI_BLOCK_ALIGN);
#define PK_ABI_BLOCK(name, text, offset) add_fixed(fields, offset, text);
#include "abi/abi.def"
    for (int i = 0; i < lay->n_fields; i++) {
        const nv_field *f = &lay->fields[i];
        cJSON *what = field_what(f);
        if (!what)
            continue;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToObject(one, "at", offset(f->at, f->at_ranks));
        cJSON_AddItemToObject(one, "what", what);
        cJSON_AddItemToArray(fields, one);
    }
    cJSON_AddItemToObject(j, "fields", fields);
    return j;
}

// ---- requirements, state
// -----------------------------------------------------------------------------------

static cJSON *describe_requires(const ir_kernel *k)
{
    cJSON *all = cJSON_CreateArray();
    for (const ir_require *r = k->requires; r; r = r->next) {
        cJSON *j = cJSON_CreateObject();
        cJSON_AddItemToObject(j, "expr", expression(r->expr));
        add_text(j, "why", r->why);
        cJSON_AddItemToArray(all, j);
    }
    return all;
}

static cJSON *describe_state(const ir_kernel *k, const nv_layout *lay)
{
    cJSON *j = cJSON_CreateObject();
    cJSON_AddBoolToObject(j, "entry", k->needs_entry);
    cJSON_AddBoolToObject(j, "exit", nv_has_exit(k));
    cJSON_AddBoolToObject(j, "signals", k->has_signals);
    if (nv_field_param(lay, NV_WHAT_MULTI_STATE, NULL, 0))
        cJSON_AddTrueToObject(j, "multicast");
    return j;
}

static cJSON *describe_kernel(const ir_kernel *k)
{
    const nv_layout *lay = nv_layout_make(k);
    cJSON *j = cJSON_CreateObject();
    add_text(j, "name", k->name);
    add_text(j, "entry", pkc_arena_printf(k->arena, "pk%d_%s", NV_ABI_MAJOR, k->name));
    if (k->pos.file) {
        add_text(j, "source", k->pos.file->name);
        add_int(j, "line", pkc_span_begin(k->pos).line);
    }
    add_int(j, "threads", k->place.threads);
    if (k->place.entry_regs)
        add_int(j, "regs", k->place.entry_regs);
    add_int(j, "cluster", 1);
    add_int(j, "smem", k->place.smem);
    cJSON *consts = cJSON_AddObjectToObject(j, "consts");
    for (const ir_const *c = k->consts; c; c = c->next)
        add_int(consts, c->name, c->value);
    cJSON_AddItemToObject(j, "groups", describe_groups(k));
    cJSON_AddItemToObject(j, "params", describe_params(k));
    cJSON_AddItemToObject(j, "maps", describe_maps(lay));
    cJSON_AddItemToObject(j, "block", describe_block(lay));
    cJSON_AddItemToObject(j, "require", describe_requires(k));
    cJSON_AddItemToObject(j, "state", describe_state(k, lay));
    return j;
}

static char *describe(const ir_module *module, const pkc_target *target, bool pretty)
{
    const int abi[2] = {NV_ABI_MAJOR, NV_ABI_MINOR};
    cJSON *j = cJSON_CreateObject(), *kernels = cJSON_CreateArray();
    cJSON_AddItemToObject(j, "abi", cJSON_CreateIntArray(abi, 2));
    add_text(j, "target", target->name);
    add_int(j, "ptx", target->ptx);
    for (int i = 0; i < module->n_kernels; i++)
        cJSON_AddItemToArray(kernels, describe_kernel(module->kernels[i]));
    cJSON_AddItemToObject(j, "kernels", kernels);
    char *text = pretty ? cJSON_Print(j) : cJSON_PrintUnformatted(j);
    cJSON_Delete(j);
    return text;
}

static bool append(pkc_session *session, char *text, const char *before, pkc_buf *out)
{
    if (!text) {
        pkc_diag_error(session, PKC_DIAG_INTERNAL, (pkc_span){0}, "no memory for the module's description");
        return false;
    }
    pkc_buf_printf(out, "%s%s\n", before, text);
    free(text);
    return true;
}

bool nv_describe_comment(pkc_session *session, const ir_module *module, const pkc_target *target,
                         pkc_buf *out)
{
    return append(session, describe(module, target, false), "//pk ", out);
}

bool pkc_nvptx_describe(pkc_session *session, const ir_module *module, const pkc_target *target, pkc_buf *out)
{
    return append(session, describe(module, target, true), "", out);
}
