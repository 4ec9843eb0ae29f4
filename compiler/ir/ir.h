// SPDX-License-Identifier: Apache-2.0
// The tile IR: typed, structured, in SSA form. Loops and ifs are regions with carried values; there are no
// jumps and no memory variables. A scalar has the same value in every thread of its role, so all control flow
// is uniform. docs/compiler.md describes the operations and passes; ops.def, subs.def and passes.def list
// them.
//
// Everything lives in the kernel's arena. Types, names and attributes are interned or immutable.
#ifndef PKC_IR_IR_H
#define PKC_IR_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/hexpr.h"
#include "sema/elems.h"
#include "source/session.h"
#include "source/source.h"
#include "support/arena.h"
#include "support/str.h"

enum { IR_MAX_AXES = 5, IR_MAX_FIELDS = 16 };

// ---- types ---------------------------------------------------------------------------------------------

typedef enum ir_type_kind {
    IR_T_SCALAR, // elem
    IR_T_VIEW,   // elem, rows, cols: the tile that a view covers; [1,1] with `element` set is one element
    IR_T_SLOT,   // pipe
    IR_T_TILE,   // elem, rows, cols, layout: shared memory
    IR_T_REG,    // elem, rows, cols, dist: spread over the role's threads; rows or cols of 1 broadcast
    IR_T_SIG,
    IR_T_STATE, // pipe: (slot, phase) of this role in the pipe
    IR_T_TOKEN  // work in flight: mma or bulk
} ir_type_kind;

/// Shared layouts (docs/compiler.md, "Shared tiles"). UNKNOWN until the pass `layout`.
typedef enum ir_layout { IR_LAY_UNKNOWN, IR_LAY_LIN, IR_LAY_SW32, IR_LAY_SW64, IR_LAY_SW128 } ir_layout;

/// Who holds which rows and columns of a register tile. UNKNOWN until `layout`.
/// ANY: a generator or a value equal in all threads, at home in every base. FLAT: vectors of 8 columns, row
/// after row, dealt to all threads of the role round robin (element-wise code without broadcasts and
/// reductions).
typedef enum ir_dist_base {
    IR_DIST_UNKNOWN,
    IR_DIST_QUAD,
    IR_DIST_LANE,
    IR_DIST_LINE,
    IR_DIST_ANY,
    IR_DIST_FLAT
} ir_dist_base;

/// `w`: quad and lane: warpgroups; line and flat: warps. `lanes`: of a warp that share a row in line, a power
/// of two; 0: all 32. The kind (full, row, col, one) follows from the shape.
typedef struct ir_dist {
    ir_dist_base base;
    uint16_t w;
    uint16_t lanes;
} ir_dist;

typedef enum ir_token_kind { IR_TOK_MMA, IR_TOK_BULK } ir_token_kind;

typedef struct ir_pipe ir_pipe;
typedef struct ir_type {
    ir_type_kind kind;
    pkc_elem elem;
    int32_t rows, cols;
    bool element;        // VIEW: one element, read with `elem`
    bool transposed;     // TILE: `x.T` of a shared tile, an operand of a product
    ir_layout layout;    // TILE; rows and cols are those of the tile as declared, before `.T`
    ir_dist dist;        // REG
    ir_token_kind token; // TOKEN
    const ir_pipe *pipe; // SLOT, STATE
} ir_type;

// ---- operations ----------------------------------------------------------------------------------------

typedef enum ir_op_kind {
#define IR_OP(id, ...) IR_##id,
#include "ir/ops.def"
#undef IR_OP
    IR_OP_COUNT
} ir_op_kind;

// Sub-kinds, one enum a set, each numbered from 0:
// enum ir_bin { IR_BIN_ADD, ... }: subs.h makes them from subs.def.
#include "ir/subs.h"

typedef enum ir_effect {
    IR_PURE = 0,
    IR_RD_GLOB = 1 << 0,
    IR_WR_GLOB = 1 << 1,
    IR_RD_SH = 1 << 2,
    IR_WR_SH = 1 << 3,
    IR_BLOCK = 1 << 4, // may wait
    IR_ASYNC = 1 << 5, // starts work that goes on
    IR_RELEASE = 1 << 6,
    IR_ACQUIRE = 1 << 7,
    IR_ROLE_SYNC = 1 << 8 // all warps of the role take part
} ir_effect;

typedef enum ir_who { IR_WHO_T, IR_WHO_W, IR_WHO_M } ir_who;
typedef enum ir_form { IR_FORM_L, IR_FORM_P, IR_FORM_U, IR_FORM_O } ir_form;

/// What op->attr holds.
typedef enum ir_attr_kind {
    IR_ATTR_NONE,
    IR_ATTR_CONST,    // i (integers, bool) or f (floating point), by the result's type
    IR_ATTR_INT,      // i (and flag)
    IR_ATTR_SUB,      // op->sub only
    IR_ATTR_INT_SUB,  // i and op->sub
    IR_ATTR_NAME,     // name
    IR_ATTR_PARAM,    // param
    IR_ATTR_VIEW,     // param, peer, row_axis, col_axis
    IR_ATTR_FIELD,    // pipe's field number in i
    IR_ATTR_SHARED,   // shared
    IR_ATTR_PIPE,     // pipe
    IR_ATTR_PIPE_SUB, // pipe and op->sub
    IR_ATTR_ROLE,     // role
    IR_ATTR_GROUP     // group
} ir_attr_kind;

/// Whose copy of a symmetric tensor or signal array: this rank's, that of the rank in operand 0, every
/// rank's.
typedef enum ir_peer { IR_PEER_OWN, IR_PEER_RANK, IR_PEER_ALL } ir_peer;

typedef struct ir_value ir_value;
typedef struct ir_op ir_op;
typedef struct ir_region ir_region;
typedef struct ir_use ir_use;
typedef struct ir_param ir_param;
typedef struct ir_role ir_role;
typedef struct ir_group ir_group;
typedef struct ir_shared ir_shared;

typedef struct ir_attr {
    int64_t i;
    double f;
    bool flag;
    pkc_str name;
    ir_param *param;
    ir_pipe *pipe;
    ir_role *role;
    ir_group *group;
    ir_shared *shared;
    // VIEW: operands are [peer rank] then one element coordinate an axis, then [hi of the row axis] [hi of
    // the column axis] (elements from hi on lie outside the view). The tile's rows run along row_axis and its
    // columns along col_axis; -1: that side of the tile is 1.
    ir_peer peer;
    int8_t row_axis, col_axis;
    bool has_row_hi, has_col_hi;
} ir_attr;

struct ir_use {
    ir_value *value;
    ir_op *user;
    uint16_t index;
    ir_use *next, **prev; // in the value's list
};

/// A result of an op (def set) or an argument of a region (owner set).
struct ir_value {
    const ir_type *type;
    ir_op *def;
    ir_region *owner;
    uint16_t index;
    pkc_str name; // the source name, or NULL
    ir_use *uses;
};

struct ir_op {
    ir_op_kind kind;
    uint8_t sub;
    uint16_t n_in, n_out, n_reg;
    ir_use *in;
    ir_value *out;  // n_out values
    ir_region *reg; // n_reg regions
    ir_attr attr;
    pkc_span pos;
    ir_op *prev, *next;
    ir_region *parent;
};

struct ir_region {
    ir_op *first, *last;
    ir_value *args;
    uint16_t n_args;
    ir_op *owner; // NULL: a body
};

// ---- kernels -------------------------------------------------------------------------------------------

typedef enum ir_param_kind { IR_PARAM_LOCAL, IR_PARAM_PEER, IR_PARAM_SIGNAL, IR_PARAM_SCALAR } ir_param_kind;

/// A kernel parameter. dims are host expressions over named dimensions, row-major, the last contiguous.
struct ir_param {
    pkc_str name;
    ir_param_kind kind;
    pkc_elem elem;
    int n_dims;
    const ir_hx *dims[IR_MAX_AXES];
    bool clear;   // `= 0`
    bool written; // some op of the kernel writes it (set by `roles`)
    pkc_span pos;
    int index;
};

typedef struct ir_field {
    pkc_str name;
    pkc_elem elem;
    int32_t rows, cols;
    ir_layout layout;
    int64_t offset; // in the slot; set by `place`
    pkc_span pos;
} ir_field;

/// A ring of slots in shared memory. The members after `pos` are set by passes.
struct ir_pipe {
    pkc_str name;
    int32_t slots;
    int n_fields;
    ir_field field[IR_MAX_FIELDS];
    ir_group *group;
    pkc_span pos;
    ir_role *putter;                // agree
    int64_t slot_bytes, offset;     // place: of slot 0 from the start of dynamic shared memory
    int64_t full_bar, free_bar;     // place: offset of barrier 0 of each kind, 8 bytes each
    int32_t full_count, free_count; // pipes: arrivals a phase
    ir_pipe *next;
};

/// Plain shared memory of one role.
struct ir_shared {
    pkc_str name;
    pkc_elem elem;
    int32_t rows, cols;
    ir_layout layout;
    ir_role *role;
    int64_t offset;
    pkc_span pos;
    ir_shared *next;
};

/// Kinds of roles as written; what they may do is in roles.def.
typedef enum ir_role_kind {
    IR_ROLE_LOADER,
    IR_ROLE_STORER,
    IR_ROLE_CONSUMER,     // count warpgroups
    IR_ROLE_COMMUNICATOR, // count warps
    IR_ROLE_WARPS,        // role NAME: warps(count)
    IR_ROLE_WARPGROUPS    // role NAME: warpgroups(count)
} ir_role_kind;

struct ir_role {
    pkc_str name;
    ir_role_kind kind;
    int32_t count;
    ir_group *group;
    pkc_span pos;
    ir_region *body;       // after `roles`
    bool implicit;         // not written: a body without roles is one
    bool thin;             // roles: runs whole in one elected thread
    bool peers;            // order: touches another rank's memory
    int first_warp, warps; // place
    int regs;              // place: register budget after setmaxnreg, 0: none
    int named_barrier;     // place: for `sync role`, 0: none needed
    int64_t ring;          // place: shared memory of the pending-signal ring, -1: none
    int64_t scratch;       // place: where reductions and transposes of the role meet
    int reg_estimate;      // layout: registers a thread at the fullest point
    ir_role *next;
};

struct ir_group {
    pkc_str name; // "" where the kernel has no groups
    const ir_hx *count;
    ir_role *roles;
    pkc_span pos;
    int index;
    int keeper_warp; // place: -1: no keeper
    ir_group *next;
};

typedef struct ir_require {
    const ir_hx *expr;
    const char *why;
    pkc_span pos;
    struct ir_require *next;
} ir_require;

typedef struct ir_const {
    pkc_str name;
    int64_t value;
    struct ir_const *next;
} ir_const;

/// What `place` decided for the whole kernel.
typedef struct ir_placement {
    int threads;     // of a CTA
    int entry_regs;  // registers a thread at entry (64K / threads, rounded down to 8), 0: no setmaxnreg
    int helper_regs; // what warps outside the warpgroup roles lower themselves to (keepers and idle warps
                     // too)
    int64_t smem;    // dynamic shared memory in bytes
    int64_t scratch_bytes; // of all roles
} ir_placement;

typedef struct ir_kernel {
    pkc_arena *arena;
    pkc_session *session;
    pkc_str name;
    pkc_span pos;
    ir_form form;
    ir_param *params;
    int n_params;
    pkc_str *dims; // named dimensions, in order of appearance
    int n_dims;
    ir_const *consts;
    ir_pipe *pipes;
    ir_shared *shared;
    ir_group *groups;
    ir_require *requires; // checked by the host, in order
    ir_require *facts;    // true once the requirements hold (also dims >= 1), used by `agree`
    ir_region *body;      // until `roles`; then NULL and every role has its own
    bool has_signals, has_barrier, touches_peers, needs_entry, needs_exit; // order
    bool no_entry_wait, no_exit_barrier;                                   // attributes
    ir_placement place;
} ir_kernel;

typedef struct ir_module {
    pkc_session *session;
    ir_kernel **kernels;
    int n_kernels;
} ir_module;

// ---- tables --------------------------------------------------------------------------------------------

const char *ir_op_text(ir_op_kind kind);
ir_attr_kind ir_op_attr(ir_op_kind kind);
unsigned ir_op_effects(ir_op_kind kind);
ir_who ir_op_who(ir_op_kind kind);
bool ir_op_in_form(ir_op_kind kind, ir_form form);
/// Operands, results and regions that an op has; -1 where that depends on the op.
int ir_op_n_in(ir_op_kind kind);
int ir_op_n_out(ir_op_kind kind);
int ir_op_n_reg(ir_op_kind kind);
/// Text of a sub-kind of this op ("add"), NULL where it has none.
const char *ir_sub_text(ir_op_kind kind, unsigned sub);
const char *ir_layout_text(ir_layout layout);
const char *ir_dist_base_text(ir_dist_base base);

// ---- building ------------------------------------------------------------------------------------------

/// Interned or fresh immutable types (compare members, or pointers of ir_type_* results within one kernel).
const ir_type *ir_type_scalar(ir_kernel *k, pkc_elem elem);
/// What one element of a tensor is as a scalar: narrow floats are f32 there, i8 is i32.
pkc_elem ir_elem_scalar(pkc_elem elem);
const ir_type *ir_type_view(ir_kernel *k, pkc_elem elem, int32_t rows, int32_t cols, bool element);
const ir_type *ir_type_tile(ir_kernel *k, pkc_elem elem, int32_t rows, int32_t cols, ir_layout layout,
                            bool transposed);
const ir_type *ir_type_reg(ir_kernel *k, pkc_elem elem, int32_t rows, int32_t cols, ir_dist dist);
const ir_type *ir_type_slot(ir_kernel *k, const ir_pipe *pipe);
const ir_type *ir_type_state(ir_kernel *k, const ir_pipe *pipe);
const ir_type *ir_type_sig(ir_kernel *k);
const ir_type *ir_type_token(ir_kernel *k, ir_token_kind kind);
bool ir_type_equal(const ir_type *a, const ir_type *b);

/// Where new ops go: before `before` in `region`, or at its end when `before` is NULL.
typedef struct ir_builder {
    ir_kernel *kernel;
    ir_region *region;
    ir_op *before;
    pkc_span pos;
} ir_builder;

/// Makes an op with room for its operands, results and regions and inserts it. Operands and result types are
/// set by the caller.
ir_op *ir_build(ir_builder *b, ir_op_kind kind, unsigned sub, int n_in, ir_value *const *in, int n_out,
                const ir_type *const *types, int n_reg);
/// Scalar and element-wise arithmetic with constant folding (integers fold exactly in 32 or 64 bits,
/// wrapping; divisions by zero do not fold). Operands are scalars of one type or register tiles whose shapes
/// broadcast; the result's shape is the joined one.
ir_value *ir_build_bin(ir_builder *b, unsigned sub, ir_value *x, ir_value *y);
ir_value *ir_build_un(ir_builder *b, unsigned sub, ir_value *x);
ir_value *ir_build_cmp(ir_builder *b, unsigned sub, ir_value *x, ir_value *y);
ir_value *ir_build_select(ir_builder *b, ir_value *c, ir_value *x, ir_value *y);
ir_value *ir_build_cast(ir_builder *b, ir_value *x, pkc_elem elem);
ir_value *ir_build_int(ir_builder *b, pkc_elem elem, int64_t value);
ir_value *ir_build_float(ir_builder *b, pkc_elem elem, double value);
ir_value *ir_build_read(ir_builder *b, unsigned sub);
bool ir_const_int(const ir_value *v, int64_t *value);
bool ir_const_float(const ir_value *v, double *value);
/// A for with `n` carries (initial values in `inits`); region 0 gets arguments i, carries. The caller fills
/// the body and yields.
ir_op *ir_build_for(ir_builder *b, ir_value *lo, ir_value *hi, ir_value *step, int n, ir_value *const *inits);
ir_op *ir_build_if(ir_builder *b, ir_value *cond, int n_out, const ir_type *const *types);
void ir_build_yield(ir_builder *b, int n, ir_value *const *values);
ir_region *ir_region_new(ir_kernel *k, int n_args, const ir_type *const *types);
/// Gives a region its arguments (it has none yet).
void ir_region_args(ir_kernel *k, ir_region *region, int n_args, const ir_type *const *types);
/// Links an op that is nowhere before `before`, or at the end.
void ir_insert(ir_op *op, ir_region *region, ir_op *before);

// ---- changing ------------------------------------------------------------------------------------------

static inline ir_value *ir_in(const ir_op *op, int i)
{
    return op->in[i].value;
}
void ir_set_in(ir_op *op, int i, ir_value *v);
void ir_append_in(ir_kernel *k, ir_op *op, ir_value *v);
/// Replaces all uses of `old` by `v`.
void ir_replace(ir_value *old, ir_value *v);
/// Unlinks an op (and its regions); its results must have no uses outside it.
void ir_erase(ir_op *op);
void ir_move_before(ir_op *op, ir_op *where);
/// Adds a carry to a for (or a result to an if, put or get, with the initial value unused): returns the
/// region argument of a for, NULL otherwise. The new result is the op's last one; ir_set_yield gives its
/// value at the end of region r.
ir_value *ir_add_carry(ir_kernel *k, ir_op *op, ir_value *init, const ir_type *type);
void ir_set_yield(ir_kernel *k, ir_op *op, int r, int index, ir_value *v);
ir_value *ir_yielded(const ir_region *region, int index);
/// Removes carry or result `index`, whose region argument and result have no uses left.
void ir_remove_carry(ir_op *op, int index);
/// Deep copy of a region; `map` (old value -> new value) is consulted for values from outside and filled.
typedef struct ir_map ir_map;
ir_map *ir_map_new(pkc_arena *arena);
void ir_map_set(ir_map *map, const ir_value *from, ir_value *to);
ir_value *ir_map_get(const ir_map *map, const ir_value *from); // `from` itself (cast) when unmapped
ir_region *ir_clone_region(ir_kernel *k, const ir_region *region, ir_map *map);
ir_op *ir_clone_op(ir_builder *b, const ir_op *op, ir_map *map);
/// Visits every op of a region and of those inside it, in program order; pre returning false skips the op's
/// regions.
typedef bool (*ir_visit)(ir_op *op, void *user);
void ir_walk(ir_region *region, ir_visit pre, ir_visit post, void *user);
/// True where `op` lies in `region` or in one inside it.
bool ir_inside(const ir_op *op, const ir_region *region);

// ---- text ----------------------------------------------------------------------------------------------

/// Appends the stable text form (docs/compiler.md); locations only when asked for.
void ir_print_kernel(const ir_kernel *k, bool locations, pkc_buf *out);
void ir_print_module(const ir_module *m, bool locations, pkc_buf *out);
/// Parses the text form; errors are diagnostics on `file`. NULL on error.
ir_module *ir_parse_module(pkc_session *session, const pkc_file *file);
/// Checks types, dominance, operand counts, effects and ops allowed in the kernel's form, who may run what.
/// False: `why` says what.
bool ir_verify(const ir_kernel *k, pkc_buf *why);

// ---- passes --------------------------------------------------------------------------------------------

typedef enum ir_pass {
#define IR_PASS(id, name, ...) IR_PASS_##id,
#include "ir/passes.def"
#undef IR_PASS
    IR_PASS_COUNT
} ir_pass;

/// What the command line says to the passes.
typedef struct ir_options {
    bool no_defer, no_flight; // -fno-defer, -fno-flight
    int64_t smem_limit;       // bytes of dynamic shared memory a CTA may have
    int regs_per_sm;          // 65536
} ir_options;

#define IR_PASS(id, name, ...) bool ir_pass_##name(ir_kernel *k, const ir_options *options);
#include "ir/passes.def"
#undef IR_PASS
const char *ir_pass_name(ir_pass pass);
/// What the pass needs and a kernel that was read as text lacks; NULL: nothing.
const char *ir_pass_lacks(const ir_kernel *k, ir_pass pass);
/// Runs the passes in order up to and with `last`, the verifier after each in debug builds. False:
/// diagnostics were given.
bool ir_run_passes(ir_kernel *k, const ir_options *options, ir_pass last,
                   void (*after)(ir_kernel *k, ir_pass pass, void *user), void *user);

#endif
