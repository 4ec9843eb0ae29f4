// SPDX-License-Identifier: Apache-2.0
// The description of a module, as JSON.
#ifndef PKC_NVPTX_DESCRIBE_H
#define PKC_NVPTX_DESCRIBE_H

#include "ir/ir.h"
#include "nvptx/target.h"

/// Appends the description as the comment lines that head a module.
bool nv_describe_comment(pkc_session *session, const ir_module *module, const pkc_target *target,
                         pkc_buf *out);

#endif
