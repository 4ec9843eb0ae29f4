// SPDX-License-Identifier: Apache-2.0
// What types, attributes and numbers of operands each op may have. ir.h and ops.def say what they mean.
#include "ir/verify_impl.h"

static void need(ir_verifier *v, const ir_op *op, bool good, const char *what)
{
    if (!good)
        ir_verify_fail(v, op, what);
}

static const ir_type *in_type(const ir_op *op, int i)
{
    return ir_in(op, i)->type;
}

static bool is(const ir_type *t, ir_type_kind kind)
{
    return t->kind == kind;
}

static bool is_scalar(const ir_type *t, pkc_elem elem)
{
    return t->kind == IR_T_SCALAR && t->elem == elem;
}

static bool is_value(const ir_type *t)
{
    return t->kind == IR_T_SCALAR || t->kind == IR_T_REG;
}

static bool is_memory(const ir_type *t)
{
    return t->kind == IR_T_VIEW || t->kind == IR_T_TILE;
}

static bool same_shape(const ir_type *a, const ir_type *b)
{
    return a->rows == b->rows && a->cols == b->cols;
}

// ---- values --------------------------------------------------------------------------------------------

/// Scalars count as one element. A side of 1 is repeated.
static bool fits(const ir_type *from, const ir_type *to)
{
    if (from->kind == IR_T_SCALAR)
        return true;
    return to->kind == IR_T_REG && (from->rows == 1 || from->rows == to->rows) &&
           (from->cols == 1 || from->cols == to->cols);
}

static void check_elementwise(ir_verifier *v, const ir_op *op)
{
    const ir_type *out = op->out[0].type;
    int first = op->kind == IR_SELECT ? 1 : 0;
    need(v, op, is_value(out), "the result is no scalar or register tile");
    for (int i = 0; i < op->n_in && v->ok; i++) {
        need(v, op, is_value(in_type(op, i)), "an operand is no scalar or register tile");
        need(v, op, fits(in_type(op, i), out), "the shape of an operand does not fit the result");
        need(v, op, i < first || in_type(op, i)->elem == in_type(op, first)->elem,
             "operands of two element types");
    }
    if (op->kind == IR_SELECT)
        need(v, op, in_type(op, 0)->elem == PKC_E_BOOL, "the condition is not a truth value");
    if (op->kind == IR_CMP)
        need(v, op, out->elem == PKC_E_BOOL, "a comparison gives a truth value");
    else if (op->kind != IR_CAST)
        need(v, op, out->elem == in_type(op, first)->elem,
             "the result has another element type than the operands");
}

static void check_leaf(ir_verifier *v, const ir_op *op)
{
    const ir_type *out = op->out[0].type;
    if (op->kind == IR_READ || op->kind == IR_DIM)
        need(v, op, is_scalar(out, PKC_E_I32), "the result is no i32");
    else if (op->kind == IR_SCALAR)
        need(v, op, op->attr.param->kind == IR_PARAM_SCALAR && is_scalar(out, op->attr.param->elem),
             "the parameter is no scalar of the result's type");
    else if (op->kind == IR_CONST)
        need(v, op, is(out, IR_T_SCALAR), "the result is no scalar");
}

// ---- memory --------------------------------------------------------------------------------------------

static bool axis_fits(const ir_param *p, int axis, int32_t extent)
{
    return axis == -1 ? extent == 1 : axis >= 0 && axis < p->n_dims;
}

static void check_view(ir_verifier *v, const ir_op *op)
{
    const ir_attr *a = &op->attr;
    bool view = op->kind == IR_VIEW;
    const ir_type *out = op->out[0].type;
    int rank = a->peer == IR_PEER_RANK, ends = a->has_row_hi + a->has_col_hi;
    need(v, op, op->n_in == rank + a->param->n_dims + ends,
         "another number of coordinates than the tensor has axes");
    for (int i = 0; i < op->n_in; i++)
        need(v, op, is_scalar(in_type(op, i), PKC_E_I32), "a coordinate is no i32");
    need(v, op,
         a->peer == IR_PEER_OWN || a->param->kind == IR_PARAM_PEER || a->param->kind == IR_PARAM_SIGNAL,
         "only peer tensors and signals have copies on other ranks");
    need(v, op, (a->param->kind == IR_PARAM_SIGNAL) == !view && a->param->kind != IR_PARAM_SCALAR,
         view ? "the parameter is no tensor" : "the parameter is no signal array");
    if (!view) {
        need(v, op, is(out, IR_T_SIG), "the result is no signal");
        return;
    }
    need(v, op, is(out, IR_T_VIEW) && out->elem == a->param->elem,
         "the result is no view of the tensor's elements");
    need(v, op, axis_fits(a->param, a->row_axis, out->rows) && axis_fits(a->param, a->col_axis, out->cols),
         "the tile's rows or columns run along no axis");
    need(v, op, a->row_axis == -1 || a->row_axis != a->col_axis, "rows and columns run along one axis");
}

static void check_tile(ir_verifier *v, const ir_op *op)
{
    const ir_type *out = op->out[0].type;
    if (op->kind == IR_SHARED) {
        need(v, op,
             is(out, IR_T_TILE) && out->rows == op->attr.shared->rows && out->cols == op->attr.shared->cols,
             "the result is not the shared tile");
        return;
    }
    need(v, op, is(in_type(op, 0), IR_T_SLOT), "the operand is no slot");
    if (!v->ok)
        return;
    const ir_pipe *p = in_type(op, 0)->pipe;
    need(v, op, op->attr.i >= 0 && op->attr.i < p->n_fields, "the pipe has no such field");
    if (v->ok)
        need(v, op,
             is(out, IR_T_TILE) && out->rows == p->field[op->attr.i].rows &&
                 out->cols == p->field[op->attr.i].cols && out->elem == p->field[op->attr.i].elem,
             "the result is not the pipe's tile");
}

static void check_access(ir_verifier *v, const ir_op *op)
{
    if (op->kind == IR_ELEM)
        need(v, op,
             is(in_type(op, 0), IR_T_VIEW) && in_type(op, 0)->element &&
                 is_scalar(op->out[0].type, ir_elem_scalar(in_type(op, 0)->elem)),
             "it reads no element of its type");
    else if (op->kind == IR_LOAD)
        need(v, op,
             is_memory(in_type(op, 0)) && is(op->out[0].type, IR_T_REG) &&
                 in_type(op, 0)->elem == op->out[0].type->elem,
             "it loads no tile of its type");
    else
        need(v, op, is_value(in_type(op, 0)) && is_memory(in_type(op, 1)), "it stores no value to a tile");
}

static void check_copy(ir_verifier *v, const ir_op *op)
{
    bool in = op->kind == IR_COPY_IN;
    if (op->n_in < 2 || op->n_in > (in ? 3 : 2)) {
        ir_verify_fail(v, op, "wrong number of operands");
        return;
    }
    const ir_type *tile = in_type(op, in ? 0 : 1), *view = in_type(op, in ? 1 : 0);
    need(v, op,
         is(tile, IR_T_TILE) && is(view, IR_T_VIEW) && tile->elem == view->elem && same_shape(tile, view),
         "tile and view differ");
    if (op->n_in == 3)
        need(v, op, is(in_type(op, 2), IR_T_SLOT), "the third operand is no slot");
}

// ---- register tiles ------------------------------------------------------------------------------------

static void check_tile_op(ir_verifier *v, const ir_op *op)
{
    const ir_type *in = op->n_in ? in_type(op, 0) : NULL, *out = op->out[0].type;
    bool good = is(out, IR_T_REG);
    if (op->kind == IR_SPLAT)
        good = good && is_scalar(in, out->elem);
    else if (op->kind == IR_IOTA)
        good = good && out->rows == 1;
    else if (op->kind == IR_TRANS)
        good = in->kind == out->kind && in->elem == out->elem &&
               (good || in->transposed != out->transposed) &&
               (!good || (in->rows == out->cols && in->cols == out->rows));
    else
        good = good && is(in, IR_T_REG) && in->elem == out->elem;
    if (op->kind == IR_SLICE)
        good = good && in->rows == out->rows && op->attr.i >= 0 && op->attr.i + out->cols <= in->cols;
    else if (op->kind == IR_RRED)
        good = good && in->rows == out->rows && out->cols == 1;
    else if (op->kind == IR_CRED)
        good = good && in->cols == out->cols && out->rows == 1;
    else if (op->kind == IR_REDIST)
        good = good && (op->attr.flag ? in->rows == out->cols && in->cols == out->rows
                                      : in->rows == out->rows && op->attr.i + out->cols <= in->cols);
    need(v, op, good, "operand and result do not fit");
}

static void check_product(ir_verifier *v, const ir_op *op)
{
    bool issue = op->kind == IR_MMA_ISSUE;
    int plain = issue ? 4 : 3;
    if (op->n_in != plain && op->n_in != plain + 2) {
        ir_verify_fail(v, op, "wrong number of operands");
        return;
    }
    need(v, op, is(in_type(op, 0), IR_T_REG) && ir_type_equal(in_type(op, 0), op->out[0].type),
         "the result is not the accumulator's");
    need(v, op,
         (is(in_type(op, 1), IR_T_TILE) || is(in_type(op, 1), IR_T_REG)) && is(in_type(op, 2), IR_T_TILE),
         "an operand is no tile");
    if (issue)
        need(v, op, is_scalar(in_type(op, 3), PKC_E_BOOL), "the fourth operand is no truth value");
}

static void check_wait(ir_verifier *v, const ir_op *op)
{
    need(v, op, op->n_in == op->n_out, "operands and results differ in number");
    for (int i = 0; i < op->n_in && v->ok; i++)
        need(v, op, ir_type_equal(in_type(op, i), op->out[i].type),
             "a result has another type than its operand");
}

// ---- pipes, signals, regions ---------------------------------------------------------------------------

static void check_pipe_op(ir_verifier *v, const ir_op *op)
{
    if (op->kind == IR_PST) {
        need(v, op, is(op->out[0].type, IR_T_STATE) && op->out[0].type->pipe == op->attr.pipe,
             "the result is no state of the pipe");
    } else if (op->kind == IR_PIPE_WAIT) {
        const ir_type *state = in_type(op, 0);
        need(v, op,
             is(state, IR_T_STATE) && is(op->out[0].type, IR_T_SLOT) &&
                 ir_type_equal(state, op->out[1].type) && op->out[0].type->pipe == state->pipe,
             "it gives no slot and state of one pipe");
    } else if (op->kind == IR_PIPE_LANDED) {
        need(v, op, is(in_type(op, 0), IR_T_STATE), "the operand is no state");
    } else {
        bool condition = op->n_in == 2 && op->kind == IR_PIPE_ARRIVE && is_scalar(in_type(op, 1), PKC_E_BOOL);
        need(v, op, (op->n_in == 1 || condition) && is(in_type(op, 0), IR_T_SLOT), "the operand is no slot");
    }
}

static void check_signal(ir_verifier *v, const ir_op *op)
{
    need(v, op, is(in_type(op, 0), IR_T_SIG) && is_scalar(in_type(op, 1), PKC_E_I32),
         "the operands are no signal and i32");
}

static void check_net(ir_verifier *v, const ir_op *op)
{
    for (int i = 0; i < op->n_in; i++)
        need(v, op, is(in_type(op, i), IR_T_VIEW), "an operand is no view");
    if (op->n_in == 2)
        need(v, op,
             in_type(op, 0)->elem == in_type(op, 1)->elem && same_shape(in_type(op, 0), in_type(op, 1)),
             "the views differ");
}

static void check_control(ir_verifier *v, const ir_op *op)
{
    if (op->kind == IR_IF)
        need(v, op, is_scalar(in_type(op, 0), PKC_E_BOOL), "the condition is not a truth value");
    for (int i = 0; op->kind == IR_FOR && i < 3; i++)
        need(v, op, is_scalar(in_type(op, i), PKC_E_I32), "a bound is no i32");
    if (op->kind == IR_FOR)
        need(v, op, is_scalar(op->reg[0].args[0].type, PKC_E_I32), "the loop's variable is no i32");
}

static void check_slot_region(ir_verifier *v, const ir_op *op)
{
    const ir_pipe *p = op->attr.pipe;
    need(v, op, op->reg[0].n_args == p->n_fields, "another number of tiles than the pipe has");
    for (int i = 0; i < p->n_fields && v->ok; i++) {
        const ir_type *t = op->reg[0].args[i].type;
        need(v, op,
             is(t, IR_T_TILE) && t->elem == p->field[i].elem && t->rows == p->field[i].rows &&
                 t->cols == p->field[i].cols,
             "a tile is not the pipe's");
    }
}

static void check_token(ir_verifier *v, const ir_op *op)
{
    need(v, op, is(op->out[0].type, IR_T_TOKEN) && op->out[0].type->token == IR_TOK_BULK,
         "the result is no token");
}

void ir_verify_types(ir_verifier *v, const ir_op *op)
{
    static void (*const checks[IR_OP_COUNT])(ir_verifier *, const ir_op *) = {
        [IR_CONST] = check_leaf,          [IR_READ] = check_leaf,           [IR_DIM] = check_leaf,
        [IR_SCALAR] = check_leaf,         [IR_BIN] = check_elementwise,     [IR_UN] = check_elementwise,
        [IR_CMP] = check_elementwise,     [IR_SELECT] = check_elementwise,  [IR_CAST] = check_elementwise,
        [IR_ELEM] = check_access,         [IR_VIEW] = check_view,           [IR_SIG] = check_view,
        [IR_FIELD] = check_tile,          [IR_SHARED] = check_tile,         [IR_SPLAT] = check_tile_op,
        [IR_IOTA] = check_tile_op,        [IR_SLICE] = check_tile_op,       [IR_TRANS] = check_tile_op,
        [IR_RRED] = check_tile_op,        [IR_CRED] = check_tile_op,        [IR_REDIST] = check_tile_op,
        [IR_LOAD] = check_access,         [IR_STORE] = check_access,        [IR_COPY_IN] = check_copy,
        [IR_COPY_OUT] = check_copy,       [IR_MMA] = check_product,         [IR_MMA_ISSUE] = check_product,
        [IR_MMA_WAIT] = check_wait,       [IR_NET_REDUCE] = check_net,      [IR_NET_ALL] = check_net,
        [IR_SIGNAL] = check_signal,       [IR_WAIT] = check_signal,         [IR_SIG_ADD] = check_signal,
        [IR_SIG_PUSH] = check_signal,     [IR_SIG_POLL] = check_signal,     [IR_FOR] = check_control,
        [IR_IF] = check_control,          [IR_PUT] = check_slot_region,     [IR_GET] = check_slot_region,
        [IR_PST] = check_pipe_op,         [IR_PIPE_WAIT] = check_pipe_op,   [IR_PIPE_EXPECT] = check_pipe_op,
        [IR_PIPE_ARRIVE] = check_pipe_op, [IR_PIPE_LANDED] = check_pipe_op, [IR_BULK_COMMIT] = check_token,
    };
    if (checks[op->kind])
        checks[op->kind](v, op);
}
