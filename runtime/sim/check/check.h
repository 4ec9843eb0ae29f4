// SPDX-License-Identifier: Apache-2.0
// The race detector as the machine sees it. docs/simulator.md, "How races are found", has the design. The
// machine calls these where something happens, when it has a checker; nothing here changes what a program
// does, except that the first race is the machine's fault.
#ifndef PKSIM_CHECK_CHECK_H
#define PKSIM_CHECK_CHECK_H

#include "sim/exec/async.h"
#include "sim/exec/machine.h"

// ---- Launches. `after` is what lies before the launch; NULL: nothing.
bool pksim_check_launch_begin(struct pksim_exec *exec, struct pksim_run *run, struct pksim_before *after);
void pksim_check_launch_end(struct pksim_run *run);
// Nobody has asked yet what the launch came to (pksim_exec_before).
bool pksim_check_is_awaited(const struct pksim_run *run);
// The run goes away, finished or not.
void pksim_check_launch_free(struct pksim_run *run);

// ---- CTAs and warps. False: out of memory.
bool pksim_check_cta_begin(struct pksim_cta *cta);
void pksim_check_cta_end(struct pksim_cta *cta);
// A warp that has ended: its launch knows what it knew.
void pksim_check_warp_end(struct pksim_warp *warp);

// ---- Accesses at the warp's present instruction
// One lane, generic proxy: plain, atomic or ordering. `rmw`: a read-modify-write.
void pksim_check_access(struct pksim_warp *warp, uint32_t lane, const struct pksim_ref *ref, uint32_t size,
                        struct pksim_access_kind kind, bool rmw);
// Rows of 16 bytes of shared memory that a matrix move of the whole warp reads or writes.
void pksim_check_rows(struct pksim_warp *warp, const struct pksim_cta *cta, const uint32_t *rows,
                      uint32_t count, bool writes);
// multimem: `spans` are all memories behind the address.
void pksim_check_multimem(struct pksim_warp *warp, uint32_t lane, const struct pksim_span *spans,
                          uint32_t count, uint64_t address, uint32_t size, struct pksim_access_kind kind,
                          bool rmw);

// ---- Order
enum pksim_fence_proxy {
    PKSIM_FENCE_SHARED = 1, // generic and async, shared memory
    PKSIM_FENCE_GLOBAL = 2, // the same, global memory
    PKSIM_FENCE_ALIAS = 4
};
void pksim_check_fence(struct pksim_warp *warp, uint32_t lanes, enum pksim_scope scope);
void pksim_check_proxy_fence(struct pksim_warp *warp, uint32_t lanes, uint32_t proxies);
// bar.warp.sync has met.
void pksim_check_warp_sync(struct pksim_warp *warp, uint32_t lanes);
// A barrier of the CTA: the warp arrives; the barrier opens; a warp that waited goes on.
void pksim_check_barrier_arrive(struct pksim_warp *warp, uint32_t id);
void pksim_check_barrier_open(struct pksim_cta *cta, uint32_t id);
void pksim_check_barrier_pass(struct pksim_warp *warp, uint32_t id);
void pksim_check_cluster_arrive(struct pksim_warp *warp, uint32_t lanes, bool releases);
void pksim_check_cluster_open(struct pksim_cluster *cluster);
void pksim_check_cluster_pass(struct pksim_warp *warp, uint32_t lanes, bool acquires);

// ---- mbarriers, at a shared offset of a CTA
void pksim_check_mbarrier_init(struct pksim_warp *warp, uint32_t lane, struct pksim_cta *cta,
                               uint32_t offset);
void pksim_check_mbarrier_arrive(struct pksim_warp *warp, uint32_t lane, struct pksim_cta *cta,
                                 uint32_t offset, bool releases);
// The mbarrier as memory: init or inval, or one of the operations on it.
void pksim_check_mbarrier_access(struct pksim_warp *warp, uint32_t lanes, const struct pksim_cta *cta,
                                 uint32_t offset, bool init);
// The open phase is over.
void pksim_check_mbarrier_phase(struct pksim_cta *cta, uint32_t offset);
void pksim_check_mbarrier_pass(struct pksim_warp *warp, uint32_t lanes, struct pksim_cta *cta,
                               uint32_t offset, bool acquires);

// ---- Asynchronous work
struct pksim_operation;
// A bulk copy is issued. The operation is the event's, which gives it back; NULL when it is not tracked.
struct pksim_operation *pksim_check_copy(struct pksim_warp *warp, uint32_t lane,
                                         const struct pksim_copy *copy);
// All bytes of it have arrived at the mbarriers, before they are counted: at that of the n-th destination.
void pksim_check_copy_arrives(struct pksim_operation *operation, uint32_t n, struct pksim_cta *cta,
                              uint32_t offset);
void pksim_check_copy_free(struct pksim_operation *operation);
void pksim_check_bulk_commit(struct pksim_warp *warp, uint32_t lane);
void pksim_check_bulk_wait(struct pksim_warp *warp, uint32_t lane, uint32_t keep, bool reads);
// The warp issues a product on operands in shared memory: pieces of 16 bytes.
void pksim_check_wgmma(struct pksim_warp *warp, const uint32_t *pieces, uint32_t count);
void pksim_check_wgmma_commit(struct pksim_warp *warp);
void pksim_check_wgmma_wait(struct pksim_warp *warp, uint32_t keep);

#endif
