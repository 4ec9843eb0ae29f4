// SPDX-License-Identifier: Apache-2.0
#include "sim/exec/numbers.h"

static const struct {
    enum pksim_ptx_type type;
    enum pksim_number number;
} pairs[] = {
    {PKSIM_TYPE_B8, PKSIM_U8},       {PKSIM_TYPE_B16, PKSIM_U16},     {PKSIM_TYPE_B32, PKSIM_U32},
    {PKSIM_TYPE_B64, PKSIM_U64},     {PKSIM_TYPE_U8, PKSIM_U8},       {PKSIM_TYPE_U16, PKSIM_U16},
    {PKSIM_TYPE_U32, PKSIM_U32},     {PKSIM_TYPE_U64, PKSIM_U64},     {PKSIM_TYPE_S8, PKSIM_S8},
    {PKSIM_TYPE_S16, PKSIM_S16},     {PKSIM_TYPE_S32, PKSIM_S32},     {PKSIM_TYPE_S64, PKSIM_S64},
    {PKSIM_TYPE_F16, PKSIM_F16},     {PKSIM_TYPE_F16X2, PKSIM_F16},   {PKSIM_TYPE_BF16, PKSIM_BF16},
    {PKSIM_TYPE_BF16X2, PKSIM_BF16}, {PKSIM_TYPE_TF32, PKSIM_TF32},   {PKSIM_TYPE_F32, PKSIM_F32},
    {PKSIM_TYPE_F64, PKSIM_F64},     {PKSIM_TYPE_E4M3, PKSIM_E4M3},   {PKSIM_TYPE_E5M2, PKSIM_E5M2},
    {PKSIM_TYPE_E4M3X2, PKSIM_E4M3}, {PKSIM_TYPE_E5M2X2, PKSIM_E5M2},
};

enum pksim_number pksim_mod_number(struct pksim_decoder *d, enum pksim_ptx_type type)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].type == type)
            return pairs[i].number;
    }
    pksim_decode_fail(d, "no element type that is supported");
    return PKSIM_F32;
}

static const char *const reduce_names[] = {
#define REDUCE(id, spelling) spelling,
#include "sim/units/reduce.def"
};

bool pksim_mod_reduce(struct pksim_decoder *d, enum pksim_reduce *op)
{
    for (size_t i = 0; i < sizeof reduce_names / sizeof *reduce_names; i++) {
        if (pksim_mod(d, reduce_names[i])) {
            *op = (enum pksim_reduce)i;
            return true;
        }
    }
    return false;
}
