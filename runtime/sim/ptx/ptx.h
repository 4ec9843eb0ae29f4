// SPDX-License-Identifier: Apache-2.0
// PTX text as a tree: names resolved to registers, variables, labels and functions; opcodes still text.
// Names are slices of the module's copy of the text and live as long as its arena.
#ifndef PKSIM_PTX_PTX_H
#define PKSIM_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/exec/exec.h"
#include "sim/ptx/arena.h"

enum pksim_ptx_type {
#define TYPE(id, spelling, bytes, kind) PKSIM_TYPE_##id,
#include "sim/ptx/types.def"
};

struct pksim_ptx_type_info {
    const char *name;
    uint32_t bytes;
    char kind; // P, B, U, S or F
};
extern const struct pksim_ptx_type_info pksim_ptx_types[];
// The type spelled by text[0, length), or NONE.
enum pksim_ptx_type pksim_ptx_type_named(const char *text, size_t length);

enum pksim_ptx_space {
    PKSIM_PTX_GENERIC,
    PKSIM_PTX_PARAM, // of an entry; those of a .func lie in local memory
    PKSIM_PTX_SHARED,
    PKSIM_PTX_GLOBAL,
    PKSIM_PTX_LOCAL,
    PKSIM_PTX_CONST
};

struct pksim_name {
    const char *text;
    uint32_t length;
};

// An address in an initialiser: bytes [offset, offset + size) hold variable + addend.
struct pksim_ptx_reloc {
    uint32_t offset, size;
    const struct pksim_ptx_var *var;
    int64_t addend;
    bool generic;
};

struct pksim_ptx_var {
    struct pksim_name name;
    enum pksim_ptx_space space;
    enum pksim_ptx_type type;
    uint64_t bytes;
    uint32_t align;
    bool is_extern;   // of .shared: the dynamic part
    bool is_module;   // declared outside functions
    bool frame_param; // a .param of a .func or of a call: lies in the thread's local memory
    uint32_t index;   // of module .global and .const: among themselves; otherwise among the function's
    uint32_t offset;  // of entry parameters
    uint8_t *init;    // NULL: zero
    struct pksim_ptx_reloc *relocs;
    size_t reloc_count, reloc_capacity;
};

enum pksim_operand_kind {
    PKSIM_OP_REG,
    PKSIM_OP_SREG,
    PKSIM_OP_INT,
    PKSIM_OP_FLOAT, // `real`; `value` holds the bits when the text gave bits
    PKSIM_OP_VAR,   // address of a variable + value
    PKSIM_OP_FUNC,
    PKSIM_OP_LABEL,
    PKSIM_OP_VECTOR,
    PKSIM_OP_ADDRESS, // [elems[0] + value] or [elems[0], elems[1]]
    PKSIM_OP_LIST,    // (a, b, c) of a call
    PKSIM_OP_SINK     // _
};

struct pksim_ptx_reg {
    enum pksim_ptx_type type;
};

struct pksim_operand {
    enum pksim_operand_kind kind;
    bool negated;      // !p
    uint8_t real_bits; // 32 or 64 when `value` holds float bits, else 0
    uint32_t id;       // register, special register, label
    uint32_t count;    // elems
    int64_t value;
    double real;
    const struct pksim_ptx_var *var;
    struct pksim_ptx_func *func;
    struct pksim_operand *elems;
    struct pksim_operand *pair; // the b of a|b
};

enum { PKSIM_NO_REG = UINT32_MAX };

struct pksim_ptx_loc {
    uint32_t file, line, column;
};

struct pksim_ptx_insn {
    struct pksim_name opcode; // with all modifiers
    uint32_t line;            // of the PTX text
    uint32_t loc;             // index into the module's locs; 0: none
    uint32_t guard;           // register or PKSIM_NO_REG
    bool guard_negated;
    uint32_t count;
    struct pksim_operand *operands;
};

struct pksim_ptx_label {
    struct pksim_name name;
    uint32_t insn; // index of the instruction behind it
    bool defined;
    uint32_t line;     // of the first mention
    uint32_t depth;    // of the scope it is looked up in; UINT32_MAX once that is closed
    uint32_t alias;    // the label that it turned out to be, or UINT32_MAX
    uint32_t *targets; // of a .branchtargets list: labels
    size_t target_count, target_capacity;
};

struct pksim_ptx_func {
    struct pksim_name name;
    bool is_entry, has_body;
    uint32_t line;
    struct pksim_ptx_var **params, **results; // results only of a .func
    size_t param_count, param_capacity, result_count, result_capacity;
    uint32_t param_bytes;
    struct pksim_ptx_reg *regs;
    size_t reg_count, reg_capacity;
    struct pksim_ptx_insn *insns;
    size_t insn_count, insn_capacity;
    struct pksim_ptx_label *labels;
    size_t label_count, label_capacity;
    uint32_t maxntid[3], reqntid[3], cluster[3];
    uint32_t min_ctas, max_registers;
    bool explicit_cluster;
    struct pksim_ptx_func *next;
};

struct pksim_ptx {
    struct pksim_arena arena;
    char *text;
    size_t length;
    struct pksim_ptx_func *funcs; // in the order of the text
    struct pksim_ptx_var **vars;  // module .global and .const
    size_t var_count, var_capacity;
    struct pksim_name *files; // by .file number
    size_t file_count;
    struct pksim_ptx_loc *locs; // [0] is "none"
    size_t loc_count, loc_capacity;
};

// Parses text into *ptx (zeroed before). False with *error filled; pksim_ptx_release in both cases.
bool pksim_ptx_parse(struct pksim_ptx *ptx, const char *text, size_t length, struct pksim_ptx_error *error);
void pksim_ptx_release(struct pksim_ptx *ptx);

// Special registers (PTX ISA 10).
enum pksim_sreg {
#define SREG(id, spelling, bytes) PKSIM_SREG_##id,
#include "sim/ptx/sregs.def"
    PKSIM_SREG_COUNT
};
struct pksim_sreg_info {
    const char *name;
    uint32_t bytes; // 0: a predicate
};
extern const struct pksim_sreg_info pksim_sregs[];

#endif
