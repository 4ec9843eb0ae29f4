// SPDX-License-Identifier: Apache-2.0
#ifndef EXAMPLES_AG_GEMM_REFERENCE_H
#define EXAMPLES_AG_GEMM_REFERENCE_H

#include <stddef.h>

/// c[ranks, ranks * rows, n]: on each rank r the rows of all ranks, a[ranks, rows, k], times b[r], which is
/// [k, n].
void ag_gemm_reference(double *c, const float *a, const float *b, size_t ranks, size_t rows, size_t n,
                       size_t k);

#endif
