// SPDX-License-Identifier: Apache-2.0
// Bound kernels: made once with all checks, launched any number of times with one driver call a device.
#include <stdlib.h>
#include <string.h>

#include "src/internal.h"

// ---- making and freeing --------------------------------------------------------------------------------

static const char *text_or(const cJSON *object, const char *key, const char *otherwise)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
    return text ? text : otherwise;
}

static bool allocate(pkrt_kernel *k)
{
    size_t places = (size_t)k->ctx->n_places;
    k->params = calloc((size_t)k->n_params + 1, sizeof *k->params);
    k->dims = calloc((size_t)k->n_dims + 1, sizeof *k->dims);
    k->fns = calloc(places, sizeof(rt_fn));
    k->blocks = calloc(places, sizeof *k->blocks);
    if (!k->params || !k->dims || !k->fns || !k->blocks)
        return false;
    for (size_t i = 0; i < places; i++)
        if (!(k->blocks[i] = calloc(1, RT_PARAM_BYTES)))
            return false;
    return true;
}

static pkrt_kernel *new_kernel(pkrt_module *m, const cJSON *json)
{
    pkrt_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    const cJSON *params = cJSON_GetObjectItem(json, "params"), *p;
    *k = (pkrt_kernel){
        .ctx = m->ctx, .module = m, .json = json, .name = text_or(json, "name", "?"), .next = m->kernels};
    m->kernels = k;
    k->n_params = cJSON_GetArraySize(params);
    const char *names[RT_MAX_NAMED_DIMS];
    k->n_dims = rt_description_dims(json, names);
    if (!allocate(k)) {
        rt_kernel_free(k);
        return NULL;
    }
    rt_param *to = k->params;
    cJSON_ArrayForEach(p, params)
    {
        *to++ = (rt_param){.json = p,
                           .name = text_or(p, "name", "?"),
                           .kind = text_or(p, "kind", "?"),
                           .elem = text_or(p, "elem", "u32")};
    }
    for (int i = 0; i < k->n_dims; i++)
        k->dims[i].name = names[i];
    k->threads = (int)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "threads"));
    k->smem = (size_t)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "smem"));
    return k;
}

void rt_kernel_free(pkrt_kernel *k)
{
    for (pkrt_kernel **at = &k->module->kernels; *at; at = &(*at)->next)
        if (*at == k) {
            *at = k->next;
            break;
        }
    pkrt_tensor_destroy(k->state);
    for (int i = 0; k->blocks && i < k->ctx->n_places; i++)
        free(k->blocks[i]);
    free(k->blocks);
    free(k->fns);
    free(k->dims);
    free(k->params);
    free(k);
}

void pkrt_kernel_destroy(pkrt_kernel *kernel)
{
    if (kernel)
        rt_kernel_free(kernel);
}

// ---- code, room, state ---------------------------------------------------------------------------------

static pkrt_status find_function(pkrt_kernel *k, int place)
{
    pkrt_context *ctx = k->ctx;
    const rt_place *p = &ctx->places[place];
    if (k->smem > (size_t)p->shared_limit)
        return rt_fail(ctx, PKRT_NO_ROOM,
                       "kernel '%s': a worker needs %zu bytes of shared memory, device %d has %d", k->name,
                       k->smem, p->ordinal, p->shared_limit);
    pkrt_status s = rt_enter(ctx, place);
    if (s != PKRT_OK)
        return s;
    s = rt_check(ctx,
                 ctx->driver.cuModuleGetFunction(&k->fns[place], k->module->loaded[place],
                                                 text_or(k->json, "entry", "")),
                 "finding the kernel's entry");
    if (s == PKRT_OK)
        s = rt_check(ctx,
                     ctx->driver.cuFuncSetAttribute(k->fns[place], RT_FN_MAX_DYNAMIC_SHARED, (int)k->smem),
                     "asking for the kernel's shared memory");
    rt_leave(ctx);
    return s;
}

static pkrt_status find_functions(pkrt_kernel *k)
{
    pkrt_status s = rt_module_on_devices(k->module);
    for (int i = 0; s == PKRT_OK && i < k->ctx->n_places; i++)
        s = find_function(k, i);
    return s;
}

static pkrt_status room_on(pkrt_kernel *k, int place, int *out)
{
    pkrt_context *ctx = k->ctx;
    rt_place *p = &ctx->places[place];
    int per_sm = 0;
    pkrt_status s = rt_enter(ctx, place);
    if (s != PKRT_OK)
        return s;
    rt_result r =
        ctx->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, k->fns[place], k->threads, k->smem);
    rt_leave(ctx);
    s = rt_check(ctx, r, "asking how many workers fit on a device");
    *out = (int)((int64_t)per_sm * p->sms / p->n_ranks);
    if (s == PKRT_OK && *out < 1)
        return rt_fail(
            ctx, PKRT_NO_ROOM,
            "kernel '%s': device %d has room for %d workers at once (%d threads and %zu bytes of shared "
            "memory each), and its %d ranks want at least one each",
            k->name, p->ordinal, per_sm * p->sms, k->threads, k->smem, p->n_ranks);
    return s;
}

/// Workers of a rank: as many as are resident together, the same on every rank.
static pkrt_status find_room(pkrt_kernel *k)
{
    pkrt_status s = PKRT_OK;
    int least = 0;
    for (int i = 0; s == PKRT_OK && i < k->ctx->n_places; i++) {
        int n = 0;
        s = room_on(k, i, &n);
        least = i == 0 || n < least ? n : least;
    }
    k->sms = least;
    return s;
}

static bool state_flag(const pkrt_kernel *k, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetObjectItem(k->json, "state"), name));
}

static pkrt_status make_state(pkrt_kernel *k)
{
    pkrt_context *ctx = k->ctx;
    int64_t words = (RT_STATE_HEAD + 2 * 4 * (int64_t)k->bank_words + 3) / 4, bytes = words * 4;
    if (!state_flag(k, "entry") && !state_flag(k, "exit") && !state_flag(k, "signals"))
        return PKRT_OK;
    pkrt_status s =
        rt_tensor_make(ctx, &k->state, PKRT_I8, 1, &bytes, PKRT_SYMMETRIC, state_flag(k, "multicast"));
    for (int r = 0; s == PKRT_OK && r < ctx->n_ranks; r++) {
        if ((s = rt_enter(ctx, ctx->place_of[r])) != PKRT_OK)
            return s;
        s = rt_zero(ctx, k->state->copies[r].ptr, (size_t)bytes);
        rt_leave(ctx);
    }
    return s;
}

static pkrt_status size_block(pkrt_kernel *k)
{
    char why[200];
    int64_t size;
    int most = 0;
    rt_scope scope = rt_kernel_scope(k, 0);
    const cJSON *expr = cJSON_GetObjectItem(cJSON_GetObjectItem(k->json, "block"), "size");
    if (!rt_eval(expr, &scope, &size, why, sizeof why) || size < RT_BLOCK_HEAD || size > RT_PARAM_BYTES)
        return rt_fail(k->ctx, PKRT_NO_ROOM, "kernel '%s': %d ranks need more parameters than a launch takes",
                       k->name, k->ctx->n_ranks);
    k->block_bytes = ((size_t)size + RT_BLOCK_ALIGN - 1) / RT_BLOCK_ALIGN * RT_BLOCK_ALIGN;
    for (int i = 0; i < k->ctx->n_places; i++)
        most = k->ctx->places[i].n_ranks > most ? k->ctx->places[i].n_ranks : most;
    if (k->block_bytes * (size_t)most > RT_PARAM_BYTES)
        return rt_fail(k->ctx, PKRT_NO_ROOM,
                       "kernel '%s': %d ranks on one device need %zu bytes of parameters, a launch takes %d",
                       k->name, most, k->block_bytes * (size_t)most, RT_PARAM_BYTES);
    return PKRT_OK;
}

pkrt_status pkrt_kernel_bind(pkrt_module *m, pkrt_kernel **out, const char *name, const pkrt_arg *args,
                             int n_args)
{
    if (!m || !out || (!args && n_args > 0))
        return PKRT_INVALID;
    static pkrt_status (*const steps[])(pkrt_kernel *) = {find_functions, find_room,  rt_check_requirements,
                                                          size_block,     make_state, rt_fill_blocks};
    pkrt_context *ctx = m->ctx;
    *out = NULL;
    pkrt_status s = rt_begin(ctx);
    if (s != PKRT_OK)
        return s;
    const cJSON *json = rt_module_kernel(m, name);
    if (!json)
        return rt_fail(ctx, PKRT_INVALID,
                       name ? "the module has no kernel '%s'" : "the module has several kernels: name one%s",
                       name ? name : "");
    pkrt_kernel *k = new_kernel(m, json);
    if (!k)
        return rt_fail(ctx, PKRT_NO_MEMORY, "host memory for a kernel ran out");
    s = rt_bind_shapes(k, args, n_args);
    for (size_t i = 0; s == PKRT_OK && i < sizeof steps / sizeof steps[0]; i++)
        s = steps[i](k);
    if (s == PKRT_OK) {
        *out = k;
        return s;
    }
    rt_saved why;
    rt_save_error(ctx, &why);
    rt_kernel_free(k);
    rt_restore_error(ctx, &why);
    return s;
}

/// The requirements again, then the blocks: a scalar may stand in both.
static pkrt_status apply_scalars(pkrt_kernel *k)
{
    pkrt_status s = rt_check_requirements(k);
    return s == PKRT_OK ? rt_fill_blocks(k) : s;
}

pkrt_status pkrt_kernel_set(pkrt_kernel *k, const char *name, int64_t i, double f)
{
    if (!k || !name)
        return PKRT_INVALID;
    pkrt_status s = rt_begin(k->ctx);
    if (s != PKRT_OK)
        return s;
    rt_param *p = rt_kernel_param(k, name);
    if (!p || strcmp(p->kind, "scalar") != 0)
        return rt_fail(k->ctx, PKRT_INVALID, "kernel '%s' has no scalar parameter '%s'", k->name,
                       name ? name : "(null)");
    rt_param old = *p;
    s = rt_scalar_set(k, p, i, f);
    if (s == PKRT_OK)
        s = apply_scalars(k);
    if (s == PKRT_OK)
        return s;
    rt_saved why;
    rt_save_error(k->ctx, &why);
    *p = old;
    rt_fill_blocks(k);
    rt_restore_error(k->ctx, &why);
    return s;
}

int pkrt_kernel_sms(const pkrt_kernel *k)
{
    return k->sms;
}

// ---- launching -----------------------------------------------------------------------------------------

/// Work on another stream than the last launch's comes after it: kernels of one context share state and
/// peers' memory, and two that ran side by side in another order on each device would wait for each other.
static pkrt_status order_behind_last(pkrt_context *ctx, rt_place *p, rt_stream stream)
{
    if (!p->launched || p->last == stream)
        return PKRT_OK;
    pkrt_status s = rt_check(ctx, ctx->driver.cuEventRecord(p->done, p->last), "ordering a launch");
    return s == PKRT_OK
               ? rt_check(ctx, ctx->driver.cuStreamWaitEvent(stream, p->done, 0), "ordering a launch")
               : s;
}

static pkrt_status start_on(pkrt_kernel *k, int place, rt_stream stream)
{
    pkrt_context *ctx = k->ctx;
    const rt_place *p = &ctx->places[place];
    rt_launch_attr attr = {.id = RT_LAUNCH_COOPERATIVE, .value.value = 1};
    rt_launch_config config = {.grid = {(unsigned)k->sms, (unsigned)p->n_ranks, 1},
                               .block = {(unsigned)k->threads, 1, 1},
                               .shared = (unsigned)k->smem,
                               .stream = stream,
                               .attrs = &attr,
                               .n_attrs = 1};
    void *params[] = {k->blocks[place]};
    return rt_check(ctx, ctx->driver.cuLaunchKernelEx(&config, k->fns[place], params, NULL),
                    "launching the kernel");
}

/// A stream that is being captured into a graph takes the launch alone: the order of the graph's replays is
/// the caller's, and an event of work outside may not enter it (CUDA driver API, stream capture).
static pkrt_status launch_on(pkrt_kernel *k, int place, rt_stream stream, bool callers)
{
    pkrt_context *ctx = k->ctx;
    rt_place *p = &ctx->places[place];
    int capturing = 0;
    pkrt_status s = rt_enter(ctx, place);
    if (s != PKRT_OK)
        return s;
    if (callers)
        s = rt_check(ctx, ctx->driver.cuStreamIsCapturing(stream, &capturing), "looking at a stream");
    if (s == PKRT_OK && !capturing)
        s = order_behind_last(ctx, p, stream);
    if (s == PKRT_OK)
        s = start_on(k, place, stream);
    rt_leave(ctx);
    if (s == PKRT_OK && !capturing) {
        p->launched = true;
        p->last = stream;
    }
    return s;
}

pkrt_status pkrt_kernel_launch(pkrt_kernel *k, void *const *streams)
{
    if (!k)
        return PKRT_INVALID;
    pkrt_context *ctx = k->ctx;
    pkrt_status s = rt_begin(ctx);
    for (int i = 0; s == PKRT_OK && i < ctx->n_places; i++) {
        s = launch_on(k, i, streams ? streams[i] : ctx->places[i].stream, streams != NULL);
        if (s != PKRT_OK && i > 0) // devices that have started wait for this one: end them
            rt_abort(ctx);
    }
    return s;
}
