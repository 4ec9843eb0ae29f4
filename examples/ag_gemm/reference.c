// SPDX-License-Identifier: Apache-2.0
#include "ag_gemm/reference.h"

#include "host.h"

void ag_gemm_reference(double *c, const float *a, const float *b, size_t ranks, size_t rows, size_t n,
                       size_t k)
{
    for (size_t r = 0; r < ranks; r++)
        host_gemm(c + r * ranks * rows * n, a, b + r * k * n, ranks * rows, n, k);
}
