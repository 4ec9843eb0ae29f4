// SPDX-License-Identifier: Apache-2.0
// Small dense products, in the instructions that the host has (chosen when called).
#ifndef PKSIM_UNITS_PRODUCT_H
#define PKSIM_UNITS_PRODUCT_H

#include <stdint.h>

// acc[rows][n] += a[rows][k] b[k][n]; rows is a multiple of 4, n of 8. The sum over k goes in order for each
// element, so a result does not depend on anything but the operands (and on whether the host has fused
// multiply-add).
void pksim_product_f32(uint32_t rows, uint32_t n, uint32_t k, const float *a, const float *b, float *acc);
// Wraps around, as integers do.
void pksim_product_i32(uint32_t rows, uint32_t n, uint32_t k, const int32_t *a, const int32_t *b,
                       int32_t *acc);

#endif
