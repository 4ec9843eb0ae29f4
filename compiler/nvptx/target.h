// SPDX-License-Identifier: Apache-2.0
// Architectures: what target.def says of each.
#ifndef PKC_NVPTX_TARGET_H
#define PKC_NVPTX_TARGET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pkc_target {
    const char *name;     // "sm_90a", the CPU name of LLVM too
    const char *features; // of the LLVM target machine
    int ptx;              // version * 10
    int64_t smem_limit;   // bytes of dynamic shared memory a CTA may have
    int regs_per_sm;
    bool wgmma, tma, setmaxnreg;
    bool emitted; // false: known, but nothing is emitted for it yet
} pkc_target;

/// The row of that name, or NULL.
const pkc_target *pkc_target_find(const char *name);
/// Row `index`, NULL beyond the last: for lists in messages.
const pkc_target *pkc_target_at(int index);

#endif
