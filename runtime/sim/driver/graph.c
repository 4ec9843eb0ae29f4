// SPDX-License-Identifier: Apache-2.0
// Graphs, as captured from streams: the same operations as on streams, kept with what they wait for.
#include <stdlib.h>
#include <string.h>

#include "sim/driver/driver.h"

bool pksim_index_add(struct index_set *set, uint32_t item)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i] == item)
            return true;
    if (set->count == set->capacity) {
        uint32_t capacity = set->capacity ? 2 * set->capacity : 4;
        uint32_t *grown = realloc(set->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        set->items = grown;
        set->capacity = capacity;
    }
    set->items[set->count++] = item;
    return true;
}

void pksim_graph_release(struct driver *d, struct pksim_graph *graph)
{
    if (--graph->references > 0)
        return;
    for (uint32_t i = 0; i < graph->count; i++) {
        pksim_task_release(&graph->nodes[i].task);
        free(graph->nodes[i].waits_for);
    }
    free(graph->nodes);
    pksim_object_delete(d, graph);
}

void pksim_graph_exec_delete(struct driver *d, struct pksim_graph_exec *exec)
{
    pksim_graph_release(d, exec->graph);
    pksim_object_delete(d, exec);
}

// ---- Capture

static bool has_room(struct pksim_graph *graph)
{
    if (graph->count < graph->capacity)
        return true;
    uint32_t capacity = graph->capacity ? 2 * graph->capacity : 16;
    struct pksim_graph_node *grown = realloc(graph->nodes, capacity * sizeof *grown);
    if (!grown)
        return false;
    graph->nodes = grown;
    graph->capacity = capacity;
    return true;
}

CUresult pksim_capture_task(struct driver *d, struct pksim_stream *stream, struct task *task)
{
    struct pksim_graph *graph = stream->capture;
    (void)d;
    uint32_t *waits = malloc(((size_t)stream->tails.count + 1) * sizeof *waits);
    if (graph->spoilt || !waits || !has_room(graph) || !pksim_index_add(&stream->tails, graph->count)) {
        free(waits);
        pksim_task_release(task);
        return graph->spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_OUT_OF_MEMORY;
    }
    uint32_t count = stream->tails.count - 1;
    memcpy(waits, stream->tails.items, count * sizeof *waits);
    graph->nodes[graph->count] = (struct pksim_graph_node){*task, waits, count};
    stream->tails.items[0] = graph->count++;
    stream->tails.count = 1;
    return CUDA_SUCCESS;
}

CUresult pksim_cuStreamBeginCapture_v2(struct driver *d, CUstream handle, CUstreamCaptureMode mode)
{
    struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((int)mode < 0 || (int)mode > 2)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == stream->object.context->null_stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct pksim_graph *graph = pksim_object_new(d, OBJECT_GRAPH, sizeof *graph, stream->object.context);
    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    graph->references = 1; // the stream's; the program's comes with the end of the capture
    graph->origin = stream;
    stream->capture = graph;
    stream->tails.count = 0;
    return CUDA_SUCCESS;
}

CUresult pksim_cuStreamIsCapturing(struct driver *d, CUstream handle, CUstreamCaptureStatus *status)
{
    const struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    *status = !stream->capture          ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

// Whether all nodes come before the end of the origin. Nodes stand in the order in which they were captured,
// so one walk from the back marks all that the tails wait for.
static bool all_joined(const struct pksim_graph *graph, const struct pksim_stream *origin)
{
    bool *reached = calloc((size_t)graph->count + 1, sizeof *reached), joined = reached != NULL;
    for (uint32_t i = 0; reached && i < origin->tails.count; i++)
        reached[origin->tails.items[i]] = true;
    for (uint32_t i = graph->count; reached && i-- > 0;) {
        joined &= reached[i];
        for (uint32_t j = 0; j < graph->nodes[i].wait_count; j++)
            reached[graph->nodes[i].waits_for[j]] |= reached[i];
    }
    free(reached);
    return joined;
}

static void end_capture(struct driver *d, struct pksim_graph *graph)
{
    graph->origin = NULL;
    for (struct object *o = d->objects[OBJECT_STREAM]; o; o = o->next) {
        struct pksim_stream *stream = (struct pksim_stream *)o;
        if (stream->capture == graph) {
            stream->capture = NULL;
            stream->tails.count = 0;
            pksim_graph_release(d, graph);
        }
    }
}

CUresult pksim_cuStreamEndCapture(struct driver *d, CUstream handle, CUgraph *out)
{
    struct pksim_stream *stream = pksim_stream_of(d, handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    struct pksim_graph *graph = stream->capture;
    *out = NULL;
    if (!graph)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (graph->origin != stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    bool joined = all_joined(graph, stream), spoilt = graph->spoilt;
    graph->references++;
    end_capture(d, graph);
    if (spoilt || !joined) {
        pksim_graph_release(d, graph);
        return spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    }
    *out = graph;
    return CUDA_SUCCESS;
}

CUresult pksim_cuGraphDestroy(struct driver *d, CUgraph handle)
{
    struct pksim_graph *graph = pksim_object_find(d, OBJECT_GRAPH, handle);
    if (!graph || graph->origin)
        return CUDA_ERROR_INVALID_VALUE;
    pksim_graph_release(d, graph);
    return CUDA_SUCCESS;
}

// ---- Launch

CUresult pksim_cuGraphInstantiateWithFlags(struct driver *d, CUgraphExec *out, CUgraph handle,
                                           unsigned long long flags)
{
    struct pksim_graph *graph = pksim_object_find(d, OBJECT_GRAPH, handle);
    if (!out || flags != 0 || !graph || graph->origin)
        return CUDA_ERROR_INVALID_VALUE;
    struct pksim_graph_exec *exec =
        pksim_object_new(d, OBJECT_GRAPH_EXEC, sizeof *exec, graph->object.context);
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->graph = graph; // captured graphs cannot be changed, so they need not be copied
    graph->references++;
    *out = exec;
    return CUDA_SUCCESS;
}

CUresult pksim_cuGraphUpload(struct driver *d, CUgraphExec handle, CUstream stream)
{
    return pksim_object_find(d, OBJECT_GRAPH_EXEC, handle) && pksim_stream_of(d, stream)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_HANDLE;
}

CUresult pksim_cuGraphExecDestroy(struct driver *d, CUgraphExec handle)
{
    struct pksim_graph_exec *exec = pksim_object_find(d, OBJECT_GRAPH_EXEC, handle);
    if (!exec)
        return CUDA_ERROR_INVALID_HANDLE;
    pksim_graph_exec_delete(d, exec);
    return CUDA_SUCCESS;
}

// A task of its own for each run: operations own what they hold.
static bool copy_task(const struct task *from, struct task *to)
{
    *to = *from;
    to->launch.params = NULL;
    to->staged = NULL;
    if (from->launch.params) {
        void *params = malloc(from->launch.param_bytes + 1);
        if (params)
            memcpy(params, from->launch.params, from->launch.param_bytes);
        to->launch.params = params;
    }
    if (from->staged) {
        to->staged = malloc(from->size);
        if (to->staged)
            memcpy(to->staged, from->staged, from->size);
    }
    return (!from->launch.params || to->launch.params) && (!from->staged || to->staged);
}

static struct op *queue_node(struct driver *d, const struct pksim_graph_node *node, struct op *before,
                             struct op *const *ops)
{
    struct task task;
    struct op **waits = malloc(((size_t)node->wait_count + 1) * sizeof *waits), *op = NULL;
    bool gone = node->task.kind == OP_LAUNCH && !pksim_object_find(d, OBJECT_MODULE, node->task.module);
    if (waits && !gone && copy_task(&node->task, &task)) {
        waits[0] = before;
        for (uint32_t i = 0; i < node->wait_count; i++)
            waits[i + 1] = ops[node->waits_for[i]];
        op = pksim_op_new(d, &task, waits, node->wait_count + 1);
    } else if (waits && !gone) {
        pksim_task_release(&task);
    }
    free(waits);
    return op;
}

// Queues the nodes behind `before`, then makes `end` wait for all of them.
static CUresult queue_nodes(struct driver *d, const struct pksim_graph *graph, struct op *before,
                            struct op **ops)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        ops[i] = queue_node(d, &graph->nodes[i], before, ops);
        if (!ops[i])
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult pksim_cuGraphLaunch(struct driver *d, CUgraphExec handle, CUstream stream_handle)
{
    const struct pksim_graph_exec *exec = pksim_object_find(d, OBJECT_GRAPH_EXEC, handle);
    struct pksim_stream *stream = pksim_stream_of(d, stream_handle);
    struct task begin = {.kind = OP_NOTHING}, end = {.kind = OP_NOTHING};
    if (!exec || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const struct pksim_graph *graph = exec->graph;
    struct op **ops = calloc((size_t)graph->count + 1, sizeof *ops);
    CUresult result = ops ? pksim_submit(d, stream, &begin) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        result = queue_nodes(d, graph, stream->last, ops);
    if (result == CUDA_SUCCESS)
        result = pksim_submit(d, stream, &end);
    for (uint32_t i = 0; ops && i < graph->count; i++) {
        if (result == CUDA_SUCCESS)
            result = pksim_op_also_waits(stream->last, ops[i]);
        pksim_op_release(ops[i]);
    }
    free(ops);
    return result;
}
