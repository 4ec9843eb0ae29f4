// SPDX-License-Identifier: Apache-2.0
// What the runtime's tests share: contexts on the simulator, tensors, expectations of errors.
#ifndef TESTS_RT_H
#define TESTS_RT_H

#include <pkrt/pkrt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// after the four headers that it wants
#include <cmocka.h>

/// The status is OK; otherwise fails with the context's error.
#define assert_ok(ctx, status) rt_assert_ok(ctx, status, __FILE__, __LINE__)
void rt_assert_ok(const pkrt_context *ctx, pkrt_status status, const char *file, int line);
/// The status is `want` and the error has all of `words`, which '|' parts.
#define assert_error(ctx, status, want, words) rt_assert_error(ctx, status, want, words, __FILE__, __LINE__)
void rt_assert_error(const pkrt_context *ctx, pkrt_status status, pkrt_status want, const char *words,
                     const char *file, int line);

/// A context of `ranks` ranks on the first `devices` devices of the simulator, dealt in equal blocks.
pkrt_context *rt_open(int ranks, int devices);
/// A module of the tests' kernels.
pkrt_module *rt_load(pkrt_context *ctx);
/// A tensor on every rank, element i of rank r is i + 1000 r.
pkrt_tensor *rt_tensor(pkrt_context *ctx, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags);
float rt_number(int rank, int64_t i);
/// All that a program holds of the driver; 0 when nothing is left.
unsigned long long rt_live(void);

#endif
