// SPDX-License-Identifier: Apache-2.0
// Pass `flight`: products and bulk stores stay in flight while the role goes on.
#include "ir/flight.h"

#include "ir/slots.h"

static void run_role(ir_kernel *k, ir_role *role, const ir_deps *deps, bool late)
{
    ir_flight f = {.k = k, .role = role, .deps = deps, .late = late};
    if (ir_region_has(role->body, IR_MMA)) {
        ir_flight_issue(&f);
        ir_flight_waits(&f);
        ir_flight_release(&f);
    }
    if (ir_region_has(role->body, IR_COPY_OUT))
        ir_flight_bulk(&f);
}

bool ir_pass_flight(ir_kernel *k, const ir_options *options)
{
    const ir_deps *deps = ir_deps_new(k);
    for (ir_group *g = k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next)
            run_role(k, r, deps, !options->no_flight);
    k->form = IR_FORM_U;
    return true;
}
