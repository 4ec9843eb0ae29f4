// SPDX-License-Identifier: Apache-2.0
// Distributions of register tiles and layouts of shared tiles as maps of elements.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/dist.h"
#include "ir/slay.h"

static ir_type reg(pkc_elem elem, int32_t rows, int32_t cols, ir_dist_base base, int w)
{
    return (ir_type){
        .kind = IR_T_REG, .elem = elem, .rows = rows, .cols = cols, .dist = {.base = base, .w = (uint16_t)w}};
}

static int threads_of(const ir_type *t)
{
    return (t->dist.base == IR_DIST_QUAD ? 128 : 32) * t->dist.w;
}

/// Fills `count` with how many threads hold each element.
static int *holders(const ir_type *t)
{
    int *count = calloc((size_t)t->rows * (size_t)t->cols, sizeof *count);
    for (int thread = 0; thread < threads_of(t); thread++)
        for (int64_t i = 0; i < ir_dist_elems(t); i++) {
            int32_t row, col;
            if (!ir_dist_at(t, thread, i, &row, &col))
                continue;
            assert_in_range(row, 0, t->rows - 1);
            assert_in_range(col, 0, t->cols - 1);
            count[row * t->cols + col]++;
        }
    return count;
}

static void expect_holders(ir_type t, int expected)
{
    int *count = holders(&t);
    for (int i = 0; i < t.rows * t.cols; i++)
        assert_int_equal(count[i], expected);
    free(count);
}

static ir_type lines(int32_t rows, int32_t cols, int w, int lanes)
{
    ir_type t = reg(PKC_E_F32, rows, cols, IR_DIST_LINE, w);
    t.dist.lanes = (uint16_t)lanes;
    return t;
}

static void test_full_tiles_lie_once(void **state)
{
    (void)state;
    expect_holders(reg(PKC_E_F32, 128, 256, IR_DIST_QUAD, 2), 1);
    expect_holders(reg(PKC_E_F32, 64, 8, IR_DIST_QUAD, 1), 1);
    expect_holders(reg(PKC_E_BF16, 256, 24, IR_DIST_QUAD, 2), 1);
    expect_holders(reg(PKC_E_F32, 16, 256, IR_DIST_LINE, 4), 1);
    expect_holders(reg(PKC_E_F32, 7, 100, IR_DIST_LINE, 3), 1);
    for (int lanes = 1; lanes <= 32; lanes *= 2)
        expect_holders(lines(70, 8 * lanes - 3, 3, lanes), 1);
    expect_holders(reg(PKC_E_F32, 16, 256, IR_DIST_FLAT, 4), 1);
    expect_holders(reg(PKC_E_F32, 5, 24, IR_DIST_FLAT, 2), 1);
    expect_holders(reg(PKC_E_F32, 3, 7, IR_DIST_FLAT, 1), 1);
    expect_holders(reg(PKC_E_F32, 1, 1000, IR_DIST_FLAT, 8), 1);
}

static void test_rows_and_columns_are_repeated(void **state)
{
    (void)state;
    expect_holders(reg(PKC_E_F32, 128, 1, IR_DIST_QUAD, 2), 4); // the lanes of a quad
    expect_holders(reg(PKC_E_F32, 1, 64, IR_DIST_QUAD, 2), 64); // 8 quads of 8 warps
    expect_holders(reg(PKC_E_F32, 16, 1, IR_DIST_LINE, 4), 32); // a warp
    expect_holders(reg(PKC_E_F32, 1, 256, IR_DIST_LINE, 4), 4); // one lane of each warp
    expect_holders(reg(PKC_E_F32, 1, 1, IR_DIST_QUAD, 1), 128);
    expect_holders(lines(30, 1, 3, 4), 4);  // the lanes of a row
    expect_holders(lines(1, 32, 3, 4), 24); // 8 rows at a time in 3 warps
}

/// PTX ISA 9.7.16, matrix D of wgmma m64nNk16: d[i] of thread t lies in row 16 (t / 32) + (t % 32) / 4 + 8
/// for i & 2, column 8 (i / 4) + 2 (t % 4) + (i & 1).
static void test_quad_is_the_wgmma_fragment(void **state)
{
    (void)state;
    ir_type t = reg(PKC_E_F32, 64, 256, IR_DIST_QUAD, 1);
    for (int thread = 0; thread < 128; thread++)
        for (int i = 0; i < 128; i++) {
            int32_t row, col;
            assert_true(ir_dist_at(&t, thread, i, &row, &col));
            assert_int_equal(row, 16 * (thread / 32) + thread % 32 / 4 + ((i & 2) ? 8 : 0));
            assert_int_equal(col, 8 * (i / 4) + 2 * (thread % 4) + (i & 1));
        }
}

static void test_second_warpgroup_has_its_own_rows(void **state)
{
    (void)state;
    ir_type t = reg(PKC_E_F32, 256, 8, IR_DIST_QUAD, 2);
    int32_t row, col;
    assert_true(ir_dist_at(&t, 128, 0, &row, &col));
    assert_int_equal(row, 128);
    assert_true(ir_dist_at(&t, 128, 4, &row, &col)); // its second block of 64
    assert_int_equal(row, 192);
}

/// What a full value holds in a row or column, the row or column value of the same base holds in the same
/// thread.
static void expect_broadcast(ir_dist_base base, int w, int32_t rows, int32_t cols)
{
    ir_type full = reg(PKC_E_F32, rows, cols, base, w), row = reg(PKC_E_F32, rows, 1, base, w);
    ir_type col = reg(PKC_E_F32, 1, cols, base, w);
    for (int thread = 0; thread < threads_of(&full); thread += 7)
        for (int64_t i = 0; i < ir_dist_elems(&full); i++) {
            int32_t r, c, other;
            bool has_row = false, has_col = false;
            if (!ir_dist_at(&full, thread, i, &r, &c))
                continue;
            for (int64_t k = 0; k < ir_dist_elems(&row); k++) {
                int32_t at;
                has_row |= ir_dist_at(&row, thread, k, &at, &other) && at == r;
            }
            for (int64_t k = 0; k < ir_dist_elems(&col); k++) {
                int32_t at;
                has_col |= ir_dist_at(&col, thread, k, &other, &at) && at == c;
            }
            assert_true(has_row && has_col);
        }
}

static void test_broadcasts_stay_in_the_thread(void **state)
{
    (void)state;
    expect_broadcast(IR_DIST_QUAD, 2, 128, 64);
    expect_broadcast(IR_DIST_LINE, 3, 10, 300);
}

static void test_register_counts(void **state)
{
    (void)state;
    ir_type acc = reg(PKC_E_F32, 128, 256, IR_DIST_QUAD, 2),
            packed = reg(PKC_E_BF16, 128, 64, IR_DIST_QUAD, 2);
    ir_type rows = reg(PKC_E_F32, 128, 1, IR_DIST_QUAD, 2), cols = reg(PKC_E_BF16, 1, 64, IR_DIST_QUAD, 2);
    ir_type mask = reg(PKC_E_BOOL, 128, 256, IR_DIST_QUAD, 2);
    assert_int_equal(ir_dist_regs(&acc), 128);
    assert_int_equal(ir_dist_regs(&packed), 16);
    assert_int_equal(ir_dist_regs(&rows), 2);
    assert_int_equal(ir_dist_regs(&cols), 8);
    assert_int_equal(ir_dist_regs(&mask), 0);
}

static ir_type tile(pkc_elem elem, int32_t rows, int32_t cols, ir_layout layout)
{
    return (ir_type){.kind = IR_T_TILE, .elem = elem, .rows = rows, .cols = cols, .layout = layout};
}

static void expect_bijective(ir_type t)
{
    int64_t size = pkc_elem_bits(t.elem) / 8, bytes = ir_tile_bytes(t.elem, t.rows, t.cols);
    char *seen = calloc((size_t)bytes, 1);
    for (int32_t r = 0; r < t.rows; r++)
        for (int32_t c = 0; c < t.cols; c++) {
            int64_t at = ir_tile_offset(&t, r, c);
            assert_in_range(at, 0, bytes - size);
            assert_int_equal(at % size, 0);
            assert_int_equal(seen[at], 0);
            seen[at] = 1;
        }
    free(seen);
}

static void test_layouts_are_bijective(void **state)
{
    (void)state;
    expect_bijective(tile(PKC_E_BF16, 64, 256, IR_LAY_SW128));
    expect_bijective(tile(PKC_E_F32, 8, 64, IR_LAY_SW128));
    expect_bijective(tile(PKC_E_BF16, 128, 32, IR_LAY_SW64));
    expect_bijective(tile(PKC_E_E4M3, 16, 96, IR_LAY_SW32));
    expect_bijective(tile(PKC_E_F32, 3, 5, IR_LAY_LIN));
}

/// PTX ISA 5.5.6: with 128-byte swizzle the 16-byte chunk of row r is chunk c ^ (r % 8), with 64 bytes c ^ (r
/// / 2 % 4) of rows of 64 bytes, with 32 bytes c ^ (r / 4 % 2) of rows of 32 bytes.
static void test_swizzle_patterns(void **state)
{
    (void)state;
    ir_type wide = tile(PKC_E_BF16, 16, 128, IR_LAY_SW128), mid = tile(PKC_E_BF16, 16, 32, IR_LAY_SW64);
    ir_type slim = tile(PKC_E_BF16, 16, 16, IR_LAY_SW32);
    for (int r = 0; r < 16; r++)
        for (int chunk = 0; chunk < 8; chunk++) {
            assert_int_equal(ir_tile_offset(&wide, r, 64 + 8 * chunk),
                             2048 + 128 * r + 16 * (chunk ^ (r % 8)));
            assert_int_equal(ir_tile_offset(&mid, r, 8 * (chunk % 4)),
                             64 * r + 16 * (chunk % 4 ^ (r / 2 % 4)));
            assert_int_equal(ir_tile_offset(&slim, r, 8 * (chunk % 2)),
                             32 * r + 16 * (chunk % 2 ^ (r / 4 % 2)));
        }
}

static void test_panels(void **state)
{
    (void)state;
    int32_t cols;
    ir_type b = tile(PKC_E_BF16, 64, 256, IR_LAY_SW128), x = tile(PKC_E_BF16, 128, 128, IR_LAY_LIN);
    assert_int_equal(ir_tile_panels(&b, &cols), 4);
    assert_int_equal(cols, 64);
    assert_int_equal(ir_tile_panels(&x, &cols), 1);
    assert_int_equal(cols, 128);
}

static void test_what_uses_allow(void **state)
{
    (void)state;
    assert_int_equal(ir_layout_score(IR_LAY_SW128, IR_USE_MMA_K, PKC_E_BF16, 128, 64), 3);
    assert_int_equal(ir_layout_score(IR_LAY_SW128, IR_USE_MMA_K, PKC_E_BF16, 128, 32), 0); // half a span
    assert_int_equal(ir_layout_score(IR_LAY_SW64, IR_USE_MMA_K, PKC_E_BF16, 128, 32), 2);
    assert_int_equal(ir_layout_score(IR_LAY_SW128, IR_USE_MMA_MN, PKC_E_E4M3, 128, 128), 0); // 16 bits only
    assert_int_equal(ir_layout_score(IR_LAY_LIN, IR_USE_MMA_K, PKC_E_BF16, 128, 64), 0);
    assert_int_equal(ir_layout_score(IR_LAY_LIN, IR_USE_COPY, PKC_E_BF16, 128, 256), 2);
    assert_int_equal(ir_layout_score(IR_LAY_LIN, IR_USE_COPY, PKC_E_BF16, 128, 264), 0);  // box too wide
    assert_int_equal(ir_layout_score(IR_LAY_SW128, IR_USE_COPY, PKC_E_BF16, 512, 64), 0); // box too high
    assert_int_equal(ir_layout_score(IR_LAY_SW128, IR_USE_COPY, PKC_E_BF16, 12, 64), 0); // a panel of 12 rows
    assert_int_equal(ir_layout_score(IR_LAY_LIN, IR_USE_COPY, PKC_E_BF16, 16, 4), 0);    // 8 bytes across
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_tiles_lie_once),
        cmocka_unit_test(test_rows_and_columns_are_repeated),
        cmocka_unit_test(test_quad_is_the_wgmma_fragment),
        cmocka_unit_test(test_second_warpgroup_has_its_own_rows),
        cmocka_unit_test(test_broadcasts_stay_in_the_thread),
        cmocka_unit_test(test_register_counts),
        cmocka_unit_test(test_layouts_are_bijective),
        cmocka_unit_test(test_swizzle_patterns),
        cmocka_unit_test(test_panels),
        cmocka_unit_test(test_what_uses_allow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
