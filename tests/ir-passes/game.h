// SPDX-License-Identifier: Apache-2.0
// Runs the bodies of a kernel in form O against each other, on hashes instead of numbers.
//
// First each body is walked with concrete scalars, which gives its events (`record`); control flow depends on
// nothing else. Then the events of all roles are played in turn (`play`): barriers count arrivals and bytes,
// a slot holds a hash of what was copied or stored there, a product's result is a hash of its operands.
// Products and bulk stores read their slot until a wait retires them; writing such a slot, reading a register
// in flight, or getting stuck is a fault.
#ifndef TESTS_GAME_H
#define TESTS_GAME_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"
#include "ir/ptrmap.h"
#include "support/vec.h"

typedef enum event_kind {
    EV_WAIT,     // pipe, side, slot, phase
    EV_EXPECT,   // pipe, slot, n bytes; flag: is the arrival
    EV_ARRIVE,   // pipe, side, slot
    EV_COPY_IN,  // pipe, slot, field, n bytes, tag: what is read
    EV_STORE,    // pipe, slot, field, a: register
    EV_OP,       // dst = hash(tag, a, b, c)
    EV_MMA,      // dst = a + (x or register b) * y; flag: overwrites
    EV_MMA_WAIT, // n left
    EV_COPY_OUT, // pipe, slot, field, tag: what is written
    EV_COMMIT,   //
    EV_BULK_WAIT // n left
} event_kind;

/// A field of a slot.
typedef struct place {
    const ir_pipe *pipe;
    int slot, field;
} place;

typedef struct event {
    event_kind kind;
    ir_side side;
    place x, y; // pipe NULL: none
    int phase;
    bool flag;
    int64_t n;
    uint64_t tag;
    int dst, a, b, c; // registers; -1: none, -2: poison
} event;

typedef struct trace {
    const ir_role *role;
    PKC_VEC(event) events;
    int registers;
} trace;

/// Sizes that the walk takes for granted.
typedef struct game_sizes {
    int64_t dim; // of every named dimension but K
    int64_t k;   // of the dimension K
    int64_t workers, ranks;
} game_sizes;

void record(pkc_arena *arena, const ir_kernel *k, const ir_role *role, const game_sizes *sizes, trace *out);

/// What left for global memory, in order, as one hash a store; NULL `fault` when all went well.
typedef struct outcome {
    PKC_VEC(uint64_t) stores;
    const char *fault;
} outcome;

outcome play(pkc_arena *arena, const ir_kernel *k, trace *traces, int n);
uint64_t mix(uint64_t a, uint64_t b);

#endif
