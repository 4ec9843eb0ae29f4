// SPDX-License-Identifier: Apache-2.0
// Warps and registers from the declarations of the roles alone.
#include "ir/place.h"

int ir_role_warpgroups(const ir_role *role)
{
    return role->kind == IR_ROLE_CONSUMER || role->kind == IR_ROLE_WARPGROUPS ? role->count : 0;
}

int ir_role_warps(const ir_role *role)
{
    switch (role->kind) {
    case IR_ROLE_LOADER:
    case IR_ROLE_STORER:
        return 1;
    case IR_ROLE_CONSUMER:
    case IR_ROLE_WARPGROUPS:
        return 4 * role->count;
    case IR_ROLE_COMMUNICATOR:
    case IR_ROLE_WARPS:
        return role->count;
    }
    return 1;
}

bool ir_kernel_needs_keeper(const ir_kernel *k)
{
    for (int i = 0; i < k->n_params; i++) {
        const ir_param *p = &k->params[i];
        if (p->clear || p->kind == IR_PARAM_SIGNAL || p->kind == IR_PARAM_PEER)
            return true;
    }
    return false;
}

ir_warp_plan ir_plan_warps(const ir_kernel *k, const ir_group *group)
{
    ir_warp_plan plan = {.thin_only = true, .helpers = ir_kernel_needs_keeper(k) ? 1 : 0};
    for (const ir_role *r = group->roles; r != NULL; r = r->next) {
        int groups = ir_role_warpgroups(r);
        plan.warpgroups += groups;
        if (groups > 0)
            continue;
        plan.helpers += ir_role_warps(r);
        plan.thin_only = plan.thin_only && r->thin;
    }
    plan.first_wg = plan.warpgroups > 0 ? (plan.helpers + 3) / 4 * 4 : plan.helpers;
    plan.warps = plan.first_wg + 4 * plan.warpgroups;
    return plan;
}

static int round_down(int regs)
{
    regs = regs / 8 * 8;
    return regs > IR_REGS_MAX ? IR_REGS_MAX : regs;
}

int ir_plan_keeper(const ir_kernel *k, const ir_group *group)
{
    return ir_kernel_needs_keeper(k) ? ir_plan_warps(k, group).helpers - 1 : -1;
}

int ir_plan_threads(const ir_kernel *k)
{
    int most = 1;
    for (const ir_group *g = k->groups; g != NULL; g = g->next) {
        int warps = ir_plan_warps(k, g).warps;
        most = warps > most ? warps : most;
    }
    return 32 * most;
}

/// What the fullest role of a kind was found to need, in steps of setmaxnreg; 0 before `layout` has counted.
static int need_of(const ir_group *group, bool warpgroups)
{
    int most = 0;
    for (const ir_role *r = group->roles; r != NULL; r = r->next)
        if ((ir_role_warpgroups(r) > 0) == warpgroups && r->reg_estimate > most)
            most = r->reg_estimate;
    return (most + 7) / 8 * 8;
}

/// What helpers are given: little when thin, otherwise what they need.
static int helper_regs(const ir_group *group, const ir_warp_plan *warps)
{
    if (warps->thin_only)
        return warps->warpgroups > 2 ? IR_REGS_HELPER_LOW : IR_REGS_HELPER;
    int need = need_of(group, false);
    return need > IR_REGS_HELPER_FULL ? need : IR_REGS_HELPER_FULL;
}

ir_reg_plan ir_plan_regs(const ir_kernel *k, const ir_group *group, int regs_per_sm)
{
    ir_warp_plan warps = ir_plan_warps(k, group);
    int entry = round_down(regs_per_sm / ir_plan_threads(k));
    ir_reg_plan plan = {entry, entry, entry, false};
    if (warps.warpgroups == 0 || warps.first_wg == 0)
        return plan;
    // The warps beyond this group's own (another group is larger) are helpers too.
    int helper_groups = (ir_plan_threads(k) + 127) / 128 - warps.warpgroups, per_lane = regs_per_sm / 128;
    int helper = helper_regs(group, &warps);
    int consumer = round_down((per_lane - helper * helper_groups) / warps.warpgroups);
    bool consumers_gain = helper < entry && consumer > entry;
    bool helpers_gain =
        helper > entry && helper <= IR_REGS_MAX && consumer < entry && consumer >= need_of(group, true);
    if (!consumers_gain && !helpers_gain)
        return plan;
    return (ir_reg_plan){entry, helper, consumer, true};
}

int ir_role_budget(const ir_kernel *k, const ir_role *role, int regs_per_sm)
{
    ir_reg_plan plan = ir_plan_regs(k, role->group, regs_per_sm);
    return ir_role_warpgroups(role) > 0 ? plan.consumer : plan.helper;
}
