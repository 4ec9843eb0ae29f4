// SPDX-License-Identifier: Apache-2.0
#ifndef EXAMPLES_ALL_TO_ALL_REFERENCE_H
#define EXAMPLES_ALL_TO_ALL_REFERENCE_H

#include <stddef.h>

/// y[ranks, ...] from x[ranks, dims[0], .., dims[3]]: axis `scatter` of each rank's x is split over the
/// ranks, what comes from them is joined along axis `gather` of y. dims[scatter] is a multiple of ranks.
void all_to_all_reference(double *y, const float *x, size_t ranks, const size_t dims[4], int scatter,
                          int gather);

#endif
