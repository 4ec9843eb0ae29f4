// SPDX-License-Identifier: Apache-2.0
// Reads the parameter block. It lies in constant parameter space and nothing writes it, so its loads are
// invariant and LLVM may move and share them at will.
#include "nvptx/abi.h"
#include "nvptx/emit.h"

static LLVMValueRef load_at(nv_emit *e, LLVMValueRef ptr, LLVMTypeRef type, unsigned align)
{
    LLVMValueRef load = LLVMBuildLoad2(e->b, type, ptr, "");
    LLVMSetAlignment(load, align);
    llvmc_invariant(e->c, load);
    return load;
}

static LLVMValueRef at_const(nv_emit *e, int64_t offset)
{
    LLVMValueRef o = nv_i64(e, offset);
    return LLVMBuildGEP2(e->b, e->c->i8, e->block, &o, 1, "");
}

static LLVMValueRef fixed(nv_emit *e, int64_t offset, LLVMTypeRef type, unsigned align)
{
    return load_at(e, at_const(e, offset), type, align);
}

// Address of a field, or of entry `index` (i32) of one that comes once a rank, `size` bytes each.
static LLVMValueRef field_ptr(nv_emit *e, const nv_field *f, LLVMValueRef index, int size)
{
    LLVMValueRef ptr = at_const(e, f->at);
    if (!index)
        return ptr;
    LLVMValueRef far = nv_muli(e, index, size);
    if (f->at_ranks)
        far = nv_add(e, far, nv_muli(e, nv_ranks(e), f->at_ranks));
    far = LLVMBuildZExt(e->b, far, e->c->i64, "");
    return LLVMBuildGEP2(e->b, e->c->i8, ptr, &far, 1, "");
}

static LLVMValueRef missing(nv_emit *e, LLVMTypeRef type)
{
    llvmc_unsupported(e->c, "a value that the parameter block does not hold");
    return LLVMGetPoison(type);
}

LLVMValueRef nv_rank(nv_emit *e)
{
    return fixed(e, NV_AT_RANK, e->c->i32, 4);
}
LLVMValueRef nv_ranks(nv_emit *e)
{
    return fixed(e, NV_AT_RANKS, e->c->i32, 4);
}
LLVMValueRef nv_sms(nv_emit *e)
{
    return fixed(e, NV_AT_SMS, e->c->i32, 4);
}

LLVMValueRef nv_next_rank(nv_emit *e, LLVMValueRef i)
{
    LLVMValueRef r = nv_add(e, nv_add(e, nv_rank(e), i), nv_i32(e, 1)), ranks = nv_ranks(e);
    return nv_select(e, nv_cmp(e, LLVMIntSGE, r, ranks), nv_sub(e, r, ranks), r);
}

LLVMValueRef nv_dim(nv_emit *e, pkc_str name)
{
    const nv_field *f = nv_field_dim(e->lay, name);
    return f ? load_at(e, field_ptr(e, f, NULL, 0), e->c->i32, 4) : missing(e, e->c->i32);
}

LLVMValueRef nv_scalar(nv_emit *e, const ir_param *param)
{
    const nv_field *f = nv_field_param(e->lay, NV_WHAT_SCALAR, param, 0);
    LLVMTypeRef type = llvmc_elem(e->c, param->elem);
    if (!f)
        return missing(e, type);
    if (pkc_elem_bits(param->elem) >= 32)
        return load_at(e, field_ptr(e, f, NULL, 0), type, pkc_elem_bits(param->elem) / 8);
    LLVMValueRef word = load_at(e, field_ptr(e, f, NULL, 0), e->c->i32, 4);
    if (type == e->c->i1)
        return nv_cmp(e, LLVMIntNE, word, nv_i32(e, 0));
    return LLVMBuildTrunc(e->b, word, type, "");
}

LLVMValueRef nv_group_first(nv_emit *e, const ir_group *group)
{
    const nv_field *f = nv_field_group(e->lay, group);
    return f ? load_at(e, field_ptr(e, f, NULL, 0), e->c->i32, 4) : nv_i32(e, 0);
}

LLVMValueRef nv_group_count(nv_emit *e, const ir_group *group)
{
    return nv_hexpr(e, group->count);
}

LLVMValueRef nv_stride(nv_emit *e, const ir_param *param, int axis)
{
    if (axis == param->n_dims - 1)
        return nv_i64(e, pkc_elem_bits(param->elem) / 8);
    const nv_field *f = nv_field_param(e->lay, NV_WHAT_STRIDE, param, axis);
    return f ? load_at(e, field_ptr(e, f, NULL, 0), e->c->i64, 8) : missing(e, e->c->i64);
}

LLVMValueRef nv_axis(nv_emit *e, const ir_param *param, int axis)
{
    return nv_hexpr(e, param->dims[axis]);
}

// A pointer that the block holds is one to global memory.
static LLVMValueRef pointer(nv_emit *e, LLVMValueRef at)
{
    return load_at(e, at, e->c->gptr, 8);
}

LLVMValueRef nv_base(nv_emit *e, const ir_param *param, LLVMValueRef rank)
{
    const nv_field *f = nv_field_param(e->lay, rank ? NV_WHAT_PEERS : NV_WHAT_POINTER, param, 0);
    return f ? pointer(e, field_ptr(e, f, rank, 8)) : missing(e, e->c->gptr);
}

LLVMValueRef nv_multicast(nv_emit *e, const ir_param *param)
{
    const nv_field *f = nv_field_param(e->lay, param ? NV_WHAT_MULTI : NV_WHAT_MULTI_STATE, param, 0);
    return f ? pointer(e, field_ptr(e, f, NULL, 0)) : NULL;
}

LLVMValueRef nv_is_address(nv_emit *e, LLVMValueRef pointer)
{
    return LLVMBuildIsNotNull(e->b, pointer, "");
}

LLVMValueRef nv_any_multicast(nv_emit *e)
{
    LLVMValueRef any = NULL;
    for (int i = 0; i < e->lay->n_fields; i++) {
        const nv_field *f = &e->lay->fields[i];
        if (f->what != NV_WHAT_MULTI && f->what != NV_WHAT_MULTI_STATE)
            continue;
        LLVMValueRef this = nv_is_address(e, nv_multicast(e, f->param));
        any = any ? nv_or(e, any, this) : this;
    }
    return any;
}

LLVMValueRef nv_tensor_map(nv_emit *e, const nv_tmap *map, LLVMValueRef rank)
{
    const nv_field *f = nv_field_map(e->lay, map);
    if (!f)
        return missing(e, e->c->ptr);
    return field_ptr(e, f, !map->per_rank ? NULL : rank ? rank : nv_rank(e), NV_ABI_MAP_BYTES);
}

LLVMValueRef nv_state(nv_emit *e, LLVMValueRef rank)
{
    if (!rank)
        return pointer(e, at_const(e, NV_AT_STATE));
    const nv_field *f = nv_field_param(e->lay, NV_WHAT_STATES, NULL, 0);
    return f ? pointer(e, field_ptr(e, f, rank, 8)) : missing(e, e->c->gptr);
}

static LLVMValueRef word_field(nv_emit *e, const nv_field *f)
{
    return f ? load_at(e, field_ptr(e, f, NULL, 0), e->c->i32, 4) : missing(e, e->c->i32);
}

LLVMValueRef nv_signal_base(nv_emit *e, const ir_param *param)
{
    return word_field(e, nv_field_param(e->lay, NV_WHAT_SIGNAL, param, 0));
}

LLVMValueRef nv_bank_words(nv_emit *e)
{
    return word_field(e, nv_field_param(e->lay, NV_WHAT_BANK, NULL, 0));
}

LLVMValueRef nv_aborted(nv_emit *e)
{
    LLVMValueRef word = LLVMBuildLoad2(e->b, e->c->i32, pointer(e, at_const(e, NV_AT_ABORT)), "");
    LLVMSetAlignment(word, 4);
    LLVMSetVolatile(word, true);
    return nv_cmp(e, LLVMIntNE, word, nv_i32(e, 0));
}

// ---- host expressions on the device
// ------------------------------------------------------------------------

static LLVMValueRef hexpr_bin(nv_emit *e, const ir_hx *x)
{
    LLVMValueRef a = nv_hexpr(e, x->a), b = nv_hexpr(e, x->b);
    switch ((int)x->op) {
    case IR_HX_ADD:
        return nv_add(e, a, b);
    case IR_HX_SUB:
        return nv_sub(e, a, b);
    case IR_HX_MUL:
        return nv_mul(e, a, b);
    case IR_HX_DIV:
        return LLVMBuildSDiv(e->b, a, b, "");
    case IR_HX_CDIV:
        return LLVMBuildSDiv(e->b, nv_add(e, a, nv_addi(e, b, -1)), b, "");
    case IR_HX_MOD:
        return LLVMBuildSRem(e->b, a, b, "");
    case IR_HX_MIN:
        return nv_min(e, a, b);
    case IR_HX_MAX:
        return nv_select(e, nv_cmp(e, LLVMIntSGT, a, b), a, b);
    default:
        return missing(e, e->c->i32);
    }
}

static LLVMValueRef scalar_named(nv_emit *e, pkc_str name)
{
    for (int i = 0; i < e->k->n_params; i++)
        if (e->k->params[i].name == name)
            return nv_scalar(e, &e->k->params[i]);
    return missing(e, e->c->i32);
}

LLVMValueRef nv_hexpr(nv_emit *e, const ir_hx *x)
{
    switch ((int)x->op) {
    case IR_HX_CONST:
        return nv_i32(e, x->value);
    case IR_HX_DIM:
        return nv_dim(e, x->name);
    case IR_HX_SCALAR:
        return scalar_named(e, x->name);
    case IR_HX_RANK:
        return nv_rank(e);
    case IR_HX_RANKS:
        return nv_ranks(e);
    case IR_HX_SMS:
        return nv_sms(e);
    default:
        return x->a && x->b ? hexpr_bin(e, x) : missing(e, e->c->i32);
    }
}
