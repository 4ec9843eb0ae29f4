// SPDX-License-Identifier: Apache-2.0
// H is a const parameter of the module: 264 here, which is no multiple of the step along it.
#include <math.h>

#include "case.h"
#include "moe.h"
#include "moe_dispatch_gemm.pk.h"

/// Rows that nobody owns must stay as they were.
static void spare(double *want, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        want[i] = NAN;
}

/// What Y and Z of each rank should hold.
static void fill_want(case_run *run, const moe_dispatch_gemm_args *args, const moe_routing *r, const float *x,
                      const float *w, size_t n)
{
    double *y = case_want(run, args->Y, 0), *z = case_want(run, args->Z, 1e-2);
    for (size_t rank = 0; rank < r->ranks; rank++, y += r->rows * H, z += r->rows * n) {
        moe_dispatch_reference(y, r, rank, x, H);
        moe_gemm_reference(z, r, rank, x, w + rank * r->experts * H * n, H, n);
        spare(y, moe_rows(r, rank) * H, r->rows * H);
        spare(z, moe_rows(r, rank) * n, r->rows * n);
    }
}

static pkrt_status prepare(case_run *run)
{
    int64_t tokens = case_value(run, "T"), experts = case_value(run, "E"), n = case_value(run, "N");
    moe_routing r = moe_route((size_t)run->ranks, (size_t)tokens, (size_t)experts,
                              (size_t)case_value(run, "topk"), (moe_load)case_value(run, "load"), &run->seed);
    case_keep(run, r.from);
    case_keep(run, r.first);
    case_keep(run, r.where);
    int64_t rows = (int64_t)r.rows;
    float *x = case_normal(run, (size_t)(run->ranks * tokens * H));
    float *w = case_normal(run, (size_t)(run->ranks * experts * H * n));
    moe_dispatch_gemm_args args = {.X = case_input(run, PKRT_BF16, CASE_DIMS(tokens, H), PKRT_SYMMETRIC, x),
                                   .Y = case_output(run, PKRT_BF16, CASE_DIMS(rows, H), 0),
                                   .W = case_input(run, PKRT_BF16, CASE_DIMS(experts, H, n), 0, w),
                                   .Z = case_output(run, PKRT_BF16, CASE_DIMS(rows, n), 0),
                                   .from = case_input_i32(run, CASE_DIMS(rows, 2), r.from),
                                   .first = case_input_i32(run, CASE_DIMS(experts + 1), r.first),
                                   .comm_sms = 1};
    fill_want(run, &args, &r, x, w, (size_t)n);
    return moe_dispatch_gemm_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {
    .name = CASE_NAME,
    .text = moe_dispatch_gemm_pk,
    .length = sizeof moe_dispatch_gemm_pk - 1,
    .axes = {CASE_AXIS("T", 1, 17, 40, 100, 150), CASE_AXIS("E", 2, 1, 5), CASE_AXIS("N", 8, 64, 100, 264),
             CASE_AXIS("topk", 1, 2, 3),
             CASE_AXIS("load", MOE_UNEVEN, MOE_UNEVEN, MOE_ONE, MOE_UNEVEN, MOE_NOTHING)},
    .comm = "comm_sms",
    .prepare = prepare};
