// SPDX-License-Identifier: Apache-2.0
// Everything that one compilation owns. There is no other state: two sessions never meet.
#ifndef PKC_SOURCE_SESSION_H
#define PKC_SOURCE_SESSION_H

#include <stdbool.h>

#include "source/diag.h"
#include "source/source.h"
#include "support/arena.h"
#include "support/str.h"
#include "support/vec.h"

/// `-D NAME=VALUE` (kernel NULL) or `-D KERNEL.NAME=VALUE`.
typedef struct pkc_define {
    pkc_str kernel, name;
    int64_t value;
    bool used; // set by sema when a const parameter took it
} pkc_define;

/// What the command line or the caller asked for, as the layers need it.
typedef struct pkc_settings {
    pkc_str arch; // "sm_90a"
    PKC_VEC(pkc_define) defines;
    PKC_VEC(pkc_str) include_dirs; // -I, in order
    pkc_str stdlib_dir;            // where installed modules lie, or NULL
    pkc_str stop_after;            // pass name, or NULL
    PKC_VEC(pkc_str) dump_after;   // pass names
    PKC_VEC(pkc_str) passes;       // for tile IR as input: the passes to run
    bool debug;                    // -g
    bool no_defer, no_flight;      // -fno-defer, -fno-flight
    bool verify;                   // verifiers after every stage (always on in debug builds)
} pkc_settings;

/// Reads a whole file for `import`: returns malloc'd text and its length, or NULL where there is no such
/// file.
typedef char *(*pkc_read_fn)(void *context, const char *path, size_t *len);

typedef struct pkc_session {
    pkc_arena arena;
    pkc_strings strings;
    pkc_diags diags;
    PKC_VEC(pkc_file *) files;
    pkc_settings settings;
    pkc_read_fn read; // NULL: no file can be imported
    void *read_context;
} pkc_session;

void pkc_session_init(pkc_session *session);
void pkc_session_free(pkc_session *session);
/// Adds a file under the name shown to the user. Too large a text is reported and gives NULL.
pkc_file *pkc_session_add_file(pkc_session *session, const char *name, const char *text, size_t len);

/// The session's interned string, for short calls.
static inline pkc_str pkc_session_str(pkc_session *session, const char *text)
{
    return pkc_intern(&session->strings, text);
}

#endif
