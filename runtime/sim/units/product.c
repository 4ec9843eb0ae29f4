// SPDX-License-Identifier: Apache-2.0
#include "sim/units/product.h"

#include <string.h>

// Vectors of eight; the compiler splits them where registers are narrower.
typedef float f32x8 __attribute__((vector_size(32)));
typedef uint32_t u32x8 __attribute__((vector_size(32)));

// Without it gcc keeps the arrays of a block in memory; clang does the right thing only without it.
#if defined(__clang__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif
#define INLINE static inline __attribute__((always_inline))

// One block of 4 rows by 8 * VECTORS columns stays in registers over the whole of k: 12 accumulators, 3 parts
// of b and one of a are the 16 registers of AVX2.
#define DEFINE_BLOCK(name, scalar, vector)                                                                   \
    INLINE void name(const uint32_t vectors, uint32_t n, uint32_t k, const scalar *a, const scalar *b,       \
                     scalar *acc)                                                                            \
    {                                                                                                        \
        vector sum[4][3];                                                                                    \
        UNROLL for (uint32_t i = 0; i < 4; i++) UNROLL for (uint32_t j = 0; j < vectors; j++)                \
            memcpy(&sum[i][j], acc + i * n + 8 * j, sizeof(vector));                                         \
        for (uint32_t p = 0; p < k; p++) {                                                                   \
            vector part[3];                                                                                  \
            UNROLL for (uint32_t j = 0; j < vectors; j++)                                                    \
                memcpy(&part[j], b + p * n + 8 * j, sizeof(vector));                                         \
            UNROLL for (uint32_t i = 0; i < 4; i++) UNROLL for (uint32_t j = 0; j < vectors; j++)            \
                sum[i][j] += part[j] * a[i * k + p];                                                         \
        }                                                                                                    \
        UNROLL for (uint32_t i = 0; i < 4; i++) UNROLL for (uint32_t j = 0; j < vectors; j++)                \
            memcpy(acc + i * n + 8 * j, &sum[i][j], sizeof(vector));                                         \
    }

DEFINE_BLOCK(block_f32, float, f32x8)
DEFINE_BLOCK(block_u32, uint32_t, u32x8)

#define DEFINE_PRODUCT(name, block, scalar)                                                                  \
    INLINE void name(uint32_t rows, uint32_t n, uint32_t k, const scalar *a, const scalar *b, scalar *acc)   \
    {                                                                                                        \
        for (uint32_t row = 0; row < rows; row += 4, a += 4 * k, acc += 4 * n) {                             \
            uint32_t column = 0;                                                                             \
            for (; column + 24 <= n; column += 24)                                                           \
                block(3, n, k, a, b + column, acc + column);                                                 \
            if (column + 16 <= n)                                                                            \
                block(2, n, k, a, b + column, acc + column);                                                 \
            else if (column + 8 <= n)                                                                        \
                block(1, n, k, a, b + column, acc + column);                                                 \
        }                                                                                                    \
    }

DEFINE_PRODUCT(product_f32, block_f32, float)
DEFINE_PRODUCT(product_u32, block_u32, uint32_t)

#if defined(__x86_64__)
#define HAVE_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))

__attribute__((target("avx2,fma"))) static void product_f32_avx2(uint32_t rows, uint32_t n, uint32_t k,
                                                                 const float *a, const float *b, float *acc)
{
    product_f32(rows, n, k, a, b, acc);
}

__attribute__((target("avx2,fma"))) static void
product_u32_avx2(uint32_t rows, uint32_t n, uint32_t k, const uint32_t *a, const uint32_t *b, uint32_t *acc)
{
    product_u32(rows, n, k, a, b, acc);
}
#else
#define HAVE_AVX2        0
#define product_f32_avx2 product_f32
#define product_u32_avx2 product_u32
#endif

void pksim_product_f32(uint32_t rows, uint32_t n, uint32_t k, const float *a, const float *b, float *acc)
{
    if (HAVE_AVX2)
        product_f32_avx2(rows, n, k, a, b, acc);
    else
        product_f32(rows, n, k, a, b, acc);
}

void pksim_product_i32(uint32_t rows, uint32_t n, uint32_t k, const int32_t *a, const int32_t *b,
                       int32_t *acc)
{
    // Unsigned, so that wrapping is defined; the bits are the same.
    const uint32_t *left = (const uint32_t *)a, *right = (const uint32_t *)b;
    if (HAVE_AVX2)
        product_u32_avx2(rows, n, k, left, right, (uint32_t *)acc);
    else
        product_u32(rows, n, k, left, right, (uint32_t *)acc);
}
