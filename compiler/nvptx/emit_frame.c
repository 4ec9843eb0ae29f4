// SPDX-License-Identifier: Apache-2.0
#include "nvptx/emit.h"
void nv_keeper(nv_emit *e, const ir_group *group)
{
    (void)e, (void)group;
}
void nv_exit_protocol(nv_emit *e)
{
    (void)e;
}
void nv_emit_signal(nv_emit *e, const ir_op *op)
{
    (void)e, (void)op;
}
void nv_emit_net(nv_emit *e, const ir_op *op)
{
    (void)e, (void)op;
}
