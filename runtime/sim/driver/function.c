// SPDX-License-Identifier: Apache-2.0
// Functions: attributes, and how many of their CTAs fit.
#include "sim/driver/driver.h"

enum { PORTABLE_CLUSTER = 8, MOST_CLUSTER = 16 };

static uint32_t threads_limit(const struct driver *d, const struct pksim_function_info *info)
{
    const uint32_t *given = info->reqntid[0] ? info->reqntid : info->maxntid;
    uint32_t product = given[0] * (given[1] ? given[1] : 1) * (given[2] ? given[2] : 1);
    return product ? product : d->config.limits.threads_per_cta;
}

static bool attribute(const struct driver *d, const struct pksim_entry *entry, CUfunction_attribute which,
                      int *out)
{
    const struct pksim_function_info *info = &entry->info;
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *out = (int)threads_limit(d, info);
        return true;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out = (int)info->static_shared;
        return true;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *out = (int)info->local_bytes;
        return true;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *out = (int)info->registers;
        return true;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *out = 90;
        return true;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *out = (int)entry->max_dynamic_shared;
        return true;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *out = -1;
        return true;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *out = info->needs_cluster && !info->cluster[0];
        return true;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *out = (int)info->cluster[which - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return true;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *out = entry->large_clusters;
        return true;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *out = 0;
        return true;
    }
    return false;
}

CUresult pksim_cuFuncGetAttribute(struct driver *d, int *value, CUfunction_attribute which, CUfunction handle)
{
    const struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    return attribute(d, entry, which, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_shared(const struct driver *d, struct pksim_entry *entry, int value)
{
    uint32_t most = d->config.limits.shared_per_cta, fixed = entry->info.static_shared;
    if (value < 0 || fixed > most || (uint32_t)value > most - fixed)
        return CUDA_ERROR_INVALID_VALUE;
    entry->max_dynamic_shared = (uint32_t)value;
    return CUDA_SUCCESS;
}

CUresult pksim_cuFuncSetAttribute(struct driver *d, CUfunction handle, CUfunction_attribute which, int value)
{
    struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return set_shared(d, entry, value);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        entry->large_clusters = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        break;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult pksim_cuFuncSetCacheConfig(struct driver *d, CUfunction handle, CUfunc_cache config)
{
    if (!pksim_object_find(d, OBJECT_FUNCTION, handle))
        return CUDA_ERROR_INVALID_HANDLE;
    return (int)config >= 0 && (int)config <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult pksim_cuFuncGetName(struct driver *d, const char **name, CUfunction handle)
{
    const struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    *name = entry->info.name;
    return CUDA_SUCCESS;
}

CUresult pksim_cuFuncGetModule(struct driver *d, CUmodule *module, CUfunction handle)
{
    const struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    *module = entry->module;
    return CUDA_SUCCESS;
}

CUresult pksim_cuFuncGetParamInfo(struct driver *d, CUfunction handle, size_t index, size_t *offset,
                                  size_t *size)
{
    const struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!offset || index >= entry->info.param_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = entry->info.params[index].offset;
    if (size)
        *size = entry->info.params[index].size;
    return CUDA_SUCCESS;
}

CUresult pksim_cuFuncLoad(struct driver *d, CUfunction handle)
{
    return pksim_object_find(d, OBJECT_FUNCTION, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// ---- Occupancy

CUresult pksim_cuOccupancyMaxActiveBlocksPerMultiprocessor(struct driver *d, int *count, CUfunction handle,
                                                           int threads, size_t dynamic_shared)
{
    const struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    if (!count || threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    *count = 0;
    if (dynamic_shared <= d->config.limits.shared_per_cta)
        *count = (int)pksim_occupancy(&d->config.limits, entry->function, (uint32_t)threads,
                                      (uint32_t)dynamic_shared);
    return CUDA_SUCCESS;
}

CUresult pksim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(struct driver *d, int *count,
                                                                    CUfunction handle, int threads,
                                                                    size_t dynamic_shared, unsigned int flags)
{
    if (flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    return pksim_cuOccupancyMaxActiveBlocksPerMultiprocessor(d, count, handle, threads, dynamic_shared);
}

CUresult pksim_cuOccupancyAvailableDynamicSMemPerBlock(struct driver *d, size_t *bytes, CUfunction handle,
                                                       int blocks, int threads)
{
    const struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    const struct pksim_limits *limits = &d->config.limits;
    if (!bytes || blocks <= 0 || threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    uint32_t share = limits->shared_per_sm / (uint32_t)blocks;
    uint32_t fixed = entry->info.static_shared + limits->shared_reserved;
    share = share > fixed ? share - fixed : 0;
    uint32_t most = limits->shared_per_cta - entry->info.static_shared;
    *bytes = (share < most ? share : most) & ~127u;
    return CUDA_SUCCESS;
}

// CTAs of the cluster that a configuration asks for; 1 without one.
static uint32_t cluster_of(const struct pksim_entry *entry, const CUlaunchConfig *config)
{
    uint32_t size = 1;
    for (int i = 0; i < 3; i++)
        size *= entry->info.cluster[i] ? entry->info.cluster[i] : 1;
    for (unsigned int i = 0; config->attrs && i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            size = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
                   config->attrs[i].value.clusterDim.z;
    return size;
}

// A cluster's CTAs lie on any multiprocessors here: the simulated machine has no groups of them.
CUresult pksim_cuOccupancyMaxActiveClusters(struct driver *d, int *count, CUfunction handle,
                                            const CUlaunchConfig *config)
{
    const struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    int blocks;
    if (!count || !config)
        return CUDA_ERROR_INVALID_VALUE;
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    uint32_t size = cluster_of(entry, config);
    if (size == 0 || size > (entry->large_clusters ? MOST_CLUSTER : PORTABLE_CLUSTER))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    CUresult result = pksim_cuOccupancyMaxActiveBlocksPerMultiprocessor(
        d, &blocks, handle, (int)(config->blockDimX * config->blockDimY * config->blockDimZ),
        config->sharedMemBytes);
    if (result == CUDA_SUCCESS)
        *count = (int)((uint32_t)blocks * d->config.limits.sms / size);
    return result;
}

CUresult pksim_cuOccupancyMaxPotentialClusterSize(struct driver *d, int *size, CUfunction handle,
                                                  const CUlaunchConfig *config)
{
    const struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    int blocks;
    if (!size || !config)
        return CUDA_ERROR_INVALID_VALUE;
    if (!entry)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = pksim_cuOccupancyMaxActiveBlocksPerMultiprocessor(
        d, &blocks, handle, (int)(config->blockDimX * config->blockDimY * config->blockDimZ),
        config->sharedMemBytes);
    uint32_t room = (uint32_t)(result == CUDA_SUCCESS ? blocks : 0) * d->config.limits.sms;
    *size = entry->large_clusters ? MOST_CLUSTER : PORTABLE_CLUSTER;
    while (*size > 0 && (uint32_t)*size > room)
        *size /= 2;
    return result;
}
