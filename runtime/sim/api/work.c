// SPDX-License-Identifier: Apache-2.0
// Streams: work in order, launches handed to the executor as soon as their stream comes to them, all devices
// together.
#include <stdio.h>
#include <stdlib.h>

#include "sim/api/api.h"

int api_mem_result(enum pksim_mem_status status)
{
    switch (status) {
    case PKSIM_MEM_DONE:
        return API_SUCCESS;
    case PKSIM_MEM_EXHAUSTED:
        return API_OUT_OF_MEMORY;
    case PKSIM_MEM_INVALID:
    case PKSIM_MEM_NOT_FOUND:
    case PKSIM_MEM_IN_USE:
        break;
    }
    return API_INVALID_VALUE;
}

void api_submit(struct api_stream *stream, struct api_work *work)
{
    work->next = NULL;
    *stream->last = work;
    stream->last = &work->next;
}

static void free_work(struct api_work *w)
{
    if (w->kind == API_LAUNCH)
        free((void *)(uintptr_t)w->launch.params);
    free(w);
}

static void pop(struct api_stream *stream)
{
    struct api_work *w = stream->first;
    stream->first = w->next;
    if (!stream->first)
        stream->last = &stream->first;
    free_work(w);
}

void api_stream_clear(struct api_stream *stream)
{
    while (stream->first)
        pop(stream);
}

/// Takes one piece of work a step on; true when something happened.
static bool advance(struct api *s, struct api_stream *stream)
{
    struct api_work *w = stream->first;
    struct pksim_mem_fault fault;
    if (!w)
        return false;
    switch (w->kind) {
    case API_LAUNCH:
        if (!w->started) {
            w->started = pksim_exec_add(s->exec, &w->launch, &w->id) == PKSIM_LAUNCH_OK;
            return w->started;
        }
        if (!pksim_exec_finished(s->exec, w->id))
            return false;
        break;
    case API_RECORD:
        if (w->event->completed < w->ticket)
            w->event->completed = w->ticket;
        break;
    case API_WAIT:
        if (w->event->completed < w->ticket)
            return false;
        break;
    case API_FILL:
        pksim_mem_fill(s->mem, w->address, w->value, w->width, w->count, &fault);
        break;
    }
    pop(stream);
    return true;
}

static bool advance_all(struct api *s)
{
    bool moved = false, any = true;
    while (any) {
        any = false;
        for (uint32_t d = 0; d < s->devices; d++)
            any |= advance(s, &s->null_streams[d]);
        for (struct api_stream *t = s->streams; t; t = t->next)
            any |= advance(s, t);
        moved |= any;
    }
    return moved;
}

static int fault_code(enum pksim_fault_kind kind)
{
    const char *words = pksim_fault_words(kind);
    (void)words;
    switch ((int)kind) {
    case PKSIM_FAULT_DEADLOCK:
    case PKSIM_FAULT_STEP_LIMIT:
        return API_LAUNCH_TIMEOUT;
    case PKSIM_FAULT_MISALIGNED:
        return API_MISALIGNED_ADDRESS;
    default:
        return API_ILLEGAL_ADDRESS;
    }
}

static int fail(struct api *s)
{
    const struct pksim_fault *fault = pksim_exec_fault(s->exec);
    if (fault) {
        pksim_fault_format(fault, s->report, sizeof s->report);
        s->sticky = fault_code(fault->kind);
    } else {
        s->sticky = API_LAUNCH_FAILED;
    }
    return s->sticky;
}

static bool empty(const struct api *s, const struct api_stream *stream)
{
    if (stream)
        return !stream->first;
    for (uint32_t d = 0; d < s->devices; d++)
        if (s->null_streams[d].first)
            return false;
    for (const struct api_stream *t = s->streams; t; t = t->next)
        if (t->first)
            return false;
    return true;
}

int api_drain(struct api_stream *stream)
{
    struct api *s = api_state();
    if (s->sticky)
        return s->sticky;
    advance_all(s);
    while (!empty(s, stream)) {
        enum pksim_exec_status status = pksim_exec_run(s->exec, 0);
        if (status == PKSIM_EXEC_FAULT)
            return fail(s);
        if (advance_all(s))
            continue;
        if (status == PKSIM_EXEC_STALLED)
            pksim_exec_deadlock(s->exec);
        if (status != PKSIM_EXEC_BUSY)
            return fail(s);
    }
    return API_SUCCESS;
}
