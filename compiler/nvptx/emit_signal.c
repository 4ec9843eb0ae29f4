// SPDX-License-Identifier: Apache-2.0
// Signals between ranks: counters in a bank of each rank's state. A launch counts in the bank of its epoch's
// parity.
#include "nvptx/abi.h"
#include "nvptx/emit.h"
#include "nvptx/multimem.h"

// Byte offset in a rank's state of a signal's counter.
static LLVMValueRef sig_offset(nv_emit *e, const ir_op *sig)
{
    const ir_param *p = sig->attr.param;
    int first = sig->attr.peer == IR_PEER_RANK ? 1 : 0;
    LLVMValueRef index = nv_i32(e, 0);
    for (int axis = 0; axis < p->n_dims; axis++)
        index = nv_add(e, nv_mul(e, index, nv_axis(e, p, axis)), nv_in(e, sig, first + axis));
    if (!e->bank)
        llvmc_unsupported(e->c, "a signal in a role that reads no epoch");
    LLVMValueRef word = nv_add(e, nv_add(e, e->bank, nv_signal_base(e, p)), index);
    return nv_addi(e, nv_muli(e, nv_wide(e, word), 4), NV_ABI_STATE_HEAD);
}

static LLVMValueRef sig_address(nv_emit *e, LLVMValueRef offset, LLVMValueRef rank)
{
    return LLVMBuildGEP2(e->b, e->c->i8, nv_state(e, rank), &offset, 1, "");
}

static void add_each(nv_emit *e, LLVMValueRef offset, ir_sig order, LLVMValueRef n)
{
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_ranks(e));
    nv_red_add(e, order, sig_address(e, offset, nv_next_rank(e, loop.i)), n);
    nv_loop_end(e, &loop, nv_i32(e, 1));
}

// Relaxed adds to every rank's counter: one where the launch has a multicast address of the states, else a
// loop.
static void add_all(nv_emit *e, LLVMValueRef offset, ir_sig order, LLVMValueRef n)
{
    LLVMValueRef states = nv_multicast(e, NULL);
    if (!states) {
        add_each(e, offset, order, n);
        return;
    }
    LLVMBasicBlockRef multi = nv_block(e, "multicast"), each = nv_block(e, "loop"),
                      after = nv_block(e, "sent");
    nv_branch(e, nv_is_address(e, states), multi, each);
    nv_enter(e, multi);
    nv_multi_add(e, LLVMBuildGEP2(e->b, e->c->i8, states, &offset, 1, ""), n);
    nv_goto(e, after);
    nv_enter(e, each);
    add_each(e, offset, order, n);
    nv_goto(e, after);
    nv_enter(e, after);
}

static void add_to(nv_emit *e, const ir_op *sig, ir_sig order, LLVMValueRef n)
{
    LLVMValueRef offset = sig_offset(e, sig);
    if (sig->attr.peer != IR_PEER_ALL) {
        LLVMValueRef rank = sig->attr.peer == IR_PEER_RANK ? nv_in(e, sig, 0) : NULL;
        nv_red_add(e, order, sig_address(e, offset, rank), n);
        return;
    }
    add_all(e, offset, order, n);
}

// Releases of a signal that goes to all ranks: one fence, then relaxed adds.
static void sig_add(nv_emit *e, const ir_op *op)
{
    const ir_op *sig = ir_in(op, 0)->def;
    ir_sig order = op->sub;
    bool release = order == IR_SIG_REL_SYS || order == IR_SIG_REL_GPU;
    if (release && sig->attr.peer == IR_PEER_ALL) {
        nv_fence(e, order == IR_SIG_REL_SYS);
        order = order == IR_SIG_REL_SYS ? IR_SIG_RLX_SYS : IR_SIG_RLX_GPU;
    }
    add_to(e, sig, order, nv_in(e, op, 1));
}

// ---- pending signals
// ---------------------------------------------------------------------------------------

// A thin role puts off its signals and releases them together, with one wait and one fence for all. Its ring
// in shared memory is a count (16 bytes) and seven entries of 16 bytes: offset of the counter (8), increment
// (4), rank (4; -1: this rank's own, -2: every rank's).
enum { RING = 7, RING_ENTRY = 16, TO_SELF = -1, TO_ALL = -2 };

static LLVMValueRef ring_ptr(nv_emit *e, LLVMValueRef entry, int64_t member)
{
    LLVMValueRef offset = nv_i32(e, e->role->ring + member);
    if (entry)
        offset = nv_addi(e, nv_add(e, offset, nv_muli(e, entry, RING_ENTRY)), RING_ENTRY);
    return nv_shared(e, offset);
}

static LLVMValueRef ring_load(nv_emit *e, LLVMTypeRef type, LLVMValueRef entry, int64_t member)
{
    return LLVMBuildLoad2(e->b, type, ring_ptr(e, entry, member), "");
}

void nv_ring_start(nv_emit *e)
{
    LLVMBuildStore(e->b, nv_i32(e, 0), ring_ptr(e, NULL, 0));
}

static void release_entry(nv_emit *e, LLVMValueRef i)
{
    LLVMValueRef offset = ring_load(e, e->c->i64, i, 0), n = ring_load(e, e->c->i32, i, 8);
    LLVMValueRef rank = ring_load(e, e->c->i32, i, 12);
    LLVMBasicBlockRef all = nv_block(e, "to_all"), one = nv_block(e, "to_one"), after = nv_block(e, "told");
    nv_branch(e, nv_is(e, rank, TO_ALL), all, one);
    nv_enter(e, all);
    add_all(e, offset, IR_SIG_RLX_SYS, n);
    nv_goto(e, after);
    nv_enter(e, one);
    LLVMValueRef target = nv_select(e, nv_is(e, rank, TO_SELF), nv_rank(e), rank);
    nv_red_add(e, IR_SIG_RLX_SYS, sig_address(e, offset, target), n);
    nv_goto(e, after);
    nv_enter(e, after);
}

void nv_sig_flush(nv_emit *e)
{
    if (e->role->ring < 0)
        return;
    LLVMValueRef count = ring_load(e, e->c->i32, NULL, 0);
    LLVMBasicBlockRef after = nv_begin_if(e, nv_cmp(e, LLVMIntSGT, count, nv_i32(e, 0)));
    nv_call(e, NV_BULK_WAIT, nv_i32(e, 0));
    nv_fence(e, true);
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), count);
    release_entry(e, loop.i);
    nv_loop_end(e, &loop, nv_i32(e, 1));
    nv_ring_start(e);
    nv_end_if(e, after);
}

static void sig_push(nv_emit *e, const ir_op *op)
{
    const ir_op *sig = ir_in(op, 0)->def;
    if (e->role->ring < 0) {
        llvmc_unsupported(e->c, "a pending signal in a role without a ring");
        return;
    }
    LLVMBasicBlockRef after =
        nv_begin_if(e, nv_cmp(e, LLVMIntSGE, ring_load(e, e->c->i32, NULL, 0), nv_i32(e, RING)));
    nv_sig_flush(e);
    nv_end_if(e, after);
    LLVMValueRef count = ring_load(e, e->c->i32, NULL, 0), rank = nv_i32(e, TO_SELF);
    if (sig->attr.peer == IR_PEER_ALL)
        rank = nv_i32(e, TO_ALL);
    else if (sig->attr.peer == IR_PEER_RANK)
        rank = nv_in(e, sig, 0);
    LLVMBuildStore(e->b, sig_offset(e, sig), ring_ptr(e, count, 0));
    LLVMBuildStore(e->b, nv_in(e, op, 1), ring_ptr(e, count, 8));
    LLVMBuildStore(e->b, rank, ring_ptr(e, count, 12));
    LLVMBuildStore(e->b, nv_addi(e, count, 1), ring_ptr(e, NULL, 0));
}

void nv_emit_signal(nv_emit *e, const ir_op *op)
{
    LLVMBasicBlockRef after = nv_begin_one(e);
    switch ((int)op->kind) {
    case IR_SIG_ADD:
        sig_add(e, op);
        break;
    case IR_SIG_PUSH:
        sig_push(e, op);
        break;
    case IR_SIG_FLUSH:
        nv_sig_flush(e);
        break;
    case IR_SIG_POLL:
        nv_wait_counter(e, sig_address(e, sig_offset(e, ir_in(op, 0)->def), NULL), nv_in(e, op, 1));
        break;
    case IR_PEER_WAIT:
        nv_wait_entry(e);
        break;
    case IR_BARRIER:
        nv_barrier(e);
        break;
    }
    nv_end_one(e, after);
}
