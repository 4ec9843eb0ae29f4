// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver API that the runtime uses, declared here so that no toolkit is needed to build.
// Values and layouts are those of the CUDA driver API reference (13.0); tests/rt compares them with cuda.h
// where a toolkit is present.
#ifndef PKRT_CUDA_H
#define PKRT_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int rt_result; // CUresult
typedef int rt_device;
typedef uint64_t rt_ptr;
typedef struct rt_ctx_ *rt_ctx;
typedef struct rt_mod_ *rt_mod;
typedef struct rt_fn_ *rt_fn;
typedef struct rt_stream_ *rt_stream;
typedef struct rt_event_ *rt_event;
typedef uint64_t rt_alloc; // CUmemGenericAllocationHandle

enum {
    RT_SUCCESS = 0,
    RT_ERROR_OUT_OF_MEMORY = 2,
    RT_ERROR_NO_DEVICE = 100,
    RT_ERROR_NOT_READY = 600,
    RT_ERROR_COOPERATIVE_TOO_LARGE = 720,
    // CUdevice_attribute
    RT_ATTR_SM_COUNT = 16,
    RT_ATTR_MAJOR = 75,
    RT_ATTR_MINOR = 76,
    RT_ATTR_COOPERATIVE = 95,
    RT_ATTR_SHARED_OPTIN = 97,
    RT_ATTR_MULTICAST = 132,
    // CUfunction_attribute
    RT_FN_MAX_DYNAMIC_SHARED = 8,
    // CUjit_option
    RT_JIT_ERROR_LOG = 5,
    RT_JIT_ERROR_LOG_SIZE = 6,
    // flags
    RT_STREAM_NON_BLOCKING = 1,
    RT_EVENT_DISABLE_TIMING = 2,
    RT_HOST_PORTABLE = 1,
    RT_HOST_MAPPED = 2,
    // CUmemAllocationType, CUmemLocationType, CUmemAccess_flags, CUmemAllocationGranularity_flags,
    // CUmulticastGranularity_flags
    RT_ALLOC_PINNED = 1,
    RT_LOCATION_DEVICE = 1,
    RT_ACCESS_READ_WRITE = 3,
    RT_GRANULARITY_RECOMMENDED = 1,
    RT_MULTICAST_MINIMUM = 0,
    // CUlaunchAttributeID
    RT_LAUNCH_COOPERATIVE = 2
};

typedef struct rt_location {
    int type, id;
} rt_location;

typedef struct rt_alloc_prop { // CUmemAllocationProp
    int type, handle_types;
    rt_location location;
    void *win32;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
} rt_alloc_prop;

typedef struct rt_access { // CUmemAccessDesc
    rt_location location;
    int flags;
} rt_access;

typedef struct rt_multicast_prop { // CUmulticastObjectProp
    unsigned devices;
    size_t size;
    unsigned long long handle_types, flags;
} rt_multicast_prop;

typedef struct rt_launch_attr { // CUlaunchAttribute
    int id;
    char pad[4];
    union {
        char bytes[64];
        int value;
    } value;
} rt_launch_attr;

typedef struct rt_launch_config { // CUlaunchConfig
    unsigned grid[3], block[3], shared;
    rt_stream stream;
    rt_launch_attr *attrs;
    unsigned n_attrs;
} rt_launch_config;

typedef struct rt_map { // CUtensorMap
    _Alignas(64) uint64_t words[16];
} rt_map;

#endif
