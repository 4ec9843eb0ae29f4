// SPDX-License-Identifier: Apache-2.0
// What the parts of the printer share.
#ifndef PKC_SYNTAX_PRINT_H
#define PKC_SYNTAX_PRINT_H

#include "syntax/syntax.h"

void pkc_print_exprs(const pkc_exprs *list, pkc_buf *out);
/// A string literal with its quotes and escapes.
void pkc_print_string(const char *text, pkc_buf *out);

#endif
