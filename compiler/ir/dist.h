// SPDX-License-Identifier: Apache-2.0
// Distributions of register tiles: which thread of a role holds which elements (docs/compiler.md, "Register
// tiles"). Pure functions of a type IR_T_REG whose distribution is known.
#ifndef PKC_IR_DIST_H
#define PKC_IR_DIST_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"

/// Columns that lie together in one thread of `line` and `flat`: 16 bytes of 16-bit elements.
enum { IR_DIST_VECTOR = 8 };

/// Lanes that share a row of `line`: enough for the vectors of the widest tile of a class.
int ir_dist_lanes(ir_dist dist);
int ir_dist_lanes_for(int32_t cols);
bool ir_dist_equal(ir_dist a, ir_dist b);

/// Along which axes a value really varies.
typedef enum ir_dist_kind { IR_KIND_FULL, IR_KIND_ROW, IR_KIND_COL, IR_KIND_ONE } ir_dist_kind;

ir_dist_kind ir_dist_kind_of(const ir_type *reg);
/// Elements that a thread holds, those that lie outside the tile included.
int64_t ir_dist_elems(const ir_type *reg);
/// 32-bit registers for them: two narrower elements a register in `full` and `col`, one in `row`;
/// booleans are predicates and count nothing.
int64_t ir_dist_regs(const ir_type *reg);
/// Row and column of element i (0 <= i < ir_dist_elems) of thread t of the role. False: the thread has no
/// such element. Along an axis of size 1 the result is 0.
bool ir_dist_at(const ir_type *reg, int t, int64_t i, int32_t *row, int32_t *col);
/// Elements of a vector of `flat`: IR_DIST_VECTOR, or 1 where the columns are no multiple of it.
int ir_dist_flat_vector(const ir_type *reg);

#endif
