// SPDX-License-Identifier: Apache-2.0
// What the fp8 examples share: operands and scales, and the product of scaled blocks.
#ifndef EXAMPLES_FP8_GEMM_REFERENCE_H
#define EXAMPLES_FP8_GEMM_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

enum { FP8_BLOCK = 128 };

/// Blocks of 128 in n.
size_t fp8_blocks(size_t n);
/// n normal values rounded to e4m3.
void fp8_values(float *x, size_t n, uint64_t *seed);
/// n scales between 1/4 and 2.
void fp8_scales(float *x, size_t n, uint64_t *seed);
/// c[m, n] += a[m, k] * b[n, k] transposed, each product times sa[k / 128, m] and sb[n / 128, k / 128].
void fp8_gemm_reference(double *c, const float *a, const float *b, const float *sa, const float *sb, size_t m,
                        size_t n, size_t k);

#endif
