// SPDX-License-Identifier: Apache-2.0
// Emission of one kernel: what the emit_*.c files share. Values of the tile IR become arrays of LLVM values:
//
//   scalar, slot   one value (a slot is its number, i32)
//   state          two: slot number, phase (i32)
//   shared tile    one: offset in bytes from the start of dynamic shared memory (i32)
//   register tile  one for each register of a thread, in the order of geometry.h; 16-bit and 8-bit elements
//   that lie
//                  side by side are kept in pairs (<2 x T>), so that carried tiles cost half the registers
//   view, signal, token, and tiles at home in every distribution: none; their users look at the defining op
#ifndef PKC_NVPTX_EMIT_H
#define PKC_NVPTX_EMIT_H

#include "ir/ir.h"
#include "nvptx/llvmc.h"
#include "nvptx/module.h"

typedef struct nv_val {
    LLVMValueRef *v;
    int n;
} nv_val;

typedef struct nv_map_entry {
    const ir_value *key;
    nv_val val;
} nv_map_entry;

typedef struct nv_emit {
    llvmc *c;
    LLVMBuilderRef b; // c->b
    pkc_arena *arena;
    const ir_kernel *k;
    const nv_layout *lay;
    LLVMValueRef fn;
    LLVMValueRef block;           // generic pointer to this rank's parameter block
    LLVMValueRef smem;            // the dynamic shared memory
    LLVMValueRef tid, lane, warp; // of the CTA; warp is uniform by construction (shfl)
    LLVMValueRef cta;             // ctaid.x
    LLVMBasicBlockRef stop;       // where a wait goes that sees the abort word
    // of the role being emitted
    const ir_group *group;
    const ir_role *role;
    LLVMValueRef role_warp, role_thread; // number of the warp and the thread in the role
    bool products;                       // the role issues matrix products
    LLVMValueRef bank;                   // offset in bytes of this launch's signal bank, NULL until needed
    // values of the body: open addressing by pointer
    nv_map_entry *map;
    size_t map_cap, map_len;
} nv_emit;

// ---- values (emit.c) -----------------------------------------------------------------------------------

nv_val nv_new(nv_emit *e, int n);
nv_val nv_one(nv_emit *e, LLVMValueRef v);
void nv_set(nv_emit *e, const ir_value *value, nv_val v);
nv_val nv_get(nv_emit *e, const ir_value *value);
/// The only component of operand i.
LLVMValueRef nv_in(nv_emit *e, const ir_op *op, int i);
void nv_out(nv_emit *e, const ir_op *op, LLVMValueRef v);

// ---- control (emit.c) ----------------------------------------------------------------------------------

LLVMBasicBlockRef nv_block(nv_emit *e, const char *name);
void nv_goto(nv_emit *e, LLVMBasicBlockRef to);
void nv_branch(nv_emit *e, LLVMValueRef cond, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
void nv_enter(nv_emit *e, LLVMBasicBlockRef block);
LLVMBasicBlockRef nv_here(nv_emit *e);
LLVMValueRef nv_phi(nv_emit *e, LLVMTypeRef type);
void nv_phi_add(LLVMValueRef phi, LLVMValueRef v, LLVMBasicBlockRef from);
/// Begins a stretch that only lanes with `cond` run; returns the block that nv_end_if enters.
LLVMBasicBlockRef nv_begin_if(nv_emit *e, LLVMValueRef cond);
void nv_end_if(nv_emit *e, LLVMBasicBlockRef after);
/// The same for one thread of the role: nothing in a thin role. NULL is fine for nv_end_one.
LLVMBasicBlockRef nv_begin_one(nv_emit *e);
void nv_end_one(nv_emit *e, LLVMBasicBlockRef after);
/// A loop written by emission itself: i = 0 .. n - 1 (i32). nv_loop_end closes it.
typedef struct nv_loop {
    LLVMValueRef i, n;
    LLVMBasicBlockRef body, exit;
} nv_loop;
nv_loop nv_loop_begin(nv_emit *e, LLVMValueRef from, LLVMValueRef to);
void nv_loop_end(nv_emit *e, nv_loop *loop, LLVMValueRef step);
/// Emits the ops of a region; the operands of its yield are then to be read from the map.
void nv_region(nv_emit *e, const ir_region *region);

// ---- i32 and i64 arithmetic (emit.c) -------------------------------------------------------------------

LLVMValueRef nv_i32(nv_emit *e, int64_t v);
LLVMValueRef nv_i64(nv_emit *e, int64_t v);
LLVMValueRef nv_add(nv_emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef nv_sub(nv_emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef nv_mul(nv_emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef nv_and(nv_emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef nv_or(nv_emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef nv_xor(nv_emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef nv_addi(nv_emit *e, LLVMValueRef a, int64_t v);
LLVMValueRef nv_muli(nv_emit *e, LLVMValueRef a, int64_t v);
LLVMValueRef nv_andi(nv_emit *e, LLVMValueRef a, int64_t v);
LLVMValueRef nv_shri(nv_emit *e, LLVMValueRef a, int n); // logical
LLVMValueRef nv_cmp(nv_emit *e, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef nv_is(nv_emit *e, LLVMValueRef a, int64_t v); // a == v
LLVMValueRef nv_select(nv_emit *e, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef nv_min(nv_emit *e, LLVMValueRef a, LLVMValueRef b); // signed
LLVMValueRef nv_wide(nv_emit *e, LLVMValueRef a);                // i32 -> i64, signed
/// Shared memory at an i32 offset.
LLVMValueRef nv_shared(nv_emit *e, LLVMValueRef offset);
/// Calls an intrinsic with its arguments spelled out.
#define nv_call(e, id, ...)                                                                                  \
    llvmc_call((e)->c, (id), (int)(sizeof((LLVMValueRef[]){__VA_ARGS__}) / sizeof(LLVMValueRef)),            \
               (LLVMValueRef[]){__VA_ARGS__})
#define nv_call0(e, id) llvmc_call((e)->c, (id), 0, NULL)

// ---- the parameter block (emit_block.c) ----------------------------------------------------------------

LLVMValueRef nv_rank(nv_emit *e);
LLVMValueRef nv_ranks(nv_emit *e);
/// The rank that is i + 1 further round the ring: what a loop over ranks visits i-th.
LLVMValueRef nv_next_rank(nv_emit *e, LLVMValueRef i);
LLVMValueRef nv_sms(nv_emit *e);
LLVMValueRef nv_dim(nv_emit *e, pkc_str name);
LLVMValueRef nv_scalar(nv_emit *e, const ir_param *param);
LLVMValueRef nv_group_first(nv_emit *e, const ir_group *group);
LLVMValueRef nv_group_count(nv_emit *e, const ir_group *group);
/// Bytes between neighbours of an axis (i64).
LLVMValueRef nv_stride(nv_emit *e, const ir_param *param, int axis);
/// Size of an axis (i32).
LLVMValueRef nv_axis(nv_emit *e, const ir_param *param, int axis);
LLVMValueRef nv_hexpr(nv_emit *e, const ir_hx *x);
/// Address of a parameter's first element on this rank or on `rank` (NULL: this one), as a global pointer.
LLVMValueRef nv_base(nv_emit *e, const ir_param *param, LLVMValueRef rank);
/// Multicast address of a parameter's copies, or (NULL) of the ranks' states, as a global pointer: null at
/// run time where the launch has none. NULL where the kernel has no use for one.
LLVMValueRef nv_multicast(nv_emit *e, const ir_param *param);
LLVMValueRef nv_is_address(nv_emit *e, LLVMValueRef pointer);
/// i1: the launch has any multicast address. NULL where the kernel has no use for one.
LLVMValueRef nv_any_multicast(nv_emit *e);
/// Address of a tensor map; `rank` matters where the map exists once a rank.
LLVMValueRef nv_tensor_map(nv_emit *e, const nv_tmap *map, LLVMValueRef rank);
/// First word of a signal array in a bank, and the words of a bank (i32).
LLVMValueRef nv_signal_base(nv_emit *e, const ir_param *param);
LLVMValueRef nv_bank_words(nv_emit *e);
/// The device-side state of this rank, or of `rank`; byte offsets into it are those of abi.def.
LLVMValueRef nv_state(nv_emit *e, LLVMValueRef rank);
/// Non-zero (i1) where the host asked for the launch to end.
LLVMValueRef nv_aborted(nv_emit *e);

// ---- ops ------------------------------------------------------------------------------------------------

void nv_emit_pure(nv_emit *e, const ir_op *op); // emit_scalar.c: const .. cast, scalars and element-wise
/// An element converted to another type (emit_scalar.c).
LLVMValueRef nv_cast(nv_emit *e, pkc_elem from, pkc_elem to, LLVMValueRef v);
void nv_emit_elem(nv_emit *e, const ir_op *op);    // emit_mem.c
void nv_emit_load(nv_emit *e, const ir_op *op);    // emit_mem.c
void nv_emit_store(nv_emit *e, const ir_op *op);   // emit_mem.c
void nv_emit_slice(nv_emit *e, const ir_op *op);   // emit_tile.c
void nv_emit_rred(nv_emit *e, const ir_op *op);    // emit_tile.c
void nv_emit_cred(nv_emit *e, const ir_op *op);    // emit_tile.c
void nv_emit_redist(nv_emit *e, const ir_op *op);  // emit_tile.c
void nv_emit_copy_in(nv_emit *e, const ir_op *op); // emit_copy.c
void nv_emit_copy_out(nv_emit *e, const ir_op *op);
void nv_emit_bulk(nv_emit *e, const ir_op *op);
void nv_emit_mma_issue(nv_emit *e, const ir_op *op); // emit_mma.c
void nv_emit_mma_wait(nv_emit *e, const ir_op *op);
void nv_emit_pipe(nv_emit *e, const ir_op *op); // emit_sync.c
void nv_emit_order(nv_emit *e, const ir_op *op);
void nv_emit_signal(nv_emit *e, const ir_op *op); // emit_signal.c
void nv_emit_net(nv_emit *e, const ir_op *op);    // emit_net.c

// ---- waits and synchronisation (emit_sync.c) ------------------------------------------------------------

/// A loop that tries until `try` says true, looking at the abort word now and then.
typedef LLVMValueRef (*nv_try)(nv_emit *e, void *user);
void nv_spin(nv_emit *e, nv_try try, void *user);
void nv_sync_warp(nv_emit *e);
void nv_sync_role(nv_emit *e);
/// Fence acq_rel at system or device scope.
void nv_fence(nv_emit *e, bool sys);
/// Fence between accesses to the same memory at ordinary and at multicast addresses. Only launches that have
/// multicast addresses pay for it ([M] 1108 cycles on an H200); nothing is emitted where no launch can have
/// any.
void nv_fence_alias(nv_emit *e);
/// red.add of an i32 in global memory; the forms of the sub-kinds of sig.add.
void nv_red_add(nv_emit *e, ir_sig order, LLVMValueRef address, LLVMValueRef n);
LLVMValueRef nv_load_acquire(nv_emit *e, LLVMValueRef address, bool sys);

// ---- what surrounds the bodies, and counters in the state (emit_frame.c, emit_signal.c) -------------------

void nv_keeper(nv_emit *e);
void nv_exit_protocol(nv_emit *e);
/// All roles of all workers of the group being emitted, on all ranks.
void nv_barrier(nv_emit *e);
/// Waits until every rank has announced its start.
void nv_wait_entry(nv_emit *e);
/// Number of this launch, from the rank's state (i32).
LLVMValueRef nv_epoch(nv_emit *e);
LLVMValueRef nv_state_word(nv_emit *e, LLVMValueRef rank, int64_t offset);
/// Waits until the counter has reached the target, by signed difference; acquires at system scope.
void nv_wait_counter(nv_emit *e, LLVMValueRef address, LLVMValueRef target);
/// Empties the ring of pending signals; releases what is in it.
void nv_ring_start(nv_emit *e);
void nv_sig_flush(nv_emit *e);

/// Emits one kernel into c's module. False: diagnostics were given.
bool nv_emit_kernel(llvmc *c, const ir_kernel *k, const nv_layout *lay);

#endif
