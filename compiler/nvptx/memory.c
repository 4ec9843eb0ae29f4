// SPDX-License-Identifier: Apache-2.0
#include "nvptx/memory.h"

#include "nvptx/multimem.h"

// ---- views
// -------------------------------------------------------------------------------------------------

static int first_coord(const ir_op *view)
{
    return view->attr.peer == IR_PEER_RANK ? 1 : 0;
}

LLVMValueRef nv_view_coord(nv_emit *e, const ir_op *view, int axis)
{
    return nv_in(e, view, first_coord(view) + axis);
}

LLVMValueRef nv_view_rank(nv_emit *e, const ir_op *view)
{
    return view->attr.peer == IR_PEER_RANK ? nv_in(e, view, 0) : NULL;
}

// Rows (or columns) of the view that exist: up to the tensor's edge, and to the view's own end where it has
// one.
static LLVMValueRef limit(nv_emit *e, const ir_op *view, int axis, int hi)
{
    if (axis < 0)
        return nv_i32(e, 1);
    LLVMValueRef end = nv_axis(e, view->attr.param, axis);
    if (hi >= 0)
        end = nv_min(e, end, nv_in(e, view, hi));
    return nv_sub(e, end, nv_view_coord(e, view, axis));
}

nv_view nv_view_open_at(nv_emit *e, const ir_op *view, LLVMValueRef base)
{
    const ir_param *p = view->attr.param;
    const ir_attr *a = &view->attr;
    nv_view v = {0};
    LLVMValueRef offset = nv_i64(e, 0);
    for (int axis = 0; axis < p->n_dims; axis++) {
        LLVMValueRef at = nv_wide(e, nv_view_coord(e, view, axis));
        offset = nv_add(e, offset, nv_mul(e, at, nv_stride(e, p, axis)));
    }
    v.base = LLVMBuildGEP2(e->b, e->c->i8, base, &offset, 1, "");
    v.row_stride = a->row_axis >= 0 ? nv_stride(e, p, a->row_axis) : nv_i64(e, 0);
    v.col_stride = a->col_axis >= 0 ? nv_stride(e, p, a->col_axis) : nv_i64(e, 0);
    v.contiguous = a->col_axis == p->n_dims - 1;
    int hi = first_coord(view) + p->n_dims;
    v.rows = limit(e, view, a->row_axis, a->has_row_hi ? hi : -1);
    v.cols = limit(e, view, a->col_axis, a->has_col_hi ? hi + (a->has_row_hi ? 1 : 0) : -1);
    return v;
}

nv_view nv_view_open(nv_emit *e, const ir_op *view, LLVMValueRef rank)
{
    return nv_view_open_at(e, view, nv_base(e, view->attr.param, rank ? rank : nv_view_rank(e, view)));
}

// ---- shared tiles
// ------------------------------------------------------------------------------------------

int nv_span(const ir_type *tile)
{
    switch (tile->layout) {
    case IR_LAY_SW128:
        return 128;
    case IR_LAY_SW64:
        return 64;
    case IR_LAY_SW32:
        return 32;
    case IR_LAY_UNKNOWN:
    case IR_LAY_LIN:
        break;
    }
    return tile->cols * (int)pkc_elem_bits(tile->elem) / 8;
}

// The hardware XORs 16-byte chunk numbers with bits 7 and up of the address: three, two or one of them for
// spans of 128, 64 and 32 bytes (PTX ISA, "Shared memory matrix layout"; CUDA driver API,
// CUtensorMapSwizzle).
static LLVMValueRef swizzle(nv_emit *e, int span, LLVMValueRef offset)
{
    return nv_xor(e, offset, nv_andi(e, nv_shri(e, offset, 3), span - 16));
}

LLVMValueRef nv_tile_at(nv_emit *e, const ir_type *tile, LLVMValueRef base, LLVMValueRef row,
                        LLVMValueRef col)
{
    int size = (int)pkc_elem_bits(tile->elem) / 8, span = nv_span(tile);
    if (tile->layout == IR_LAY_LIN || tile->layout == IR_LAY_UNKNOWN)
        return nv_add(e, base, nv_add(e, nv_muli(e, row, span), nv_muli(e, col, size)));
    int across = span / size, shift = 0;
    while (1 << shift < across)
        shift++;
    LLVMValueRef panel = nv_muli(e, nv_shri(e, col, shift), (int64_t)tile->rows * span);
    LLVMValueRef in = nv_add(e, nv_muli(e, row, span), nv_muli(e, nv_andi(e, col, across - 1), size));
    // Panels start where the pattern starts when their rows come in eights; slots always do.
    if (tile->rows % 8 == 0)
        return nv_add(e, base, nv_add(e, panel, swizzle(e, span, in)));
    return swizzle(e, span, nv_add(e, base, nv_add(e, panel, in)));
}

// ---- a few bytes
// -------------------------------------------------------------------------------------------

LLVMValueRef nv_both(nv_emit *e, LLVMValueRef a, LLVMValueRef b)
{
    if (!a || !b)
        return a ? a : b;
    return nv_and(e, a, b);
}

static bool in_shared(LLVMValueRef ptr)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) == NV_AS_SHARED;
}

static LLVMValueRef at_byte(nv_emit *e, LLVMValueRef ptr, int bytes)
{
    LLVMValueRef index = nv_i32(e, bytes);
    return bytes ? LLVMBuildGEP2(e->b, e->c->i8, ptr, &index, 1, "") : ptr;
}

// The register that a piece of `bytes` travels in, and how many of them.
static LLVMTypeRef word_type(nv_emit *e, int bytes, int *words)
{
    *words = bytes > 4 ? bytes / 4 : 1;
    return bytes >= 4 ? e->c->i32 : bytes == 2 ? e->c->i16 : e->c->i8;
}

static const char *width(int bytes)
{
    return bytes == 16 ? "v4.b32" : bytes == 8 ? "v2.b32" : bytes == 4 ? "b32" : bytes == 2 ? "b16" : "b8";
}

static void operand_list(pkc_buf *s, int first, int n)
{
    if (n == 1) {
        pkc_buf_printf(s, "$%d", first);
        return;
    }
    for (int i = 0; i < n; i++)
        pkc_buf_printf(s, "%s$%d", i ? ", " : "{", first + i);
    pkc_buf_putc(s, '}');
}

// Loads of global memory are assembly, because LLVM has no load that a predicate turns off, and a branch
// around each vector of a ragged tile would cost more than the load.
static LLVMValueRef load_asm(nv_emit *e, LLVMValueRef ptr, int bytes, int words, LLVMTypeRef word,
                             LLVMValueRef pred)
{
    pkc_buf text = {0}, cons = {0};
    const char *reg = bytes >= 4 ? "=&r" : "=&h";
    for (int i = 0; i < words; i++) {
        pkc_buf_printf(&cons, "%s%s", i ? "," : "", reg);
        if (pred)
            pkc_buf_printf(&text, "mov.b%d $%d, 0;\n\t", bytes >= 4 ? 32 : 16, i);
    }
    pkc_buf_puts(&cons, pred ? ",l,b,~{memory}" : ",l,~{memory}");
    if (pred)
        pkc_buf_printf(&text, "@$%d ", words + 1);
    pkc_buf_printf(&text, "ld.%s.%s ", in_shared(ptr) ? "shared" : "global", width(bytes));
    operand_list(&text, 0, words);
    pkc_buf_printf(&text, ", [$%d];", words);
    LLVMTypeRef types[4] = {word, word, word, word};
    LLVMTypeRef result =
        words == 1 ? word : LLVMStructTypeInContext(e->c->ctx, types, (unsigned)words, false);
    LLVMValueRef args[] = {ptr, pred};
    LLVMValueRef r = llvmc_asm(e->c, result, pkc_buf_cstr(&text), pkc_buf_cstr(&cons), pred ? 2 : 1, args);
    pkc_buf_free(&text);
    pkc_buf_free(&cons);
    return r;
}

static void split_word(nv_emit *e, LLVMValueRef word, LLVMTypeRef elem, int n, LLVMValueRef *out)
{
    if (n == 1) {
        if (LLVMGetTypeKind(LLVMTypeOf(word)) == LLVMIntegerTypeKind && elem == e->c->i8)
            word = LLVMBuildTrunc(e->b, word, elem, "");
        out[0] = LLVMBuildBitCast(e->b, word, elem, "");
        return;
    }
    LLVMValueRef v = LLVMBuildBitCast(e->b, word, LLVMVectorType(elem, (unsigned)n), "");
    for (int i = 0; i < n; i++)
        out[i] = LLVMBuildExtractElement(e->b, v, nv_i32(e, i), "");
}

static LLVMValueRef join_word(nv_emit *e, LLVMTypeRef word, LLVMTypeRef elem, int n, LLVMValueRef *in)
{
    if (n == 1)
        return elem == e->c->i8 ? LLVMBuildZExt(e->b, in[0], word, "")
                                : LLVMBuildBitCast(e->b, in[0], word, "");
    LLVMValueRef v = LLVMGetPoison(LLVMVectorType(elem, (unsigned)n));
    for (int i = 0; i < n; i++)
        v = LLVMBuildInsertElement(e->b, v, in[i], nv_i32(e, i), "");
    return LLVMBuildBitCast(e->b, v, word, "");
}

// One piece of at most 16 bytes.
static void load_piece(nv_emit *e, LLVMValueRef ptr, pkc_elem elem, int n, LLVMValueRef pred,
                       LLVMValueRef *out)
{
    int size = (int)pkc_elem_bits(elem) / 8, bytes = n * size, words, per = size >= 4 ? 1 : 4 / size;
    LLVMTypeRef word = word_type(e, bytes, &words), type = llvmc_elem(e->c, elem);
    if (bytes < 4)
        per = n;
    if (bytes == 1)
        word = e->c->i16; // there are no 8-bit registers
    LLVMValueRef r = NULL;
    if (pred || !in_shared(ptr)) {
        r = load_asm(e, ptr, bytes, words, word, pred);
    } else {
        LLVMTypeRef t = bytes == 1 ? e->c->i8 : words == 1 ? word : LLVMVectorType(word, (unsigned)words);
        r = LLVMBuildLoad2(e->b, t, ptr, "");
        LLVMSetAlignment(r, (unsigned)bytes);
    }
    for (int i = 0; i < words; i++) {
        LLVMValueRef w = r;
        if (words > 1)
            w = LLVMGetTypeKind(LLVMTypeOf(r)) == LLVMVectorTypeKind
                    ? LLVMBuildExtractElement(e->b, r, nv_i32(e, i), "")
                    : LLVMBuildExtractValue(e->b, r, (unsigned)i, "");
        if (bytes == 1 && LLVMTypeOf(w) == e->c->i8)
            out[0] = w;
        else
            split_word(e, w, type, per, out + (ptrdiff_t)i * per);
    }
}

static void store_asm(nv_emit *e, LLVMValueRef ptr, int bytes, int words, LLVMValueRef *w, LLVMValueRef pred)
{
    pkc_buf text = {0}, cons = {0};
    LLVMValueRef args[6] = {ptr};
    pkc_buf_puts(&cons, "l");
    for (int i = 0; i < words; i++) {
        pkc_buf_puts(&cons, bytes >= 4 ? ",r" : ",h");
        args[1 + i] = w[i];
    }
    pkc_buf_puts(&cons, pred ? ",b,~{memory}" : ",~{memory}");
    args[1 + words] = pred;
    if (pred)
        pkc_buf_printf(&text, "@$%d ", words + 1);
    pkc_buf_printf(&text, "st.%s.%s [$0], ", in_shared(ptr) ? "shared" : "global", width(bytes));
    operand_list(&text, 1, words);
    pkc_buf_putc(&text, ';');
    llvmc_asm(e->c, e->c->void_t, pkc_buf_cstr(&text), pkc_buf_cstr(&cons), 1 + words + (pred ? 1 : 0), args);
    pkc_buf_free(&text);
    pkc_buf_free(&cons);
}

static void store_piece(nv_emit *e, LLVMValueRef ptr, pkc_elem elem, int n, LLVMValueRef pred,
                        LLVMValueRef *in)
{
    int size = (int)pkc_elem_bits(elem) / 8, bytes = n * size, words, per = size >= 4 ? 1 : 4 / size;
    LLVMTypeRef word = word_type(e, bytes, &words), type = llvmc_elem(e->c, elem);
    if (bytes < 4)
        per = n;
    if (bytes == 1)
        word = e->c->i16;
    LLVMValueRef w[4] = {NULL};
    for (int i = 0; i < words; i++)
        w[i] = join_word(e, word, type, per, in + (ptrdiff_t)i * per);
    if (pred || !in_shared(ptr)) {
        store_asm(e, ptr, bytes, words, w, pred);
        return;
    }
    LLVMValueRef v = bytes == 1 ? in[0] : w[0];
    if (words > 1) {
        v = LLVMGetPoison(LLVMVectorType(word, (unsigned)words));
        for (int i = 0; i < words; i++)
            v = LLVMBuildInsertElement(e->b, v, w[i], nv_i32(e, i), "");
    }
    LLVMSetAlignment(LLVMBuildStore(e->b, v, ptr), (unsigned)bytes);
}

void nv_load_vec(nv_emit *e, LLVMValueRef ptr, pkc_elem elem, int n, LLVMValueRef pred, LLVMValueRef *out)
{
    int size = (int)pkc_elem_bits(elem) / 8, most = 16 / size;
    for (int i = 0; i < n; i += most)
        load_piece(e, at_byte(e, ptr, i * size), elem, n - i < most ? n - i : most, pred, out + i);
}

void nv_store_vec(nv_emit *e, LLVMValueRef ptr, pkc_elem elem, int n, LLVMValueRef pred, LLVMValueRef *in)
{
    int size = (int)pkc_elem_bits(elem) / 8, most = 16 / size;
    for (int i = 0; i < n; i += most)
        store_piece(e, at_byte(e, ptr, i * size), elem, n - i < most ? n - i : most, pred, in + i);
}

void nv_store_vec_all(nv_emit *e, LLVMValueRef ptr, pkc_elem elem, int n, LLVMValueRef pred, LLVMValueRef *in)
{
    int size = (int)pkc_elem_bits(elem) / 8, per = size >= 4 ? 1 : 4 / size;
    for (int at = 0; at < n * size / 4; at += NV_MULTI_WORDS) {
        LLVMValueRef words[NV_MULTI_WORDS];
        int left = n * size / 4 - at, count = left < NV_MULTI_WORDS ? left : NV_MULTI_WORDS;
        for (int i = 0; i < count; i++)
            words[i] = join_word(e, e->c->i32, llvmc_elem(e->c, elem), per, in + (ptrdiff_t)(at + i) * per);
        nv_multi_store(e, at_byte(e, ptr, at * 4), count, pred, words);
    }
}
