// SPDX-License-Identifier: Apache-2.0
#include "case.h"
#include "reduce_scatter.pk.h"
#include "reduce_scatter/reference.h"

static pkrt_status prepare(case_run *run)
{
    int64_t m = case_value(run, "M"), n = case_value(run, "N");
    size_t ranks = (size_t)run->ranks;
    float *x = case_normal(run, ranks * ranks * (size_t)(m * n));
    reduce_scatter_args args = {
        .X = case_input(run, PKRT_BF16, CASE_DIMS(m, run->ranks, n), PKRT_SYMMETRIC, x),
        .Y = case_output(run, PKRT_BF16, CASE_DIMS(m, n), 0)};
    reduce_scatter_reference(case_want(run, args.Y, 1e-2), x, ranks, (size_t)m, (size_t)n);
    return reduce_scatter_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = reduce_scatter_pk,
                          .length = sizeof reduce_scatter_pk - 1,
                          .axes = {CASE_AXIS("M", 1, 16, 33, 100), CASE_AXIS("N", 8, 512, 100, 520, 1028)},
                          .prepare = prepare};
