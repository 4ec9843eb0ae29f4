// SPDX-License-Identifier: Apache-2.0
// Vector clocks with epochs (Flanagan and Freund, FastTrack, PLDI 2009), as immutable trees with counted
// references: what many know is there once, and joining equal parts compares pointers.
//
// The components are the warps of all launches that still matter. NULL is the clock that knows nothing. An
// allocation that fails sets *failed and gives what there was: the owner stops checking.
#ifndef PKSIM_CHECK_CLOCK_H
#define PKSIM_CHECK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

// What is known of one warp: all of its lanes up to tick `all`, the lanes of mask[i] up to tick[i].
struct pksim_entry {
    uint32_t all;
    uint32_t mask[2], tick[2];
};

// A mask that does not fit goes to the later of the two: knowing too much misses a race, knowing too little
// would invent one.
void pksim_entry_add(struct pksim_entry *entry, uint32_t mask, uint32_t tick);
// The entry covers `tick` for all of `lanes`, or for one of them.
bool pksim_entry_knows(const struct pksim_entry *entry, uint32_t lanes, uint32_t tick, bool any);

struct pksim_clock;

// `height` is that of the launch's tree: pksim_clock_height of its warps.
uint32_t pksim_clock_height(uint64_t warps);

struct pksim_clock *pksim_clock_retain(struct pksim_clock *clock);
void pksim_clock_release(struct pksim_clock *clock);
// A new reference to the clock that knows what either knows. Launches below `horizon` are left out, and that
// of number `without` (0: none).
struct pksim_clock *pksim_clock_join(struct pksim_clock *a, struct pksim_clock *b, uint64_t horizon,
                                     uint64_t without, bool *failed);
// The clock that knows *entry of a warp besides; takes over the reference.
struct pksim_clock *pksim_clock_add(struct pksim_clock *clock, uint64_t launch, uint32_t height,
                                    uint32_t warp, const struct pksim_entry *entry, bool *failed);
// The clock that knows all of a launch besides; takes over the reference.
struct pksim_clock *pksim_clock_whole(struct pksim_clock *clock, uint64_t launch, bool *failed);
// What is known of a warp, NULL: nothing. *whole: all of its launch.
const struct pksim_entry *pksim_clock_find(const struct pksim_clock *clock, uint64_t launch, uint32_t warp,
                                           bool *whole);

#endif
