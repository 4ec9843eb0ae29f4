// SPDX-License-Identifier: Apache-2.0
// Pass `defer`: nothing is deferred yet, every body runs as it is written.
#include "ir/ir.h"

bool ir_pass_defer(ir_kernel *k, const ir_options *options)
{
    (void)k;
    (void)options;
    return true;
}
