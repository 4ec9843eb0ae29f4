// SPDX-License-Identifier: Apache-2.0
// Execution of PTX on simulated devices: modules from PTX text, launches, and one seeded scheduler that
// advances every resident CTA of every device together.
//
// Nothing here prints, aborts or keeps global state. An object is used by one thread at a time.
#ifndef PKSIM_EXEC_EXEC_H
#define PKSIM_EXEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pksim_mem;    // mem/mem.h: global memory of all devices
struct pksim_check;  // the race detector
struct pksim_before; // what lies before a launch

// ---- Modules
// -------------------------------------------------------------------------------------------------------

struct pksim_module;
struct pksim_function;

// Where and why a PTX text was refused. line counts from 1; 0 when the text as a whole is at fault.
struct pksim_ptx_error {
    uint32_t line;
    char text[240];
};

// Parses and decodes a PTX text of `length` bytes (it need not end in NUL; it is copied). An unknown
// instruction, modifier or directive is an error with its line. NULL on error, with *error filled. The caller
// frees the module when no launch uses it any more.
struct pksim_module *pksim_module_parse(const char *text, size_t length, struct pksim_ptx_error *error);
void pksim_module_free(struct pksim_module *module);

// Entries (.entry) of the module, in the order of the text.
uint32_t pksim_module_entry_count(const struct pksim_module *module);
const struct pksim_function *pksim_module_entry(const struct pksim_module *module, uint32_t index);
// The entry of that name, or NULL.
const struct pksim_function *pksim_module_find(const struct pksim_module *module, const char *name);

// A kernel parameter as the PTX declares it: bytes from the start of the parameter block.
struct pksim_param_info {
    uint32_t offset, size, align;
};

// What the driver may ask about an entry. Sizes are in bytes. A dimension array of zeros means "not given".
struct pksim_function_info {
    const char *name;
    uint32_t param_count;
    const struct pksim_param_info *params;
    uint32_t param_bytes;
    uint32_t maxntid[3], reqntid[3];
    uint32_t min_ctas_per_sm, max_registers;
    uint32_t registers;     // per thread: an estimate, or .maxnreg
    uint32_t static_shared; // the dynamic part starts behind it
    uint32_t shared_align;
    uint32_t local_bytes; // per thread
    uint32_t cluster[3];
    bool needs_cluster; // .explicitcluster
};
void pksim_function_info(const struct pksim_function *function, struct pksim_function_info *info);

// Module-scope .global and .const variables. The driver allocates device memory for each, fills it with
// pksim_module_variable_fill and gives the addresses to every launch.
struct pksim_variable_info {
    const char *name;
    uint64_t size;
    uint32_t align;
    bool constant;
    bool initialised; // false: PTX says zero
};
uint32_t pksim_module_variable_count(const struct pksim_module *module);
void pksim_module_variable(const struct pksim_module *module, uint32_t index,
                           struct pksim_variable_info *info);
// Writes the initial bytes of variable `index` to out[size]. addresses[i] is the device address given to
// variable i (initialisers may hold addresses of other variables).
void pksim_module_variable_fill(const struct pksim_module *module, uint32_t index, const uint64_t *addresses,
                                void *out);

// ---- The machine
// ---------------------------------------------------------------------------------------------------

// Limits of one device (all devices are alike). The defaults of pksim_limits_default are those of an H200
// (CUDA programming guide, compute capability 9.0).
struct pksim_limits {
    uint32_t sms;
    uint32_t shared_per_sm, shared_per_cta, shared_reserved; // bytes; reserved is added to each CTA's share
    uint32_t threads_per_sm, threads_per_cta, ctas_per_sm;
    uint32_t registers_per_sm;
};
void pksim_limits_default(struct pksim_limits *limits);

// CTAs of `function` that fit on one multiprocessor; 0 when one alone is too large.
uint32_t pksim_occupancy(const struct pksim_limits *limits, const struct pksim_function *function,
                         uint32_t threads, uint32_t dynamic_shared);

struct pksim_exec_config {
    struct pksim_mem *mem;
    uint32_t devices;
    struct pksim_limits limits;
    uint64_t seed;
    bool late;                 // asynchronous work completes as late as it may; otherwise when the seed says
    uint64_t max_steps;        // warp instructions before PKSIM_FAULT_STEP_LIMIT; 0: none
    bool no_init_check;        // accept reads of never-written memory
    int32_t straggler;         // a device whose warps run with low priority; -1: none
    struct pksim_check *check; // finds data races; NULL: off. Not owned; outlives the machine
};

// ---- Launches and faults
// -------------------------------------------------------------------------------------------

struct pksim_launch {
    const struct pksim_module *module;
    const struct pksim_function *function;
    uint32_t device;
    uint32_t grid[3], block[3], cluster[3]; // cluster of zeros: the function's, or 1
    uint32_t dynamic_shared;
    const void *params; // param_bytes of the function; copied
    size_t param_bytes;
    bool cooperative;           // the whole grid must be resident together
    const uint64_t *variables;  // device addresses by variable index; copied
    struct pksim_before *after; // what lies before it, for the race detector; NULL: nothing. Not taken
};

enum pksim_fault_kind {
#define FAULT(id, words) PKSIM_FAULT_##id,
#include "sim/exec/fault.def"
};
const char *pksim_fault_words(enum pksim_fault_kind kind);

enum { PKSIM_FAULT_TEXT = 4000 };

// The other one of two places that a report is about.
struct pksim_fault_side {
    uint32_t device, ctaid[3], warp, ptx_line;
    char kernel[64];
    char file[200]; // "" where there is none
    uint32_t line, column;
};

// One report. file and text are owned by the struct; a lane of -1 is "the warp".
struct pksim_fault {
    enum pksim_fault_kind kind;
    uint64_t launch;
    uint32_t device;
    uint32_t ctaid[3];
    uint32_t warp;
    int32_t lane;
    uint32_t ptx_line;
    char kernel[64];
    char file[200]; // "" where the PTX has no .loc
    uint32_t line, column;
    char text[PKSIM_FAULT_TEXT];
    char code[8];                  // of the kind of report; "" where it has none
    struct pksim_fault_side other; // of a race: who came first
};

enum pksim_exec_status {
    PKSIM_EXEC_DONE,    // nothing is left to run
    PKSIM_EXEC_BUSY,    // the step budget is used up; call again
    PKSIM_EXEC_STALLED, // every warp waits; only a write by the host or a further launch can help
    PKSIM_EXEC_FAULT    // see the fault; the machine accepts nothing more
};

enum pksim_launch_status {
    PKSIM_LAUNCH_OK,
    PKSIM_LAUNCH_BAD_SHAPE,    // empty or too large grid, block or cluster, or against .reqntid / .maxntid
    PKSIM_LAUNCH_BAD_PARAMS,   // parameter block of the wrong size
    PKSIM_LAUNCH_TOO_MUCH,     // one CTA exceeds a limit of the device
    PKSIM_LAUNCH_NOT_RESIDENT, // cooperative, and the grid does not fit
    PKSIM_LAUNCH_NO_MEMORY
};

struct pksim_exec;
struct pksim_exec *pksim_exec_create(const struct pksim_exec_config *config); // NULL: out of memory
void pksim_exec_free(struct pksim_exec *exec);

// Adds a launch; its CTAs become resident as there is room, in the order of the launches. *id (from 1) names
// it afterwards. The order of work on a stream is the caller's: what is added may run at once.
enum pksim_launch_status pksim_exec_add(struct pksim_exec *exec, const struct pksim_launch *launch,
                                        uint64_t *id);
bool pksim_exec_finished(const struct pksim_exec *exec, uint64_t id);

// Runs at most `budget` warp instructions (0: until something stops it). Memory that the host wrote in
// between is seen.
enum pksim_exec_status pksim_exec_run(struct pksim_exec *exec, uint64_t budget);

// After STALLED, when nothing from outside can come: makes it a fault that says who waits for what.
void pksim_exec_deadlock(struct pksim_exec *exec);
// The fault, or NULL.
const struct pksim_fault *pksim_exec_fault(const struct pksim_exec *exec);
// "pk file:line:col: words: text", several lines, for a person. Returns the length as snprintf does.
int pksim_fault_format(const struct pksim_fault *fault, char *out, size_t size);

// ---- Data races. The checker is one for all machines that run on one memory.
struct pksim_check *pksim_check_create(void); // NULL: out of memory
void pksim_check_destroy(struct pksim_check *check);
// Host memory [host, host + size) that kernels may have used is given back.
void pksim_check_gone(struct pksim_check *check, const void *host, uint64_t size);

// Orders are counted; NULL is the empty one. What a launch that has finished comes to: itself, and all that
// it knew. NULL without a checker, or when the launch is not known any more.
struct pksim_before *pksim_exec_before(const struct pksim_exec *exec, uint64_t id);
struct pksim_before *pksim_before_retain(struct pksim_before *order);
void pksim_before_release(struct pksim_before *order);
// Both together; takes both references.
struct pksim_before *pksim_before_join(struct pksim_before *a, struct pksim_before *b);

struct pksim_exec_stats {
    uint64_t instructions; // warp instructions
    uint64_t wgmmas, copies, copied_bytes;
};
void pksim_exec_stats(const struct pksim_exec *exec, struct pksim_exec_stats *stats);

// All of `launches` together until the end or the first fault (also deadlock). The fault is written to
// *fault, kind NONE when all went well.
enum pksim_launch_status pksim_run(const struct pksim_exec_config *config,
                                   const struct pksim_launch *launches, uint32_t count,
                                   struct pksim_fault *fault, struct pksim_exec_stats *stats);

#endif
