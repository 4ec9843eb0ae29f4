// SPDX-License-Identifier: Apache-2.0
// Warpgroup products against the sum written out, for every type, major-ness and swizzle. Operands are put
// into shared memory by the layout of PTX ISA 9.7.15.5.1 as a walk over core matrices (8 rows of 16 bytes),
// not by the units' own address formula.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"
#include "sim/units/units.h"

enum { SHARED_BYTES = 160 * 1024, A_BASE = 1024, B_BASE = 64 * 1024, MAX_K = 32, MAX_N = 256 };

struct fixture {
    struct pksim_shared shared;
    struct pksim_panels *panels;
    uint64_t seed;
    float a[64][MAX_K], b[MAX_K][MAX_N]; // what is stored, exactly
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_true(pksim_shared_init(&f->shared, SHARED_BYTES));
    f->panels = pksim_panels_create();
    f->seed = 20261201;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    pksim_shared_release(&f->shared);
    pksim_panels_destroy(f->panels);
    free(f);
    return 0;
}

static float random_value(struct fixture *f, enum pksim_number type)
{
    switch (type) {
    case PKSIM_U8:
        return (float)random_below(&f->seed, 256);
    case PKSIM_S8:
        return (float)random_below(&f->seed, 256) - 128;
    case PKSIM_E4M3:
    case PKSIM_E5M2: // two bits of fraction
        return ((float)random_below(&f->seed, 7) - 3) / 4;
    default:
        return random_eighth(&f->seed);
    }
}

static void store_value(struct fixture *f, uint32_t at, enum pksim_number type, float value)
{
    uint32_t bits;
    if (type == PKSIM_U8 || type == PKSIM_S8)
        bits = (uint32_t)(int32_t)value;
    else if (type == PKSIM_TF32)
        bits = pksim_to_tf32(value, PKSIM_RN);
    else
        bits = pksim_to_number(type, value, PKSIM_RN, true);
    memcpy(f->shared.bytes + at, &bits, pksim_number_bytes(type));
    pksim_shared_mark(&f->shared, at, pksim_number_bytes(type));
}

// Where an operand of rows (m or n) by k lies, and its descriptor.
struct layout {
    enum pksim_swizzle swizzle;
    bool major_rows;
    uint32_t base, rows, k, width;
    uint32_t leading, stride;
};

static struct layout make_layout(uint32_t base, uint32_t rows, enum pksim_number type, bool major_rows,
                                 enum pksim_swizzle swizzle)
{
    struct layout l = {.swizzle = swizzle, .major_rows = major_rows, .base = base, .rows = rows};
    l.width = pksim_number_bytes(type);
    l.k = 32 / l.width;
    uint32_t span = 16u << swizzle; // bytes of a row of the pattern
    if (!major_rows && swizzle == PKSIM_SWIZZLE_NONE) {
        l.leading = rows * 16; // the second column of core matrices behind the first
        l.stride = 128;
    } else if (!major_rows) {
        l.leading = 16; // not used
        l.stride = 8 * span;
    } else if (swizzle == PKSIM_SWIZZLE_NONE) {
        l.stride = 128;             // next eight rows
        l.leading = rows / 8 * 128; // next eight of k
    } else {
        l.stride = 8 * span;    // next eight of k
        l.leading = l.k * span; // next span of rows
    }
    return l;
}

// Address of element (row, k), walking core matrices.
static uint32_t element_at(const struct layout *l, uint32_t row, uint32_t k)
{
    uint32_t span = 16u << l->swizzle, linear;
    uint32_t minor = (l->major_rows ? row : k) * l->width; // bytes along the contiguous direction
    uint32_t other = l->major_rows ? k : row;
    if (l->swizzle == PKSIM_SWIZZLE_NONE) {
        uint32_t along_rows = row / (l->major_rows ? 8 : 8), core_k = l->major_rows ? k / 8 : minor / 16;
        linear = along_rows * l->stride + core_k * l->leading + other % 8 * 16 + minor % 16;
        return l->base + linear;
    }
    linear = other / 8 * l->stride + other % 8 * span + minor % span;
    if (l->major_rows)
        linear += minor / span * l->leading;
    uint32_t at = l->base + linear;
    // The pattern of the swizzle: 16-byte column c of line r goes to c ^ r, of as many lines as there are
    // columns; lines of 128 bytes.
    uint32_t columns = 1u << l->swizzle, line = at / 128 % columns;
    return at ^ (line << 4);
}

static uint64_t descriptor(const struct layout *l)
{
    static const uint64_t modes[4] = {0, 3, 2, 1};
    return (uint64_t)(l->base >> 4) | (uint64_t)(l->leading >> 4) << 16 | (uint64_t)(l->stride >> 4) << 32 |
           modes[l->swizzle] << 62;
}

static void place_a(struct fixture *f, const struct layout *l, enum pksim_number type)
{
    for (uint32_t m = 0; m < l->rows; m++)
        for (uint32_t k = 0; k < l->k; k++)
            store_value(f, element_at(l, m, k), type, f->a[m][k] = random_value(f, type));
}

static void place_b(struct fixture *f, const struct layout *l, enum pksim_number type)
{
    for (uint32_t n = 0; n < l->rows; n++)
        for (uint32_t k = 0; k < l->k; k++)
            store_value(f, element_at(l, n, k), type, f->b[k][n] = random_value(f, type));
}

static double expected(const struct fixture *f, const struct pksim_wgmma *op, uint32_t m, uint32_t n,
                       double before)
{
    double sum = op->scale_d ? before : 0;
    double sign = op->negate_a != op->negate_b ? -1 : 1;
    for (uint32_t k = 0; k < pksim_wgmma_k(op); k++)
        sum += sign * (double)f->a[m][k] * (double)f->b[k][n];
    if (op->d_type == PKSIM_F16)
        sum = (double)pksim_from_f16(pksim_to_f16((float)sum));
    return sum;
}

static double acc_value(const struct pksim_wgmma *op, const void *acc, uint32_t index)
{
    return op->d_type == PKSIM_S32 ? ((const int32_t *)acc)[index] : (double)((const float *)acc)[index];
}

static void fill_acc(const struct pksim_wgmma *op, void *acc, float value)
{
    for (uint32_t i = 0; i < 64 * op->n; i++)
        if (op->d_type == PKSIM_S32)
            ((int32_t *)acc)[i] = (int32_t)value;
        else
            ((float *)acc)[i] = value;
}

static void check_acc(struct fixture *f, const struct pksim_wgmma *op, const void *acc, double before)
{
    for (uint32_t m = 0; m < 64; m++)
        for (uint32_t n = 0; n < op->n; n++) {
            double want = expected(f, op, m, n, before), got = acc_value(op, acc, m * op->n + n);
            if (want != got)
                fail_msg("D[%u][%u]: %g instead of %g (n %u, types %d %d, seed %llu)", m, n, got, want, op->n,
                         (int)op->a_type, (int)op->b_type, (unsigned long long)f->seed);
        }
}

static void check_case(struct fixture *f, const struct pksim_wgmma *op, enum pksim_swizzle a_swizzle,
                       enum pksim_swizzle b_swizzle)
{
    static _Alignas(64) float acc[64 * MAX_N];
    struct pksim_unit_error error;
    assert_true(pksim_wgmma_valid(op, &error));
    struct layout a = make_layout(A_BASE, 64, op->a_type, op->a_major_m, a_swizzle);
    struct layout b = make_layout(B_BASE, op->n, op->b_type, op->b_major_n, b_swizzle);
    place_a(f, &a, op->a_type);
    place_b(f, &b, op->b_type);
    for (int round = 0; round < 2; round++) { // the second one from the kept operand
        fill_acc(op, acc, 3);
        if (!pksim_wgmma_shared(op, &f->shared, descriptor(&a), descriptor(&b), true, f->panels, acc, &error))
            fail_msg("%s", error.text);
        check_acc(f, op, acc, 3);
    }
}

static void halves_in_every_layout(void **state)
{
    static const uint32_t sizes[] = {8, 24, 64, 96, 136, 256};
    for (uint32_t i = 0; i < 4 * 4 * 4 * 6; i++) {
        struct pksim_wgmma op = {
            .a_type = i % 2 ? PKSIM_BF16 : PKSIM_F16, .d_type = PKSIM_F32, .scale_d = true};
        op.b_type = op.a_type;
        op.n = sizes[i / 64];
        op.a_major_m = i & 1;
        op.b_major_n = i & 2;
        enum pksim_swizzle b_swizzle = (enum pksim_swizzle)(i / 16 % 4);
        // Contiguous along n, a whole width of the swizzle must exist.
        if (op.b_major_n && op.n % (8u << b_swizzle) != 0)
            continue;
        check_case(*state, &op, (enum pksim_swizzle)(i / 4 % 4), b_swizzle);
    }
}

static void other_types(void **state)
{
    static const struct pksim_wgmma ops[] = {
        {.a_type = PKSIM_E4M3, .b_type = PKSIM_E4M3, .d_type = PKSIM_F32, .n = 64, .scale_d = true},
        {.a_type = PKSIM_E4M3, .b_type = PKSIM_E5M2, .d_type = PKSIM_F16, .n = 40, .scale_d = true},
        {.a_type = PKSIM_E5M2, .b_type = PKSIM_E4M3, .d_type = PKSIM_F32, .n = 256, .negate_a = true},
        {.a_type = PKSIM_E5M2,
         .b_type = PKSIM_E5M2,
         .d_type = PKSIM_F32,
         .n = 8,
         .negate_a = true,
         .negate_b = true},
        {.a_type = PKSIM_TF32, .b_type = PKSIM_TF32, .d_type = PKSIM_F32, .n = 128, .scale_d = true},
        {.a_type = PKSIM_F16, .b_type = PKSIM_F16, .d_type = PKSIM_F16, .n = 16, .scale_d = true},
        {.a_type = PKSIM_S8, .b_type = PKSIM_U8, .d_type = PKSIM_S32, .n = 96, .scale_d = true},
        {.a_type = PKSIM_U8,
         .b_type = PKSIM_S8,
         .d_type = PKSIM_S32,
         .n = 8,
         .scale_d = true,
         .saturate = true},
        {.a_type = PKSIM_U8, .b_type = PKSIM_U8, .d_type = PKSIM_S32, .n = 256},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int swizzle = 0; swizzle < 4; swizzle++)
            check_case(*state, &ops[i], (enum pksim_swizzle)swizzle, (enum pksim_swizzle)(3 - swizzle));
}

// A from registers: the fragment of PTX ISA 9.7.15.5.1.1, built element by element.
static void a_from_registers(void **state)
{
    struct fixture *f = *state;
    static const enum pksim_number types[] = {PKSIM_BF16, PKSIM_E4M3, PKSIM_TF32, PKSIM_S8};
    static _Alignas(64) float acc[64 * MAX_N];
    for (size_t t = 0; t < 4; t++) {
        struct pksim_wgmma op = {.a_type = types[t], .b_type = types[t], .n = 32, .scale_d = true};
        op.d_type = types[t] == PKSIM_S8 ? PKSIM_S32 : PKSIM_F32;
        uint32_t width = pksim_number_bytes(op.a_type), k_count = 32 / width;
        struct layout b = make_layout(B_BASE, op.n, op.b_type, false, PKSIM_SWIZZLE_128);
        place_b(f, &b, op.b_type);
        uint32_t words[16][32] = {{0}};
        const uint32_t *regs[16];
        for (uint32_t m = 0; m < 64; m++)
            for (uint32_t k = 0; k < k_count; k++) {
                uint32_t byte = k * width, lane = m % 8 * 4 + byte % 16 / 4;
                uint32_t reg = m / 16 * 4 + (m % 16 >= 8) + 2 * (byte >= 16);
                f->a[m][k] = random_value(f, op.a_type);
                store_value(f, A_BASE, op.a_type, f->a[m][k]);
                memcpy((char *)&words[reg][lane] + byte % 4, f->shared.bytes + A_BASE, width);
            }
        for (int i = 0; i < 16; i++)
            regs[i] = words[i];
        struct pksim_unit_error error;
        fill_acc(&op, acc, 1);
        assert_true(pksim_wgmma_registers(&op, &f->shared, regs, descriptor(&b), true, NULL, acc, &error));
        check_acc(f, &op, acc, 1);
    }
}

static void accumulators_go_to_registers_and_back(void **state)
{
    (void)state;
    static _Alignas(64) float acc[64 * 64], back[64 * 64];
    static uint32_t words[4 * 32][32];
    uint32_t *regs[4 * 32];
    for (int half = 0; half < 2; half++) {
        struct pksim_wgmma op = {.d_type = half ? PKSIM_F16 : PKSIM_F32, .n = 64};
        uint32_t count = pksim_wgmma_registers_of_d(&op);
        assert_int_equal(count, half ? 16 : 32);
        for (int i = 0; i < 64 * 64; i++)
            acc[i] = (float)(i % 2048);
        for (uint32_t i = 0; i < 4 * count; i++)
            regs[i] = words[i];
        pksim_wgmma_to_registers(&op, acc, regs);
        // Thread 37 (warp 1, lane 5) holds, first, row 17 columns 2 and 3, then row 25 columns 2 and 3.
        if (half)
            assert_int_equal(words[count][5],
                             pksim_to_f16(acc[17 * 64 + 2]) | (uint32_t)pksim_to_f16(acc[17 * 64 + 3]) << 16);
        else
            assert_int_equal(words[count + 3][5], pksim_bits_of(acc[25 * 64 + 3]));
        pksim_wgmma_from_registers(&op, (const uint32_t *const *)regs, back);
        assert_memory_equal(acc, back, sizeof acc);
    }
}

static void kept_operands_follow_writes(void **state)
{
    struct fixture *f = *state;
    static _Alignas(64) float acc[64 * MAX_N];
    struct pksim_unit_error error;
    struct pksim_wgmma op = {.a_type = PKSIM_BF16, .b_type = PKSIM_BF16, .d_type = PKSIM_F32, .n = 64};
    struct layout a = make_layout(A_BASE, 64, op.a_type, false, PKSIM_SWIZZLE_128);
    struct layout b = make_layout(B_BASE, 64, op.b_type, false, PKSIM_SWIZZLE_128);
    place_a(f, &a, op.a_type);
    place_b(f, &b, op.b_type);
    for (int i = 0; i < 50; i++) {
        assert_true(pksim_wgmma_shared(&op, &f->shared, descriptor(&a), descriptor(&b), true, f->panels, acc,
                                       &error));
        check_acc(f, &op, acc, 0);
        uint32_t n = random_below(&f->seed, 64), k = random_below(&f->seed, 16);
        store_value(f, element_at(&b, n, k), op.b_type, f->b[k][n] = random_value(f, op.b_type));
    }
}

static void mistakes(void **state)
{
    struct fixture *f = *state;
    static _Alignas(64) float acc[64 * MAX_N];
    struct pksim_unit_error error;
    struct pksim_wgmma op = {.a_type = PKSIM_BF16, .b_type = PKSIM_BF16, .d_type = PKSIM_F32, .n = 64};
    struct layout a = make_layout(A_BASE, 64, op.a_type, false, PKSIM_SWIZZLE_128);
    struct layout b = make_layout(150 * 1024, 64, op.b_type, false, PKSIM_SWIZZLE_128);
    place_a(f, &a, op.a_type);
    pksim_shared_reset(&f->shared);
    assert_false(
        pksim_wgmma_shared(&op, &f->shared, descriptor(&a), descriptor(&b), true, f->panels, acc, &error));
    assert_int_equal(error.kind, PKSIM_UNIT_UNWRITTEN);
    assert_true(
        pksim_wgmma_shared(&op, &f->shared, descriptor(&a), descriptor(&a), false, NULL, acc, &error));
    b.base = 156 * 1024; // 8 KiB of which the last four are outside
    place_a(f, &a, op.a_type);
    assert_false(
        pksim_wgmma_shared(&op, &f->shared, descriptor(&a), descriptor(&b), false, NULL, acc, &error));
    assert_int_equal(error.kind, PKSIM_UNIT_SHARED);
    uint64_t based = descriptor(&a) | UINT64_C(1) << 49;
    assert_false(pksim_wgmma_shared(&op, &f->shared, based, descriptor(&a), false, NULL, acc, &error));
    assert_int_equal(error.kind, PKSIM_UNIT_DESCRIPTOR);
    op.n = 12;
    assert_false(pksim_wgmma_valid(&op, &error));
    op.n = 64;
    op.d_type = PKSIM_F16;
    assert_false(pksim_wgmma_valid(&op, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(halves_in_every_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(other_types, setup, teardown),
        cmocka_unit_test_setup_teardown(a_from_registers, setup, teardown),
        cmocka_unit_test_setup_teardown(accumulators_go_to_registers_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(kept_operands_follow_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
