// SPDX-License-Identifier: Apache-2.0
// The driver's state: lock, threads, objects, failures on purpose, cuInit and the end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/driver/driver.h"

static struct driver *state(void)
{
    static struct driver the_driver = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                       .changed = PTHREAD_COND_INITIALIZER};
    return &the_driver;
}

struct driver *pksim_driver_enter(void)
{
    struct driver *d = state();
    atomic_fetch_add(&d->wanting, 1);
    pthread_mutex_lock(&d->lock);
    atomic_fetch_sub(&d->wanting, 1);
    return d;
}

void pksim_driver_leave(struct driver *d)
{
    pthread_mutex_unlock(&d->lock);
}

// ---- Threads

static void thread_ended(void *thread)
{
    free(thread);
    struct driver *d = pksim_driver_enter();
    d->threads--;
    pthread_cond_broadcast(&d->changed); // those who wait may now be all there are
    pksim_driver_leave(d);
}

struct thread *pksim_thread(struct driver *d)
{
    if (!d->has_thread_key) {
        if (pthread_key_create(&d->thread_key, thread_ended) != 0)
            return NULL;
        d->has_thread_key = true;
    }
    struct thread *thread = pthread_getspecific(d->thread_key);
    if (thread)
        return thread;
    thread = calloc(1, sizeof *thread);
    if (!thread || pthread_setspecific(d->thread_key, thread) != 0) {
        free(thread);
        return NULL;
    }
    d->threads++;
    return thread;
}

struct pksim_context *pksim_current(struct driver *d)
{
    struct thread *thread = pksim_thread(d);
    if (!thread || thread->depth == 0)
        return NULL;
    return pksim_object_find(d, OBJECT_CONTEXT, thread->stack[thread->depth - 1]);
}

// ---- Calls

// PLAIN and RELEASE calls fail by name only: an error of the former is hardly looked at, and what the latter
// gives back is gone in either case.
static CUresult on_purpose(struct driver *d, const char *name, enum call_kind kind)
{
    struct failure *f = &d->failure;
    bool any = !f->name[0];
    if (any ? kind == KIND_PLAIN || kind == KIND_RELEASE : strcmp(f->name, name) != 0)
        return CUDA_SUCCESS;
    d->counted++;
    return f->nth && d->counted == f->nth ? f->code : CUDA_SUCCESS;
}

CUresult pksim_call_begin(struct driver *d, const char *name, enum call_kind kind, bool per_thread)
{
    d->activity++;
    d->per_thread = per_thread;
    if (kind != KIND_RELEASE) {
        CUresult failure = on_purpose(d, name, kind);
        if (failure != CUDA_SUCCESS)
            return failure;
    }
    if (kind == KIND_PLAIN || kind == KIND_START)
        return CUDA_SUCCESS;
    if (!d->ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!pksim_thread(d))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (kind != KIND_CONTEXT)
        return CUDA_SUCCESS;
    const struct pksim_context *context = pksim_current(d);
    return context ? context->sticky : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult pksim_call_end(struct driver *d, const char *name, enum call_kind kind, CUresult result)
{
    if (kind != KIND_RELEASE)
        return result;
    CUresult failure = on_purpose(d, name, kind);
    return failure != CUDA_SUCCESS ? failure : result;
}

// ---- Objects

void *pksim_object_new(struct driver *d, enum object_kind kind, size_t size, struct pksim_context *context)
{
    struct object *object = calloc(1, size);
    if (!object)
        return NULL;
    object->kind = kind;
    object->context = context;
    object->next = d->objects[kind];
    d->objects[kind] = object;
    d->live[kind]++;
    return object;
}

void *pksim_object_find(const struct driver *d, enum object_kind kind, const void *handle)
{
    for (struct object *object = d->objects[kind]; object; object = object->next)
        if (object == handle)
            return object;
    return NULL;
}

void pksim_object_delete(struct driver *d, void *object)
{
    struct object *gone = object;
    for (struct object **link = &d->objects[gone->kind]; *link; link = &(*link)->next)
        if (*link == gone) {
            *link = gone->next;
            d->live[gone->kind]--;
            break;
        }
    free(gone);
}

// ---- Start and end

uint64_t pksim_setting(const char *name, uint64_t otherwise, uint64_t least, uint64_t most)
{
    const char *text = getenv(name);
    char *end = NULL;
    uint64_t value = text ? strtoull(text, &end, 10) : otherwise;
    if (!text)
        return otherwise;
    return end == text || *end || value < least || value > most ? otherwise : value;
}

// PKSIM_FAIL=NAME:N:CODE, for programs that cannot call pksimFailCall. NAME may be * for any.
static void failure_from_environment(struct driver *d)
{
    const char *text = getenv("PKSIM_FAIL");
    unsigned long long nth;
    char name[64];
    int code;
    if (!text || sscanf(text, "%63[^:]:%llu:%d", name, &nth, &code) != 3)
        return;
    if (strcmp(name, "*") != 0)
        snprintf(d->failure.name, sizeof d->failure.name, "%s", name);
    d->failure.nth = nth;
    d->failure.code = (CUresult)code;
}

// PKSIM_CHECK is a list of what is looked for besides what costs nothing: races, all. Other words are for
// checks that are always on.
static bool checks_races(void)
{
    const char *text = getenv("PKSIM_CHECK");
    while (text && *text) {
        size_t length = strcspn(text, ",");
        if ((length == 5 && !memcmp(text, "races", 5)) || (length == 3 && !memcmp(text, "all", 3)))
            return true;
        text += length + (text[length] == ',');
    }
    return false;
}

static void forget_memory(void *check, const void *host, uint64_t size)
{
    pksim_check_gone(check, host, size);
}

static bool make_machine(struct driver *d)
{
    enum { H200_MEMORY_GIB = 141 };
    struct pksim_exec_config *c = &d->config;
    d->devices = (uint32_t)pksim_setting("PKSIM_DEVICES", 8, 1, PKSIM_MAX_DEVICES);
    pksim_limits_default(&c->limits);
    c->limits.sms = (uint32_t)pksim_setting("PKSIM_SMS", c->limits.sms, 1, 1024);
    c->devices = d->devices;
    c->seed = pksim_setting("PKSIM_SEED", 1, 0, UINT64_MAX);
    c->late = pksim_setting("PKSIM_LATE", 0, 0, 1) != 0;
    c->max_steps = pksim_setting("PKSIM_STEPS", 0, 0, UINT64_MAX);
    c->no_init_check = pksim_setting("PKSIM_UNWRITTEN", 0, 0, 1) != 0;
    c->straggler = (int32_t)pksim_setting("PKSIM_STRAGGLER", UINT32_MAX, 0, PKSIM_MAX_DEVICES - 1);
    d->patience_ms = (uint32_t)pksim_setting("PKSIM_PATIENCE", 10000, 0, 1u << 30);
    uint64_t memory = pksim_setting("PKSIM_MEMORY", H200_MEMORY_GIB * UINT64_C(1024), 1, UINT64_C(1) << 30);
    c->mem = pksim_mem_create(d->devices, memory << 20);
    c->check = checks_races() ? pksim_check_create() : NULL;
    if (c->mem && c->check)
        pksim_mem_on_gone(c->mem, forget_memory, c->check);
    d->queue_end = &d->queue;
    d->next_id = 1;
    return c->mem != NULL;
}

CUresult pksim_cuInit(struct driver *d, unsigned int flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (d->ready)
        return CUDA_SUCCESS;
    if (!make_machine(d))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!d->failure.nth)
        failure_from_environment(d);
    d->ready = true;
    return CUDA_SUCCESS;
}

static void free_objects(struct driver *d)
{
    while (d->objects[OBJECT_GRAPH_EXEC])
        pksim_graph_exec_delete(d, (struct pksim_graph_exec *)d->objects[OBJECT_GRAPH_EXEC]);
    while (d->objects[OBJECT_CONTEXT])
        pksim_context_destroy(d, (struct pksim_context *)d->objects[OBJECT_CONTEXT]);
    while (d->objects[OBJECT_LIBRARY])
        pksim_library_delete(d, (struct pksim_library *)d->objects[OBJECT_LIBRARY]);
    while (d->objects[OBJECT_GRAPH])
        pksim_graph_release(d, (struct pksim_graph *)d->objects[OBJECT_GRAPH]);
    while (d->objects[OBJECT_HANDLE]) {
        struct handle *handle = (struct handle *)d->objects[OBJECT_HANDLE];
        if (handle->phys)
            pksim_phys_release(d->config.mem, handle->phys);
        else
            pksim_mcast_release(d->config.mem, handle->mcast);
        pksim_object_delete(d, handle);
    }
}

// The library is unloaded, or the process ends: no thread of ours may stay in its code.
__attribute__((destructor)) static void unload(void)
{
    struct driver *d = pksim_driver_enter();
    bool join = d->has_background;
    d->leaving = true;
    pthread_cond_broadcast(&d->changed);
    pksim_driver_leave(d);
    if (join)
        pthread_join(d->background, NULL);
    d = pksim_driver_enter();
    if (d->ready) {
        free_objects(d);
        pksim_exec_free(d->exec);
        pksim_before_release(d->host);
        pksim_mem_destroy(d->config.mem);
        pksim_check_destroy(d->config.check);
        d->host = NULL;
        d->config.check = NULL;
        d->exec = NULL;
        d->config.mem = NULL;
        d->ready = false;
    }
    if (d->has_thread_key) {
        free(pthread_getspecific(d->thread_key));
        pthread_key_delete(d->thread_key);
        d->has_thread_key = false;
    }
    pksim_driver_leave(d);
}
