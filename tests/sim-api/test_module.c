// SPDX-License-Identifier: Apache-2.0
// Devices, contexts, modules, functions, launches that are refused, entry points by name.
#include "api.h"

static void devices(void **state)
{
    (void)state;
    int count, value, version;
    size_t bytes;
    char name[64];
    CUdevice device;
    CUuuid a, b;
    assert_ok(cuInit(0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    assert_ok(cuDriverGetVersion(&version));
    assert_ok(cuDeviceGetCount(&count));
    assert_int_equal(count, 4);
    assert_result(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 4));
    assert_result(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
    assert_ok(cuDeviceGet(&device, 3));
    assert_ok(cuDeviceGetName(name, sizeof name, device));
    assert_ok(cuDeviceGetAttribute(&value, (CUdevice_attribute)16, device));
    assert_int_equal(value, 4); // PKSIM_SMS
    assert_ok(cuDeviceGetAttribute(&value, (CUdevice_attribute)75, device));
    assert_int_equal(value, 9);
    assert_result(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, (CUdevice_attribute)1000, device));
    assert_ok(cuDeviceTotalMem_v2(&bytes, device));
    assert_true(bytes > 0);
    assert_ok(cuDeviceGetUuid(&a, 0));
    assert_ok(cuDeviceGetUuid_v2(&b, 1));
    assert_memory_not_equal(&a, &b, sizeof a);
}

static void contexts(void **state)
{
    (void)state;
    CUcontext primary, made, current;
    CUdevice device;
    unsigned int flags;
    int active;
    assert_ok(cuInit(0));
    assert_ok(cuCtxSetCurrent(NULL));
    assert_result(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    assert_ok(cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_int_equal(active, 0);
    assert_ok(cuDevicePrimaryCtxRetain(&primary, 1));
    assert_ok(cuCtxPushCurrent_v2(primary));
    assert_ok(cuCtxCreate_v2(&made, 0, 2));
    assert_ok(cuCtxGetDevice(&device));
    assert_int_equal(device, 2);
    assert_result(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy_v2(primary));
    assert_ok(cuCtxDestroy_v2(made));
    assert_ok(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, primary);
    assert_result(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2(made));
    api_close(1);
    assert_result(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    assert_result(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(1));
    assert_ok(cuCtxPopCurrent_v2(NULL));
    assert_result(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent_v2(NULL));
    assert_int_equal(api_live(), 0);
}

static void modules(void **state)
{
    (void)state;
    api_open(0);
    CUmodule module;
    CUfunction f, g;
    CUdeviceptr counter;
    size_t bytes, offset, size;
    char log[200] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    assert_result(CUDA_ERROR_INVALID_PTX,
                  cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_90a\n.address_size 64\nnonsense\n", 2,
                                     options, values));
    assert_non_null(strstr(log, "line 4"));
    assert_result(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, "\177ELF"));
    assert_result(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere/at.all"));
    module = api_module();
    f = api_function(module, "add");
    assert_ok(cuModuleGetFunction(&g, module, "add"));
    assert_ptr_equal(f, g);
    assert_result(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&g, module, "ad"));
    assert_ok(cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"));
    assert_int_equal(bytes, 4);
    assert_int_equal(api_word(counter), 7);
    assert_result(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&counter, &bytes, module, "count"));
    assert_ok(cuFuncGetParamInfo(f, 2, &offset, &size));
    assert_true(offset == 12 && size == 4);
    assert_result(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(f, 3, &offset, &size));
    assert_ok(cuModuleUnload(module));
    assert_result(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    assert_result(CUDA_ERROR_INVALID_HANDLE, api_add(f, 0, 1, 1, NULL));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static void libraries(void **state)
{
    (void)state;
    api_open(0);
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    CUdeviceptr counter;
    size_t bytes;
    assert_ok(cuLibraryLoadData(&library, api_ptx, NULL, NULL, 0, NULL, NULL, 0));
    assert_ok(cuLibraryGetKernel(&kernel, library, "add"));
    assert_ok(cuKernelGetFunction(&f, kernel));
    assert_ok(cuLibraryGetGlobal(&counter, &bytes, library, "counter"));
    assert_ok(api_add(f, counter, 1, 3, NULL));
    assert_ok(api_add((CUfunction)(void *)kernel, counter, 1, 3, NULL));
    assert_int_equal(api_word(counter), 13);
    assert_ok(cuLibraryUnload(library));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static CUresult launch_shape(CUfunction f, CUdeviceptr data, unsigned int blocks, unsigned int threads,
                             unsigned int shared, bool cooperative, unsigned int cluster)
{
    uint32_t n = 1, value = 1;
    void *params[] = {&data, &n, &value};
    CUlaunchAttribute attributes[2] = {{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE},
                                       {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}};
    attributes[0].value.cooperative = cooperative;
    attributes[1].value.clusterDim.x = cluster;
    attributes[1].value.clusterDim.y = attributes[1].value.clusterDim.z = 1;
    CUlaunchConfig config = {blocks, 1, 1, threads, 1, 1, shared, NULL, attributes, cluster ? 2 : 1};
    return cuLaunchKernelEx(&config, f, params, NULL);
}

static void launches_refused(void **state)
{
    (void)state;
    enum { SHARED_MOST = 232448 };
    api_open(0);
    CUmodule module = api_module();
    CUfunction f = api_function(module, "add");
    CUdeviceptr data;
    int fit, value;
    assert_ok(cuMemAlloc_v2(&data, 64));
    assert_ok(cuMemsetD32_v2(data, 0, 16));
    assert_result(CUDA_ERROR_INVALID_VALUE, launch_shape(f, data, 0, 32, 0, false, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, launch_shape(f, data, 1, 1025, 0, false, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, launch_shape(f, data, 1, 32, (48 << 10) + 4, false, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE,
                  cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED_MOST + 1));
    assert_ok(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED_MOST));
    assert_ok(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    assert_int_equal(value, SHARED_MOST);
    assert_ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, f, 128, SHARED_MOST));
    assert_int_equal(fit, 1);
    assert_ok(launch_shape(f, data, 4, 128, SHARED_MOST, true, 0)); // one on each of the four
    assert_result(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                  launch_shape(f, data, 5, 128, SHARED_MOST, true, 0));
    assert_ok(launch_shape(f, data, 5, 128, SHARED_MOST, false, 0));
    assert_result(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_shape(f, data, 3, 32, 0, false, 2));
    assert_result(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_shape(f, data, 16, 32, 0, false, 16));
    assert_ok(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    assert_ok(launch_shape(f, data, 16, 32, 0, false, 16));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    struct {
        CUdeviceptr data;
        uint32_t n, value;
    } packed = {data, 1, 100};
    size_t bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    assert_ok(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    assert_ok(cuCtxSynchronize());
    assert_int_equal(api_word(data) >= 100, 1);
    assert_ok(cuMemFree_v2(data));
    assert_ok(cuModuleUnload(module));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static void entry_points(void **state)
{
    (void)state;
    CUresult (*version)(int *);
    void *found;
    int value = 0;
    CUdriverProcAddressQueryResult status;
    assert_ok(cuGetProcAddress_v2("cuDriverGetVersion", &found, 13000, 0, &status));
    memcpy(&version, &found, sizeof version);
    assert_ok(version(&value));
    assert_int_equal(value, 13000);
    void *plain, *own;
    assert_ok(cuGetProcAddress_v2("cuStreamGetId", &plain, 12000, 0, NULL));
    assert_ok(cuGetProcAddress_v2("cuStreamGetId", &own, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                                  NULL));
    assert_ptr_not_equal(plain, own);
    assert_ok(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &status));
    assert_non_null(found);
    assert_ok(cuGetProcAddress_v2("cuMulticastCreate", &found, 11000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    assert_ok(cuGetProcAddress_v2("cuNothing", &found, 12000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_null(found);
    assert_result(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNothing", &found, 12000, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),   cmocka_unit_test(contexts),         cmocka_unit_test(modules),
        cmocka_unit_test(libraries), cmocka_unit_test(launches_refused), cmocka_unit_test(entry_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
