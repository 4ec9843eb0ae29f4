// SPDX-License-Identifier: Apache-2.0
// Runs the passes of passes.def in order.
#include "ir/ir.h"

static bool (*const passes[])(ir_kernel *, const ir_options *) = {
#define IR_PASS(id, name, form, guarantee) ir_pass_##name,
#include "ir/passes.def"
#undef IR_PASS
};

static const ir_form forms[] = {
#define IR_PASS(id, name, form, guarantee) IR_FORM_##form,
#include "ir/passes.def"
#undef IR_PASS
};

bool ir_run_passes(ir_kernel *k, const ir_options *options, ir_pass last,
                   void (*after)(ir_kernel *k, ir_pass pass, void *user), void *user)
{
    for (int p = 0; p <= (int)last && p < IR_PASS_COUNT; p++) {
        if (!passes[p](k, options))
            return false;
        k->form = forms[p];
        if (after)
            after(k, (ir_pass)p, user);
    }
    return true;
}
