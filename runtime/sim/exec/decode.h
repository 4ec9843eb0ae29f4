// SPDX-License-Identifier: Apache-2.0
// Decoding: from an instruction with resolved names to a function with operand places. Each family of
// instructions has its decoder; opcodes.def says which.
#ifndef PKSIM_EXEC_DECODE_H
#define PKSIM_EXEC_DECODE_H

#include "sim/exec/program.h"

enum { PKSIM_MAX_MODS = 24 };

// The dot-separated parts of an opcode behind its base. A decoder takes those it understands; one left over
// is an error.
struct pksim_mods {
    struct pksim_name names[PKSIM_MAX_MODS];
    uint32_t count, taken; // taken: bit i for names[i]
};

// A function on its way into a program.
struct pksim_decoded_func {
    const struct pksim_ptx_func *func;
    pksim_place_t *places;      // by register, PKSIM_NO_PLACE before its first use
    uint32_t *insn_index;       // by PTX instruction
    pksim_place_t return_place; // pc to return to, a 32-bit register
    uint32_t first;             // its first instruction
    bool decoding, called;
    struct pksim_decoded_func *next;
};

// Where a variable lies in this program: shared address or offset in local memory.
struct pksim_var_place {
    const struct pksim_ptx_var *var;
    uint32_t offset;
    struct pksim_var_place *next;
};

struct pksim_fixup {
    uint32_t insn; // whose target is `label` of `func`, or the function itself
    uint32_t label;
    struct pksim_decoded_func *func;
    uint32_t *slot; // of a table, instead of an instruction
    struct pksim_fixup *next;
};

// A temporary place; in use during one instruction.
struct pksim_temp_place {
    pksim_place_t place;
    uint32_t bytes;
    bool used;
    struct pksim_temp_place *next;
};

struct pksim_decoder {
    struct pksim_ptx *ptx;
    struct pksim_program *program;
    struct pksim_ptx_error *error;
    bool failed;
    struct pksim_decoded_func *funcs, *func; // all, the one at hand
    const struct pksim_ptx_insn *insn;
    struct pksim_mods mods;
    struct pksim_name base;
    struct pksim_var_place *vars;
    struct pksim_fixup *fixups;
    uint32_t pred_cursor, pred_end; // room for predicates
    uint32_t dynamic_align;
    struct pksim_temp_place *temps; // made so far
    struct pksim_alu_table alu;
};

// Records the first error, at the instruction at hand.
__attribute__((format(printf, 2, 3))) void pksim_decode_fail(struct pksim_decoder *d, const char *format,
                                                             ...);
void *pksim_decode_alloc(struct pksim_decoder *d, size_t size);

// ---- Modifiers
bool pksim_mod(struct pksim_decoder *d, const char *name);
// The first modifier not taken, if it names a type; NONE otherwise.
enum pksim_ptx_type pksim_mod_type(struct pksim_decoder *d);
// Takes the last modifier, which must be a type of the given kinds ("BUSF").
enum pksim_ptx_type pksim_mod_last_type(struct pksim_decoder *d);
// Takes a space; GENERIC where none is named. shared::cluster sets *cluster (which may be NULL).
enum pksim_ptx_space pksim_mod_space(struct pksim_decoder *d, bool *cluster);
// Skips what has no effect here: cache hints and levels of eviction (the operand of .L2::cache_hint stays).
bool pksim_mod_cache(struct pksim_decoder *d);

// ---- Operands
uint32_t pksim_operand_count(const struct pksim_decoder *d);
// The operand, or NULL with an error when there are fewer.
const struct pksim_operand *pksim_operand_at(struct pksim_decoder *d, uint32_t index);
uint32_t pksim_reg_bytes(enum pksim_ptx_type type);
// Bytes of the register that the operand names, `otherwise` for anything else.
uint32_t pksim_operand_bytes(const struct pksim_decoder *d, const struct pksim_operand *operand,
                             uint32_t otherwise);
// Place of a source of `bytes` (0: predicate). Immediates become constants; special registers and addresses
// of module variables are fetched by an instruction put before.
pksim_place_t pksim_use(struct pksim_decoder *d, const struct pksim_operand *operand, uint32_t bytes);
// Place of a register to write; a sink gets scratch space.
pksim_place_t pksim_def(struct pksim_decoder *d, const struct pksim_operand *operand, uint32_t bytes);
// A place for good, and one for the instruction at hand only.
pksim_place_t pksim_new_place(struct pksim_decoder *d, uint32_t bytes);
pksim_place_t pksim_temp(struct pksim_decoder *d, uint32_t bytes);
// The instruction at hand is decoded: its temporary places may serve the next.
void pksim_temps_release(struct pksim_decoder *d);
// A constant in all lanes.
pksim_place_t pksim_constant(struct pksim_decoder *d, uint32_t bytes, uint64_t bits);
// The integer of an immediate operand; an error for anything else.
int64_t pksim_immediate(struct pksim_decoder *d, const struct pksim_operand *operand);

// An address operand: lane addresses are the 8- or 4-byte values at `base`, plus `offset`.
struct pksim_address {
    pksim_place_t base;
    uint8_t base_bytes;
    int64_t offset;
    bool frame_param; // a .param of a .func: lies in local memory
    bool known;       // base is a constant: the same for all lanes, `offset` is the address
};
void pksim_use_address(struct pksim_decoder *d, const struct pksim_operand *operand,
                       struct pksim_address *address);
// Offset of a .shared, .local or function .param variable in this program.
uint32_t pksim_var_offset(struct pksim_decoder *d, const struct pksim_ptx_var *var);

// ---- Output
// An instruction with guard and line of the one at hand.
struct pksim_insn pksim_insn_begin(const struct pksim_decoder *d);
void pksim_insn_add(struct pksim_decoder *d, const struct pksim_insn *insn);
// The next instruction added jumps to `label` (or, when NULL, to the start of `func`).
void pksim_fix_target(struct pksim_decoder *d, uint32_t label);
void pksim_fix_slot(struct pksim_decoder *d, uint32_t label, uint32_t *slot);
struct pksim_decoded_func *pksim_decode_callee(struct pksim_decoder *d, const struct pksim_ptx_func *func);

// ---- Decoders
#define OPCODE(base, decoder) void pksim_decode_##decoder(struct pksim_decoder *d);
#include "sim/exec/opcodes.def"
// An operation of alu.def under the opcode's name. False when there is none.
bool pksim_decode_alu(struct pksim_decoder *d);
const struct pksim_alu_op *pksim_alu_named(const struct pksim_decoder *d, const char *key);

#endif
