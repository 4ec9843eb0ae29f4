// SPDX-License-Identifier: Apache-2.0
#ifndef EXAMPLES_REDUCE_SCATTER_REFERENCE_H
#define EXAMPLES_REDUCE_SCATTER_REFERENCE_H

#include <stddef.h>

/// y[ranks, m, n], what each rank ends with, from x[ranks, m, ranks, n]: what each rank has.
void reduce_scatter_reference(double *y, const float *x, size_t ranks, size_t m, size_t n);

#endif
