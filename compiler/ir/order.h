// SPDX-License-Identifier: Apache-2.0
// The parts of the pass `order`.
#ifndef PKC_IR_ORDER_H
#define PKC_IR_ORDER_H

#include "ir/ir.h"
#include "support/vec.h"

/// Something that several threads of a role may read and write: a tensor, a shared tile, a pipe's slots.
typedef struct ir_access {
    const void *what;
    const ir_op *view; // NULL: shared memory
    bool write;
    bool mixed; // accessed in more than one way, or in a way that ties no element to a thread
    int32_t rows, cols;
    ir_dist dist;
    int8_t row_axis, col_axis;
    const void *with; // sums over ranks: the tensor summed, on which it depends how a tile is dealt
} ir_access;

typedef PKC_VEC(ir_access) ir_accesses;

/// The access that an op makes to memory with ordinary loads and stores, as a sum over ranks, or as a whole
/// through copies (mixed). False: none. Index 0 is the first; copies have two (tile,
/// view), sums two (destination, source).
bool ir_access_of(const ir_op *op, int index, ir_access *out);
/// Whether the access needs a `sync role` after those made since the last one: the same memory, one of them
/// writes, and not each element by the same thread.
bool ir_access_conflicts(const ir_accesses *before, const ir_access *now);
void ir_access_add(pkc_arena *arena, ir_accesses *list, const ir_access *now);

/// Sets k->has_signals, touches_peers and so on and puts `peer.wait` into the bodies that need it.
void ir_order_peers(ir_kernel *k);
/// Whether a value names memory of another rank, or memory that this rank clears at the start.
bool ir_is_remote(const ir_value *view_or_sig);
/// Whether the op may reach memory at multicast addresses, under which it is another proxy's: sums over ranks
/// and stores of registers to all ranks do, where a launch has such addresses.
bool ir_may_multicast(const ir_op *op);
bool ir_role_multicasts(const ir_role *role);
/// Whether any role reaches the tensor so.
bool ir_param_multicasts(const ir_kernel *k, const ir_param *param);
/// Whether the role issues bulk copies.
bool ir_role_copies(const ir_role *role);
ir_op *ir_build_fence(ir_builder *b, ir_fence kind);
ir_op *ir_build_sync(ir_builder *b, ir_sync kind);

#endif
