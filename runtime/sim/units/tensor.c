// SPDX-License-Identifier: Apache-2.0
// Tensor copies in tile mode (PTX ISA 5.5 "Tensors", 9.7.9.27 "Data movement and conversion: tensor copy").
#include <string.h>

#include "sim/units/window.h"

enum { MAX_ROW_BYTES = 256 * 8 };

bool pksim_map_decode(const void *bytes, uint32_t rank, struct pksim_tensor_map *map,
                      struct pksim_unit_error *error)
{
    memcpy(map, bytes, sizeof *map);
    if (map->magic != PKSIM_MAP_MAGIC)
        return pksim_unit_fail(
            error, PKSIM_UNIT_MAP,
            "the 128 bytes are no tensor map made by cuTensorMapEncodeTiled of this driver");
    if (map->rank != rank)
        return pksim_unit_fail(error, PKSIM_UNIT_MAP,
                               "the instruction is for %u dimensions, its tensor map has %u", rank,
                               map->rank);
    return true;
}

// Positions along dimension d of the box. The hardware ignores the element stride of dimension 0.
static uint32_t positions(const struct pksim_tensor_map *map, uint32_t d)
{
    if (d >= map->rank)
        return 1;
    return d == 0 ? map->box[0] : ((uint32_t)map->box[d] + map->steps[d] - 1) / map->steps[d];
}

static uint32_t row_bytes(const struct pksim_tensor_map *map)
{
    return (uint32_t)map->box[0] * map->number_size;
}

// Distance of rows in shared memory: the inner dimension fills the swizzle's width.
static uint32_t row_pitch(const struct pksim_tensor_map *map)
{
    return map->swizzle == PKSIM_SWIZZLE_NONE ? row_bytes(map) : 16u << map->swizzle;
}

static uint32_t row_count(const struct pksim_tensor_map *map)
{
    return positions(map, 1) * positions(map, 2) * positions(map, 3) * positions(map, 4);
}

uint32_t pksim_map_box_bytes(const struct pksim_tensor_map *map)
{
    return row_count(map) * row_bytes(map);
}

uint32_t pksim_map_box_extent(const struct pksim_tensor_map *map)
{
    return row_count(map) * row_pitch(map);
}

// ---- Rows of a box

struct row {
    uint32_t index[5];    // of the row in the box; [0] unused
    uint32_t first, last; // bytes [first, last) of it lie in the tensor; equal: none
    uint64_t address;     // of byte 0 of the row, also where that is outside
};

static void row_locate(const struct pksim_tensor_map *map, const int32_t *coords, struct row *row)
{
    row->first = row->last = 0;
    row->address = map->address + (uint64_t)((int64_t)coords[0] * map->number_size);
    for (uint32_t d = 1; d < map->rank; d++) {
        int64_t at = (int64_t)coords[d] + (int64_t)row->index[d] * map->steps[d];
        if (at < 0 || at > (int64_t)map->dims[d])
            return;
        row->address += (uint64_t)at * map->strides[d - 1];
    }
    int64_t low = coords[0] < 0 ? -(int64_t)coords[0] : 0;
    int64_t high = (int64_t)map->dims[0] + 1 - coords[0];
    if (high > map->box[0])
        high = map->box[0];
    if (low >= high)
        return;
    row->first = (uint32_t)low * map->number_size;
    row->last = (uint32_t)high * map->number_size;
}

static void row_next(const struct pksim_tensor_map *map, struct row *row)
{
    for (uint32_t d = 1; d < map->rank; d++) {
        if (++row->index[d] < positions(map, d))
            return;
        row->index[d] = 0;
    }
}

// Between a row of the box, in order, and its 16-byte pieces in shared memory.
static void scatter_row(const struct pksim_tensor_map *map, struct pksim_shared *shared, uint32_t offset,
                        const unsigned char *row, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 16)
        memcpy(shared->bytes + pksim_swizzled(map->swizzle, offset + i), row + i, 16);
}

static void gather_row(const struct pksim_tensor_map *map, const struct pksim_shared *shared, uint32_t offset,
                       unsigned char *row, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 16)
        memcpy(row + i, shared->bytes + pksim_swizzled(map->swizzle, offset + i), 16);
}

static void mark_row(const struct pksim_tensor_map *map, struct pksim_shared *shared, uint32_t offset,
                     uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 16)
        pksim_shared_mark(shared, pksim_swizzled(map->swizzle, offset + i), 16);
}

static bool row_written(const struct pksim_tensor_map *map, const struct pksim_shared *shared,
                        uint32_t offset, const struct row *row, struct pksim_unit_error *error)
{
    for (uint32_t at = row->first; at < row->last;) {
        uint32_t end = (at & ~15u) + 16;
        end = end < row->last ? end : row->last;
        uint32_t where = pksim_swizzled(map->swizzle, offset + (at & ~15u)) + (at & 15);
        if (!pksim_unit_written(shared, where, end - at, "tensor store", error))
            return false;
        at = end;
    }
    return true;
}

// Out-of-bounds elements: zero, or the NaN that CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA asks for.
static void fill_outside(const struct pksim_tensor_map *map, const struct row *row, unsigned char *buffer)
{
    int value = map->nan_fill ? 0xff : 0;
    memset(buffer, value, row->first);
    memset(buffer + row->last, value, row_bytes(map) - row->last);
}

// The destinations hold the box; a swizzled one may begin anywhere in a pattern, so its last pieces stay
// inside as well.
static bool shared_holds_box(const struct pksim_tensor_map *map, const struct pksim_shared *shared,
                             uint32_t offset, struct pksim_unit_error *error)
{
    return pksim_unit_shared(shared, offset, pksim_map_box_extent(map), 128, "tensor copy", error);
}

static void finish_load(const struct pksim_tensor_map *map, struct pksim_shared *shared, uint32_t offset)
{
    uint32_t bytes = row_bytes(map), pitch = row_pitch(map);
    if (bytes == pitch) {
        pksim_shared_mark(shared, offset, pksim_map_box_extent(map));
        return;
    }
    for (uint32_t i = 0; i < row_count(map); i++)
        mark_row(map, shared, offset + i * pitch, bytes);
}

bool pksim_tensor_load(const struct pksim_copy_site *site, const struct pksim_tensor_map *map,
                       const int32_t *coords, struct pksim_shared *const *shared, uint32_t shared_count,
                       uint32_t offset, struct pksim_unit_error *error)
{
    for (uint32_t i = 0; i < shared_count; i++)
        if (!shared_holds_box(map, shared[i], offset, error))
            return false;
    unsigned char buffer[MAX_ROW_BYTES];
    struct window window = {.count = 0};
    struct row row = {0};
    uint32_t rows = row_count(map), bytes = row_bytes(map), pitch = row_pitch(map);
    for (uint32_t i = 0; i < rows; i++, row_next(map, &row)) {
        row_locate(map, coords, &row);
        fill_outside(map, &row, buffer);
        if (!pksim_window_read(site, &window, row.address + row.first, row.last - row.first,
                               buffer + row.first, error))
            return false;
        for (uint32_t j = 0; j < shared_count; j++)
            scatter_row(map, shared[j], offset + i * pitch, buffer, bytes);
    }
    for (uint32_t i = 0; i < shared_count; i++)
        finish_load(map, shared[i], offset);
    return true;
}

static bool put_row(const struct pksim_copy_site *site, struct window *window, const struct row *row,
                    const unsigned char *buffer, const enum pksim_reduce *op, enum pksim_number type,
                    struct pksim_unit_error *error)
{
    uint64_t address = row->address + row->first;
    uint32_t bytes = row->last - row->first;
    if (op)
        return pksim_window_reduce(site, window, address, bytes, buffer + row->first, *op, type, error);
    return pksim_window_write(site, window, address, bytes, buffer + row->first, error);
}

// Store, or with op reduce.
static bool tensor_put(const struct pksim_copy_site *site, const struct pksim_tensor_map *map,
                       const int32_t *coords, const struct pksim_shared *shared, uint32_t offset,
                       const enum pksim_reduce *op, struct pksim_unit_error *error)
{
    if (!shared_holds_box(map, shared, offset, error))
        return false;
    unsigned char buffer[MAX_ROW_BYTES];
    struct window window = {.count = 0};
    struct row row = {0};
    uint32_t rows = row_count(map), bytes = row_bytes(map), pitch = row_pitch(map);
    for (uint32_t i = 0; i < rows; i++, row_next(map, &row)) {
        row_locate(map, coords, &row);
        if (row.first == row.last)
            continue;
        if (site->check_written && !row_written(map, shared, offset + i * pitch, &row, error))
            return false;
        gather_row(map, shared, offset + i * pitch, buffer, bytes);
        if (!put_row(site, &window, &row, buffer, op, (enum pksim_number)map->type, error))
            return false;
    }
    return true;
}

bool pksim_tensor_store(const struct pksim_copy_site *site, const struct pksim_tensor_map *map,
                        const int32_t *coords, const struct pksim_shared *shared, uint32_t offset,
                        struct pksim_unit_error *error)
{
    return tensor_put(site, map, coords, shared, offset, NULL, error);
}

bool pksim_tensor_reduce(const struct pksim_copy_site *site, const struct pksim_tensor_map *map,
                         const int32_t *coords, const struct pksim_shared *shared, uint32_t offset,
                         enum pksim_reduce op, struct pksim_unit_error *error)
{
    if (!pksim_reduce_known(op, (enum pksim_number)map->type))
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND,
                               "the element type of the tensor map does not have this reduction");
    return tensor_put(site, map, coords, shared, offset, &op, error);
}

// Positions [*first, *last) of dimension d that lie in the tensor.
static bool clip(const struct pksim_tensor_map *map, const int32_t *coords, uint32_t d, uint32_t *first,
                 uint32_t *last)
{
    int64_t step = d == 0 ? 1 : map->steps[d], start = coords[d];
    int64_t low = start >= 0 ? 0 : (-start + step - 1) / step;
    int64_t high = ((int64_t)map->dims[d] - start) / step + 1;
    if (start > (int64_t)map->dims[d])
        high = 0;
    if (high > positions(map, d))
        high = positions(map, d);
    *first = (uint32_t)low;
    *last = (uint32_t)high;
    return low < high;
}

bool pksim_map_box(const struct pksim_tensor_map *map, const int32_t *coords, struct pksim_box *box)
{
    uint32_t first, last;
    *box = (struct pksim_box){.address = map->address, .counts = {1, 1, 1, 1}};
    if (!clip(map, coords, 0, &first, &last))
        return false;
    box->address += (uint64_t)((int64_t)coords[0] + first) * map->number_size;
    box->bytes = (last - first) * map->number_size;
    for (uint32_t d = 1; d < map->rank; d++) {
        if (!clip(map, coords, d, &first, &last))
            return false;
        int64_t at = (int64_t)coords[d] + (int64_t)first * map->steps[d];
        box->address += (uint64_t)at * map->strides[d - 1];
        box->counts[d - 1] = last - first;
        box->strides[d - 1] = map->strides[d - 1] * map->steps[d];
    }
    return true;
}
