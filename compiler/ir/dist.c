// SPDX-License-Identifier: Apache-2.0
// The maps of docs/compiler.md, "Register tiles". `quad` is the accumulator fragment of wgmma (PTX
// ISA 9.7.16, "Register Fragments for wgmma.mma_async.m64nNk16", matrix D), which is also what stmatrix and
// the register operand A take.
#include "ir/dist.h"

ir_dist_kind ir_dist_kind_of(const ir_type *reg)
{
    if (reg->rows > 1)
        return reg->cols > 1 ? IR_KIND_FULL : IR_KIND_ROW;
    return reg->cols > 1 ? IR_KIND_COL : IR_KIND_ONE;
}

int ir_dist_flat_vector(const ir_type *reg)
{
    return reg->cols % IR_DIST_VECTOR == 0 ? IR_DIST_VECTOR : 1;
}

int ir_dist_lanes(ir_dist dist)
{
    return dist.lanes != 0 ? dist.lanes : 32;
}

int ir_dist_lanes_for(int32_t cols)
{
    int lanes = 1;
    while (lanes < 32 && lanes * IR_DIST_VECTOR < cols)
        lanes *= 2;
    return lanes;
}

bool ir_dist_equal(ir_dist a, ir_dist b)
{
    return a.base == b.base && a.w == b.w && ir_dist_lanes(a) == ir_dist_lanes(b);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t quad_rows(const ir_type *reg)
{
    return reg->rows == 1 ? 1 : ceil_div(reg->rows, 64 * (int64_t)reg->dist.w) * 2;
}

static int64_t quad_cols(const ir_type *reg)
{
    return reg->cols == 1 ? 1 : ceil_div(reg->cols, 8) * 2;
}

/// Rows that the role's warps hold at a time.
static int64_t line_step(const ir_type *reg)
{
    return (int64_t)reg->dist.w * (32 / ir_dist_lanes(reg->dist));
}

static int64_t line_rows(const ir_type *reg)
{
    return reg->rows == 1 ? 1 : ceil_div(reg->rows, line_step(reg));
}

/// Elements of a row in one lane.
static int64_t line_cols(const ir_type *reg)
{
    int64_t across = ir_dist_lanes(reg->dist) * IR_DIST_VECTOR;
    return reg->cols == 1 ? 1 : ceil_div(reg->cols, across) * IR_DIST_VECTOR;
}

static int64_t flat_elems(const ir_type *reg)
{
    if (reg->rows == 1 && reg->cols == 1)
        return 1;
    int vector = ir_dist_flat_vector(reg);
    int64_t vectors = (int64_t)reg->rows * reg->cols / vector;
    return ceil_div(vectors, 32 * (int64_t)reg->dist.w) * vector;
}

int64_t ir_dist_elems(const ir_type *reg)
{
    switch (reg->dist.base) {
    case IR_DIST_QUAD:
        return quad_rows(reg) * quad_cols(reg);
    case IR_DIST_LINE:
        return line_rows(reg) * line_cols(reg);
    case IR_DIST_FLAT:
        return flat_elems(reg);
    case IR_DIST_LANE:
        return ceil_div(reg->rows, 128) * ceil_div(reg->cols, reg->dist.w);
    case IR_DIST_ANY:
    case IR_DIST_UNKNOWN:
        return 1;
    }
    return 1;
}

int64_t ir_dist_regs(const ir_type *reg)
{
    if (reg->elem == PKC_E_BOOL || reg->dist.base == IR_DIST_ANY)
        return 0;
    int64_t elems = ir_dist_elems(reg);
    unsigned bits = pkc_elem_bits(reg->elem);
    if (bits >= 32)
        return elems * (bits / 32);
    ir_dist_kind kind = ir_dist_kind_of(reg);
    if (kind == IR_KIND_ROW || kind == IR_KIND_ONE)
        return elems;
    return ceil_div(elems, 2); // 8-bit elements too: they are converted in pairs
}

static bool quad_at(const ir_type *reg, int t, int64_t i, int32_t *row, int32_t *col)
{
    int lane = t % 32, warp = t / 32;
    int64_t j, half, block, b;
    if (ir_dist_kind_of(reg) == IR_KIND_ROW) {
        block = i / 2, half = i % 2, j = 0, b = 0;
    } else if (reg->rows == 1) {
        block = 0, half = 0, j = i / 2, b = i % 2;
    } else {
        int64_t tiles = ceil_div(reg->cols, 8);
        b = i % 2, half = i / 2 % 2, j = i / 4 % tiles, block = i / 4 / tiles;
    }
    int64_t run = reg->rows / reg->dist.w;
    *row =
        reg->rows == 1 ? 0 : (int32_t)(warp / 4 * run + block * 64 + 16 * (warp % 4) + lane / 4 + 8 * half);
    *col = reg->cols == 1 ? 0 : (int32_t)(8 * j + 2 * (lane % 4) + b);
    return *row < reg->rows && *col < reg->cols;
}

static bool line_at(const ir_type *reg, int t, int64_t i, int32_t *row, int32_t *col)
{
    int lanes = ir_dist_lanes(reg->dist), lane = t % 32 % lanes;
    int64_t per_row = line_cols(reg), in_row = i % per_row;
    *row = reg->rows == 1
               ? 0
               : (int32_t)(t / 32 * (32 / lanes) + t % 32 / lanes + line_step(reg) * (i / per_row));
    *col = reg->cols == 1 ? 0
                          : (int32_t)(IR_DIST_VECTOR * (lane + lanes * (in_row / IR_DIST_VECTOR)) +
                                      in_row % IR_DIST_VECTOR);
    return *row < reg->rows && *col < reg->cols;
}

static bool flat_at(const ir_type *reg, int t, int64_t i, int32_t *row, int32_t *col)
{
    int vector = ir_dist_flat_vector(reg);
    int64_t v = t + 32 * (int64_t)reg->dist.w * (i / vector);
    int64_t in_row = reg->cols / vector;
    *row = (int32_t)(v / in_row);
    *col = (int32_t)(v % in_row * vector + i % vector);
    return *row < reg->rows;
}

bool ir_dist_at(const ir_type *reg, int t, int64_t i, int32_t *row, int32_t *col)
{
    *row = *col = 0;
    if (ir_dist_kind_of(reg) == IR_KIND_ONE)
        return true;
    switch (reg->dist.base) {
    case IR_DIST_QUAD:
        return quad_at(reg, t, i, row, col);
    case IR_DIST_LINE:
        return line_at(reg, t, i, row, col);
    case IR_DIST_FLAT:
        return flat_at(reg, t, i, row, col);
    case IR_DIST_LANE:
    case IR_DIST_ANY:
    case IR_DIST_UNKNOWN:
        return false;
    }
    return false;
}
