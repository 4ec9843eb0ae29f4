// SPDX-License-Identifier: Apache-2.0
// What a kernel and its host share, computed from the IR alone: the tensor maps, and where everything lies in
// the parameter block. Emission reads the block by it, describe.c tells the runtime about it.
#ifndef PKC_NVPTX_MODULE_H
#define PKC_NVPTX_MODULE_H

#include "ir/ir.h"

/// A tensor map: how a parameter is cut into boxes. Axes and box sizes are innermost first.
typedef struct nv_tmap {
    const ir_param *param;
    bool
        per_rank; // one a rank (the copies of all ranks are reached through it), else of this rank's own copy
    int n_axes;
    int axis[IR_MAX_AXES];
    int32_t box[IR_MAX_AXES];
    int swizzle; // span in bytes: 128, 64, 32; 0: none
    struct nv_field *field;
} nv_tmap;

/// What a field of the parameter block holds.
typedef enum nv_what {
    NV_WHAT_DIM,         // a named dimension, i32
    NV_WHAT_SCALAR,      // a scalar parameter
    NV_WHAT_FIRST,       // first CTA of a group, i32
    NV_WHAT_POINTER,     // address of a parameter on this rank
    NV_WHAT_PEERS,       // addresses of a parameter on every rank
    NV_WHAT_STRIDE,      // bytes between neighbours of an axis, i64
    NV_WHAT_MAP,         // a tensor map
    NV_WHAT_MAPS,        // one a rank
    NV_WHAT_SIGNAL,      // first word of a signal array in a bank, i32
    NV_WHAT_BANK,        // words of a bank, i32
    NV_WHAT_STATES,      // addresses of every rank's state
    NV_WHAT_MULTI,       // multicast address of a parameter, 0: none
    NV_WHAT_MULTI_STATE, // multicast address of the state, 0: none
} nv_what;

typedef struct nv_field {
    nv_what what;
    pkc_str dim;
    const ir_param *param;
    const ir_group *group;
    const nv_tmap *map;
    int axis;
    int64_t at, at_ranks; // offset in bytes: at + at_ranks * ranks
} nv_field;

typedef struct nv_layout {
    const ir_kernel *k;
    nv_tmap *maps;
    int n_maps;
    nv_field *fields;
    int n_fields;
    int64_t size, size_ranks;   // of a rank's block: size + size_ranks * ranks, before rounding up
    struct nv_copy_map *copies; // which map a copy uses
    int n_copies;
} nv_layout;

/// Whether the kernel ends with a barrier of all ranks.
static inline bool nv_has_exit(const ir_kernel *k)
{
    return k->needs_exit || k->has_signals;
}

/// Everything lives in the kernel's arena.
const nv_layout *nv_layout_make(const ir_kernel *k);
/// The map of a copy op, NULL for the flat form.
const nv_tmap *nv_map_of(const nv_layout *lay, const ir_op *copy);
/// The map of single rows of a copy that may end inside the tile, NULL for others.
const nv_tmap *nv_row_map_of(const nv_layout *lay, const ir_op *copy);
/// The field, or NULL where the kernel has no such thing.
const nv_field *nv_field_dim(const nv_layout *lay, pkc_str name);
const nv_field *nv_field_param(const nv_layout *lay, nv_what what, const ir_param *param, int axis);
const nv_field *nv_field_group(const nv_layout *lay, const ir_group *group);
const nv_field *nv_field_map(const nv_layout *lay, const nv_tmap *map);
/// Whether the op writes or sums a tensor's copies on all ranks at once, so that a multicast address of the
/// parameter serves it: `net.*`, and stores of registers to all ranks. Its operand `i` is then the view.
bool nv_uses_multicast(const ir_op *op, int i);
/// Bytes that a flat copy moves.
int64_t nv_flat_bytes(const ir_op *copy);

#endif
