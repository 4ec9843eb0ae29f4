// SPDX-License-Identifier: Apache-2.0
// Finds and reads imported modules.
#include <stdlib.h>
#include <string.h>

#include "syntax/syntax.h"

typedef struct loading {
    const pkc_module *module;
    const struct loading *importer; // NULL for the root
} loading;

typedef struct loader {
    pkc_session *session;
    pkc_program *program;
} loader;

typedef PKC_VEC(const char *) paths;

static const char *folder_of(pkc_session *session, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? pkc_arena_strndup(&session->arena, path, (size_t)(slash - path)) : NULL;
}

static void add_path(pkc_session *session, paths *list, const char *folder, const char *name)
{
    const char *path = folder ? pkc_arena_printf(&session->arena, "%s/%s.pk", folder, name)
                              : pkc_arena_printf(&session->arena, "%s.pk", name);
    for (size_t i = 0; i < list->len; i++)
        if (strcmp(list->data[i], path) == 0)
            return;
    pkc_vec_push(&session->arena, list, path);
}

// Where a module may lie, in the order in which the places are looked at.
static paths candidates(pkc_session *session, const pkc_file *importer, const char *name)
{
    paths list = {0};
    const pkc_settings *settings = &session->settings;
    add_path(session, &list, folder_of(session, importer->name), name);
    for (size_t i = 0; i < settings->include_dirs.len; i++)
        add_path(session, &list, settings->include_dirs.data[i], name);
    if (settings->stdlib_dir)
        add_path(session, &list, settings->stdlib_dir, name);
    return list;
}

static void report_missing(pkc_session *session, const pkc_name *name, const paths *tried)
{
    pkc_diag *d = pkc_diag_error(session, PKC_DIAG_MODULE_NOT_FOUND, name->span, name->text);
    for (size_t i = 0; i < tried->len; i++)
        pkc_diag_note(d, (pkc_span){0}, "tried %s", tried->data[i]);
}

static pkc_module *find_loaded(const loader *l, const char *path)
{
    for (size_t i = 0; i < l->program->modules.len; i++)
        if (strcmp(l->program->modules.data[i]->file->name, path) == 0)
            return l->program->modules.data[i];
    return NULL;
}

static const loading *find_open(const loading *stack, const char *path)
{
    while (stack && strcmp(stack->module->file->name, path) != 0)
        stack = stack->importer;
    return stack;
}

static void report_cycle(pkc_session *session, const pkc_name *name, const loading *from,
                         const loading *stack)
{
    pkc_diag *d = pkc_diag_error(session, PKC_DIAG_IMPORT_CYCLE, name->span, name->text);
    for (; stack != from; stack = stack->importer)
        pkc_diag_note(d, (pkc_span){0}, "'%s' is imported by '%s'", stack->module->name,
                      stack->importer->module->name);
}

static void load_imports(loader *l, const loading *self);

static pkc_module *load_file(loader *l, const pkc_file *file, const loading *importer)
{
    pkc_module *module = pkc_parse(l->session, file);
    loading self = {module, importer};
    load_imports(l, &self);
    pkc_vec_push(&l->session->arena, &l->program->modules, module);
    return module;
}

// The module that lies at the path: known, or read now. NULL where there is none, or it was refused.
static pkc_module *import_path(loader *l, const pkc_name *name, const char *path, const loading *self)
{
    const loading *open = find_open(self, path);
    if (open) {
        report_cycle(l->session, name, open, self);
        return NULL;
    }
    pkc_module *loaded = find_loaded(l, path);
    if (loaded || !l->session->read)
        return loaded;
    size_t len = 0;
    char *text = l->session->read(l->session->read_context, path, &len);
    if (!text)
        return NULL;
    pkc_file *file = pkc_session_add_file(l->session, path, text, len);
    free(text);
    return file ? load_file(l, file, self) : NULL;
}

static pkc_module *import(loader *l, const pkc_name *name, const loading *self)
{
    paths list = candidates(l->session, self->module->file, name->text);
    size_t errors = pkc_diag_count(l->session, PKC_SEVERITY_ERROR);
    for (size_t i = 0; i < list.len; i++) {
        pkc_module *module = import_path(l, name, list.data[i], self);
        if (module || errors != pkc_diag_count(l->session, PKC_SEVERITY_ERROR))
            return module;
    }
    report_missing(l->session, name, &list);
    return NULL;
}

static void load_imports(loader *l, const loading *self)
{
    for (size_t i = 0; i < self->module->items.len; i++) {
        pkc_item *item = self->module->items.data[i];
        if (item->kind != PKC_ITEM_IMPORT)
            continue;
        item->as.import.module = import(l, &item->as.import.name, self);
    }
}

pkc_program *pkc_load(pkc_session *session, const pkc_file *root)
{
    pkc_program *program = PKC_NEW(&session->arena, pkc_program);
    loader l = {session, program};
    program->root = load_file(&l, root, NULL);
    return pkc_has_errors(session) ? NULL : program;
}
