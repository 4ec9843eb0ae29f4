// SPDX-License-Identifier: Apache-2.0
// From an address in some state space to host memory, with all checks.
#ifndef PKSIM_EXEC_ACCESS_H
#define PKSIM_EXEC_ACCESS_H

#include "sim/exec/decode.h"
#include "sim/exec/machine.h"

enum pksim_order { PKSIM_WEAK, PKSIM_RELAXED, PKSIM_ACQUIRE, PKSIM_RELEASE, PKSIM_ACQ_REL, PKSIM_VOLATILE };
enum pksim_scope { PKSIM_SCOPE_NONE, PKSIM_SCOPE_CTA, PKSIM_SCOPE_CLUSTER, PKSIM_SCOPE_GPU, PKSIM_SCOPE_SYS };
enum pksim_proxy { PKSIM_PROXY_GENERIC, PKSIM_PROXY_ASYNC };

// What an instruction does to memory, as far as the memory model cares. A race detector hooks into
// pksim_access, which sees each access with this.
struct pksim_access_kind {
    uint8_t access; // PKSIM_READ | PKSIM_WRITE
    uint8_t order, scope, proxy;
    uint8_t rmw; // a read-modify-write
};

// Host memory of an access that is allowed.
struct pksim_ref {
    unsigned char *host;
    uint8_t *shadow;             // NULL: not tracked
    uint64_t shadow_offset;      // of the access in `shadow`
    struct pksim_shared *shared; // when it is shared memory: then shadow_offset is the offset there
    struct pksim_cta *cta;       // whose shared memory
    uint64_t address;
};

// Checks and finds [address, address + size) for one lane. `cluster`: shared memory of other CTAs is allowed.
// A read is checked against the shadow, a write marks it. False after a fault.
bool pksim_access(struct pksim_warp *warp, enum pksim_ptx_space space, bool cluster, uint64_t address,
                  uint32_t size, struct pksim_access_kind kind, uint32_t lane, struct pksim_ref *ref);
// The same without the shadow: for memory that is read or written later. align is a power of two.
bool pksim_locate(struct pksim_warp *warp, enum pksim_ptx_space space, bool cluster, uint64_t address,
                  uint64_t size, uint32_t align, uint32_t access, uint32_t lane, struct pksim_ref *ref);

// Address of an operand in one lane. Where the base is known at decoding, a shared address gets the CTA's
// rank.
uint64_t pksim_lane_address(const struct pksim_warp *warp, const struct pksim_address *address,
                            enum pksim_ptx_space space, uint32_t lane);

// A shared address (rank bits and all) of this warp's cluster: which CTA, and the offset in it. NULL: no such
// CTA.
struct pksim_cta *pksim_shared_cta(const struct pksim_warp *warp, uint64_t address, uint32_t *offset);

// Raises the machine's fault for a refusal of mem/.
void pksim_raise_mem(struct pksim_warp *warp, uint32_t lane, const struct pksim_mem_fault *fault);

// Takes .relaxed, .acquire, .release, .acq_rel, .volatile, .weak and a scope.
struct pksim_access_kind pksim_mod_order(struct pksim_decoder *d);

#endif
