// SPDX-License-Identifier: Apache-2.0
// The runtime on a GPU, with what the simulator does not have: streams that are captured into graphs, kernels
// that really fail. Without a GPU: exit status 77, and why.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.pk.h"
#include "src/internal.h"

enum { N = 64, SKIPPED = 77, GLOBAL_CAPTURE = 0 };

typedef struct rt_graph_ *rt_graph;
typedef struct rt_exec_ *rt_exec;

/// The caller's side of the driver.
static struct {
    rt_result (*cuInit)(unsigned);
    rt_result (*cuDeviceGetCount)(int *);
    rt_result (*cuDevicePrimaryCtxRetain)(rt_ctx *, rt_device);
    rt_result (*cuCtxPushCurrent_v2)(rt_ctx);
    rt_result (*cuStreamCreate)(rt_stream *, unsigned);
    rt_result (*cuStreamSynchronize)(rt_stream);
    rt_result (*cuStreamBeginCapture_v2)(rt_stream, int);
    rt_result (*cuStreamEndCapture)(rt_stream, rt_graph *);
    rt_result (*cuGraphInstantiateWithFlags)(rt_exec *, rt_graph, unsigned long long);
    rt_result (*cuGraphLaunch)(rt_exec, rt_stream);
} cuda;

static void find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
}

static bool open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int n = 0;
    if (!library)
        return false;
#define FIND(name) find(library, #name, &cuda.name)
    FIND(cuInit);
    FIND(cuDeviceGetCount);
    FIND(cuDevicePrimaryCtxRetain);
    FIND(cuCtxPushCurrent_v2);
    FIND(cuStreamCreate);
    FIND(cuStreamSynchronize);
    FIND(cuStreamBeginCapture_v2);
    FIND(cuStreamEndCapture);
    FIND(cuGraphInstantiateWithFlags);
    FIND(cuGraphLaunch);
#undef FIND
    return cuda.cuInit(0) == 0 && cuda.cuDeviceGetCount(&n) == 0 && n > 0;
}

static void check(const pkrt_context *ctx, bool good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "line %d: %s: %s\n", line, what, ctx ? pkrt_last_error(ctx) : "");
    exit(1);
}
#define OK(ctx, status) check(ctx, (status) == 0, #status, __LINE__)
#define TRUE(ctx, what) check(ctx, what, #what, __LINE__)

static pkrt_context *open_ranks(int ranks)
{
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    pkrt_context *ctx;
    int *devices = calloc((size_t)ranks, sizeof *devices); // all on device 0
    o.ranks = ranks;
    o.devices = devices;
    o.backend = PKRT_BACKEND_CUDA;
    OK(ctx, pkrt_context_create(&ctx, &o));
    free(devices);
    return ctx;
}

static ring_args ring_tensors(pkrt_context *ctx)
{
    ring_args a;
    float x[N];
    OK(ctx, pkrt_tensor_create(ctx, &a.X, PKRT_F32, 1, (int64_t[]){N}, 0));
    OK(ctx, pkrt_tensor_create(ctx, &a.Y, PKRT_F32, 1, (int64_t[]){N}, PKRT_SYMMETRIC));
    for (int r = 0; r < pkrt_context_ranks(ctx); r++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)(1000 * r + i);
        OK(ctx, pkrt_tensor_write_f32(a.X, r, x, N));
    }
    return a;
}

/// Y is what `steps` rings have moved, then zeros.
static void check_and_clear(pkrt_context *ctx, pkrt_tensor *y, int steps)
{
    int ranks = pkrt_context_ranks(ctx);
    float got[N], zeros[N] = {0};
    for (int r = 0; r < ranks; r++) {
        OK(ctx, pkrt_tensor_read_f32(y, r, got, N));
        for (int i = 0; i < N; i++)
            TRUE(ctx, got[i] == (float)(1000 * ((r + steps * (ranks - 1)) % ranks) + i));
        OK(ctx, pkrt_tensor_write_f32(y, r, zeros, N));
    }
}

static void launches_in_a_row(int ranks)
{
    pkrt_context *ctx = open_ranks(ranks);
    pkrt_module *m;
    pkrt_kernel *k;
    ring_args a = ring_tensors(ctx);
    OK(ctx, kernels_pk_load(ctx, &m));
    OK(ctx, ring_bind(m, &k, &a));
    for (int i = 0; i < 20; i++) {
        for (int n = 0; n <= i % 3; n++)
            OK(ctx, ring_launch(k, NULL));
        check_and_clear(ctx, a.Y, 1);
    }
    pkrt_context_destroy(ctx);
    printf("%d ranks: launches in a row\n", ranks);
}

/// Two kernels on two streams, the second reads what the first wrote; and the two in a graph, replayed.
static void streams_and_graphs(int ranks)
{
    pkrt_context *ctx = open_ranks(ranks);
    pkrt_module *m;
    pkrt_kernel *first, *second;
    ring_args a = ring_tensors(ctx), b = ring_tensors(ctx);
    rt_stream one, two;
    rt_graph graph;
    rt_exec exec;
    rt_ctx primary;
    b.X = a.Y;
    OK(ctx, kernels_pk_load(ctx, &m));
    OK(ctx, ring_bind(m, &first, &a));
    OK(ctx, ring_bind(m, &second, &b));
    OK(ctx, cuda.cuDevicePrimaryCtxRetain(&primary, 0));
    OK(ctx, cuda.cuCtxPushCurrent_v2(primary));
    OK(ctx, cuda.cuStreamCreate(&one, RT_STREAM_NON_BLOCKING));
    OK(ctx, cuda.cuStreamCreate(&two, RT_STREAM_NON_BLOCKING));
    for (int i = 0; i < 20; i++) {
        OK(ctx, ring_launch(first, (void *[]){one}));
        OK(ctx, ring_launch(second, (void *[]){two}));
        check_and_clear(ctx, b.Y, 2);
        check_and_clear(ctx, a.Y, 1);
    }
    OK(ctx, ring_launch(first, NULL)); // on another stream, of which the graph must know nothing
    OK(ctx, cuda.cuStreamBeginCapture_v2(one, GLOBAL_CAPTURE));
    OK(ctx, ring_launch(first, (void *[]){one}));
    OK(ctx, ring_launch(second, (void *[]){one}));
    OK(ctx, cuda.cuStreamEndCapture(one, &graph));
    OK(ctx, cuda.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(ctx, pkrt_context_synchronize(ctx));
    for (int i = 0; i < 20; i++) {
        OK(ctx, cuda.cuGraphLaunch(exec, one));
        OK(ctx, cuda.cuGraphLaunch(exec, one));
        OK(ctx, cuda.cuStreamSynchronize(one));
        check_and_clear(ctx, b.Y, 2);
        check_and_clear(ctx, a.Y, 1);
        OK(ctx, ring_launch(first, NULL)); // between replays
        check_and_clear(ctx, a.Y, 1);
    }
    pkrt_context_destroy(ctx);
    printf("%d ranks: streams and graphs\n", ranks);
}

/// Launches that are told to give up end wherever they are, and after a reset all is well again.
static void abort_and_reset(int ranks)
{
    pkrt_context *ctx = open_ranks(ranks);
    pkrt_module *m;
    pkrt_kernel *k;
    ring_args a = ring_tensors(ctx);
    OK(ctx, kernels_pk_load(ctx, &m));
    OK(ctx, ring_bind(m, &k, &a));
    for (int i = 0; i < 20; i++) {
        OK(ctx, ring_launch(k, NULL));
        OK(ctx, ring_launch(k, NULL));
        rt_abort(ctx);
        TRUE(ctx, ring_launch(k, NULL) == PKRT_ABORTED);
        OK(ctx, pkrt_context_reset(ctx));
        OK(ctx, ring_launch(k, NULL));
        check_and_clear(ctx, a.Y, 1);
    }
    pkrt_context_destroy(ctx);
    printf("%d ranks: reset\n", ranks);
}

static void illegal_access(void)
{
    pkrt_context *ctx = open_ranks(2);
    pkrt_module *m;
    pkrt_kernel *k;
    ring_args a = ring_tensors(ctx);
    void *nowhere[] = {(void *)(uintptr_t)0x1000, (void *)(uintptr_t)0x1000};
    OK(ctx, kernels_pk_load(ctx, &m));
    OK(ctx, pkrt_tensor_wrap(ctx, &a.X, PKRT_F32, 1, (int64_t[]){N}, NULL, nowhere, 0));
    OK(ctx, ring_bind(m, &k, &a));
    OK(ctx, ring_launch(k, NULL));
    TRUE(ctx, pkrt_context_synchronize(ctx) == PKRT_FAULT);
    printf("a fault: %s\n", pkrt_last_error(ctx));
    TRUE(ctx, ring_launch(k, NULL) == PKRT_ABORTED);
    TRUE(ctx, pkrt_context_reset(ctx) != PKRT_OK);
    printf("a reset: %s\n", pkrt_last_error(ctx));
    pkrt_context_destroy(ctx);
}

/// In a process of its own: the GPU is lost to it.
static void in_child(void (*test)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        test();
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    check(NULL, WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child", __LINE__);
}

int main(void)
{
    if (access("/dev/nvidiactl", R_OK) != 0) {
        puts("skipped: no NVIDIA GPU on this machine");
        return SKIPPED;
    }
    in_child(illegal_access); // before this process opens the driver, which does not survive a fork
    if (!open_driver()) {
        puts("skipped: the NVIDIA driver has no device");
        return SKIPPED;
    }
    static const int ranks[] = {1, 2, 8};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        launches_in_a_row(ranks[i]);
        streams_and_graphs(ranks[i]);
        abort_and_reset(ranks[i]);
    }
    return 0;
}
