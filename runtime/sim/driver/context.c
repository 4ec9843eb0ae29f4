// SPDX-License-Identifier: Apache-2.0
// Contexts: the current one of each thread, primary ones, peers.
#include <stdlib.h>
#include <string.h>

#include "sim/driver/driver.h"

struct pksim_context *pksim_context_new(struct driver *d, uint32_t device, bool primary, unsigned int flags)
{
    struct pksim_context *context = pksim_object_new(d, OBJECT_CONTEXT, sizeof *context, NULL);
    if (!context)
        return NULL;
    context->device = device;
    context->primary = primary;
    context->flags = flags;
    context->id = d->next_id++;
    context->null_stream = pksim_stream_new(d, context, 0, 0);
    context->thread_stream = pksim_stream_new(d, context, 0, 0);
    if (!context->null_stream || !context->thread_stream) {
        pksim_context_destroy(d, context);
        return NULL;
    }
    return context;
}

// Frees an object that the program did not free itself. The context's own streams are no omission.
static void free_object(struct driver *d, struct pksim_context *context, struct object *object)
{
    bool own =
        object == (struct object *)context->null_stream || object == (struct object *)context->thread_stream;
    d->abandoned[object->kind] += !own;
    switch (object->kind) {
    case OBJECT_MODULE:
        pksim_module_delete(d, (struct pksim_image_use *)object);
        break;
    case OBJECT_STREAM:
        pksim_stream_delete(d, (struct pksim_stream *)object);
        break;
    case OBJECT_EVENT:
        pksim_event_delete(d, (struct pksim_event *)object);
        break;
    case OBJECT_MEMORY:
        pksim_memory_delete(d, (struct memory *)object);
        break;
    case OBJECT_GRAPH_EXEC:
        pksim_graph_exec_delete(d, (struct pksim_graph_exec *)object);
        break;
    case OBJECT_LIBRARY:
        pksim_library_delete(d, (struct pksim_library *)object);
        break;
    case OBJECT_GRAPH:
        pksim_graph_release(d, (struct pksim_graph *)object);
        break;
    case OBJECT_FUNCTION: // freed with their modules and libraries
    case OBJECT_KERNEL:
    case OBJECT_CONTEXT:
    case OBJECT_HANDLE:
    case OBJECT_KINDS:
        break;
    }
}

static struct object *object_of(const struct driver *d, const struct pksim_context *context,
                                enum object_kind kind)
{
    for (struct object *object = d->objects[kind]; object; object = object->next)
        if (object->context == context)
            return object;
    return NULL;
}

void pksim_context_destroy(struct driver *d, struct pksim_context *context)
{
    static const enum object_kind kinds[] = {OBJECT_GRAPH_EXEC, OBJECT_GRAPH,  OBJECT_STREAM,
                                             OBJECT_EVENT,      OBJECT_MODULE, OBJECT_MEMORY};
    struct object *object;
    pksim_drop_work(d, context);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        while ((object = object_of(d, context, kinds[i])))
            free_object(d, context, object);
    for (uint32_t peer = 0; peer < d->devices; peer++)
        if ((context->peers >> peer) & 1)
            pksim_mem_peer(d->config.mem, context->device, peer, false);
    if (context->primary && d->primary[context->device] == context)
        d->primary[context->device] = NULL;
    pksim_before_release(context->done);
    pksim_object_delete(d, context);
}

// Waits for the work of a context that is going to be destroyed, unless that has failed anyway.
static void finish_and_destroy(struct driver *d, struct pksim_context *context)
{
    if (context->sticky == CUDA_SUCCESS)
        pksim_wait_context(d, context);
    if (pksim_object_find(d, OBJECT_CONTEXT, context))
        pksim_context_destroy(d, context);
}

CUresult pksim_cuDevicePrimaryCtxRetain(struct driver *d, CUcontext *out, CUdevice device)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    struct pksim_context **primary = &d->primary[device];
    if (!*primary)
        *primary = pksim_context_new(d, (uint32_t)device, true, d->primary_flags[device]);
    if (!*primary)
        return CUDA_ERROR_OUT_OF_MEMORY;
    d->retained[device]++;
    *out = *primary;
    return CUDA_SUCCESS;
}

CUresult pksim_cuDevicePrimaryCtxRelease_v2(struct driver *d, CUdevice device)
{
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (d->retained[device] == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--d->retained[device] == 0 && d->primary[device])
        finish_and_destroy(d, d->primary[device]);
    return CUDA_SUCCESS;
}

CUresult pksim_cuDevicePrimaryCtxReset_v2(struct driver *d, CUdevice device)
{
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (d->primary[device])
        finish_and_destroy(d, d->primary[device]);
    if (d->retained[device])
        d->primary[device] = pksim_context_new(d, (uint32_t)device, true, d->primary_flags[device]);
    return CUDA_SUCCESS;
}

CUresult pksim_cuDevicePrimaryCtxSetFlags_v2(struct driver *d, CUdevice device, unsigned int flags)
{
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    d->primary_flags[device] = flags;
    if (d->primary[device])
        d->primary[device]->flags = flags;
    return CUDA_SUCCESS;
}

CUresult pksim_cuDevicePrimaryCtxGetState(struct driver *d, CUdevice device, unsigned int *flags, int *active)
{
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = d->primary_flags[device];
    *active = d->primary[device] != NULL;
    return CUDA_SUCCESS;
}

// ---- The stack of each thread

static CUresult push(struct driver *d, struct pksim_context *context)
{
    struct thread *thread = pksim_thread(d);
    if (!pksim_object_find(d, OBJECT_CONTEXT, context) || thread->depth == CONTEXT_STACK)
        return CUDA_ERROR_INVALID_CONTEXT;
    thread->stack[thread->depth++] = context;
    return CUDA_SUCCESS;
}

CUresult pksim_cuCtxCreate_v2(struct driver *d, CUcontext *out, unsigned int flags, CUdevice device)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pksim_is_device(d, device))
        return CUDA_ERROR_INVALID_DEVICE;
    struct pksim_context *context = pksim_context_new(d, (uint32_t)device, false, flags);
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = push(d, context);
    if (result != CUDA_SUCCESS)
        pksim_context_destroy(d, context);
    else
        *out = context;
    return result;
}

CUresult pksim_cuCtxDestroy_v2(struct driver *d, CUcontext handle)
{
    struct pksim_context *context = pksim_object_find(d, OBJECT_CONTEXT, handle);
    struct thread *thread = pksim_thread(d);
    if (!context || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (thread->depth > 0 && thread->stack[thread->depth - 1] == context)
        thread->depth--;
    finish_and_destroy(d, context);
    return CUDA_SUCCESS;
}

CUresult pksim_cuCtxSetCurrent(struct driver *d, CUcontext context)
{
    struct thread *thread = pksim_thread(d);
    uint32_t depth = thread->depth;
    thread->depth -= depth > 0;
    CUresult result = context ? push(d, context) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        thread->depth = depth;
    return result;
}

CUresult pksim_cuCtxGetCurrent(struct driver *d, CUcontext *out)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = pksim_current(d);
    return CUDA_SUCCESS;
}

CUresult pksim_cuCtxPushCurrent_v2(struct driver *d, CUcontext context)
{
    return push(d, context);
}

CUresult pksim_cuCtxPopCurrent_v2(struct driver *d, CUcontext *out)
{
    struct thread *thread = pksim_thread(d);
    if (thread->depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    thread->depth--;
    if (out)
        *out = thread->stack[thread->depth];
    return CUDA_SUCCESS;
}

CUresult pksim_cuCtxSynchronize(struct driver *d)
{
    struct pksim_context *context = pksim_current(d);
    for (const struct object *o = d->objects[OBJECT_STREAM]; o; o = o->next)
        if (o->context == context && ((const struct pksim_stream *)o)->capture)
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return pksim_wait_context(d, context);
}

CUresult pksim_cuCtxGetDevice(struct driver *d, CUdevice *device)
{
    const struct pksim_context *context = pksim_current(d);
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = (CUdevice)context->device;
    return CUDA_SUCCESS;
}

CUresult pksim_cuCtxGetFlags(struct driver *d, unsigned int *flags)
{
    const struct pksim_context *context = pksim_current(d);
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

static struct pksim_context *given_or_current(struct driver *d, CUcontext context)
{
    return context ? pksim_object_find(d, OBJECT_CONTEXT, context) : pksim_current(d);
}

CUresult pksim_cuCtxGetApiVersion(struct driver *d, CUcontext context, unsigned int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    if (!given_or_current(d, context))
        return CUDA_ERROR_INVALID_CONTEXT;
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult pksim_cuCtxGetId(struct driver *d, CUcontext context, unsigned long long *id)
{
    const struct pksim_context *found = given_or_current(d, context);
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    if (!found)
        return CUDA_ERROR_INVALID_CONTEXT;
    *id = found->id;
    return CUDA_SUCCESS;
}

// The limits are taken and mean nothing: there is no stack, printf buffer or heap to be bounded.
CUresult pksim_cuCtxSetLimit(struct driver *d, CUlimit limit, size_t value)
{
    (void)d;
    (void)value;
    return (int)limit >= 0 && (int)limit <= 6 ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

CUresult pksim_cuCtxGetLimit(struct driver *d, size_t *value, CUlimit limit)
{
    static const size_t values[] = {1 << 10, 1 << 20, 8 << 20, 2, 2048, 64, 0};
    (void)d;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if ((int)limit < 0 || (int)limit > 6)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = values[limit];
    return CUDA_SUCCESS;
}

CUresult pksim_cuCtxGetStreamPriorityRange(struct driver *d, int *least, int *greatest)
{
    (void)d;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return CUDA_SUCCESS;
}

// ---- Peers

CUresult pksim_cuCtxEnablePeerAccess(struct driver *d, CUcontext handle, unsigned int flags)
{
    struct pksim_context *context = pksim_current(d), *peer = pksim_object_find(d, OBJECT_CONTEXT, handle);
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!peer || peer->device == context->device)
        return CUDA_ERROR_INVALID_CONTEXT;
    if ((context->peers >> peer->device) & 1)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    context->peers |= UINT64_C(1) << peer->device;
    pksim_mem_peer(d->config.mem, context->device, peer->device, true);
    return CUDA_SUCCESS;
}

CUresult pksim_cuCtxDisablePeerAccess(struct driver *d, CUcontext handle)
{
    struct pksim_context *context = pksim_current(d), *peer = pksim_object_find(d, OBJECT_CONTEXT, handle);
    if (!peer)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!((context->peers >> peer->device) & 1))
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    context->peers &= ~(UINT64_C(1) << peer->device);
    pksim_mem_peer(d->config.mem, context->device, peer->device, false);
    return CUDA_SUCCESS;
}
