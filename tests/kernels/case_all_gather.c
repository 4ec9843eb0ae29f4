// SPDX-License-Identifier: Apache-2.0
#include "all_gather.pk.h"
#include "all_gather/reference.h"
#include "case.h"

static pkrt_status prepare(case_run *run)
{
    int64_t m = case_value(run, "M"), n = case_value(run, "N");
    float *x = case_normal(run, (size_t)(run->ranks * m * n));
    all_gather_args args = {.X = case_input(run, PKRT_BF16, CASE_DIMS(m, n), 0, x),
                            .Y = case_output(run, PKRT_BF16, CASE_DIMS(m, run->ranks, n), PKRT_SYMMETRIC)};
    double *want = case_want(run, args.Y, 0);
    for (int r = 0; r < run->ranks; r++)
        all_gather_reference(want + r * m * run->ranks * n, x, (size_t)run->ranks, (size_t)m, (size_t)n);
    return all_gather_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = all_gather_pk,
                          .length = sizeof all_gather_pk - 1,
                          .axes = {CASE_AXIS("M", 8, 64, 100, 128, 130, 256, 1000),
                                   CASE_AXIS("N", 8, 64, 100, 128, 130, 256, 1000)},
                          .prepare = prepare};
