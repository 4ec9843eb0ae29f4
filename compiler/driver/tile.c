// SPDX-License-Identifier: Apache-2.0
#include "driver/tile.h"

#include <string.h>

#include "nvptx/target.h"

// What --stop-after and --dump-after call the tile IR as it comes from the tree, before the first pass.
static const char lower_name[] = "lower";

static bool find_pass(const char *name, ir_pass *out)
{
    for (int i = 0; i < IR_PASS_COUNT; i++)
        if (strcmp(ir_pass_name((ir_pass)i), name) == 0) {
            *out = (ir_pass)i;
            return true;
        }
    return false;
}

static void check_name(pkc_session *session, const char *name)
{
    ir_pass pass;
    if (name && strcmp(name, lower_name) != 0 && !find_pass(name, &pass))
        pkc_diag_error(session, PKC_DIAG_UNKNOWN_PASS, (pkc_span){0}, name);
}

bool pkc_tile_check_names(pkc_job *job)
{
    const pkc_settings *settings = &job->session->settings;
    check_name(job->session, settings->stop_after);
    for (size_t i = 0; i < settings->dump_after.len; i++)
        check_name(job->session, settings->dump_after.data[i]);
    for (size_t i = 0; i < settings->passes.len; i++)
        check_name(job->session, settings->passes.data[i]);
    return !pkc_has_errors(job->session);
}

bool pkc_tile_is_input(const pkc_job *job)
{
    size_t len = strlen(job->root->name);
    return len > 3 && strcmp(job->root->name + len - 3, ".ir") == 0;
}

static void dump(pkc_job *job, const ir_kernel *kernel, const char *pass)
{
    const pkc_settings *settings = &job->session->settings;
    for (size_t i = 0; i < settings->dump_after.len; i++)
        if (strcmp(settings->dump_after.data[i], pass) == 0) {
            pkc_buf_printf(&job->dumps, "// after %s\n", pass);
            ir_print_kernel(kernel, false, &job->dumps);
        }
}

static void after_pass(ir_kernel *kernel, ir_pass pass, void *user)
{
    dump(user, kernel, ir_pass_name(pass));
}

static ir_options options_for(const pkc_job *job)
{
    const pkc_settings *settings = &job->session->settings;
    const pkc_target *target = pkc_target_find(settings->arch);
    return (ir_options){.no_defer = settings->no_defer,
                        .no_flight = settings->no_flight,
                        .smem_limit = target->smem_limit,
                        .regs_per_sm = target->regs_per_sm};
}

static bool run_given(pkc_job *job, ir_kernel *kernel, const ir_options *options)
{
    static bool (*const run[])(ir_kernel *, const ir_options *) = {
#define IR_PASS(id, name, ...) ir_pass_##name,
#include "ir/passes.def"
#undef IR_PASS
    };
    const pkc_settings *settings = &job->session->settings;
    for (size_t i = 0; i < settings->passes.len; i++) {
        ir_pass pass;
        if (!find_pass(settings->passes.data[i], &pass))
            continue; // lower: done
        const char *lacks = ir_pass_lacks(kernel, pass);
        if (lacks) {
            const char *why = pkc_arena_printf(&job->session->arena, "the pass '%s' needs %s",
                                               settings->passes.data[i], lacks);
            pkc_diag_error(job->session, PKC_DIAG_IR_INVALID, kernel->pos, why);
            return false;
        }
        if (!run[pass](kernel, options))
            return false;
        dump(job, kernel, settings->passes.data[i]);
    }
    return true;
}

static bool run_up_to(pkc_job *job, ir_kernel *kernel, const ir_options *options)
{
    const char *stop = job->session->settings.stop_after;
    ir_pass last = (ir_pass)(IR_PASS_COUNT - 1);
    dump(job, kernel, lower_name);
    if (stop && !find_pass(stop, &last))
        return true; // lower
    return ir_run_passes(kernel, options, last, after_pass, job);
}

static void verify(pkc_job *job, const ir_kernel *kernel)
{
    pkc_buf why = {0};
    if ((job->session->settings.verify || pkc_tile_is_input(job)) && !ir_verify(kernel, &why))
        pkc_diag_error(job->session, PKC_DIAG_INTERNAL, kernel->pos, pkc_buf_cstr(&why));
    pkc_buf_free(&why);
}

bool pkc_tile_run(pkc_job *job, ir_module *module)
{
    ir_options options = options_for(job);
    for (int i = 0; i < module->n_kernels; i++) {
        ir_kernel *kernel = module->kernels[i];
        bool good =
            pkc_tile_is_input(job) ? run_given(job, kernel, &options) : run_up_to(job, kernel, &options);
        if (good)
            verify(job, kernel);
    }
    return !pkc_has_errors(job->session);
}
