// SPDX-License-Identifier: Apache-2.0
// Warpgroup products (PTX ISA 9.7.15): operands are gathered from shared memory or registers, widened to f32
// (s32 for integers), and multiplied. Every instruction has a k of 32 bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/units/operand.h"
#include "sim/units/product.h"
#include "sim/units/window.h"

enum { K_BYTES = 32, MAX_K = 32 };

uint32_t pksim_wgmma_k(const struct pksim_wgmma *op)
{
    return K_BYTES / pksim_number_bytes(op->a_type);
}

static bool is_integer(enum pksim_number type)
{
    return type == PKSIM_S8 || type == PKSIM_U8;
}

static bool is_fp8(enum pksim_number type)
{
    return type == PKSIM_E4M3 || type == PKSIM_E5M2;
}

static bool types_valid(enum pksim_number a, enum pksim_number b, enum pksim_number d)
{
    if (is_integer(a) && is_integer(b))
        return d == PKSIM_S32;
    if (is_fp8(a) && is_fp8(b))
        return d == PKSIM_F32 || d == PKSIM_F16;
    if (a != b)
        return false;
    if (a == PKSIM_F16)
        return d == PKSIM_F32 || d == PKSIM_F16;
    return (a == PKSIM_BF16 || a == PKSIM_TF32) && d == PKSIM_F32;
}

// n of the integer forms: 8, 16, 24, 32, then every multiple of 16 (PTX ISA 9.7.15.2).
static bool n_valid(const struct pksim_wgmma *op)
{
    if (op->n == 0 || op->n % 8 != 0 || op->n > PKSIM_WGMMA_MAX_N)
        return false;
    return !is_integer(op->a_type) || op->n <= 32 || op->n % 16 == 0;
}

bool pksim_wgmma_valid(const struct pksim_wgmma *op, struct pksim_unit_error *error)
{
    if (!types_valid(op->a_type, op->b_type, op->d_type))
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "wgmma: no such combination of types");
    if (!n_valid(op))
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "wgmma: n = %u is not allowed", op->n);
    bool halves = op->a_type == PKSIM_F16 || op->a_type == PKSIM_BF16;
    if (!halves && (op->a_major_m || op->b_major_n))
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "wgmma: only 16-bit operands can be transposed");
    if (is_integer(op->a_type) && (op->negate_a || op->negate_b))
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "wgmma: integer operands cannot be negated");
    if (!is_integer(op->a_type) && op->saturate)
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "wgmma: .satfinite is for integers");
    return true;
}

// ---- Products of gathered operands

static void negate(float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = -values[i];
}

static void round_to_f16(float *acc, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        acc[i] = pksim_from_f16(pksim_to_f16(acc[i]));
}

static void multiply_floats(const struct pksim_wgmma *op, float *a, const float *b, float *acc)
{
    uint32_t k = pksim_wgmma_k(op);
    if (op->negate_a != op->negate_b)
        negate(a, PKSIM_WGMMA_ROWS * k);
    if (!op->scale_d)
        memset(acc, 0, PKSIM_WGMMA_ROWS * op->n * sizeof *acc);
    pksim_product_f32(PKSIM_WGMMA_ROWS, op->n, k, a, b, acc);
    if (op->d_type == PKSIM_F16)
        round_to_f16(acc, PKSIM_WGMMA_ROWS * op->n);
}

static int32_t add_saturating(int32_t a, int32_t b)
{
    int64_t sum = (int64_t)a + b;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

static void multiply_integers(const struct pksim_wgmma *op, const int32_t *a, const int32_t *b, int32_t *acc)
{
    uint32_t k = pksim_wgmma_k(op), count = PKSIM_WGMMA_ROWS * op->n;
    if (!op->scale_d)
        memset(acc, 0, count * sizeof *acc);
    if (!op->saturate) {
        pksim_product_i32(PKSIM_WGMMA_ROWS, op->n, k, a, b, acc);
        return;
    }
    int32_t product[PKSIM_WGMMA_ROWS * PKSIM_WGMMA_MAX_N];
    memset(product, 0, count * sizeof *product);
    pksim_product_i32(PKSIM_WGMMA_ROWS, op->n, k, a, b, product);
    for (uint32_t i = 0; i < count; i++)
        acc[i] = add_saturating(acc[i], product[i]);
}

// a and b hold floats, or int32_t for integers.
static void multiply(const struct pksim_wgmma *op, void *a, const void *b, void *acc)
{
    if (is_integer(op->a_type))
        multiply_integers(op, a, b, acc);
    else
        multiply_floats(op, a, b, acc);
}

// A's rows of one warp: two pieces each along k, or two of every line's pieces of eight rows.
static uint32_t keep_rows(const struct pksim_operand_shape *shape, uint32_t warp, const uint32_t *all,
                          uint32_t count, uint32_t *out)
{
    uint32_t across = shape->major_rows ? shape->rows / 8 : 2, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = shape->major_rows ? i % across * 8 : i / across;
        if (row / 16 == warp)
            out[kept++] = all[i];
    }
    return kept;
}

uint32_t pksim_wgmma_pieces(const struct pksim_wgmma *op, const uint64_t *a_descriptor, uint64_t b_descriptor,
                            uint32_t warp, uint32_t *out)
{
    struct pksim_operand_shape a = {op->a_type, PKSIM_WGMMA_ROWS, op->a_major_m, false};
    struct pksim_operand_shape b = {op->b_type, op->n, op->b_major_n, true};
    uint32_t all[2 * PKSIM_WGMMA_ROWS], count = 0;
    if (a_descriptor)
        count = keep_rows(&a, warp, all, pksim_operand_pieces(&a, *a_descriptor, all), out);
    return count + pksim_operand_pieces(&b, b_descriptor, out + count);
}

static bool gather_b(const struct pksim_wgmma *op, const struct pksim_shared *shared, uint64_t descriptor,
                     bool check_written, struct pksim_panels *panels, float *room, const float **b,
                     struct pksim_unit_error *error)
{
    struct pksim_operand_shape shape = {op->b_type, op->n, op->b_major_n, true};
    return pksim_operand_cached(panels, &shape, shared, descriptor, check_written, room, b, error);
}

bool pksim_wgmma_shared(const struct pksim_wgmma *op, const struct pksim_shared *shared,
                        uint64_t a_descriptor, uint64_t b_descriptor, bool check_written,
                        struct pksim_panels *panels, void *acc, struct pksim_unit_error *error)
{
    float a[PKSIM_WGMMA_ROWS * MAX_K], room[MAX_K * PKSIM_WGMMA_MAX_N];
    const float *b;
    struct pksim_operand_shape shape = {op->a_type, PKSIM_WGMMA_ROWS, op->a_major_m, false};
    if (!pksim_operand_gather(&shape, shared, a_descriptor, check_written, a, error) ||
        !gather_b(op, shared, b_descriptor, check_written, panels, room, &b, error))
        return false;
    multiply(op, a, b, acc);
    return true;
}

bool pksim_wgmma_registers(const struct pksim_wgmma *op, const struct pksim_shared *shared,
                           const uint32_t *const *a_regs, uint64_t b_descriptor, bool check_written,
                           struct pksim_panels *panels, void *acc, struct pksim_unit_error *error)
{
    float a[PKSIM_WGMMA_ROWS * MAX_K], room[MAX_K * PKSIM_WGMMA_MAX_N];
    const float *b;
    uint32_t k = pksim_wgmma_k(op);
    for (uint32_t warp = 0; warp < 4; warp++)
        pksim_operand_fragment(op->a_type, a_regs + 4 * warp, 4, a + warp * 16 * k);
    if (!gather_b(op, shared, b_descriptor, check_written, panels, room, &b, error))
        return false;
    multiply(op, a, b, acc);
    return true;
}

// ---- Accumulators (PTX ISA 9.7.15.5.1.1, "Accumulator D"): register i of a thread holds column 8 (i / 4) +
// 2 (lane % 4) + i % 2 of row lane / 4 + 8 ((i / 2) % 2) of its warp's sixteen; two columns a register for
// f16.

uint32_t pksim_wgmma_registers_of_d(const struct pksim_wgmma *op)
{
    return op->d_type == PKSIM_F16 ? op->n / 4 : op->n / 2;
}

static size_t d_place(const struct pksim_wgmma *op, uint32_t warp, uint32_t index, uint32_t lane)
{
    uint32_t row = 16 * warp + lane / 4 + 8 * ((index >> 1) & 1);
    uint32_t column = 8 * (index >> 2) + 2 * (lane & 3) + (index & 1);
    return (size_t)row * op->n + column;
}

static void to_register_f16(const struct pksim_wgmma *op, const float *acc, uint32_t warp, uint32_t index,
                            uint32_t *lanes)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        const float *pair = acc + d_place(op, warp, 2 * index, lane);
        lanes[lane] = pksim_to_f16(pair[0]) | (uint32_t)pksim_to_f16(pair[1]) << 16;
    }
}

void pksim_wgmma_to_register(const struct pksim_wgmma *op, const void *acc, uint32_t warp, uint32_t index,
                             uint32_t *lanes)
{
    if (op->d_type == PKSIM_F16) {
        to_register_f16(op, acc, warp, index, lanes);
        return;
    }
    const char *words = acc;
    for (uint32_t lane = 0; lane < 32; lane++)
        memcpy(&lanes[lane], words + 4 * d_place(op, warp, index, lane), 4);
}

void pksim_wgmma_to_registers(const struct pksim_wgmma *op, const void *acc, uint32_t *const *regs)
{
    uint32_t count = pksim_wgmma_registers_of_d(op);
    for (uint32_t warp = 0; warp < 4; warp++)
        for (uint32_t i = 0; i < count; i++)
            pksim_wgmma_to_register(op, acc, warp, i, regs[warp * count + i]);
}

void pksim_wgmma_from_register(const struct pksim_wgmma *op, const uint32_t *lanes, uint32_t warp,
                               uint32_t index, void *acc)
{
    char *words = acc;
    float *floats = acc;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (op->d_type == PKSIM_F16) {
            float *pair = floats + d_place(op, warp, 2 * index, lane);
            pair[0] = pksim_from_f16((uint16_t)lanes[lane]);
            pair[1] = pksim_from_f16((uint16_t)(lanes[lane] >> 16));
        } else {
            memcpy(words + 4 * d_place(op, warp, index, lane), &lanes[lane], 4);
        }
    }
}

void pksim_wgmma_from_registers(const struct pksim_wgmma *op, const uint32_t *const *regs, void *acc)
{
    uint32_t count = pksim_wgmma_registers_of_d(op);
    for (uint32_t warp = 0; warp < 4; warp++)
        for (uint32_t i = 0; i < count; i++)
            pksim_wgmma_from_register(op, regs[warp * count + i], warp, i, acc);
}

// ---- mma.sync

bool pksim_mma_valid(const struct pksim_mma *op, struct pksim_unit_error *error)
{
    uint32_t bytes = op->k * pksim_number_bytes(op->a_type);
    if (!types_valid(op->a_type, op->b_type, op->d_type) || (bytes != 16 && bytes != 32) ||
        (is_fp8(op->a_type) && bytes == 16 && op->d_type != PKSIM_F32 && op->d_type != PKSIM_F16))
        return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "mma: no such combination of types and shape");
    return true;
}

// Matrix form of C and D, 16 by 8, is that of a wgmma of n = 8, one warp.
static struct pksim_wgmma accumulator_of(const struct pksim_mma *op)
{
    return (struct pksim_wgmma){
        .a_type = op->a_type, .b_type = op->b_type, .d_type = op->d_type, .n = 8, .saturate = op->saturate};
}

// B of mma.sync: register i of a thread holds bytes 4 (lane % 4) + 16 i and on of column lane / 4. As [k][8].
static void b_fragment(const struct pksim_mma *op, const uint32_t *const *regs, float *b)
{
    uint32_t width = pksim_number_bytes(op->b_type), each = 4 / width, count = op->k * width / 16;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t lane = 0; lane < 32; lane++) {
            float values[4];
            pksim_operand_widen(op->b_type, &regs[i][lane], each, values);
            uint32_t row = (4 * (lane % 4) + 16 * i) / width;
            for (uint32_t e = 0; e < each; e++)
                b[(row + e) * 8 + lane / 4] = values[e];
        }
}

static void multiply_warp(const struct pksim_mma *op, const float *a, const float *b, void *acc)
{
    if (!is_integer(op->a_type)) {
        pksim_product_f32(16, 8, op->k, a, b, acc);
        return;
    }
    int32_t product[16 * 8] = {0}, *sums = acc;
    pksim_product_i32(16, 8, op->k, (const int32_t *)a, (const int32_t *)b, product);
    for (uint32_t i = 0; i < 16 * 8; i++)
        sums[i] = op->saturate ? add_saturating(sums[i], product[i])
                               : (int32_t)((uint32_t)sums[i] + (uint32_t)product[i]);
}

void pksim_mma(const struct pksim_mma *op, const uint32_t *const *a, const uint32_t *const *b,
               const uint32_t *const *c, uint32_t *const *d)
{
    float a_matrix[16 * MAX_K], b_matrix[MAX_K * 8];
    int32_t acc[16 * 8];
    struct pksim_wgmma like = accumulator_of(op);
    uint32_t count = pksim_wgmma_registers_of_d(&like);
    pksim_operand_fragment(op->a_type, a, op->k * pksim_number_bytes(op->a_type) / 8, a_matrix);
    b_fragment(op, b, b_matrix);
    for (uint32_t i = 0; i < count; i++)
        pksim_wgmma_from_register(&like, c[i], 0, i, acc);
    multiply_warp(op, a_matrix, b_matrix, acc);
    for (uint32_t i = 0; i < count; i++)
        pksim_wgmma_to_register(&like, acc, 0, i, d[i]);
}
