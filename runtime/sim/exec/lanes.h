// SPDX-License-Identifier: Apache-2.0
// Reading and writing operands of a warp.
#ifndef PKSIM_EXEC_LANES_H
#define PKSIM_EXEC_LANES_H

#include <string.h>

#include "sim/exec/machine.h"

// The 32 values (or the mask) at an operand's place.
static inline const void *pksim_at(const struct pksim_warp *warp, pksim_place_t place)
{
    return warp->bank[place >> 31] + (place & ~PKSIM_CONST_BANK);
}

static inline void *pksim_dst(const struct pksim_warp *warp, pksim_place_t place)
{
    return warp->regs + place;
}

static inline uint32_t pksim_get32(const struct pksim_warp *warp, pksim_place_t place, int lane)
{
    return ((const uint32_t *)pksim_at(warp, place))[lane];
}

static inline uint64_t pksim_get64(const struct pksim_warp *warp, pksim_place_t place, int lane)
{
    return ((const uint64_t *)pksim_at(warp, place))[lane];
}

static inline uint32_t pksim_get_mask(const struct pksim_warp *warp, pksim_place_t place)
{
    return *(const uint32_t *)pksim_at(warp, place);
}

// At most 8 bytes from anywhere. Copies of a size that is known are one instruction, others are calls.
static inline uint64_t pksim_part(const void *from, uint32_t bytes)
{
    uint64_t value = 0;
    if (bytes == 4)
        memcpy(&value, from, 4);
    else if (bytes == 2)
        memcpy(&value, from, 2);
    else if (bytes == 8)
        memcpy(&value, from, 8);
    else
        memcpy(&value, from, bytes);
    return value;
}

// A register of 2, 4 or 8 bytes.
static inline uint64_t pksim_get(const struct pksim_warp *warp, pksim_place_t place, uint32_t bytes, int lane)
{
    return pksim_part((const uint8_t *)pksim_at(warp, place) + (size_t)lane * bytes, bytes);
}

static inline void pksim_set(const struct pksim_warp *warp, pksim_place_t place, uint32_t bytes, int lane,
                             uint64_t value)
{
    uint8_t *to = warp->regs + place + (size_t)lane * bytes;
    if (bytes == 4)
        memcpy(to, &value, 4);
    else if (bytes == 2)
        memcpy(to, &value, 2);
    else if (bytes == 8)
        memcpy(to, &value, 8);
    else
        memcpy(to, &value, bytes);
}

static inline void pksim_set_mask(const struct pksim_warp *warp, pksim_place_t place, uint32_t lanes,
                                  uint32_t value)
{
    uint32_t *mask = (uint32_t *)(warp->regs + place);
    *mask = (*mask & ~lanes) | (value & lanes);
}

// Lanes of `mask`, lowest first.
#define PKSIM_EACH(lane, mask)                                                                               \
    for (uint32_t rest_ = (mask), lane = rest_ ? (uint32_t)__builtin_ctz(rest_) : 0; rest_;                  \
         rest_ &= rest_ - 1, lane = rest_ ? (uint32_t)__builtin_ctz(rest_) : 0)

// Copies the lanes of `mask` from one array of values to another. bytes 0: predicates.
void pksim_keep_lanes(void *to, const void *from, uint32_t mask, uint32_t bytes);

// warp.c: the fragment at hand executes an instruction that needs all lanes of `need` that live. True when
// they are here: then *mask holds them. Otherwise the fragment is set to wait and the caller returns
// PKSIM_STEP_BLOCK.
bool pksim_converge(struct pksim_warp *warp, uint32_t *mask, uint32_t need);
// Lanes of `lanes` leave the fragment at hand and go on at `pc`.
void pksim_split(struct pksim_warp *warp, uint32_t pc, uint32_t lanes);
// The active lanes exit.
enum pksim_step pksim_lanes_exit(struct pksim_warp *warp, uint32_t lanes);
struct pksim_wait *pksim_wait_here(struct pksim_warp *warp, enum pksim_wait_kind kind);

#endif
