// SPDX-License-Identifier: Apache-2.0
// Failures on purpose: every call of the table by its name, without effect unless it gives something back.
#define _GNU_SOURCE // RTLD_DEFAULT
#include <dlfcn.h>

#include "api.h"

enum { CODE = CUDA_ERROR_SYSTEM_NOT_READY };

// Rows as (name, kind) and the call with arguments that are zero: made to fail, it looks at none of them.
struct row {
    const char *name;
    bool releases;
};

#define KIND_IS_PLAIN   false
#define KIND_IS_START   false
#define KIND_IS_INIT    false
#define KIND_IS_CONTEXT false
#define KIND_IS_RELEASE true
static const struct row rows[] = {
#define CALL(name, since, kind, streams, par, arg) {#name, KIND_IS_##kind},
#define CALL_VOID(name, since, kind)               {#name, KIND_IS_##kind},
#include "sim/driver/api.def"
};

// Calls any function of the table with zeros for up to twelve integer or pointer arguments: in the System V
// and AAPCS64 calling conventions that does no harm to one that takes fewer.
static CUresult call_with_zeros(const char *name)
{
    CUresult (*call)(long, long, long, long, long, long, long, long, long, long, long, long);
    void *found = dlsym(RTLD_DEFAULT, name);
    assert_non_null(found);
    memcpy(&call, &found, sizeof call);
    return call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void every_call_by_name(void **state)
{
    (void)state;
    api_open(0);
    size_t count = sizeof rows / sizeof rows[0];
    assert_true(count > 130);
    for (size_t i = 0; i < count; i++) {
        if (strstr(rows[i].name, "cuGetProcAddress") || rows[i].releases)
            continue;
        pksimFailCall(rows[i].name, 1, CODE);
        CUresult result = call_with_zeros(rows[i].name);
        if (result != (CUresult)CODE)
            fail_msg("%s: %s", rows[i].name, api_name(result));
        assert_int_equal(pksimCalls(), 1);
    }
    pksimFailCall(NULL, 0, 0);
    api_close(0);
    assert_int_equal(api_live(), 0);
}

// Zeros without a failure are mistakes of the program, and none crashes.
static void zeros_are_refused(void **state)
{
    (void)state;
    api_open(0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strstr(rows[i].name, "cuDevicePrimaryCtx") || strstr(rows[i].name, "cuCtx"))
            continue; // zero is a device, a flag, no context
        call_with_zeros(rows[i].name);
    }
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static void nth_of_any(void **state)
{
    (void)state;
    api_open(0);
    CUdeviceptr a, b;
    pksimFailCall(NULL, 2, CODE);
    assert_ok(cuMemAlloc_v2(&a, 64));
    const char *name;
    assert_ok(cuGetErrorName(CUDA_SUCCESS, &name)); // not counted
    assert_result((CUresult)CODE, cuMemAlloc_v2(&b, 64));
    assert_ok(cuMemAlloc_v2(&b, 64));
    assert_int_equal(pksimCalls(), 3);
    assert_ok(cuMemFree_v2(b)); // neither
    assert_int_equal(pksimCalls(), 3);
    pksimFailCall("cuMemFree_v2", 1, CODE);
    assert_result((CUresult)CODE, cuMemFree_v2(a)); // and yet it is gone
    pksimFailCall(NULL, 0, 0);
    assert_result(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(a));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

static void before_init(void **state)
{
    (void)state;
    int count;
    CUcontext context;
    assert_result(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    assert_result(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
    assert_result(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_init),
        cmocka_unit_test(every_call_by_name),
        cmocka_unit_test(zeros_are_refused),
        cmocka_unit_test(nth_of_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
