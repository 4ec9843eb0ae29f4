// SPDX-License-Identifier: Apache-2.0
#include "driver/pipeline.h"

#include <string.h>

#include "driver/tile.h"
#include "ir/lower.h"
#include "nvptx/nvptx.h"
#include "sema/sema.h"
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

/// The architecture asked for; NULL, with an error that lists the known ones, where there is no such.
static const pkc_target *find_target(pkc_session *session)
{
    const pkc_target *target = pkc_target_find(session->settings.arch);
    if (target && target->emitted)
        return target;
    pkc_diag *d = pkc_diag_error(session, PKC_DIAG_UNKNOWN_ARCH, (pkc_span){0}, session->settings.arch);
    for (int i = 0; pkc_target_at(i); i++)
        if (pkc_target_at(i)->emitted)
            pkc_diag_note(d, (pkc_span){0}, "'%s' is one", pkc_target_at(i)->name);
    return NULL;
}

static void print_ir(pkc_job *job, const ir_module *module)
{
    ir_print_module(module, job->emit == PKC_EMIT_IR_LOC, &job->output);
}

static void emit_header(pkc_job *job, const ir_module *module, const pkc_target *target)
{
    pkc_buf ptx = {0};
    if (pkc_nvptx_emit(job->session, module, target, PKC_NVPTX_PTX, &ptx))
        pkc_nvptx_header(job->session, module, job->root->name, &ptx, &job->output);
    pkc_buf_free(&ptx);
}

static void emit(pkc_job *job, const ir_module *module, const pkc_target *target)
{
    switch (job->emit) {
    case PKC_EMIT_PTX:
        pkc_nvptx_emit(job->session, module, target, PKC_NVPTX_PTX, &job->output);
        return;
    case PKC_EMIT_LLVM:
        pkc_nvptx_emit(job->session, module, target, PKC_NVPTX_LLVM, &job->output);
        return;
    case PKC_EMIT_HEADER:
        emit_header(job, module, target);
        return;
    case PKC_EMIT_META:
        pkc_nvptx_describe(job->session, module, target, &job->output);
        return;
    case PKC_EMIT_IR:
    case PKC_EMIT_IR_LOC:
        print_ir(job, module);
        return;
    case PKC_EMIT_AST:
        return; // done before there was a module
    }
}

/// Tile IR from a program, or from its text form. NULL: mistakes are in the session.
static ir_module *to_tile(pkc_job *job)
{
    if (pkc_tile_is_input(job))
        return ir_parse_module(job->session, job->root);
    pkc_program *program = front(job);
    if (!program)
        return NULL;
    if (job->emit == PKC_EMIT_AST) {
        pkc_print_module(program->root, &job->output);
        return NULL;
    }
    return pkc_sema(job->session, program) ? ir_lower(job->session, program) : NULL;
}

/// Whether every kernel has been through all passes, by this run or in the tile IR that was given.
static bool is_complete(const ir_module *module)
{
    for (int i = 0; i < module->n_kernels; i++)
        if (module->kernels[i]->form != IR_FORM_O || !module->kernels[i]->place.threads)
            return false;
    return true;
}

void pkc_pipeline_run(pkc_job *job)
{
    const pkc_target *target = find_target(job->session);
    if (!target || !pkc_tile_check_names(job))
        return;
    ir_module *module = to_tile(job);
    if (!module || !pkc_tile_run(job, module))
        return;
    bool whole = !job->session->settings.stop_after && is_complete(module);
    if (job->check_only)
        return;
    if (module->n_kernels == 0 && job->emit != PKC_EMIT_AST)
        pkc_diag_error(job->session, PKC_DIAG_NO_KERNEL, (pkc_span){.file = job->root});
    else if (whole)
        emit(job, module, target);
    else
        print_ir(job, module);
}
