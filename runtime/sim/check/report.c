// SPDX-License-Identifier: Apache-2.0
// A race in words: both sides, where, and what order is missing.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/check/inside.h"

struct text {
    char *out;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->out + t->used, t->size - t->used, format, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n < t->size - t->used ? (size_t)n : t->size - t->used - 1;
}

static const char *subject(const struct pksim_operation *o)
{
    static const char *const words[] = {
#define OPERATION(id, text) text,
#include "sim/check/operation.def"
    };
    return words[o->kind];
}

static const char *verb(const struct access *a)
{
    if (!(a->flags & ACCESS_WRITE))
        return "reads";
    return a->flags & ACCESS_READ ? "updates" : "writes";
}

static void put_side(struct text *t, const struct pksim_operation *o)
{
    const char *file = o->file < o->launch->file_count ? o->launch->files[o->file] : NULL;
    if (o->line && file)
        put(t, "%s:%u:%u: ", file, o->line, o->column);
    put(t, "%s, device %u, CTA (%u, %u, %u), warp %u", o->launch->kernel, o->launch->device, o->ctaid[0],
        o->ctaid[1], o->ctaid[2], o->index);
    if (!(o->lanes & (o->lanes - 1)))
        put(t, ", lane %d", __builtin_ctz(o->lanes));
    put(t, ", PTX line %u", o->ptx_line);
}

// Where an element of a tensor map lies: (outermost .. innermost index).
static void put_element(struct text *t, const struct pksim_tensor_map *map, uint64_t address)
{
    uint64_t rest = address - map->address, at[PKSIM_MAP_MAX_RANK];
    for (uint32_t d = map->rank; d-- > 1;) {
        at[d] = map->strides[d - 1] ? rest / map->strides[d - 1] : 0;
        rest -= at[d] * map->strides[d - 1];
    }
    at[0] = rest / map->number_size;
    put(t, ", element (");
    for (uint32_t d = map->rank; d-- > 0;)
        put(t, "%" PRIu64 "%s", at[d], d ? ", " : "");
    put(t, ") of a tensor of ");
    for (uint32_t d = map->rank; d-- > 0;)
        put(t, "%" PRIu64 "%s", (uint64_t)map->dims[d] + 1, d ? " x " : "");
}

static void put_memory(struct text *t, const struct stroke *s, const struct access *before, uint64_t cell)
{
    uint16_t both = s->access.bytes & before->bytes;
    uint64_t host = cell * CELL + (uint64_t)__builtin_ctz(both), offset = host - (uintptr_t)s->host;
    uint64_t address = s->address + offset;
    struct pksim_mem_info info;
    if (s->shared) {
        put(t, "shared address 0x%" PRIx64, address);
        if (s->cta != s->warp->cta)
            put(t, " of CTA (%u, %u, %u)", s->cta->ctaid[0], s->cta->ctaid[1], s->cta->ctaid[2]);
        return;
    }
    put(t, "0x%" PRIx64, address);
    if (pksim_mem_query(s->warp->exec->config.mem, address, &info))
        put(t, " (byte %" PRIu64 " of %" PRIu64 " on device %u)", address - info.base, info.size, info.owner);
    if (s->map)
        put_element(t, s->map, address);
}

static const struct {
    const char *code, *words, *remedy;
} missings[] = {
#define MISSING(id, code, words, remedy) {code, words, remedy},
#include "sim/check/missing.def"
};

static void fill_other(struct pksim_fault *fault, const struct pksim_operation *o)
{
    const char *file = o->file < o->launch->file_count ? o->launch->files[o->file] : NULL;
    struct pksim_fault_side *side = &fault->other;
    *side = (struct pksim_fault_side){.device = o->launch->device, .warp = o->index, .ptx_line = o->ptx_line};
    memcpy(side->ctaid, o->ctaid, sizeof side->ctaid);
    snprintf(side->kernel, sizeof side->kernel, "%s", o->launch->kernel);
    if (!o->line || !file)
        return;
    snprintf(side->file, sizeof side->file, "%s", file);
    side->line = o->line;
    side->column = o->column;
}

void pksim_race_report(struct stroke *s, const struct access *before, uint64_t cell, enum missing missing)
{
    struct pksim_exec *exec = s->warp->exec;
    char words[1500];
    struct text t = {words, sizeof words, 0};
    put(&t, "%s %s %d bytes at ", subject(s->access.operation), verb(&s->access),
        __builtin_popcount(s->access.bytes & before->bytes));
    put_memory(&t, s, before, cell);
    put(&t, ", which %s %s:\n  ", subject(before->operation), verb(before));
    put_side(&t, before->operation);
    put(&t, "\n  missing: %s\n  help: %s", missings[missing].words, missings[missing].remedy);
    pksim_raise(exec, s->warp, PKSIM_FAULT_RACE, "%s", words);
    exec->fault.lane = s->lanes & (s->lanes - 1) ? -1 : __builtin_ctz(s->lanes);
    snprintf(exec->fault.code, sizeof exec->fault.code, "%s", missings[missing].code);
    fill_other(&exec->fault, before->operation);
}
