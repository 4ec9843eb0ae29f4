// SPDX-License-Identifier: Apache-2.0
// Shared layouts: which of them a use of a tile allows, and how good it is there (docs/compiler.md, "Shared
// tiles").
#ifndef PKC_IR_SLAY_H
#define PKC_IR_SLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"

/// How an op uses a shared tile.
typedef enum ir_tile_use {
    IR_USE_MMA_K,     // operand of a product, its contracted axis contiguous
    IR_USE_MMA_MN,    // operand of a product, its other axis contiguous
    IR_USE_COPY,      // bulk copy through a tensor map
    IR_USE_COPY_ROWS, // the same, row by row where the view ends inside the tile
    IR_USE_COPY_FLAT, // bulk copy of one contiguous row
    IR_USE_QUAD16,    // load or store, 16-bit elements in `quad` (ldmatrix, stmatrix)
    IR_USE_QUAD,      // load or store, other elements in `quad`
    IR_USE_LINE       // load or store in any other distribution
} ir_tile_use;

/// Bytes across a panel: 128, 64, 32; 0 for `lin`, whose panel is the whole row.
int ir_layout_span(ir_layout layout);
/// What the layout is worth to the use (1 to 3), 0 where it is not allowed.
int ir_layout_score(ir_layout layout, ir_tile_use use, pkc_elem elem, int32_t rows, int32_t cols);
/// What a use does, for messages: "an operand of a product".
const char *ir_tile_use_text(ir_tile_use use);
/// Number of panels of a tile and the columns of each.
int ir_tile_panels(const ir_type *tile, int32_t *cols);
int64_t ir_tile_bytes(pkc_elem elem, int32_t rows, int32_t cols);
/// Byte offset of an element in a tile, swizzled (the tile begins at a multiple of 1024).
int64_t ir_tile_offset(const ir_type *tile, int32_t row, int32_t col);
/// Alignment that a tile of this layout needs in shared memory.
int64_t ir_layout_align(ir_layout layout);

/// The view of a copy as seen by copies: one row along the last axis that never hangs over the edge, 16-byte
/// size.
bool ir_copy_is_flat(const ir_op *copy);
/// The view ends at a row of its own: where that lies inside the tile, rows are copied one by one.
bool ir_copy_has_end(const ir_op *copy);
/// The tile and the view operand of copy.in or copy.out.
ir_value *ir_copy_tile(const ir_op *copy);
ir_value *ir_copy_view(const ir_op *copy);

#endif
