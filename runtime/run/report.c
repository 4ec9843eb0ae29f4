// SPDX-License-Identifier: Apache-2.0
#include "run/report.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct times {
    double least, median; // seconds
} times;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static times time_of(const job *j)
{
    size_t n = (size_t)j->a->launches;
    double *sorted = data_alloc(n * sizeof *sorted);
    memcpy(sorted, j->seconds, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    times t = {.least = sorted[0], .median = sorted[n / 2]};
    free(sorted);
    return t;
}

static const char *backend(const job *j)
{
    return pkrt_context_backend(j->ctx) == PKRT_BACKEND_SIM ? "sim" : "cuda";
}

// ---- text ----------------------------------------------------------------------------------------------

static void print_head(const job *j)
{
    int devices = pkrt_context_device_count(j->ctx);
    printf("%s", j->name);
    for (int i = 0; i < j->n_dims; i++)
        printf(" %s=%" PRId64, j->dims[i].name, j->dims[i].value);
    printf(": %d rank%s on %d device%s%s (%s), %d worker%s each, %d launch%s\n", j->a->ranks,
           j->a->ranks == 1 ? "" : "s", devices, devices == 1 ? "" : "s",
           pkrt_context_multicast(j->ctx) ? " with multicast" : "", pkrt_context_device_name(j->ctx),
           pkrt_kernel_sms(j->kernel), pkrt_kernel_sms(j->kernel) == 1 ? "" : "s", j->a->launches,
           j->a->launches == 1 ? "" : "es");
}

static void print_figures(const job_param *p, int rank)
{
    const data_figures *f = &p->figures[rank];
    printf("  %s rank %d: from %.6g to %.6g, norm %.6g, checksum %016" PRIx64, p->info.name, rank, f->least,
           f->largest, f->norm, f->checksum);
    if (f->nan)
        printf(", %zu NaN", f->nan);
    putchar('\n');
}

static void print_text(const job *j, job_status status)
{
    if (j->kernel)
        print_head(j);
    for (int i = 0; i < j->n_params; i++)
        for (int r = 0; j->params[i].figures && r < j->a->ranks; r++)
            print_figures(&j->params[i], r);
    if (status == JOB_OK && j->a->time) {
        times t = time_of(j);
        printf("  a launch took %.1f us at least, %.1f us in the median of %d, seen from the host\n",
               t.least * 1e6, t.median * 1e6, j->a->launches);
    }
}

// ---- JSON ----------------------------------------------------------------------------------------------

static void add_figures(cJSON *list, const job_param *p, int rank)
{
    const data_figures *f = &p->figures[rank];
    char checksum[20];
    cJSON *o = cJSON_CreateObject();
    snprintf(checksum, sizeof checksum, "%016" PRIx64, f->checksum);
    cJSON_AddStringToObject(o, "param", p->info.name);
    cJSON_AddNumberToObject(o, "rank", rank);
    cJSON_AddStringToObject(o, "type", p->info.type);
    cJSON *shape = cJSON_AddArrayToObject(o, "shape");
    for (int i = 0; i < p->info.n_dims; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)p->dims[i]));
    cJSON_AddNumberToObject(o, "min", f->least);
    cJSON_AddNumberToObject(o, "max", f->largest);
    cJSON_AddNumberToObject(o, "sum", f->sum);
    cJSON_AddNumberToObject(o, "norm", f->norm);
    cJSON_AddNumberToObject(o, "nan", (double)f->nan);
    cJSON_AddNumberToObject(o, "unwritten", p->fill.kind == DATA_POISON && !p->in ? (double)f->poison : 0);
    cJSON_AddStringToObject(o, "checksum", checksum);
    cJSON_AddItemToArray(list, o);
}

static void add_run(cJSON *o, const job *j)
{
    cJSON_AddStringToObject(o, "kernel", j->name);
    cJSON *dims = cJSON_AddObjectToObject(o, "dims");
    for (int i = 0; i < j->n_dims; i++)
        cJSON_AddNumberToObject(dims, j->dims[i].name, (double)j->dims[i].value);
    cJSON_AddStringToObject(o, "backend", backend(j));
    cJSON_AddStringToObject(o, "device", pkrt_context_device_name(j->ctx));
    cJSON_AddNumberToObject(o, "devices", pkrt_context_device_count(j->ctx));
    cJSON_AddBoolToObject(o, "multicast", pkrt_context_multicast(j->ctx));
    cJSON_AddNumberToObject(o, "workers", pkrt_kernel_sms(j->kernel));
    cJSON *outputs = cJSON_AddArrayToObject(o, "outputs");
    for (int i = 0; i < j->n_params; i++)
        for (int r = 0; j->params[i].figures && r < j->a->ranks; r++)
            add_figures(outputs, &j->params[i], r);
}

static void print_json(const job *j, job_status status)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddBoolToObject(o, "ok", status == JOB_OK);
    if (j->problem)
        cJSON_AddStringToObject(o, "problem", j->problem);
    cJSON_AddStringToObject(o, "file", j->a->file);
    cJSON_AddNumberToObject(o, "ranks", j->a->ranks);
    cJSON_AddNumberToObject(o, "launches", j->a->launches);
    cJSON_AddNumberToObject(o, "seed", (double)j->a->seed);
    if (j->kernel)
        add_run(o, j);
    if (status == JOB_OK && j->a->time) {
        times t = time_of(j);
        cJSON *us = cJSON_AddObjectToObject(o, "microseconds");
        cJSON_AddNumberToObject(us, "least", t.least * 1e6);
        cJSON_AddNumberToObject(us, "median", t.median * 1e6);
    }
    char *text = cJSON_PrintUnformatted(o);
    if (text)
        puts(text);
    free(text);
    cJSON_Delete(o);
}

void report_print(const job *j, job_status status)
{
    if (j->a->json)
        print_json(j, status);
    else
        print_text(j, status);
    if (j->problem)
        fprintf(stderr, "pkrun: %s\n", j->problem);
    if (status == JOB_USAGE)
        fputs("try 'pkrun --help'\n", stderr);
}
