// SPDX-License-Identifier: Apache-2.0
// The runtime part that all examples do alike: a context from the command line, tensors filled from floats,
// launches, a checked result.
#ifndef EXAMPLES_RUN_H
#define EXAMPLES_RUN_H

#include <pkrt/pkrt.h>

#include "host.h"

/// Says what failed and ends the program with status 1: an example has nothing better to do.
void run_check(pkrt_context *ctx, pkrt_status status, const char *what);
/// A context of args->ranks ranks on args->backend; says what it runs on.
pkrt_context *run_open(const host_args *args);
/// A tensor of n_dims dims on every rank, filled on rank r with values[r * count ..], or with the poison
/// where values is NULL.
pkrt_tensor *run_tensor(pkrt_context *ctx, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags,
                        const float *values);
/// Fills the copy of rank r with values[r * count ..].
void run_fill(pkrt_context *ctx, pkrt_tensor *tensor, const float *values);
/// The same of whole numbers: an i32 tensor.
pkrt_tensor *run_tensor_i32(pkrt_context *ctx, int n_dims, const int64_t *dims, const int32_t *values);
/// Fills every rank's copy with the poison, so that an element never written is seen.
void run_poison(pkrt_context *ctx, pkrt_tensor *tensor);
/// Launches, waits, and gives the seconds that took.
double run_launch(pkrt_context *ctx, pkrt_kernel *kernel);
/// Compares rank r's copy with want[0 .. count), prints a line where it is not within `tolerance`; the
/// error's norm in *worst if it is larger.
bool run_compare(pkrt_context *ctx, pkrt_tensor *tensor, int rank, const double *want, double tolerance,
                 double *worst);

#endif
