// SPDX-License-Identifier: Apache-2.0
// Values and layouts of src/cuda.h are those of the toolkit's header.
#include "src/cuda.h"

#include <assert.h>
#include <cuda.h>

#define SAME(ours, theirs) static_assert((int)(ours) == (int)(theirs), #theirs)
SAME(RT_SUCCESS, CUDA_SUCCESS);
SAME(RT_ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(RT_ERROR_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(RT_ERROR_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(RT_ERROR_COOPERATIVE_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME(RT_ATTR_SM_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(RT_ATTR_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(RT_ATTR_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(RT_ATTR_COOPERATIVE, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME(RT_ATTR_SHARED_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(RT_ATTR_MULTICAST, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED);
SAME(RT_FN_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(RT_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
SAME(RT_JIT_ERROR_LOG_SIZE, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(RT_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(RT_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(RT_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
SAME(RT_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(RT_ALLOC_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(RT_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(RT_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(RT_GRANULARITY_RECOMMENDED, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
SAME(RT_MULTICAST_MINIMUM, CU_MULTICAST_GRANULARITY_MINIMUM);
SAME(RT_LAUNCH_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);

#define RT_FAULT(code, name) SAME(code, CUDA_ERROR_##name);
#include "src/faults.def"
#undef RT_FAULT

#define AT(ours, theirs, mine, its)                                                                          \
    static_assert(offsetof(ours, mine) == offsetof(theirs, its), #theirs "." #its)
static_assert(sizeof(rt_alloc_prop) == sizeof(CUmemAllocationProp), "CUmemAllocationProp");
AT(rt_alloc_prop, CUmemAllocationProp, handle_types, requestedHandleTypes);
AT(rt_alloc_prop, CUmemAllocationProp, location, location);
AT(rt_alloc_prop, CUmemAllocationProp, flags, allocFlags);
static_assert(sizeof(rt_access) == sizeof(CUmemAccessDesc), "CUmemAccessDesc");
AT(rt_access, CUmemAccessDesc, flags, flags);
static_assert(sizeof(rt_multicast_prop) == sizeof(CUmulticastObjectProp), "CUmulticastObjectProp");
AT(rt_multicast_prop, CUmulticastObjectProp, devices, numDevices);
AT(rt_multicast_prop, CUmulticastObjectProp, size, size);
AT(rt_multicast_prop, CUmulticastObjectProp, handle_types, handleTypes);
AT(rt_multicast_prop, CUmulticastObjectProp, flags, flags);
static_assert(sizeof(rt_launch_attr) == sizeof(CUlaunchAttribute), "CUlaunchAttribute");
AT(rt_launch_attr, CUlaunchAttribute, value, value);
static_assert(sizeof(rt_launch_config) == sizeof(CUlaunchConfig), "CUlaunchConfig");
AT(rt_launch_config, CUlaunchConfig, block, blockDimX);
AT(rt_launch_config, CUlaunchConfig, shared, sharedMemBytes);
AT(rt_launch_config, CUlaunchConfig, stream, hStream);
AT(rt_launch_config, CUlaunchConfig, attrs, attrs);
AT(rt_launch_config, CUlaunchConfig, n_attrs, numAttrs);
static_assert(sizeof(rt_map) == sizeof(CUtensorMap), "CUtensorMap");

// Types of elements and swizzles are numbers of the encoder.
#define RT_ELEM(id, spelling, bytes, map) ELEM_##id = map,
enum {
#include "src/elems.def"
};
#undef RT_ELEM
SAME(ELEM_BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(ELEM_F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(ELEM_F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(ELEM_E4M3, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(ELEM_I32, CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME(ELEM_U32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
SAME(1, CU_TENSOR_MAP_SWIZZLE_32B);
SAME(2, CU_TENSOR_MAP_SWIZZLE_64B);
SAME(3, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(2, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
