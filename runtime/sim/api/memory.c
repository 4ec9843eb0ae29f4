// SPDX-License-Identifier: Apache-2.0
// Memory calls: allocations, virtual memory, host memory, copies. Freeing works on a failed machine too.
#include <string.h>

#include "sim/api/api.h"

struct location {
    int type, id;
};
struct alloc_prop {
    int type, handle_types;
    struct location location;
};
struct access_desc {
    struct location location;
    int flags;
};

/// Enters for a call that frees: allowed whatever happened before.
static void enter_free(void)
{
    pthread_mutex_lock(&api_state()->lock);
}

API_EXPORT int cuMemAlloc_v2(uint64_t *ptr, size_t bytes)
{
    int result = api_enter("cuMemAlloc_v2", true);
    if (result)
        return result;
    struct api_context *c = api_current();
    if (!c)
        return api_leave(API_INVALID_CONTEXT);
    return api_leave(api_mem_result(pksim_mem_alloc(api_state()->mem, c->device, bytes, ptr)));
}

API_EXPORT int cuMemFree_v2(uint64_t ptr)
{
    enter_free();
    api_drain(NULL);
    return api_leave(api_mem_result(pksim_mem_free(api_state()->mem, ptr)));
}

API_EXPORT int cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
    int result = api_enter("cuMemHostAlloc", true);
    (void)flags;
    return result ? result : api_leave(api_mem_result(pksim_mem_host_alloc(api_state()->mem, bytes, ptr)));
}

API_EXPORT int cuMemFreeHost(void *ptr)
{
    enter_free();
    return api_leave(api_mem_result(pksim_mem_host_free(api_state()->mem, ptr)));
}

API_EXPORT int cuMemHostGetDevicePointer_v2(uint64_t *device, void *host, unsigned flags)
{
    int result = api_enter("cuMemHostGetDevicePointer_v2", true);
    (void)flags;
    if (result)
        return result;
    *device = (uint64_t)(uintptr_t)host; // the same address, as unified addressing has it
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    struct pksim_mem_fault fault;
    int result = api_enter("cuMemcpyHtoD_v2", true);
    if (result)
        return result;
    result = api_drain(NULL);
    if (!result && !pksim_mem_write(api_state()->mem, to, from, bytes, &fault))
        result = API_INVALID_VALUE;
    return api_leave(result);
}

API_EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    struct pksim_mem_fault fault;
    int result = api_enter("cuMemcpyDtoH_v2", true);
    if (result)
        return result;
    result = api_drain(NULL);
    if (!result && !pksim_mem_read(api_state()->mem, to, from, bytes, &fault))
        result = API_INVALID_VALUE;
    return api_leave(result);
}

API_EXPORT int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes)
{
    struct pksim_mem_fault fault;
    int result = api_enter("cuMemsetD8_v2", true);
    if (result)
        return result;
    result = api_drain(NULL);
    if (!result && !pksim_mem_fill(api_state()->mem, to, value, 1, bytes, &fault))
        result = API_INVALID_VALUE;
    return api_leave(result);
}

API_EXPORT int cuMemAddressReserve(uint64_t *ptr, size_t bytes, size_t align, uint64_t hint,
                                   unsigned long long flags)
{
    int result = api_enter("cuMemAddressReserve", true);
    (void)flags;
    return result ? result
                  : api_leave(api_mem_result(pksim_mem_reserve(api_state()->mem, bytes, align, hint, ptr)));
}

API_EXPORT int cuMemAddressFree(uint64_t ptr, size_t bytes)
{
    enter_free();
    return api_leave(api_mem_result(pksim_mem_unreserve(api_state()->mem, ptr, bytes)));
}

API_EXPORT int cuMemGetAllocationGranularity(size_t *bytes, const struct alloc_prop *prop, int option)
{
    int result = api_enter("cuMemGetAllocationGranularity", true);
    (void)prop;
    (void)option;
    if (result)
        return result;
    *bytes = PKSIM_VA_GRANULE;
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuMemCreate(struct pksim_phys **handle, size_t bytes, const struct alloc_prop *prop,
                           unsigned long long flags)
{
    int result = api_enter("cuMemCreate", true);
    (void)flags;
    if (result)
        return result;
    int id = prop->location.id;
    if (id < 0 || (uint32_t)id >= api_state()->devices)
        return api_leave(API_INVALID_DEVICE);
    return api_leave(api_mem_result(
        pksim_phys_create(api_state()->mem, (uint32_t)id, bytes, prop->handle_types != 0, handle)));
}

API_EXPORT int cuMemRelease(struct pksim_phys *handle)
{
    enter_free();
    pksim_phys_release(api_state()->mem, handle);
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuMemMap(uint64_t ptr, size_t bytes, size_t offset, struct pksim_phys *handle,
                        unsigned long long flags)
{
    int result = api_enter("cuMemMap", true);
    (void)flags;
    return result
               ? result
               : api_leave(api_mem_result(pksim_mem_map(api_state()->mem, ptr, bytes, offset, handle, NULL)));
}

API_EXPORT int cuMemUnmap(uint64_t ptr, size_t bytes)
{
    enter_free();
    api_drain(NULL);
    return api_leave(api_mem_result(pksim_mem_unmap(api_state()->mem, ptr, bytes)));
}

API_EXPORT int cuMemSetAccess(uint64_t ptr, size_t bytes, const struct access_desc *access, size_t count)
{
    int result = api_enter("cuMemSetAccess", true);
    if (result)
        return result;
    for (size_t i = 0; !result && i < count; i++) {
        uint32_t bits = access[i].flags == 3   ? PKSIM_READ | PKSIM_WRITE
                        : access[i].flags == 1 ? PKSIM_READ
                                               : 0;
        result = api_mem_result(
            pksim_mem_set_access(api_state()->mem, ptr, bytes, (uint32_t)access[i].location.id, bits));
    }
    return api_leave(result);
}
