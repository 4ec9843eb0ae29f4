// SPDX-License-Identifier: Apache-2.0
// Modules, functions, occupancy, tensor maps and launches.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/api/api.h"
#include "sim/units/units.h"

enum {
    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_SIZE = 6,
    FN_MAX_DYNAMIC_SHARED = 8,
    ATTR_CLUSTER = 4,
    ATTR_COOPERATIVE = 2
};

// ---- modules -------------------------------------------------------------------------------------------

static void free_module(struct api *s, struct api_module *m)
{
    for (uint32_t i = 0; i < m->variable_count; i++)
        if (m->variables[i])
            pksim_mem_free(s->mem, m->variables[i]);
    while (m->functions) {
        struct api_function *f = m->functions;
        m->functions = f->next;
        free(f);
    }
    if (m->module)
        pksim_module_free(m->module);
    free(m->variables);
    free(m);
}

static bool make_variable(struct api *s, struct api_module *m, uint32_t index, uint32_t device)
{
    struct pksim_variable_info info;
    struct pksim_mem_fault fault;
    pksim_module_variable(m->module, index, &info);
    if (pksim_mem_alloc(s->mem, device, info.size ? info.size : 1, &m->variables[index]) != PKSIM_MEM_DONE)
        return false;
    void *bytes = calloc(1, info.size + 1);
    bool ok = bytes != NULL;
    if (ok)
        pksim_module_variable_fill(m->module, index, m->variables, bytes);
    ok = ok && pksim_mem_write(s->mem, m->variables[index], bytes, info.size, &fault);
    free(bytes);
    return ok;
}

static void write_log(unsigned n, const int *options, void **values, const struct pksim_ptx_error *error)
{
    char *log = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < n; i++) {
        if (options[i] == JIT_ERROR_LOG)
            log = values[i];
        if (options[i] == JIT_ERROR_LOG_SIZE)
            size = (size_t)(uintptr_t)values[i];
    }
    if (log && size)
        snprintf(log, size, "PTX line %u: %s", error->line, error->text);
}

API_EXPORT int cuModuleLoadDataEx(struct api_module **out, const void *image, unsigned n, int *options,
                                  void **values)
{
    struct api *s = api_state();
    struct pksim_ptx_error error = {0};
    int result = api_enter("cuModuleLoadDataEx", true);
    if (result)
        return result;
    struct api_context *c = api_current();
    struct api_module *m = c ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return api_leave(c ? API_OUT_OF_MEMORY : API_INVALID_CONTEXT);
    m->module = pksim_module_parse(image, strlen(image), &error);
    if (!m->module) {
        write_log(n, options, values, &error);
        free(m);
        return api_leave(API_INVALID_PTX);
    }
    m->variable_count = pksim_module_variable_count(m->module);
    m->variables = calloc(m->variable_count + 1, sizeof *m->variables);
    bool ok = m->variables != NULL;
    for (uint32_t i = 0; ok && i < m->variable_count; i++)
        ok = make_variable(s, m, i, c->device);
    if (!ok) {
        free_module(s, m);
        return api_leave(API_OUT_OF_MEMORY);
    }
    m->next = s->modules;
    s->modules = m;
    *out = m;
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuModuleUnload(struct api_module *m)
{
    struct api *s = api_state();
    pthread_mutex_lock(&s->lock);
    api_drain(NULL);
    for (struct api_module **at = &s->modules; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            free_module(s, m);
            return api_leave(API_SUCCESS);
        }
    return api_leave(API_INVALID_HANDLE);
}

API_EXPORT int cuModuleGetFunction(struct api_function **out, struct api_module *m, const char *name)
{
    int result = api_enter("cuModuleGetFunction", true);
    if (result)
        return result;
    const struct pksim_function *found = pksim_module_find(m->module, name);
    struct api_function *f = found ? calloc(1, sizeof *f) : NULL;
    if (!f)
        return api_leave(found ? API_OUT_OF_MEMORY : API_NOT_FOUND);
    *f = (struct api_function){.module = m, .function = found, .next = m->functions};
    pksim_function_info(found, &f->info);
    m->functions = f;
    *out = f;
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuFuncSetAttribute(struct api_function *f, int attribute, int value)
{
    int result = api_enter("cuFuncSetAttribute", true);
    if (result)
        return result;
    uint32_t most = api_state()->limits.shared_per_cta - f->info.static_shared;
    bool ok = attribute != FN_MAX_DYNAMIC_SHARED || (value >= 0 && (uint32_t)value <= most);
    return api_leave(ok ? API_SUCCESS : API_INVALID_VALUE);
}

API_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, struct api_function *f, int threads,
                                                           size_t shared)
{
    int result = api_enter("cuOccupancyMaxActiveBlocksPerMultiprocessor", true);
    if (result)
        return result;
    *count = (int)pksim_occupancy(&api_state()->limits, f->function, (uint32_t)threads, (uint32_t)shared);
    return api_leave(API_SUCCESS);
}

// ---- tensor maps ---------------------------------------------------------------------------------------

/// CUtensorMapDataType to our numbers; the count for those that we do not move.
static enum pksim_number map_number(int type)
{
    static const enum pksim_number numbers[] = {PKSIM_U8,  PKSIM_U16, PKSIM_U32, PKSIM_S32, PKSIM_U64,
                                                PKSIM_S64, PKSIM_F16, PKSIM_F32, PKSIM_F64, PKSIM_BF16};
    return type >= 0 && (size_t)type < sizeof numbers / sizeof numbers[0] ? numbers[type]
                                                                          : PKSIM_NUMBER_COUNT;
}

/// The rules of cuTensorMapEncodeTiled (CUDA driver API reference).
static bool map_rules(const struct pksim_tensor_map *m, const uint64_t *dims, const uint64_t *strides,
                      uint32_t bytes)
{
    const uint64_t most_dim = UINT64_C(1) << 32, most_stride = UINT64_C(1) << 40;
    const uint32_t spans[] = {0, 32, 64, 128};
    uint32_t inner = m->box[0] * bytes;
    if (m->address % 16 || m->rank < 1 || m->rank > PKSIM_MAP_MAX_RANK || inner % 16)
        return false;
    if (m->swizzle && inner > spans[m->swizzle])
        return false;
    for (uint32_t i = 0; i < m->rank; i++) {
        if (dims[i] < 1 || dims[i] > most_dim || m->box[i] < 1 || m->box[i] > 256 || m->steps[i] < 1 ||
            m->steps[i] > 8)
            return false;
        if (i + 1 < m->rank && (strides[i] % 16 || strides[i] >= most_stride))
            return false;
    }
    return true;
}

API_EXPORT int cuTensorMapEncodeTiled(void *out, int type, unsigned rank, void *address, const uint64_t *dims,
                                      const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                                      int interleave, int swizzle, int promotion, int fill)
{
    int result = api_enter("cuTensorMapEncodeTiled", true);
    (void)promotion;
    if (result)
        return result;
    enum pksim_number number = map_number(type);
    if (number == PKSIM_NUMBER_COUNT || interleave || swizzle < 0 || swizzle > 3 || rank < 1 ||
        rank > PKSIM_MAP_MAX_RANK)
        return api_leave(API_INVALID_VALUE);
    uint32_t bytes = pksim_number_bytes(number);
    struct pksim_tensor_map m = {.magic = PKSIM_MAP_MAGIC,
                                 .address = (uint64_t)(uintptr_t)address,
                                 .rank = (uint8_t)rank,
                                 .type = (uint8_t)number,
                                 .swizzle = (uint8_t)swizzle,
                                 .nan_fill = fill != 0,
                                 .number_size = (uint8_t)bytes};
    for (unsigned i = 0; i < rank; i++) {
        m.dims[i] = (uint32_t)(dims[i] - 1);
        m.box[i] = (uint16_t)(box[i] > 256 ? 0 : box[i]);
        m.steps[i] = (uint8_t)(steps[i] > 8 ? 0 : steps[i]);
        if (i)
            m.strides[i - 1] = strides[i - 1];
    }
    if (!map_rules(&m, dims, strides, bytes))
        return api_leave(API_INVALID_VALUE);
    memcpy(out, &m, sizeof m);
    return api_leave(API_SUCCESS);
}

// ---- launches ------------------------------------------------------------------------------------------

struct launch_attr {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int value;
        unsigned dims[3];
    } value;
};
struct launch_config {
    unsigned grid[3], block[3], shared;
    struct api_stream *stream;
    struct launch_attr *attrs;
    unsigned n_attrs;
};

/// The parameters one after the other at their offsets.
static void *gather(const struct api_function *f, void **params)
{
    char *block = calloc(1, f->info.param_bytes + 1);
    for (uint32_t i = 0; block && i < f->info.param_count; i++)
        memcpy(block + f->info.params[i].offset, params[i], f->info.params[i].size);
    return block;
}

static void take_attrs(const struct launch_config *config, struct pksim_launch *launch)
{
    for (unsigned i = 0; i < config->n_attrs; i++) {
        const struct launch_attr *a = &config->attrs[i];
        if (a->id == ATTR_COOPERATIVE)
            launch->cooperative = a->value.value != 0;
        if (a->id == ATTR_CLUSTER)
            memcpy(launch->cluster, a->value.dims, sizeof launch->cluster);
    }
}

/// What a GPU refuses at the call: a block too large, a cooperative grid that is not resident at once.
static int check_launch(const struct api *s, const struct api_function *f, const struct pksim_launch *l)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2],
             grid = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    if (!threads || !grid)
        return API_INVALID_VALUE;
    if (threads > s->limits.threads_per_cta)
        return API_INVALID_VALUE;
    uint32_t per_sm = pksim_occupancy(&s->limits, f->function, (uint32_t)threads, l->dynamic_shared);
    if (!per_sm)
        return API_LAUNCH_OUT_OF_RESOURCES;
    return l->cooperative && grid > (uint64_t)per_sm * s->limits.sms ? API_COOPERATIVE_LAUNCH_TOO_LARGE
                                                                     : API_SUCCESS;
}

API_EXPORT int cuLaunchKernelEx(const struct launch_config *config, struct api_function *f, void **params,
                                void **extra)
{
    struct api *s = api_state();
    int result = api_enter("cuLaunchKernelEx", true);
    (void)extra;
    if (result)
        return result;
    struct api_context *c = api_current();
    struct api_work *w = c ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return api_leave(c ? API_OUT_OF_MEMORY : API_INVALID_CONTEXT);
    w->kind = API_LAUNCH;
    w->launch = (struct pksim_launch){.module = f->module->module,
                                      .function = f->function,
                                      .device = c->device,
                                      .dynamic_shared = config->shared,
                                      .param_bytes = f->info.param_bytes,
                                      .variables = f->module->variables};
    memcpy(w->launch.grid, config->grid, sizeof config->grid);
    memcpy(w->launch.block, config->block, sizeof config->block);
    take_attrs(config, &w->launch);
    result = check_launch(s, f, &w->launch);
    w->launch.params = result ? NULL : gather(f, params);
    if (result || !w->launch.params) {
        free(w);
        return api_leave(result ? result : API_OUT_OF_MEMORY);
    }
    api_submit(config->stream ? config->stream : &s->null_streams[c->device], w);
    return api_leave(API_SUCCESS);
}
