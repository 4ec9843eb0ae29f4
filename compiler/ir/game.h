// SPDX-License-Identifier: Apache-2.0
// The two halves of the token game: what each role does for one choice of numbers (game_unroll.c), and
// whether they come to an end (game.c).
#ifndef PKC_IR_GAME_H
#define PKC_IR_GAME_H

#include "ir/agree.h"

typedef enum ir_event_kind {
    IR_EVENT_TAKE_FREE,
    IR_EVENT_HAND_OVER,
    IR_EVENT_TAKE_FULL,
    IR_EVENT_GIVE_BACK
} ir_event_kind;

typedef struct ir_event {
    ir_event_kind kind;
    int pipe; // its place in the kernel's list
    const ir_op *op;
} ir_event;
typedef PKC_VEC(ir_event) ir_events;

/// A number that is tried out: an atom that nothing decides.
typedef struct ir_choice {
    const ir_atom *atom;
    int option;
} ir_choice;

/// A carried value that a count or condition is made of, followed through the iterations.
typedef struct ir_watch {
    const ir_atom *atom;
    ir_norm first, next;
    int64_t value, following;
} ir_watch;

/// Numbers are chosen when they are first asked for; the choices of a play stay for the next.
typedef struct ir_valuation {
    ir_norms *norms;
    PKC_VEC(ir_choice) choices;
    PKC_VEC(ir_watch) watches;
    ir_ptrmap place;        // atom -> its choice or watch, counted from 1
    ir_ptrmap pipes;        // pipe -> its place in the kernel's list, counted from 1
    PKC_VEC(int64_t) loops; // variables of the loops that are being run
    int most_slots;         // of any pipe
    int64_t work;           // steps that are left
} ir_valuation;

/// Looks for the carried values that a trace depends on.
void ir_valuation_watch(ir_valuation *v, const ir_trace *trace);
/// Sets the choices for play number `play`, from 0; false when all combinations have been tried, or enough.
bool ir_valuation_next(ir_valuation *v, uint32_t play);
int64_t ir_valuation_of(ir_valuation *v, ir_norm a);
/// Appends what the trace does. False: it is too long to be played.
bool ir_valuation_unroll(ir_valuation *v, const ir_trace *trace, pkc_arena *arena, ir_events *out);

#endif
