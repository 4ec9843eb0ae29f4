// SPDX-License-Identifier: Apache-2.0
// One run of one kernel: its tensors, its launches, what came out.
#ifndef PKRUN_JOB_H
#define PKRUN_JOB_H

#include "run/args.h"
#include "run/data.h"

/// A parameter and what was made for it.
typedef struct job_param {
    pkrt_param_info info;
    int64_t dims[PKRT_MAX_DIMS];
    data_fill fill;
    const char *in, *out; // patterns of file names, or NULL
    pkrt_tensor *tensor;  // NULL: a scalar or a signal
    pkrt_arg arg;
    data_figures *figures; // one a rank, of tensors that are written or asked for
} job_param;

/// A named dimension.
typedef struct job_dim {
    const char *name;
    int64_t value;
    bool known;
} job_dim;

typedef struct job {
    const args *a;
    pkrt_context *ctx;
    pkrt_module *module;
    pkrt_kernel *kernel;
    const char *name; // of the kernel
    int n_params, n_dims;
    job_param *params;
    job_dim *dims;
    double *seconds; // of each launch
    char *problem;   // what is wrong, malloc'd; NULL while all is well
} job;

/// As the program's exit status.
typedef enum job_status { JOB_OK = 0, JOB_WRONG = 1, JOB_USAGE = 2 } job_status;

/// Runs the module `text`. The job is filled as far as it came; job_free in every case.
job_status job_run(job *j, const args *a, const char *text, size_t len);
void job_free(job *j);

#endif
