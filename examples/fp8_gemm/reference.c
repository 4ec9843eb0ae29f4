// SPDX-License-Identifier: Apache-2.0
#include "fp8_gemm/reference.h"

#include <math.h>

#include "host.h"

size_t fp8_blocks(size_t n)
{
    return (n + FP8_BLOCK - 1) / FP8_BLOCK;
}

/// To the nearest e4m3, ties to even: three bits behind the point, the smallest exponent -6, at most 448.
static float round_e4m3(float x)
{
    int exponent;
    frexpf(x, &exponent); // x = f * 2^exponent, f from a half to 1
    float step = ldexpf(1, (exponent - 1 < -6 ? -6 : exponent - 1) - 3);
    float rounded = rintf(x / step) * step;
    return fminf(fmaxf(rounded, -448), 448);
}

void fp8_values(float *x, size_t n, uint64_t *seed)
{
    host_normal_bf16(x, n, seed);
    for (size_t i = 0; i < n; i++)
        x[i] = round_e4m3(x[i]);
}

void fp8_scales(float *x, size_t n, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 0.25f + (float)(host_random(seed) % 1024) * (1.75f / 1024);
}

/// One block of K for one element.
static double block_sum(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

void fp8_gemm_reference(double *c, const float *a, const float *b, const float *sa, const float *sb, size_t m,
                        size_t n, size_t k)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t s = 0; s < fp8_blocks(k); s++) {
                size_t from = s * FP8_BLOCK, len = k - from < FP8_BLOCK ? k - from : FP8_BLOCK;
                double scale = (double)sa[s * m + i] * sb[j / FP8_BLOCK * fp8_blocks(k) + s];
                c[i * n + j] += scale * block_sum(a + i * k + from, b + j * k + from, len);
            }
}
