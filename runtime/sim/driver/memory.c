// SPDX-License-Identifier: Apache-2.0
// cuMemAlloc, page-locked host memory, what lies at an address, copies and fills.
#include <stdlib.h>
#include <string.h>

#include "sim/driver/driver.h"

CUresult pksim_mem_result(enum pksim_mem_status status)
{
    switch (status) {
    case PKSIM_MEM_DONE:
        return CUDA_SUCCESS;
    case PKSIM_MEM_EXHAUSTED:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case PKSIM_MEM_INVALID:
    case PKSIM_MEM_NOT_FOUND:
    case PKSIM_MEM_IN_USE:
        break;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

// ---- Allocations

static struct memory *memory_at(const struct driver *d, uint64_t address, bool host)
{
    for (struct object *o = d->objects[OBJECT_MEMORY]; o; o = o->next) {
        struct memory *memory = (struct memory *)o;
        if (memory->address == address && memory->host == host)
            return memory;
    }
    return NULL;
}

void pksim_memory_delete(struct driver *d, struct memory *memory)
{
    if (memory->host)
        pksim_mem_host_free(d->config.mem, (void *)(uintptr_t)memory->address);
    else
        pksim_mem_free(d->config.mem, memory->address);
    pksim_object_delete(d, memory);
}

CUresult pksim_cuMemGetInfo_v2(struct driver *d, size_t *free_bytes, size_t *total)
{
    if (!free_bytes || !total)
        return CUDA_ERROR_INVALID_VALUE;
    *total = pksim_mem_capacity(d->config.mem);
    *free_bytes = *total - pksim_mem_used(d->config.mem, pksim_current(d)->device);
    return CUDA_SUCCESS;
}

CUresult pksim_cuMemAlloc_v2(struct driver *d, CUdeviceptr *out, size_t bytes)
{
    struct pksim_context *context = pksim_current(d);
    if (!out || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct memory *memory = pksim_object_new(d, OBJECT_MEMORY, sizeof *memory, context);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result =
        pksim_mem_result(pksim_mem_alloc(d->config.mem, context->device, bytes, &memory->address));
    if (result != CUDA_SUCCESS)
        pksim_object_delete(d, memory);
    else
        *out = memory->address;
    return result;
}

// Freeing waits for the context's work, as it does on a GPU. A null pointer is no mistake.
CUresult pksim_cuMemFree_v2(struct driver *d, CUdeviceptr address)
{
    struct memory *memory = memory_at(d, address, false);
    if (!memory)
        return address ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    CUresult result = pksim_wait_context(d, memory->object.context);
    memory = memory_at(d, address, false);
    if (memory)
        pksim_memory_delete(d, memory);
    return result;
}

// In the order of the stream: memory is there at once, which no program can tell from a little later.
CUresult pksim_cuMemAllocAsync(struct driver *d, CUdeviceptr *out, size_t bytes, CUstream stream)
{
    if (!pksim_stream_of(d, stream))
        return CUDA_ERROR_INVALID_HANDLE;
    return pksim_cuMemAlloc_v2(d, out, bytes);
}

CUresult pksim_cuMemFreeAsync(struct driver *d, CUdeviceptr address, CUstream handle)
{
    struct pksim_stream *stream = pksim_stream_of(d, handle);
    struct memory *memory = memory_at(d, address, false);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    struct task task = {.kind = OP_FREE, .to = address};
    CUresult result = pksim_submit(d, stream, &task);
    if (result == CUDA_SUCCESS)
        pksim_object_delete(d, memory);
    return result;
}

CUresult pksim_cuMemGetAddressRange_v2(struct driver *d, CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    struct pksim_mem_info info;
    if (!pksim_mem_query(d->config.mem, address, &info))
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = info.base;
    if (size)
        *size = info.size;
    return CUDA_SUCCESS;
}

// ---- Host memory

CUresult pksim_cuMemHostAlloc(struct driver *d, void **out, size_t bytes, unsigned int flags)
{
    enum { PORTABLE_MAPPED_COMBINED = 7 };
    if (!out || flags > PORTABLE_MAPPED_COMBINED)
        return CUDA_ERROR_INVALID_VALUE;
    struct memory *memory = pksim_object_new(d, OBJECT_MEMORY, sizeof *memory, pksim_current(d));
    void *ptr;
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = pksim_mem_result(pksim_mem_host_alloc(d->config.mem, bytes, &ptr));
    if (result != CUDA_SUCCESS) {
        pksim_object_delete(d, memory);
        return result;
    }
    memory->address = (uint64_t)(uintptr_t)ptr;
    memory->host = true;
    memory->flags = flags;
    *out = ptr;
    return CUDA_SUCCESS;
}

CUresult pksim_cuMemAllocHost_v2(struct driver *d, void **out, size_t bytes)
{
    return pksim_cuMemHostAlloc(d, out, bytes, 0);
}

CUresult pksim_cuMemFreeHost(struct driver *d, void *ptr)
{
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    struct memory *memory = memory_at(d, address, true);
    if (!memory)
        return ptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    CUresult result = pksim_wait_context(d, memory->object.context);
    memory = memory_at(d, address, true);
    if (memory)
        pksim_memory_delete(d, memory);
    return result;
}

// Unified addressing: a host pointer is its own device pointer.
CUresult pksim_cuMemHostGetDevicePointer_v2(struct driver *d, CUdeviceptr *out, void *ptr, unsigned int flags)
{
    struct pksim_mem_info info;
    if (!out || flags != 0 || !pksim_mem_query(d->config.mem, (uint64_t)(uintptr_t)ptr, &info) ||
        info.owner != PKSIM_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUdeviceptr)(uintptr_t)ptr;
    return CUDA_SUCCESS;
}

CUresult pksim_cuMemHostGetFlags(struct driver *d, unsigned int *flags, void *ptr)
{
    enum { MAPPED = 2 }; // always, with unified addressing
    const struct memory *memory = memory_at(d, (uint64_t)(uintptr_t)ptr, true);
    if (!flags || !memory)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = memory->flags | MAPPED;
    return CUDA_SUCCESS;
}

CUresult pksim_cuMemHostRegister_v2(struct driver *d, void *ptr, size_t bytes, unsigned int flags)
{
    enum { ALL_FLAGS = 15 };
    if (flags > ALL_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    enum pksim_mem_status status = pksim_mem_host_register(d->config.mem, ptr, bytes);
    return status == PKSIM_MEM_IN_USE ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : pksim_mem_result(status);
}

CUresult pksim_cuMemHostUnregister(struct driver *d, void *ptr)
{
    enum pksim_mem_status status = pksim_mem_host_unregister(d->config.mem, ptr);
    return status == PKSIM_MEM_NOT_FOUND ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : pksim_mem_result(status);
}

// ---- What lies at an address

static struct pksim_context *owner_of(const struct driver *d, const struct pksim_mem_info *info,
                                      uint64_t address)
{
    (void)address;
    const struct memory *memory = memory_at(d, info->base, info->owner == PKSIM_HOST);
    if (memory)
        return memory->object.context;
    return info->owner == PKSIM_HOST ? NULL : d->primary[info->owner];
}

#define PUT(type, value)                                                                                     \
    do {                                                                                                     \
        type answer = (value);                                                                               \
        memcpy(data, &answer, sizeof answer);                                                                \
        return true;                                                                                         \
    } while (0)

static bool pointer_attribute(const struct driver *d, const struct pksim_mem_info *info,
                              CUpointer_attribute which, uint64_t address, void *data)
{
    bool host = info->owner == PKSIM_HOST;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        PUT(CUcontext, owner_of(d, info, address));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        PUT(unsigned int, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        PUT(CUdeviceptr, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host)
            return false;
        PUT(void *, info->host);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        PUT(unsigned long long, info->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        PUT(unsigned int, 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        PUT(int, host ? 0 : (int)info->owner);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        PUT(CUdeviceptr, info->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        PUT(size_t, info->size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        PUT(int, 1);
    }
    return false;
}

CUresult pksim_cuPointerGetAttribute(struct driver *d, void *data, CUpointer_attribute which,
                                     CUdeviceptr address)
{
    struct pksim_mem_info info;
    if (!data || !pksim_mem_query(d->config.mem, address, &info))
        return CUDA_ERROR_INVALID_VALUE;
    return pointer_attribute(d, &info, which, address, data) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Unknown addresses are no mistake here: what can be answered about the program's own memory is.
CUresult pksim_cuPointerGetAttributes(struct driver *d, unsigned int count, CUpointer_attribute *which,
                                      void **data, CUdeviceptr address)
{
    struct pksim_mem_info info;
    if (!which || !data)
        return CUDA_ERROR_INVALID_VALUE;
    bool known = pksim_mem_query(d->config.mem, address, &info);
    for (unsigned int i = 0; i < count; i++)
        if (!data[i] || (known && !pointer_attribute(d, &info, which[i], address, data[i])))
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

// ---- Copies and fills

static bool is_mapped(const struct driver *d, uint64_t address, uint64_t size)
{
    struct pksim_mem_info info;
    while (size > 0) {
        if (!pksim_mem_query(d->config.mem, address, &info) || info.multicast)
            return false;
        uint64_t left = info.size - (address - info.base);
        if (left >= size)
            return true;
        address += left;
        size -= left;
    }
    return true;
}

// The machine's memory, or the program's own.
static bool is_usable(const struct driver *d, uint64_t address, uint64_t size)
{
    struct pksim_mem_info info;
    if (address < PKSIM_VA_FIRST && !pksim_mem_query(d->config.mem, address, &info))
        return address != 0;
    return is_mapped(d, address, size);
}

static CUresult copy_now(struct driver *d, uint64_t to, uint64_t from, size_t bytes, bool ok)
{
    struct task task = {.kind = OP_COPY, .to = to, .from = from, .size = bytes};
    if (bytes == 0)
        return CUDA_SUCCESS;
    return ok ? pksim_do_task(d, pksim_stream_of(d, NULL), &task) : CUDA_ERROR_INVALID_VALUE;
}

// Bytes of memory that the program may change as soon as the call returns are taken along.
static bool stage(const struct driver *d, struct task *task)
{
    struct pksim_mem_info info;
    if (task->from >= PKSIM_VA_FIRST || pksim_mem_query(d->config.mem, task->from, &info))
        return true;
    task->staged = malloc(task->size);
    if (task->staged)
        memcpy(task->staged, (const void *)(uintptr_t)task->from, task->size);
    return task->staged != NULL;
}

static CUresult copy_later(struct driver *d, uint64_t to, uint64_t from, size_t bytes, CUstream handle,
                           bool ok)
{
    struct task task = {.kind = OP_COPY, .to = to, .from = from, .size = bytes};
    struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == 0)
        return CUDA_SUCCESS;
    if (!ok)
        return CUDA_ERROR_INVALID_VALUE;
    return stage(d, &task) ? pksim_submit(d, stream, &task) : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool either(const struct driver *d, uint64_t to, uint64_t from, size_t bytes)
{
    return is_usable(d, to, bytes) && is_usable(d, from, bytes);
}

CUresult pksim_cuMemcpy(struct driver *d, CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy_now(d, to, from, bytes, either(d, to, from, bytes));
}

CUresult pksim_cuMemcpyAsync(struct driver *d, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                             CUstream stream)
{
    return copy_later(d, to, from, bytes, stream, either(d, to, from, bytes));
}

static bool are_contexts(const struct driver *d, CUcontext a, CUcontext b)
{
    return pksim_object_find(d, OBJECT_CONTEXT, a) && pksim_object_find(d, OBJECT_CONTEXT, b);
}

CUresult pksim_cuMemcpyPeer(struct driver *d, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                            CUcontext from_context, size_t bytes)
{
    if (!are_contexts(d, to_context, from_context))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy_now(d, to, from, bytes, is_mapped(d, to, bytes) && is_mapped(d, from, bytes));
}

CUresult pksim_cuMemcpyPeerAsync(struct driver *d, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                 CUcontext from_context, size_t bytes, CUstream stream)
{
    if (!are_contexts(d, to_context, from_context))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy_later(d, to, from, bytes, stream, is_mapped(d, to, bytes) && is_mapped(d, from, bytes));
}

CUresult pksim_cuMemcpyHtoD_v2(struct driver *d, CUdeviceptr to, const void *host, size_t bytes)
{
    uint64_t from = (uint64_t)(uintptr_t)host;
    return copy_now(d, to, from, bytes, is_mapped(d, to, bytes) && is_usable(d, from, bytes));
}

CUresult pksim_cuMemcpyDtoH_v2(struct driver *d, void *host, CUdeviceptr from, size_t bytes)
{
    uint64_t to = (uint64_t)(uintptr_t)host;
    return copy_now(d, to, from, bytes, is_usable(d, to, bytes) && is_mapped(d, from, bytes));
}

CUresult pksim_cuMemcpyDtoD_v2(struct driver *d, CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy_now(d, to, from, bytes, is_mapped(d, to, bytes) && is_mapped(d, from, bytes));
}

CUresult pksim_cuMemcpyHtoDAsync_v2(struct driver *d, CUdeviceptr to, const void *host, size_t bytes,
                                    CUstream stream)
{
    uint64_t from = (uint64_t)(uintptr_t)host;
    return copy_later(d, to, from, bytes, stream, is_mapped(d, to, bytes) && is_usable(d, from, bytes));
}

CUresult pksim_cuMemcpyDtoHAsync_v2(struct driver *d, void *host, CUdeviceptr from, size_t bytes,
                                    CUstream stream)
{
    uint64_t to = (uint64_t)(uintptr_t)host;
    return copy_later(d, to, from, bytes, stream, is_usable(d, to, bytes) && is_mapped(d, from, bytes));
}

CUresult pksim_cuMemcpyDtoDAsync_v2(struct driver *d, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                    CUstream stream)
{
    return copy_later(d, to, from, bytes, stream, is_mapped(d, to, bytes) && is_mapped(d, from, bytes));
}

static bool fill_task(const struct driver *d, struct task *task, uint64_t to, uint32_t value, uint32_t width,
                      size_t count)
{
    *task = (struct task){.kind = OP_FILL, .to = to, .value = value, .width = width, .size = count};
    return to % width == 0 && count <= SIZE_MAX / width && is_mapped(d, to, count * width);
}

static CUresult fill_now(struct driver *d, uint64_t to, uint32_t value, uint32_t width, size_t count)
{
    struct task task;
    if (count == 0)
        return CUDA_SUCCESS;
    if (!fill_task(d, &task, to, value, width, count))
        return CUDA_ERROR_INVALID_VALUE;
    return pksim_do_task(d, pksim_stream_of(d, NULL), &task);
}

static CUresult fill_later(struct driver *d, uint64_t to, uint32_t value, uint32_t width, size_t count,
                           CUstream handle)
{
    struct task task;
    struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (count == 0)
        return CUDA_SUCCESS;
    if (!fill_task(d, &task, to, value, width, count))
        return CUDA_ERROR_INVALID_VALUE;
    return pksim_submit(d, stream, &task);
}

CUresult pksim_cuMemsetD8_v2(struct driver *d, CUdeviceptr to, unsigned char value, size_t count)
{
    return fill_now(d, to, value, 1, count);
}

CUresult pksim_cuMemsetD16_v2(struct driver *d, CUdeviceptr to, unsigned short value, size_t count)
{
    return fill_now(d, to, value, 2, count);
}

CUresult pksim_cuMemsetD32_v2(struct driver *d, CUdeviceptr to, unsigned int value, size_t count)
{
    return fill_now(d, to, value, 4, count);
}

CUresult pksim_cuMemsetD8Async(struct driver *d, CUdeviceptr to, unsigned char value, size_t count,
                               CUstream stream)
{
    return fill_later(d, to, value, 1, count, stream);
}

CUresult pksim_cuMemsetD16Async(struct driver *d, CUdeviceptr to, unsigned short value, size_t count,
                                CUstream stream)
{
    return fill_later(d, to, value, 2, count, stream);
}

CUresult pksim_cuMemsetD32Async(struct driver *d, CUdeviceptr to, unsigned int value, size_t count,
                                CUstream stream)
{
    return fill_later(d, to, value, 4, count, stream);
}
