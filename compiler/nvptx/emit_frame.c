// SPDX-License-Identifier: Apache-2.0
// What surrounds the bodies: entry and exit over ranks, and the keeper (docs/module.md, "A rank's state").
//
// Counters never go back: launch e (0, 1, ..) of R ranks waits until they have reached (e + 1) * R, compared
// by signed difference, so that they may wrap. CTA counts wrap by atom.inc, so the grid may differ from
// launch to launch.
//
// Why it holds: the signals of launch e - 1 precede their CTA's arrival at exit e - 1, hence everybody's
// start of e, hence the zeroing of that bank; the zeroing precedes this rank's arrival at exit e, hence
// anyone's start of e + 1.
#include "nvptx/abi.h"
#include "nvptx/emit.h"
#include "nvptx/memory.h"

LLVMValueRef nv_state_word(nv_emit *e, LLVMValueRef rank, int64_t offset)
{
    LLVMValueRef o = nv_i64(e, offset), state = nv_state(e, rank);
    return LLVMBuildGEP2(e->b, e->c->i8, state, &o, 1, "");
}

LLVMValueRef nv_epoch(nv_emit *e)
{
    LLVMValueRef load = LLVMBuildLoad2(e->b, e->c->i32, nv_state_word(e, NULL, NV_STATE_EPOCH), "");
    LLVMSetAlignment(load, 4);
    LLVMSetVolatile(load, true); // the last CTA of the launch advances it
    return load;
}

// i1: this is the last of n of the rank to count in here. The counter goes back to zero with it.
static LLVMValueRef count_in(nv_emit *e, int64_t counter, LLVMValueRef n)
{
    LLVMValueRef last = nv_addi(e, n, -1);
    LLVMValueRef old =
        llvmc_asm(e->c, e->c->i32, "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;", "=r,l,r,~{memory}", 2,
                  (LLVMValueRef[]){nv_state_word(e, NULL, counter), last});
    return nv_cmp(e, LLVMIntEQ, old, last);
}

// One fence for all and relaxed adds: releases would serialise (1185 cycles each).
static void tell_all(nv_emit *e, int64_t counter)
{
    nv_fence(e, true);
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_ranks(e));
    nv_red_add(e, IR_SIG_RLX_SYS, nv_state_word(e, nv_next_rank(e, loop.i), counter), nv_i32(e, 1));
    nv_loop_end(e, &loop, nv_i32(e, 1));
}

typedef struct counter_wait {
    LLVMValueRef address, target;
} counter_wait;

static LLVMValueRef try_counter(nv_emit *e, void *user)
{
    counter_wait *w = user;
    LLVMValueRef ahead = nv_sub(e, nv_load_acquire(e, w->address, true), w->target);
    return nv_cmp(e, LLVMIntSGE, ahead, nv_i32(e, 0));
}

void nv_wait_counter(nv_emit *e, LLVMValueRef address, LLVMValueRef target)
{
    counter_wait w = {address, target};
    nv_spin(e, try_counter, &w);
}

static void wait_ranks(nv_emit *e, int64_t counter, LLVMValueRef epoch)
{
    LLVMValueRef target = nv_mul(e, nv_addi(e, epoch, 1), nv_ranks(e));
    nv_wait_counter(e, nv_state_word(e, NULL, counter), target);
}

void nv_wait_entry(nv_emit *e)
{
    wait_ranks(e, NV_STATE_ENTRY, nv_epoch(e));
}

static int roles_of(const ir_group *g)
{
    int n = 0;
    for (const ir_role *r = g->roles; r; r = r->next)
        n += r->body != NULL;
    return n;
}

// One thread of each role counts in; the last of the rank tells all ranks. Barriers are numbered through all
// launches: whoever counts in knows the number, for it goes on only when all have.
void nv_barrier(nv_emit *e)
{
    int64_t at = NV_STATE_BARRIERS + (int64_t)NV_ABI_BARRIER_BYTES * e->group->index;
    if (at + NV_ABI_BARRIER_BYTES > NV_ABI_STATE_HEAD) {
        llvmc_unsupported(e->c, "a barrier in the ninth group of a kernel");
        return;
    }
    LLVMValueRef number_at = nv_state_word(e, NULL, at + 4),
                 number = LLVMBuildLoad2(e->b, e->c->i32, number_at, "");
    LLVMSetAlignment(number, 4);
    LLVMSetVolatile(number, true); // the last one changes it
    LLVMValueRef all = nv_muli(e, nv_group_count(e, e->group), roles_of(e->group)),
                 next = nv_addi(e, number, 1);
    LLVMBasicBlockRef after = nv_begin_if(e, count_in(e, at, all));
    LLVMBuildStore(e->b, next, number_at);
    tell_all(e, at + 8);
    nv_end_if(e, after);
    nv_wait_counter(e, nv_state_word(e, NULL, at + 8), nv_mul(e, next, nv_ranks(e)));
}

// Run by thread 0 once all warps of the CTA are done.
void nv_exit_protocol(nv_emit *e)
{
    LLVMValueRef epoch = nv_epoch(e);
    nv_fence_alias(e); // what was stored at multicast addresses, for those who read it after the launch
    LLVMBasicBlockRef after = nv_begin_if(e, count_in(e, NV_STATE_EXIT_CTAS, nv_sms(e)));
    LLVMBuildStore(e->b, nv_addi(e, epoch, 1), nv_state_word(e, NULL, NV_STATE_EPOCH));
    if (nv_has_exit(e->k)) {
        tell_all(e, NV_STATE_EXIT);
        wait_ranks(e, NV_STATE_EXIT, epoch);
    }
    nv_end_if(e, after);
}

// ---- clearing
// ----------------------------------------------------------------------------------------------

// Byte offset of row `row` of a tensor, rows being all its axes but the last.
static LLVMValueRef row_offset(nv_emit *e, const ir_param *p, LLVMValueRef row)
{
    LLVMValueRef offset = nv_i64(e, 0);
    for (int axis = p->n_dims - 2; axis >= 0; axis--) {
        LLVMValueRef at = row;
        if (axis > 0) {
            LLVMValueRef n = nv_axis(e, p, axis);
            at = LLVMBuildURem(e->b, row, n, "");
            row = LLVMBuildUDiv(e->b, row, n, "");
        }
        offset = nv_add(e, offset, nv_mul(e, nv_wide(e, at), nv_stride(e, p, axis)));
    }
    return offset;
}

static LLVMValueRef row_count(nv_emit *e, const ir_param *p)
{
    LLVMValueRef n = nv_i32(e, 1);
    for (int axis = 0; axis + 1 < p->n_dims; axis++)
        n = nv_mul(e, n, nv_axis(e, p, axis));
    return n;
}

// Whether base and all strides are multiples of 16 bytes, so that rows take whole vectors but for their ends.
static LLVMValueRef rows_aligned(nv_emit *e, const ir_param *p, LLVMValueRef base)
{
    LLVMValueRef low = LLVMBuildPtrToInt(e->b, base, e->c->i64, "");
    for (int axis = 0; axis + 1 < p->n_dims; axis++)
        low = nv_or(e, low, nv_stride(e, p, axis));
    return nv_is(e, nv_andi(e, low, 15), 0);
}

// Zeroes elements [from, to) of a row, `run` at a time, the lanes side by side.
static void clear_run(nv_emit *e, const ir_param *p, LLVMValueRef row, LLVMValueRef from, LLVMValueRef to,
                      int run)
{
    LLVMValueRef zero[16];
    for (int i = 0; i < run; i++)
        zero[i] = LLVMConstNull(llvmc_elem(e->c, p->elem));
    LLVMValueRef first = nv_add(e, from, nv_muli(e, e->lane, run));
    nv_loop loop = nv_loop_begin(e, first, to);
    LLVMValueRef far = nv_muli(e, nv_wide(e, loop.i), pkc_elem_bits(p->elem) / 8);
    nv_store_vec(e, LLVMBuildGEP2(e->b, e->c->i8, row, &far, 1, ""), p->elem, run, NULL, zero);
    nv_loop_end(e, &loop, nv_i32(e, (int64_t)32 * run));
}

static void clear_param(nv_emit *e, const ir_param *p)
{
    int vec = 16 / ((int)pkc_elem_bits(p->elem) / 8);
    LLVMValueRef base = nv_base(e, p, NULL), n = nv_axis(e, p, p->n_dims - 1);
    LLVMValueRef whole = nv_select(e, rows_aligned(e, p, base), nv_andi(e, n, -vec), nv_i32(e, 0));
    nv_loop rows = nv_loop_begin(e, e->cta, row_count(e, p));
    LLVMValueRef offset = row_offset(e, p, rows.i), row = LLVMBuildGEP2(e->b, e->c->i8, base, &offset, 1, "");
    clear_run(e, p, row, nv_i32(e, 0), whole, vec);
    clear_run(e, p, row, whole, n, 1);
    nv_loop_end(e, &rows, nv_sms(e));
}

// ---- the keeper
// --------------------------------------------------------------------------------------------

// This CTA's share of the bank that the launch before used and the next one will.
static void zero_other_bank(nv_emit *e)
{
    LLVMValueRef words = nv_bank_words(e), other = nv_andi(e, nv_addi(e, nv_epoch(e), 1), 1);
    LLVMValueRef start = nv_wide(e, nv_mul(e, other, words));
    LLVMValueRef first = nv_add(e, nv_muli(e, e->cta, 32), e->lane);
    nv_loop loop = nv_loop_begin(e, first, words);
    LLVMValueRef at = nv_addi(e, nv_muli(e, nv_add(e, start, nv_wide(e, loop.i)), 4), NV_ABI_STATE_HEAD);
    LLVMBuildStore(e->b, nv_i32(e, 0), LLVMBuildGEP2(e->b, e->c->i8, nv_state(e, NULL), &at, 1, ""));
    nv_loop_end(e, &loop, nv_muli(e, nv_sms(e), 32));
}

// One warp of every CTA. It never waits, so it delays nobody.
void nv_keeper(nv_emit *e)
{
    for (int i = 0; i < e->k->n_params; i++)
        if (e->k->params[i].clear)
            clear_param(e, &e->k->params[i]);
    if (e->k->needs_entry) {
        nv_sync_warp(e);
        LLVMBasicBlockRef after = nv_begin_if(e, nv_is(e, e->lane, 0));
        LLVMBasicBlockRef told = nv_begin_if(e, count_in(e, NV_STATE_ENTRY_CTAS, nv_sms(e)));
        tell_all(e, NV_STATE_ENTRY);
        nv_end_if(e, told);
        nv_end_if(e, after);
    }
    if (e->k->has_signals)
        zero_other_bank(e);
}
