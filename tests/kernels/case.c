// SPDX-License-Identifier: Apache-2.0
#include "case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "run.h"

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

int64_t case_value(const case_run *run, const char *name)
{
    const kernel_case *k = run->kernel_case;
    for (int i = 0; i < CASE_AXES && k->axes[i].name; i++)
        if (strcmp(k->axes[i].name, name) == 0)
            return run->values[i];
    fprintf(stderr, "%s has no axis %s\n", k->name, name);
    exit(1);
}

void *case_keep(case_run *run, void *memory)
{
    run->owned = need(realloc(run->owned, (size_t)(run->n_owned + 1) * sizeof *run->owned));
    return run->owned[run->n_owned++] = need(memory);
}

void *case_memory(case_run *run, size_t bytes)
{
    return case_keep(run, calloc(bytes + 1, 1));
}

float *case_random(case_run *run, size_t n, void (*fill)(float *x, size_t n, uint64_t *seed))
{
    float *x = case_memory(run, n * sizeof *x);
    fill(x, n, &run->seed);
    return x;
}

float *case_normal(case_run *run, size_t n)
{
    return case_random(run, n, host_normal_bf16);
}

// ---- tensors -------------------------------------------------------------------------------------------

static case_tensor *add(case_run *run, pkrt_tensor *tensor)
{
    if (run->n_tensors == CASE_TENSORS) {
        fprintf(stderr, "%s: more than %d tensors\n", run->kernel_case->name, CASE_TENSORS);
        exit(1);
    }
    case_tensor *t = &run->tensors[run->n_tensors++];
    *t = (case_tensor){.tensor = tensor, .count = (size_t)pkrt_tensor_count(tensor)};
    return t;
}

/// The bytes of all ranks' copies.
static void read_bytes(const case_run *run, const case_tensor *t, char *to)
{
    size_t bytes = pkrt_tensor_bytes(t->tensor);
    for (int r = 0; r < run->ranks; r++)
        run_check(run->ctx, pkrt_tensor_read(t->tensor, r, to + (size_t)r * bytes, bytes),
                  "reading a tensor");
}

static pkrt_tensor *add_input(case_run *run, pkrt_tensor *tensor)
{
    case_tensor *t = add(run, tensor);
    t->before = case_memory(run, (size_t)run->ranks * pkrt_tensor_bytes(tensor));
    read_bytes(run, t, t->before);
    return tensor;
}

pkrt_tensor *case_input(case_run *run, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags,
                        const float *x)
{
    return add_input(run, run_tensor(run->ctx, elem, n_dims, dims, flags, x));
}

pkrt_tensor *case_input_i32(case_run *run, int n_dims, const int64_t *dims, const int32_t *x)
{
    return add_input(run, run_tensor_i32(run->ctx, n_dims, dims, x));
}

pkrt_tensor *case_inout(case_run *run, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags,
                        const float *x)
{
    case_tensor *t = add(run, run_tensor(run->ctx, elem, n_dims, dims, flags, x));
    size_t bytes = (size_t)run->ranks * t->count * sizeof *x;
    t->fill = memcpy(case_memory(run, bytes), x, bytes);
    return t->tensor;
}

pkrt_tensor *case_output(case_run *run, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags)
{
    case_tensor *t = add(run, run_tensor(run->ctx, elem, n_dims, dims, flags, NULL));
    size_t n = (size_t)run->ranks * t->count;
    t->fill = case_memory(run, n * sizeof *t->fill);
    for (size_t i = 0; i < n; i++)
        t->fill[i] = host_poison();
    return t->tensor;
}

double *case_want(case_run *run, const pkrt_tensor *tensor, double tolerance)
{
    for (int i = 0; i < run->n_tensors; i++) {
        case_tensor *t = &run->tensors[i];
        if (t->tensor != tensor)
            continue;
        t->tolerance = tolerance;
        return t->want = case_memory(run, (size_t)run->ranks * t->count * sizeof *t->want);
    }
    fprintf(stderr, "%s: no such tensor\n", run->kernel_case->name);
    exit(1);
}

void case_refill(case_run *run)
{
    for (int i = 0; i < run->n_tensors; i++) {
        const case_tensor *t = &run->tensors[i];
        for (int r = 0; t->fill && r < run->ranks; r++)
            run_check(run->ctx, pkrt_tensor_write_f32(t->tensor, r, t->fill + (size_t)r * t->count, t->count),
                      "filling a tensor");
    }
}

bool case_in_place(const case_run *run)
{
    for (int i = 0; i < run->n_tensors; i++)
        for (size_t j = 0; run->tensors[i].fill && j < (size_t)run->ranks * run->tensors[i].count; j++)
            if (!isnan(run->tensors[i].fill[j]))
                return true;
    return false;
}

// ---- comparison ----------------------------------------------------------------------------------------

/// An element that should have kept its filling: as it reads back, so exact for what the type can hold.
static bool kept(float got, float fill)
{
    return isnan(fill) ? isnan(got) : got == fill;
}

/// Sums over a copy, and the element that is furthest out.
typedef struct deviation {
    double norm, diff, worst;
    size_t compared, at, unwritten, touched;
} deviation;

static deviation measure(const float *got, const float *fill, const double *want, size_t n)
{
    deviation d = {0};
    for (size_t i = 0; i < n; i++) {
        if (isnan(want[i])) {
            d.touched += !kept(got[i], fill[i]);
            continue;
        }
        d.compared++;
        d.norm += want[i] * want[i];
        double e = fabs(got[i] - want[i]);
        if (isnan(got[i])) {
            d.unwritten++;
            e = 0;
        }
        d.diff += e * e;
        if (e > d.worst) {
            d.worst = e;
            d.at = i;
        }
    }
    return d;
}

/// The norm within the tolerance, and no element 16 times further out than that: a wrong tile corner is
/// nothing in the norm of a large tensor, while rounding spreads evenly.
static bool near(const deviation *d, const double *want, double tolerance)
{
    double rms = d->compared ? sqrt(d->norm / (double)d->compared) : 0;
    double bound = 16 * tolerance * fmax(rms, d->compared ? fabs(want[d->at]) : 0);
    return sqrt(d->diff) <= tolerance * sqrt(d->norm) && d->worst <= bound;
}

static bool copy_right(const case_run *run, const case_tensor *t, int index, int rank)
{
    size_t from = (size_t)rank * t->count;
    const double *want = t->want + from;
    float *got = need(malloc(t->count * sizeof *got + 1));
    run_check(run->ctx, pkrt_tensor_read_f32(t->tensor, rank, got, t->count), "reading a tensor");
    deviation d = measure(got, t->fill + from, want, t->count);
    bool ok = !d.unwritten && !d.touched && near(&d, want, t->tolerance);
    if (d.unwritten)
        printf("  rank %d, tensor %d: %zu of %zu elements were never written\n", rank, index, d.unwritten,
               t->count);
    else if (d.touched)
        printf("  rank %d, tensor %d: %zu of %zu elements should have stayed as they were\n", rank, index,
               d.touched, t->count);
    else if (!ok)
        printf("  rank %d, tensor %d: relative error %.2e; element %zu is %g, expected %g\n", rank, index,
               sqrt(d.diff / d.norm), d.at, (double)got[d.at], want[d.at]);
    free(got);
    return ok;
}

static bool input_unchanged(const case_run *run, const case_tensor *t, int index)
{
    size_t bytes = (size_t)run->ranks * pkrt_tensor_bytes(t->tensor);
    char *now = need(malloc(bytes + 1));
    read_bytes(run, t, now);
    bool ok = memcmp(now, t->before, bytes) == 0;
    if (!ok)
        printf("  tensor %d, an input, was changed\n", index);
    free(now);
    return ok;
}

bool case_right(case_run *run)
{
    bool ok = true;
    for (int i = 0; i < run->n_tensors; i++) {
        const case_tensor *t = &run->tensors[i];
        for (int r = 0; t->want && r < run->ranks; r++)
            ok &= copy_right(run, t, i, r);
        ok &= !t->before || input_unchanged(run, t, i);
    }
    return ok;
}

void case_free(case_run *run)
{
    pkrt_kernel_destroy(run->kernel);
    for (int i = 0; i < run->n_tensors; i++)
        pkrt_tensor_destroy(run->tensors[i].tensor);
    for (int i = 0; i < run->n_owned; i++)
        free(run->owned[i]);
    free(run->owned);
}
