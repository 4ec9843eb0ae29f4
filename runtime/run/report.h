// SPDX-License-Identifier: Apache-2.0
#ifndef PKRUN_REPORT_H
#define PKRUN_REPORT_H

#include "run/job.h"

/// Writes what came out of a run to standard output, as text or, with --json, as one JSON object. What is
/// wrong goes to standard error, in JSON into the object too.
void report_print(const job *j, job_status status);

#endif
