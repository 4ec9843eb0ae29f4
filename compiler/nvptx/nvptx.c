// SPDX-License-Identifier: Apache-2.0
#include "nvptx/nvptx.h"

#include "nvptx/describe.h"
#include "nvptx/emit.h"

static const pkc_file *main_file(const ir_module *module)
{
    return module->n_kernels ? module->kernels[0]->pos.file : NULL;
}

static bool emit_all(llvmc *c, const ir_module *module)
{
    for (int i = 0; i < module->n_kernels; i++)
        if (!nv_emit_kernel(c, module->kernels[i], nv_layout_make(module->kernels[i])))
            return false;
    return true;
}

bool pkc_nvptx_emit(pkc_session *session, const ir_module *module, const pkc_target *target,
                    pkc_nvptx_output output, pkc_buf *out)
{
    llvmc c;
    pkc_buf text = {0};
    bool ok = llvmc_open(&c, session, target, main_file(module)) && emit_all(&c, module);
    if (ok && output == PKC_NVPTX_LLVM)
        llvmc_text(&c, &text);
    else
        ok = ok && nv_describe_comment(session, module, target, &text) && llvmc_optimise(&c) &&
             llvmc_ptx(&c, &text);
    llvmc_close(&c);
    if (ok)
        pkc_buf_write(out, pkc_buf_cstr(&text), text.len);
    pkc_buf_free(&text);
    return ok;
}
