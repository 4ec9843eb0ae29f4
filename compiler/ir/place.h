// SPDX-License-Identifier: Apache-2.0
// Warps and register budgets of roles: what `layout` and `pipes` must know of what `place` will decide.
#ifndef PKC_IR_PLACE_H
#define PKC_IR_PLACE_H

#include "ir/ir.h"

enum {
    IR_REGS_HELPER = 40,      // a thread of a helper warpgroup after setmaxnreg.dec
    IR_REGS_HELPER_FULL = 72, // the least where a helper works on register tiles
    IR_REGS_HELPER_LOW = 24,  // the same where three consumers leave no more and all helpers are thin
    IR_REGS_MAX = 248,        // the most that is given: a thread can address 255
    IR_REGS_ADDRESSES = 40,   // set aside for addresses and loop variables when register tiles are counted
    IR_REGS_PRODUCT = 26,     // beside the accumulator of one wgmma: descriptors and addresses
    IR_MAX_WARPS = 32,        // of a CTA
    IR_RING_BYTES = 128       // the ring of pending signals: 8 entries of 16 bytes
};

/// Warps of the role, from its declaration.
int ir_role_warps(const ir_role *role);
/// Warpgroups of the role, 0 where it is not made of whole ones.
int ir_role_warpgroups(const ir_role *role);
/// The kernel clears parameters, has signals or touches peers: a keeper warp announces, clears and resets.
/// Goes by the parameters, so that it can be asked before `order`.
bool ir_kernel_needs_keeper(const ir_kernel *k);

/// How the warps of a group lie: helper warps (thin roles, small roles, the keeper), filled up to whole
/// warpgroups where warpgroup roles follow.
typedef struct ir_warp_plan {
    int helpers;    // warps in use
    int first_wg;   // warp at which the warpgroup roles begin
    int warps;      // all
    int warpgroups; // of warpgroup roles
    bool thin_only; // every helper role is thin
} ir_warp_plan;
ir_warp_plan ir_plan_warps(const ir_kernel *k, const ir_group *group);

/// The keeper's warp in the group, after the helper roles; -1 where there is none.
int ir_plan_keeper(const ir_kernel *k, const ir_group *group);
/// Threads of a CTA: those of the largest group, its keeper included.
int ir_plan_threads(const ir_kernel *k);

/// Registers a thread: at entry, of helpers and of warpgroup roles. `moves`: setmaxnreg makes the difference.
typedef struct ir_reg_plan {
    int entry, helper, consumer;
    bool moves;
} ir_reg_plan;
ir_reg_plan ir_plan_regs(const ir_kernel *k, const ir_group *group, int regs_per_sm);
/// Registers that a thread of the role may use.
int ir_role_budget(const ir_kernel *k, const ir_role *role, int regs_per_sm);

#endif
