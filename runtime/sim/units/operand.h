// SPDX-License-Identifier: Apache-2.0
// Inside of the units: matrix operands gathered and widened. An element is a float, or an int32_t for U8 and
// S8, in the same four bytes.
#ifndef PKSIM_UNITS_OPERAND_H
#define PKSIM_UNITS_OPERAND_H

#include "sim/units/units.h"

// An operand of 32 bytes along k and `rows` along m or n.
struct pksim_operand_shape {
    enum pksim_number type;
    uint32_t rows;   // multiple of 8
    bool major_rows; // contiguous along m or n instead of k; 16-bit types
    bool k_first;    // the result is [k][rows] instead of [rows][k]
};

// count elements to floats or int32_t.
void pksim_operand_widen(enum pksim_number type, const void *from, uint32_t count, float *to);

// Where the operand's pieces of 16 bytes lie: offsets to out[], two a row, in the order of the rows (or of
// the lines along k). Returns how many: 2 * rows, or fewer of a narrow type's lines; 0: a bad descriptor.
uint32_t pksim_operand_pieces(const struct pksim_operand_shape *shape, uint64_t descriptor, uint32_t *out);

bool pksim_operand_gather(const struct pksim_operand_shape *shape, const struct pksim_shared *shared,
                          uint64_t descriptor, bool check_written, float *to, struct pksim_unit_error *error);
// *values points to `room` or into the cache.
bool pksim_operand_cached(struct pksim_panels *panels, const struct pksim_operand_shape *shape,
                          const struct pksim_shared *shared, uint64_t descriptor, bool check_written,
                          float *room, const float **values, struct pksim_unit_error *error);

// A fragment of one warp, as [16][k]: register i of a thread holds bytes 4 (lane % 4) + 16 (i / 2) and on of
// row lane / 4 + 8 (i % 2) (PTX ISA 9.7.14.5 and 9.7.15.5.1.1).
void pksim_operand_fragment(enum pksim_number type, const uint32_t *const *regs, uint32_t count, float *to);

#endif
