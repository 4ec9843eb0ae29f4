// SPDX-License-Identifier: Apache-2.0
// Types are small immutable structs in the kernel's arena, compared by ir_type_equal.
#include "ir/dist.h"
#include "ir/ir.h"

static const ir_type *make(ir_kernel *k, ir_type type)
{
    ir_type *t = PKC_NEW(k->arena, ir_type);
    *t = type;
    return t;
}

pkc_elem ir_elem_scalar(pkc_elem elem)
{
    if (pkc_elem_in_scalar(elem))
        return elem;
    return pkc_elem_class(elem) == 'f' ? PKC_E_F32 : PKC_E_I32;
}

const ir_type *ir_type_scalar(ir_kernel *k, pkc_elem elem)
{
    return make(k, (ir_type){.kind = IR_T_SCALAR, .elem = elem});
}

const ir_type *ir_type_view(ir_kernel *k, pkc_elem elem, int32_t rows, int32_t cols, bool element)
{
    return make(k,
                (ir_type){.kind = IR_T_VIEW, .elem = elem, .rows = rows, .cols = cols, .element = element});
}

const ir_type *ir_type_tile(ir_kernel *k, pkc_elem elem, int32_t rows, int32_t cols, ir_layout layout,
                            bool transposed)
{
    return make(k, (ir_type){.kind = IR_T_TILE,
                             .elem = elem,
                             .rows = rows,
                             .cols = cols,
                             .layout = layout,
                             .transposed = transposed});
}

const ir_type *ir_type_reg(ir_kernel *k, pkc_elem elem, int32_t rows, int32_t cols, ir_dist dist)
{
    return make(k, (ir_type){.kind = IR_T_REG, .elem = elem, .rows = rows, .cols = cols, .dist = dist});
}

const ir_type *ir_type_slot(ir_kernel *k, const ir_pipe *pipe)
{
    return make(k, (ir_type){.kind = IR_T_SLOT, .pipe = pipe});
}

const ir_type *ir_type_state(ir_kernel *k, const ir_pipe *pipe)
{
    return make(k, (ir_type){.kind = IR_T_STATE, .pipe = pipe});
}

const ir_type *ir_type_sig(ir_kernel *k)
{
    return make(k, (ir_type){.kind = IR_T_SIG});
}

const ir_type *ir_type_token(ir_kernel *k, ir_token_kind kind)
{
    return make(k, (ir_type){.kind = IR_T_TOKEN, .token = kind});
}

bool ir_type_equal(const ir_type *a, const ir_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->elem != b->elem || a->rows != b->rows || a->cols != b->cols)
        return false;
    return a->element == b->element && a->transposed == b->transposed && a->layout == b->layout &&
           ir_dist_equal(a->dist, b->dist) && a->token == b->token && a->pipe == b->pipe;
}
