// SPDX-License-Identifier: Apache-2.0
// Shared by the printer and the parser of the text form: the members that print as `{ key=value }`.
#ifndef PKC_IR_TEXT_H
#define PKC_IR_TEXT_H

#include "ir/ir.h"

typedef enum ir_member_kind {
    IR_MEMBER_INT,
    IR_MEMBER_INT32,
    IR_MEMBER_INT64,
    IR_MEMBER_BOOL,
    IR_MEMBER_LAYOUT
} ir_member_kind;

/// A member of a struct by name and offset; printed where it differs from `normal`.
typedef struct ir_member {
    const char *key;
    size_t offset;
    ir_member_kind kind;
    int64_t normal;
} ir_member;

/// Tables end with a NULL key.
extern const ir_member ir_pipe_members[], ir_group_members[], ir_role_members[], ir_place_members[],
    ir_kernel_members[], ir_shared_members[], ir_field_members[], ir_param_members[];

int64_t ir_member_get(const void *object, const ir_member *m);
void ir_member_set(void *object, const ir_member *m, int64_t value);

void ir_print_type(const ir_type *t, pkc_buf *out);
/// Everything of a kernel before its bodies, the opening brace included.
void ir_print_header(const ir_kernel *k, pkc_buf *out);
/// Word of a role kind in the text form.
const char *ir_role_kind_text(ir_role_kind kind);

#endif
