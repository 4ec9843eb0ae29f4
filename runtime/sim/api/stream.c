// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include <stdlib.h>

#include "sim/api/api.h"

API_EXPORT int cuStreamCreate(struct api_stream **out, unsigned flags)
{
    struct api *s = api_state();
    int result = api_enter("cuStreamCreate", true);
    (void)flags;
    if (result)
        return result;
    struct api_context *c = api_current();
    struct api_stream *t = c ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return api_leave(c ? API_OUT_OF_MEMORY : API_INVALID_CONTEXT);
    t->device = c->device;
    t->last = &t->first;
    t->next = s->streams;
    s->streams = t;
    *out = t;
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuStreamDestroy_v2(struct api_stream *stream)
{
    struct api *s = api_state();
    pthread_mutex_lock(&s->lock);
    api_drain(stream);
    for (struct api_stream **at = &s->streams; *at; at = &(*at)->next)
        if (*at == stream) {
            *at = stream->next;
            api_stream_clear(stream);
            free(stream);
            return api_leave(API_SUCCESS);
        }
    return api_leave(API_INVALID_HANDLE);
}

static struct api_stream *stream_or_null(struct api_stream *stream)
{
    struct api_context *c = api_current();
    return stream ? stream : &api_state()->null_streams[c ? c->device : 0];
}

API_EXPORT int cuStreamSynchronize(struct api_stream *stream)
{
    int result = api_enter("cuStreamSynchronize", true);
    return result ? result : api_leave(api_drain(stream_or_null(stream)));
}

/// The simulated machine works while it is asked.
API_EXPORT int cuStreamQuery(struct api_stream *stream)
{
    int result = api_enter("cuStreamQuery", true);
    return result ? result : api_leave(api_drain(stream_or_null(stream)));
}

API_EXPORT int cuCtxSynchronize(void)
{
    int result = api_enter("cuCtxSynchronize", true);
    return result ? result : api_leave(api_drain(NULL));
}

API_EXPORT int cuEventCreate(struct api_event **out, unsigned flags)
{
    struct api *s = api_state();
    int result = api_enter("cuEventCreate", true);
    (void)flags;
    if (result)
        return result;
    struct api_event *e = calloc(1, sizeof *e);
    if (!e)
        return api_leave(API_OUT_OF_MEMORY);
    e->next = s->events;
    s->events = e;
    *out = e;
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuEventDestroy_v2(struct api_event *event)
{
    struct api *s = api_state();
    pthread_mutex_lock(&s->lock);
    api_drain(NULL); // work on streams may hold it
    for (struct api_event **at = &s->events; *at; at = &(*at)->next)
        if (*at == event) {
            *at = event->next;
            free(event);
            return api_leave(API_SUCCESS);
        }
    return api_leave(API_INVALID_HANDLE);
}

static int submit(const char *name, struct api_stream *stream, struct api_work work)
{
    int result = api_enter(name, true);
    if (result)
        return result;
    struct api_work *w = malloc(sizeof *w);
    if (!w)
        return api_leave(API_OUT_OF_MEMORY);
    *w = work;
    if (w->kind == API_RECORD)
        w->ticket = ++w->event->recorded;
    else if (w->kind == API_WAIT)
        w->ticket = w->event->recorded;
    api_submit(stream_or_null(stream), w);
    return api_leave(API_SUCCESS);
}

API_EXPORT int cuEventRecord(struct api_event *event, struct api_stream *stream)
{
    return submit("cuEventRecord", stream, (struct api_work){.kind = API_RECORD, .event = event});
}

API_EXPORT int cuStreamWaitEvent(struct api_stream *stream, struct api_event *event, unsigned flags)
{
    (void)flags;
    return submit("cuStreamWaitEvent", stream, (struct api_work){.kind = API_WAIT, .event = event});
}

API_EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, struct api_stream *stream)
{
    return submit(
        "cuMemsetD8Async", stream,
        (struct api_work){.kind = API_FILL, .address = to, .value = value, .width = 1, .count = bytes});
}

API_EXPORT int cuEventSynchronize(struct api_event *event)
{
    int result = api_enter("cuEventSynchronize", true);
    (void)event;
    return result ? result : api_leave(api_drain(NULL));
}

API_EXPORT int cuEventQuery(struct api_event *event)
{
    return cuEventSynchronize(event);
}

/// No graphs are captured here: a stream is never in the middle of one.
API_EXPORT int cuStreamIsCapturing(struct api_stream *stream, int *capturing)
{
    int result = api_enter("cuStreamIsCapturing", true);
    (void)stream;
    if (result)
        return result;
    *capturing = 0;
    return api_leave(API_SUCCESS);
}
