// SPDX-License-Identifier: Apache-2.0
// The command line of pkc, by the rows of options.def.
#ifndef PKC_DRIVER_ARGS_H
#define PKC_DRIVER_ARGS_H

#include <stdbool.h>

#include "pkc/pkc.h"
#include "support/buf.h"
#include "support/vec.h"

typedef PKC_VEC(const char *) args_strings;

typedef enum args_color { ARGS_COLOR_AUTO, ARGS_COLOR_ALWAYS, ARGS_COLOR_NEVER } args_color;
typedef enum args_action { ARGS_COMPILE, ARGS_HELP, ARGS_MAN, ARGS_VERSION, ARGS_EXPLAIN } args_action;

typedef struct args {
    args_action action;
    const char *input;        // "-": standard input
    const char *output;       // NULL or "-": standard output
    const char *dependencies; // make rule, or NULL
    const char *explain;      // code
    args_strings defines, include_dirs, dump_after, passes;
    args_color color;
    bool json;
    pkc_options options; // its arrays point into the lists above
} args;

/// Fills `out` (which points into argv). On wrong usage returns false with a one-line message in `problem`.
bool args_parse(args *out, int argc, char **argv, pkc_buf *problem);
void args_free(args *a);
/// --help and the manual page.
void args_help(pkc_buf *out);
void args_man(pkc_buf *out);

#endif
