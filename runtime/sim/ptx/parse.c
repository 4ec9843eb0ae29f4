// SPDX-License-Identifier: Apache-2.0
// Module level: linkage, functions with their signatures and performance directives, files (PTX ISA 11).
#include <stdlib.h>
#include <string.h>

#include "sim/ptx/parse.h"

// ---- Functions
// -----------------------------------------------------------------------------------------------------

static void keep_param(struct pksim_parser *p, struct pksim_ptx_var ***list, size_t *count, size_t *capacity)
{
    struct pksim_ptx_var *var = pksim_parse_param(p);
    if (!var ||
        !pksim_arena_grow(&p->ptx->arena, (void **)list, *count, capacity, sizeof(struct pksim_ptx_var *)))
        return;
    (*list)[(*count)++] = var;
}

static void parse_params(struct pksim_parser *p, struct pksim_ptx_var ***list, size_t *count,
                         size_t *capacity)
{
    pksim_parse_expect(p, '(');
    if (pksim_parse_accept(p, ')'))
        return;
    do
        keep_param(p, list, count, capacity);
    while (pksim_parse_accept(p, ','));
    pksim_parse_expect(p, ')');
}

// Each parameter at the next multiple of its alignment, as the driver's launch call lays them out.
static void place_params(struct pksim_ptx_func *f)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < f->param_count; i++) {
        struct pksim_ptx_var *var = f->params[i];
        offset = (offset + var->align - 1) / var->align * var->align;
        var->offset = (uint32_t)offset;
        offset += var->bytes;
    }
    f->param_bytes = (uint32_t)offset;
}

static void parse_triple(struct pksim_parser *p, uint32_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3; i++) {
        out[i] = (uint32_t)pksim_parse_int(p);
        if (!pksim_parse_accept(p, ','))
            return;
    }
}

static void parse_performance(struct pksim_parser *p, struct pksim_ptx_func *f)
{
    struct pksim_name name = p->token.name;
    uint32_t line = p->token.line;
    pksim_parse_next(p);
    if (pksim_name_is(name, "maxntid"))
        parse_triple(p, f->maxntid);
    else if (pksim_name_is(name, "reqntid"))
        parse_triple(p, f->reqntid);
    else if (pksim_name_is(name, "reqnctapercluster"))
        parse_triple(p, f->cluster);
    else if (pksim_name_is(name, "minnctapersm"))
        f->min_ctas = (uint32_t)pksim_parse_int(p);
    else if (pksim_name_is(name, "maxnreg"))
        f->max_registers = (uint32_t)pksim_parse_int(p);
    else if (pksim_name_is(name, "maxnctapersm") || pksim_name_is(name, "maxclusterrank"))
        pksim_parse_int(p);
    else if (pksim_name_is(name, "explicitcluster"))
        f->explicit_cluster = true;
    else if (pksim_name_is(name, "pragma"))
        while (p->token.kind != PKSIM_TOK_END && !pksim_parse_accept(p, ';'))
            pksim_parse_next(p);
    else if (!pksim_name_is(name, "noreturn"))
        pksim_parse_fail(p, line, "directive .%.*s is not supported", (int)name.length, name.text);
}

static struct pksim_ptx_func *function_named(struct pksim_parser *p, struct pksim_name name)
{
    struct pksim_ptx_func *f = pksim_parse_find_func(p, name);
    if (f)
        return f;
    f = pksim_arena_alloc(&p->ptx->arena, sizeof *f);
    if (!f) {
        pksim_parse_fail(p, p->token.line, "out of memory");
        return NULL;
    }
    f->name = name;
    f->line = p->token.line;
    *p->func_tail = f;
    p->func_tail = &f->next;
    return f;
}

static void mark_frame_params(struct pksim_ptx_func *f)
{
    for (size_t i = 0; i < f->param_count; i++)
        f->params[i]->frame_param = true;
    for (size_t i = 0; i < f->result_count; i++)
        f->results[i]->frame_param = true;
}

static void take_signature(struct pksim_ptx_func *f, const struct pksim_ptx_func *signature)
{
    f->is_entry = signature->is_entry;
    f->params = signature->params;
    f->param_count = signature->param_count;
    f->results = signature->results;
    f->result_count = signature->result_count;
    if (f->is_entry)
        place_params(f);
    else
        mark_frame_params(f);
}

static struct pksim_ptx_func *parse_signature(struct pksim_parser *p)
{
    struct pksim_ptx_func signature = {.is_entry = pksim_parse_is_directive(p, "entry")};
    pksim_parse_next(p);
    if (!signature.is_entry && pksim_parse_is(p, '('))
        parse_params(p, &signature.results, &signature.result_count, &signature.result_capacity);
    if (p->token.kind != PKSIM_TOK_NAME) {
        pksim_parse_fail(p, p->token.line, "expected the name of a function");
        return NULL;
    }
    struct pksim_ptx_func *f = function_named(p, p->token.name);
    pksim_parse_next(p);
    if (pksim_parse_is(p, '('))
        parse_params(p, &signature.params, &signature.param_count, &signature.param_capacity);
    if (f)
        take_signature(f, &signature);
    return f;
}

// A signature may stand alone (a forward declaration) or with a body; the parameters' scope holds both.
static void parse_function(struct pksim_parser *p)
{
    p->var_index = 0;
    pksim_scope_open(p);
    struct pksim_ptx_func *f = parse_signature(p);
    while (f && p->token.kind == PKSIM_TOK_DIRECTIVE)
        parse_performance(p, f);
    if (f && !pksim_parse_accept(p, ';')) {
        if (f->has_body)
            pksim_parse_fail(p, p->token.line, "function %.*s is defined twice", (int)f->name.length,
                             f->name.text);
        p->func = f;
        pksim_parse_body(p);
        p->func = NULL;
    }
    pksim_scope_close(p);
}

// ---- Module
// --------------------------------------------------------------------------------------------------------

static void parse_file(struct pksim_parser *p)
{
    struct pksim_ptx *ptx = p->ptx;
    pksim_parse_next(p);
    int64_t index = pksim_parse_int(p);
    if (index < 0 || index > 65535 || p->token.kind != PKSIM_TOK_STRING) {
        pksim_parse_fail(p, p->token.line, "bad .file");
        return;
    }
    if ((size_t)index >= ptx->file_count) {
        struct pksim_name *files = pksim_arena_alloc(&ptx->arena, ((size_t)index + 1) * sizeof *files);
        if (!files)
            return;
        if (ptx->file_count)
            memcpy(files, ptx->files, ptx->file_count * sizeof *files);
        ptx->files = files;
        ptx->file_count = (size_t)index + 1;
    }
    ptx->files[index] = p->token.name;
    pksim_parse_next(p);
    while (pksim_parse_accept(p, ','))
        pksim_parse_int(p);
}

// .section NAME { ... }: debug information, which we do not read.
static void skip_section(struct pksim_parser *p)
{
    while (p->token.kind != PKSIM_TOK_END && !pksim_parse_is(p, '{'))
        pksim_parse_next(p);
    while (p->token.kind != PKSIM_TOK_END && !pksim_parse_is(p, '}'))
        pksim_parse_next(p);
    pksim_parse_expect(p, '}');
}

static bool skip_linkage(struct pksim_parser *p, bool *is_extern)
{
    bool found = false;
    for (;;) {
        if (pksim_parse_is_directive(p, "extern"))
            *is_extern = true;
        else if (!pksim_parse_is_directive(p, "visible") && !pksim_parse_is_directive(p, "weak") &&
                 !pksim_parse_is_directive(p, "common"))
            return found;
        found = true;
        pksim_parse_next(p);
    }
}

static void skip_line(struct pksim_parser *p)
{
    uint32_t line = p->token.line;
    while (p->token.kind != PKSIM_TOK_END && p->token.line == line)
        pksim_parse_next(p);
}

static void parse_directive(struct pksim_parser *p)
{
    enum pksim_ptx_space space;
    bool is_extern = false;
    skip_linkage(p, &is_extern);
    if (pksim_parse_is_directive(p, "entry") || pksim_parse_is_directive(p, "func"))
        parse_function(p);
    else if (pksim_parse_space(p, &space) && space != PKSIM_PTX_PARAM && space != PKSIM_PTX_LOCAL)
        pksim_parse_variables(p, space, is_extern);
    else if (pksim_parse_is_directive(p, "file"))
        parse_file(p);
    else if (pksim_parse_is_directive(p, "section"))
        skip_section(p);
    else if (pksim_parse_is_directive(p, "version") || pksim_parse_is_directive(p, "target") ||
             pksim_parse_is_directive(p, "address_size") || pksim_parse_is_directive(p, "loc") ||
             pksim_parse_is_directive(p, "pragma"))
        skip_line(p);
    else
        pksim_parse_fail(p, p->token.line, "directive .%.*s is not supported", (int)p->token.name.length,
                         p->token.name.text);
}

static bool copy_text(struct pksim_ptx *ptx, const char *text, size_t length)
{
    ptx->text = pksim_arena_alloc(&ptx->arena, length + 1);
    if (!ptx->text)
        return false;
    // The driver API passes NUL-terminated text with or without the NUL counted.
    const char *nul = memchr(text, '\0', length);
    ptx->length = nul ? (size_t)(nul - text) : length;
    memcpy(ptx->text, text, ptx->length);
    return true;
}

bool pksim_ptx_parse(struct pksim_ptx *ptx, const char *text, size_t length, struct pksim_ptx_error *error)
{
    *error = (struct pksim_ptx_error){0};
    struct pksim_parser *p = calloc(1, sizeof *p);
    if (!p || !copy_text(ptx, text, length) ||
        !pksim_arena_grow(&ptx->arena, (void **)&ptx->locs, 0, &ptx->loc_capacity, sizeof *ptx->locs)) {
        free(p);
        memcpy(error->text, "out of memory", sizeof "out of memory");
        return false;
    }
    ptx->loc_count = 1;
    p->ptx = ptx;
    p->error = error;
    p->func_tail = &ptx->funcs;
    p->lexer = (struct pksim_lexer){ptx->text, ptx->text + ptx->length, 1};
    pksim_parse_next(p);
    if (!pksim_parse_is_directive(p, "version"))
        pksim_parse_fail(p, p->token.line, "PTX begins with .version");
    while (p->token.kind == PKSIM_TOK_DIRECTIVE)
        parse_directive(p);
    if (p->token.kind != PKSIM_TOK_END)
        pksim_parse_fail(p, p->token.line, "expected a directive");
    if (ptx->arena.failed)
        pksim_parse_fail(p, p->token.line, "out of memory");
    bool ok = !p->failed;
    free(p);
    return ok;
}

void pksim_ptx_release(struct pksim_ptx *ptx)
{
    pksim_arena_free(&ptx->arena);
    *ptx = (struct pksim_ptx){0};
}
