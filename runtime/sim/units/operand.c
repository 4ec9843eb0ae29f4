// SPDX-License-Identifier: Apache-2.0
// Where an operand lies in shared memory (PTX ISA 9.7.15.5.1, "Shared memory matrix layout", in the canonical
// layouts' terms). The unit is a piece of 16 bytes; the swizzle is an XOR on the final address.
#include "sim/units/operand.h"

#include <stdlib.h>
#include <string.h>

#include "sim/units/window.h"

enum { PIECE = 16, K_BYTES = 32, MAX_PIECES = 2 * PKSIM_WGMMA_MAX_N };

// ---- Matrix descriptor (PTX ISA 9.7.15.5.1.2): byte quantities are stored divided by 16.

struct descriptor {
    uint32_t start, leading, stride; // bytes
    enum pksim_swizzle swizzle;
};

static bool decode(uint64_t bits, struct descriptor *out, struct pksim_unit_error *error)
{
    static const enum pksim_swizzle modes[4] = {PKSIM_SWIZZLE_NONE, PKSIM_SWIZZLE_128, PKSIM_SWIZZLE_64,
                                                PKSIM_SWIZZLE_32};
    out->start = (uint32_t)(bits & 0x3fff) << 4;
    out->leading = (uint32_t)((bits >> 16) & 0x3fff) << 4;
    out->stride = (uint32_t)((bits >> 32) & 0x3fff) << 4;
    out->swizzle = modes[bits >> 62];
    if ((bits >> 49) & 7)
        return pksim_unit_fail(error, PKSIM_UNIT_DESCRIPTOR,
                               "matrix descriptor 0x%016llx has a base offset, which is not simulated",
                               (unsigned long long)bits);
    return true;
}

// K-major: piece c (0 or 1) of row r. Eight rows are a group, groups are `stride` apart; without a swizzle
// the two pieces of a row are `leading` apart, with one they are neighbours in a row of the swizzle's width.
static uint32_t k_major_at(const struct descriptor *d, uint32_t r, uint32_t c)
{
    uint32_t group = d->start + r / 8 * d->stride;
    if (d->swizzle == PKSIM_SWIZZLE_NONE)
        return group + r % 8 * PIECE + c * d->leading;
    return group + r % 8 * (PIECE << d->swizzle) + c * PIECE;
}

// Contiguous along m or n: piece j (eight rows) of the line k. Eight lines are a group.
static uint32_t rows_major_at(const struct descriptor *d, uint32_t k, uint32_t j)
{
    if (d->swizzle == PKSIM_SWIZZLE_NONE)
        return d->start + k / 8 * d->leading + k % 8 * PIECE + j * d->stride;
    uint32_t across = 1u << d->swizzle; // pieces in a line of the swizzle's width
    return d->start + k / 8 * d->stride + k % 8 * (PIECE << d->swizzle) + j % across * PIECE +
           j / across * d->leading;
}

// One piece into *raw, if it lies in shared memory and was written.
static bool read_piece(const struct descriptor *d, const struct pksim_shared *shared, uint32_t linear,
                       bool check_written, unsigned char *raw, struct pksim_unit_error *error)
{
    uint32_t at = pksim_swizzled(d->swizzle, linear);
    if (!pksim_shared_inside(shared, at, PIECE))
        return pksim_unit_fail(error, PKSIM_UNIT_SHARED,
                               "matrix descriptor (start 0x%x, leading %u, stride %u) reaches shared address "
                               "0x%x, but the CTA has %u bytes",
                               d->start, d->leading, d->stride, at, shared->size);
    if (check_written && (shared->shadow[at >> 3] & shared->shadow[(at >> 3) + 1]) != 0xff)
        return pksim_unit_written(shared, at, PIECE, "wgmma", error);
    memcpy(raw, shared->bytes + at, PIECE);
    return true;
}

// raw[rows][32 bytes], or raw[lines of k][rows] for operands contiguous along the rows.
static bool read_pieces(const struct pksim_operand_shape *shape, const struct pksim_shared *shared,
                        const struct descriptor *d, bool check_written, unsigned char *raw,
                        struct pksim_unit_error *error)
{
    uint32_t lines = shape->major_rows ? K_BYTES / pksim_number_bytes(shape->type) : shape->rows;
    uint32_t across = shape->major_rows ? shape->rows / 8 : K_BYTES / PIECE;
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t j = 0; j < across; j++, raw += PIECE) {
            uint32_t at = shape->major_rows ? rows_major_at(d, line, j) : k_major_at(d, line, j);
            if (!read_piece(d, shared, at, check_written, raw, error))
                return false;
        }
    return true;
}

uint32_t pksim_operand_pieces(const struct pksim_operand_shape *shape, uint64_t descriptor, uint32_t *out)
{
    struct descriptor d;
    struct pksim_unit_error error;
    uint32_t lines = shape->major_rows ? K_BYTES / pksim_number_bytes(shape->type) : shape->rows;
    uint32_t across = shape->major_rows ? shape->rows / 8 : K_BYTES / PIECE, count = 0;
    if (!decode(descriptor, &d, &error))
        return 0;
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t j = 0; j < across; j++)
            out[count++] = pksim_swizzled(d.swizzle, shape->major_rows ? rows_major_at(&d, line, j)
                                                                       : k_major_at(&d, line, j));
    return count;
}

// ---- Widening

static void widen_integers(bool is_signed, const uint8_t *from, uint32_t count, int32_t *to)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = is_signed ? (int8_t)from[i] : from[i];
}

void pksim_operand_widen(enum pksim_number type, const void *from, uint32_t count, float *to)
{
    if (type != PKSIM_S8 && type != PKSIM_U8) {
        pksim_widen(type, from, count, to);
        return;
    }
    int32_t values[K_BYTES * PKSIM_WGMMA_MAX_N];
    widen_integers(type == PKSIM_S8, from, count, values);
    memcpy(to, values, count * sizeof *values);
}

// rows by columns to columns by rows, in tiles that stay in the first-level cache.
static void transpose(const float *from, uint32_t rows, uint32_t columns, float *to)
{
    for (uint32_t r = 0; r < rows; r += 8)
        for (uint32_t c = 0; c < columns; c++)
            for (uint32_t i = 0; i < 8; i++)
                to[c * rows + r + i] = from[(r + i) * columns + c];
}

typedef uint16_t u16x8 __attribute__((vector_size(16)));

// Interleaving of the lower or upper halves of x and y by 1, 2 or 4 elements.
#define LOW_1(x, y)  __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_1(x, y) __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_2(x, y)  __builtin_shufflevector(x, y, 0, 1, 8, 9, 2, 3, 10, 11)
#define HIGH_2(x, y) __builtin_shufflevector(x, y, 4, 5, 12, 13, 6, 7, 14, 15)
#define LOW_4(x, y)  __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH_4(x, y) __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15)

// An 8 by 8 block of 16-bit elements; pitches in elements.
static inline void transpose_block(const uint16_t *from, uint32_t from_pitch, uint16_t *to, uint32_t to_pitch)
{
    u16x8 r[8], s[8];
    for (uint32_t i = 0; i < 8; i++)
        memcpy(&r[i], from + i * from_pitch, sizeof r[i]);
    for (uint32_t i = 0; i < 8; i += 2) {
        s[i] = LOW_1(r[i], r[i + 1]);
        s[i + 1] = HIGH_1(r[i], r[i + 1]);
    }
    for (uint32_t i = 0; i < 8;
         i += 4) { // now pairs of rows; r[i + j] gets columns 2 j and 2 j + 1 of four rows
        r[i] = LOW_2(s[i], s[i + 2]);
        r[i + 1] = HIGH_2(s[i], s[i + 2]);
        r[i + 2] = LOW_2(s[i + 1], s[i + 3]);
        r[i + 3] = HIGH_2(s[i + 1], s[i + 3]);
    }
    for (uint32_t i = 0; i < 4; i++) {
        s[2 * i] = LOW_4(r[i], r[i + 4]);
        s[2 * i + 1] = HIGH_4(r[i], r[i + 4]);
    }
    for (uint32_t i = 0; i < 8; i++)
        memcpy(to + i * to_pitch, &s[i], sizeof s[i]);
}

static void transpose_halves(const uint16_t *from, uint32_t rows, uint32_t columns, uint16_t *to)
{
    for (uint32_t r = 0; r < rows; r += 8)
        for (uint32_t c = 0; c < columns; c += 8)
            transpose_block(from + r * columns + c, columns, to + c * rows + r, rows);
}

// Raw elements in either order, to the order that the shape asks for.
static void arrange(const struct pksim_operand_shape *shape, const unsigned char *raw, float *to)
{
    uint32_t width = pksim_number_bytes(shape->type), k = K_BYTES / width, count = shape->rows * k;
    if (shape->major_rows == shape->k_first) {
        pksim_operand_widen(shape->type, raw, count, to);
    } else if (width == 2) {
        uint16_t turned[MAX_PIECES * PIECE / 2];
        uint32_t lines = shape->major_rows ? k : shape->rows;
        transpose_halves((const uint16_t *)(const void *)raw, lines, count / lines, turned);
        pksim_operand_widen(shape->type, turned, count, to);
    } else {
        float wide[K_BYTES * PKSIM_WGMMA_MAX_N];
        pksim_operand_widen(shape->type, raw, count, wide);
        transpose(wide, shape->rows, k, to);
    }
}

bool pksim_operand_gather(const struct pksim_operand_shape *shape, const struct pksim_shared *shared,
                          uint64_t bits, bool check_written, float *to, struct pksim_unit_error *error)
{
    _Alignas(16) unsigned char raw[MAX_PIECES * PIECE];
    struct descriptor descriptor;
    if (!decode(bits, &descriptor, error) ||
        !read_pieces(shape, shared, &descriptor, check_written, raw, error))
        return false;
    arrange(shape, raw, to);
    return true;
}

void pksim_operand_fragment(enum pksim_number type, const uint32_t *const *regs, uint32_t count, float *to)
{
    uint32_t width = pksim_number_bytes(type), each = 4 / width, k = count * 8 / width;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t row = lane / 4 + 8 * (i % 2), column = (4 * (lane % 4) + 16 * (i / 2)) / width;
            pksim_operand_widen(type, &regs[i][lane], each, to + row * k + column);
        }
}

// ---- Kept operands

enum { PANELS = 32 };

// Valid while the shared memory in [low, high) has no version above `version`.
struct panel {
    const struct pksim_shared *shared;
    uint64_t descriptor, version;
    struct pksim_operand_shape shape;
    uint32_t low, high;
    float *values;
};

struct pksim_panels {
    struct panel panels[PANELS];
};

struct pksim_panels *pksim_panels_create(void)
{
    return calloc(1, sizeof(struct pksim_panels));
}

void pksim_panels_destroy(struct pksim_panels *panels)
{
    if (!panels)
        return;
    for (uint32_t i = 0; i < PANELS; i++)
        free(panels->panels[i].values);
    free(panels);
}

static struct panel *panel_for(struct pksim_panels *panels, const struct pksim_shared *shared,
                               uint64_t descriptor)
{
    uint64_t hash = (descriptor ^ (uint64_t)(uintptr_t)shared) * UINT64_C(0x9e3779b97f4a7c15);
    return &panels->panels[hash >> 59];
}

static bool same_shape(const struct pksim_operand_shape *a, const struct pksim_operand_shape *b)
{
    return a->type == b->type && a->rows == b->rows && a->major_rows == b->major_rows &&
           a->k_first == b->k_first;
}

static bool panel_valid(const struct panel *panel, const struct pksim_operand_shape *shape,
                        const struct pksim_shared *shared, uint64_t descriptor)
{
    return panel->values && panel->shared == shared && panel->descriptor == descriptor &&
           same_shape(&panel->shape, shape) && panel->high <= shared->size &&
           pksim_shared_version(shared, panel->low, panel->high - panel->low) == panel->version;
}

// Shared addresses that the operand may touch; a swizzle stays within its 128 bytes.
static void extent(const struct pksim_operand_shape *shape, const struct descriptor *d,
                   const struct pksim_shared *shared, uint32_t *low, uint32_t *high)
{
    uint32_t last_row = shape->rows - 1, k = K_BYTES / pksim_number_bytes(shape->type), last = 0;
    // The far corners: strides are not negative, but either may be the longer one.
    last = shape->major_rows ? rows_major_at(d, k - 1, shape->rows / 8 - 1) : k_major_at(d, last_row, 1);
    *low = d->start & ~127u;
    *high = (last & ~127u) + 128;
    if (*high > shared->size)
        *high = shared->size;
}

static bool fill_panel(struct panel *panel, const struct pksim_operand_shape *shape,
                       const struct pksim_shared *shared, uint64_t bits, bool check_written,
                       struct pksim_unit_error *error)
{
    struct descriptor descriptor;
    panel->shared = NULL; // not valid until all is done
    if (!decode(bits, &descriptor, error) ||
        !pksim_operand_gather(shape, shared, bits, check_written, panel->values, error))
        return false;
    extent(shape, &descriptor, shared, &panel->low, &panel->high);
    panel->version = pksim_shared_version(shared, panel->low, panel->high - panel->low);
    panel->descriptor = bits;
    panel->shape = *shape;
    panel->shared = shared;
    return true;
}

bool pksim_operand_cached(struct pksim_panels *panels, const struct pksim_operand_shape *shape,
                          const struct pksim_shared *shared, uint64_t descriptor, bool check_written,
                          float *room, const float **values, struct pksim_unit_error *error)
{
    struct panel *panel = panels ? panel_for(panels, shared, descriptor) : NULL;
    if (panel && !panel->values)
        panel->values = malloc(K_BYTES * PKSIM_WGMMA_MAX_N * sizeof *panel->values);
    if (!panel || !panel->values) {
        *values = room;
        return pksim_operand_gather(shape, shared, descriptor, check_written, room, error);
    }
    *values = panel->values;
    return panel_valid(panel, shape, shared, descriptor) ||
           fill_panel(panel, shape, shared, descriptor, check_written, error);
}
