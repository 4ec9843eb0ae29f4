// SPDX-License-Identifier: Apache-2.0
// The events of one body.
#include <stdlib.h>
#include <string.h>

#include "game.h"
#include "ir/slay.h"

typedef struct cell {
    int64_t i;    // scalars; the number of a slot; the register of a tile
    int phase;    // states
    place at;     // shared tiles
    uint64_t tag; // views
} cell;

typedef struct recorder {
    pkc_arena *arena;
    const game_sizes *sizes;
    trace *out;
    ir_ptrmap cells;
} recorder;

uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h =
        (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ (h >> 32);
}

static uint64_t hash_text(const char *text)
{
    uint64_t h = 7;
    for (; *text; text++)
        h = mix(h, (uint64_t)*text);
    return h;
}

static cell *cell_of(recorder *s, const ir_value *v)
{
    cell *c = ir_ptrmap_get(&s->cells, v);
    if (c == NULL) {
        c = PKC_NEW(s->arena, cell);
        ir_ptrmap_set(&s->cells, v, c);
    }
    return c;
}

static int64_t num(recorder *s, const ir_op *op, int i)
{
    return cell_of(s, ir_in(op, i))->i;
}

static void emit(recorder *s, event e)
{
    pkc_vec_push(s->arena, &s->out->events, e);
}

static int64_t arithmetic(ir_bin sub, int64_t a, int64_t b)
{
    switch (sub) {
    case IR_BIN_ADD:
        return a + b;
    case IR_BIN_SUB:
        return a - b;
    case IR_BIN_MUL:
        return a * b;
    case IR_BIN_DIV:
        return a / b;
    case IR_BIN_CDIV:
        return (a + b - 1) / b;
    case IR_BIN_MOD:
        return a % b;
    case IR_BIN_MIN:
        return a < b ? a : b;
    case IR_BIN_MAX:
        return a > b ? a : b;
    case IR_BIN_AND:
        return a & b;
    case IR_BIN_OR:
        return a | b;
    case IR_BIN_XOR:
        return a ^ b;
    case IR_BIN_SHL:
        return a << b;
    case IR_BIN_SHR:
        return a >> b;
    case IR_BIN_COUNT:
        break;
    }
    abort();
}

static bool compare(ir_cmp sub, int64_t a, int64_t b)
{
    switch (sub) {
    case IR_CMP_EQ:
        return a == b;
    case IR_CMP_NE:
        return a != b;
    case IR_CMP_LT:
        return a < b;
    case IR_CMP_LE:
        return a <= b;
    case IR_CMP_GT:
        return a > b;
    case IR_CMP_GE:
        return a >= b;
    case IR_CMP_COUNT:
        break;
    }
    abort();
}

static int64_t builtin(const recorder *s, ir_read sub)
{
    switch (sub) {
    case IR_READ_RANK:
    case IR_READ_WORKER:
        return 0;
    case IR_READ_RANKS:
        return s->sizes->ranks;
    case IR_READ_SMS:
    case IR_READ_WORKERS:
        return s->sizes->workers;
    case IR_READ_COUNT:
        break;
    }
    abort();
}

static void record_scalar(recorder *s, const ir_op *op)
{
    cell *out = cell_of(s, &op->out[0]);
    switch ((int)op->kind) {
    case IR_CONST:
        out->i = op->attr.i;
        break;
    case IR_READ:
        out->i = builtin(s, (ir_read)op->sub);
        break;
    case IR_DIM:
        out->i = strcmp(op->attr.name, "K") == 0 ? s->sizes->k : s->sizes->dim;
        break;
    case IR_BIN:
        out->i = arithmetic((ir_bin)op->sub, num(s, op, 0), num(s, op, 1));
        break;
    case IR_CMP:
        out->i = compare((ir_cmp)op->sub, num(s, op, 0), num(s, op, 1));
        break;
    case IR_SELECT:
        out->i = num(s, op, 0) ? num(s, op, 1) : num(s, op, 2);
        break;
    case IR_UN:
        out->i = op->sub == IR_UN_NOT ? !num(s, op, 0) : -num(s, op, 0);
        break;
    case IR_CAST:
        out->i = num(s, op, 0);
        break;
    }
}

static void record_view(recorder *s, const ir_op *op)
{
    uint64_t tag = mix(hash_text(op->attr.param->name), (uint64_t)op->attr.peer);
    for (int i = 0; i < op->n_in; i++)
        tag = mix(tag, (uint64_t)num(s, op, i));
    cell_of(s, &op->out[0])->tag = tag;
}

/// Ops on register tiles: what they are and what they read.
static void record_registers(recorder *s, const ir_op *op)
{
    event e = {.kind = EV_OP, .a = -1, .b = -1, .c = -1, .dst = s->out->registers++};
    e.tag = mix(mix((uint64_t)op->kind, op->sub), (uint64_t)op->attr.i);
    int *in[] = {&e.a, &e.b, &e.c};
    for (int i = 0; i < op->n_in && i < 3; i++) {
        const ir_value *v = ir_in(op, i);
        if (v->type->kind == IR_T_REG)
            *in[i] = (int)cell_of(s, v)->i;
        else
            e.tag = mix(e.tag, (uint64_t)cell_of(s, v)->i + cell_of(s, v)->tag);
    }
    cell_of(s, &op->out[0])->i = e.dst;
    emit(s, e);
}

static void record_mma(recorder *s, const ir_op *op)
{
    event e = {
        .kind = EV_MMA, .dst = s->out->registers++, .a = (int)num(s, op, 0), .flag = num(s, op, 3) != 0};
    e.b = -1;
    if (ir_in(op, 1)->type->kind == IR_T_REG)
        e.b = (int)num(s, op, 1);
    else
        e.x = cell_of(s, ir_in(op, 1))->at;
    e.y = cell_of(s, ir_in(op, 2))->at;
    cell_of(s, &op->out[0])->i = e.dst;
    emit(s, e);
}

static void record_pipe_wait(recorder *s, const ir_op *op)
{
    cell state = *cell_of(s, ir_in(op, 0));
    const ir_pipe *pipe = op->out[0].type->pipe;
    event e = {.kind = EV_WAIT, .side = (ir_side)op->sub, .x = {pipe, (int)state.i, 0}, .phase = state.phase};
    emit(s, e);
    cell *slot = cell_of(s, &op->out[0]), *next = cell_of(s, &op->out[1]);
    slot->i = state.i;
    bool wraps = state.i + 1 == pipe->slots;
    next->i = wraps ? 0 : state.i + 1;
    next->phase = wraps ? !state.phase : state.phase;
}

static place slot_place(recorder *s, const ir_value *slot)
{
    return (place){slot->type->pipe, (int)cell_of(s, slot)->i, 0};
}

static void record_pipe_op(recorder *s, const ir_op *op)
{
    event e = {.side = (ir_side)op->sub, .x = slot_place(s, ir_in(op, 0))};
    if (op->kind == IR_PIPE_EXPECT) {
        e.kind = EV_EXPECT;
        e.n = op->attr.i;
        e.flag = op->attr.flag;
    } else {
        e.kind = EV_ARRIVE;
        if (op->n_in > 1 && !num(s, op, 1))
            return;
    }
    emit(s, e);
}

static void record_copy(recorder *s, const ir_op *op)
{
    const ir_value *tile = ir_copy_tile(op);
    event e = {.kind = op->kind == IR_COPY_IN ? EV_COPY_IN : EV_COPY_OUT, .x = cell_of(s, tile)->at};
    e.tag = mix(cell_of(s, ir_copy_view(op))->tag, op->kind == IR_COPY_OUT ? op->sub : 0);
    e.n = ir_tile_bytes(tile->type->elem, tile->type->rows, tile->type->cols);
    emit(s, e);
}

static void record_tile(recorder *s, const ir_op *op)
{
    cell *out = cell_of(s, &op->out[0]);
    if (op->kind == IR_TRANS) {
        *out = *cell_of(s, ir_in(op, 0));
        return;
    }
    out->at = slot_place(s, ir_in(op, 0));
    out->at.field = (int)op->attr.i;
}

static void record_region(recorder *s, const ir_region *region);

static void pass_values(recorder *s, ir_value *to, const ir_region *region, int n)
{
    cell *values = PKC_NEW_ARRAY(s->arena, cell, n + 1); // at once: carries may swap
    for (int i = 0; i < n; i++)
        values[i] = *cell_of(s, ir_yielded(region, i));
    for (int i = 0; i < n; i++)
        *cell_of(s, &to[i]) = values[i];
}

static void record_for(recorder *s, const ir_op *op)
{
    int64_t lo = num(s, op, 0), hi = num(s, op, 1), step = num(s, op, 2);
    for (int i = 0; i < op->n_out; i++)
        *cell_of(s, &op->reg[0].args[1 + i]) = *cell_of(s, ir_in(op, 3 + i));
    for (int64_t at = lo; at < hi; at += step) {
        cell_of(s, &op->reg[0].args[0])->i = at;
        record_region(s, &op->reg[0]);
        pass_values(s, &op->reg[0].args[1], &op->reg[0], op->n_out);
    }
    for (int i = 0; i < op->n_out; i++)
        *cell_of(s, &op->out[i]) = *cell_of(s, &op->reg[0].args[1 + i]);
}

static void record_if(recorder *s, const ir_op *op)
{
    const ir_region *taken = &op->reg[num(s, op, 0) ? 0 : 1];
    record_region(s, taken);
    pass_values(s, op->out, taken, op->n_out);
}

/// Waits, commits, stores: ops without a value of their own.
static void record_effect(recorder *s, const ir_op *op)
{
    event e = {.n = op->attr.i};
    switch ((int)op->kind) {
    case IR_MMA_WAIT:
        e.kind = EV_MMA_WAIT;
        for (int i = 0; i < op->n_in; i++)
            *cell_of(s, &op->out[i]) = *cell_of(s, ir_in(op, i));
        emit(s, e);
        break;
    case IR_BULK_COMMIT:
        e.kind = EV_COMMIT;
        emit(s, e);
        break;
    case IR_BULK_WAIT:
        e.kind = EV_BULK_WAIT;
        emit(s, e);
        break;
    case IR_STORE:
        if (ir_in(op, 1)->type->kind != IR_T_TILE)
            break;
        e.kind = EV_STORE;
        e.x = cell_of(s, ir_in(op, 1))->at;
        e.a = (int)num(s, op, 0);
        emit(s, e);
        break;
    }
}

static void record_op(recorder *s, const ir_op *op)
{
    bool reg = op->n_out == 1 && op->out[0].type->kind == IR_T_REG;
    bool tile = op->n_out == 1 && op->out[0].type->kind == IR_T_TILE;
    if (op->kind == IR_FOR)
        record_for(s, op);
    else if (op->kind == IR_IF)
        record_if(s, op);
    else if (op->kind == IR_POISON)
        cell_of(s, &op->out[0])->i = reg ? -2 : 0;
    else if (op->kind == IR_PST)
        *cell_of(s, &op->out[0]) = (cell){.phase = op->sub == IR_END_PUT};
    else if (op->kind == IR_VIEW)
        record_view(s, op);
    else if (op->kind == IR_MMA_ISSUE)
        record_mma(s, op);
    else if (op->kind == IR_PIPE_WAIT)
        record_pipe_wait(s, op);
    else if (op->kind == IR_PIPE_EXPECT || op->kind == IR_PIPE_ARRIVE)
        record_pipe_op(s, op);
    else if (op->kind == IR_COPY_IN || op->kind == IR_COPY_OUT)
        record_copy(s, op);
    else if (tile)
        record_tile(s, op);
    else if (reg && op->kind != IR_MMA_WAIT)
        record_registers(s, op);
    else if (op->n_out == 1 && op->out[0].type->kind == IR_T_SCALAR)
        record_scalar(s, op);
    else
        record_effect(s, op);
}

static void record_region(recorder *s, const ir_region *region)
{
    for (const ir_op *op = region->first; op != NULL; op = op->next)
        record_op(s, op);
}

void record(pkc_arena *arena, const ir_kernel *k, const ir_role *role, const game_sizes *sizes, trace *out)
{
    (void)k;
    recorder s = {.arena = arena, .sizes = sizes, .out = out};
    ir_ptrmap_init(&s.cells, arena);
    *out = (trace){.role = role};
    record_region(&s, role->body);
}
