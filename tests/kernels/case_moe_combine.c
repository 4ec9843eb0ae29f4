// SPDX-License-Identifier: Apache-2.0
// H and TOPK are const parameters of the module.
#include "case.h"
#include "moe.h"
#include "moe_combine.pk.h"

static pkrt_status prepare(case_run *run)
{
    int64_t tokens = case_value(run, "T"), experts = case_value(run, "E");
    moe_routing r = moe_route((size_t)run->ranks, (size_t)tokens, (size_t)experts, TOPK,
                              (moe_load)case_value(run, "load"), &run->seed);
    case_keep(run, r.from);
    case_keep(run, r.first);
    case_keep(run, r.where);
    float *z = case_normal(run, r.ranks * r.rows * H);
    float *weight = case_normal(run, r.ranks * r.tokens * TOPK);
    moe_combine_args args = {.Z =
                                 case_input(run, PKRT_BF16, CASE_DIMS((int64_t)r.rows, H), PKRT_SYMMETRIC, z),
                             .Y = case_output(run, PKRT_BF16, CASE_DIMS(tokens, H), 0),
                             .where = case_input_i32(run, CASE_DIMS(tokens, TOPK, 2), r.where),
                             .weight = case_input(run, PKRT_F32, CASE_DIMS(tokens, TOPK), 0, weight)};
    double *want = case_want(run, args.Y, 1e-2);
    for (size_t rank = 0; rank < r.ranks; rank++)
        moe_combine_reference(want + rank * r.tokens * H, &r, rank, z, weight + rank * r.tokens * TOPK, H);
    return moe_combine_bind(run->module, &run->kernel, &args);
}

const kernel_case CASE = {
    .name = CASE_NAME,
    .text = moe_combine_pk,
    .length = sizeof moe_combine_pk - 1,
    .axes = {CASE_AXIS("T", 1, 9, 20, 33), CASE_AXIS("E", 2, 1, 5),
             CASE_AXIS("load", MOE_UNEVEN, MOE_UNEVEN, MOE_ONE, MOE_UNEVEN, MOE_NOTHING)},
    .prepare = prepare};
