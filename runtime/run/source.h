// SPDX-License-Identifier: Apache-2.0
// From a file to the text of a module.
#ifndef PKRUN_SOURCE_H
#define PKRUN_SOURCE_H

#include "run/args.h"

typedef enum source_status { SOURCE_OK, SOURCE_WRONG, SOURCE_UNREADABLE } source_status;

/// Reads a->file; a program (whatever does not begin as a module does) is compiled, and its diagnostics go to
/// standard error. The text is malloc'd and ends in zero.
source_status source_load(const args *a, char **text, size_t *len);

#endif
