// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include <stdlib.h>

#include "sim/driver/driver.h"

struct pksim_stream *pksim_stream_new(struct driver *d, struct pksim_context *context, unsigned int flags,
                                      int priority)
{
    struct pksim_stream *stream = pksim_object_new(d, OBJECT_STREAM, sizeof *stream, context);
    if (!stream)
        return NULL;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = d->next_id++;
    return stream;
}

// Ends a capture that nobody can end any more.
static void leave_capture(struct driver *d, struct pksim_stream *stream)
{
    struct pksim_graph *graph = stream->capture;
    if (!graph)
        return;
    graph->spoilt = true;
    if (graph->origin == stream)
        graph->origin = NULL;
    stream->capture = NULL;
    pksim_graph_release(d, graph);
}

void pksim_stream_delete(struct driver *d, struct pksim_stream *stream)
{
    leave_capture(d, stream);
    pksim_op_release(stream->last); // the work itself goes on
    free(stream->tails.items);
    pksim_object_delete(d, stream);
}

void pksim_event_delete(struct driver *d, struct pksim_event *event)
{
    pksim_op_release(event->op);
    if (event->capture)
        pksim_graph_release(d, event->capture);
    free(event->tails.items);
    pksim_object_delete(d, event);
}

struct pksim_stream *pksim_stream_of(struct driver *d, CUstream handle)
{
    struct pksim_context *context = pksim_current(d);
    if (!context)
        return NULL;
    if (handle == CU_STREAM_PER_THREAD || (!handle && d->per_thread))
        return context->thread_stream;
    if (!handle || handle == CU_STREAM_LEGACY)
        return context->null_stream;
    return pksim_object_find(d, OBJECT_STREAM, handle);
}

CUresult pksim_cuStreamCreateWithPriority(struct driver *d, CUstream *out, unsigned int flags, int priority)
{
    if (!out || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    struct pksim_stream *stream = pksim_stream_new(d, pksim_current(d), flags, priority);
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = stream;
    return CUDA_SUCCESS;
}

CUresult pksim_cuStreamCreate(struct driver *d, CUstream *out, unsigned int flags)
{
    return pksim_cuStreamCreateWithPriority(d, out, flags, 0);
}

static bool is_built_in(const struct pksim_stream *stream)
{
    const struct pksim_context *context = stream->object.context;
    return stream == context->null_stream || stream == context->thread_stream;
}

CUresult pksim_cuStreamDestroy_v2(struct driver *d, CUstream handle)
{
    struct pksim_stream *stream = pksim_object_find(d, OBJECT_STREAM, handle);
    if (!stream || is_built_in(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    pksim_stream_delete(d, stream);
    return CUDA_SUCCESS;
}

// A capture that is asked whether it is done cannot go on.
static CUresult spoil_capture(const struct pksim_stream *stream)
{
    stream->capture->spoilt = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult pksim_cuStreamSynchronize(struct driver *d, CUstream handle)
{
    struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
        return spoil_capture(stream);
    return pksim_wait_op(d, stream->object.context, stream->last);
}

static CUresult query(struct driver *d, struct pksim_context *context, const struct op *op)
{
    if (op && op->state != OP_DONE)
        pksim_run_slice(d);
    if (context->sticky != CUDA_SUCCESS)
        return context->sticky;
    if (op && op->state != OP_DONE)
        return CUDA_ERROR_NOT_READY;
    pksim_host_saw(d, context, op);
    return CUDA_SUCCESS;
}

CUresult pksim_cuStreamQuery(struct driver *d, CUstream handle)
{
    struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
        return spoil_capture(stream);
    return query(d, stream->object.context, stream->last);
}

CUresult pksim_cuStreamGetPriority(struct driver *d, CUstream handle, int *priority)
{
    const struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!priority)
        return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult pksim_cuStreamGetFlags(struct driver *d, CUstream handle, unsigned int *flags)
{
    const struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult pksim_cuStreamGetCtx(struct driver *d, CUstream handle, CUcontext *context)
{
    const struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = stream->object.context;
    return CUDA_SUCCESS;
}

CUresult pksim_cuStreamGetId(struct driver *d, CUstream handle, unsigned long long *id)
{
    const struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    *id = stream->id;
    return CUDA_SUCCESS;
}

CUresult pksim_cuLaunchHostFunc(struct driver *d, CUstream handle, CUhostFn call, void *argument)
{
    struct pksim_stream *stream = pksim_stream_of(d, handle);
    struct task task = {.kind = OP_CALL, .call = call, .argument = argument};
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    return call ? pksim_submit(d, stream, &task) : CUDA_ERROR_INVALID_VALUE;
}

// ---- Events

CUresult pksim_cuEventCreate(struct driver *d, CUevent *out, unsigned int flags)
{
    enum { ALL_FLAGS = 7 };
    if (!out || flags > ALL_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    struct pksim_event *event = pksim_object_new(d, OBJECT_EVENT, sizeof *event, pksim_current(d));
    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->flags = flags;
    *out = event;
    return CUDA_SUCCESS;
}

CUresult pksim_cuEventDestroy_v2(struct driver *d, CUevent handle)
{
    struct pksim_event *event = pksim_object_find(d, OBJECT_EVENT, handle);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    pksim_event_delete(d, event);
    return CUDA_SUCCESS;
}

static void forget_record(struct driver *d, struct pksim_event *event)
{
    pksim_op_release(event->op);
    if (event->capture)
        pksim_graph_release(d, event->capture);
    event->op = NULL;
    event->capture = NULL;
    event->tails.count = 0;
}

// In a capture an event stands for the nodes that the stream has come to.
static CUresult record_captured(struct driver *d, struct pksim_event *event, struct pksim_stream *stream)
{
    forget_record(d, event);
    for (uint32_t i = 0; i < stream->tails.count; i++)
        if (!pksim_index_add(&event->tails, stream->tails.items[i]))
            return CUDA_ERROR_OUT_OF_MEMORY;
    event->capture = stream->capture;
    event->capture->references++;
    return CUDA_SUCCESS;
}

CUresult pksim_cuEventRecordWithFlags(struct driver *d, CUevent handle, CUstream stream_handle,
                                      unsigned int flags)
{
    struct pksim_event *event = pksim_object_find(d, OBJECT_EVENT, handle);
    struct pksim_stream *stream = pksim_stream_of(d, stream_handle);
    struct task task = {.kind = OP_NOTHING};
    if (!event || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1 || event->object.context != stream->object.context)
        return flags > 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
        return record_captured(d, event, stream);
    CUresult result = pksim_submit(d, stream, &task);
    if (result != CUDA_SUCCESS)
        return result;
    forget_record(d, event);
    event->op = stream->last;
    event->op->references++;
    return CUDA_SUCCESS;
}

CUresult pksim_cuEventRecord(struct driver *d, CUevent event, CUstream stream)
{
    return pksim_cuEventRecordWithFlags(d, event, stream, 0);
}

CUresult pksim_cuEventSynchronize(struct driver *d, CUevent handle)
{
    struct pksim_event *event = pksim_object_find(d, OBJECT_EVENT, handle);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (event->capture)
        return CUDA_ERROR_CAPTURED_EVENT;
    return pksim_wait_op(d, event->object.context, event->op);
}

CUresult pksim_cuEventQuery(struct driver *d, CUevent handle)
{
    struct pksim_event *event = pksim_object_find(d, OBJECT_EVENT, handle);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (event->capture)
        return CUDA_ERROR_CAPTURED_EVENT;
    return query(d, event->object.context, event->op);
}

// Time of the host, in milliseconds: how long the simulator took, not how long a GPU would.
CUresult pksim_cuEventElapsedTime_v2(struct driver *d, float *ms, CUevent start_handle, CUevent end_handle)
{
    const struct pksim_event *start = pksim_object_find(d, OBJECT_EVENT, start_handle);
    const struct pksim_event *end = pksim_object_find(d, OBJECT_EVENT, end_handle);
    if (!ms)
        return CUDA_ERROR_INVALID_VALUE;
    if (!start || !end || !start->op || !end->op || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_HANDLE;
    if (start->op->state != OP_DONE || end->op->state != OP_DONE)
        return CUDA_ERROR_NOT_READY;
    *ms = (float)(1e3 * (end->op->finished - start->op->finished));
    return CUDA_SUCCESS;
}

CUresult pksim_cuEventElapsedTime(struct driver *d, float *ms, CUevent start, CUevent end)
{
    return pksim_cuEventElapsedTime_v2(d, ms, start, end);
}

// A stream that waits for an event of a capture joins that capture.
static CUresult join_capture(struct pksim_stream *stream, const struct pksim_event *event)
{
    if (stream->capture && stream->capture != event->capture)
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    if (!event->capture->origin) // it was ended
        return CUDA_ERROR_CAPTURED_EVENT;
    if (!stream->capture) {
        stream->capture = event->capture;
        stream->capture->references++;
        stream->tails.count = 0;
    }
    for (uint32_t i = 0; i < event->tails.count; i++)
        if (!pksim_index_add(&stream->tails, event->tails.items[i]))
            return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

// The wait is an operation of its own, so that what follows on the stream waits for both.
static CUresult wait_recorded(struct driver *d, struct pksim_stream *stream, const struct pksim_event *event)
{
    struct task task = {.kind = OP_NOTHING};
    if (!event->op || event->op->state == OP_DONE)
        return CUDA_SUCCESS;
    CUresult result = pksim_submit(d, stream, &task);
    return result != CUDA_SUCCESS ? result : pksim_op_also_waits(stream->last, event->op);
}

CUresult pksim_cuStreamWaitEvent(struct driver *d, CUstream stream_handle, CUevent handle, unsigned int flags)
{
    struct pksim_stream *stream = pksim_stream_of(d, stream_handle);
    const struct pksim_event *event = pksim_object_find(d, OBJECT_EVENT, handle);
    if (!stream || !event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (event->capture)
        return join_capture(stream, event);
    if (stream->capture)
        return event->op && event->op->state != OP_DONE ? CUDA_ERROR_STREAM_CAPTURE_ISOLATION : CUDA_SUCCESS;
    return wait_recorded(d, stream, event);
}
