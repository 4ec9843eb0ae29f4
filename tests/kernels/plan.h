// SPDX-License-Identifier: Apache-2.0
// Which combinations of machine, schedule and sizes the sweep runs.
#ifndef KERNELS_PLAN_H
#define KERNELS_PLAN_H

#include <stdbool.h>

#include "case.h"

enum { PLAN_SEEDS = 20, PLAN_MAX_RANKS = 16 };

typedef struct plan_options {
    const char *kernel, *backend;
    int ranks[PLAN_MAX_RANKS], n_ranks;
    bool full;
    int launches;
    long only; // one combination, -1: all
    uint64_t seed;
} plan_options;

/// A machine and a schedule, which the simulator reads when its driver starts, so one process each; and the
/// combinations of sizes that run there. On GPUs only ranks and the combinations count.
typedef struct plan_setting {
    int ranks, sms, devices, late, straggler; // straggler: a device that runs slowly, -1: none
    int seed;
    bool multicast; // symmetric tensors must have multicast addresses; else they have none
    long first, count;
} plan_setting;

/// Setting `index`, perhaps without combinations; false beyond the last.
bool plan_setting_at(const plan_options *o, const kernel_case *k, int index, plan_setting *out);
/// Fills the values of combination `step`. Short runs rotate: every value of every axis occurs within any
/// (longest axis) steps in a row, against other values of the other axes each time round. Full ones count
/// through the product of the axes, again and again for each machine.
void plan_values(const plan_options *o, const kernel_case *k, long step, int64_t *values);

#endif
