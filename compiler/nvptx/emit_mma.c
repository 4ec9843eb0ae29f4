// SPDX-License-Identifier: Apache-2.0
// Matrix products by wgmma. One batch (all k steps of a pair of tiles) is one block of assembly between fence
// and commit: its 128 accumulators then pass the register allocator once, which halves LLVM's time.
//
// A descriptor holds (address & 0x3ffff) >> 4, LBO and SBO in units of 16 bytes and the swizzle mode (PTX
// ISA, "Matrix descriptor format"). The mask matters in a cluster, where higher bits name the CTA.
//   K-major  (A [M,K], B [N,K]): SBO = 8 rows = 8 * span, LBO unused (1); a k step is 32 bytes further in the
//   panel. MN-major (A [K,M], B [K,N]): SBO = 8 k rows = 8 * span, LBO = from panel to panel; a k step is 16
//   rows further.
#include "nvptx/emit.h"
#include "nvptx/geometry.h"
#include "nvptx/memory.h"

enum { BLOCK_ROWS = 64, MAX_N = 256, K_STEP_BYTES = 32 };

typedef struct operand {
    const ir_type *type; // shared tile, or register tile (A only)
    bool k_major;
    int size, span, k; // element size, panel width in bytes, elements along k
    int panel;         // bytes of a panel
    LLVMValueRef desc; // descriptor of the tile's start
    nv_val regs;
} operand;

static int k_of(const ir_type *t, bool k_major)
{
    return k_major ? t->cols : t->rows;
}

static LLVMValueRef descriptor(nv_emit *e, const operand *o, LLVMValueRef offset)
{
    LLVMValueRef base = LLVMBuildPtrToInt(e->b, e->smem, e->c->i32, "");
    LLVMValueRef at = nv_shri(e, nv_andi(e, nv_add(e, base, offset), 0x3ffff), 4);
    uint64_t mode = o->span == 128 ? 1 : o->span == 64 ? 2 : 3;
    uint64_t lbo = o->k_major ? 1 : (uint64_t)o->panel / 16, sbo = (uint64_t)o->span * 8 / 16;
    uint64_t rest = mode << 62 | sbo << 32 | lbo << 16;
    return nv_or(e, LLVMBuildZExt(e->b, at, e->c->i64, ""), nv_i64(e, (int64_t)rest));
}

static operand make_operand(nv_emit *e, const ir_value *v, bool is_b)
{
    const ir_type *t = v->type;
    operand o = {.type = t, .size = (int)pkc_elem_bits(t->elem) / 8};
    o.k_major = is_b ? t->transposed : !t->transposed;
    o.k = k_of(t, o.k_major);
    if (t->kind == IR_T_REG) {
        o.regs = nv_get(e, v);
        return o;
    }
    o.span = nv_span(t);
    o.panel = t->rows * o.span;
    if (t->layout == IR_LAY_LIN || t->layout == IR_LAY_UNKNOWN)
        llvmc_unsupported(e->c, "a matrix operand without a swizzled layout");
    o.desc = descriptor(e, &o, nv_get(e, v).v[0]);
    return o;
}

// Distance in bytes of k step `step` from the start.
static int k_offset(const operand *o, int step)
{
    if (!o->k_major)
        return step * (K_STEP_BYTES / o->size) * o->span;
    int in_panel = o->span / K_STEP_BYTES;
    return step / in_panel * o->panel + step % in_panel * K_STEP_BYTES;
}

// Distance in bytes of row (K-major) or column (MN-major) mn from the start.
static int mn_offset(const operand *o, int mn)
{
    return o->k_major ? mn * o->span : mn * o->size / o->span * o->panel;
}

static LLVMValueRef desc_at(nv_emit *e, const operand *o, int bytes)
{
    return nv_addi(e, o->desc, bytes / 16);
}

// Moves A's descriptor to the rows of this warpgroup.
static void to_warpgroup(nv_emit *e, operand *a, int rows)
{
    LLVMValueRef group = nv_shri(e, e->role_warp, 2);
    LLVMValueRef far = nv_muli(e, group, mn_offset(a, rows) / 16);
    a->desc = nv_add(e, a->desc, LLVMBuildZExt(e->b, far, e->c->i64, ""));
}

// ---- the text of a batch
// -----------------------------------------------------------------------------------

typedef struct batch {
    nv_emit *e;
    pkc_buf text, cons;
    LLVMValueRef *args;
    int n_args, n_acc; // operands so far; accumulator registers
    bool integer;
} batch;

static int add_arg(batch *b, const char *constraint, LLVMValueRef v)
{
    pkc_buf_printf(&b->cons, ",%s", constraint);
    b->args[b->n_args++] = v;
    return b->n_acc + b->n_args - 1;
}

static const char *mma_elem(pkc_elem elem)
{
    switch (elem) {
    case PKC_E_BF16:
        return "bf16";
    case PKC_E_F16:
        return "f16";
    case PKC_E_E4M3:
        return "e4m3";
    case PKC_E_E5M2:
        return "e5m2";
    case PKC_E_I8:
        return "s8";
    case PKC_E_BOOL:
    case PKC_E_U8:
    case PKC_E_I32:
    case PKC_E_U32:
    case PKC_E_F32:
    case PKC_E_I64:
    case PKC_E_U64:
    case PKC_E_F64:
    case PKC_E_COUNT:
        break;
    }
    return NULL;
}

// The A operand of one k step: a descriptor, or four registers of the thread's rows.
static void a_operand(batch *b, const operand *a, int block, int step)
{
    if (a->type->kind != IR_T_REG) {
        LLVMValueRef d = desc_at(b->e, a, mn_offset(a, block * BLOCK_ROWS) + k_offset(a, step));
        pkc_buf_printf(&b->text, "$%d", add_arg(b, "l", d));
        return;
    }
    int steps = a->k * a->size / K_STEP_BYTES;
    for (int i = 0; i < 4; i++) {
        LLVMValueRef r = a->regs.v[(block * steps + step) * 4 + i];
        r = LLVMBuildBitCast(b->e->b, r, b->e->c->i32, "");
        pkc_buf_printf(&b->text, "%s$%d", i ? ", " : "{", add_arg(b, "r", r));
    }
    pkc_buf_putc(&b->text, '}');
}

typedef struct piece {
    int block, first_col, cols, first_reg;
} piece;

static void one_product(batch *b, const operand *a, const operand *o, piece p, int step, int scale_d)
{
    const char *acc = b->integer ? "s32" : "f32";
    pkc_buf_printf(&b->text, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s {", p.cols,
                   K_STEP_BYTES / a->size, acc, mma_elem(a->type->elem), mma_elem(o->type->elem));
    for (int i = 0; i < p.cols / 2; i++)
        pkc_buf_printf(&b->text, "%s$%d", i ? ", " : "", p.first_reg + i);
    pkc_buf_puts(&b->text, "}, ");
    a_operand(b, a, p.block, step);
    LLVMValueRef d = desc_at(b->e, o, mn_offset(o, p.first_col) + k_offset(o, step));
    pkc_buf_printf(&b->text, ", $%d, $%d", add_arg(b, "l", d), scale_d);
    if (!b->integer)
        pkc_buf_puts(&b->text, ", 1, 1");
    if (a->size == 2 && a->type->kind != IR_T_REG)
        pkc_buf_printf(&b->text, ", %d", !a->k_major);
    if (a->size == 2)
        pkc_buf_printf(&b->text, ", %d", !o->k_major);
    pkc_buf_puts(&b->text, ";\n\t");
}

static void all_products(batch *b, const operand *a, const operand *o, const nv_geo *g, LLVMValueRef zero)
{
    int keep = add_arg(b, "b", LLVMBuildNot(b->e->b, zero, "")),
        yes = add_arg(b, "b", llvmc_bool(b->e->c, true));
    int steps = a->k * a->size / K_STEP_BYTES;
    for (int step = 0; step < steps; step++)
        for (int block = 0; block < g->row_parts / 2; block++)
            for (int col = 0; col < g->cols; col += MAX_N) {
                int cols = g->cols - col < MAX_N ? g->cols - col : MAX_N;
                piece p = {block, col, cols, block * g->cols / 2 + col / 2};
                one_product(b, a, o, p, step, step ? yes : keep);
            }
}

// Outputs first, tied inputs after them: "=f" times n, then their numbers.
static void accumulators(batch *b, nv_val acc)
{
    for (int i = 0; i < acc.n; i++)
        pkc_buf_printf(&b->cons, "%s%s", i ? "," : "", b->integer ? "=r" : "=f");
    b->n_acc = acc.n;
    for (int i = 0; i < acc.n; i++)
        pkc_buf_printf(&b->cons, ",%d", i);
    for (int i = 0; i < acc.n; i++)
        b->args[b->n_args++] = acc.v[i];
}

// Runs the assembly and takes its results apart.
static nv_val run(batch *b)
{
    nv_emit *e = b->e;
    pkc_buf_puts(&b->cons, ",~{memory}");
    LLVMTypeRef type = b->integer ? e->c->i32 : e->c->f32;
    LLVMTypeRef *types = PKC_NEW_ARRAY(e->arena, LLVMTypeRef, b->n_acc);
    for (int i = 0; i < b->n_acc; i++)
        types[i] = type;
    LLVMTypeRef result =
        b->n_acc == 1 ? type : LLVMStructTypeInContext(e->c->ctx, types, (unsigned)b->n_acc, false);
    LLVMValueRef r =
        llvmc_asm(e->c, result, pkc_buf_cstr(&b->text), pkc_buf_cstr(&b->cons), b->n_args, b->args);
    nv_val out = nv_new(e, b->n_acc);
    for (int i = 0; i < b->n_acc; i++)
        out.v[i] = b->n_acc == 1 ? r : LLVMBuildExtractValue(e->b, r, (unsigned)i, "");
    pkc_buf_free(&b->text);
    pkc_buf_free(&b->cons);
    return out;
}

static bool acceptable(nv_emit *e, const ir_op *op, const nv_geo *g)
{
    const ir_type *a = ir_in(op, 1)->type, *b = ir_in(op, 2)->type;
    const char *why = NULL;
    if (!e->c->target->wgmma)
        why = "matrix products";
    else if (op->n_in > 4)
        why = "block-scaled products";
    else if (!mma_elem(a->elem) || !mma_elem(b->elem))
        why = "matrix products of these element types";
    else if (g->base != IR_DIST_QUAD || g->cols % 8 || nv_geo_elems(g) > 255)
        why = "a matrix accumulator of this shape";
    else if (a->kind == IR_T_REG && (a->dist.base != IR_DIST_QUAD || pkc_elem_bits(a->elem) != 16))
        why = "this register value as a matrix operand";
    else if (pkc_elem_bits(a->elem) == 8 && (a->transposed || !b->transposed))
        why = "products of 8-bit elements other than A [M,K] with B [N,K].T";
    if (why)
        llvmc_unsupported(e->c, why);
    return !why;
}

void nv_emit_mma_issue(nv_emit *e, const ir_op *op)
{
    const ir_type *type = op->out[0].type;
    nv_geo g = nv_geometry(type);
    if (!acceptable(e, op, &g))
        return;
    operand a = make_operand(e, ir_in(op, 1), false), o = make_operand(e, ir_in(op, 2), true);
    if (a.type->kind != IR_T_REG && g.w > 1)
        to_warpgroup(e, &a, g.rows / g.w);
    batch *b = PKC_NEW(e->arena, batch);
    b->e = e;
    b->integer = type->elem == PKC_E_I32;
    int products = a.k * a.size / K_STEP_BYTES * (g.row_parts / 2) * ((g.cols + MAX_N - 1) / MAX_N);
    b->args = PKC_NEW_ARRAY(e->arena, LLVMValueRef, nv_geo_elems(&g) + 2 + products * 5);
    accumulators(b, nv_operand(e, ir_in(op, 0), type));
    pkc_buf_puts(&b->text, "wgmma.fence.sync.aligned;\n\t");
    all_products(b, &a, &o, &g, nv_in(e, op, 3));
    pkc_buf_puts(&b->text, "wgmma.commit_group.sync.aligned;");
    nv_set(e, &op->out[0], run(b));
}

// What came out of another wait is done already.
static bool is_done(const ir_value *v)
{
    return v->def && v->def->kind == IR_MMA_WAIT;
}

// Whether an earlier wait of the same region, with no product issued since, left at most as many in flight:
// ptxas takes a second wait for the end of another stage and serialises the products (C7515).
static bool is_repeated(const ir_op *op)
{
    const ir_op *p = op->prev;
    while (p && !p->n_reg && p->kind != IR_MMA_ISSUE && p->kind != IR_MMA_WAIT)
        p = p->prev;
    return p && p->kind == IR_MMA_WAIT && p->attr.i <= op->attr.i;
}

// Nothing but the wait ties arithmetic on an accumulator to the product's end, so those that are done go
// through it; the others do not, since a tie invites moves of registers that are still being written.
void nv_emit_mma_wait(nv_emit *e, const ir_op *op)
{
    int n = 0, at = 0;
    for (int i = 0; i < op->n_in; i++)
        n += is_done(ir_in(op, i)) ? 0 : nv_get(e, ir_in(op, i)).n;
    nv_val all = nv_new(e, n), done = all;
    for (int i = 0; i < op->n_in; i++) {
        nv_val v = nv_get(e, ir_in(op, i));
        for (int j = 0; j < v.n && !is_done(ir_in(op, i)); j++)
            all.v[at++] = v.v[j];
    }
    if (n > 255) {
        llvmc_unsupported(e->c, "so many accumulators");
    } else if (!n && !is_repeated(op)) {
        nv_call(e, NV_WGMMA_WAIT, nv_i64(e, op->attr.i));
    } else if (n) {
        batch *b = PKC_NEW(e->arena, batch);
        b->e = e;
        b->integer = op->out[0].type->elem == PKC_E_I32;
        b->args = PKC_NEW_ARRAY(e->arena, LLVMValueRef, n);
        accumulators(b, all);
        pkc_buf_printf(&b->text, "wgmma.wait_group.sync.aligned %d;", (int)op->attr.i);
        done = run(b);
    }
    at = 0;
    for (int i = 0; i < op->n_out; i++) {
        nv_val v = nv_get(e, ir_in(op, i)), r = nv_new(e, v.n);
        for (int j = 0; j < v.n; j++)
            r.v[j] = is_done(ir_in(op, i)) ? v.v[j] : done.v[at++];
        nv_set(e, &op->out[i], r);
    }
}
