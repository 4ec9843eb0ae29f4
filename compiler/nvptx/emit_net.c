// SPDX-License-Identifier: Apache-2.0
// Reductions over the ranks' copies of a tile: `reduce` to a view of this rank, `all_reduce` back to every
// copy. The threads of the role take the tile's vectors in turn. There are three forms, of which every launch
// takes one a tile, under branches that are the same for all threads:
//
//   multicast  whole aligned vectors, where the launch has a multicast address and the network knows the
//              operation: one multimem.ld_reduce a vector, four of them in flight
//   vectors    the same from each rank's own address, several ranks' loads in flight at once
//   elements   anything else, one element at a time
//
// The loops add the values in the order of the ranks, in single precision, and round once: so every rank
// comes to the same bits. The loads of a batch of ranks are issued back to back, long before the first value
// arrives, so which rank they begin with does not matter; stores to all ranks begin with the next one.
#include "nvptx/emit.h"
#include "nvptx/geometry.h"
#include "nvptx/memory.h"
#include "nvptx/multimem.h"

enum { VEC_BYTES = 16, MAX_VEC = 16, MAX_BATCH = 8, WORDS = VEC_BYTES / 4 };

typedef enum net_form { FORM_VECTORS, FORM_ELEMENTS } net_form; // of the loops over ranks

typedef struct reduction {
    const ir_op *src, *dst; // views
    ir_red how;
    pkc_elem elem;
    int rows, cols;
    int vec;   // elements of a vector
    int batch; // ranks whose loads are in flight together
} reduction;

static bool is_half(pkc_elem elem)
{
    return elem == PKC_E_BF16 || elem == PKC_E_F16;
}

static int run_of(const reduction *r, net_form form)
{
    return form == FORM_ELEMENTS ? 1 : r->vec;
}

static int size_of(const reduction *r)
{
    return (int)pkc_elem_bits(r->elem) / 8;
}

// Elements are reduced in single precision or as 32-bit integers.
static LLVMValueRef widen(nv_emit *e, pkc_elem elem, LLVMValueRef v)
{
    if (elem == PKC_E_I8)
        return LLVMBuildSExt(e->b, v, e->c->i32, "");
    return is_half(elem) ? LLVMBuildFPExt(e->b, v, e->c->f32, "") : v;
}

static LLVMValueRef narrow(nv_emit *e, pkc_elem elem, LLVMValueRef v)
{
    if (elem == PKC_E_I8)
        return LLVMBuildTrunc(e->b, v, e->c->i8, "");
    return is_half(elem) ? LLVMBuildFPTrunc(e->b, v, llvmc_elem(e->c, elem), "") : v;
}

static LLVMValueRef combine(nv_emit *e, const reduction *r, LLVMValueRef a, LLVMValueRef b)
{
    bool real = pkc_elem_class(r->elem) == 'f', sign = pkc_elem_class(r->elem) == 'i';
    switch (r->how) {
    case IR_RED_SET:
    case IR_RED_COUNT:
        break;
    case IR_RED_ADD:
        return real ? LLVMBuildFAdd(e->b, a, b, "") : nv_add(e, a, b);
    case IR_RED_MIN:
        return real ? nv_call(e, NV_MINNUM, a, b)
                    : nv_select(e, nv_cmp(e, sign ? LLVMIntSLT : LLVMIntULT, a, b), a, b);
    case IR_RED_MAX:
        return real ? nv_call(e, NV_MAXNUM, a, b)
                    : nv_select(e, nv_cmp(e, sign ? LLVMIntSGT : LLVMIntUGT, a, b), a, b);
    }
    return a;
}

// What combines with any value to that value: -0 in sums (0 would turn -0 into 0), NaN in minima and maxima,
// which give the number where one operand is NaN. A word is filled with narrow elements.
static unsigned identity(const reduction *r)
{
    bool add = r->how == IR_RED_ADD, max = r->how == IR_RED_MAX;
    if (r->elem == PKC_E_I8)
        return add ? 0 : max ? 0x80808080u : 0x7f7f7f7fu;
    if (is_half(r->elem))
        return add ? 0x80008000u : 0x7fff7fffu;
    if (r->elem == PKC_E_F32)
        return add ? 0x80000000u : 0x7fffffffu;
    if (r->elem == PKC_E_I32)
        return add ? 0 : max ? 0x80000000u : 0x7fffffffu;
    return add || max ? 0 : 0xffffffffu;
}

static LLVMValueRef address(nv_emit *e, const nv_view *v, LLVMValueRef row, LLVMValueRef col)
{
    LLVMValueRef offset =
        nv_add(e, nv_mul(e, nv_wide(e, row), v->row_stride), nv_mul(e, nv_wide(e, col), v->col_stride));
    return LLVMBuildGEP2(e->b, e->c->i8, v->base, &offset, 1, "");
}

// ---- a batch of ranks
// ------------------------------------------------------------------------------------

typedef struct batch {
    const reduction *r;
    int words;   // registers a rank
    bool narrow; // one of 16 bits, for a single element
} batch;

// Loads what rank j of the batch has, where there are more than j ranks left.
static void load_text(const batch *b, int j, pkc_buf *text)
{
    static const char *const types[] = {[1] = "b32", [2] = "v2.b32", [4] = "v4.b32"};
    int addresses = b->r->batch * b->words, left = addresses + b->r->batch;
    pkc_buf_printf(text, "setp.gt.s32 p, $%d, %d;\n\t@p ld.global.%s ", left, j,
                   !b->narrow           ? types[b->words]
                   : size_of(b->r) == 1 ? "b8"
                                        : "b16");
    for (int i = 0; i < b->words; i++)
        pkc_buf_printf(text, "%s$%d", i ? ", " : b->words > 1 ? "{" : "", j * b->words + i);
    pkc_buf_printf(text, "%s, [$%d];\n\t", b->words > 1 ? "}" : "", addresses + j);
}

// One block of assembly, so that the loads stand side by side, and because LLVM has no load that a predicate
// turns off. Registers of ranks that there are not hold the identity.
static LLVMValueRef load_batch(nv_emit *e, const batch *b, LLVMValueRef *args)
{
    int n = b->r->batch, regs = n * b->words;
    pkc_buf text = {0}, cons = {0};
    pkc_buf_puts(&text, "{\n\t.reg .pred p;\n\t");
    for (int i = 0; i < regs; i++) {
        pkc_buf_printf(&text, "mov.b%d $%d, %u;\n\t", b->narrow ? 16 : 32, i,
                       identity(b->r) & (b->narrow ? 0xffff : 0xffffffffu));
        pkc_buf_puts(&cons, b->narrow ? "=&h," : "=&r,");
    }
    for (int j = 0; j < n; j++)
        load_text(b, j, &text);
    pkc_buf_puts(&text, "}");
    for (int i = 0; i < n; i++)
        pkc_buf_puts(&cons, "l,");
    pkc_buf_puts(&cons, "r,~{memory}");
    LLVMTypeRef word = b->narrow ? e->c->i16 : e->c->i32, types[MAX_BATCH * WORDS];
    for (int i = 0; i < regs; i++)
        types[i] = word;
    LLVMTypeRef result = LLVMStructTypeInContext(e->c->ctx, types, (unsigned)regs, false);
    LLVMValueRef out = llvmc_asm(e->c, result, pkc_buf_cstr(&text), pkc_buf_cstr(&cons), n + 1, args);
    pkc_buf_free(&text);
    pkc_buf_free(&cons);
    return out;
}

// Element i of a rank's registers, in the precision of the sum.
static LLVMValueRef element(nv_emit *e, const batch *b, LLVMValueRef loaded, int rank, int i)
{
    LLVMTypeRef type = llvmc_elem(e->c, b->r->elem);
    int per = b->narrow ? 1 : 4 / size_of(b->r);
    LLVMValueRef v = LLVMBuildExtractValue(e->b, loaded, (unsigned)(rank * b->words + i / per), "");
    if (per > 1) {
        v = LLVMBuildBitCast(e->b, v, LLVMVectorType(type, (unsigned)per), "");
        v = LLVMBuildExtractElement(e->b, v, nv_i32(e, i % per), "");
    } else if (size_of(b->r) == 1) {
        v = LLVMBuildTrunc(e->b, v, type, "");
    }
    return widen(e, b->r->elem, LLVMBuildBitCast(e->b, v, type, ""));
}

// Adds the values of ranks first .. first + batch - 1, as far as there are so many.
static void add_batch(nv_emit *e, const reduction *r, net_form form, LLVMValueRef first, LLVMValueRef row,
                      LLVMValueRef col, LLVMValueRef *sum)
{
    batch b = {.r = r, .words = 1, .narrow = false};
    if (form == FORM_VECTORS)
        b.words = WORDS;
    else
        b.narrow = size_of(r) < 4;
    LLVMValueRef args[MAX_BATCH + 1], ranks = nv_ranks(e), last = nv_addi(e, ranks, -1);
    for (int j = 0; j < r->batch; j++) {
        nv_view v = nv_view_open(e, r->src, nv_min(e, nv_addi(e, first, j), last));
        args[j] = address(e, &v, row, col);
    }
    args[r->batch] = nv_sub(e, ranks, first);
    LLVMValueRef loaded = load_batch(e, &b, args);
    for (int j = 0; j < r->batch; j++)
        for (int i = 0; i < run_of(r, form); i++)
            sum[i] = combine(e, r, sum[i], element(e, &b, loaded, j, i));
}

// The identity in the precision of the sum: that of bf16 in the upper half of an f32 is one of f32.
static LLVMValueRef start_value(nv_emit *e, const reduction *r)
{
    unsigned bits = is_half(r->elem) ? identity(r) << 16 : identity(r);
    if (r->elem == PKC_E_I8)
        bits = (unsigned)(int)(int8_t)identity(r);
    bool real = pkc_elem_class(r->elem) == 'f';
    LLVMValueRef word = nv_i32(e, (int32_t)bits);
    return real ? LLVMConstBitCast(word, e->c->f32) : word;
}

static void sum_ranks(nv_emit *e, const reduction *r, net_form form, LLVMValueRef row, LLVMValueRef col,
                      LLVMValueRef *sum)
{
    LLVMBasicBlockRef before = nv_here(e), body = nv_block(e, "ranks"), exit = nv_block(e, "summed");
    LLVMValueRef phi[MAX_VEC], start = start_value(e, r);
    nv_goto(e, body); // there is one rank at least
    nv_enter(e, body);
    LLVMValueRef first = nv_phi(e, e->c->i32);
    nv_phi_add(first, nv_i32(e, 0), before);
    for (int i = 0; i < run_of(r, form); i++) {
        sum[i] = phi[i] = nv_phi(e, LLVMTypeOf(start));
        nv_phi_add(phi[i], start, before);
    }
    add_batch(e, r, form, first, row, col, sum);
    LLVMBasicBlockRef latch = nv_here(e);
    for (int i = 0; i < run_of(r, form); i++)
        nv_phi_add(phi[i], sum[i], latch);
    LLVMValueRef after = nv_addi(e, first, r->batch);
    nv_phi_add(first, after, latch);
    LLVMValueRef more = nv_cmp(e, LLVMIntSLT, after, nv_ranks(e));
    llvmc_no_unroll(e->c, LLVMBuildCondBr(e->b, more, body, exit));
    nv_enter(e, exit);
}

// ---- one vector
// ------------------------------------------------------------------------------------------

static void store_one(nv_emit *e, const reduction *r, LLVMValueRef rank, LLVMValueRef row, LLVMValueRef col,
                      int run, LLVMValueRef *sum)
{
    nv_view v = nv_view_open(e, r->dst, rank);
    nv_store_vec(e, address(e, &v, row, col), r->elem, run, NULL, sum);
}

static void store_sum(nv_emit *e, const reduction *r, LLVMValueRef row, LLVMValueRef col, int run,
                      LLVMValueRef *sum)
{
    for (int i = 0; i < run; i++)
        sum[i] = narrow(e, r->elem, sum[i]);
    if (r->dst->attr.peer != IR_PEER_ALL) {
        store_one(e, r, NULL, row, col, run, sum);
        return;
    }
    nv_loop loop = nv_loop_begin(e, nv_i32(e, 0), nv_ranks(e));
    store_one(e, r, nv_next_rank(e, loop.i), row, col, run, sum);
    nv_loop_end(e, &loop, nv_i32(e, 1));
}

static void reduce_run(nv_emit *e, const reduction *r, net_form form, LLVMValueRef row, LLVMValueRef col)
{
    LLVMValueRef sum[MAX_VEC];
    sum_ranks(e, r, form, row, col, sum);
    store_sum(e, r, row, col, run_of(r, form), sum);
}

// ---- the tile
// --------------------------------------------------------------------------------------------

// The tile's runs of elements, dealt to the threads of the role.
static void walk_tile(nv_emit *e, const reduction *r, net_form form)
{
    int run = run_of(r, form), across = r->cols / run;
    nv_view v = nv_view_open(e, r->dst, NULL);
    nv_loop loop = nv_loop_begin(e, e->role_thread, nv_i32(e, (int64_t)r->rows * across));
    LLVMValueRef row = LLVMBuildUDiv(e->b, loop.i, nv_i32(e, across), "");
    LLVMValueRef col = nv_muli(e, LLVMBuildURem(e->b, loop.i, nv_i32(e, across), ""), run);
    LLVMValueRef in = nv_and(e, nv_cmp(e, LLVMIntSLT, row, v.rows), nv_cmp(e, LLVMIntSLT, col, v.cols));
    LLVMBasicBlockRef after = nv_begin_if(e, in);
    reduce_run(e, r, form, row, col);
    nv_end_if(e, after);
    nv_loop_end(e, &loop, nv_i32(e, (int64_t)32 * e->role->warps));
}

// A vector of the tile: where it lies, and whether it exists.
typedef struct place {
    LLVMValueRef row, col, in;
} place;

static place vector_at(nv_emit *e, const reduction *r, const nv_view *v, LLVMValueRef i)
{
    int across = r->cols / r->vec;
    place at = {LLVMBuildUDiv(e->b, i, nv_i32(e, across), ""), NULL, NULL};
    at.col = nv_muli(e, LLVMBuildURem(e->b, i, nv_i32(e, across), ""), r->vec);
    at.in = nv_and(e, nv_cmp(e, LLVMIntSLT, at.row, v->rows), nv_cmp(e, LLVMIntSLT, at.col, v->cols));
    at.in = nv_and(e, at.in, nv_cmp(e, LLVMIntSLT, i, nv_i32(e, (int64_t)r->rows * across)));
    return at;
}

// The same through multicast addresses, several vectors of a thread in flight at once: a few workers must
// keep the links busy.
static void walk_multicast(nv_emit *e, const reduction *r)
{
    enum { IN_FLIGHT = 4 };
    bool all = r->dst->attr.peer == IR_PEER_ALL;
    int threads = 32 * e->role->warps, vectors = r->rows * (r->cols / r->vec);
    int each = (vectors + threads - 1) / threads, flight = each < IN_FLIGHT ? each : IN_FLIGHT;
    nv_view from = nv_view_open_at(e, r->src, nv_multicast(e, r->src->attr.param));
    nv_view to =
        all ? nv_view_open_at(e, r->dst, nv_multicast(e, r->dst->attr.param)) : nv_view_open(e, r->dst, NULL);
    LLVMValueRef words[IN_FLIGHT][NV_MULTI_WORDS];
    place at[IN_FLIGHT];
    nv_loop loop = nv_loop_begin(e, e->role_thread, nv_i32(e, vectors));
    for (int i = 0; i < flight; i++) {
        at[i] = vector_at(e, r, &to, nv_addi(e, loop.i, (int64_t)i * threads));
        nv_multi_load(e, address(e, &from, at[i].row, at[i].col), r->elem, r->how, at[i].in, words[i]);
    }
    for (int i = 0; i < flight; i++) {
        LLVMValueRef ptr = address(e, &to, at[i].row, at[i].col);
        if (all)
            nv_multi_store(e, ptr, NV_MULTI_WORDS, at[i].in, words[i]);
        else
            nv_store_vec(e, ptr, PKC_E_U32, NV_MULTI_WORDS, at[i].in, words[i]);
    }
    nv_loop_end(e, &loop, nv_i32(e, (int64_t)flight * threads));
}

// i1: both views consist of whole aligned vectors. Copies of all ranks are aligned alike.
static LLVMValueRef vectors_fit(nv_emit *e, const reduction *r)
{
    const ir_op *view[2] = {r->src, r->dst};
    LLVMValueRef low = nv_i64(e, 0), whole = NULL;
    for (int i = 0; i < 2; i++) {
        nv_view v = nv_view_open(e, view[i], NULL);
        low = nv_or(e, low, nv_or(e, LLVMBuildPtrToInt(e->b, v.base, e->c->i64, ""), v.row_stride));
        LLVMValueRef fits = nv_or(e, nv_is(e, nv_andi(e, v.cols, r->vec - 1), 0),
                                  nv_cmp(e, LLVMIntSGE, v.cols, nv_i32(e, r->cols)));
        whole = nv_both(e, whole, fits);
    }
    return nv_and(e, whole, nv_is(e, nv_andi(e, low, VEC_BYTES - 1), 0));
}

// i1: the launch has the multicast addresses that the form needs. NULL: no launch of this kernel has.
static LLVMValueRef has_multicast(nv_emit *e, const reduction *r)
{
    LLVMValueRef from = nv_multicast(e, r->src->attr.param), to = NULL;
    if (!from || !nv_multi_reduces(r->elem, r->how))
        return NULL;
    if (r->dst->attr.peer == IR_PEER_ALL && r->dst->attr.param != r->src->attr.param)
        to = nv_multicast(e, r->dst->attr.param);
    return nv_both(e, nv_is_address(e, from), to ? nv_is_address(e, to) : NULL);
}

static bool can_reduce(nv_emit *e, const reduction *r)
{
    bool known = pkc_elem_bits(r->elem) == 32 || is_half(r->elem) || r->elem == PKC_E_I8;
    if (known && r->how != IR_RED_SET)
        return true;
    llvmc_unsupported(e->c, "a reduction over ranks of such elements");
    return false;
}

// A batch takes five registers a rank and four words for its values; roles beside matrix products have 72.
static int batch_of(const nv_emit *e)
{
    enum { FEW_REGISTERS = 96 };
    return e->role->regs > 0 && e->role->regs < FEW_REGISTERS ? MAX_BATCH / 2 : MAX_BATCH;
}

static void reduce_vectors(nv_emit *e, const reduction *r, LLVMBasicBlockRef after)
{
    LLVMValueRef has = has_multicast(e, r);
    if (has) {
        LLVMBasicBlockRef multi = nv_block(e, "multicast"), loop = nv_block(e, "loop");
        nv_branch(e, has, multi, loop);
        nv_enter(e, multi);
        walk_multicast(e, r);
        nv_goto(e, after);
        nv_enter(e, loop);
    }
    walk_tile(e, r, FORM_VECTORS);
    nv_goto(e, after);
}

void nv_emit_net(nv_emit *e, const ir_op *op)
{
    bool all = op->kind == IR_NET_ALL;
    const ir_value *dst = ir_in(op, 0), *src = ir_in(op, all ? 0 : 1);
    const ir_type *t = src->type;
    reduction r = {src->def, dst->def, op->sub, t->elem, t->rows, t->cols, 0, batch_of(e)};
    if (!can_reduce(e, &r))
        return;
    r.vec = VEC_BYTES * 8 / (int)pkc_elem_bits(r.elem);
    bool side_by_side = r.src->attr.col_axis == r.src->attr.param->n_dims - 1 &&
                        r.dst->attr.col_axis == r.dst->attr.param->n_dims - 1 && r.cols % r.vec == 0;
    if (!side_by_side) {
        walk_tile(e, &r, FORM_ELEMENTS);
        return;
    }
    LLVMBasicBlockRef vec = nv_block(e, "vectors"), one = nv_block(e, "elements"),
                      after = nv_block(e, "reduced");
    nv_branch(e, vectors_fit(e, &r), vec, one);
    nv_enter(e, vec);
    reduce_vectors(e, &r, after);
    nv_enter(e, one);
    walk_tile(e, &r, FORM_ELEMENTS);
    nv_goto(e, after);
    nv_enter(e, after);
}
