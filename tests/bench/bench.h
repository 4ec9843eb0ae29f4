// SPDX-License-Identifier: Apache-2.0
// What the benchmarks share: batches of launches between two waits, medians, files.
#ifndef BENCH_H
#define BENCH_H

#include "host.h"
#include "run.h"

enum { BENCH_ROUNDS = 15, BENCH_BATCH_MS = 12, BENCH_PAUSE_US = 40000 };

/// Seconds a launch takes on average over n launches in a row.
double bench_batch(pkrt_context *ctx, void (*launch)(void *), void *user, int n);
/// Launches that make a batch of about BENCH_BATCH_MS.
int bench_launches(pkrt_context *ctx, void (*launch)(void *), void *user);
/// Sorts x and gives its middle; x[0] and x[n - 1] are then least and most.
double bench_median(double *x, int n);
/// A whole file, malloc'd; ends the program where it cannot be read.
char *bench_read(const char *path, size_t *len);
/// n values of a normal distribution, malloc'd.
float *bench_normal(size_t n, uint64_t *seed);

#endif
