// SPDX-License-Identifier: Apache-2.0
// The state of a running machine: launches, clusters, CTAs, warps, and what a warp may wait for. Shared by
// the files of exec/ and by check/; not part of the interface.
#ifndef PKSIM_EXEC_MACHINE_H
#define PKSIM_EXEC_MACHINE_H

#include "sim/exec/exec.h"
#include "sim/exec/program.h"
#include "sim/mem/mem.h"
#include "sim/units/units.h"

// Windows of the generic address space. An address within a window is the address in its own space; those in
// the shared window have the CTA's rank in its cluster in bits 24 and up, as shared::cluster addresses do.
#define PKSIM_WINDOW_SHARED ((uint64_t)1 << 56)
#define PKSIM_WINDOW_LOCAL  ((uint64_t)2 << 56)
#define PKSIM_WINDOW_PARAM  ((uint64_t)3 << 56)
#define PKSIM_WINDOW_MASK   ((uint64_t)0xff << 56)
enum {
    PKSIM_SHARED_BASE = 1024, // the first bytes belong to the system, as on sm_90; so 0 is no valid address
    PKSIM_SHARED_RANK_SHIFT = 24,
    PKSIM_NAMED_BARRIERS = 16,
    PKSIM_MAX_WARPGROUPS = 8,
    PKSIM_POLL_WORDS = 32,
    PKSIM_SPANS = 16,
    PKSIM_SPARE_CTAS = 1056, // whose memory is kept for CTAs to come: eight GPUs of 132 multiprocessors
    PKSIM_WGMMA_GROUPS = 64  // an immediate of wgmma.wait_group is at most 7; older groups than these were
                             // waited for or never will be
};

// ---- Waiting
// -------------------------------------------------------------------------------------------------------

enum pksim_wait_kind {
    PKSIM_WAIT_NONE,
    PKSIM_WAIT_CONVERGE,  // at an instruction that needs more lanes than are here
    PKSIM_WAIT_WARP_SYNC, // bar.warp.sync
    PKSIM_WAIT_BARRIER,   // named barrier of the CTA
    PKSIM_WAIT_CLUSTER,   // cluster barrier
    PKSIM_WAIT_MBARRIER,
    PKSIM_WAIT_BULK, // bulk groups of a thread
    PKSIM_WAIT_WGMMA // a matrix product that other warps of the group have not issued
};

struct pksim_wait {
    enum pksim_wait_kind kind;
    bool gave_up;  // MBARRIER: try_wait is to return false
    bool reads;    // BULK: .read
    bool released; // WARP_SYNC, BARRIER: passed; the instruction finishes when the fragment runs again
    uint8_t parity;
    uint32_t address; // MBARRIER: in shared memory of the warp's CTA
    uint32_t mask;    // CONVERGE, WARP_SYNC: lanes needed
    uint32_t id;      // BARRIER: its number; BULK, WGMMA: groups that may stay
};

// Lanes of a warp that stand at the same instruction.
struct pksim_frag {
    uint32_t pc, mask;
    struct pksim_wait wait;
};

// What a warp has seen in memory since its last effect on anything: when it only sees the same again, it
// polls.
struct pksim_poll {
    uint32_t count, repeats;
    struct {
        const void *at;
        uint32_t size;
        uint64_t value;   // host memory at `at`
        uint64_t address; // for reports
    } words[PKSIM_POLL_WORDS];
};

// Bulk groups of one thread (PTX ISA 9.7.9.25.3.1). Group g is complete when nothing of it is left.
struct pksim_bulk_group {
    uint32_t reads, writes; // operations not yet read, not yet written
};
struct pksim_bulk_lane {
    uint32_t first, open; // groups first .. open - 1 are committed, `open` collects
    uint32_t capacity;
    struct pksim_bulk_group *groups; // [g % capacity]
};

struct pksim_wgmma_unit; // wgmma.c
struct pksim_check_warp; // check/, as the three below: NULL where nothing is checked
struct pksim_check_cta;
struct pksim_check_cluster;
struct pksim_check_launch;

enum pksim_warp_state {
    PKSIM_WARP_READY,
    PKSIM_WARP_RUNNING,
    PKSIM_WARP_WAITING, // every fragment waits
    PKSIM_WARP_DOZING,  // polls; runs when nothing else can
    PKSIM_WARP_PARKED,  // has polled in vain; runs when a polled word has changed
    PKSIM_WARP_DONE
};

struct pksim_warp {
    // The fragment at hand, in registers of the interpreter's loop as far as the compiler likes.
    uint32_t pc, active;
    uint32_t live;          // lanes that have not exited
    uint32_t next_pc;       // smallest pc of another runnable fragment, UINT32_MAX if there is none
    const uint8_t *bank[2]; // operand banks: registers, constants
    uint8_t *regs;          // NULL before the first turn, and after the end
    const struct pksim_insn *code;
    struct pksim_exec *exec;
    struct pksim_cta *cta;
    struct pksim_frag frags[PKSIM_LANES]; // frags[current] is stale while it runs
    uint32_t frag_count, current;
    uint32_t back_jumps; // of the fragment at hand while others could run
    bool rotate;         // the next run begins with another fragment, whatever its pc
    uint32_t index;      // in the CTA
    enum pksim_warp_state state;
    uint32_t slot;  // in the scheduler's list of its state
    uint32_t carry; // condition code of add.cc and its like, one bit a lane
    uint8_t *local; // PKSIM_LANES * program->local_bytes
    struct pksim_poll poll;
    struct pksim_bulk_lane *bulk; // PKSIM_LANES, made at first use
    uint32_t async_pending;       // bulk operations and copies of this warp that are not complete
    // Matrix products of this warp: issued so far; behind which one each of the last groups ends.
    uint64_t wgmma_issued, wgmma_groups;
    uint64_t wgmma_ends[PKSIM_WGMMA_GROUPS];
    uint64_t steps;
    uint32_t cluster_arrived;            // lanes that have arrived at the cluster barrier and not waited
    uint32_t cluster_phase[PKSIM_LANES]; // in which phase
    struct pksim_check_warp *check;
};

// ---- CTAs, clusters, launches
// --------------------------------------------------------------------------------------

struct pksim_barrier {
    uint32_t arrived;  // threads
    uint32_t expected; // threads, 0: all of the CTA
    bool in_use;
    uint32_t votes, voters;              // of barrier.red: threads whose predicate was true, all
    uint32_t result_count, result_total; // of the last completed phase
};

struct pksim_cta {
    struct pksim_run *run;
    struct pksim_cluster *cluster;
    uint32_t ctaid[3];
    uint32_t rank; // in the cluster
    uint32_t sm;
    struct pksim_shared shared; // from the first turn of a warp of the cluster; bytes [0, PKSIM_SHARED_BASE)
                                // are there, never used
    uint8_t *registers;         // of all warps, from the same turn on
    struct pksim_warp *warps;
    uint32_t warp_count, live_warps;
    struct pksim_barrier barriers[PKSIM_NAMED_BARRIERS];
    struct pksim_wgmma_unit *wgmma[PKSIM_MAX_WARPGROUPS]; // made at first use
    uint32_t async_shared; // operations in flight that still need this CTA's shared memory
    struct pksim_check_cta *check;
};

struct pksim_cluster {
    struct pksim_run *run;
    uint32_t count, live_ctas;
    uint32_t id[3];
    struct pksim_cta *ctas;  // `count` of them
    uint32_t arrived, phase; // of the cluster barrier: threads arrived in the phase that is open
    uint32_t async_pending;  // operations in flight that touch a CTA of this cluster
    struct pksim_cluster *next, **link;
    struct pksim_check_cluster *check;
};

// A launch that has been added.
struct pksim_run {
    uint64_t id;
    const struct pksim_module *module;
    const struct pksim_function *function;
    const struct pksim_program *program;
    uint32_t device;
    uint32_t grid[3], block[3], cluster[3], clusters[3];
    uint32_t threads, warps, dynamic_shared, shared_bytes;
    uint64_t cluster_total, cluster_next, cluster_left; // to place; next to place; not finished
    bool cooperative;
    uint8_t *params;
    uint64_t *variables;
    struct pksim_span spans[PKSIM_SPANS]; // found lately, by address
    struct pksim_cluster *live;           // resident clusters
    struct pksim_run *next;
    struct pksim_check_launch *check;
};

// Room left on one multiprocessor.
struct pksim_sm {
    uint32_t shared, threads, ctas, registers;
};

// ---- The machine
// ---------------------------------------------------------------------------------------------------

struct pksim_warp_list {
    struct pksim_warp **items;
    uint32_t count, capacity;
};

// storage.c: what CTAs that have ended leave for those to come.
struct pksim_storage {
    uint8_t *registers[PKSIM_SPARE_CTAS]; // of register_bytes each
    struct pksim_shared shared[PKSIM_SPARE_CTAS];
    size_t register_bytes;
    uint32_t register_count, shared_count;
};

struct pksim_event; // async.c
struct pksim_exec {
    struct pksim_exec_config config;
    uint64_t random;
    uint64_t next_id;
    uint64_t clock; // warp instructions executed: the virtual time of %clock
    struct pksim_run *runs;
    struct pksim_sm *sms; // devices * limits.sms
    struct pksim_warp_list ready, dozing, parked;
    struct pksim_event **events; // in flight
    uint32_t event_count, event_capacity;
    struct pksim_event *free_events;
    bool faulted;
    struct pksim_fault fault;
    struct pksim_exec_stats stats;
    uint32_t tick;
    struct pksim_panels *panels; // widened operands of matrix products
    uint64_t generation;         // of the memory when the spans were found
    struct pksim_storage storage;
};

// Records the machine's fault, unless there is one, at the warp's present instruction; `warp` may be NULL.
__attribute__((format(printf, 4, 5))) void pksim_raise(struct pksim_exec *exec, const struct pksim_warp *warp,
                                                       enum pksim_fault_kind kind, const char *format, ...);
// The fault's place of a program counter.
void pksim_place(const struct pksim_run *run, uint32_t pc, struct pksim_fault *fault);

uint64_t pksim_random(struct pksim_exec *exec);

// sched.c
void pksim_wake(struct pksim_warp *warp, struct pksim_frag *frag);
void pksim_make_ready(struct pksim_warp *warp);
void pksim_set_state(struct pksim_warp *warp, enum pksim_warp_state state);
// Makes CTAs of waiting launches resident as far as there is room.
bool pksim_place_ctas(struct pksim_exec *exec);
void pksim_cluster_free(struct pksim_exec *exec, struct pksim_cluster *cluster);
// Frees launches: those that are finished, or all with what they still have.
void pksim_runs_free(struct pksim_exec *exec, bool finished_only);
// The warp has no lane left. It may be freed with its cluster.
void pksim_warp_exit(struct pksim_warp *warp);
// An operation in flight has ended; a finished cluster may be given back now.
void pksim_cluster_settle(struct pksim_cluster *cluster);

// storage.c
// Before the first turn of a warp: all CTAs of its cluster get registers and shared memory. False: out of
// memory.
bool pksim_cluster_begin(struct pksim_exec *exec, struct pksim_cluster *cluster);
// Nothing reads or writes the CTA's registers and shared memory any more.
void pksim_cta_give_storage(struct pksim_exec *exec, struct pksim_cta *cta);
void pksim_storage_free(struct pksim_storage *storage);

// warp.c
// Runs the warp until it blocks, exits, faults or has used `quantum` instructions.
void pksim_warp_run(struct pksim_warp *warp, uint32_t quantum);
void pksim_note_effect(struct pksim_warp *warp);
// The warp has read `size` (at most 8) bytes at host address `at` and may do so in vain again and again.
void pksim_note_poll(struct pksim_warp *warp, const void *at, uint32_t size, uint64_t address);
// An instruction that only looked at memory is done: one try more.
void pksim_note_look(struct pksim_warp *warp);

// mbarrier.c
// Bytes arrive at (or, negative, are expected of) the mbarrier at `address` of `cta`. False after a fault.
bool pksim_mbarrier_complete_tx(struct pksim_exec *exec, const struct pksim_warp *warp, struct pksim_cta *cta,
                                uint32_t address, uint32_t bytes);
// Words for a report: phase, pending arrivals, bytes.
void pksim_mbarrier_describe(const struct pksim_cta *cta, uint32_t address, char *out, size_t size);

// barrier.c
void pksim_barrier_recheck(struct pksim_cta *cta);
void pksim_cluster_barrier_recheck(struct pksim_cluster *cluster);

// async.c
bool pksim_event_complete_one(struct pksim_exec *exec);
void pksim_events_free(struct pksim_exec *exec);
void pksim_warp_bulk_free(struct pksim_warp *warp);

// Raises the fault of a unit at the instruction at `pc`.
void pksim_raise_unit(struct pksim_warp *warp, uint32_t pc, uint32_t lane,
                      const struct pksim_unit_error *error);

// wgmma.c
// The warp has ended: products that all its group has issued are carried out.
void pksim_wgmma_exit(struct pksim_warp *warp);
void pksim_wgmma_free(struct pksim_cta *cta);

// check/deadlock.c
void pksim_deadlock_report(struct pksim_exec *exec);

#endif
