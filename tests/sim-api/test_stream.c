// SPDX-License-Identifier: Apache-2.0
// The order of streams and events, kernels that wait for each other or for the host, errors that stay.
#include <pthread.h>
#include <time.h>

#include "api.h"

struct rig {
    CUmodule module;
    CUfunction add, spin, stray;
    CUdeviceptr data;
};

static struct rig open_rig(void)
{
    api_open(0);
    struct rig r = {.module = api_module()};
    r.add = api_function(r.module, "add");
    r.spin = api_function(r.module, "spin");
    r.stray = api_function(r.module, "stray");
    assert_ok(cuMemAlloc_v2(&r.data, 256));
    assert_ok(cuMemsetD32_v2(r.data, 0, 64));
    return r;
}

static void close_rig(const struct rig *r)
{
    cuMemFree_v2(r->data);
    cuModuleUnload(r->module);
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static CUresult spin(const struct rig *r, CUdeviceptr flag, CUdeviceptr done, CUstream stream)
{
    return api_launch(r->spin, 1, stream, (void *[]){&flag, &done});
}

static void order_of_a_stream(void **state)
{
    (void)state;
    struct rig r = open_rig();
    CUstream stream;
    CUevent begin, end;
    float ms;
    assert_ok(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    assert_ok(cuEventCreate(&begin, 0));
    assert_ok(cuEventCreate(&end, 0));
    assert_ok(cuEventRecord(begin, stream));
    assert_ok(api_add(r.add, r.data, 4, 5, stream));
    assert_ok(cuMemsetD32Async(r.data + 4, 100, 1, stream));
    assert_ok(api_add(r.add, r.data, 4, 5, stream));
    assert_ok(cuEventRecord(end, stream));
    assert_result(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&ms, begin, end));
    assert_ok(cuEventSynchronize(end));
    assert_ok(cuEventElapsedTime_v2(&ms, begin, end));
    assert_true(ms >= 0);
    assert_int_equal(api_word(r.data), 10);
    assert_int_equal(api_word(r.data + 4), 105);
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        ;
    assert_ok(cuEventDestroy_v2(begin));
    assert_result(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(begin));
    assert_ok(cuEventDestroy_v2(end));
    assert_ok(cuStreamDestroy_v2(stream));
    assert_result(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    close_rig(&r);
}

// One stream's kernel waits for another's word: they run together. An event holds a third stream back.
static void streams_run_together(void **state)
{
    (void)state;
    struct rig r = open_rig();
    CUstream a, b, c;
    CUevent event;
    assert_ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    assert_ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    assert_ok(cuStreamCreate(&c, CU_STREAM_NON_BLOCKING));
    assert_ok(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    assert_ok(spin(&r, r.data, r.data + 4, a));
    assert_ok(cuEventRecord(event, a));
    assert_ok(cuStreamWaitEvent(c, event, 0));
    assert_ok(api_add(r.add, r.data + 4, 1, 41, c)); // must come behind the 1 of a
    assert_result(CUDA_ERROR_NOT_READY, cuStreamQuery(c));
    assert_ok(api_add(r.add, r.data, 1, 1, b));
    assert_ok(cuStreamSynchronize(c));
    assert_int_equal(api_word(r.data + 4), 42);
    assert_ok(cuStreamDestroy_v2(a));
    assert_ok(cuStreamDestroy_v2(b));
    assert_ok(cuStreamDestroy_v2(c));
    assert_ok(cuEventDestroy_v2(event));
    close_rig(&r);
}

// The null stream and ordinary streams wait for each other: this would hang otherwise, or give the wrong sum.
static void null_stream(void **state)
{
    (void)state;
    struct rig r = open_rig();
    CUstream stream;
    assert_ok(cuStreamCreate(&stream, 0));
    assert_ok(api_add(r.add, r.data, 1, 1, stream));
    assert_ok(cuMemcpyDtoD_v2(r.data + 4, r.data, 4));
    assert_int_equal(api_word(r.data + 4), 1);
    assert_ok(cuMemsetD32Async(r.data, 10, 1, NULL));
    assert_ok(api_add(r.add, r.data, 1, 1, stream));
    assert_ok(cuStreamSynchronize(stream));
    assert_int_equal(api_word(r.data), 11);
    unsigned long long null_id, own_id;
    assert_ok(cuStreamGetId(NULL, &null_id));
    assert_ok(cuStreamGetId_ptsz(NULL, &own_id));
    assert_true(null_id != own_id);
    assert_ok(cuStreamDestroy_v2(stream));
    close_rig(&r);
}

static void set_word(void *word)
{
    *(volatile uint32_t *)word = 1;
}

static void host_functions(void **state)
{
    (void)state;
    struct rig r = open_rig();
    uint32_t *host;
    assert_ok(cuMemHostAlloc((void **)&host, 64, 0));
    CUdeviceptr flag = (CUdeviceptr)(uintptr_t)host;
    CUstream a, b;
    assert_ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    assert_ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    assert_ok(spin(&r, flag, flag + 4, a));
    assert_ok(cuLaunchHostFunc(b, set_word, host));
    assert_ok(cuStreamSynchronize(a));
    assert_int_equal(host[1], 1);
    assert_ok(cuStreamDestroy_v2(a));
    assert_ok(cuStreamDestroy_v2(b));
    assert_ok(cuMemFreeHost(host));
    close_rig(&r);
}

// The program does not wait in the driver: it talks with the kernel through mapped memory.
static void host_polls(void **state)
{
    (void)state;
    struct rig r = open_rig();
    volatile uint32_t *host;
    assert_ok(cuMemHostAlloc((void **)(uintptr_t)&host, 64, 0));
    CUdeviceptr flag = (CUdeviceptr)(uintptr_t)host;
    assert_ok(spin(&r, flag, flag + 4, NULL));
    host[0] = 1;
    for (int i = 0; i < 20000 && !host[1]; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(host[1], 1);
    assert_ok(cuCtxSynchronize());
    assert_ok(cuMemFreeHost((void *)(uintptr_t)host));
    close_rig(&r);
}

static void *write_late(void *word)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    set_word(word);
    return NULL;
}

// Another thread, which never calls the driver, may still bring what a waiting thread's kernel waits for.
static void another_thread_writes(void **state)
{
    (void)state;
    struct rig r = open_rig();
    uint32_t *host;
    pthread_t thread;
    assert_ok(cuMemHostAlloc((void **)&host, 64, 0));
    CUdeviceptr flag = (CUdeviceptr)(uintptr_t)host;
    assert_ok(spin(&r, flag, flag + 4, NULL));
    assert_int_equal(pthread_create(&thread, NULL, write_late, host), 0);
    assert_ok(cuCtxSynchronize());
    pthread_join(thread, NULL);
    assert_int_equal(host[1], 1);
    assert_ok(cuMemFreeHost(host));
    close_rig(&r);
}

static CUresult relay(CUcontext context, CUdeviceptr mine, CUdeviceptr theirs, CUmodule *module)
{
    assert_ok(cuCtxSetCurrent(context));
    *module = api_module();
    return api_launch(api_function(*module, "relay"), 1, NULL, (void *[]){&mine, &theirs});
}

// Kernels of two devices wait for each other.
static void devices_run_together(void **state)
{
    (void)state;
    CUcontext zero = api_open(0), one;
    CUmodule modules[2];
    void *host;
    assert_ok(cuDevicePrimaryCtxRetain(&one, 1));
    assert_ok(cuMemHostAlloc(&host, 64, 0));
    CUdeviceptr words = (CUdeviceptr)(uintptr_t)host;
    assert_ok(relay(zero, words, words + 4, &modules[0]));
    assert_ok(relay(one, words + 4, words, &modules[1]));
    assert_ok(cuCtxSynchronize());
    assert_ok(cuModuleUnload(modules[1]));
    assert_ok(cuCtxSetCurrent(zero));
    assert_ok(cuModuleUnload(modules[0]));
    assert_ok(cuMemFreeHost(host));
    api_close(1);
    api_close(0);
    assert_int_equal(api_live(), 0);
}

// A kernel that nothing can help: told at once, with the line, and the context is spoilt; a new one works.
static void deadlock(void **state)
{
    (void)state;
    char report[4000], json[4000];
    struct rig r = open_rig();
    assert_ok(spin(&r, r.data, r.data + 4, NULL));
    assert_result(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
    assert_true(pksimLastReport(report, sizeof report) > 0);
    assert_non_null(strstr(report, "deadlock"));
    assert_true(pksimLastReportJson(json, sizeof json) > 0);
    assert_non_null(strstr(json, "\"kind\": \"DEADLOCK\""));
    assert_result(CUDA_ERROR_LAUNCH_TIMEOUT, cuMemsetD32_v2(r.data, 0, 1));
    assert_result(CUDA_ERROR_LAUNCH_TIMEOUT, api_add(r.add, r.data, 1, 1, NULL));
    close_rig(&r);
    r = open_rig();
    assert_ok(api_add(r.add, r.data, 1, 1, NULL));
    assert_ok(cuCtxSynchronize());
    close_rig(&r);
}

// A fault on one device leaves the others alone.
static void fault_on_one_device(void **state)
{
    (void)state;
    CUcontext one;
    struct rig r = open_rig();
    CUdeviceptr other;
    assert_ok(cuDevicePrimaryCtxRetain(&one, 1));
    assert_ok(cuCtxPushCurrent_v2(one));
    assert_ok(cuMemAlloc_v2(&other, 64));
    CUmodule module = api_module();
    assert_ok(cuCtxPopCurrent_v2(NULL));
    assert_ok(api_launch(r.stray, 1, NULL, (void *[]){&r.data}));
    assert_result(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    assert_ok(cuCtxPushCurrent_v2(one));
    assert_ok(cuMemsetD32_v2(other, 1, 16));
    assert_ok(api_add(api_function(module, "add"), other, 1, 1, NULL));
    assert_ok(cuCtxSynchronize());
    assert_int_equal(api_word(other), 2);
    assert_ok(cuModuleUnload(module));
    assert_ok(cuMemFree_v2(other));
    assert_ok(cuCtxPopCurrent_v2(NULL));
    api_close(1);
    close_rig(&r);
}

// Threads of the program at work at once.
static void *adds(void *argument)
{
    struct rig *r = argument;
    CUcontext context;
    CUstream stream;
    CUdeviceptr data;
    assert_ok(cuDevicePrimaryCtxRetain(&context, 0));
    assert_ok(cuCtxSetCurrent(context));
    assert_ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_ok(cuMemAlloc_v2(&data, 128));
    assert_ok(cuMemsetD32Async(data, 0, 32, stream));
    for (int i = 0; i < 20; i++) {
        assert_ok(api_add(r->add, data, 32, 1, stream));
        assert_ok(cuStreamSynchronize(stream));
    }
    assert_int_equal(api_word(data + 124), 20);
    assert_ok(cuMemFree_v2(data));
    assert_ok(cuStreamDestroy_v2(stream));
    assert_ok(cuCtxSetCurrent(NULL));
    assert_ok(cuDevicePrimaryCtxRelease_v2(0));
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    struct rig r = open_rig();
    pthread_t all[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&all[i], NULL, adds, &r), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_a_stream),    cmocka_unit_test(streams_run_together),
        cmocka_unit_test(null_stream),          cmocka_unit_test(host_functions),
        cmocka_unit_test(host_polls),           cmocka_unit_test(another_thread_writes),
        cmocka_unit_test(devices_run_together), cmocka_unit_test(deadlock),
        cmocka_unit_test(fault_on_one_device),  cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
