// SPDX-License-Identifier: Apache-2.0
#include "reduce_scatter/reference.h"

void reduce_scatter_reference(double *y, const float *x, size_t ranks, size_t m, size_t n)
{
    for (size_t i = 0; i < ranks * m * n; i++)
        y[i] = 0;
    for (size_t from = 0; from < ranks; from++)
        for (size_t i = 0; i < m; i++)
            for (size_t r = 0; r < ranks; r++)
                for (size_t j = 0; j < n; j++)
                    y[(r * m + i) * n + j] += x[((from * m + i) * ranks + r) * n + j];
}
