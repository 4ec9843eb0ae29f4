// SPDX-License-Identifier: Apache-2.0
// Normal forms of scalars: sums of products of atoms with rational coefficients. Two values with equal normal
// forms are equal. Atoms are dimensions, reads, loop variables, and operations that are not sums or products,
// by the normal forms of their operands. Values of different bodies compare too: a loop variable is known by
// the depth of its loop.
#ifndef PKC_IR_NORM_H
#define PKC_IR_NORM_H

#include "ir/ir.h"
#include "support/vec.h"

enum { IR_NORM_ATOMS = 6 }; // factors of a term; a product of more becomes an atom itself

typedef struct ir_term {
    int64_t num, den; // den > 0, in lowest terms
    int n;
    pkc_str atoms[IR_NORM_ATOMS]; // sorted
} ir_term;

/// Sorted by atoms, no two terms with the same; no terms: zero.
typedef struct ir_norm {
    int n;
    const ir_term *terms;
} ir_norm;

ir_norm ir_norm_of(ir_kernel *k, const ir_value *v);
ir_norm ir_norm_const(ir_kernel *k, int64_t value);
ir_norm ir_norm_add(ir_kernel *k, ir_norm a, ir_norm b, int64_t factor); // a + factor * b
ir_norm ir_norm_mul(ir_kernel *k, ir_norm a, ir_norm b);
bool ir_norm_equal(ir_norm a, ir_norm b);
bool ir_norm_is_const(ir_norm a, int64_t *value);
/// Canonical text: equal text, equal normal form.
pkc_str ir_norm_text(ir_kernel *k, ir_norm a);
/// Whether an atom whose text begins with `prefix` occurs anywhere in it.
bool ir_norm_mentions(ir_norm a, const char *prefix);
/// Trips of a loop: (hi - lo) / step rounded up, at least 0 where that matters.
ir_norm ir_norm_trips(ir_kernel *k, const ir_op *loop);

/// The host expression of a scalar made of constants, dimensions, ranks, rank, sms and scalar parameters;
/// NULL for others.
const ir_hx *ir_host_of(ir_kernel *k, const ir_value *v);

#endif
