// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix of 8 by 8 matrices of 16-bit elements (PTX ISA 9.7.14.5.15 and .16): thread t holds
// elements 2 (t % 4) and the next of row t / 4; transposed, of column t / 4.
#include <string.h>

#include "sim/units/window.h"

static bool check_rows(const struct pksim_shared *shared, const uint32_t *rows, uint32_t count,
                       const char *what, struct pksim_unit_error *error)
{
    for (uint32_t i = 0; i < 8 * count; i++)
        if (!pksim_unit_shared(shared, rows[i], 16, 16, what, error))
            return false;
    return true;
}

// Shared offset of element `which` (0 or 1) of a thread.
static uint32_t element_at(const uint32_t *rows, uint32_t lane, uint32_t which, bool transposed)
{
    uint32_t across = 2 * (lane % 4) + which;
    return transposed ? rows[across] + 2 * (lane / 4) : rows[lane / 4] + 2 * across;
}

bool pksim_ldmatrix(const struct pksim_shared *shared, const uint32_t *rows, uint32_t count, bool transposed,
                    bool check_written, uint32_t *const *regs, struct pksim_unit_error *error)
{
    uint16_t values[4][32][2];
    if (!check_rows(shared, rows, count, "ldmatrix", error))
        return false;
    for (uint32_t i = 0; check_written && i < 8 * count; i++)
        if (!pksim_unit_written(shared, rows[i], 16, "ldmatrix", error))
            return false;
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t e = 0; e < 2; e++)
                memcpy(&values[m][lane][e], shared->bytes + element_at(rows + 8 * m, lane, e, transposed), 2);
    // Only now: a register may be one of those that gave the addresses.
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t lane = 0; lane < 32; lane++)
            regs[m][lane] = values[m][lane][0] | (uint32_t)values[m][lane][1] << 16;
    return true;
}

bool pksim_stmatrix(struct pksim_shared *shared, const uint32_t *rows, uint32_t count, bool transposed,
                    const uint32_t *const *regs, struct pksim_unit_error *error)
{
    if (!check_rows(shared, rows, count, "stmatrix", error))
        return false;
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t e = 0; e < 2; e++) {
                uint16_t value = (uint16_t)(regs[m][lane] >> (16 * e));
                memcpy(shared->bytes + element_at(rows + 8 * m, lane, e, transposed), &value, 2);
            }
    for (uint32_t i = 0; i < 8 * count; i++)
        pksim_shared_mark(shared, rows[i], 16);
    return true;
}
