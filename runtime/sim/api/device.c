// SPDX-License-Identifier: Apache-2.0
// Devices and contexts. A device has one context, its primary one.
#include <stdio.h>
#include <string.h>

#include "sim/api/api.h"

API_EXPORT int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return API_SUCCESS;
}

API_EXPORT int cuDeviceGetCount(int *count)
{
    int result = api_enter("cuDeviceGetCount", true);
    if (result)
        return result;
    *count = (int)api_state()->devices;
    return api_leave(API_SUCCESS);
}

static bool is_device(int device)
{
    return device >= 0 && (uint32_t)device < api_state()->devices;
}

API_EXPORT int cuDeviceGet(int *device, int ordinal)
{
    int result = api_enter("cuDeviceGet", true);
    if (result)
        return result;
    if (!is_device(ordinal))
        return api_leave(API_INVALID_DEVICE);
    *device = ordinal;
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuDeviceGetName(char *name, int len, int device)
{
    int result = api_enter("cuDeviceGetName", true);
    if (result)
        return result;
    if (!is_device(device) || len < 1)
        return api_leave(API_INVALID_VALUE);
    snprintf(name, (size_t)len, "pksim simulated GPU (sm_90a, %u SMs)", api_state()->limits.sms);
    return api_leave(API_SUCCESS);
}

/// CUdevice_attribute and what an H200 says (CUDA driver API), the sizes as the machine is set.
static bool attribute(const struct api *s, int attribute, int *value)
{
    const struct {
        int attribute;
        uint32_t value;
    } rows[] = {
        {1, s->limits.threads_per_cta},
        {8, 48 << 10}, // static shared memory of a block
        {10, 32},      // warp size
        {12, s->limits.registers_per_sm},
        {16, s->limits.sms},
        {39, s->limits.threads_per_sm},
        {41, 1}, // unified addressing
        {75, 9},
        {76, 0},
        {81, s->limits.shared_per_sm},
        {82, s->limits.registers_per_sm},
        {95, 1},                        // cooperative launch
        {97, s->limits.shared_per_cta}, // opt-in
        {102, 1},                       // virtual memory management
        {132, 1},                       // multicast
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].attribute == attribute) {
            *value = (int)rows[i].value;
            return true;
        }
    return false;
}

API_EXPORT int cuDeviceGetAttribute(int *value, int which, int device)
{
    int result = api_enter("cuDeviceGetAttribute", true);
    if (result)
        return result;
    return api_leave(is_device(device) && attribute(api_state(), which, value) ? API_SUCCESS
                                                                               : API_INVALID_VALUE);
}

API_EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    int result = api_enter("cuDeviceCanAccessPeer", true);
    if (result)
        return result;
    *can = device != peer;
    return api_leave(is_device(device) && is_device(peer) ? API_SUCCESS : API_INVALID_DEVICE);
}

API_EXPORT int cuDevicePrimaryCtxRetain(struct api_context **ctx, int device)
{
    int result = api_enter("cuDevicePrimaryCtxRetain", true);
    if (result)
        return result;
    if (!is_device(device))
        return api_leave(API_INVALID_DEVICE);
    *ctx = &api_state()->contexts[device];
    (*ctx)->retained++;
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    struct api *s = api_state();
    pthread_mutex_lock(&s->lock);
    bool ok = is_device(device) && s->contexts[device].retained;
    if (ok)
        s->contexts[device].retained--;
    return api_leave(ok ? API_SUCCESS : API_INVALID_CONTEXT);
}

API_EXPORT int cuCtxPushCurrent_v2(struct api_context *ctx)
{
    int result = api_enter("cuCtxPushCurrent_v2", false);
    struct api *s = api_state();
    if (result && result != s->sticky)
        return result;
    if (result)
        pthread_mutex_lock(&s->lock); // a failed machine is still left in order
    if (!ctx || s->depth == API_MAX_CONTEXT_STACK)
        return api_leave(API_INVALID_CONTEXT);
    s->stack[s->depth++] = ctx;
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuCtxPopCurrent_v2(struct api_context **ctx)
{
    struct api *s = api_state();
    pthread_mutex_lock(&s->lock);
    if (!s->depth)
        return api_leave(API_INVALID_CONTEXT);
    s->depth--;
    if (ctx)
        *ctx = s->stack[s->depth];
    return api_leave(API_SUCCESS);
}

static const struct error_row {
    int code;
    const char *name, *words;
} errors[] = {
    {API_SUCCESS, "CUDA_SUCCESS", "no error"},
    {API_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {API_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {API_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {API_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {API_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {API_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {API_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {API_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {API_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {API_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {API_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {API_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {API_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {API_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {API_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {API_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

static const struct error_row *find_error(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            return &errors[i];
    return NULL;
}

API_EXPORT int cuGetErrorName(int code, const char **text)
{
    const struct error_row *row = find_error(code);
    *text = row ? row->name : NULL;
    return row ? API_SUCCESS : API_INVALID_VALUE;
}

API_EXPORT int cuGetErrorString(int code, const char **text)
{
    const struct error_row *row = find_error(code);
    *text = row ? row->words : NULL;
    return row ? API_SUCCESS : API_INVALID_VALUE;
}
