// SPDX-License-Identifier: Apache-2.0
#include "run/job.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((format(printf, 3, 4))) static job_status fail(job *j, job_status status, const char *format,
                                                             ...)
{
    enum { ROOM = 16384 };
    va_list list;
    free(j->problem);
    j->problem = data_alloc(ROOM);
    va_start(list, format);
    vsnprintf(j->problem, ROOM, format, list);
    va_end(list);
    return status;
}

static job_status fail_runtime(job *j, const char *what)
{
    return fail(j, JOB_WRONG, "%s: %s", what, pkrt_last_error(j->ctx));
}

static void *zeroed(size_t n, size_t size)
{
    void *p = data_alloc(n * size);
    memset(p, 0, n * size);
    return p;
}

// ---- what runs -----------------------------------------------------------------------------------------

static job_status open_context(job *j)
{
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    if (j->a->check && setenv("PKSIM_CHECK", j->a->check, 1) != 0)
        return fail(j, JOB_WRONG, "--check: memory ran out");
    o.backend = j->a->backend;
    o.ranks = j->a->ranks;
    o.devices = j->a->devices;
    o.driver = j->a->driver;
    o.multicast = j->a->multicast;
    if (pkrt_context_create(&j->ctx, &o) != PKRT_OK)
        return fail_runtime(j, "opening devices");
    if (j->a->backend == PKRT_BACKEND_AUTO && pkrt_context_backend(j->ctx) == PKRT_BACKEND_SIM)
        fputs("pkrun: there is no GPU here, so this runs on the simulator\n", stderr);
    return JOB_OK;
}

/// The names of all kernels, for a message.
static void list_kernels(const pkrt_module *m, char *out, size_t size)
{
    out[0] = 0;
    for (int i = 0; i < pkrt_module_kernel_count(m); i++)
        snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? ", " : "", pkrt_module_kernel_name(m, i));
}

static job_status choose_kernel(job *j)
{
    char names[1000];
    int n = pkrt_module_kernel_count(j->module);
    list_kernels(j->module, names, sizeof names);
    if (!j->a->kernel && n > 1)
        return fail(j, JOB_USAGE, "the file has several kernels, name one of them: %s", names);
    for (int i = 0; i < n; i++)
        if (!j->a->kernel || strcmp(j->a->kernel, pkrt_module_kernel_name(j->module, i)) == 0)
            j->name = pkrt_module_kernel_name(j->module, i);
    return j->name ? JOB_OK
                   : fail(j, JOB_USAGE, "the file has no kernel '%s'; it has %s", j->a->kernel, names);
}

static void list_interface(job *j)
{
    j->n_params = pkrt_module_param_count(j->module, j->name);
    j->params = zeroed((size_t)j->n_params, sizeof *j->params);
    for (int i = 0; i < j->n_params; i++)
        pkrt_module_param(j->module, j->name, i, &j->params[i].info);
    while (pkrt_module_dim_name(j->module, j->name, j->n_dims))
        j->n_dims++;
    j->dims = zeroed((size_t)j->n_dims, sizeof *j->dims);
    for (int i = 0; i < j->n_dims; i++)
        j->dims[i].name = pkrt_module_dim_name(j->module, j->name, i);
}

static job_status load(job *j, const char *text, size_t len)
{
    if (pkrt_module_load(j->ctx, &j->module, text, len) != PKRT_OK)
        return fail_runtime(j, j->a->file);
    job_status s = choose_kernel(j);
    if (s == JOB_OK)
        list_interface(j);
    return s;
}

// ---- names on the command line -------------------------------------------------------------------------

static bool is_tensor(const job_param *p)
{
    return !p->info.scalar && !p->info.signal;
}

static job_param *find_param(job *j, const args_pair *pair)
{
    for (int i = 0; i < j->n_params; i++)
        if (strlen(j->params[i].info.name) == pair->len &&
            strncmp(j->params[i].info.name, pair->name, pair->len) == 0)
            return &j->params[i];
    return NULL;
}

/// "M, N and a": what may stand before '='.
static void list_names(const job *j, char *out, size_t size)
{
    out[0] = 0;
    for (int i = 0; i < j->n_dims; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s%s", out[0] ? ", " : "", j->dims[i].name);
    for (int i = 0; i < j->n_params; i++)
        if (j->params[i].info.scalar)
            snprintf(out + strlen(out), size - strlen(out), "%s%s", out[0] ? ", " : "",
                     j->params[i].info.name);
}

static job_status take_scalar(job *j, job_param *p, const args_pair *pair)
{
    bool is_float = p->info.type[0] == 'f';
    if (strcmp(pair->value, "true") == 0 || strcmp(pair->value, "false") == 0)
        p->arg.i = pair->value[0] == 't';
    else if (is_float ? !args_number(pair->value, &p->arg.f) : !args_whole(pair->value, &p->arg.i))
        return fail(j, JOB_USAGE, "parameter %s is %s: '%s' is no such number", p->info.name, p->info.type,
                    pair->value);
    p->arg.name = p->info.name;
    return JOB_OK;
}

static job_status take_value(job *j, const args_pair *pair)
{
    char names[1000];
    job_param *p = find_param(j, pair);
    if (p && p->info.scalar)
        return take_scalar(j, p, pair);
    for (int i = 0; i < j->n_dims; i++) {
        job_dim *d = &j->dims[i];
        if (strlen(d->name) != pair->len || strncmp(d->name, pair->name, pair->len) != 0)
            continue;
        d->known = args_whole(pair->value, &d->value) && d->value >= 0 && d->value <= INT32_MAX;
        return d->known ? JOB_OK
                        : fail(j, JOB_USAGE, "%s expected to be a whole number from 0 to %d, got '%s'",
                               d->name, INT32_MAX, pair->value);
    }
    list_names(j, names, sizeof names);
    return fail(j, JOB_USAGE, "kernel %s has no dimension or scalar parameter '%.*s'%s%s", j->name,
                (int)pair->len, pair->name, names[0] ? "; it has " : "", names);
}

/// The tensor that PARAM=... names.
static job_status find_tensor(job *j, const args_pair *pair, const char *option, job_param **out)
{
    *out = find_param(j, pair);
    if (*out && is_tensor(*out))
        return JOB_OK;
    return fail(j, JOB_USAGE, "%s %s: kernel %s has no tensor parameter '%.*s'", option, pair->name, j->name,
                (int)pair->len, pair->name);
}

static job_status take_tensor_options(job *j)
{
    const args *a = j->a;
    job_param *p;
    job_status s = JOB_OK;
    for (int i = 0; i < j->n_params; i++)
        j->params[i].fill.kind = j->params[i].info.written ? DATA_POISON : DATA_NORMAL;
    for (int i = 0; s == JOB_OK && i < a->fill.n; i++) {
        s = find_tensor(j, &a->fill.items[i], "--fill", &p);
        if (s == JOB_OK && !data_parse_fill(a->fill.items[i].value, &p->fill))
            s = fail(j, JOB_USAGE, "--fill %s: normal, uniform, iota, zero or const:V expected",
                     a->fill.items[i].name);
    }
    for (int i = 0; s == JOB_OK && i < a->in.n; i++)
        if ((s = find_tensor(j, &a->in.items[i], "--in", &p)) == JOB_OK)
            p->in = a->in.items[i].value;
    for (int i = 0; s == JOB_OK && i < a->out.n; i++) {
        if ((s = find_tensor(j, &a->out.items[i], "--out", &p)) != JOB_OK)
            break;
        p->out = a->out.items[i].value;
        if (a->ranks > 1 && !strstr(p->out, "{rank}"))
            s = fail(j, JOB_USAGE, "--out %s: the name needs {rank}, as there are %d ranks",
                     a->out.items[i].name, a->ranks);
    }
    return s;
}

static job_status take_names(job *j)
{
    job_status s = JOB_OK;
    for (int i = 0; s == JOB_OK && i < j->a->values.n; i++)
        s = take_value(j, &j->a->values.items[i]);
    for (int i = 0; s == JOB_OK && i < j->n_params; i++)
        if (j->params[i].info.scalar && !j->params[i].arg.name)
            s = fail(j, JOB_USAGE, "scalar parameter %s of kernel %s needs a value: %s=NUMBER",
                     j->params[i].info.name, j->name, j->params[i].info.name);
    return s == JOB_OK ? take_tensor_options(j) : s;
}

// ---- shapes --------------------------------------------------------------------------------------------

/// A dimension that is a bare name and not yet known takes its value from a file's shape. Whether it is one
/// is seen by asking for the axis's size with two values of the name.
static void bind_from_file(job *j, int param, int axis, int64_t size)
{
    for (int i = 0; i < j->n_dims; i++) {
        int64_t got;
        const char *name = j->dims[i].name;
        bool bare = true;
        for (int64_t v = 1; bare && v <= 7; v += 3) // 1, 4, 7
            bare = pkrt_module_param_dim(j->module, j->name, param, axis, &name, &v, 1, &got) == PKRT_OK &&
                   got == v;
        if (bare && !j->dims[i].known) {
            j->dims[i].known = true;
            j->dims[i].value = size;
        }
    }
}

static job_status bind_from_files(job *j)
{
    char why[NPY_WHY];
    for (int i = 0; i < j->n_params; i++) {
        npy_array array;
        if (!j->params[i].in)
            continue;
        char *path = data_path(j->params[i].in, 0);
        bool good = npy_read(path, &array, why);
        free(path);
        if (!good)
            return fail(j, JOB_USAGE, "--in %s: %s", j->params[i].info.name, why);
        for (int axis = 0; axis < array.n_dims; axis++)
            bind_from_file(j, i, axis, array.dims[axis]);
        npy_free(&array);
    }
    return JOB_OK;
}

static job_status check_dims(job *j)
{
    char missing[1000] = "";
    for (int i = 0; i < j->n_dims; i++)
        if (!j->dims[i].known)
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), "%s%s=SIZE",
                     missing[0] ? " " : "", j->dims[i].name);
    return missing[0] ? fail(j, JOB_USAGE, "kernel %s has dimensions that need a size: %s", j->name, missing)
                      : JOB_OK;
}

static job_status size_param(job *j, int index)
{
    job_param *p = &j->params[index];
    const char **names = data_alloc((size_t)j->n_dims * sizeof *names);
    int64_t *values = data_alloc((size_t)j->n_dims * sizeof *values);
    pkrt_status s = PKRT_OK;
    for (int i = 0; i < j->n_dims; i++) {
        names[i] = j->dims[i].name;
        values[i] = j->dims[i].value;
    }
    for (int axis = 0; s == PKRT_OK && axis < p->info.n_dims; axis++)
        s = pkrt_module_param_dim(j->module, j->name, index, axis, names, values, j->n_dims, &p->dims[axis]);
    free(names);
    free(values);
    return s == PKRT_OK ? JOB_OK : fail_runtime(j, j->name);
}

// ---- tensors -------------------------------------------------------------------------------------------

static bool same_shape(const job_param *p, const npy_array *array)
{
    if (array->n_dims != p->info.n_dims)
        return false;
    for (int i = 0; i < array->n_dims; i++)
        if (array->dims[i] != p->dims[i])
            return false;
    return true;
}

static void shape_text(int n, const int64_t *dims, char *out, size_t size)
{
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s%" PRId64, i ? ", " : "", dims[i]);
}

static job_status fill_from_file(job *j, job_param *p, int rank)
{
    npy_array array;
    char why[NPY_WHY], want[120], got[120];
    char *path = data_path(p->in, rank);
    job_status s = JOB_OK;
    if (!npy_read(path, &array, why)) {
        s = fail(j, JOB_USAGE, "--in %s: %s", p->info.name, why);
    } else if (!same_shape(p, &array)) {
        shape_text(p->info.n_dims, p->dims, want, sizeof want);
        shape_text(array.n_dims, array.dims, got, sizeof got);
        s = fail(j, JOB_USAGE, "--in %s: %s: shape [%s] expected, got [%s]", p->info.name, path, want, got);
    } else if (!data_from_npy(p->tensor, p->info.elem, rank, &array, why)) {
        s = fail(j, JOB_USAGE, "--in %s: %s: %s", p->info.name, path, why);
    }
    npy_free(&array);
    free(path);
    return s;
}

static job_status fill(job *j, int index)
{
    job_param *p = &j->params[index];
    for (int r = 0; r < j->a->ranks; r++) {
        uint64_t seed = (j->a->seed * 1000003 + (uint64_t)index) * 1000003 + (uint64_t)r;
        job_status s = JOB_OK;
        if (p->in)
            s = fill_from_file(j, p, r);
        else if (data_fill_tensor(p->tensor, p->info.elem, r, p->fill, seed) != PKRT_OK)
            s = fail_runtime(j, p->info.name);
        if (s != JOB_OK)
            return s;
    }
    return JOB_OK;
}

static job_status make_tensor(job *j, int index)
{
    job_param *p = &j->params[index];
    if (!is_tensor(p))
        return JOB_OK;
    job_status s = size_param(j, index);
    if (s != JOB_OK)
        return s;
    unsigned flags = p->info.peer ? PKRT_SYMMETRIC : 0;
    if (pkrt_tensor_create(j->ctx, &p->tensor, p->info.elem, p->info.n_dims, p->dims, flags) != PKRT_OK)
        return fail_runtime(j, p->info.name);
    p->arg = (pkrt_arg){.name = p->info.name, .tensor = p->tensor};
    return fill(j, index);
}

// ---- launches ------------------------------------------------------------------------------------------

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static job_status bind(job *j)
{
    pkrt_arg *list = data_alloc((size_t)j->n_params * sizeof *list);
    int n = 0;
    for (int i = 0; i < j->n_params; i++)
        if (!j->params[i].info.signal)
            list[n++] = j->params[i].arg;
    pkrt_status s = pkrt_kernel_bind(j->module, &j->kernel, j->name, list, n);
    free(list);
    return s == PKRT_OK ? JOB_OK : fail(j, JOB_WRONG, "%s", pkrt_last_error(j->ctx));
}

static job_status launch(job *j)
{
    j->seconds = zeroed((size_t)j->a->launches, sizeof *j->seconds);
    for (int i = 0; i < j->a->launches; i++) {
        double start = now();
        bool waits = !j->a->check || i + 1 == j->a->launches; // a wait would hide races between launches
        if (pkrt_kernel_launch(j->kernel, NULL) != PKRT_OK ||
            (waits && pkrt_context_synchronize(j->ctx) != PKRT_OK))
            return fail(j, JOB_WRONG, "launch %d of kernel %s: %s", i + 1, j->name, pkrt_last_error(j->ctx));
        j->seconds[i] = now() - start;
    }
    return JOB_OK;
}

// ---- results -------------------------------------------------------------------------------------------

static job_status write_file(job *j, job_param *p, int rank)
{
    char why[NPY_WHY];
    char *path = data_path(p->out, rank);
    bool good = data_to_npy(p->tensor, p->info.elem, p->info.n_dims, p->dims, rank, path, why);
    free(path);
    return good ? JOB_OK : fail(j, JOB_WRONG, "--out %s: %s", p->info.name, why);
}

static job_status check_written(job *j, const job_param *p, int rank)
{
    char at[120];
    int64_t index[PKRT_MAX_DIMS];
    const data_figures *f = &p->figures[rank];
    int64_t rest = f->first_poison;
    if (p->fill.kind != DATA_POISON || p->in || f->poison == 0)
        return JOB_OK;
    for (int i = p->info.n_dims - 1; i >= 0; i--) {
        index[i] = rest % p->dims[i];
        rest /= p->dims[i];
    }
    shape_text(p->info.n_dims, index, at, sizeof at);
    return fail(j, JOB_WRONG,
                "rank %d, parameter %s: %zu of %zu elements were never written, the first is %s[%s]", rank,
                p->info.name, f->poison, f->count, p->info.name, at);
}

static job_status look_at(job *j, job_param *p)
{
    job_status s = JOB_OK, found = JOB_OK;
    if (!p->tensor || (!p->info.written && !p->out))
        return JOB_OK;
    p->figures = zeroed((size_t)j->a->ranks, sizeof *p->figures);
    for (int r = 0; s == JOB_OK && r < j->a->ranks; r++) {
        if (data_measure(p->tensor, p->info.elem, r, &p->figures[r]) != PKRT_OK)
            return fail_runtime(j, p->info.name);
        if (p->out)
            s = write_file(j, p, r);
        if (s == JOB_OK && found == JOB_OK)
            found = check_written(j, p, r);
    }
    return s == JOB_OK ? found : s;
}

static job_status look_at_all(job *j)
{
    job_status first = JOB_OK;
    for (int i = 0; i < j->n_params; i++) {
        char *problem = first == JOB_OK ? NULL : j->problem;
        if (problem)
            j->problem = NULL;
        job_status s = look_at(j, &j->params[i]);
        if (problem) { // the first one is told
            free(j->problem);
            j->problem = problem;
        }
        first = first == JOB_OK ? s : first;
    }
    return first;
}

job_status job_run(job *j, const args *a, const char *text, size_t len)
{
    *j = (job){.a = a};
    job_status s = open_context(j);
    if (s == JOB_OK)
        s = load(j, text, len);
    if (s == JOB_OK)
        s = take_names(j);
    if (s == JOB_OK)
        s = bind_from_files(j);
    if (s == JOB_OK)
        s = check_dims(j);
    for (int i = 0; s == JOB_OK && i < j->n_params; i++)
        s = make_tensor(j, i);
    if (s == JOB_OK)
        s = bind(j);
    if (s == JOB_OK)
        s = launch(j);
    return s == JOB_OK ? look_at_all(j) : s;
}

void job_free(job *j)
{
    pkrt_context_destroy(j->ctx);
    for (int i = 0; i < j->n_params; i++)
        free(j->params[i].figures);
    free(j->params);
    free(j->dims);
    free(j->seconds);
    free(j->problem);
}
