// SPDX-License-Identifier: Apache-2.0
// Names and properties of operations, sub-kinds and passes, read from their tables.
#include "ir/ir.h"

// The short words of ops.def, in the terms of ir.h.
enum {
    PURE = IR_PURE,
    RD_GLOB = IR_RD_GLOB,
    WR_GLOB = IR_WR_GLOB,
    RD_SH = IR_RD_SH,
    WR_SH = IR_WR_SH,
    BLOCK = IR_BLOCK,
    ASYNC = IR_ASYNC,
    RELEASE = IR_RELEASE,
    ACQUIRE = IR_ACQUIRE,
    ROLE_SYNC = IR_ROLE_SYNC
};

typedef struct op_row {
    const char *text;
    int n_in, n_out, n_reg;
    ir_attr_kind attr;
    ir_sub_set subs;
    unsigned effects;
    ir_who who;
    ir_form first, last;
} op_row;

static const op_row rows[] = {
#define IR_OP(id, text, n_in, n_out, n_reg, attr, subs, effects, who, first, last)                           \
    [IR_##id] = {text,          n_in,    n_out,        n_reg,           IR_ATTR_##attr,                      \
                 IR_SET_##subs, effects, IR_WHO_##who, IR_FORM_##first, IR_FORM_##last},
#include "ir/ops.def"
#undef IR_OP
};

static const struct sub_row {
    ir_sub_set set;
    const char *text;
} subs[] = {
#define IR_SUB_ANY(set, id, text) {IR_SET_##set, text},
#include "ir/subs.def"
};

const char *ir_op_text(ir_op_kind kind)
{
    return rows[kind].text;
}

ir_attr_kind ir_op_attr(ir_op_kind kind)
{
    return rows[kind].attr;
}

unsigned ir_op_effects(ir_op_kind kind)
{
    return rows[kind].effects;
}

ir_who ir_op_who(ir_op_kind kind)
{
    return rows[kind].who;
}

bool ir_op_in_form(ir_op_kind kind, ir_form form)
{
    return rows[kind].first <= form && form <= rows[kind].last;
}

int ir_op_n_in(ir_op_kind kind)
{
    return rows[kind].n_in;
}

int ir_op_n_out(ir_op_kind kind)
{
    return rows[kind].n_out;
}

int ir_op_n_reg(ir_op_kind kind)
{
    return rows[kind].n_reg;
}

const char *ir_sub_text(ir_op_kind kind, unsigned sub)
{
    unsigned n = 0;
    for (size_t i = 0; rows[kind].subs != IR_SET_NONE && i < sizeof subs / sizeof subs[0]; i++)
        if (subs[i].set == rows[kind].subs && n++ == sub)
            return subs[i].text;
    return NULL;
}

const char *ir_layout_text(ir_layout layout)
{
    static const char *const text[] = {"?", "lin", "sw32", "sw64", "sw128"};
    return text[layout];
}

const char *ir_dist_base_text(ir_dist_base base)
{
    static const char *const text[] = {"?", "quad", "lane", "line", "any", "flat"};
    return text[base];
}

const char *ir_pass_name(ir_pass pass)
{
    static const char *const names[] = {
#define IR_PASS(id, name, ...) [IR_PASS_##id] = #name,
#include "ir/passes.def"
#undef IR_PASS
    };
    return names[pass];
}
