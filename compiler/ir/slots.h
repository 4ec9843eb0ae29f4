// SPDX-License-Identifier: Apache-2.0
// Questions about slots and their tiles from form P on.
#ifndef PKC_IR_SLOTS_H
#define PKC_IR_SLOTS_H

#include "ir/ir.h"

/// The slot that a tile value lies in, through transpositions; NULL for plain shared memory.
ir_value *ir_tile_slot(const ir_value *tile);
/// Whether the op or one inside it uses the slot or a tile of it.
bool ir_uses_slot(const ir_op *op, const ir_value *slot);
/// Whether the op or one inside it is of this kind and reads or writes a tile of the slot (NULL: of any).
bool ir_has_access(const ir_op *op, ir_op_kind kind, const ir_value *slot);
/// How often the region waits for a filled slot of the pipe, in its text.
int ir_count_gets(const ir_region *region, const ir_pipe *pipe);
bool ir_region_has(const ir_region *region, ir_op_kind kind);

#endif
