// SPDX-License-Identifier: Apache-2.0
// Normal forms of scalars: sums of products of atoms with whole coefficients. Two values with equal normal
// forms are equal. Atoms are dimensions, reads, loop variables, and operations that are no sums or products,
// by the normal forms of their operands. Truth values are 0 and 1, so that `!a` is 1 - a and `a && b` is a
// product. Values of different bodies compare too: a loop variable is known by the depth of its loop, a
// carried value by that and by what it starts from and becomes.
//
// Index arithmetic counts as exact: a program whose indices leave the range of i32 means nothing.
#ifndef PKC_IR_NORM_H
#define PKC_IR_NORM_H

#include "ir/ir.h"
#include "ir/ptrmap.h"
#include "support/vec.h"

enum {
    IR_NORM_ATOMS = 6,  // factors of a term; a product of more becomes an atom itself
    IR_NORM_TERMS = 64, // terms of a sum; likewise
    IR_NORM_NEST = 400  // operations within each other that are looked into
};

typedef struct ir_atom ir_atom;

typedef struct ir_term {
    int64_t factor;
    int n;
    const ir_atom *atoms[IR_NORM_ATOMS]; // sorted by id
} ir_term;

/// Sorted by atoms, no two terms with the same, no factor 0; no terms: zero.
typedef struct ir_norm {
    int n;
    const ir_term *terms;
} ir_norm;

typedef enum ir_atom_kind {
    IR_ATOM_LEAF,     // dimension, read, parameter, element of a tensor, whatever is not looked into
    IR_ATOM_LOOP,     // a loop's variable
    IR_ATOM_CARRY,    // a value carried by a loop
    IR_ATOM_OP,       // value's operation, of args
    IR_ATOM_SELECT,   // args[0] ? args[1] : args[2]; results of ifs too
    IR_ATOM_POSITIVE, // args[0] > 0
    IR_ATOM_ZERO,     // args[0] == 0
    IR_ATOM_TRIPS     // max(0, cdiv(args[0], args[1]))
} ir_atom_kind;

/// Interned in its table: equal atoms are one pointer.
struct ir_atom {
    ir_atom_kind kind;
    int id;                // by first use
    pkc_str text;          // canonical
    const ir_value *value; // one of the values that it stands for; NULL: TRIPS, POSITIVE, ZERO
    int n;
    const ir_norm *args;
    int depth;     // of the innermost loop in whose iterations it may differ; 0: none
    int64_t least; // a lower bound; INT64_MIN: none known
    bool truth;    // 0 or 1
};

/// Atoms and the normal forms found so far. Valid while the IR does not change.
typedef struct ir_norms ir_norms;
ir_norms *ir_norms_new(ir_kernel *k);

ir_norm ir_norm_of(ir_norms *t, const ir_value *v);
ir_norm ir_norm_const(ir_norms *t, int64_t value);
ir_norm ir_norm_add(ir_norms *t, ir_norm a, ir_norm b, int64_t factor); // a + factor * b
ir_norm ir_norm_mul(ir_norms *t, ir_norm a, ir_norm b);
bool ir_norm_equal(ir_norm a, ir_norm b);
bool ir_norm_is_const(ir_norm a, int64_t *value);
/// Canonical within a table: equal text, equal normal form.
pkc_str ir_norm_text(ir_norms *t, ir_norm a);
/// The depth of the innermost loop in whose iterations the value may differ; 0: none.
int ir_norm_depth(ir_norm a);
/// A lower bound, INT64_MIN where none is known.
int64_t ir_norm_least(ir_norm a);
/// Trips of a loop: (hi - lo) / step rounded up, and 0 where that is negative.
ir_norm ir_norm_trips(ir_norms *t, const ir_op *loop);
/// As the user would write it, with the names of the source.
void ir_norm_words(ir_norm a, pkc_buf *out);

/// The host expression of a scalar made of constants, dimensions, ranks, sms and scalar parameters; NULL for
/// others and for those that are too long to be a requirement that anybody reads.
const ir_hx *ir_host_of(ir_norms *t, const ir_value *v);

/// What the files of the normal forms share.
struct ir_norms {
    ir_kernel *k;
    ir_ptrmap values; // value -> its normal form
    ir_ptrmap atoms;  // text -> atom
    ir_ptrmap hosts;  // value -> its host expression
    int n_atoms, nest;
    struct ir_norm_scope *scope; // loops whose carries are being described (norm_value.c)
};
/// The atom with this text, made like `like` where there is none yet; as a sum of one term.
ir_norm ir_norm_atom(ir_norms *t, const char *text, ir_atom like);
/// An atom of arguments: NAME(arg, ..). Depth follows from the arguments.
ir_norm ir_norm_call(ir_norms *t, const char *name, ir_atom like, int n, const ir_norm *args);
/// Divides by a constant that divides every factor.
bool ir_norm_divide(ir_norms *t, ir_norm a, int64_t by, ir_norm *out);
/// The greatest common divisor of the factors, 0 for zero.
int64_t ir_norm_gcd(ir_norm a);

#endif
