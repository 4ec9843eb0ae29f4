// SPDX-License-Identifier: Apache-2.0
// The parts of the pass `flight`, run on a body in this order.
#ifndef PKC_IR_FLIGHT_H
#define PKC_IR_FLIGHT_H

#include "ir/deps.h"
#include "ir/ir.h"

typedef struct ir_flight {
    ir_kernel *k;
    ir_role *role;
    const ir_deps *deps;
    bool late; // false: every slot is freed where its reader was started (-fno-flight)
} ir_flight;

/// `mma` becomes `mma.issue`; accumulators that start as zeros start as poison with the overwrite flag.
void ir_flight_issue(ir_flight *f);
/// Puts `mma.wait` before every use of a product's result.
void ir_flight_waits(ir_flight *f);
/// Moves the releases of slots that products read to where these are known done.
void ir_flight_release(ir_flight *f);
/// The same for slots that bulk stores read, with their commits and waits.
void ir_flight_bulk(ir_flight *f);

/// Whether a value is used as an accumulator only: by products, and by carries and results that are so too.
/// Its registers may then be in flight.
bool ir_flight_acc_only(ir_kernel *k, const ir_value *v);
ir_op *ir_flight_mma_wait(ir_kernel *k, ir_op *before, pkc_span pos, int left, int n, ir_value *const *accs);

#endif
