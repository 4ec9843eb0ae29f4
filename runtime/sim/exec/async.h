// SPDX-License-Identifier: Apache-2.0
// Bulk copies in flight. A copy is an event: the scheduler decides when it reads its source and when it
// writes its destination; for stores these are two steps, since `wait_group.read` waits for the first only.
#ifndef PKSIM_EXEC_ASYNC_H
#define PKSIM_EXEC_ASYNC_H

#include "sim/exec/access.h"

enum pksim_copy_kind {
    PKSIM_COPY_LOAD,    // global to shared memory of one CTA or several
    PKSIM_COPY_STORE,   // shared to global
    PKSIM_COPY_REDUCE,  // shared into global
    PKSIM_COPY_CLUSTER, // shared to another CTA's
    PKSIM_COPY_CLUSTER_REDUCE
};

// What is copied. Shared places are (CTA, offset).
struct pksim_copy {
    enum pksim_copy_kind kind;
    bool tensor;
    enum pksim_reduce reduce;
    enum pksim_number type;
    struct pksim_tensor_map map; // of a tensor copy
    int32_t coords[PKSIM_MAP_MAX_RANK];
    uint64_t global; // of a flat copy
    uint32_t bytes;
    struct pksim_cta *from, *to; // shared source; shared destination (the first CTA of a multicast)
    uint32_t from_offset, to_offset;
    uint16_t to_mask; // multicast: CTAs of the cluster; 0: only `to`
    struct pksim_cta *barrier_cta;
    uint32_t barrier; // mbarrier that counts the bytes
    bool counts;      // there is an mbarrier; otherwise the copy belongs to the thread's open bulk group
};

// Puts the copy in flight for a lane. False after a fault.
bool pksim_copy_issue(struct pksim_warp *warp, uint32_t lane, const struct pksim_copy *copy);

// Bulk groups of a lane: commits the open one; whether all but the last `keep` are read or written. False:
// out of memory.
bool pksim_bulk_commit(struct pksim_warp *warp, uint32_t lane);
bool pksim_bulk_done(const struct pksim_warp *warp, uint32_t lane, uint32_t keep, bool reads);

#endif
