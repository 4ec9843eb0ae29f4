// SPDX-License-Identifier: Apache-2.0
#include "case.h"
#include "scale.pk.h"

static pkrt_status prepare(case_run *run)
{
    int64_t m = case_value(run, "M"), n = case_value(run, "N");
    size_t count = (size_t)(run->ranks * m * n);
    float *x = case_normal(run, count);
    scale_args args = {.X = case_input(run, PKRT_BF16, CASE_DIMS(m, n), 0, x),
                       .Y = case_output(run, PKRT_BF16, CASE_DIMS(m, n), 0),
                       .a = (float)case_value(run, "a") / 4};
    double *want = case_want(run, args.Y, 1e-2);
    for (size_t i = 0; i < count; i++)
        want[i] = (double)args.a * x[i];
    return scale_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {.name = CASE_NAME,
                          .text = scale_pk,
                          .length = sizeof scale_pk - 1,
                          .axes = {CASE_AXIS("M", 8, 64, 100, 128, 130, 256, 1000),
                                   CASE_AXIS("N", 8, 64, 100, 128, 130, 256, 1000),
                                   CASE_AXIS("a", 3, -7)}, // quarters
                          .prepare = prepare};
