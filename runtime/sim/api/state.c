// SPDX-License-Identifier: Apache-2.0
#include "sim/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pksim.h"

struct api *api_state(void)
{
    static struct api state = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &state;
}

// ---- failures on purpose -------------------------------------------------------------------------------

void pksimFailCall(const char *name, unsigned long long nth, int code)
{
    struct api *s = api_state();
    pthread_mutex_lock(&s->lock);
    snprintf(s->fail_name, sizeof s->fail_name, "%s", name ? name : "");
    s->fail_nth = nth;
    s->fail_code = code;
    s->calls = 0;
    pthread_mutex_unlock(&s->lock);
}

unsigned long long pksimCalls(void)
{
    return api_state()->calls;
}

static int failing(struct api *s, const char *name)
{
    if (s->fail_name[0] && strcmp(s->fail_name, name) != 0)
        return 0;
    s->calls++;
    return s->fail_nth && s->calls == s->fail_nth ? s->fail_code : 0;
}

int api_enter(const char *name, bool needs_init)
{
    struct api *s = api_state();
    pthread_mutex_lock(&s->lock);
    int result = failing(s, name);
    if (!result && needs_init && !s->ready)
        result = API_NOT_INITIALIZED;
    if (!result && s->sticky)
        result = s->sticky;
    if (result)
        pthread_mutex_unlock(&s->lock);
    return result;
}

int api_leave(int result)
{
    pthread_mutex_unlock(&api_state()->lock);
    return result;
}

// ---- start ---------------------------------------------------------------------------------------------

/// A number from the environment within bounds.
static uint64_t setting(const char *name, uint64_t otherwise, uint64_t least, uint64_t most)
{
    const char *text = getenv(name);
    char *end;
    uint64_t v = text ? strtoull(text, &end, 10) : otherwise;
    if (text && (end == text || *end || v < least || v > most))
        return otherwise;
    return v;
}

static bool make_machine(struct api *s)
{
    const uint64_t memory = UINT64_C(141) << 30; // an H200's
    s->devices = (uint32_t)setting("PKSIM_DEVICES", 8, 1, PKSIM_MAX_DEVICES);
    pksim_limits_default(&s->limits);
    s->limits.sms = (uint32_t)setting("PKSIM_SMS", s->limits.sms, 1, 1024);
    s->mem = pksim_mem_create(s->devices, memory);
    struct pksim_exec_config config = {
        .mem = s->mem,
        .devices = s->devices,
        .limits = s->limits,
        .seed = setting("PKSIM_SEED", 1, 0, UINT64_MAX),
        .late = setting("PKSIM_LATE", 0, 0, 1) != 0,
        .max_steps = setting("PKSIM_STEPS", 0, 0, UINT64_MAX),
        .straggler = (int32_t)setting("PKSIM_STRAGGLER", UINT32_MAX, 0, PKSIM_MAX_DEVICES)};
    s->exec = s->mem ? pksim_exec_create(&config) : NULL;
    for (uint32_t d = 0; d < s->devices; d++) {
        s->contexts[d].device = d;
        s->null_streams[d] = (struct api_stream){.device = d};
        s->null_streams[d].last = &s->null_streams[d].first;
    }
    return s->exec != NULL;
}

API_EXPORT int cuInit(unsigned flags)
{
    int result = api_enter("cuInit", false);
    struct api *s = api_state();
    if (result)
        return result;
    if (flags)
        return api_leave(API_INVALID_VALUE);
    if (!s->ready)
        s->ready = make_machine(s);
    return api_leave(s->ready ? API_SUCCESS : API_OUT_OF_MEMORY);
}

struct api_context *api_current(void)
{
    struct api *s = api_state();
    return s->depth ? s->stack[s->depth - 1] : NULL;
}

// ---- reports -------------------------------------------------------------------------------------------

int pksimLastReport(char *text, size_t size)
{
    struct api *s = api_state();
    pthread_mutex_lock(&s->lock);
    int n = snprintf(text, size, "%s", s->report);
    pthread_mutex_unlock(&s->lock);
    return n;
}

void pksimLiveResources(struct pksim_resources *out)
{
    struct api *s = api_state();
    struct pksim_mem_counts c = {0};
    pthread_mutex_lock(&s->lock);
    *out = (struct pksim_resources){0};
    if (s->mem)
        pksim_mem_count(s->mem, &c);
    out->memory = c.allocations + c.host_allocations + c.registrations + c.reservations + c.mappings +
                  c.physical + c.multicast;
    for (struct api_module *m = s->modules; m; m = m->next)
        out->modules++;
    for (struct api_stream *t = s->streams; t; t = t->next)
        out->streams++;
    for (struct api_event *e = s->events; e; e = e->next)
        out->events++;
    for (uint32_t d = 0; d < s->devices; d++)
        out->contexts += s->contexts[d].retained;
    pthread_mutex_unlock(&s->lock);
}
