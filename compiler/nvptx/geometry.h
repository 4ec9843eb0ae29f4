// SPDX-License-Identifier: Apache-2.0
// Which elements of a register tile a thread holds, and in which order. A thread's elements form a grid of
// row parts and column parts; a side of length 1 has one part, equal in all threads, so broadcasting is
// reading part 0.
//
//   quad(w): R/w rows to each of w warpgroups, in blocks of 64; row part 2 * block + half is row 16q + l/4 +
//   8 * half
//            of its block, column part 2j + b is column 8j + 2(l%4) + b (q: warp in its warpgroup, l: lane).
//            Registers lie as wgmma, stmatrix and operand A want them: (block * C/8 + j) * 4 + half * 2 + b.
//   line(n, m): m lanes share a row, a warp holds 32/m rows at a time: row part i is row (i * n + q) * 32/m +
//   l/m; column part i is column 8(l%m + m(i/8)) + i%8. flat(n): one row part; column part i belongs to
//   vector t + 32n(i/8) of 8 columns, counted through the rows; single
//            elements where the columns are no multiple of 8 (t: thread of the role).
// docs/compiler.md, "Register tiles", is the contract with the passes.
#ifndef PKC_NVPTX_GEOMETRY_H
#define PKC_NVPTX_GEOMETRY_H

#include "nvptx/emit.h"

typedef struct nv_geo {
    ir_dist_base base;
    int w, lanes, rows, cols;
    int row_parts, col_parts;
    int vec;  // columns that lie side by side in a thread and exist together
    int pack; // elements a register
} nv_geo;

/// Where an element lies in the tile (i32), and whether it exists (i1, NULL: it does in every thread).
typedef struct nv_place {
    LLVMValueRef row, col, in;
} nv_place;

/// The grid of a register tile. Tiles at home everywhere count as [1,1].
nv_geo nv_geometry(const ir_type *type);
int nv_geo_elems(const nv_geo *g);
/// Element number of a pair of parts; sides of length 1 take part 0 whatever is asked.
int nv_geo_index(const nv_geo *g, int row_part, int col_part);
nv_place nv_geo_place(nv_emit *e, const nv_geo *g, int row_part, int col_part);
/// i1: this thread is the one that stores an element which several hold; NULL: no two hold the same.
LLVMValueRef nv_geo_owner(nv_emit *e, const nv_geo *g);

/// LLVM values that stand for a value of this type, and their type.
int nv_components(const ir_type *type);
LLVMTypeRef nv_component_type(const nv_emit *e, const ir_type *type);

/// An operand of an element-wise op in the distribution of `like`: tiles at home everywhere are made here.
nv_val nv_operand(nv_emit *e, const ir_value *value, const ir_type *like);
/// Tiles that have no registers of their own (dist ANY, and more than one element).
bool nv_is_lazy(const ir_type *type);

/// Element i of a tile's registers, and building registers from elements.
LLVMValueRef nv_elem_get(nv_emit *e, const nv_geo *g, nv_val v, int i);
nv_val nv_pack(nv_emit *e, const nv_geo *g, LLVMValueRef *elems, LLVMTypeRef type);
nv_val nv_unpack(nv_emit *e, const nv_geo *g, nv_val v);

#endif
