// SPDX-License-Identifier: Apache-2.0
#include "all_reduce.pk.h"
#include "all_reduce/reference.h"
#include "case.h"

static pkrt_status prepare(case_run *run)
{
    int64_t n = case_value(run, "N");
    float *x = case_normal(run, (size_t)(run->ranks * n));
    all_reduce_args args = {.X = case_inout(run, PKRT_BF16, CASE_DIMS(n), PKRT_SYMMETRIC, x)};
    double *want = case_want(run, args.X, 1e-2);
    for (int r = 0; r < run->ranks; r++)
        all_reduce_reference(want + r * n, x, (size_t)run->ranks, (size_t)n);
    return all_reduce_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = all_reduce_pk,
                          .length = sizeof all_reduce_pk - 1,
                          .axes = {CASE_AXIS("N", 8, 70000, 8192, 100, 20000, 8200, 40963)},
                          .prepare = prepare};
