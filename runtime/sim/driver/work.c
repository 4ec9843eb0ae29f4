// SPDX-License-Identifier: Apache-2.0
// Who runs the machine, and when.
//
// A thread that waits in the driver runs it, so a program that launches and then waits has the same schedule
// each time: nothing runs before everything is launched, and the machine stands still while the program goes
// on. A program that does not wait, but polls memory, is noticed by its silence: then a thread in the
// background runs the machine in its place.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/driver/driver.h"

enum {
    SLICE = 20000,          // warp instructions between looks at who wants the lock
    SILENCE_MS = 200,       // of the program, before the background runs the machine
    FOREIGN_GRACE_MS = 1000 // for threads that do not use the driver, but might write to mapped memory
};

// ---- Operations

void pksim_task_release(struct task *task)
{
    free((void *)(uintptr_t)task->launch.params);
    free(task->staged);
    task->launch.params = NULL;
    task->staged = NULL;
}

void pksim_op_release(struct op *op)
{
    if (!op || --op->references > 0)
        return;
    for (uint32_t i = 0; i < op->wait_count; i++)
        pksim_op_release(op->waits_for[i]);
    free(op->waits_for);
    pksim_task_release(&op->task);
    pksim_before_release(op->before);
    free(op);
}

// ---- What lies before what, for the race detector

static void add_before(struct pksim_before **to, struct pksim_before *more)
{
    *to = pksim_before_join(*to, pksim_before_retain(more));
}

void pksim_host_saw(struct driver *d, const struct pksim_context *context, const struct op *op)
{
    if (d->config.check)
        add_before(&d->host, op ? op->before : context->done);
}

static void forget_waits(struct op *op)
{
    for (uint32_t i = 0; i < op->wait_count; i++)
        pksim_op_release(op->waits_for[i]);
    free(op->waits_for);
    op->waits_for = NULL;
    op->wait_count = 0;
}

// Queues an operation; the caller gets a reference. NULL: out of memory (the task is released).
struct op *pksim_op_new(struct driver *d, const struct task *task, struct op *const *waits_for,
                        uint32_t count)
{
    struct op *op = calloc(1, sizeof *op);
    struct op **copy = calloc((size_t)count + 1, sizeof *copy);
    if (!op || !copy) {
        free(op);
        free(copy);
        struct task owned = *task;
        pksim_task_release(&owned);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        if (waits_for[i] && waits_for[i]->state != OP_DONE) {
            waits_for[i]->references++;
            copy[op->wait_count++] = waits_for[i];
        } else if (waits_for[i]) {
            add_before(&op->before, waits_for[i]->before);
        }
    add_before(&op->before, d->host);
    op->task = *task;
    op->waits_for = copy;
    op->references = 2;
    *d->queue_end = op;
    d->queue_end = &op->next;
    return op;
}

CUresult pksim_op_also_waits(struct op *op, struct op *other)
{
    struct op **grown = realloc(op->waits_for, ((size_t)op->wait_count + 1) * sizeof *grown);
    if (!grown)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->waits_for = grown;
    if (other->state != OP_DONE) {
        other->references++;
        grown[op->wait_count++] = other;
    } else {
        add_before(&op->before, other->before);
    }
    return CUDA_SUCCESS;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void finish(struct op *op)
{
    op->state = OP_DONE;
    op->finished = now_seconds();
    if (op->before)
        add_before(&op->task.context->done, op->before);
    forget_waits(op);
    pksim_task_release(&op->task);
}

// Takes what is done out of the queue.
static void sweep(struct driver *d)
{
    struct op **link = &d->queue;
    while (*link) {
        struct op *op = *link;
        if (op->state == OP_DONE) {
            *link = op->next;
            pksim_op_release(op);
        } else {
            link = &op->next;
        }
    }
    d->queue_end = link;
    pthread_cond_broadcast(&d->changed);
}

bool pksim_context_busy(const struct driver *d, const struct pksim_context *context)
{
    for (const struct op *op = d->queue; op; op = op->next)
        if (op->state != OP_DONE && op->task.context == context)
            return true;
    return false;
}

void pksim_drop_work(struct driver *d, const struct pksim_context *context)
{
    for (struct op *op = d->queue; op; op = op->next)
        if (op->state != OP_DONE && op->task.context == context)
            finish(op);
    sweep(d);
}

// ---- Faults

static CUresult fault_result(enum pksim_fault_kind kind)
{
    switch (kind) {
    case PKSIM_FAULT_OUT_OF_BOUNDS:
    case PKSIM_FAULT_UNINITIALISED:
    case PKSIM_FAULT_READ_ONLY:
    case PKSIM_FAULT_MULTICAST:
    case PKSIM_FAULT_NOT_MULTICAST:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PKSIM_FAULT_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PKSIM_FAULT_BAD_INSTRUCTION:
    case PKSIM_FAULT_BAD_OPERAND:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case PKSIM_FAULT_DEADLOCK:
    case PKSIM_FAULT_STEP_LIMIT:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PKSIM_FAULT_NONE:
    case PKSIM_FAULT_BARRIER:
    case PKSIM_FAULT_MBARRIER:
    case PKSIM_FAULT_TENSOR_MAP:
    case PKSIM_FAULT_DIVERGENCE:
    case PKSIM_FAULT_IN_FLIGHT:
    case PKSIM_FAULT_RACE:
    case PKSIM_FAULT_TRAP:
        return CUDA_ERROR_LAUNCH_FAILED;
    case PKSIM_FAULT_OUT_OF_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_ERROR_LAUNCH_FAILED;
}

// All contexts with a kernel under way are spoilt: the kernels of a machine that stopped will not end.
static void spoil(struct driver *d, CUresult result)
{
    for (struct op *op = d->queue; op; op = op->next)
        if (op->state == OP_RUNNING && op->task.kind == OP_LAUNCH)
            op->task.context->sticky = result;
    for (struct object *o = d->objects[OBJECT_CONTEXT]; o; o = o->next) {
        struct pksim_context *context = (struct pksim_context *)o;
        if (context->sticky != CUDA_SUCCESS)
            pksim_drop_work(d, context);
    }
    pksim_exec_free(d->exec);
    d->exec = NULL;
}

static void fault(struct driver *d)
{
    const struct pksim_fault *fault = pksim_exec_fault(d->exec);
    pksim_fault_format(fault, d->report, sizeof d->report);
    pksim_fault_json(fault, d->report_json, sizeof d->report_json);
    spoil(d, fault_result(fault->kind));
}

// A launch that passed the driver's checks and not the machine's: a mistake of the simulator, but no reason
// to hang.
static void refuse(struct driver *d, struct op *op, enum pksim_launch_status status)
{
    snprintf(d->report, sizeof d->report, "a launch of '%s' was refused by the simulated machine (status %d)",
             op->task.module->image->text ? "a kernel" : "", (int)status);
    d->report_json[0] = '\0';
    op->task.context->sticky = CUDA_ERROR_LAUNCH_FAILED;
    pksim_drop_work(d, op->task.context);
}

// ---- Steps

static bool is_ready(const struct op *op)
{
    for (uint32_t i = 0; i < op->wait_count; i++)
        if (op->waits_for[i]->state != OP_DONE)
            return false;
    return true;
}

static void collect_before(struct op *op)
{
    for (uint32_t i = 0; i < op->wait_count; i++)
        add_before(&op->before, op->waits_for[i]->before);
}

// A launch that fails here spoils its context and drops its work: false, and the queue must be looked at
// anew.
static bool start_launch(struct driver *d, struct op *op)
{
    if (!d->exec)
        d->exec = pksim_exec_create(&d->config);
    op->task.launch.after = op->before;
    enum pksim_launch_status status =
        d->exec ? pksim_exec_add(d->exec, &op->task.launch, &op->launch_id) : PKSIM_LAUNCH_NO_MEMORY;
    if (status != PKSIM_LAUNCH_OK) {
        refuse(d, op, status);
        return false;
    }
    op->state = OP_RUNNING;
    return true;
}

// Addresses below the machine's that it does not know are the program's own memory.
static void *own_memory(const struct driver *d, uint64_t address)
{
    struct pksim_mem_info info;
    if (address >= PKSIM_VA_FIRST || pksim_mem_query(d->config.mem, address, &info))
        return NULL;
    return (void *)(uintptr_t)address;
}

static bool copy(struct driver *d, const struct task *task, struct pksim_mem_fault *fault)
{
    struct pksim_mem *mem = d->config.mem;
    void *to = own_memory(d, task->to);
    const void *from = task->staged ? task->staged : own_memory(d, task->from);
    if (to && from) {
        memmove(to, from, task->size);
        return true;
    }
    if (from)
        return pksim_mem_write(mem, task->to, from, task->size, fault);
    if (to)
        return pksim_mem_read(mem, to, task->from, task->size, fault);
    return pksim_mem_copy(mem, task->to, task->from, task->size, fault);
}

// Copies and fills were checked when they were submitted; what was freed since then is left alone.
static void do_memory(struct driver *d, const struct task *task)
{
    struct pksim_mem_fault fault;
    if (task->kind == OP_COPY)
        copy(d, task, &fault);
    else if (task->kind == OP_FILL)
        pksim_mem_fill(d->config.mem, task->to, task->value, task->width, task->size, &fault);
    else if (task->kind == OP_FREE)
        pksim_mem_free(d->config.mem, task->to);
}

// The program's function runs without the lock: it may not call the driver, but others may.
static void do_call(struct driver *d, struct op *op)
{
    CUhostFn call = op->task.call;
    void *argument = op->task.argument;
    op->state = OP_RUNNING;
    op->references++;
    pthread_mutex_unlock(&d->lock);
    call(argument);
    pthread_mutex_lock(&d->lock);
    if (op->state != OP_DONE)
        finish(op);
    pksim_op_release(op);
}

// Takes one operation on; true when something happened. The queue may be another one afterwards.
static bool advance_one(struct driver *d, struct op *op)
{
    if (op->state == OP_RUNNING) {
        if (op->task.kind != OP_LAUNCH || !pksim_exec_finished(d->exec, op->launch_id))
            return false;
        if (d->config.check)
            op->before = pksim_before_join(op->before, pksim_exec_before(d->exec, op->launch_id));
        finish(op);
        return true;
    }
    if (!is_ready(op))
        return false;
    collect_before(op);
    switch (op->task.kind) {
    case OP_LAUNCH:
        start_launch(d, op);
        return true;
    case OP_CALL:
        do_call(d, op);
        return true;
    case OP_COPY:
    case OP_FILL:
    case OP_FREE:
        do_memory(d, &op->task);
        break;
    case OP_NOTHING:
        break;
    }
    finish(op);
    return true;
}

static bool advance_some(struct driver *d)
{
    for (struct op *op = d->queue; op; op = op->next)
        if (op->state != OP_DONE && advance_one(d, op))
            return true;
    return false;
}

static bool advance(struct driver *d)
{
    bool moved = false;
    while (advance_some(d)) {
        sweep(d);
        moved = true;
    }
    return moved;
}

static bool launches_run(const struct driver *d)
{
    for (const struct op *op = d->queue; op; op = op->next)
        if (op->state == OP_RUNNING && op->task.kind == OP_LAUNCH)
            return true;
    return false;
}

// ---- Turns

static void let_others_in(struct driver *d)
{
    if (atomic_load(&d->wanting) == 0)
        return;
    pthread_mutex_unlock(&d->lock);
    while (atomic_load(&d->wanting) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    pthread_mutex_lock(&d->lock);
}

// Waits for a change of the state, at most ms.
static void doze(struct driver *d, uint32_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)ms * 1000000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_cond_timedwait(&d->changed, &d->lock, &until);
}

enum turn { TURN_MOVED, TURN_STALLED, TURN_IDLE };

// One step of the machine and of the queue.
static enum turn take_turn(struct driver *d)
{
    bool moved = advance(d);
    if (!launches_run(d))
        return moved ? TURN_MOVED : TURN_IDLE;
    enum pksim_exec_status status = pksim_exec_run(d->exec, SLICE);
    if (status == PKSIM_EXEC_FAULT) {
        fault(d);
        return TURN_MOVED;
    }
    moved |= advance(d);
    return status == PKSIM_EXEC_STALLED && !moved ? TURN_STALLED : TURN_MOVED;
}

static void deadlock(struct driver *d)
{
    pksim_exec_deadlock(d->exec);
    if (pksim_exec_fault(d->exec))
        fault(d);
    else
        spoil(d, CUDA_ERROR_LAUNCH_TIMEOUT);
}

// Threads of the process that never called the driver (1 stands for our own in the background).
static bool has_foreign_threads(const struct driver *d)
{
    uint32_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return true;
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count > d->threads + d->has_background;
}

// How long a stall is borne: not at all where every thread of the program waits here.
static uint32_t patience(const struct driver *d)
{
    if (d->blocked < d->threads)
        return d->patience_ms;
    uint32_t grace = d->patience_ms < FOREIGN_GRACE_MS ? d->patience_ms : FOREIGN_GRACE_MS;
    return has_foreign_threads(d) ? grace : 0;
}

// Runs the machine until `op` is done or, without op, the context is idle.
static bool still_waits(const struct driver *d, const struct pksim_context *context, const struct op *op)
{
    return op ? op->state != OP_DONE : pksim_context_busy(d, context);
}

static void run_until(struct driver *d, const struct pksim_context *context, const struct op *op)
{
    uint32_t stalled_ms = 0;
    d->running = true;
    while (!d->leaving && still_waits(d, context, op)) {
        enum turn turn = take_turn(d);
        if (turn == TURN_MOVED)
            stalled_ms = 0;
        else if (turn == TURN_STALLED && stalled_ms >= patience(d))
            deadlock(d);
        else if (turn == TURN_STALLED || turn == TURN_IDLE) {
            doze(d, 1);
            stalled_ms++;
        }
        let_others_in(d);
    }
    d->running = false;
    pthread_cond_broadcast(&d->changed);
}

static CUresult wait(struct driver *d, struct pksim_context *context, struct op *op)
{
    if (op)
        op->references++;
    d->blocked++;
    pthread_cond_broadcast(&d->changed);
    while (!d->leaving && still_waits(d, context, op)) {
        if (d->running)
            pthread_cond_wait(&d->changed, &d->lock);
        else
            run_until(d, context, op);
    }
    d->blocked--;
    d->activity++;
    if (pksim_object_find(d, OBJECT_CONTEXT, context))
        pksim_host_saw(d, context, op);
    pksim_op_release(op);
    // The context may have been destroyed by another thread meanwhile.
    return pksim_object_find(d, OBJECT_CONTEXT, context) ? context->sticky : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult pksim_wait_op(struct driver *d, struct pksim_context *context, struct op *op)
{
    return op ? wait(d, context, op) : context->sticky;
}

CUresult pksim_wait_context(struct driver *d, struct pksim_context *context)
{
    return wait(d, context, NULL);
}

void pksim_run_slice(struct driver *d)
{
    if (d->running || !d->queue)
        return;
    d->running = true;
    take_turn(d);
    d->running = false;
    pthread_cond_broadcast(&d->changed);
}

// ---- The background

// The program has been silent for a while with work left: runs the machine until it calls again. A stall is
// borne until patience is over.
static void run_in_background(struct driver *d)
{
    uint64_t activity = d->activity;
    uint32_t stalled_ms = 0;
    d->running = true;
    while (!d->leaving && d->queue && d->activity == activity) {
        enum turn turn = take_turn(d);
        if (turn == TURN_MOVED) {
            stalled_ms = 0;
        } else if (turn == TURN_STALLED && stalled_ms >= d->patience_ms) {
            deadlock(d);
        } else {
            doze(d, 1);
            stalled_ms++;
        }
        let_others_in(d);
    }
    d->running = false;
    pthread_cond_broadcast(&d->changed);
}

static void *background(void *argument)
{
    struct driver *d = argument;
    pthread_mutex_lock(&d->lock);
    while (!d->leaving) {
        uint64_t activity = d->activity;
        double since = now_seconds();
        if (!d->queue || d->running || d->blocked) {
            pthread_cond_wait(&d->changed, &d->lock);
            continue;
        }
        while (!d->leaving && d->activity == activity && now_seconds() - since < SILENCE_MS / 1e3)
            doze(d, SILENCE_MS / 8);
        if (d->activity == activity && d->queue && !d->running && !d->leaving)
            run_in_background(d);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void start_background(struct driver *d)
{
    if (!d->has_background)
        d->has_background = pthread_create(&d->background, NULL, background, d) == 0;
    pthread_cond_broadcast(&d->changed);
}

// ---- Streams

// What the next operation of a stream waits for: the stream's last one, and, between the null stream and
// those that are not CU_STREAM_NON_BLOCKING, the last ones of the other side.
static uint32_t stream_waits(const struct driver *d, const struct pksim_stream *stream, struct op **out)
{
    const struct pksim_context *context = stream->object.context;
    uint32_t count = 0;
    out[count++] = stream->last;
    if (stream->flags & CU_STREAM_NON_BLOCKING)
        return count;
    if (stream != context->null_stream) {
        out[count++] = context->null_stream->last;
        return count;
    }
    for (const struct object *o = d->objects[OBJECT_STREAM]; o; o = o->next) {
        const struct pksim_stream *other = (const struct pksim_stream *)o;
        if (o->context == context && other != stream && !(other->flags & CU_STREAM_NON_BLOCKING))
            out[count++] = other->last;
    }
    return count;
}

CUresult pksim_submit(struct driver *d, struct pksim_stream *stream, struct task *task)
{
    task->context = stream->object.context;
    if (stream->capture)
        return pksim_capture_task(d, stream, task);
    struct op **waits = calloc((size_t)d->live[OBJECT_STREAM] + 2, sizeof *waits);
    if (!waits) {
        pksim_task_release(task);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct op *op = pksim_op_new(d, task, waits, stream_waits(d, stream, waits));
    free(waits);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pksim_op_release(stream->last);
    stream->last = op;
    start_background(d);
    return CUDA_SUCCESS;
}

CUresult pksim_do_task(struct driver *d, struct pksim_stream *stream, struct task *task)
{
    if (stream->capture)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!d->queue) {
        do_memory(d, task);
        pksim_task_release(task);
        pksim_host_saw(d, stream->object.context, stream->last);
        return CUDA_SUCCESS;
    }
    CUresult result = pksim_submit(d, stream, task);
    return result != CUDA_SUCCESS ? result : pksim_wait_op(d, stream->object.context, stream->last);
}
