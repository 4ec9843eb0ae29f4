// SPDX-License-Identifier: Apache-2.0
#include "ir/trace.h"

#include <string.h>

static ir_trace *make(ir_norms *t, ir_trace_kind kind, const ir_op *op, ir_trace *inner, ir_trace *other)
{
    ir_trace *node = PKC_NEW(t->k->arena, ir_trace);
    *node = (ir_trace){.kind = kind, .op = op, .inner = inner, .other = other};
    return node;
}

static ir_trace *trace_loop(ir_norms *t, const ir_op *op, ir_trace *body)
{
    ir_trace *node = make(t, IR_TRACE_LOOP, op, body, NULL);
    node->norm = ir_norm_trips(t, op);
    const char *first = ir_norm_text(t, ir_norm_of(t, ir_in(op, 0)));
    const char *step = ir_norm_text(t, ir_norm_of(t, ir_in(op, 2)));
    node->key = pkc_session_str(
        t->k->session, pkc_arena_printf(t->k->arena, "%s;%s;%s", ir_norm_text(t, node->norm), first, step));
    return node;
}

/// Of a condition and its opposite the one whose text sorts first stands for both.
static ir_trace *trace_if(ir_norms *t, const ir_op *op, ir_trace *then, ir_trace *otherwise)
{
    ir_norm is = ir_norm_of(t, ir_in(op, 0));
    ir_norm is_not = ir_norm_add(t, ir_norm_const(t, 1), is, -1);
    bool turn = strcmp(ir_norm_text(t, is_not), ir_norm_text(t, is)) < 0;
    ir_trace *node = make(t, IR_TRACE_IF, op, turn ? otherwise : then, turn ? then : otherwise);
    node->norm = turn ? is_not : is;
    node->key = ir_norm_text(t, node->norm);
    return node;
}

static ir_trace *trace_op(ir_norms *t, const ir_op *op)
{
    ir_trace *inner = op->n_reg > 0 ? ir_trace_of(t, &op->reg[0]) : NULL;
    if (op->kind == IR_PUT || op->kind == IR_GET)
        return make(t, IR_TRACE_USE, op, inner, NULL);
    if (op->kind == IR_IF) {
        ir_trace *other = ir_trace_of(t, &op->reg[1]);
        return inner || other ? trace_if(t, op, inner, other) : NULL;
    }
    return inner && op->kind == IR_FOR ? trace_loop(t, op, inner) : inner;
}

ir_trace *ir_trace_of(ir_norms *t, const ir_region *region)
{
    ir_trace *first = NULL, **at = &first;
    for (const ir_op *op = region->first; op; op = op->next) {
        *at = trace_op(t, op);
        while (*at)
            at = &(*at)->next;
    }
    return first;
}

static ir_trace *keep(ir_norms *t, const ir_trace *node, const ir_pipe *pipe)
{
    ir_trace *inner = ir_trace_for(t, node->inner, pipe), *other = ir_trace_for(t, node->other, pipe);
    bool use = node->kind == IR_TRACE_USE && node->op->attr.pipe == pipe;
    if (node->kind == IR_TRACE_USE && !use) // another pipe's: only what stands in it counts
        return inner;
    if (!use && !inner && !other)
        return NULL;
    ir_trace *kept = PKC_NEW(t->k->arena, ir_trace);
    *kept = *node;
    kept->inner = inner;
    kept->other = other;
    kept->next = NULL;
    return kept;
}

ir_trace *ir_trace_for(ir_norms *t, const ir_trace *all, const ir_pipe *pipe)
{
    ir_trace *first = NULL, **at = &first;
    for (; all; all = all->next) {
        *at = keep(t, all, pipe);
        while (*at)
            at = &(*at)->next;
    }
    return first;
}
