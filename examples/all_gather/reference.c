// SPDX-License-Identifier: Apache-2.0
#include "all_gather/reference.h"

void all_gather_reference(double *y, const float *x, size_t ranks, size_t m, size_t n)
{
    for (size_t i = 0; i < m; i++)
        for (size_t r = 0; r < ranks; r++)
            for (size_t j = 0; j < n; j++)
                y[(i * ranks + r) * n + j] = x[(r * m + i) * n + j];
}
