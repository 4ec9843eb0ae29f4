// SPDX-License-Identifier: Apache-2.0
// A kernel decoded: one dense array of instructions for the entry and every function that it calls, registers
// given places in a warp's register file.
#ifndef PKSIM_EXEC_PROGRAM_H
#define PKSIM_EXEC_PROGRAM_H

#include "sim/exec/alu.h"
#include "sim/exec/exec.h"
#include "sim/ptx/ptx.h"

struct pksim_warp;
struct pksim_insn;

// What an instruction has done to the fragment that executed it.
enum pksim_step {
    PKSIM_STEP_NEXT,  // go on with the next instruction
    PKSIM_STEP_JUMP,  // the warp's pc and active lanes are set
    PKSIM_STEP_BLOCK, // the fragment waits (frags[current].wait is set); its pc stays
    PKSIM_STEP_YIELD, // go on with the next instruction, but let others run first
    PKSIM_STEP_STOP   // a fault was raised
};

// Executes for the lanes of `mask`, which is not empty.
typedef enum pksim_step pksim_run_fn(struct pksim_warp *warp, const struct pksim_insn *insn, uint32_t mask);

// A place of an operand: a byte offset; the top bit chooses the bank (0 registers of the warp, 1 constants).
typedef uint32_t pksim_place_t;
#define PKSIM_CONST_BANK ((pksim_place_t)1 << 31)
#define PKSIM_NO_PLACE   UINT32_MAX

enum { PKSIM_MAX_SOURCES = 4 };

struct pksim_insn {
    pksim_run_fn *run; // NULL: `alu` does it all
    pksim_alu_fn *alu;
    pksim_place_t guard; // PKSIM_NO_PLACE: always
    pksim_place_t dst;
    pksim_place_t src[PKSIM_MAX_SOURCES];
    uint8_t guard_negated;
    uint8_t sources;
    uint8_t dst_bytes;  // 0: predicate
    uint8_t runs_empty; // `run` is called even with an empty mask (branches)
    uint32_t target;    // of a branch
    uint32_t line, loc;
    const void *more; // what the family of the instruction keeps
};

struct pksim_program {
    const struct pksim_ptx *ptx;
    const struct pksim_ptx_func *entry;
    struct pksim_insn *insns;
    size_t insn_count, insn_capacity;
    uint8_t *constants;
    size_t constant_bytes, constant_capacity;
    uint32_t register_bytes; // of one warp
    uint32_t register_words; // 32-bit registers of one thread, an estimate
    uint32_t static_shared, shared_align, dynamic_shared_offset;
    uint32_t local_bytes; // of one thread
};

struct pksim_function {
    const struct pksim_ptx_func *entry;
    struct pksim_param_info *params;
    struct pksim_program program;
    char *name; // NUL-terminated
};

struct pksim_module {
    struct pksim_ptx ptx;
    struct pksim_function *functions;
    uint32_t function_count;
};

// Registers of a thread as the driver would report them: an estimate.
uint32_t pksim_function_registers(const struct pksim_function *function);

// Decodes the entry into *program, in the module's arena. False with *error filled.
bool pksim_program_build(struct pksim_ptx *ptx, const struct pksim_ptx_func *entry,
                         struct pksim_program *program, struct pksim_ptx_error *error);

#endif
