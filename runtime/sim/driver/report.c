// SPDX-License-Identifier: Apache-2.0
// What libpksim has beyond the driver API (pksim.h).
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/driver/driver.h"
#include "sim/pksim.h"

// ---- JSON

struct text {
    char *out;
    size_t size, length; // length: as if there were room for all
};

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = t->length < t->size ? t->size - t->length : 0;
    int n = vsnprintf(room ? t->out + t->length : NULL, room, format, arguments);
    va_end(arguments);
    t->length += n > 0 ? (size_t)n : 0;
}

static void put_string(struct text *t, const char *name, const char *value)
{
    put(t, ", \"%s\": \"", name);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (c == '"' || c == '\\')
            put(t, "\\%c", c);
        else if (c == '\n')
            put(t, "\\n");
        else if (c < 0x20)
            put(t, "\\u%04x", c);
        else
            put(t, "%c", c);
    }
    put(t, "\"");
}

// Who came first.
static void put_other(struct text *t, const struct pksim_fault_side *side)
{
    put(t, ", \"other\": {\"device\": %u, \"cta\": [%u, %u, %u], \"warp\": %u, \"ptx_line\": %u",
        side->device, side->ctaid[0], side->ctaid[1], side->ctaid[2], side->warp, side->ptx_line);
    put_string(t, "kernel", side->kernel);
    put_string(t, "file", side->file);
    put(t, ", \"line\": %u, \"column\": %u}", side->line, side->column);
}

int pksim_fault_json(const struct pksim_fault *fault, char *out, size_t size)
{
    static const char *const names[] = {
#define FAULT(id, words) #id,
#include "sim/exec/fault.def"
    };
    struct text t = {out, size, 0};
    put(&t, "{\"kind\": \"%s\"", names[fault->kind]);
    put_string(&t, "words", pksim_fault_words(fault->kind));
    put_string(&t, "kernel", fault->kernel);
    put(&t, ", \"device\": %u, \"cta\": [%u, %u, %u], \"warp\": %u, \"lane\": %d, \"ptx_line\": %u",
        fault->device, fault->ctaid[0], fault->ctaid[1], fault->ctaid[2], fault->warp, fault->lane,
        fault->ptx_line);
    put_string(&t, "file", fault->file);
    put(&t, ", \"line\": %u, \"column\": %u", fault->line, fault->column);
    put_string(&t, "text", fault->text);
    if (fault->code[0])
        put_string(&t, "code", fault->code);
    if (fault->kind == PKSIM_FAULT_RACE)
        put_other(&t, &fault->other);
    put(&t, "}");
    return (int)t.length;
}

// ---- Calls

static int copy_text(const char *from, char *text, size_t size)
{
    return snprintf(text, size, "%s", from);
}

int pksimLastReport(char *text, size_t size)
{
    struct driver *d = pksim_driver_enter();
    int length = copy_text(d->report, text, size);
    pksim_driver_leave(d);
    return length;
}

int pksimLastReportJson(char *text, size_t size)
{
    struct driver *d = pksim_driver_enter();
    int length = copy_text(d->report_json, text, size);
    pksim_driver_leave(d);
    return length;
}

void pksimFailCall(const char *name, unsigned long long nth, int code)
{
    struct driver *d = pksim_driver_enter();
    snprintf(d->failure.name, sizeof d->failure.name, "%s", name ? name : "");
    d->failure.nth = nth;
    d->failure.code = (CUresult)code;
    d->counted = 0;
    pksim_driver_leave(d);
}

unsigned long long pksimCalls(void)
{
    struct driver *d = pksim_driver_enter();
    unsigned long long calls = d->counted;
    pksim_driver_leave(d);
    return calls;
}

static unsigned long long held(const struct driver *d, enum object_kind kind)
{
    return d->live[kind] + d->abandoned[kind];
}

void pksimLiveResources(struct pksim_resources *out)
{
    struct driver *d = pksim_driver_enter();
    struct pksim_mem_counts counts = {0};
    *out = (struct pksim_resources){0};
    if (d->config.mem)
        pksim_mem_count(d->config.mem, &counts);
    out->memory = counts.allocations + counts.host_allocations + counts.registrations + counts.reservations +
                  counts.mappings + counts.physical + counts.multicast + d->abandoned[OBJECT_MEMORY];
    // A variable of a module is an allocation that the program did not make.
    for (const struct object *o = d->objects[OBJECT_MODULE]; o; o = o->next)
        out->memory -= ((const struct pksim_image_use *)o)->variable_count;
    out->modules = held(d, OBJECT_MODULE) + held(d, OBJECT_LIBRARY);
    out->streams = held(d, OBJECT_STREAM);
    for (const struct object *o = d->objects[OBJECT_CONTEXT]; o; o = o->next)
        out->streams -= 2; // a context's own
    out->events = held(d, OBJECT_EVENT);
    out->graphs = held(d, OBJECT_GRAPH) + held(d, OBJECT_GRAPH_EXEC);
    for (uint32_t i = 0; i < d->devices; i++)
        out->contexts += d->retained[i];
    for (const struct object *o = d->objects[OBJECT_CONTEXT]; o; o = o->next)
        out->contexts += !((const struct pksim_context *)o)->primary;
    pksim_driver_leave(d);
}
