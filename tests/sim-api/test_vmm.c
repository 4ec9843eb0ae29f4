// SPDX-License-Identifier: Apache-2.0
// Virtual memory: several mappings of one memory, access by device, sharing by descriptor, multicast objects,
// peers.
#include "api.h"

#include <unistd.h>

enum { MIB = 1 << 20 };

static CUmemAllocationProp on_device(int device, bool shareable)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    if (shareable)
        prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return prop;
}

static void give_access(CUdeviceptr address, size_t size, int device, CUmemAccess_flags flags)
{
    CUmemAccessDesc desc = {.flags = flags};
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.location.id = device;
    assert_ok(cuMemSetAccess(address, size, &desc, 1));
}

static CUresult add_on(int device, CUdeviceptr address)
{
    CUcontext context;
    CUmodule module;
    assert_ok(cuDevicePrimaryCtxRetain(&context, device));
    assert_ok(cuCtxPushCurrent_v2(context));
    module = api_module();
    CUresult result = api_add(api_function(module, "add"), address, 1, 1, NULL);
    if (result == CUDA_SUCCESS)
        result = cuCtxSynchronize();
    cuModuleUnload(module);
    assert_ok(cuCtxPopCurrent_v2(NULL));
    assert_ok(cuDevicePrimaryCtxRelease_v2(device));
    return result;
}

static void mappings_of_one_memory(void **state)
{
    (void)state;
    api_open(0);
    CUmemAllocationProp prop = on_device(1, false), got;
    CUmemGenericAllocationHandle memory;
    CUdeviceptr range;
    size_t grain;
    assert_ok(cuMemGetAllocationGranularity(&grain, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    assert_int_equal(grain, 2 * MIB);
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&memory, grain / 2, &prop, 0));
    assert_ok(cuMemCreate(&memory, 2 * grain, &prop, 0));
    assert_ok(cuMemGetAllocationPropertiesFromHandle(&got, memory));
    assert_int_equal(got.location.id, 1);
    assert_ok(cuMemAddressReserve(&range, 6 * grain, 0, 0, 0));
    assert_ok(cuMemMap(range, 2 * grain, 0, memory, 0));
    assert_ok(cuMemMap(range + 2 * grain, grain, grain, memory, 0)); // the second half once more
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemMap(range + grain, grain, 0, memory, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemMap(range + 4 * grain, 3 * grain, 0, memory, 0));
    assert_ok(cuMemRelease(memory)); // the mappings hold it
    give_access(range, 3 * grain, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_ok(cuMemsetD32_v2(range + grain, 5, 1));
    assert_int_equal(api_word(range + 2 * grain), 5);
    assert_ok(add_on(1, range + 2 * grain));
    assert_int_equal(api_word(range + grain), 6);
    unsigned long long flags;
    CUmemLocation where = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    assert_ok(cuMemGetAccess(&flags, &where, range));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 6 * grain));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range, grain)); // a part of a mapping
    assert_ok(cuMemUnmap(range, 3 * grain));
    assert_ok(cuMemAddressFree(range, 6 * grain));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

// A device that may only read writes: its context is spoilt with a report, until it is opened anew.
static void access_by_device(void **state)
{
    (void)state;
    api_open(0);
    CUmemAllocationProp prop = on_device(0, false);
    CUmemGenericAllocationHandle memory;
    CUdeviceptr range;
    char report[2000];
    assert_ok(cuMemCreate(&memory, 2 * MIB, &prop, 0));
    assert_ok(cuMemAddressReserve(&range, 2 * MIB, 0, 0, 0));
    assert_ok(cuMemMap(range, 2 * MIB, 0, memory, 0));
    assert_ok(cuMemsetD32_v2(range, 1, 16));
    assert_result(CUDA_ERROR_ILLEGAL_ADDRESS, add_on(1, range));
    give_access(range, 2 * MIB, 1, CU_MEM_ACCESS_FLAGS_PROT_READ);
    assert_result(CUDA_ERROR_ILLEGAL_ADDRESS, add_on(1, range));
    assert_true(pksimLastReport(report, sizeof report) > 0);
    assert_non_null(strstr(report, "write"));
    give_access(range, 2 * MIB, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_ok(add_on(1, range));
    assert_int_equal(api_word(range), 2);
    assert_ok(cuMemUnmap(range, 2 * MIB));
    assert_ok(cuMemAddressFree(range, 2 * MIB));
    assert_ok(cuMemRelease(memory));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemRelease(memory));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static void sharing(void **state)
{
    (void)state;
    api_open(0);
    CUmemAllocationProp prop = on_device(2, true), got;
    CUmemGenericAllocationHandle memory, again;
    CUdeviceptr range;
    int descriptor = -1;
    assert_ok(cuMemCreate(&memory, 2 * MIB, &prop, 0));
    assert_ok(cuMemExportToShareableHandle(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    assert_ok(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)descriptor,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    assert_ok(cuMemGetAllocationPropertiesFromHandle(&got, again));
    assert_int_equal(got.location.id, 2);
    assert_ok(cuMemAddressReserve(&range, 4 * MIB, 0, 0, 0));
    assert_ok(cuMemMap(range, 2 * MIB, 0, memory, 0));
    assert_ok(cuMemMap(range + 2 * MIB, 2 * MIB, 0, again, 0));
    assert_ok(cuMemsetD32_v2(range + 64, 9, 1));
    assert_int_equal(api_word(range + 2 * MIB + 64), 9);
    assert_ok(cuMemUnmap(range, 4 * MIB));
    assert_ok(cuMemAddressFree(range, 4 * MIB));
    assert_ok(cuMemRelease(memory));
    assert_ok(cuMemRelease(again));
    close(descriptor);
    assert_result(CUDA_ERROR_INVALID_VALUE,
                  cuMemImportFromShareableHandle(&again, (void *)(intptr_t)0,
                                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static void multicast(void **state)
{
    (void)state;
    api_open(0);
    CUmulticastObjectProp prop = {.numDevices = 2, .size = 2 * MIB};
    CUmemGenericAllocationHandle object, memory[2];
    CUdeviceptr range;
    assert_ok(cuMulticastCreate(&object, &prop));
    for (int i = 0; i < 2; i++) {
        CUmemAllocationProp each = on_device(i, false);
        assert_ok(cuMemCreate(&memory[i], 2 * MIB, &each, 0));
    }
    assert_ok(cuMulticastAddDevice(object, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[0], 0, 2 * MIB, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(object, 0)); // once
    assert_ok(cuMemAddressReserve(&range, 2 * MIB, 0, 0, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, 2 * MIB, 0, object, 0));
    assert_ok(cuMulticastAddDevice(object, 1));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(object, 2));
    for (int i = 0; i < 2; i++)
        assert_ok(cuMulticastBindMem(object, 0, memory[i], 0, 2 * MIB, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[1], 0, 2 * MIB, 0));
    // Sizes and offsets are multiples of the granularity, and lie in both.
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[1], 0, MIB, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, MIB, memory[1], 0, 2 * MIB, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 2 * MIB, memory[1], 0, 2 * MIB, 0));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[1], 2 * MIB, 2 * MIB, 0));
    assert_ok(cuMemMap(range, 2 * MIB, 0, object, 0));
    give_access(range, 2 * MIB, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(range, 0, 1)); // only kernels' multimem
    assert_ok(cuMemUnmap(range, 2 * MIB));
    assert_ok(cuMulticastUnbind(object, 1, 0, 2 * MIB));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object, 1, 0, 2 * MIB));
    assert_ok(cuMemAddressFree(range, 2 * MIB));
    assert_ok(cuMemRelease(object));
    for (int i = 0; i < 2; i++)
        assert_ok(cuMemRelease(memory[i]));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static void peers(void **state)
{
    (void)state;
    CUcontext one, zero = api_open(0);
    CUdeviceptr data;
    int can;
    assert_ok(cuDeviceCanAccessPeer(&can, 0, 1));
    assert_int_equal(can, 1);
    assert_ok(cuMemAlloc_v2(&data, 64));
    assert_ok(cuMemsetD32_v2(data, 1, 16));
    assert_ok(cuDevicePrimaryCtxRetain(&one, 1));
    assert_ok(cuCtxPushCurrent_v2(one));
    assert_result(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(zero));
    assert_ok(cuCtxEnablePeerAccess(zero, 0));
    assert_result(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(zero, 0));
    assert_ok(add_on(1, data));
    assert_int_equal(api_word(data), 2);
    assert_ok(cuCtxDisablePeerAccess(zero));
    CUmodule module = api_module();
    assert_ok(api_add(api_function(module, "add"), data, 1, 1, NULL));
    assert_result(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    assert_result(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize()); // for good
    cuModuleUnload(module);
    assert_ok(cuCtxPopCurrent_v2(NULL));
    api_close(1);
    assert_ok(cuMemFree_v2(data));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_of_one_memory),
        cmocka_unit_test(access_by_device),
        cmocka_unit_test(sharing),
        cmocka_unit_test(multicast),
        cmocka_unit_test(peers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
