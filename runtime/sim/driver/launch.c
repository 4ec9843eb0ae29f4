// SPDX-License-Identifier: Apache-2.0
// Launches: what the call itself refuses, as on a GPU, before anything is queued.
#include <stdlib.h>
#include <string.h>

#include "sim/driver/driver.h"

enum { PORTABLE_CLUSTER = 8, MOST_CLUSTER = 16, MOST_BLOCK_Z = 64, MOST_GRID_YZ = 65535 };

// kernelParams one after the other at their offsets, or the buffer that `extra` gives. NULL: *result says
// why.
static void *gather(const struct pksim_entry *entry, void **params, void **extra, CUresult *result)
{
    const struct pksim_function_info *info = &entry->info;
    const void *buffer = NULL;
    size_t size = 0;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            memcpy(&size, extra[i + 1], sizeof size);
    }
    *result = CUDA_ERROR_INVALID_VALUE;
    if ((extra && params) || (buffer && size < info->param_bytes) ||
        (!buffer && !params && info->param_count))
        return NULL;
    *result = CUDA_ERROR_OUT_OF_MEMORY;
    char *block = calloc(1, (size_t)info->param_bytes + 1);
    if (!block)
        return NULL;
    if (buffer)
        memcpy(block, buffer, info->param_bytes);
    for (uint32_t i = 0; !buffer && i < info->param_count; i++)
        memcpy(block + info->params[i].offset, params[i], info->params[i].size);
    *result = CUDA_SUCCESS;
    return block;
}

static uint64_t volume(const uint32_t *dims)
{
    return (uint64_t)dims[0] * dims[1] * dims[2];
}

static CUresult check_block(const struct driver *d, const struct pksim_entry *entry,
                            const struct pksim_launch *launch)
{
    const struct pksim_function_info *info = &entry->info;
    const uint32_t *block = launch->block;
    uint64_t threads = volume(block);
    if (block[0] > 1024 || block[1] > 1024 || block[2] > MOST_BLOCK_Z)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads == 0 || threads > d->config.limits.threads_per_cta)
        return CUDA_ERROR_INVALID_VALUE;
    if (info->reqntid[0] && memcmp(info->reqntid, block, sizeof info->reqntid) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t most = 1;
    for (int i = 0; i < 3; i++)
        most *= info->maxntid[i] ? info->maxntid[i] : 1;
    return info->maxntid[0] && threads > most ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// The cluster of the launch: the function's own unless the call gives one. Zeros: none.
static CUresult check_cluster(const struct pksim_entry *entry, const struct pksim_launch *launch)
{
    const uint32_t *own = entry->info.cluster, *cluster = launch->cluster[0] ? launch->cluster : own;
    if (!cluster[0])
        return entry->info.needs_cluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    if (own[0] && launch->cluster[0] && memcmp(own, launch->cluster, sizeof entry->info.cluster) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t size = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t side = cluster[i] ? cluster[i] : 1;
        if (launch->grid[i] % side != 0)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        size *= side;
    }
    return size > (entry->large_clusters ? MOST_CLUSTER : PORTABLE_CLUSTER) ? CUDA_ERROR_INVALID_CLUSTER_SIZE
                                                                            : CUDA_SUCCESS;
}

static CUresult check_launch(const struct driver *d, const struct pksim_entry *entry,
                             const struct pksim_launch *launch)
{
    const struct pksim_limits *limits = &d->config.limits;
    const uint32_t *grid = launch->grid;
    if (volume(grid) == 0 || grid[0] > INT32_MAX || grid[1] > MOST_GRID_YZ || grid[2] > MOST_GRID_YZ)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_block(d, entry, launch);
    if (result == CUDA_SUCCESS)
        result = check_cluster(entry, launch);
    if (result != CUDA_SUCCESS)
        return result;
    if (launch->dynamic_shared > entry->max_dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t fit =
        pksim_occupancy(limits, entry->function, (uint32_t)volume(launch->block), launch->dynamic_shared);
    if (fit == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return launch->cooperative && volume(grid) > fit * limits->sms ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                                                   : CUDA_SUCCESS;
}

// A kernel of a library may stand in a function's place (CUDA driver API, cuLaunchKernel).
static struct pksim_entry *entry_of(struct driver *d, CUfunction handle)
{
    struct pksim_entry *entry = pksim_object_find(d, OBJECT_FUNCTION, handle);
    CUkernel kernel = (CUkernel)(void *)handle;
    if (!entry && pksim_object_find(d, OBJECT_KERNEL, kernel) &&
        pksim_cuKernelGetFunction(d, &entry, kernel) != CUDA_SUCCESS)
        return NULL;
    return entry;
}

static void take_attributes(const CUlaunchConfig *config, struct pksim_launch *launch)
{
    for (unsigned int i = 0; config->attrs && i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
            launch->cooperative = attribute->value.cooperative != 0;
        } else if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            launch->cluster[0] = attribute->value.clusterDim.x;
            launch->cluster[1] = attribute->value.clusterDim.y;
            launch->cluster[2] = attribute->value.clusterDim.z;
        }
    }
}

static struct pksim_launch launch_of(const struct pksim_entry *entry, const struct pksim_stream *stream,
                                     const CUlaunchConfig *config)
{
    struct pksim_launch launch = {
        .module = entry->module->image->module,
        .function = entry->function,
        .device = stream->object.context->device,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamic_shared = config->sharedMemBytes,
        .param_bytes = entry->info.param_bytes,
        .variables = entry->module->variables,
    };
    take_attributes(config, &launch);
    return launch;
}

CUresult pksim_cuLaunchKernelEx(struct driver *d, const CUlaunchConfig *config, CUfunction handle,
                                void **params, void **extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    struct pksim_entry *entry = entry_of(d, handle);
    struct pksim_stream *stream = pksim_stream_of(d, config->hStream);
    if (!entry || !stream || entry->object.context != stream->object.context)
        return CUDA_ERROR_INVALID_HANDLE;
    struct task task = {
        .kind = OP_LAUNCH, .module = entry->module, .launch = launch_of(entry, stream, config)};
    CUresult result = check_launch(d, entry, &task.launch);
    if (result == CUDA_SUCCESS)
        task.launch.params = gather(entry, params, extra, &result);
    return result != CUDA_SUCCESS ? result : pksim_submit(d, stream, &task);
}

CUresult pksim_cuLaunchKernel(struct driver *d, CUfunction f, unsigned int grid_x, unsigned int grid_y,
                              unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                              unsigned int block_z, unsigned int shared, CUstream stream, void **params,
                              void **extra)
{
    CUlaunchConfig config = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, NULL, 0};
    return pksim_cuLaunchKernelEx(d, &config, f, params, extra);
}

CUresult pksim_cuLaunchCooperativeKernel(struct driver *d, CUfunction f, unsigned int grid_x,
                                         unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                         unsigned int block_y, unsigned int block_z, unsigned int shared,
                                         CUstream stream, void **params)
{
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
    CUlaunchConfig config = {grid_x,  grid_y, grid_z, block_x,      block_y,
                             block_z, shared, stream, &cooperative, 1};
    return pksim_cuLaunchKernelEx(d, &config, f, params, NULL);
}
