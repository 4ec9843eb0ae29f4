// SPDX-License-Identifier: Apache-2.0
#ifndef EXAMPLES_ALL_GATHER_REFERENCE_H
#define EXAMPLES_ALL_GATHER_REFERENCE_H

#include <stddef.h>

/// y[m, ranks, n] of one rank (all have the same), from x[ranks, m, n]: what each rank has.
void all_gather_reference(double *y, const float *x, size_t ranks, size_t m, size_t n);

#endif
