// SPDX-License-Identifier: Apache-2.0
#include "nvptx/emit.h"

void nv_emit_net(nv_emit *e, const ir_op *op)
{
    (void)op;
    llvmc_unsupported(e->c, "'reduce' and 'all_reduce'");
}
