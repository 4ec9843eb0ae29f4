// SPDX-License-Identifier: Apache-2.0
// The sub-kinds of subs.def as enums, one a set, each numbered from 0: enum ir_bin { IR_BIN_ADD, ... }.
#ifndef PKC_IR_SUBS_H
#define PKC_IR_SUBS_H

typedef enum ir_read {
#define IR_SUB_READ(id, text) IR_READ_##id,
#include "ir/subs.def"
    IR_READ_COUNT
} ir_read;

typedef enum ir_bin {
#define IR_SUB_BIN(id, text) IR_BIN_##id,
#include "ir/subs.def"
    IR_BIN_COUNT
} ir_bin;

typedef enum ir_un {
#define IR_SUB_UN(id, text) IR_UN_##id,
#include "ir/subs.def"
    IR_UN_COUNT
} ir_un;

typedef enum ir_cmp {
#define IR_SUB_CMP(id, text) IR_CMP_##id,
#include "ir/subs.def"
    IR_CMP_COUNT
} ir_cmp;

typedef enum ir_red {
#define IR_SUB_RED(id, text) IR_RED_##id,
#include "ir/subs.def"
    IR_RED_COUNT
} ir_red;

typedef enum ir_end {
#define IR_SUB_END(id, text) IR_END_##id,
#include "ir/subs.def"
    IR_END_COUNT
} ir_end;

typedef enum ir_side {
#define IR_SUB_SIDE(id, text) IR_SIDE_##id,
#include "ir/subs.def"
    IR_SIDE_COUNT
} ir_side;

typedef enum ir_bulk {
#define IR_SUB_BULK(id, text) IR_BULK_##id,
#include "ir/subs.def"
    IR_BULK_COUNT
} ir_bulk;

typedef enum ir_fence {
#define IR_SUB_FENCE(id, text) IR_FENCE_##id,
#include "ir/subs.def"
    IR_FENCE_COUNT
} ir_fence;

typedef enum ir_sync {
#define IR_SUB_SYNC(id, text) IR_SYNC_##id,
#include "ir/subs.def"
    IR_SYNC_COUNT
} ir_sync;

typedef enum ir_sig {
#define IR_SUB_SIG(id, text) IR_SIG_##id,
#include "ir/subs.def"
    IR_SIG_COUNT
} ir_sig;

/// The sets themselves; ops.def names one for each op.
typedef enum ir_sub_set {
    IR_SET_NONE,
    IR_SET_READ,
    IR_SET_BIN,
    IR_SET_UN,
    IR_SET_CMP,
    IR_SET_RED,
    IR_SET_END,
    IR_SET_SIDE,
    IR_SET_BULK,
    IR_SET_FENCE,
    IR_SET_SYNC,
    IR_SET_SIG,
} ir_sub_set;

#endif
