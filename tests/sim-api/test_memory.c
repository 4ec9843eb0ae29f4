// SPDX-License-Identifier: Apache-2.0
// Allocations, host memory, pointers, copies and fills.
#include "api.h"

static void allocations(void **state)
{
    (void)state;
    CUcontext context = api_open(1), owner;
    CUdeviceptr data, base;
    size_t size, free_before, free_after, total;
    int device;
    unsigned int type;
    assert_ok(cuMemGetInfo_v2(&free_before, &total));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&data, 0));
    assert_ok(cuMemAlloc_v2(&data, 1000));
    assert_int_equal(data % 256, 0);
    assert_ok(cuMemGetInfo_v2(&free_after, &total));
    assert_true(free_after < free_before);
    assert_ok(cuMemGetAddressRange_v2(&base, &size, data + 999));
    assert_true(base == data && size == 1000);
    assert_result(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange_v2(&base, &size, data + 1000));
    assert_ok(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, data));
    assert_ok(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, data));
    assert_ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, data));
    assert_true(owner == context && device == 1 && type == CU_MEMORYTYPE_DEVICE);
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(data + 4));
    assert_ok(cuMemFree_v2(data));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(data));
    assert_ok(cuMemFree_v2(0));
    assert_result(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&data, total + 1));
    api_close(1);
    assert_int_equal(api_live(), 0);
}

static void host_memory(void **state)
{
    (void)state;
    api_open(0);
    static _Alignas(4096) char own[8192];
    void *host;
    CUdeviceptr device;
    unsigned int flags;
    assert_ok(cuMemHostAlloc(&host, 100, 2));
    assert_ok(cuMemHostGetDevicePointer_v2(&device, host, 0));
    assert_true(device == (uintptr_t)host);
    assert_ok(cuMemHostGetFlags(&flags, host));
    assert_int_equal(flags, 2);
    assert_ok(cuMemHostRegister_v2(own, sizeof own, 0));
    assert_result(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(own + 4096, 4096, 0));
    assert_ok(cuMemHostUnregister(own));
    assert_result(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, own, 0));
    assert_ok(cuMemFreeHost(host));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static void copies_and_fills(void **state)
{
    (void)state;
    api_open(0);
    CUdeviceptr a, b;
    uint32_t words[8];
    assert_ok(cuMemAlloc_v2(&a, sizeof words));
    assert_ok(cuMemAlloc_v2(&b, sizeof words));
    assert_int_equal(api_word(a), 0xffffffff); // never written: a NaN
    assert_ok(cuMemsetD32_v2(a, 0x12345678, 8));
    assert_ok(cuMemsetD16_v2(a + 4, 0xabcd, 2));
    assert_ok(cuMemsetD8_v2(a + 8, 0x11, 3));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemsetD16_v2(a + 1, 0, 2));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(a, 0, 9));
    assert_ok(cuMemcpyDtoD_v2(b, a, sizeof words));
    assert_ok(cuMemcpy((CUdeviceptr)(uintptr_t)words, b, sizeof words));
    assert_int_equal(words[0], 0x12345678);
    assert_int_equal(words[1], 0xabcdabcd);
    assert_int_equal(words[2], 0x12111111);
    words[0] = 1;
    assert_ok(cuMemcpyHtoDAsync_v2(a, words, 4, NULL));
    words[0] = 2; // the call has taken the bytes along
    assert_int_equal(api_word(a), 1);
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(a + 16, words, 20));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(words, 64, 4));
    assert_ok(cuMemcpyHtoD_v2(a, words, 0));
    assert_ok(cuMemFreeAsync(b, NULL));
    assert_ok(cuMemFree_v2(a));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

// What goes with a context is freed, and counts as forgotten.
static void forgotten(void **state)
{
    (void)state;
    api_open(2);
    CUdeviceptr a;
    CUstream stream;
    assert_ok(cuMemAlloc_v2(&a, 64));
    assert_ok(cuStreamCreate(&stream, 0));
    api_close(2);
    struct pksim_resources r;
    pksimLiveResources(&r);
    assert_int_equal(r.memory, 1);
    assert_int_equal(r.streams, 1);
    assert_int_equal(r.contexts, 0);
    assert_result(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&a, 64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations),
        cmocka_unit_test(host_memory),
        cmocka_unit_test(copies_and_fills),
        cmocka_unit_test(forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
