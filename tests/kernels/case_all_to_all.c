// SPDX-License-Identifier: Apache-2.0
// SCATTER and GATHER are the module's const parameters. Sizes are those of what one rank sends to another.
#include "all_to_all.pk.h"
#include "all_to_all/reference.h"
#include "case.h"

static pkrt_status prepare(case_run *run)
{
    int64_t x[4] = {case_value(run, "B"), case_value(run, "D"), case_value(run, "R"), case_value(run, "C")};
    int64_t y[4] = {x[0], x[1], x[2], x[3]};
    size_t dims[4];
    x[SCATTER] *= run->ranks;
    y[GATHER] *= run->ranks;
    for (int i = 0; i < 4; i++)
        dims[i] = (size_t)x[i];
    float *values = case_normal(run, (size_t)run->ranks * dims[0] * dims[1] * dims[2] * dims[3]);
    all_to_all_args args = {.X = case_input(run, PKRT_BF16, 4, x, 0, values),
                            .Y = case_output(run, PKRT_BF16, 4, y, PKRT_SYMMETRIC)};
    double *want = case_want(run, args.Y, 0);
    all_to_all_reference(want, values, (size_t)run->ranks, dims, SCATTER, GATHER);
    return all_to_all_bind(run->module, &run->kernel, &args);
}

#if GATHER == 3
#define COLUMNS 128, 256
#elif SCATTER == 3
#define COLUMNS 8, 64, 128, 136
#else
#define COLUMNS 8, 64, 100, 128, 136
#endif

const kernel_case CASE = {.name = CASE_NAME,
                          .text = all_to_all_pk,
                          .length = sizeof all_to_all_pk - 1,
                          .axes = {CASE_AXIS("B", 1, 2), CASE_AXIS("D", 2, 1, 3),
                                   CASE_AXIS("R", 1, 5, 16, 20, 32, 40, 65), CASE_AXIS("C", COLUMNS)},
                          .sparse = 3,
                          .sparse_first = (4 * SCATTER + GATHER) % 3,
                          .prepare = prepare};
