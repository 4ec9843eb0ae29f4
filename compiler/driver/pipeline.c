// SPDX-License-Identifier: Apache-2.0
#include "driver/pipeline.h"

#include <string.h>

#include "syntax/syntax.h"

// The const parameter exists in a kernel that the define may mean.
static bool sets_something(const pkc_module *module, const pkc_define *define)
{
    for (size_t i = 0; i < module->items.len; i++) {
        const pkc_item *item = module->items.data[i];
        if (item->kind != PKC_ITEM_KERNEL || (define->kernel && define->kernel != item->as.kernel.name.text))
            continue;
        const pkc_params *consts = &item->as.kernel.consts;
        for (size_t c = 0; c < consts->len; c++)
            if (consts->data[c]->name.text == define->name)
                return true;
    }
    return false;
}

static void check_defines(pkc_session *session, const pkc_module *module)
{
    for (size_t i = 0; i < session->settings.defines.len; i++) {
        const pkc_define *define = &session->settings.defines.data[i];
        if (sets_something(module, define))
            continue;
        const char *name = define->kernel
                               ? pkc_arena_printf(&session->arena, "%s.%s", define->kernel, define->name)
                               : define->name;
        pkc_diag_error(session, PKC_DIAG_UNKNOWN_DEFINE, (pkc_span){0}, name);
    }
}

static void verify_tree(pkc_session *session, const pkc_program *program)
{
    for (size_t i = 0; session->settings.verify && i < program->modules.len; i++) {
        const char *problem = pkc_ast_verify(session, program->modules.data[i]);
        if (problem)
            pkc_diag_error(session, PKC_DIAG_INTERNAL, (pkc_span){0}, problem);
    }
}

static pkc_program *front(pkc_job *job)
{
    pkc_program *program = pkc_load(job->session, job->root);
    if (!program)
        return NULL;
    verify_tree(job->session, program);
    check_defines(job->session, program->root);
    return pkc_has_errors(job->session) ? NULL : program;
}

void pkc_pipeline_run(pkc_job *job)
{
    pkc_program *program = front(job);
    if (!program)
        return;
    if (job->emit == PKC_EMIT_AST)
        pkc_print_module(program->root, &job->output);
}
