// SPDX-License-Identifier: Apache-2.0
// Modules: PTX text with the description of its kernels in the first line, behind "//pk ".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/internal.h"

static const char mark[] = "//pk ";
enum { JIT_LOG = 4096 };

// ---- description ---------------------------------------------------------------------------------------

static pkrt_status check_version(const pkrt_module *m)
{
    const cJSON *abi = cJSON_GetArrayItem(cJSON_GetObjectItem(m->meta, "abi"), 0);
    int major = cJSON_IsNumber(abi) ? abi->valueint : 0;
    if (major == RT_MAJOR)
        return PKRT_OK;
    return rt_fail(
        m->ctx, PKRT_BAD_MODULE,
        "the module is of version %d, this runtime knows %d: use the pkc and libpkrt of one release", major,
        RT_MAJOR);
}

static const cJSON *kernels(const pkrt_module *m)
{
    return cJSON_GetObjectItem(m->meta, "kernels");
}

static pkrt_status check_kernels(const pkrt_module *m)
{
    const cJSON *k;
    const char *names[RT_MAX_NAMED_DIMS];
    if (cJSON_GetArraySize(kernels(m)) == 0)
        return rt_fail(m->ctx, PKRT_BAD_MODULE, "the module describes no kernel");
    cJSON_ArrayForEach(k, kernels(m))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(k, "name"));
        if (rt_description_dims(k, names) > RT_MAX_NAMED_DIMS)
            return rt_fail(m->ctx, PKRT_BAD_MODULE, "kernel '%s': at most %d named dimensions expected", name,
                           RT_MAX_NAMED_DIMS);
        if (cJSON_GetObjectItem(k, "cluster")->valueint != 1)
            return rt_fail(m->ctx, PKRT_BAD_MODULE, "kernel '%s': this runtime launches no clusters", name);
    }
    return PKRT_OK;
}

static pkrt_status parse_description(pkrt_module *m)
{
    char why[400];
    const char *end = strchr(m->text, '\n');
    size_t skip = sizeof mark - 1;
    if (strncmp(m->text, mark, skip) != 0 || !end)
        return rt_fail(m->ctx, PKRT_BAD_MODULE,
                       "the text does not begin with '//pk': it is no module of pkc (docs/module.md)");
    m->meta = cJSON_ParseWithLength(m->text + skip, (size_t)(end - m->text) - skip);
    if (!cJSON_IsObject(m->meta))
        return rt_fail(m->ctx, PKRT_BAD_MODULE,
                       "the module's description, its first line, is not a JSON object");
    pkrt_status s = check_version(m);
    if (s == PKRT_OK && !rt_description_check(m->meta, why, sizeof why))
        s = rt_fail(m->ctx, PKRT_BAD_MODULE, "the module's description is broken: %s", why);
    return s == PKRT_OK ? check_kernels(m) : s;
}

static pkrt_module *new_module(pkrt_context *ctx, const char *text, size_t length)
{
    pkrt_module *m = calloc(1, sizeof *m);
    char *copy = malloc(length + 1);
    rt_mod *loaded = calloc((size_t)ctx->n_places, sizeof(rt_mod));
    if (!m || !copy || !loaded) {
        free(m);
        free(copy);
        free(loaded);
        return NULL;
    }
    if (length)
        memcpy(copy, text, length);
    copy[length] = 0;
    *m = (pkrt_module){.ctx = ctx, .text = copy, .loaded = loaded, .next = ctx->modules};
    ctx->modules = m;
    return m;
}

pkrt_status pkrt_module_load(pkrt_context *ctx, pkrt_module **out, const char *text, size_t length)
{
    if (!ctx || !out || !text)
        return PKRT_INVALID;
    *out = NULL;
    pkrt_status s = rt_begin(ctx);
    if (s != PKRT_OK)
        return s;
    pkrt_module *m = new_module(ctx, text, length);
    if (!m)
        return rt_fail(ctx, PKRT_NO_MEMORY, "host memory for a module ran out");
    s = parse_description(m);
    if (s == PKRT_OK)
        *out = m;
    else
        pkrt_module_destroy(m);
    return s;
}

void pkrt_module_destroy(pkrt_module *m)
{
    if (!m)
        return;
    pkrt_context *ctx = m->ctx;
    while (m->kernels)
        rt_kernel_free(m->kernels);
    for (int i = 0; i < ctx->n_places; i++)
        if (m->loaded[i]) {
            bool entered = rt_enter_to_free(ctx, i);
            ctx->driver.cuModuleUnload(m->loaded[i]);
            if (entered)
                rt_leave(ctx);
        }
    for (pkrt_module **at = &ctx->modules; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    cJSON_Delete(m->meta);
    free(m->loaded);
    free(m->text);
    free(m);
}

// ---- loading on the devices ----------------------------------------------------------------------------

/// Code for sm_90a runs on capability 9.0 only; code without a letter on its capability and all later ones
/// (PTX ISA, .target).
static pkrt_status check_target(const pkrt_module *m, const rt_place *p)
{
    const char *target = cJSON_GetStringValue(cJSON_GetObjectItem(m->meta, "target"));
    int number = 0, got = p->major * 10 + p->minor;
    char letter = 0;
    int read = sscanf(target, "sm_%d%c", &number, &letter);
    if (read >= 1 && (read == 2 ? got == number : got >= number))
        return PKRT_OK;
    return rt_fail(m->ctx, PKRT_BAD_MODULE, "the module's code is for %s, device %d is sm_%d", target,
                   p->ordinal, got);
}

/// Adds the driver's log, which says what is wrong with the code, to the error.
static void add_log(pkrt_context *ctx, const char *log)
{
    size_t used = strlen(ctx->error);
    if (log[0])
        snprintf(ctx->error + used, sizeof ctx->error - used, ": %s", log);
}

static pkrt_status load_on(pkrt_module *m, int place)
{
    pkrt_context *ctx = m->ctx;
    char log[JIT_LOG] = "";
    int options[] = {RT_JIT_ERROR_LOG, RT_JIT_ERROR_LOG_SIZE};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    pkrt_status s = check_target(m, &ctx->places[place]);
    if (s != PKRT_OK || (s = rt_enter(ctx, place)) != PKRT_OK)
        return s;
    rt_result r = ctx->driver.cuModuleLoadDataEx(&m->loaded[place], m->text, 2, options, values);
    rt_leave(ctx);
    s = rt_check(ctx, r, "loading the module's code");
    if (s == PKRT_OK)
        return s;
    m->loaded[place] = NULL;
    add_log(ctx, log);
    return s == PKRT_DRIVER ? PKRT_BAD_MODULE : s;
}

pkrt_status rt_module_on_devices(pkrt_module *m)
{
    pkrt_status s = PKRT_OK;
    for (int i = 0; s == PKRT_OK && i < m->ctx->n_places; i++)
        if (!m->loaded[i])
            s = load_on(m, i);
    return s;
}

// ---- questions -----------------------------------------------------------------------------------------

int pkrt_module_kernel_count(const pkrt_module *m)
{
    return cJSON_GetArraySize(kernels(m));
}

const char *pkrt_module_kernel_name(const pkrt_module *m, int index)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(kernels(m), index), "name"));
}

const cJSON *rt_module_kernel(const pkrt_module *m, const char *name)
{
    const cJSON *k;
    if (!name)
        return pkrt_module_kernel_count(m) == 1 ? cJSON_GetArrayItem(kernels(m), 0) : NULL;
    cJSON_ArrayForEach(k, kernels(m))
    {
        const char *its = cJSON_GetStringValue(cJSON_GetObjectItem(k, "name"));
        if (its && strcmp(its, name) == 0)
            return k;
    }
    return NULL;
}

static const cJSON *params_of(const pkrt_module *m, const char *kernel)
{
    return cJSON_GetObjectItem(rt_module_kernel(m, kernel), "params");
}

int pkrt_module_param_count(const pkrt_module *m, const char *kernel)
{
    return cJSON_GetArraySize(params_of(m, kernel));
}

bool pkrt_module_param(const pkrt_module *m, const char *kernel, int index, pkrt_param_info *out)
{
    const cJSON *p = cJSON_GetArrayItem(params_of(m, kernel), index);
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItem(p, "kind"));
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItem(p, "elem"));
    if (!kind)
        return false;
    *out = (pkrt_param_info){.name = cJSON_GetStringValue(cJSON_GetObjectItem(p, "name")),
                             .scalar = strcmp(kind, "scalar") == 0,
                             .peer = strcmp(kind, "peer") == 0,
                             .signal = strcmp(kind, "signal") == 0,
                             .clear = cJSON_IsTrue(cJSON_GetObjectItem(p, "clear")),
                             .written = cJSON_IsTrue(cJSON_GetObjectItem(p, "written")),
                             .type = type ? type : "u32",
                             .n_dims = cJSON_GetArraySize(cJSON_GetObjectItem(p, "dims"))};
    rt_elem_find(out->type, &out->elem);
    return true;
}

pkrt_status pkrt_module_param_dim(pkrt_module *m, const char *kernel, int index, int axis,
                                  const char *const *names, const int64_t *values, int n, int64_t *out)
{
    char why[200];
    const cJSON *p = cJSON_GetArrayItem(params_of(m, kernel), index);
    const cJSON *expr = cJSON_GetArrayItem(cJSON_GetObjectItem(p, "dims"), axis);
    if (!expr)
        return rt_fail(m->ctx, PKRT_INVALID, "there is no such axis");
    rt_dim *dims = calloc((size_t)n + 1, sizeof *dims);
    if (!dims)
        return rt_fail(m->ctx, PKRT_NO_MEMORY, "host memory ran out");
    for (int i = 0; i < n; i++)
        dims[i] = (rt_dim){.name = names[i], .value = values[i], .known = true};
    rt_scope scope = {.dims = dims, .n_dims = n, .ranks = m->ctx->n_ranks};
    bool ok = rt_eval(expr, &scope, out, why, sizeof why);
    free(dims);
    return ok ? PKRT_OK
              : rt_fail(m->ctx, PKRT_BAD_SHAPE, "parameter '%s', dimension %d: %s",
                        cJSON_GetStringValue(cJSON_GetObjectItem(p, "name")), axis, why);
}

const char *pkrt_module_dim_name(const pkrt_module *m, const char *kernel, int index)
{
    const char *names[RT_MAX_NAMED_DIMS];
    const cJSON *k = rt_module_kernel(m, kernel);
    return k && index >= 0 && index < rt_description_dims(k, names) ? names[index] : NULL;
}
