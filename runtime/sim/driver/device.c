// SPDX-License-Identifier: Apache-2.0
// What the driver and its devices say of themselves.
#include <stdio.h>
#include <string.h>

#include "sim/driver/driver.h"

enum { DRIVER_VERSION = 13000 };

struct result_row {
    CUresult value;
    const char *name, *words;
};

static const struct result_row results[] = {
#define RESULT(name, value, words) {name, #name, words},
#include "sim/driver/result.def"
};

static const struct result_row *find_result(CUresult value)
{
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].value == value)
            return &results[i];
    return NULL;
}

CUresult pksim_cuGetErrorName(struct driver *d, CUresult error, const char **out)
{
    const struct result_row *row = find_result(error);
    (void)d;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = row ? row->name : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult pksim_cuGetErrorString(struct driver *d, CUresult error, const char **out)
{
    const struct result_row *row = find_result(error);
    (void)d;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = row ? row->words : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult pksim_cuDriverGetVersion(struct driver *d, int *version)
{
    (void)d;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

bool pksim_is_device(const struct driver *d, CUdevice device)
{
    return device >= 0 && (uint32_t)device < d->devices;
}

CUresult pksim_cuDeviceGetCount(struct driver *d, int *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (int)d->devices;
    return CUDA_SUCCESS;
}

CUresult pksim_cuDeviceGet(struct driver *d, CUdevice *device, int ordinal)
{
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult pksim_cuDeviceGetName(struct driver *d, char *name, int length, CUdevice device)
{
    if (!name || length < 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)length, "pksim simulated GPU (sm_90a, %u SMs)", d->config.limits.sms);
    return CUDA_SUCCESS;
}

CUresult pksim_cuDeviceGetAttribute(struct driver *d, int *value, CUdevice_attribute attribute,
                                    CUdevice ordinal)
{
    const struct pksim_limits *limits = &d->config.limits;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    const struct {
        int attribute, value;
    } rows[] = {
#define ATTRIBUTE(name, number, expression) {number, (int)(expression)},
#include "sim/driver/attribute.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].attribute == (int)attribute) {
            *value = rows[i].value;
            return CUDA_SUCCESS;
        }
    // Attributes that there are, of things that are not simulated (textures and the like): none.
    *value = 0;
    return (int)attribute > 0 && (int)attribute < 150 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult pksim_cuDeviceTotalMem_v2(struct driver *d, size_t *bytes, CUdevice device)
{
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = pksim_mem_capacity(d->config.mem);
    return CUDA_SUCCESS;
}

CUresult pksim_cuDeviceGetUuid_v2(struct driver *d, CUuuid *uuid, CUdevice device)
{
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    memcpy(uuid->bytes, "pksim-device-000", sizeof uuid->bytes);
    uuid->bytes[14] = (char)('0' + device / 10);
    uuid->bytes[15] = (char)('0' + device % 10);
    return CUDA_SUCCESS;
}

CUresult pksim_cuDeviceGetUuid(struct driver *d, CUuuid *uuid, CUdevice device)
{
    return pksim_cuDeviceGetUuid_v2(d, uuid, device);
}

CUresult pksim_cuDeviceGetPCIBusId(struct driver *d, char *id, int length, CUdevice device)
{
    if (!id || length < 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(id, (size_t)length, "0000:%02X:00.0", (unsigned int)device + 1);
    return CUDA_SUCCESS;
}

// All devices are linked with each other.
CUresult pksim_cuDeviceCanAccessPeer(struct driver *d, int *can, CUdevice device, CUdevice peer)
{
    if (!can)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device) || !pksim_is_device(d, peer))
        return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUresult pksim_cuDeviceGetP2PAttribute(struct driver *d, int *value, CUdevice_P2PAttribute attribute,
                                       CUdevice source, CUdevice target)
{
    if (!value || source == target)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, source) || !pksim_is_device(d, target))
        return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
