// SPDX-License-Identifier: Apache-2.0
#ifndef EXAMPLES_ALL_REDUCE_REFERENCE_H
#define EXAMPLES_ALL_REDUCE_REFERENCE_H

#include <stddef.h>

/// sum[n], which all ranks end with, from x[ranks, n]: what each rank has.
void all_reduce_reference(double *sum, const float *x, size_t ranks, size_t n);

#endif
