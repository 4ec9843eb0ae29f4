// SPDX-License-Identifier: Apache-2.0
// What a kernel of the sweep is made of: case_NAME.c defines one `const kernel_case`, cases.def lists them.
// A case names its sizes and scalars with the values that they take, and prepares one combination of them:
// tensors on every rank, a float64 reference for what comes out, the bound kernel. The driver (sweep.c) runs
// combinations, refills what launches change, and compares.
#ifndef KERNELS_CASE_H
#define KERNELS_CASE_H

#include <pkrt/pkrt.h>
#include <stddef.h>
#include <stdint.h>

enum { CASE_AXES = 8, CASE_VALUES = 10, CASE_TENSORS = 12 };

/// A named dimension or scalar, or anything else that prepare wants to vary, and the values it takes.
typedef struct case_axis {
    const char *name;
    int64_t values[CASE_VALUES];
    int n;
} case_axis;

#define CASE_AXIS(NAME, ...)                                                                                 \
    {                                                                                                        \
        NAME, {__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                              \
    }
#define CASE_DIMS(...)                                                                                       \
    sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[])                                          \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/// One tensor of a combination and what is done with it around a launch.
typedef struct case_tensor {
    pkrt_tensor *tensor;
    size_t count; // elements of one copy
    float *fill;  // ranks * count, written before each launch; NULL: an input, written once
    void *before; // an input's bytes on all ranks, which no launch may change
    double *want; // ranks * count, NULL: not compared; a NaN: the element must keep what it was filled with
    double tolerance; // of the relative error; 0: exact
} case_tensor;

typedef struct kernel_case kernel_case;

/// One combination: rank count, values of the axes, and what prepare has made of them.
typedef struct case_run {
    const kernel_case *kernel_case;
    pkrt_context *ctx;
    pkrt_module *module;
    int ranks;
    uint64_t seed;
    int64_t values[CASE_AXES];
    pkrt_kernel *kernel;
    case_tensor tensors[CASE_TENSORS];
    int n_tensors;
    void **owned; // memory that goes with the run
    int n_owned;
} case_run;

struct kernel_case {
    const char *name;
    const char *text; // the module, NAME_pk of its header
    size_t length;
    case_axis axes[CASE_AXES]; // as many as have a name
    /// The i32 scalar that counts the communication SMs: prepare binds 1; the driver sets others, up to half
    /// of the SMs, and checks that counts which leave a group empty are refused. NULL: there is none.
    const char *comm;
    /// For a kernel that the table has in many forms: only every `sparse`th machine of a short run, two
    /// combinations on each, beginning with one that another form leaves out. 0: all.
    int sparse, sparse_first;
    /// Makes tensors and references and binds run->kernel. What cannot be bound gives bind's status.
    pkrt_status (*prepare)(case_run *run);
};

/// Value of the named axis in this combination.
int64_t case_value(const case_run *run, const char *name);
/// n zeroed bytes that live as long as the run.
void *case_memory(case_run *run, size_t bytes);
/// Gives memory from malloc to the run, and back to the caller.
void *case_keep(case_run *run, void *memory);
/// n values that `fill` makes from the run's seed, which live as long as the run; case_normal: a standard
/// normal distribution, rounded to bf16.
float *case_random(case_run *run, size_t n, void (*fill)(float *x, size_t n, uint64_t *seed));
float *case_normal(case_run *run, size_t n);

/// A tensor with x[r * count ..] on rank r. Launches must leave it as it is.
pkrt_tensor *case_input(case_run *run, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags,
                        const float *x);
/// The same of whole numbers.
pkrt_tensor *case_input_i32(case_run *run, int n_dims, const int64_t *dims, const int32_t *x);
/// As case_input, refilled with x before each launch, as the launch changes it. x must live as long as the
/// run.
pkrt_tensor *case_inout(case_run *run, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags,
                        const float *x);
/// A tensor that holds the poison before each launch.
pkrt_tensor *case_output(case_run *run, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags);
/// Room for what an output or in/out tensor should hold after a launch, zeroed: ranks * count. The relative
/// error, as a norm over a rank's copy, must not exceed `tolerance`, and no single element be far out.
double *case_want(case_run *run, const pkrt_tensor *tensor, double tolerance);

/// Writes what launches change again.
void case_refill(case_run *run);
/// Compares all tensors on all ranks; prints a line for each copy that is wrong.
bool case_right(case_run *run);
/// Whether launches change an input of theirs, so that each needs a refill.
bool case_in_place(const case_run *run);
void case_free(case_run *run);

#endif
