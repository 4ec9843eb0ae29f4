// SPDX-License-Identifier: Apache-2.0
// The interface: modules, machines, faults.
#include "sim/exec/exec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/exec/access.h"
#include "sim/exec/machine.h"
#include "sim/ptx/parse.h"

// ---- Modules
// -------------------------------------------------------------------------------------------------------

static uint32_t count_entries(const struct pksim_ptx *ptx)
{
    uint32_t count = 0;
    for (const struct pksim_ptx_func *f = ptx->funcs; f; f = f->next)
        count += f->is_entry && f->has_body;
    return count;
}

static bool fill_function(struct pksim_module *module, const struct pksim_ptx_func *f,
                          struct pksim_function *function, struct pksim_ptx_error *error)
{
    struct pksim_arena *arena = &module->ptx.arena;
    function->entry = f;
    function->params = pksim_arena_alloc(arena, (f->param_count + 1) * sizeof *function->params);
    function->name = pksim_arena_alloc(arena, f->name.length + 1);
    if (!function->params || !function->name)
        return false;
    memcpy(function->name, f->name.text, f->name.length);
    for (size_t i = 0; i < f->param_count; i++) {
        const struct pksim_ptx_var *var = f->params[i];
        function->params[i] = (struct pksim_param_info){var->offset, (uint32_t)var->bytes, var->align};
    }
    return pksim_program_build(&module->ptx, f, &function->program, error);
}

static bool build_functions(struct pksim_module *module, struct pksim_ptx_error *error)
{
    uint32_t count = count_entries(&module->ptx);
    module->functions = pksim_arena_alloc(&module->ptx.arena, (count + 1) * sizeof *module->functions);
    if (!module->functions)
        return false;
    for (const struct pksim_ptx_func *f = module->ptx.funcs; f; f = f->next) {
        if (!f->is_entry || !f->has_body)
            continue;
        if (!fill_function(module, f, &module->functions[module->function_count++], error))
            return false;
    }
    return true;
}

struct pksim_module *pksim_module_parse(const char *text, size_t length, struct pksim_ptx_error *error)
{
    struct pksim_module *module = calloc(1, sizeof *module);
    *error = (struct pksim_ptx_error){0};
    if (module && pksim_ptx_parse(&module->ptx, text, length, error) && build_functions(module, error))
        return module;
    if (!error->text[0])
        snprintf(error->text, sizeof error->text, "out of memory");
    pksim_module_free(module);
    return NULL;
}

void pksim_module_free(struct pksim_module *module)
{
    if (!module)
        return;
    pksim_ptx_release(&module->ptx);
    free(module);
}

uint32_t pksim_module_entry_count(const struct pksim_module *module)
{
    return module->function_count;
}

const struct pksim_function *pksim_module_entry(const struct pksim_module *module, uint32_t index)
{
    return index < module->function_count ? &module->functions[index] : NULL;
}

const struct pksim_function *pksim_module_find(const struct pksim_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (!strcmp(module->functions[i].name, name))
            return &module->functions[i];
    }
    return NULL;
}

void pksim_function_info(const struct pksim_function *function, struct pksim_function_info *info)
{
    const struct pksim_ptx_func *f = function->entry;
    const struct pksim_program *program = &function->program;
    *info = (struct pksim_function_info){
        .name = function->name,
        .param_count = (uint32_t)f->param_count,
        .params = function->params,
        .param_bytes = f->param_bytes,
        .min_ctas_per_sm = f->min_ctas,
        .max_registers = f->max_registers,
        .registers = pksim_function_registers(function),
        .static_shared = program->static_shared,
        .shared_align = program->shared_align,
        .local_bytes = program->local_bytes,
        .needs_cluster = f->explicit_cluster,
    };
    memcpy(info->maxntid, f->maxntid, sizeof info->maxntid);
    memcpy(info->reqntid, f->reqntid, sizeof info->reqntid);
    memcpy(info->cluster, f->cluster, sizeof info->cluster);
}

uint32_t pksim_module_variable_count(const struct pksim_module *module)
{
    return (uint32_t)module->ptx.var_count;
}

void pksim_module_variable(const struct pksim_module *module, uint32_t index,
                           struct pksim_variable_info *info)
{
    const struct pksim_ptx_var *var = module->ptx.vars[index];
    *info = (struct pksim_variable_info){
        .name = var->name.text,
        .size = var->bytes,
        .align = var->align,
        .constant = var->space == PKSIM_PTX_CONST,
        .initialised = var->init != NULL,
    };
}

void pksim_module_variable_fill(const struct pksim_module *module, uint32_t index, const uint64_t *addresses,
                                void *out)
{
    const struct pksim_ptx_var *var = module->ptx.vars[index];
    if (var->init)
        memcpy(out, var->init, var->bytes);
    else
        memset(out, 0, var->bytes);
    for (size_t i = 0; i < var->reloc_count; i++) {
        const struct pksim_ptx_reloc *reloc = &var->relocs[i];
        uint64_t address = addresses[reloc->var->index] + (uint64_t)reloc->addend;
        memcpy((uint8_t *)out + reloc->offset, &address, reloc->size < 8 ? reloc->size : 8);
    }
}

// ---- The machine
// ---------------------------------------------------------------------------------------------------

struct pksim_exec *pksim_exec_create(const struct pksim_exec_config *config)
{
    struct pksim_exec *exec = calloc(1, sizeof *exec);
    if (!exec)
        return NULL;
    exec->config = *config;
    exec->random = config->seed;
    exec->generation = pksim_mem_generation(config->mem);
    size_t count = (size_t)config->devices * config->limits.sms;
    exec->sms = malloc((count ? count : 1) * sizeof *exec->sms);
    exec->panels = pksim_panels_create();
    if (!exec->sms || !exec->panels) {
        pksim_panels_destroy(exec->panels);
        free(exec->sms);
        free(exec);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        exec->sms[i] = (struct pksim_sm){config->limits.shared_per_sm, config->limits.threads_per_sm,
                                         config->limits.ctas_per_sm, config->limits.registers_per_sm};
    }
    return exec;
}

void pksim_exec_free(struct pksim_exec *exec)
{
    if (!exec)
        return;
    pksim_runs_free(exec, false);
    pksim_events_free(exec);
    pksim_storage_free(&exec->storage);
    pksim_panels_destroy(exec->panels);
    free(exec->ready.items);
    free(exec->dozing.items);
    free(exec->parked.items);
    free(exec->sms);
    free(exec);
}

const struct pksim_fault *pksim_exec_fault(const struct pksim_exec *exec)
{
    return exec->faulted ? &exec->fault : NULL;
}

void pksim_exec_stats(const struct pksim_exec *exec, struct pksim_exec_stats *stats)
{
    *stats = exec->stats;
    stats->instructions = exec->clock;
}

void pksim_exec_deadlock(struct pksim_exec *exec)
{
    if (!exec->faulted)
        pksim_deadlock_report(exec);
}

static enum pksim_launch_status add_all(struct pksim_exec *exec, const struct pksim_launch *launches,
                                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id;
        enum pksim_launch_status status = pksim_exec_add(exec, &launches[i], &id);
        if (status != PKSIM_LAUNCH_OK)
            return status;
    }
    return PKSIM_LAUNCH_OK;
}

enum pksim_launch_status pksim_run(const struct pksim_exec_config *config,
                                   const struct pksim_launch *launches, uint32_t count,
                                   struct pksim_fault *fault, struct pksim_exec_stats *stats)
{
    struct pksim_exec *exec = pksim_exec_create(config);
    memset(fault, 0, sizeof *fault);
    if (!exec)
        return PKSIM_LAUNCH_NO_MEMORY;
    enum pksim_launch_status status = add_all(exec, launches, count);
    if (status == PKSIM_LAUNCH_OK) {
        if (pksim_exec_run(exec, 0) == PKSIM_EXEC_STALLED)
            pksim_exec_deadlock(exec);
        if (pksim_exec_fault(exec))
            *fault = *pksim_exec_fault(exec);
        if (stats)
            pksim_exec_stats(exec, stats);
    }
    pksim_exec_free(exec);
    return status;
}

// ---- Faults
// --------------------------------------------------------------------------------------------------------

const char *pksim_fault_words(enum pksim_fault_kind kind)
{
    static const char *const words[] = {
#define FAULT(id, text) text,
#include "sim/exec/fault.def"
    };
    return words[kind];
}

void pksim_place(const struct pksim_run *run, uint32_t pc, struct pksim_fault *fault)
{
    const struct pksim_insn *insn = &run->program->insns[pc];
    const struct pksim_ptx *ptx = run->program->ptx;
    const struct pksim_ptx_loc *loc = &ptx->locs[insn->loc];
    fault->ptx_line = insn->line;
    fault->file[0] = '\0';
    fault->line = fault->column = 0;
    if (!insn->loc)
        return;
    fault->line = loc->line;
    fault->column = loc->column;
    if (loc->file < ptx->file_count && ptx->files[loc->file].text)
        snprintf(fault->file, sizeof fault->file, "%.*s", (int)ptx->files[loc->file].length,
                 ptx->files[loc->file].text);
}

static void place_warp(const struct pksim_warp *w, struct pksim_fault *fault)
{
    const struct pksim_run *run = w->cta->run;
    fault->launch = run->id;
    fault->device = run->device;
    fault->warp = w->index;
    memcpy(fault->ctaid, w->cta->ctaid, sizeof fault->ctaid);
    snprintf(fault->kernel, sizeof fault->kernel, "%s", run->function->name);
    pksim_place(run, w->pc, fault);
}

void pksim_raise(struct pksim_exec *exec, const struct pksim_warp *warp, enum pksim_fault_kind kind,
                 const char *format, ...)
{
    if (exec->faulted)
        return;
    exec->faulted = true;
    exec->fault.kind = kind;
    exec->fault.lane = -1;
    if (warp)
        place_warp(warp, &exec->fault);
    va_list args;
    va_start(args, format);
    vsnprintf(exec->fault.text, sizeof exec->fault.text, format, args);
    va_end(args);
}

static enum pksim_fault_kind unit_kind(enum pksim_unit_fault kind)
{
    switch (kind) {
    case PKSIM_UNIT_OK:
        return PKSIM_FAULT_NONE;
    case PKSIM_UNIT_GLOBAL:
    case PKSIM_UNIT_SHARED:
        return PKSIM_FAULT_OUT_OF_BOUNDS;
    case PKSIM_UNIT_UNWRITTEN:
        return PKSIM_FAULT_UNINITIALISED;
    case PKSIM_UNIT_MAP:
        return PKSIM_FAULT_TENSOR_MAP;
    case PKSIM_UNIT_DESCRIPTOR:
    case PKSIM_UNIT_OPERAND:
        break;
    }
    return PKSIM_FAULT_BAD_OPERAND;
}

void pksim_raise_unit(struct pksim_warp *w, uint32_t pc, uint32_t lane, const struct pksim_unit_error *error)
{
    uint32_t at = w->pc;
    w->pc = pc;
    if (error->kind == PKSIM_UNIT_GLOBAL)
        pksim_raise_mem(w, lane, &error->mem);
    else
        pksim_raise(w->exec, w, unit_kind(error->kind), "lane %u: %s", lane, error->text);
    w->pc = at;
}

int pksim_fault_format(const struct pksim_fault *fault, char *out, size_t size)
{
    char place[280] = "", who[200] = "";
    if (fault->file[0])
        snprintf(place, sizeof place, "%s:%u:%u: ", fault->file, fault->line, fault->column);
    if (fault->kernel[0])
        snprintf(who, sizeof who, "\n  in %s, device %u, CTA (%u, %u, %u), warp %u, PTX line %u",
                 fault->kernel, fault->device, fault->ctaid[0], fault->ctaid[1], fault->ctaid[2], fault->warp,
                 fault->ptx_line);
    char code[12] = "";
    if (fault->code[0])
        snprintf(code, sizeof code, " [%s]", fault->code);
    return snprintf(out, size, "%s%s%s: %s%s", place, pksim_fault_words(fault->kind), code, fault->text, who);
}
