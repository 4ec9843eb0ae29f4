// SPDX-License-Identifier: Apache-2.0
// What the files of the lowering share: meanings of names and expressions, scopes, the walk's state.
#ifndef PKC_IR_LOWER_IMPL_H
#define PKC_IR_LOWER_IMPL_H

#include "ir/lower.h"
#include "sema/builtins.h"
#include "sema/symbol.h"

/// What an expression or a name means while the tree is walked.
typedef enum meaning_kind {
    MEAN_UNBOUND, // a name before its declaration is walked
    MEAN_POISON,  // an error was reported; accepted by every check in silence
    MEAN_VALUE,   // v: a scalar or a register value; hx where the host can compute it too
    MEAN_TILE,    // v: a shared tile
    MEAN_TENSOR,  // a parameter, with the rank whose copy is meant
    MEAN_VIEW,    // a tensor with indices, not yet bound to a tile shape
    MEAN_PIPE,
    MEAN_TUPLE,
    MEAN_NOTHING // a call without a result
} meaning_kind;

typedef struct meaning meaning;

typedef struct view_index {
    pkc_index_kind kind;
    ir_value *at, *end;
    int64_t size; // SIZED, FROM, RANGE, ALL
    pkc_span span;
} view_index;

struct meaning {
    meaning_kind kind;
    ir_value *v;
    const ir_hx *hx;
    bool literal; // a constant that takes the type of what it meets
    ir_param *param;
    ir_peer peer;
    ir_value *peer_rank;
    view_index *index; // VIEW: param->n_dims of them
    ir_pipe *pipe;
    meaning *parts;
    int n_parts;
    pkc_span span;
};

typedef struct lower {
    pkc_session *s;
    ir_kernel *k;
    ir_builder b;
    meaning *env;            // by the index of the symbol: what the name means now
    PKC_VEC(uint32_t) bound; // indices of symbols that have had a meaning in this kernel
    ir_group *group;
    ir_role *role;
    ir_pipe *putting;        // the pipe of the innermost put, NULL: none
    PKC_VEC(ir_pipe *) open; // pipes of the puts and gets around
    int depth;               // of the trees being walked, those of the calls around added up
    int64_t work;            // statements walked so far, each time they are, and tiles by size
    const pkc_item *fn;      // the function being inlined, NULL: the kernel
    bool in_dims;            // `/` must come out even
    meaning result;
} lower;

// ---- errors (lower_error.c)
meaning lower_poison(void);
/// "i32", "f32[128, 64]", "a pipe": what a person calls the meaning.
const char *lower_describe(lower *l, const meaning *m);
meaning lower_wrong_kind(lower *l, pkc_span span, const char *expected, const meaning *got);
bool lower_is_poison(const meaning *m);

// ---- what names mean (lower_env.c)
meaning *lower_meaning(lower *l, const pkc_symbol *symbol);
void lower_bind(lower *l, const pkc_name *name, meaning m);
void lower_assign(lower *l, const pkc_name *name, meaning m);
/// The variables of a set that hold values: they become carries and results of a region.
pkc_varset lower_carried(lower *l, const pkc_varset *assigned);

// ---- expressions (lower_expr.c, lower_arith.c)
meaning lower_expr(lower *l, const pkc_expr *e);
meaning lower_value(ir_value *v);
meaning lower_int(lower *l, int64_t value);
/// A scalar or register value: views of one element are read. Poison after an error.
meaning lower_operand(lower *l, const pkc_expr *e);
/// A scalar of type i32 (index, count); NULL after an error.
ir_value *lower_index(lower *l, const pkc_expr *e);
ir_value *lower_as_index(lower *l, pkc_span span, meaning m);
/// A constant integer in the range of i32; false after an error. `what` names it in the message.
bool lower_constant(lower *l, const pkc_expr *e, const char *what, int64_t *out);
/// A host expression: constants, dimensions, ranks, sms and, outside dimensions, i32 parameters: these may
/// change between launches, shapes may not. NULL after an error.
const ir_hx *lower_hx(lower *l, const pkc_expr *e, const char *what);
/// Whether the expression may read memory, which must not happen where the left side of && or || decides.
bool lower_may_read(const pkc_expr *e);
meaning lower_binary(lower *l, pkc_span span, pkc_binary_op op, meaning x, meaning y);
meaning lower_arith(lower *l, pkc_span span, unsigned sub, meaning x, meaning y);
meaning lower_select(lower *l, pkc_span span, meaning c, meaning x, meaning y);
meaning lower_unary(lower *l, pkc_span span, unsigned sub, meaning x);
meaning lower_cast(lower *l, pkc_span span, meaning x, pkc_elem elem);
/// A literal brought to an element type; others unchanged.
meaning lower_adapt(lower *l, pkc_span span, meaning x, pkc_elem elem);
/// A register value of that shape and type from a scalar or a register value that broadcasts to it. NULL
/// after an error.
ir_value *lower_to_reg(lower *l, pkc_span span, meaning x, pkc_elem elem, int32_t rows, int32_t cols);

/// Whether a register value or view may have so many elements, with a report where not. Counts as work.
bool lower_fits(lower *l, pkc_span span, int64_t rows, int64_t cols);

/// x.T (lower_turn.c)
meaning lower_transpose(lower *l, const pkc_expr *e);

// ---- views (lower_view.c)
meaning lower_index_expr(lower *l, const pkc_expr *e);
/// The `view` op for a tile of [rows, cols] (0: whatever the view's own sizes say). NULL after an error.
ir_value *lower_view(lower *l, const meaning *m, int32_t rows, int32_t cols);
/// The element that a view without sizes means. Poison after an error.
/// True after an error: the view is of all ranks at once, and `what` takes one copy.
bool lower_refuses_all(lower *l, const meaning *m, const char *what);
meaning lower_element(lower *l, const meaning *m);
/// The `sig` op of a signal view. NULL after an error.
ir_value *lower_signal(lower *l, const meaning *m, ir_peer forced);
/// Adds the requirement that rows of the parameter are a multiple of 16 bytes, once.
void lower_require_rows(lower *l, const ir_param *p);

// ---- calls (lower_call.c, lower_fn.c)
meaning lower_call(lower *l, const pkc_expr *e);
meaning lower_call_fn(lower *l, const pkc_expr *e);

// ---- statements (lower_stmt.c) and kernels (lower_kernel.c)
void lower_block(lower *l, const pkc_block *block);
void lower_stmts(lower *l, pkc_stmt *const *stmts, size_t n);
void lower_group(lower *l, const pkc_stmt *stmt);
void lower_role(lower *l, const pkc_stmt *stmt);
/// A type's element and constant 2-D shape; false after an error. [N] is [1, N]; no dims is a scalar (rows
/// 0).
bool lower_shape(lower *l, const pkc_tyexpr *type, pkc_elem *elem, int32_t *rows, int32_t *cols);
void lower_add_require(lower *l, const ir_hx *expr, const char *why, pkc_span pos, bool fact);

#endif
