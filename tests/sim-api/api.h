// SPDX-License-Identifier: Apache-2.0
// What the tests of the driver share: the declarations of all calls, checks with the error's name, a kernel
// or two.
#ifndef TESTS_SIM_API_API_H
#define TESTS_SIM_API_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/driver/cuda.h"
#include "sim/pksim.h"

#define CALL(name, since, kind, streams, par, arg) CUresult name par;
#define CALL_VOID(name, since, kind)               CUresult name(void);
#include "sim/driver/api.def"
// One of the second forms, to see that they are there.
CUresult cuStreamGetId_ptsz(CUstream hStream, unsigned long long *streamId);

const char *api_name(CUresult result);
#define assert_result(want, call)                                                                            \
    do {                                                                                                     \
        CUresult result_ = (call);                                                                           \
        if (result_ != (want))                                                                               \
            fail_msg("%s: %s instead of %s", #call, api_name(result_), api_name(want));                      \
    } while (0)
#define assert_ok(call) assert_result(CUDA_SUCCESS, call)

// Retains the primary context of a device and makes it current.
CUcontext api_open(CUdevice device);
void api_close(CUdevice device);
unsigned long long api_live(void); // all of pksim_resources together

// add(u32 *data, u32 n, u32 value): adds to n words; one thread each.
// spin(u32 *flag, u32 *done): polls *flag until it is not 0, then puts 1 to *done.
// stray(u32 *data): writes far behind data.
// relay(u32 *mine, u32 *theirs): sets theirs, then waits for mine.
extern const char api_ptx[];
CUmodule api_module(void);
CUfunction api_function(CUmodule module, const char *name);
// One block of `threads`.
CUresult api_launch(CUfunction f, unsigned int threads, CUstream stream, void **params);
CUresult api_add(CUfunction f, CUdeviceptr data, uint32_t n, uint32_t value, CUstream stream);
uint32_t api_word(CUdeviceptr address);

#endif
