// SPDX-License-Identifier: Apache-2.0
// What the example programs share on the host: command lines, random data, float64 references, comparison.
// Nothing here is about the runtime; each example's main.c shows that part whole.
#ifndef EXAMPLES_HOST_H
#define EXAMPLES_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_MAX_DIMS = 8 };

/// One size that an example's user may choose, `NAME=VALUE` on the command line.
typedef struct host_dim {
    const char *name;
    int64_t value; // the default, then what was given
} host_dim;

/// A parsed command line: `[--ranks N] [--backend auto|cuda|sim] [--multicast never|auto|require] [--launches
/// K]
/// [--seed S] [NAME=VALUE ...]`.
typedef struct host_args {
    int ranks, launches;
    const char *backend;   // NULL: auto
    const char *multicast; // NULL: never
    uint64_t seed;
    host_dim dims[HOST_MAX_DIMS]; // as many as have a name
} host_args;

/// Fills `args` from the command line; its members hold the defaults before. False: a message went to stderr.
bool host_parse(int argc, char **argv, host_args *args);

/// The generator behind host_normal (splitmix64); state is any number.
uint64_t host_random(uint64_t *state);
/// n values of a standard normal distribution, rounded to bf16 so that the reference sees what the kernel
/// sees.
void host_normal_bf16(float *x, size_t n, uint64_t *state);
/// The same in memory of its own, to be freed.
float *host_normal_tensor(size_t n, uint64_t *state);
/// x rounded to the nearest bf16, ties to even, as a float.
float host_round_bf16(float x);

/// c += a * b in float64; row-major, a is [m, k] (row stride lda), b is [k, n], c is [m, n].
void host_gemm(double *c, const float *a, const float *b, size_t m, size_t n, size_t k);

/// How far a result is from its reference.
typedef struct host_error {
    double relative;  // norm of the difference / norm of the reference
    double worst;     // largest difference of one element
    size_t at;        // where
    size_t unwritten; // elements that still hold the poison
} host_error;

/// What outputs are filled with before a launch: a NaN, so that an element never written is seen.
float host_poison(void);
host_error host_compare(const float *got, const double *want, size_t n);

/// Seconds on a monotonic clock.
double host_seconds(void);

#endif
