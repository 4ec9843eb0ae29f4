// SPDX-License-Identifier: Apache-2.0
// The exported symbols: one wrapper for each row of api.def, and cuGetProcAddress over the same rows.
#include <string.h>

#include "sim/driver/driver.h"

#define EXPORT __attribute__((visibility("default")))

#define ARGUMENTS(...) (d, __VA_ARGS__)
#define WRAP(symbol, name, kind, per_thread, parameters, call)                                               \
    EXPORT CUresult symbol parameters;                                                                       \
    EXPORT CUresult symbol parameters                                                                        \
    {                                                                                                        \
        struct driver *d = pksim_driver_enter();                                                             \
        CUresult result = pksim_call_begin(d, #name, KIND_##kind, per_thread);                               \
        if (result == CUDA_SUCCESS)                                                                          \
            result = pksim_call_end(d, #name, KIND_##kind, call);                                            \
        pksim_driver_leave(d);                                                                               \
        return result;                                                                                       \
    }

#define SECOND_NONE(name, kind, par, arg)
#define SECOND_ptsz(name, kind, par, arg) WRAP(name##_ptsz, name, kind, true, par, pksim_##name ARGUMENTS arg)
#define SECOND_ptds(name, kind, par, arg) WRAP(name##_ptds, name, kind, true, par, pksim_##name ARGUMENTS arg)

#define CALL(name, since, kind, streams, par, arg)                                                           \
    WRAP(name, name, kind, false, par, pksim_##name ARGUMENTS arg)                                           \
    SECOND_##streams(name, kind, par, arg)
#define CALL_VOID(name, since, kind) WRAP(name, name, kind, false, (void), pksim_##name(d))
#include "sim/driver/api.def"

typedef void (*function)(void);

struct row {
    const char *name;
    int since;
    function legacy, per_thread;
};

#define BOTH_NONE(name) (function) name
#define BOTH_ptsz(name) (function) name##_ptsz
#define BOTH_ptds(name) (function) name##_ptds
static const struct row rows[] = {
#define CALL(name, since, kind, streams, par, arg) {#name, since, (function)name, BOTH_##streams(name)},
#define CALL_VOID(name, since, kind)               {#name, since, (function)name, (function)name},
#include "sim/driver/api.def"
};

// "cuMemAlloc" names cuMemAlloc_v2 as well.
static bool is_form_of(const char *name, const char *symbol)
{
    size_t length = strlen(symbol);
    if (strncmp(name, symbol, length) != 0)
        return false;
    return !name[length] || (name[length] == '_' && name[length + 1] == 'v');
}

CUresult pksim_cuGetProcAddress_v2(struct driver *d, const char *symbol, void **pfn, int version,
                                   cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    (void)d;
    if (!symbol || !pfn)
        return CUDA_ERROR_INVALID_VALUE;
    const struct row *best = NULL;
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!is_form_of(rows[i].name, symbol))
            continue;
        known = true;
        if (rows[i].since <= version && (!best || rows[i].since >= best->since))
            best = &rows[i];
    }
    *pfn = NULL;
    if (best) {
        function found =
            flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? best->per_thread : best->legacy;
        memcpy(pfn, &found, sizeof found);
    }
    CUdriverProcAddressQueryResult answer = best    ? CU_GET_PROC_ADDRESS_SUCCESS
                                            : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (status)
        *status = answer;
    return best || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult pksim_cuGetProcAddress(struct driver *d, const char *symbol, void **pfn, int version,
                                cuuint64_t flags)
{
    return pksim_cuGetProcAddress_v2(d, symbol, pfn, version, flags, NULL);
}
