// SPDX-License-Identifier: Apache-2.0
#include "case.h"
#include "rotate.pk.h"

/// What the copies [2, n] of all ranks hold after the rounds, from what they held before: each half is
/// written every other round, with what the rank before had in the other one.
static void rotate(double *want, const float *x, int64_t ranks, int64_t n, int64_t rounds)
{
    for (int64_t i = 0; i < ranks * 2 * n; i++)
        want[i] = x[i];
    for (int64_t i = 0; i < rounds; i++)
        for (int64_t r = 0; r < ranks; r++)
            for (int64_t j = 0; j < n; j++)
                want[((r + 1) % ranks * 2 + 1 - i % 2) * n + j] = want[(r * 2 + i % 2) * n + j] + 1;
}

static pkrt_status prepare(case_run *run)
{
    int64_t n = case_value(run, "N"), rounds = case_value(run, "rounds");
    float *x = case_normal(run, (size_t)(run->ranks * 2 * n)),
          *z = case_normal(run, (size_t)(run->ranks * 2 * n));
    rotate_args args = {.X = case_inout(run, PKRT_F32, CASE_DIMS(2, n), PKRT_SYMMETRIC, x),
                        .Z = case_inout(run, PKRT_F32, CASE_DIMS(2, n), PKRT_SYMMETRIC, z),
                        .rounds = (int32_t)rounds,
                        .comm = 1};
    rotate(case_want(run, args.X, 1e-6), x, run->ranks, n, rounds);
    rotate(case_want(run, args.Z, 1e-6), z, run->ranks, n, rounds);
    return rotate_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = rotate_pk,
                          .length = sizeof rotate_pk - 1,
                          .axes = {CASE_AXIS("N", 4, 64, 100, 1000), CASE_AXIS("rounds", 0, 1, 2, 5, 8)},
                          .comm = "comm",
                          .prepare = prepare};
