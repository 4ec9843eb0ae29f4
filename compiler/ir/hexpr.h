// SPDX-License-Identifier: Apache-2.0
// Host expressions: integer arithmetic over what is known when a kernel is bound (dimensions, ranks, sms).
// They stand in tensor dimensions, group counts, requirements and block sizes, go into the module
// description as prefix JSON, and are what the runtime evaluates (64 bit, overflow and division checked).
#ifndef PKC_IR_HEXPR_H
#define PKC_IR_HEXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"
#include "support/buf.h"
#include "support/str.h"

typedef enum ir_hx_op {
#define IR_HX(id, text, arity) IR_HX_##id,
#include "ir/hexpr.def"
#undef IR_HX
    IR_HX_COUNT
} ir_hx_op;

typedef struct ir_hx ir_hx;
struct ir_hx {
    ir_hx_op op;
    int64_t value;      // CONST; STRIDE: the axis; GROUP: unused
    pkc_str name;       // DIM: the dimension's name; STRIDE: the parameter; SCALAR: the parameter
    const ir_hx *a, *b; // operands, by arity
};

/// Builds an expression, folding constants (division by a constant zero is left as it stands).
const ir_hx *ir_hx_const(pkc_arena *arena, int64_t value);
const ir_hx *ir_hx_dim(pkc_arena *arena, pkc_str name);
const ir_hx *ir_hx_stride(pkc_arena *arena, pkc_str param, int axis);
const ir_hx *ir_hx_scalar(pkc_arena *arena, pkc_str param);
const ir_hx *ir_hx_leaf(pkc_arena *arena, ir_hx_op op); // RANK, RANKS, SMS
const ir_hx *ir_hx_bin(pkc_arena *arena, ir_hx_op op, const ir_hx *a, const ir_hx *b);
const ir_hx *ir_hx_not(pkc_arena *arena, const ir_hx *a);
bool ir_hx_equal(const ir_hx *a, const ir_hx *b);
/// True and the value where the expression is a constant.
bool ir_hx_is_const(const ir_hx *a, int64_t *value);
/// Whether a leaf or operator `op` stands anywhere in it.
bool ir_hx_has(const ir_hx *a, ir_hx_op op);
/// Appends prefix JSON: `["cdiv",["dim","R"],128]`; a constant is a number.
void ir_hx_print_json(const ir_hx *a, pkc_buf *out);
/// Appends what a person reads: `cdiv(R, 128)`.
void ir_hx_print_text(const ir_hx *a, pkc_buf *out);

enum { IR_HX_SAMPLES = 256 };
/// The value at sample point `seed`, below IR_HX_SAMPLES: sizes from 2048 to 67,583 that follow from the
/// leaf's name and the seed, the same in every expression; at some points all are alike or multiples of large
/// powers of two. ranks is 1 to 16, rank 0. False where it divides by zero or overflows.
bool ir_hx_sample(const ir_hx *a, uint32_t seed, int64_t *out);

#endif
