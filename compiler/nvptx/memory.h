// SPDX-License-Identifier: Apache-2.0
// Addresses of views and shared tiles, and moving a few bytes of a thread.
#ifndef PKC_NVPTX_MEMORY_H
#define PKC_NVPTX_MEMORY_H

#include "nvptx/emit.h"
#include "nvptx/geometry.h"

/// A view of global memory, ready for use by generic loads and stores. Element (r, c) of the tile lies at
/// base + r * row_stride + c * col_stride and exists where r < rows and c < cols (i32, may be negative or
/// large).
typedef struct nv_view {
    LLVMValueRef base;                   // global pointer
    LLVMValueRef row_stride, col_stride; // bytes, i64
    LLVMValueRef rows, cols;
    bool contiguous; // columns lie side by side
} nv_view;

/// The coordinate operand of an axis.
LLVMValueRef nv_view_coord(nv_emit *e, const ir_op *view, int axis);
/// The rank operand, NULL for the rank's own copy. Views of all ranks have none: `all` is their users'
/// business.
LLVMValueRef nv_view_rank(nv_emit *e, const ir_op *view);
/// `rank`: whose copy, NULL for the view's own idea of it.
nv_view nv_view_open(nv_emit *e, const ir_op *view, LLVMValueRef rank);
/// The same through another address of the parameter's first element, such as a multicast address.
nv_view nv_view_open_at(nv_emit *e, const ir_op *view, LLVMValueRef first);

/// Offset in bytes from the start of shared memory of element (row, col) of a tile (docs/compiler.md, "Shared
/// tiles").
LLVMValueRef nv_tile_at(nv_emit *e, const ir_type *tile, LLVMValueRef base, LLVMValueRef row,
                        LLVMValueRef col);
/// Bytes across a panel: the swizzle's span, or the row of a tile without swizzle.
int nv_span(const ir_type *tile);

/// Loads n neighbouring elements (n * size at most 32 bytes, aligned to 16 or to all of it) where pred is
/// true or NULL; zeros elsewhere.
void nv_load_vec(nv_emit *e, LLVMValueRef ptr, pkc_elem elem, int n, LLVMValueRef pred, LLVMValueRef *out);
void nv_store_vec(nv_emit *e, LLVMValueRef ptr, pkc_elem elem, int n, LLVMValueRef pred, LLVMValueRef *in);
/// The same to all copies behind a multicast address. n * size is a multiple of 4.
void nv_store_vec_all(nv_emit *e, LLVMValueRef ptr, pkc_elem elem, int n, LLVMValueRef pred,
                      LLVMValueRef *in);
/// a and b, either of which may be NULL for true.
LLVMValueRef nv_both(nv_emit *e, LLVMValueRef a, LLVMValueRef b);

#endif
