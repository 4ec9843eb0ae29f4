// SPDX-License-Identifier: Apache-2.0
// A whole GEMM as LLVM emits it (warp-specialised, persistent, TMA, wgmma, late epilogue) against a float64
// reference.
#include "rig.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// The kernel's parameters: three tensor maps, then tiles along m, tiles along n, blocks of 64 along k.
struct params {
    struct pksim_tensor_map a, b, c;
    uint32_t tiles_m, tiles_n, blocks_k;
};

static struct pksim_tensor_map map_2d(uint64_t address, uint32_t rows, uint32_t columns, uint16_t box_rows)
{
    return (struct pksim_tensor_map){.magic = PKSIM_MAP_MAGIC,
                                     .address = address,
                                     .strides = {(uint64_t)columns * 2},
                                     .dims = {columns - 1, rows - 1},
                                     .box = {64, box_rows, 1, 1, 1},
                                     .steps = {1, 1, 1, 1, 1},
                                     .rank = 2,
                                     .type = PKSIM_BF16,
                                     .swizzle = PKSIM_SWIZZLE_128,
                                     .number_size = 2};
}

// B[K][N] as {64, K, N / 64}: one box brings four chunks of 64 columns.
static struct pksim_tensor_map map_b(uint64_t address, uint32_t k, uint32_t n)
{
    struct pksim_tensor_map map = map_2d(address, k, n, 64);
    map.rank = 3;
    map.dims[0] = 63;
    map.dims[2] = n / 64 - 1;
    map.strides[1] = 128;
    map.box[2] = 4;
    return map;
}

static uint16_t *random_halves(uint32_t count, uint64_t seed)
{
    uint16_t *values = malloc(count * sizeof *values);
    for (uint32_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = pksim_to_bf16((float)(int32_t)(seed >> 32) * 0x1p-31f);
    }
    return values;
}

static double worst_error(const uint16_t *a, const uint16_t *b, const uint16_t *c, uint32_t m, uint32_t n,
                          uint32_t k)
{
    double worst = 0;
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint32_t q = 0; q < k; q++)
                sum += (double)pksim_from_bf16(a[i * k + q]) * (double)pksim_from_bf16(b[q * n + j]);
            double error = fabs((double)pksim_from_bf16(c[i * n + j]) - sum) / sqrt(k);
            worst = error > worst || isnan(error) ? error : worst;
            if (isnan(error))
                return INFINITY;
        }
    }
    return worst;
}

static void run_gemm(uint32_t m, uint32_t n, uint32_t k, uint32_t ctas, uint64_t seed, bool late)
{
    struct rig rig;
    char *text = rig_read("gemm_probe.ptx");
    rig_open(&rig, 1, text);
    free(text);
    rig.config.seed = seed;
    rig.config.late = late;
    uint16_t *a = random_halves(m * k, seed), *b = random_halves(k * n, seed + 1),
             *c = malloc((size_t)m * n * 2);
    uint64_t da = rig_upload(&rig, 0, a, m * k * 2), db = rig_upload(&rig, 0, b, k * n * 2),
             dc = rig_alloc(&rig, 0, m * n * 2);
    struct params params = {
        map_2d(da, m, k, 128), map_b(db, k, n), map_2d(dc, m, n, 64), m / 128, n / 256, k / 64};
    struct pksim_function_info info;
    pksim_function_info(pksim_module_find(rig.module, "gemm"), &info);
    assert_int_equal(info.param_bytes, 396);
    assert_int_equal(info.maxntid[0], 384);
    struct pksim_launch launch = rig_launch(&rig, "gemm", 0, ctas, 384, &params, 396);
    launch.dynamic_shared = 229440;
    rig_run_ok(&rig, &launch, 1);
    rig_download(&rig, c, dc, m * n * 2);
    assert_true(worst_error(a, b, c, m, n, k) < 1e-2);
    print_message("%ux%ux%u, %u CTAs, seed %llu%s: %llu warp instructions, %llu products\n", m, n, k, ctas,
                  (unsigned long long)seed, late ? ", late" : "", (unsigned long long)rig.stats.instructions,
                  (unsigned long long)rig.stats.wgmmas);
    assert_int_equal(rig.stats.wgmmas, (m / 64) * (n / 256) * (k / 16));
    free(a);
    free(b);
    free(c);
    rig_close(&rig);
}

static void test_one_tile(void **state)
{
    (void)state;
    run_gemm(128, 256, 256, 1, 1, false);
}

static void test_several_tiles_per_cta(void **state)
{
    (void)state;
    run_gemm(384, 512, 256, 2, 2, false);
}

static void test_late(void **state)
{
    (void)state;
    run_gemm(256, 512, 320, 3, 3, true);
}

static void test_seeds(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 16; seed++)
        run_gemm(256, 256, 384, 1, seed, seed % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_tile),
        cmocka_unit_test(test_several_tiles_per_cta),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
