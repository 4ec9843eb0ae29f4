// SPDX-License-Identifier: Apache-2.0
#include "api.h"

const char api_ptx[] = ".version 8.0\n"
                       ".target sm_90a\n"
                       ".address_size 64\n"
                       ".visible .global .align 4 .u32 counter = 7;\n"
                       ".visible .entry add(.param .u64 data, .param .u32 n, .param .u32 value)\n"
                       "{\n"
                       ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
                       "ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [value];\n"
                       "mov.u32 %r3, %tid.x;\n"
                       "setp.ge.u32 %p1, %r3, %r1;\n"
                       "@%p1 bra done;\n"
                       "mul.wide.u32 %rd2, %r3, 4;\n"
                       "add.s64 %rd3, %rd1, %rd2;\n"
                       "ld.global.u32 %r4, [%rd3];\n"
                       "add.u32 %r5, %r4, %r2;\n"
                       "st.global.u32 [%rd3], %r5;\n"
                       "done: ret;\n"
                       "}\n"
                       ".visible .entry spin(.param .u64 flag, .param .u64 done)\n"
                       "{\n"
                       ".reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
                       "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [done];\n"
                       "again: ld.acquire.sys.global.u32 %r1, [%rd1];\n"
                       "setp.eq.u32 %p1, %r1, 0;\n"
                       "@%p1 bra again;\n"
                       "mov.u32 %r2, 1;\n"
                       "st.release.sys.global.u32 [%rd2], %r2;\n"
                       "ret;\n"
                       "}\n"
                       ".visible .entry stray(.param .u64 data)\n"
                       "{\n"
                       ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                       "ld.param.u64 %rd1, [data];\n"
                       "mov.u32 %r1, 1;\n"
                       "st.global.u32 [%rd1+1048576], %r1;\n"
                       "ret;\n"
                       "}\n"
                       ".visible .entry relay(.param .u64 mine, .param .u64 theirs)\n"
                       "{\n"
                       ".reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
                       "ld.param.u64 %rd1, [mine]; ld.param.u64 %rd2, [theirs];\n"
                       "mov.u32 %r2, 1;\n"
                       "st.release.sys.global.u32 [%rd2], %r2;\n"
                       "again: ld.acquire.sys.global.u32 %r1, [%rd1];\n"
                       "setp.eq.u32 %p1, %r1, 0;\n"
                       "@%p1 bra again;\n"
                       "ret;\n"
                       "}\n";

const char *api_name(CUresult result)
{
    const char *name = NULL;
    cuGetErrorName(result, &name);
    return name ? name : "?";
}

CUcontext api_open(CUdevice device)
{
    CUcontext context;
    assert_ok(cuInit(0));
    assert_ok(cuDevicePrimaryCtxRetain(&context, device));
    assert_ok(cuCtxSetCurrent(context));
    return context;
}

void api_close(CUdevice device)
{
    assert_ok(cuDevicePrimaryCtxRelease_v2(device));
}

unsigned long long api_live(void)
{
    struct pksim_resources r;
    pksimLiveResources(&r);
    return r.memory + r.modules + r.streams + r.events + r.contexts + r.graphs;
}

CUmodule api_module(void)
{
    CUmodule module;
    assert_ok(cuModuleLoadData(&module, api_ptx));
    return module;
}

CUfunction api_function(CUmodule module, const char *name)
{
    CUfunction f;
    assert_ok(cuModuleGetFunction(&f, module, name));
    return f;
}

CUresult api_launch(CUfunction f, unsigned int threads, CUstream stream, void **params)
{
    return cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, stream, params, NULL);
}

CUresult api_add(CUfunction f, CUdeviceptr data, uint32_t n, uint32_t value, CUstream stream)
{
    return api_launch(f, n, stream, (void *[]){&data, &n, &value});
}

uint32_t api_word(CUdeviceptr address)
{
    uint32_t word;
    assert_ok(cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}
