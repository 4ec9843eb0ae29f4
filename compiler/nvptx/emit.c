// SPDX-License-Identifier: Apache-2.0
// Values, control flow and regions. Loops are emitted rotated (guard, body, back edge, exit), so that the
// path of a loop that runs zero times is an edge of its own; carried values are phis.
#include "nvptx/emit.h"

#include <string.h>

#include "nvptx/geometry.h"

// ---- values
// ------------------------------------------------------------------------------------------------

nv_val nv_new(nv_emit *e, int n)
{
    return (nv_val){PKC_NEW_ARRAY(e->arena, LLVMValueRef, n ? n : 1), n};
}

nv_val nv_one(nv_emit *e, LLVMValueRef v)
{
    nv_val r = nv_new(e, 1);
    r.v[0] = v;
    return r;
}

static nv_map_entry *find(nv_map_entry *map, size_t cap, const ir_value *key)
{
    size_t i = ((uintptr_t)key >> 4) * 0x9e3779b1u;
    for (;; i++) {
        nv_map_entry *entry = &map[i & (cap - 1)];
        if (!entry->key || entry->key == key)
            return entry;
    }
}

static void grow(nv_emit *e)
{
    size_t cap = e->map_cap ? e->map_cap * 2 : 256;
    nv_map_entry *map = PKC_NEW_ARRAY(e->arena, nv_map_entry, cap);
    for (size_t i = 0; i < e->map_cap; i++)
        if (e->map[i].key)
            *find(map, cap, e->map[i].key) = e->map[i];
    e->map = map;
    e->map_cap = cap;
}

void nv_set(nv_emit *e, const ir_value *value, nv_val v)
{
    if (e->map_len * 2 >= e->map_cap)
        grow(e);
    nv_map_entry *entry = find(e->map, e->map_cap, value);
    if (!entry->key)
        e->map_len++;
    *entry = (nv_map_entry){value, v};
}

// A value that was never set is one that emission refused: a diagnostic was given, poison keeps things going.
nv_val nv_get(nv_emit *e, const ir_value *value)
{
    if (e->map_cap) {
        nv_map_entry *entry = find(e->map, e->map_cap, value);
        if (entry->key)
            return entry->val;
    }
    if (!e->c->failed)
        llvmc_unsupported(e->c, "a value of this kind");
    int n = nv_components(value->type);
    nv_val r = nv_new(e, n);
    for (int i = 0; i < n; i++)
        r.v[i] = LLVMGetPoison(nv_component_type(e, value->type));
    return r;
}

LLVMValueRef nv_in(nv_emit *e, const ir_op *op, int i)
{
    nv_val v = nv_get(e, ir_in(op, i));
    return v.n ? v.v[0] : LLVMGetPoison(e->c->i32);
}

void nv_out(nv_emit *e, const ir_op *op, LLVMValueRef v)
{
    nv_set(e, &op->out[0], nv_one(e, v));
}

// ---- control
// -----------------------------------------------------------------------------------------------

LLVMBasicBlockRef nv_block(nv_emit *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->c->ctx, e->fn, name);
}

void nv_goto(nv_emit *e, LLVMBasicBlockRef to)
{
    LLVMBuildBr(e->b, to);
}

void nv_branch(nv_emit *e, LLVMValueRef cond, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    LLVMBuildCondBr(e->b, cond, yes, no);
}

void nv_enter(nv_emit *e, LLVMBasicBlockRef block)
{
    LLVMBasicBlockRef last = LLVMGetLastBasicBlock(e->fn);
    if (last != block)
        LLVMMoveBasicBlockAfter(block, last);
    LLVMPositionBuilderAtEnd(e->b, block);
}

LLVMBasicBlockRef nv_here(nv_emit *e)
{
    return LLVMGetInsertBlock(e->b);
}
LLVMValueRef nv_phi(nv_emit *e, LLVMTypeRef type)
{
    return LLVMBuildPhi(e->b, type, "");
}
void nv_phi_add(LLVMValueRef phi, LLVMValueRef v, LLVMBasicBlockRef from)
{
    LLVMAddIncoming(phi, &v, &from, 1);
}

LLVMBasicBlockRef nv_begin_if(nv_emit *e, LLVMValueRef cond)
{
    LLVMBasicBlockRef inside = nv_block(e, "if"), after = nv_block(e, "fi");
    nv_branch(e, cond, inside, after);
    nv_enter(e, inside);
    return after;
}

void nv_end_if(nv_emit *e, LLVMBasicBlockRef after)
{
    nv_goto(e, after);
    nv_enter(e, after);
}

LLVMBasicBlockRef nv_begin_one(nv_emit *e)
{
    return e->role->thin ? NULL : nv_begin_if(e, nv_is(e, e->role_thread, 0));
}

void nv_end_one(nv_emit *e, LLVMBasicBlockRef after)
{
    if (after)
        nv_end_if(e, after);
}

nv_loop nv_loop_begin(nv_emit *e, LLVMValueRef from, LLVMValueRef to)
{
    nv_loop loop = {.n = to, .body = nv_block(e, "loop"), .exit = nv_block(e, "pool")};
    LLVMBasicBlockRef before = nv_here(e);
    nv_branch(e, nv_cmp(e, LLVMIntSLT, from, to), loop.body, loop.exit);
    nv_enter(e, loop.body);
    loop.i = nv_phi(e, LLVMTypeOf(from));
    nv_phi_add(loop.i, from, before);
    return loop;
}

void nv_loop_end(nv_emit *e, nv_loop *loop, LLVMValueRef step)
{
    LLVMValueRef next = nv_add(e, loop->i, step);
    nv_phi_add(loop->i, next, nv_here(e));
    LLVMValueRef again = nv_cmp(e, LLVMIntSLT, next, loop->n);
    llvmc_no_unroll(e->c, LLVMBuildCondBr(e->b, again, loop->body, loop->exit));
    nv_enter(e, loop->exit);
}

// ---- arithmetic
// --------------------------------------------------------------------------------------------

LLVMValueRef nv_i32(nv_emit *e, int64_t v)
{
    return llvmc_int(e->c, v);
}
LLVMValueRef nv_i64(nv_emit *e, int64_t v)
{
    return llvmc_long(e->c, v);
}
LLVMValueRef nv_add(nv_emit *e, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildAdd(e->b, a, b, "");
}
LLVMValueRef nv_sub(nv_emit *e, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSub(e->b, a, b, "");
}
LLVMValueRef nv_mul(nv_emit *e, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildMul(e->b, a, b, "");
}
LLVMValueRef nv_and(nv_emit *e, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildAnd(e->b, a, b, "");
}
LLVMValueRef nv_or(nv_emit *e, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildOr(e->b, a, b, "");
}
LLVMValueRef nv_xor(nv_emit *e, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildXor(e->b, a, b, "");
}

static LLVMValueRef like(LLVMValueRef a, int64_t v)
{
    return LLVMConstInt(LLVMTypeOf(a), (unsigned long long)v, true);
}

LLVMValueRef nv_addi(nv_emit *e, LLVMValueRef a, int64_t v)
{
    return v ? nv_add(e, a, like(a, v)) : a;
}
LLVMValueRef nv_muli(nv_emit *e, LLVMValueRef a, int64_t v)
{
    return nv_mul(e, a, like(a, v));
}
LLVMValueRef nv_andi(nv_emit *e, LLVMValueRef a, int64_t v)
{
    return nv_and(e, a, like(a, v));
}
LLVMValueRef nv_shri(nv_emit *e, LLVMValueRef a, int n)
{
    return LLVMBuildLShr(e->b, a, like(a, n), "");
}

LLVMValueRef nv_cmp(nv_emit *e, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(e->b, p, a, b, "");
}

LLVMValueRef nv_is(nv_emit *e, LLVMValueRef a, int64_t v)
{
    return nv_cmp(e, LLVMIntEQ, a, like(a, v));
}

LLVMValueRef nv_select(nv_emit *e, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(e->b, c, a, b, "");
}

LLVMValueRef nv_min(nv_emit *e, LLVMValueRef a, LLVMValueRef b)
{
    return nv_select(e, nv_cmp(e, LLVMIntSLT, a, b), a, b);
}

LLVMValueRef nv_wide(nv_emit *e, LLVMValueRef a)
{
    return LLVMBuildSExt(e->b, a, e->c->i64, "");
}

LLVMValueRef nv_shared(nv_emit *e, LLVMValueRef offset)
{
    return LLVMBuildGEP2(e->b, e->c->i8, e->smem, &offset, 1, "");
}

// ---- regions
// -----------------------------------------------------------------------------------------------

static nv_val phis(nv_emit *e, const ir_type *type)
{
    nv_val r = nv_new(e, nv_components(type));
    LLVMTypeRef t = nv_component_type(e, type);
    for (int i = 0; i < r.n; i++)
        r.v[i] = nv_phi(e, t);
    return r;
}

static void add_all(nv_val phi, nv_val from, LLVMBasicBlockRef block)
{
    for (int i = 0; i < phi.n && i < from.n; i++)
        nv_phi_add(phi.v[i], from.v[i], block);
}

// Tiles that are at home everywhere have no registers of their own until they are carried: then they are as
// their carried type says.
static nv_val as_type(nv_emit *e, const ir_value *value, const ir_type *type)
{
    return type->kind == IR_T_REG ? nv_operand(e, value, type) : nv_get(e, value);
}

static void emit_for(nv_emit *e, const ir_op *op)
{
    const ir_region *region = &op->reg[0];
    int n = op->n_out;
    LLVMValueRef lo = nv_in(e, op, 0), hi = nv_in(e, op, 1), step = nv_in(e, op, 2);
    nv_val *init = PKC_NEW_ARRAY(e->arena, nv_val, n ? n : 1),
           *carry = PKC_NEW_ARRAY(e->arena, nv_val, n ? n : 1);
    for (int i = 0; i < n; i++)
        init[i] = as_type(e, ir_in(op, 3 + i), op->out[i].type);
    LLVMBasicBlockRef before = nv_here(e), body = nv_block(e, "for"), exit = nv_block(e, "rof");
    LLVMIntPredicate less = pkc_elem_class(region->args[0].type->elem) == 'u' ? LLVMIntULT : LLVMIntSLT;
    nv_branch(e, nv_cmp(e, less, lo, hi), body, exit);
    nv_enter(e, body);
    LLVMValueRef i = nv_phi(e, LLVMTypeOf(lo));
    nv_phi_add(i, lo, before);
    nv_set(e, &region->args[0], nv_one(e, i));
    for (int c = 0; c < n; c++) {
        carry[c] = phis(e, op->out[c].type);
        add_all(carry[c], init[c], before);
        nv_set(e, &region->args[1 + c], carry[c]);
    }
    nv_region(e, region);
    for (int c = 0; c < n; c++)
        init[c] = as_type(e, ir_yielded(region, c), op->out[c].type);
    LLVMValueRef next = nv_add(e, i, step);
    LLVMBasicBlockRef latch = nv_here(e);
    nv_phi_add(i, next, latch);
    llvmc_no_unroll(e->c, LLVMBuildCondBr(e->b, nv_cmp(e, less, next, hi), body, exit));
    nv_enter(e, exit);
    for (int c = 0; c < n; c++) {
        nv_val out = phis(e, op->out[c].type), start = as_type(e, ir_in(op, 3 + c), op->out[c].type);
        add_all(carry[c], init[c], latch);
        add_all(out, start, before);
        add_all(out, init[c], latch);
        nv_set(e, &op->out[c], out);
    }
}

static bool holds_tile(const ir_op *op)
{
    enum { MANY_REGISTERS = 8 };
    for (int i = 0; i < op->n_out; i++)
        if (op->out[i].type->kind == IR_T_REG && nv_components(op->out[i].type) > MANY_REGISTERS)
            return true;
    return false;
}

static LLVMBasicBlockRef emit_arm(nv_emit *e, const ir_op *op, int r, nv_val *results,
                                  LLVMBasicBlockRef after)
{
    nv_region(e, &op->reg[r]);
    for (int i = 0; i < op->n_out; i++)
        results[i] = as_type(e, ir_yielded(&op->reg[r], i), op->out[i].type);
    // Large tiles that meet here must stay phis: as selects they would need registers for both. A block with
    // assembly in it, be it empty, is not folded away.
    if (holds_tile(op))
        llvmc_asm(e->c, e->c->void_t, "", "", 0, NULL);
    LLVMBasicBlockRef end = nv_here(e);
    nv_goto(e, after);
    return end;
}

static void emit_if(nv_emit *e, const ir_op *op)
{
    LLVMBasicBlockRef yes = nv_block(e, "then"), no = nv_block(e, "else"), after = nv_block(e, "fi");
    nv_val *a = PKC_NEW_ARRAY(e->arena, nv_val, op->n_out + 1),
           *b = PKC_NEW_ARRAY(e->arena, nv_val, op->n_out + 1);
    nv_branch(e, nv_in(e, op, 0), yes, no);
    nv_enter(e, yes);
    LLVMBasicBlockRef yes_end = emit_arm(e, op, 0, a, after);
    nv_enter(e, no);
    LLVMBasicBlockRef no_end = emit_arm(e, op, 1, b, after);
    nv_enter(e, after);
    for (int i = 0; i < op->n_out; i++) {
        nv_val out = phis(e, op->out[i].type);
        add_all(out, a[i], yes_end);
        add_all(out, b[i], no_end);
        nv_set(e, &op->out[i], out);
    }
}

static void refuse(nv_emit *e, const ir_op *op)
{
    const char *sub = ir_sub_text(op->kind, op->sub);
    llvmc_unsupported(e->c, pkc_arena_printf(e->arena, "the operation '%s%s%s'", ir_op_text(op->kind),
                                             sub ? "." : "", sub ? sub : ""));
}

// Folded into its users.
static void folded(nv_emit *e, const ir_op *op)
{
    (void)e, (void)op;
}

// What is not listed is no op of form O.
static void (*const emitters[IR_OP_COUNT])(nv_emit *e, const ir_op *op) = {
    [IR_CONST] = nv_emit_pure,
    [IR_POISON] = nv_emit_pure,
    [IR_READ] = nv_emit_pure,
    [IR_DIM] = nv_emit_pure,
    [IR_SCALAR] = nv_emit_pure,
    [IR_BIN] = nv_emit_pure,
    [IR_UN] = nv_emit_pure,
    [IR_CMP] = nv_emit_pure,
    [IR_SELECT] = nv_emit_pure,
    [IR_CAST] = nv_emit_pure,
    [IR_ELEM] = nv_emit_elem,
    [IR_VIEW] = folded,
    [IR_FIELD] = nv_emit_pure,
    [IR_SHARED] = nv_emit_pure,
    [IR_SIG] = folded,
    [IR_SPLAT] = nv_emit_pure,
    [IR_IOTA] = nv_emit_pure,
    [IR_SLICE] = nv_emit_slice,
    [IR_TRANS] = nv_emit_pure,
    [IR_RRED] = nv_emit_rred,
    [IR_CRED] = nv_emit_cred,
    [IR_REDIST] = nv_emit_redist,
    [IR_LOAD] = nv_emit_load,
    [IR_STORE] = nv_emit_store,
    [IR_COPY_IN] = nv_emit_copy_in,
    [IR_COPY_OUT] = nv_emit_copy_out,
    [IR_NET_REDUCE] = nv_emit_net,
    [IR_NET_ALL] = nv_emit_net,
    [IR_BARRIER] = nv_emit_signal,
    [IR_FOR] = emit_for,
    [IR_IF] = emit_if,
    [IR_YIELD] = folded,
    [IR_PST] = nv_emit_pipe,
    [IR_PIPE_WAIT] = nv_emit_pipe,
    [IR_PIPE_EXPECT] = nv_emit_pipe,
    [IR_PIPE_ARRIVE] = nv_emit_pipe,
    [IR_PIPE_LANDED] = nv_emit_pipe,
    [IR_MMA_ISSUE] = nv_emit_mma_issue,
    [IR_MMA_WAIT] = nv_emit_mma_wait,
    [IR_BULK_COMMIT] = nv_emit_bulk,
    [IR_BULK_WAIT] = nv_emit_bulk,
    [IR_FENCE] = nv_emit_order,
    [IR_SYNC] = nv_emit_order,
    [IR_SIG_ADD] = nv_emit_signal,
    [IR_SIG_PUSH] = nv_emit_signal,
    [IR_SIG_FLUSH] = nv_emit_signal,
    [IR_SIG_POLL] = nv_emit_signal,
    [IR_PEER_WAIT] = nv_emit_signal,
};

static void emit_op(nv_emit *e, const ir_op *op)
{
    llvmc_at(e->c, op->pos, e->k->pos);
    if (emitters[op->kind])
        emitters[op->kind](e, op);
    else
        refuse(e, op);
}

void nv_region(nv_emit *e, const ir_region *region)
{
    for (const ir_op *op = region->first; op; op = op->next)
        emit_op(e, op);
}
