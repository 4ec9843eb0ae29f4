// SPDX-License-Identifier: Apache-2.0
// Swizzled layouts: panels of `span` bytes across; in a panel the 16-byte chunks of row r are XORed with r
// (PTX ISA 5.5.6, "Swizzling modes"). The hardware takes the row from address bits, so a panel must hold a
// multiple of 8 rows.
#include "ir/slay.h"

int ir_layout_span(ir_layout layout)
{
    switch (layout) {
    case IR_LAY_SW128:
        return 128;
    case IR_LAY_SW64:
        return 64;
    case IR_LAY_SW32:
        return 32;
    case IR_LAY_LIN:
    case IR_LAY_UNKNOWN:
        return 0;
    }
    return 0;
}

int64_t ir_tile_bytes(pkc_elem elem, int32_t rows, int32_t cols)
{
    return (int64_t)rows * cols * (pkc_elem_bits(elem) / 8);
}

/// The worth of each layout to each use; lin, sw32, sw64, sw128.
static int worth(ir_layout layout, ir_tile_use use)
{
    bool lin = layout == IR_LAY_LIN, full = layout == IR_LAY_SW128;
    switch (use) {
    case IR_USE_MMA_K:
    case IR_USE_MMA_MN:
        return lin ? 0 : full ? 3 : layout == IR_LAY_SW64 ? 2 : 1;
    case IR_USE_COPY:
        return 2;
    case IR_USE_COPY_ROWS:
        return lin || full ? 2 : 0;
    case IR_USE_COPY_FLAT:
        return lin ? 3 : 0;
    case IR_USE_QUAD16:
    case IR_USE_QUAD:
        return lin ? 1 : full ? 3 : 2;
    case IR_USE_LINE:
        return lin ? 3 : 2;
    }
    return 0;
}

/// Boxes of tensor maps have at most 256 elements a side and a multiple of 16 bytes across
/// (cuTensorMapEncodeTiled).
static bool box_fits(ir_layout layout, pkc_elem elem, int32_t rows, int32_t cols)
{
    if (rows > 256)
        return false;
    return layout != IR_LAY_LIN || (cols <= 256 && ir_tile_bytes(elem, 1, cols) % 16 == 0);
}

/// Boxes begin at multiples of 128 bytes of shared memory (PTX ISA, cp.async.bulk.tensor).
enum { BOX_ALIGN = 128 };

int ir_layout_score(ir_layout layout, ir_tile_use use, pkc_elem elem, int32_t rows, int32_t cols)
{
    int span = ir_layout_span(layout);
    if (span != 0 && (ir_tile_bytes(elem, 1, cols) % span != 0 || rows % 8 != 0))
        return 0;
    bool copy = use == IR_USE_COPY || use == IR_USE_COPY_ROWS;
    if (copy && !box_fits(layout, elem, rows, cols))
        return 0;
    if (use == IR_USE_COPY_ROWS && ir_tile_bytes(elem, 1, cols) % BOX_ALIGN != 0)
        return 0;
    if (use == IR_USE_MMA_MN && pkc_elem_bits(elem) != 16)
        return 0;
    return worth(layout, use);
}

const char *ir_tile_use_text(ir_tile_use use)
{
    switch (use) {
    case IR_USE_MMA_K:
    case IR_USE_MMA_MN:
        return "an operand of a product";
    case IR_USE_COPY:
        return "the tile of a bulk copy";
    case IR_USE_COPY_ROWS:
        return "the tile of a bulk copy that may end inside it";
    case IR_USE_COPY_FLAT:
        return "the row of a bulk copy";
    case IR_USE_QUAD16:
    case IR_USE_QUAD:
    case IR_USE_LINE:
        return "a tile that registers are loaded from or stored to";
    }
    return "a tile";
}

int ir_tile_panels(const ir_type *tile, int32_t *cols)
{
    int span = ir_layout_span(tile->layout);
    int32_t width = span == 0 ? tile->cols : (int32_t)(span * 8 / (int)pkc_elem_bits(tile->elem));
    *cols = width;
    return tile->cols / width;
}

int64_t ir_tile_offset(const ir_type *tile, int32_t row, int32_t col)
{
    int span = ir_layout_span(tile->layout), size = (int)pkc_elem_bits(tile->elem) / 8;
    if (span == 0)
        return ((int64_t)row * tile->cols + col) * size;
    int64_t byte = (int64_t)col * size, panel = byte / span;
    int64_t offset = panel * tile->rows * span + (int64_t)row * span + byte % span;
    // Address bits 4.. are XORed with bits 7..: as many of them as there are chunks in a span.
    int64_t mask = (span / 16 - 1) * 16;
    return offset ^ ((offset >> 3) & mask);
}

int64_t ir_layout_align(ir_layout layout)
{
    return layout == IR_LAY_LIN ? 128 : 1024;
}

ir_value *ir_copy_tile(const ir_op *copy)
{
    return ir_in(copy, copy->kind == IR_COPY_IN ? 0 : 1);
}

ir_value *ir_copy_view(const ir_op *copy)
{
    return ir_in(copy, copy->kind == IR_COPY_IN ? 1 : 0);
}

bool ir_copy_has_end(const ir_op *copy)
{
    return ir_copy_view(copy)->def->attr.has_row_hi;
}

bool ir_copy_is_flat(const ir_op *copy)
{
    const ir_type *tile = ir_copy_tile(copy)->type;
    const ir_op *view = ir_copy_view(copy)->def;
    if (view == NULL || view->kind != IR_VIEW || tile->rows != 1)
        return false;
    const ir_attr *attr = &view->attr;
    const ir_param *param = attr->param;
    int64_t extent;
    if (attr->has_row_hi || attr->has_col_hi || attr->col_axis != param->n_dims - 1)
        return false;
    if (!ir_hx_is_const(param->dims[attr->col_axis], &extent) || extent % tile->cols != 0)
        return false;
    return ir_tile_bytes(tile->elem, 1, tile->cols) % 16 == 0 && param->elem == tile->elem;
}
