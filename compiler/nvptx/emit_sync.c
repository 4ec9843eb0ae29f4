// SPDX-License-Identifier: Apache-2.0
// Pipes, fences and barriers inside a CTA, and the loops that wait.
#include "nvptx/emit.h"

enum { TRIES_BETWEEN_LOOKS = 1024 };

void nv_spin(nv_emit *e, nv_try try, void *user)
{
    LLVMBasicBlockRef before = nv_here(e), head = nv_block(e, "try"), again = nv_block(e, "again");
    LLVMBasicBlockRef look = nv_block(e, "look"), done = nv_block(e, "met"), give_up = nv_block(e, "give_up");
    nv_goto(e, head);
    nv_enter(e, head);
    LLVMValueRef tries = nv_phi(e, e->c->i32);
    nv_phi_add(tries, nv_i32(e, 0), before);
    nv_branch(e, try(e, user), done, again);
    nv_enter(e, again);
    LLVMValueRef next = nv_addi(e, tries, 1);
    nv_branch(e, nv_is(e, nv_andi(e, next, TRIES_BETWEEN_LOOKS - 1), 0), look, head);
    nv_phi_add(tries, next, nv_here(e));
    nv_enter(e, look);
    nv_branch(e, nv_aborted(e), give_up, head);
    nv_phi_add(tries, next, nv_here(e));
    nv_enter(e, give_up);
    if (e->products) // products that were in flight on a path out would be serialised by ptxas (C7518)
        nv_call(e, NV_WGMMA_WAIT, nv_i64(e, 0));
    nv_goto(e, e->stop);
    nv_enter(e, done);
}

// ---- pipes
// -------------------------------------------------------------------------------------------------

static LLVMValueRef barrier_of(nv_emit *e, const ir_pipe *pipe, ir_side side, LLVMValueRef slot)
{
    int64_t first = side == IR_SIDE_FULL ? pipe->full_bar : pipe->free_bar;
    return nv_shared(e, nv_addi(e, nv_muli(e, slot, 8), first));
}

typedef struct phase_wait {
    LLVMValueRef barrier, phase;
} phase_wait;

static LLVMValueRef try_phase(nv_emit *e, void *user)
{
    phase_wait *w = user;
    return nv_call(e, NV_MBAR_TRY_WAIT, w->barrier, w->phase);
}

static void pipe_wait(nv_emit *e, const ir_op *op)
{
    const ir_pipe *pipe = ir_in(op, 0)->type->pipe;
    nv_val state = nv_get(e, ir_in(op, 0)), next = nv_new(e, 2);
    phase_wait w = {barrier_of(e, pipe, op->sub, state.v[0]), state.v[1]};
    nv_spin(e, try_phase, &w);
    LLVMValueRef slot = nv_addi(e, state.v[0], 1), wrap = nv_is(e, slot, pipe->slots);
    next.v[0] = nv_select(e, wrap, nv_i32(e, 0), slot);
    next.v[1] = nv_xor(e, state.v[1], LLVMBuildZExt(e->b, wrap, e->c->i32, ""));
    nv_set(e, &op->out[0], nv_one(e, state.v[0]));
    nv_set(e, &op->out[1], next);
}

static void pipe_start(nv_emit *e, const ir_op *op)
{
    nv_val state = nv_new(e, 2);
    state.v[0] = nv_i32(e, 0);
    state.v[1] = nv_i32(e, op->sub == IR_END_PUT);
    nv_set(e, &op->out[0], state);
}

static void pipe_expect(nv_emit *e, const ir_op *op)
{
    LLVMBasicBlockRef after = nv_begin_one(e);
    LLVMValueRef barrier = barrier_of(e, ir_in(op, 0)->type->pipe, IR_SIDE_FULL, nv_in(e, op, 0));
    nv_call(e, op->attr.flag ? NV_MBAR_ARRIVE_TX : NV_MBAR_TX, barrier, nv_i32(e, op->attr.i));
    nv_end_one(e, after);
}

// One arrival a warp, or one for a thin role; with a second operand only where it is true.
static void pipe_arrive(nv_emit *e, const ir_op *op)
{
    LLVMValueRef cond = op->n_in > 1 ? nv_in(e, op, 1) : NULL;
    if (!e->role->thin) {
        LLVMValueRef first = nv_is(e, e->lane, 0);
        cond = cond ? nv_and(e, cond, first) : first;
    }
    LLVMBasicBlockRef after = cond ? nv_begin_if(e, cond) : NULL;
    LLVMValueRef barrier = barrier_of(e, ir_in(op, 0)->type->pipe, op->sub, nv_in(e, op, 0));
    nv_call(e, NV_MBAR_ARRIVE, barrier, nv_i32(e, 1));
    if (after)
        nv_end_if(e, after);
}

// The state is that of the next put, which waits for the free barrier's other parity: slots before it were
// filled in this round of the ring, with the opposite parity of their full barriers, those from it on in the
// round before.
static void pipe_landed(nv_emit *e, const ir_op *op)
{
    const ir_pipe *pipe = ir_in(op, 0)->type->pipe;
    nv_val state = nv_get(e, ir_in(op, 0));
    LLVMBasicBlockRef after = nv_begin_one(e);
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_i32(e, pipe->slots));
    LLVMValueRef this_round = nv_cmp(e, LLVMIntSLT, loop.i, state.v[0]);
    LLVMValueRef phase = nv_xor(e, state.v[1], LLVMBuildZExt(e->b, this_round, e->c->i32, ""));
    phase_wait w = {barrier_of(e, pipe, IR_SIDE_FULL, loop.i), phase};
    nv_spin(e, try_phase, &w);
    nv_loop_end(e, &loop, nv_i32(e, 1));
    nv_end_one(e, after);
}

void nv_emit_pipe(nv_emit *e, const ir_op *op)
{
    switch ((int)op->kind) {
    case IR_PST:
        pipe_start(e, op);
        return;
    case IR_PIPE_WAIT:
        pipe_wait(e, op);
        return;
    case IR_PIPE_EXPECT:
        pipe_expect(e, op);
        return;
    case IR_PIPE_ARRIVE:
        pipe_arrive(e, op);
        return;
    case IR_PIPE_LANDED:
        pipe_landed(e, op);
        return;
    }
}

// ---- fences and barriers
// -----------------------------------------------------------------------------------

void nv_fence(nv_emit *e, bool sys)
{
    unsigned scope = sys ? LLVMGetSyncScopeID(e->c->ctx, "", 0) : LLVMGetSyncScopeID(e->c->ctx, "device", 6);
    LLVMBuildFenceSyncScope(e->b, LLVMAtomicOrderingAcquireRelease, scope, "");
}

void nv_sync_warp(nv_emit *e)
{
    nv_call(e, NV_BAR_WARP, nv_i32(e, -1));
}

// The non-aligned form: it stands behind branches that are uniform in fact, not in the eyes of ptxas.
void nv_sync_role(nv_emit *e)
{
    if (e->role->warps == 1)
        nv_sync_warp(e);
    else
        nv_call(e, NV_BAR_COUNT, nv_i32(e, e->role->named_barrier), nv_i32(e, e->role->warps * 32));
}

void nv_fence_alias(nv_emit *e)
{
    LLVMValueRef any = nv_any_multicast(e);
    if (!any)
        return;
    LLVMBasicBlockRef after = nv_begin_if(e, any);
    nv_call0(e, NV_FENCE_ALIAS);
    nv_end_if(e, after);
}

static void fence(nv_emit *e, ir_fence kind)
{
    LLVMBasicBlockRef after = kind == IR_FENCE_ASYNC_CTA ? NULL : nv_begin_one(e);
    switch (kind) {
    case IR_FENCE_ASYNC_CTA:
        nv_call0(e, NV_FENCE_ASYNC_CTA);
        break;
    case IR_FENCE_ASYNC_GLOB:
        nv_call0(e, NV_FENCE_ASYNC_GLOBAL);
        break;
    case IR_FENCE_ALIAS:
        nv_fence_alias(e);
        break;
    case IR_FENCE_SYS:
    case IR_FENCE_GPU:
        nv_fence(e, kind == IR_FENCE_SYS);
        break;
    case IR_FENCE_COUNT:
        break;
    }
    nv_end_one(e, after);
}

static void sync(nv_emit *e, ir_sync kind)
{
    if (e->role->thin)
        return;
    switch (kind) {
    case IR_SYNC_WARP:
        nv_sync_warp(e);
        return;
    case IR_SYNC_ROLE:
        nv_sync_role(e);
        return;
    case IR_SYNC_WG:
        if (e->role->warps <= 4)
            nv_sync_role(e);
        else
            llvmc_unsupported(e->c, "a barrier of one warpgroup of several");
        return;
    case IR_SYNC_CTA:
        nv_call(e, NV_BAR_CTA, nv_i32(e, 0));
        return;
    case IR_SYNC_COUNT:
        return;
    }
}

void nv_emit_order(nv_emit *e, const ir_op *op)
{
    if (op->kind == IR_FENCE)
        fence(e, op->sub);
    else
        sync(e, op->sub);
}

// ---- global counters
// ---------------------------------------------------------------------------------------

// atomicrmw drops scope and order on its way to PTX, so these are assembly: a release would otherwise become
// relaxed without a word.
void nv_red_add(nv_emit *e, ir_sig order, LLVMValueRef address, LLVMValueRef n)
{
    static const char *const text[] = {
        [IR_SIG_REL_SYS] = "red.release.sys.global.add.u32 [$0], $1;",
        [IR_SIG_REL_GPU] = "red.release.gpu.global.add.u32 [$0], $1;",
        [IR_SIG_RLX_SYS] = "red.relaxed.sys.global.add.u32 [$0], $1;",
        [IR_SIG_RLX_GPU] = "red.relaxed.gpu.global.add.u32 [$0], $1;",
    };
    llvmc_asm(e->c, e->c->void_t, text[order], "l,r,~{memory}", 2, (LLVMValueRef[]){address, n});
}

LLVMValueRef nv_load_acquire(nv_emit *e, LLVMValueRef address, bool sys)
{
    LLVMValueRef load = LLVMBuildLoad2(e->b, e->c->i32, address, "");
    LLVMSetAlignment(load, 4);
    LLVMSetOrdering(load, LLVMAtomicOrderingAcquire);
    LLVMSetAtomicSyncScopeID(load, sys ? LLVMGetSyncScopeID(e->c->ctx, "", 0)
                                       : LLVMGetSyncScopeID(e->c->ctx, "device", 6));
    return load;
}
