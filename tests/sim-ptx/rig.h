// SPDX-License-Identifier: Apache-2.0
// A small machine for tests: devices with memory, a module, launches.
#ifndef RIG_H
#define RIG_H

#include "sim/exec/exec.h"
#include "sim/mem/mem.h"
#include "sim/units/units.h"

struct rig {
    struct pksim_mem *mem;
    struct pksim_module *module;
    struct pksim_exec_config config;
    struct pksim_fault fault;
    struct pksim_exec_stats stats;
    uint64_t variables[16];
};

// A machine of `devices` devices with all of each other's memory accessible, and the module; fails the test
// on an error.
void rig_open(struct rig *rig, uint32_t devices, const char *ptx);
// The text of a file below tests/sim-ptx/inputs, NUL-terminated, to be freed.
char *rig_read(const char *name);
void rig_close(struct rig *rig);
// Device memory, unwritten, or filled.
uint64_t rig_alloc(struct rig *rig, uint32_t device, uint64_t bytes);
uint64_t rig_upload(struct rig *rig, uint32_t device, const void *data, uint64_t bytes);
void rig_download(struct rig *rig, void *out, uint64_t address, uint64_t bytes);

struct pksim_launch rig_launch(const struct rig *rig, const char *kernel, uint32_t device, uint32_t grid,
                               uint32_t block, const void *params, size_t param_bytes);
// Runs launches to the end; the fault is in rig->fault.
void rig_run(struct rig *rig, const struct pksim_launch *launches, uint32_t count);
// The same, and there must be no fault.
void rig_run_ok(struct rig *rig, const struct pksim_launch *launches, uint32_t count);

// "Wraps" the statements of a kernel `k(.param .u64 out)`: %tid.x in %t (and %r0), out + 4 * tid in %o.
void rig_open_kernel(struct rig *rig, const char *body);
// Runs `threads` of it and gives the words of out.
void rig_run_kernel(struct rig *rig, uint32_t threads, uint32_t *out);

// Assembles the text with ptxas where there is one; false when it is refused.
bool rig_assembles(const char *ptx);

#endif
