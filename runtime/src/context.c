// SPDX-License-Identifier: Apache-2.0
// Contexts: ranks mapped onto devices, the abort word, waiting.
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/internal.h"

pkrt_status rt_enter(pkrt_context *ctx, int place)
{
    return rt_check(ctx, ctx->driver.cuCtxPushCurrent_v2(ctx->places[place].ctx), "making a device current");
}

bool rt_enter_to_free(pkrt_context *ctx, int place)
{
    return ctx->driver.cuCtxPushCurrent_v2(ctx->places[place].ctx) == RT_SUCCESS;
}

void rt_leave(pkrt_context *ctx)
{
    rt_ctx old;
    ctx->driver.cuCtxPopCurrent_v2(&old);
}

// ---- ranks onto devices --------------------------------------------------------------------------------

/// Rank r's device: as listed, or all devices in equal blocks of ranks.
static int device_of(const pkrt_context_options *o, int count, int rank)
{
    if (o->devices)
        return o->devices[rank];
    int used = count < o->ranks ? count : o->ranks;
    return (int)((int64_t)rank * used / o->ranks);
}

static int find_place(pkrt_context *ctx, int ordinal)
{
    for (int i = 0; i < ctx->n_places; i++)
        if (ctx->places[i].ordinal == ordinal)
            return i;
    ctx->places[ctx->n_places] = (rt_place){.ordinal = ordinal};
    return ctx->n_places++;
}

static pkrt_status deal_ranks(pkrt_context *ctx, const pkrt_context_options *o, int count)
{
    size_t n = (size_t)o->ranks;
    ctx->place_of = calloc(n, sizeof(int));
    ctx->slot_of = calloc(n, sizeof(int));
    ctx->places = calloc(n, sizeof(rt_place));
    if (!ctx->place_of || !ctx->slot_of || !ctx->places)
        return rt_fail(ctx, PKRT_NO_MEMORY, "memory for %d ranks ran out", o->ranks);
    ctx->n_ranks = o->ranks;
    for (int r = 0; r < o->ranks; r++) {
        int ordinal = device_of(o, count, r);
        if (ordinal < 0 || ordinal >= count)
            return rt_fail(ctx, PKRT_INVALID, "rank %d: device %d expected to be from 0 to %d", r, ordinal,
                           count - 1);
        rt_place *p = &ctx->places[ctx->place_of[r] = find_place(ctx, ordinal)];
        int *ranks = realloc(p->ranks, (size_t)(p->n_ranks + 1) * sizeof *ranks);
        if (!ranks)
            return rt_fail(ctx, PKRT_NO_MEMORY, "memory for %d ranks ran out", o->ranks);
        p->ranks = ranks;
        ctx->slot_of[r] = p->n_ranks;
        p->ranks[p->n_ranks++] = r;
    }
    return PKRT_OK;
}

static pkrt_status ask_device(pkrt_context *ctx, rt_place *p)
{
    const struct {
        int attribute, *to;
    } questions[] = {{RT_ATTR_SM_COUNT, &p->sms},
                     {RT_ATTR_SHARED_OPTIN, &p->shared_limit},
                     {RT_ATTR_MAJOR, &p->major},
                     {RT_ATTR_MINOR, &p->minor}};
    pkrt_status s = rt_check(ctx, ctx->driver.cuDeviceGet(&p->device, p->ordinal), "finding a device");
    for (size_t i = 0; s == PKRT_OK && i < sizeof questions / sizeof questions[0]; i++)
        s = rt_check(ctx,
                     ctx->driver.cuDeviceGetAttribute(questions[i].to, questions[i].attribute, p->device),
                     "asking a device");
    return s;
}

static pkrt_status open_place(pkrt_context *ctx, int index)
{
    rt_driver *d = &ctx->driver;
    rt_place *p = &ctx->places[index];
    pkrt_status s = ask_device(ctx, p);
    if (s == PKRT_OK) {
        s = rt_check(ctx, d->cuDevicePrimaryCtxRetain(&p->ctx, p->device), "opening a device");
        p->ctx = s == PKRT_OK ? p->ctx : NULL;
    }
    if (s != PKRT_OK || (s = rt_enter(ctx, index)) != PKRT_OK)
        return s;
    s = rt_check(ctx, d->cuStreamCreate(&p->stream, RT_STREAM_NON_BLOCKING), "making a stream");
    p->stream = s == PKRT_OK ? p->stream : NULL;
    if (s == PKRT_OK) {
        s = rt_check(ctx, d->cuEventCreate(&p->done, RT_EVENT_DISABLE_TIMING), "making an event");
        p->done = s == PKRT_OK ? p->done : NULL;
    }
    rt_leave(ctx);
    return s;
}

static pkrt_status make_abort_word(pkrt_context *ctx)
{
    void *word = NULL;
    pkrt_status s = rt_enter(ctx, 0);
    if (s != PKRT_OK)
        return s;
    s = rt_check(ctx, ctx->driver.cuMemHostAlloc(&word, sizeof(int32_t), RT_HOST_PORTABLE | RT_HOST_MAPPED),
                 "allocating host memory");
    if (s == PKRT_OK) {
        ctx->abort_word = word;
        *ctx->abort_word = 0;
    }
    rt_leave(ctx);
    return s;
}

static pkrt_status find_abort_word(pkrt_context *ctx, int index)
{
    pkrt_status s = rt_enter(ctx, index);
    if (s != PKRT_OK)
        return s;
    rt_ptr *to = &ctx->places[index].abort_address;
    s = rt_check(ctx, ctx->driver.cuMemHostGetDevicePointer_v2(to, ctx->abort_word, 0),
                 "mapping host memory");
    rt_leave(ctx);
    return s;
}

static pkrt_status open_devices(pkrt_context *ctx, const pkrt_context_options *o)
{
    int count = 0;
    pkrt_status s = rt_check(ctx, ctx->driver.cuDeviceGetCount(&count), "counting devices");
    if (s == PKRT_OK && count == 0)
        s = rt_fail(ctx, PKRT_NO_DRIVER, "the driver has no device");
    if (s == PKRT_OK)
        s = deal_ranks(ctx, o, count);
    for (int i = 0; s == PKRT_OK && i < ctx->n_places; i++)
        s = open_place(ctx, i);
    if (s == PKRT_OK)
        s = rt_check(ctx, ctx->driver.cuDeviceGetName(ctx->name, sizeof ctx->name, ctx->places[0].device),
                     "asking a device");
    if (s == PKRT_OK)
        s = make_abort_word(ctx);
    for (int i = 0; s == PKRT_OK && i < ctx->n_places; i++)
        s = find_abort_word(ctx, i);
    return s;
}

static pkrt_status check_options(pkrt_context *ctx, const pkrt_context_options *o)
{
    enum { MOST_RANKS = 64 };
    if (o->ranks < 1 || o->ranks > MOST_RANKS)
        return rt_fail(ctx, PKRT_INVALID, "ranks expected to be from 1 to %d, got %d", MOST_RANKS, o->ranks);
    if (o->backend > PKRT_BACKEND_SIM)
        return rt_fail(ctx, PKRT_INVALID, "there is no backend %d", (int)o->backend);
    if (o->multicast > PKRT_MULTICAST_REQUIRE)
        return rt_fail(ctx, PKRT_INVALID, "there is no choice of multicast %d", (int)o->multicast);
    return PKRT_OK;
}

// ---- the interface -------------------------------------------------------------------------------------

static void close_place(pkrt_context *ctx, int index)
{
    rt_place *p = &ctx->places[index];
    bool entered = p->ctx && rt_enter_to_free(ctx, index);
    if (p->done)
        ctx->driver.cuEventDestroy_v2(p->done);
    if (p->stream)
        ctx->driver.cuStreamDestroy_v2(p->stream);
    if (index == 0 && ctx->abort_word)
        ctx->driver.cuMemFreeHost(ctx->abort_word);
    if (entered)
        rt_leave(ctx);
    if (p->ctx)
        ctx->driver.cuDevicePrimaryCtxRelease_v2(p->device);
    free(p->ranks);
}

static void close_all(pkrt_context *ctx)
{
    while (ctx->modules)
        pkrt_module_destroy(ctx->modules);
    while (ctx->tensors)
        pkrt_tensor_destroy(ctx->tensors);
    for (int i = ctx->n_places - 1; i >= 0; i--)
        close_place(ctx, i);
    free(ctx->places);
    free(ctx->place_of);
    free(ctx->slot_of);
    ctx->places = NULL;
    ctx->place_of = ctx->slot_of = NULL;
    ctx->n_places = ctx->n_ranks = 0;
    ctx->abort_word = NULL;
    rt_driver_close(&ctx->driver);
}

pkrt_status pkrt_context_create(pkrt_context **out, const pkrt_context_options *options)
{
    if (!out)
        return PKRT_INVALID;
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    pkrt_context *ctx = *out = calloc(1, sizeof *ctx);
    if (!ctx)
        return PKRT_NO_MEMORY;
    pkrt_status s = check_options(ctx, &o);
    if (s == PKRT_OK)
        s = rt_driver_open(ctx, &o);
    if (s == PKRT_OK)
        s = open_devices(ctx, &o);
    if (s == PKRT_OK)
        s = rt_multicast_decide(ctx, o.multicast);
    if (s != PKRT_OK)
        close_all(ctx);
    return s;
}

void pkrt_context_destroy(pkrt_context *ctx)
{
    if (!ctx)
        return;
    close_all(ctx);
    free(ctx);
}

int pkrt_context_ranks(const pkrt_context *ctx)
{
    return ctx->n_ranks;
}

bool pkrt_context_multicast(const pkrt_context *ctx)
{
    return ctx && ctx->multicast != PKRT_MULTICAST_NEVER;
}

pkrt_backend pkrt_context_backend(const pkrt_context *ctx)
{
    return ctx->backend;
}

const char *pkrt_context_device_name(const pkrt_context *ctx)
{
    return ctx->name;
}

int pkrt_context_device_count(const pkrt_context *ctx)
{
    return ctx->n_places;
}

int pkrt_context_device(const pkrt_context *ctx, int index)
{
    return index >= 0 && index < ctx->n_places ? ctx->places[index].ordinal : -1;
}

void *pkrt_context_stream(const pkrt_context *ctx, int index)
{
    return index >= 0 && index < ctx->n_places ? ctx->places[index].stream : NULL;
}

// ---- waiting -------------------------------------------------------------------------------------------

/// Finds out whether all launches on a device have ended. With `block` it waits for that.
static pkrt_status look_at(pkrt_context *ctx, int index, bool block)
{
    rt_place *p = &ctx->places[index];
    rt_stream streams[] = {p->stream, p->last};
    int n = p->launched && p->last != p->stream ? 2 : 1;
    pkrt_status s = rt_enter(ctx, index);
    p->ended = true;
    if (s != PKRT_OK)
        return s;
    for (int i = 0; s == PKRT_OK && p->ended && i < n; i++) {
        rt_result r =
            block ? ctx->driver.cuStreamSynchronize(streams[i]) : ctx->driver.cuStreamQuery(streams[i]);
        p->ended = r != RT_ERROR_NOT_READY;
        if (p->ended)
            s = rt_check(ctx, r, "waiting for a launch");
    }
    rt_leave(ctx);
    return s;
}

/// Lets others run between two looks, longer the longer the wait is: 1 us at first, at most 100 us.
static void pause_between(int64_t looks)
{
    enum { SPINS = 200, LONGEST_NS = 100000 };
    int64_t ns = looks < SPINS ? 0 : (looks - SPINS) * 1000;
    struct timespec t = {.tv_nsec = ns < LONGEST_NS ? ns : LONGEST_NS};
    if (ns == 0)
        sched_yield();
    else
        nanosleep(&t, NULL);
}

/// One look at each device that still runs; their number is returned. A failure ends the launches on the
/// others: they may wait for the one that failed, so that waiting for them first would be for ever.
static int look_at_all(pkrt_context *ctx, pkrt_status *first)
{
    int running = 0;
    bool block = ctx->n_places == 1; // nobody else can fail meanwhile
    for (int i = 0; i < ctx->n_places; i++) {
        if (ctx->places[i].ended)
            continue;
        rt_saved before;
        rt_save_error(ctx, &before);
        pkrt_status s = look_at(ctx, i, block);
        running += !ctx->places[i].ended;
        if (s != PKRT_OK)
            rt_abort(ctx);
        if (s != PKRT_OK && *first != PKRT_OK)
            rt_restore_error(ctx, &before);
        *first = *first == PKRT_OK ? s : *first;
    }
    return running;
}

pkrt_status rt_wait(pkrt_context *ctx)
{
    pkrt_status s = PKRT_OK;
    for (int i = 0; i < ctx->n_places; i++)
        ctx->places[i].ended = false;
    for (int64_t looks = 0; look_at_all(ctx, &s) > 0; looks++)
        pause_between(looks);
    for (int i = 0; i < ctx->n_places; i++)
        ctx->places[i].launched = false;
    return s;
}

pkrt_status pkrt_context_synchronize(pkrt_context *ctx)
{
    if (!ctx)
        return PKRT_INVALID;
    pkrt_status s = rt_begin(ctx);
    return s == PKRT_OK ? rt_wait(ctx) : s;
}

// ---- state ---------------------------------------------------------------------------------------------

pkrt_status rt_zero(pkrt_context *ctx, rt_ptr ptr, size_t bytes)
{
    // The memset runs behind the call, on the default stream, which other streams do not wait for.
    pkrt_status s = rt_check(ctx, ctx->driver.cuMemsetD8_v2(ptr, 0, bytes), "zeroing memory");
    return s == PKRT_OK ? rt_check(ctx, ctx->driver.cuStreamSynchronize(NULL), "zeroing memory") : s;
}

static pkrt_status clear_state(pkrt_context *ctx, const pkrt_kernel *k)
{
    pkrt_status s = PKRT_OK;
    for (int r = 0; s == PKRT_OK && k->state && r < ctx->n_ranks; r++) {
        if ((s = rt_enter(ctx, ctx->place_of[r])) != PKRT_OK)
            return s;
        s = rt_zero(ctx, k->state->copies[r].ptr, (size_t)k->state->dims[0]);
        rt_leave(ctx);
    }
    return s;
}

pkrt_status pkrt_context_reset(pkrt_context *ctx)
{
    if (!ctx)
        return PKRT_INVALID;
    ctx->aborted = false;
    pkrt_status s = rt_begin(ctx);
    if (s == PKRT_OK)
        s = rt_wait(ctx);
    if (s == PKRT_OK)
        *(volatile int32_t *)ctx->abort_word = 0;
    for (pkrt_module *m = ctx->modules; s == PKRT_OK && m; m = m->next)
        for (pkrt_kernel *k = m->kernels; s == PKRT_OK && k; k = k->next)
            s = clear_state(ctx, k);
    if (s != PKRT_OK)
        rt_abort(ctx);
    return s;
}
