// SPDX-License-Identifier: Apache-2.0
// Capturing streams, and running what was captured.
#include "api.h"

struct rig {
    CUmodule module;
    CUfunction add;
    CUdeviceptr data;
    CUstream a, b;
    CUevent fork, join;
};

static struct rig open_rig(void)
{
    api_open(0);
    struct rig r = {.module = api_module()};
    r.add = api_function(r.module, "add");
    assert_ok(cuMemAlloc_v2(&r.data, 256));
    assert_ok(cuMemsetD32_v2(r.data, 0, 64));
    assert_ok(cuStreamCreate(&r.a, CU_STREAM_NON_BLOCKING));
    assert_ok(cuStreamCreate(&r.b, CU_STREAM_NON_BLOCKING));
    assert_ok(cuEventCreate(&r.fork, CU_EVENT_DISABLE_TIMING));
    assert_ok(cuEventCreate(&r.join, CU_EVENT_DISABLE_TIMING));
    return r;
}

static void close_rig(const struct rig *r)
{
    assert_ok(cuEventDestroy_v2(r->fork));
    assert_ok(cuEventDestroy_v2(r->join));
    assert_ok(cuStreamDestroy_v2(r->a));
    assert_ok(cuStreamDestroy_v2(r->b));
    assert_ok(cuMemFree_v2(r->data));
    assert_ok(cuModuleUnload(r->module));
    api_close(0);
    assert_int_equal(api_live(), 0);
}

// a: clear word 0, fork; a adds to 0, b adds to 1; join; a copies word 0 to 2.
static CUgraph capture(const struct rig *r)
{
    CUgraph graph;
    assert_ok(cuStreamBeginCapture_v2(r->a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_ok(cuMemsetD32Async(r->data, 5, 1, r->a));
    assert_ok(cuEventRecord(r->fork, r->a));
    assert_ok(cuStreamWaitEvent(r->b, r->fork, 0));
    assert_ok(api_add(r->add, r->data + 4, 1, 1, r->b));
    assert_ok(api_add(r->add, r->data, 1, 2, r->a));
    assert_ok(cuEventRecord(r->join, r->b));
    assert_ok(cuStreamWaitEvent(r->a, r->join, 0));
    assert_ok(cuMemcpyDtoDAsync_v2(r->data + 8, r->data, 4, r->a));
    assert_ok(cuStreamEndCapture(r->a, &graph));
    return graph;
}

static void captured_and_launched(void **state)
{
    (void)state;
    struct rig r = open_rig();
    CUgraphExec exec;
    CUgraph graph = capture(&r);
    assert_int_equal(api_word(r.data), 0); // nothing has run
    assert_ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
    assert_ok(cuGraphDestroy(graph));
    assert_ok(cuGraphUpload(exec, r.b));
    for (int i = 0; i < 3; i++)
        assert_ok(cuGraphLaunch(exec, r.b));
    assert_ok(api_add(r.add, r.data + 8, 1, 10, r.b)); // behind all of it
    assert_ok(cuStreamSynchronize(r.b));
    assert_int_equal(api_word(r.data), 7);
    assert_int_equal(api_word(r.data + 4), 3);
    assert_int_equal(api_word(r.data + 8), 17);
    assert_ok(cuGraphExecDestroy(exec));
    assert_result(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(exec, r.b));
    close_rig(&r);
}

static void mistakes(void **state)
{
    (void)state;
    struct rig r = open_rig();
    CUgraph graph;
    CUstreamCaptureStatus status;
    assert_result(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_result(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(r.a, &graph));
    // a stream that joined and is not joined back
    assert_ok(cuStreamBeginCapture_v2(r.a, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_ok(cuStreamIsCapturing(r.a, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_result(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture_v2(r.a, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_ok(cuEventRecord(r.fork, r.a));
    assert_result(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(r.fork));
    assert_ok(cuStreamWaitEvent(r.b, r.fork, 0));
    assert_ok(api_add(r.add, r.data, 1, 1, r.b));
    assert_result(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(r.b, &graph));
    assert_result(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(r.a, &graph));
    assert_null(graph);
    assert_ok(cuStreamIsCapturing(r.b, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    // a capture that is waited for
    assert_ok(cuStreamBeginCapture_v2(r.a, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_result(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(r.a));
    assert_result(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, api_add(r.add, r.data, 1, 1, r.a));
    assert_result(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(r.a, &graph));
    assert_int_equal(api_word(r.data), 0);
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(captured_and_launched), cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
