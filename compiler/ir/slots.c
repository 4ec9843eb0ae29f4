// SPDX-License-Identifier: Apache-2.0
#include "ir/slots.h"

ir_value *ir_tile_slot(const ir_value *tile)
{
    while (tile->def != NULL && tile->def->kind == IR_TRANS)
        tile = ir_in(tile->def, 0);
    return tile->def != NULL && tile->def->kind == IR_FIELD ? ir_in(tile->def, 0) : NULL;
}

static bool reads_slot(const ir_op *op, const ir_value *slot)
{
    for (int i = 0; i < op->n_in; i++) {
        const ir_value *v = ir_in(op, i);
        if (v == slot || (v->type->kind == IR_T_TILE && ir_tile_slot(v) == slot))
            return true;
    }
    return false;
}

bool ir_uses_slot(const ir_op *op, const ir_value *slot)
{
    if (reads_slot(op, slot))
        return true;
    for (int r = 0; r < op->n_reg; r++)
        for (const ir_op *o = op->reg[r].first; o != NULL; o = o->next)
            if (ir_uses_slot(o, slot))
                return true;
    return false;
}

bool ir_has_access(const ir_op *op, ir_op_kind kind, const ir_value *slot)
{
    if (op->kind == kind && (slot == NULL || reads_slot(op, slot)))
        return true;
    for (int r = 0; r < op->n_reg; r++)
        for (const ir_op *o = op->reg[r].first; o != NULL; o = o->next)
            if (ir_has_access(o, kind, slot))
                return true;
    return false;
}

int ir_count_gets(const ir_region *region, const ir_pipe *pipe)
{
    int n = 0;
    for (const ir_op *op = region->first; op != NULL; op = op->next) {
        n += op->kind == IR_PIPE_WAIT && op->sub == IR_SIDE_FULL && op->out[0].type->pipe == pipe;
        for (int r = 0; r < op->n_reg; r++)
            n += ir_count_gets(&op->reg[r], pipe);
    }
    return n;
}

bool ir_region_has(const ir_region *region, ir_op_kind kind)
{
    for (const ir_op *op = region->first; op != NULL; op = op->next)
        if (ir_has_access(op, kind, NULL))
            return true;
    return false;
}
