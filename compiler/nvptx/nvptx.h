// SPDX-License-Identifier: Apache-2.0
// The back end: tile IR of form O to PTX with its description, and to a C header that holds both.
#ifndef PKC_NVPTX_NVPTX_H
#define PKC_NVPTX_NVPTX_H

#include <stdbool.h>

#include "ir/ir.h"
#include "nvptx/target.h"
#include "support/buf.h"

/// What pkc_nvptx_emit writes.
typedef enum pkc_nvptx_output {
    PKC_NVPTX_PTX, // the module: description in comment lines, then PTX
    PKC_NVPTX_LLVM // LLVM IR as text, before LLVM's own passes
} pkc_nvptx_output;

/// Appends the module of all kernels, which are in form O. False: diagnostics were given and nothing was
/// appended. The same input gives the same bytes.
bool pkc_nvptx_emit(pkc_session *session, const ir_module *module, const pkc_target *target,
                    pkc_nvptx_output output, pkc_buf *out);
/// Appends the description of the module as JSON, indented for a reader.
bool pkc_nvptx_describe(pkc_session *session, const ir_module *module, const pkc_target *target,
                        pkc_buf *out);
/// Appends a C header named `name` (a file name, for the include guard) with the bytes of `ptx` and typed
/// functions to bind and launch each kernel through pkrt.
bool pkc_nvptx_header(pkc_session *session, const ir_module *module, const char *name, const pkc_buf *ptx,
                      pkc_buf *out);

#endif
