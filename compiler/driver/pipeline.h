// SPDX-License-Identifier: Apache-2.0
// The way of a program through the compiler's layers.
#ifndef PKC_DRIVER_PIPELINE_H
#define PKC_DRIVER_PIPELINE_H

#include "pkc/pkc.h"
#include "source/session.h"
#include "support/buf.h"

typedef struct pkc_job {
    pkc_session *session;
    const pkc_file *root;
    pkc_emit emit;
    bool check_only;
    pkc_buf output; // what was asked for; meaningful where the session has no errors
    pkc_buf dumps;  // tile IR after the passes of settings.dump_after
} pkc_job;

/// Runs the stages up to what `emit` asks for. Mistakes are in the session.
void pkc_pipeline_run(pkc_job *job);

/// Where installed modules lie: beside the running program or this library in ../share/pkc/stdlib, otherwise
/// where this build keeps them. In `arena`; NULL where there is no such folder.
const char *pkc_find_stdlib(pkc_arena *arena);

#endif
