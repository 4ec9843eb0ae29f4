// SPDX-License-Identifier: Apache-2.0
// The last pass: what the others left unused goes. Common subexpressions and invariant scalars are LLVM's to
// find: it does so on the emitted code, where addresses and descriptors take part too, so doing it here as
// well gained nothing.
#include "ir/dce.h"
#include "ir/ir.h"

bool ir_pass_tidy(ir_kernel *k, const ir_options *options)
{
    (void)options;
    for (ir_group *g = k->groups; g; g = g->next)
        for (ir_role *r = g->roles; r; r = r->next)
            ir_remove_dead(k, r->body);
    return true;
}
