// SPDX-License-Identifier: Apache-2.0
// Arithmetic on whole warps: one function an operation, over 32 lanes in structure-of-arrays registers, so
// that the C compiler vectorises it. An operation computes all lanes; the caller keeps the active ones.
#ifndef PKSIM_EXEC_ALU_H
#define PKSIM_EXEC_ALU_H

#include <stddef.h>
#include <stdint.h>

enum { PKSIM_LANES = 32 };

// d and s[k] point to arrays of 32 elements; d may be the same array as any s[k]. A predicate is one
// uint32_t, lane 0 in bit 0.
typedef void pksim_alu_fn(void *d, const void *const *s);

struct pksim_alu_op {
    const char *key; // opcode without rounding, .ftz, .sat of floats, .approx and .full
    pksim_alu_fn *fn;
    uint8_t sources;
    uint8_t dst_bytes, src_bytes[4]; // 0: predicate
    char kind;                       // F: rounding, .ftz and .sat apply
};

struct pksim_alu_table {
    const struct pksim_alu_op *ops;
    size_t count;
};

// The table compiled for what this CPU has; both compute the same bits.
struct pksim_alu_table pksim_alu_table_host(void);
struct pksim_alu_table pksim_alu_table_base(void);
struct pksim_alu_table pksim_alu_table_avx2(void);

#endif
