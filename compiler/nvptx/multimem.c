// SPDX-License-Identifier: Apache-2.0
#include "nvptx/multimem.h"

// ---- which forms there are (tests/ptx/multimem.test has ptxas look at them)
// ---------------------------------------------------------------------------------

static bool is_half(pkc_elem elem)
{
    return elem == PKC_E_BF16 || elem == PKC_E_F16;
}

bool nv_multi_reduces(pkc_elem elem, ir_red how)
{
    if (how == IR_RED_SET)
        return false;
    return is_half(elem) || elem == PKC_E_I32 || elem == PKC_E_U32 ||
           (elem == PKC_E_F32 && how == IR_RED_ADD);
}

// The end of the opcode. Only floats come in vectors.
static const char *reduced_type(pkc_elem elem, ir_red how)
{
    bool add = how == IR_RED_ADD;
    switch (elem) {
    case PKC_E_BF16:
        return add ? ".acc::f32.v4.bf16x2" : ".v4.bf16x2";
    case PKC_E_F16:
        return add ? ".acc::f32.v4.f16x2" : ".v4.f16x2";
    case PKC_E_F32:
        return ".v4.f32";
    case PKC_E_I32:
        return ".s32";
    case PKC_E_U32:
        return ".u32";
    case PKC_E_BOOL:
    case PKC_E_U8:
    case PKC_E_I8:
    case PKC_E_E4M3:
    case PKC_E_E5M2:
    case PKC_E_I64:
    case PKC_E_U64:
    case PKC_E_F64:
    case PKC_E_COUNT:
        break;
    }
    return "";
}

static const char *operation(ir_red how)
{
    return how == IR_RED_MIN ? "min" : how == IR_RED_MAX ? "max" : "add";
}

// ---- instructions
// ----------------------------------------------------------------------------------------

static LLVMValueRef word_at(nv_emit *e, LLVMValueRef address, int i)
{
    LLVMValueRef offset = nv_i32(e, (int64_t)4 * i);
    return i ? LLVMBuildGEP2(e->b, e->c->i8, address, &offset, 1, "") : address;
}

void nv_multi_load(nv_emit *e, LLVMValueRef address, pkc_elem elem, ir_red how, LLVMValueRef pred,
                   LLVMValueRef words[NV_MULTI_WORDS])
{
    bool vector = pkc_elem_class(elem) == 'f';
    int n = vector ? NV_MULTI_WORDS : 1, args = pred ? 2 : 1;
    const char *guard = pred ? pkc_arena_printf(e->arena, "@$%d ", n + 1) : "";
    const char *text =
        pkc_arena_printf(e->arena, "%smultimem.ld_reduce.relaxed.sys.global.%s%s %s;", guard, operation(how),
                         reduced_type(elem, how), vector ? "{$0, $1, $2, $3}, [$4]" : "$0, [$1]");
    const char *cons =
        pkc_arena_printf(e->arena, "%s,l%s,~{memory}", vector ? "=r,=r,=r,=r" : "=r", pred ? ",b" : "");
    LLVMTypeRef types[NV_MULTI_WORDS] = {e->c->i32, e->c->i32, e->c->i32, e->c->i32};
    LLVMTypeRef result =
        vector ? LLVMStructTypeInContext(e->c->ctx, types, NV_MULTI_WORDS, false) : e->c->i32;
    for (int i = 0; i < NV_MULTI_WORDS; i += n) {
        LLVMValueRef in[] = {word_at(e, address, i), pred};
        LLVMValueRef r = llvmc_asm(e->c, result, text, cons, args, in);
        for (int j = 0; j < n; j++)
            words[i + j] = vector ? LLVMBuildExtractValue(e->b, r, (unsigned)j, "") : r;
    }
}

// Bits are moved, whatever they mean: the f32 forms are the ones that come in all three widths.
void nv_multi_store(nv_emit *e, LLVMValueRef address, int n, LLVMValueRef pred, LLVMValueRef *words)
{
    static const char *const forms[] = {
        [1] = ".f32 [$0], $1;", [2] = ".v2.f32 [$0], {$1, $2};", [4] = ".v4.f32 [$0], {$1, $2, $3, $4};"};
    static const char *const constraints[] = {[1] = "l,r", [2] = "l,r,r", [4] = "l,r,r,r,r"};
    LLVMValueRef args[NV_MULTI_WORDS + 2] = {address};
    for (int i = 0; i < n; i++)
        args[1 + i] = words[i];
    args[1 + n] = pred;
    const char *guard = pred ? pkc_arena_printf(e->arena, "@$%d ", n + 1) : "";
    const char *text = pkc_arena_printf(e->arena, "%smultimem.st.relaxed.sys.global%s", guard, forms[n]);
    const char *cons = pkc_arena_printf(e->arena, "%s%s,~{memory}", constraints[n], pred ? ",b" : "");
    llvmc_asm(e->c, e->c->void_t, text, cons, n + (pred ? 2 : 1), args);
}

void nv_multi_add(nv_emit *e, LLVMValueRef address, LLVMValueRef n)
{
    llvmc_asm(e->c, e->c->void_t, "multimem.red.relaxed.sys.global.add.u32 [$0], $1;", "l,r,~{memory}", 2,
              (LLVMValueRef[]){address, n});
    nv_call0(e, NV_FENCE_ALIAS);
}
