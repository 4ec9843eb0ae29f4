// SPDX-License-Identifier: Apache-2.0
// Virtual memory: reservations, physical memory by handle, mappings, multicast objects. They belong to the
// process, not to a context.
#include <stdlib.h>
#include <string.h>

#include "sim/driver/driver.h"

CUresult pksim_cuMemAddressReserve(struct driver *d, CUdeviceptr *out, size_t size, size_t align,
                                   CUdeviceptr hint, unsigned long long flags)
{
    uint64_t address;
    if (!out || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = pksim_mem_result(pksim_mem_reserve(d->config.mem, size, align, hint, &address));
    if (result == CUDA_SUCCESS)
        *out = address;
    return result;
}

CUresult pksim_cuMemAddressFree(struct driver *d, CUdeviceptr address, size_t size)
{
    return pksim_mem_result(pksim_mem_unreserve(d->config.mem, address, size));
}

// ---- Handles

static struct handle *handle_of(const struct driver *d, CUmemGenericAllocationHandle value)
{
    return pksim_object_find(d, OBJECT_HANDLE, (const void *)(uintptr_t)value);
}

static struct handle *handle_new(struct driver *d, CUmemGenericAllocationHandle *out)
{
    struct handle *handle = pksim_object_new(d, OBJECT_HANDLE, sizeof *handle, NULL);
    if (handle) {
        handle->references = 1;
        *out = (CUmemGenericAllocationHandle)(uintptr_t)handle;
    }
    return handle;
}

static bool prop_is_good(const struct driver *d, const CUmemAllocationProp *prop)
{
    return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE && pksim_is_device(d, prop->location.id);
}

CUresult pksim_cuMemCreate(struct driver *d, CUmemGenericAllocationHandle *out, size_t size,
                           const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUmemGenericAllocationHandle value;
    if (!out || flags != 0 || size == 0 || size % PKSIM_VA_GRANULE != 0 || !prop_is_good(d, prop))
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
        prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct handle *handle = handle_new(d, &value);
    if (!handle)
        return CUDA_ERROR_OUT_OF_MEMORY;
    handle->prop = *prop;
    CUresult result = pksim_mem_result(
        pksim_phys_create(d->config.mem, (uint32_t)prop->location.id, size,
                          prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE, &handle->phys));
    if (result != CUDA_SUCCESS)
        pksim_object_delete(d, handle);
    else
        *out = value;
    return result;
}

CUresult pksim_cuMemRelease(struct driver *d, CUmemGenericAllocationHandle value)
{
    struct handle *handle = handle_of(d, value);
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (--handle->references > 0)
        return CUDA_SUCCESS;
    if (handle->phys)
        pksim_phys_release(d->config.mem, handle->phys);
    else
        pksim_mcast_release(d->config.mem, handle->mcast);
    pksim_object_delete(d, handle);
    return CUDA_SUCCESS;
}

CUresult pksim_cuMemMap(struct driver *d, CUdeviceptr address, size_t size, size_t offset,
                        CUmemGenericAllocationHandle value, unsigned long long flags)
{
    struct handle *handle = handle_of(d, value);
    if (!handle || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return pksim_mem_result(pksim_mem_map(d->config.mem, address, size, offset, handle->phys, handle->mcast));
}

CUresult pksim_cuMemUnmap(struct driver *d, CUdeviceptr address, size_t size)
{
    return pksim_mem_result(pksim_mem_unmap(d->config.mem, address, size));
}

CUresult pksim_cuMemSetAccess(struct driver *d, CUdeviceptr address, size_t size, const CUmemAccessDesc *desc,
                              size_t count)
{
    if (!desc || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            !pksim_is_device(d, desc[i].location.id) || (int)desc[i].flags < 0 || (int)desc[i].flags == 2 ||
            (int)desc[i].flags > 3)
            return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        uint32_t access = ((uint32_t)desc[i].flags & 1 ? (uint32_t)PKSIM_READ : 0) |
                          ((uint32_t)desc[i].flags & 2 ? (uint32_t)PKSIM_WRITE : 0);
        result = pksim_mem_result(
            pksim_mem_set_access(d->config.mem, address, size, (uint32_t)desc[i].location.id, access));
    }
    return result;
}

CUresult pksim_cuMemGetAccess(struct driver *d, unsigned long long *flags, const CUmemLocation *location,
                              CUdeviceptr address)
{
    struct pksim_mem_info info;
    struct pksim_mem_fault fault;
    struct pksim_span span = {.access = 0};
    if (!flags || !location || !pksim_is_device(d, location->id) ||
        !pksim_mem_query(d->config.mem, address, &info))
        return CUDA_ERROR_INVALID_VALUE;
    pksim_mem_resolve(d->config.mem, (uint32_t)location->id, address, 1, 1, PKSIM_READ, &span, &fault);
    *flags = span.access == (PKSIM_READ | PKSIM_WRITE) ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : span.access                             ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                                       : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

CUresult pksim_cuMemGetAllocationGranularity(struct driver *d, size_t *bytes, const CUmemAllocationProp *prop,
                                             CUmemAllocationGranularity_flags option)
{
    if (!bytes || !prop_is_good(d, prop) || (int)option < 0 || (int)option > 1)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = PKSIM_VA_GRANULE;
    return CUDA_SUCCESS;
}

CUresult pksim_cuMemGetAllocationPropertiesFromHandle(struct driver *d, CUmemAllocationProp *prop,
                                                      CUmemGenericAllocationHandle value)
{
    const struct handle *handle = handle_of(d, value);
    if (!prop || !handle || !handle->phys)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = handle->prop;
    return CUDA_SUCCESS;
}

CUresult pksim_cuMemExportToShareableHandle(struct driver *d, void *out, CUmemGenericAllocationHandle value,
                                            CUmemAllocationHandleType type, unsigned long long flags)
{
    const struct handle *handle = handle_of(d, value);
    if (!out || !handle || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !handle->phys)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!pksim_phys_shareable(handle->phys))
        return CUDA_ERROR_INVALID_VALUE;
    int descriptor = pksim_phys_export(handle->phys);
    if (descriptor < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    memcpy(out, &descriptor, sizeof descriptor);
    return CUDA_SUCCESS;
}

// The descriptor is the pointer's value (CUDA driver API).
CUresult pksim_cuMemImportFromShareableHandle(struct driver *d, CUmemGenericAllocationHandle *out,
                                              void *os_handle, CUmemAllocationHandleType type)
{
    CUmemGenericAllocationHandle value;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct handle *handle = handle_new(d, &value);
    if (!handle)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result =
        pksim_mem_result(pksim_phys_import(d->config.mem, (int)(intptr_t)os_handle, &handle->phys));
    if (result != CUDA_SUCCESS) {
        pksim_object_delete(d, handle);
        return result;
    }
    handle->prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    handle->prop.requestedHandleTypes = type;
    handle->prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    handle->prop.location.id = (int)pksim_phys_device(handle->phys);
    *out = value;
    return CUDA_SUCCESS;
}

// ---- Multicast objects

CUresult pksim_cuMulticastCreate(struct driver *d, CUmemGenericAllocationHandle *out,
                                 const CUmulticastObjectProp *prop)
{
    CUmemGenericAllocationHandle value;
    if (!out || !prop || prop->flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->handleTypes != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct handle *handle = handle_new(d, &value);
    if (!handle)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result =
        pksim_mem_result(pksim_mcast_create(d->config.mem, prop->numDevices, prop->size, &handle->mcast));
    if (result != CUDA_SUCCESS)
        pksim_object_delete(d, handle);
    else
        *out = value;
    return result;
}

static struct pksim_mcast *mcast_of(const struct driver *d, CUmemGenericAllocationHandle value)
{
    const struct handle *handle = handle_of(d, value);
    return handle ? handle->mcast : NULL;
}

CUresult pksim_cuMulticastAddDevice(struct driver *d, CUmemGenericAllocationHandle value, CUdevice device)
{
    struct pksim_mcast *mcast = mcast_of(d, value);
    if (!mcast)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    return pksim_mem_result(pksim_mcast_add_device(mcast, (uint32_t)device));
}

CUresult pksim_cuMulticastBindMem(struct driver *d, CUmemGenericAllocationHandle value, size_t offset,
                                  CUmemGenericAllocationHandle memory, size_t memory_offset, size_t size,
                                  unsigned long long flags)
{
    struct pksim_mcast *mcast = mcast_of(d, value);
    const struct handle *handle = handle_of(d, memory);
    if (!mcast || !handle || !handle->phys || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return pksim_mem_result(
        pksim_mcast_bind(d->config.mem, mcast, offset, handle->phys, memory_offset, size));
}

CUresult pksim_cuMulticastBindAddr(struct driver *d, CUmemGenericAllocationHandle value, size_t offset,
                                   CUdeviceptr address, size_t size, unsigned long long flags)
{
    struct pksim_mcast *mcast = mcast_of(d, value);
    if (!mcast || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return pksim_mem_result(pksim_mcast_bind_address(d->config.mem, mcast, offset, address, size));
}

CUresult pksim_cuMulticastUnbind(struct driver *d, CUmemGenericAllocationHandle value, CUdevice device,
                                 size_t offset, size_t size)
{
    struct pksim_mcast *mcast = mcast_of(d, value);
    if (!mcast)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    return pksim_mem_result(pksim_mcast_unbind(d->config.mem, mcast, (uint32_t)device, offset, size));
}

CUresult pksim_cuMulticastGetGranularity(struct driver *d, size_t *bytes, const CUmulticastObjectProp *prop,
                                         CUmulticastGranularity_flags option)
{
    (void)d;
    if (!bytes || !prop || prop->numDevices == 0 || (int)option < 0 || (int)option > 1)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = PKSIM_VA_GRANULE;
    return CUDA_SUCCESS;
}
