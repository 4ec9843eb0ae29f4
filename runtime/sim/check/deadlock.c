// SPDX-License-Identifier: Apache-2.0
// Deadlock: every warp waits and nothing is in flight. Says who waits where and for what; warps that wait at
// the same place for the same thing are one line.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/exec/machine.h"

enum { MAX_LINES = 24 };

// One place where warps wait.
struct waiter {
    const struct pksim_cta *cta; // the first
    const struct pksim_warp *warp;
    const struct pksim_frag *frag;
    uint32_t ctas, warps, last_warp;
};

struct report {
    struct waiter waiters[MAX_LINES];
    uint32_t count, left_out;
    char *out;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(r->out + r->used, r->size - r->used, format, args);
    va_end(args);
    if (n > 0)
        r->used += (size_t)n < r->size - r->used ? (size_t)n : r->size - r->used - 1;
}

static bool polls(const struct pksim_warp *w)
{
    return w->state == PKSIM_WARP_PARKED && w->poll.count;
}

static bool same_poll(const struct pksim_warp *a, const struct pksim_warp *b)
{
    return polls(a) == polls(b) && (!polls(a) || a->poll.words[0].value == b->poll.words[0].value);
}

static bool same_place(const struct waiter *a, const struct pksim_warp *w, const struct pksim_frag *frag)
{
    return a->cta->run == w->cta->run && a->frag->pc == frag->pc && a->frag->wait.kind == frag->wait.kind &&
           a->frag->wait.address == frag->wait.address && a->frag->wait.id == frag->wait.id &&
           same_poll(a->warp, w);
}

static void note(struct report *r, const struct pksim_warp *w, const struct pksim_frag *frag)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct waiter *a = &r->waiters[i];
        if (!same_place(a, w, frag))
            continue;
        a->warps++;
        if (a->cta == w->cta)
            a->last_warp = w->index;
        a->ctas += w->cta != a->cta && (a->warps == 1 || w->index == a->warp->index);
        return;
    }
    if (r->count == MAX_LINES) {
        r->left_out++;
        return;
    }
    r->waiters[r->count++] = (struct waiter){w->cta, w, frag, 1, 1, w->index};
}

static void note_all(struct report *r, const struct pksim_exec *exec)
{
    for (const struct pksim_run *run = exec->runs; run; run = run->next) {
        for (const struct pksim_cluster *cluster = run->live; cluster; cluster = cluster->next) {
            for (uint32_t c = 0; c < cluster->count; c++) {
                for (uint32_t k = 0; k < run->warps; k++) {
                    const struct pksim_warp *w = &cluster->ctas[c].warps[k];
                    for (uint32_t i = 0; w->live && i < w->frag_count; i++)
                        note(r, w, &w->frags[i]);
                }
            }
        }
    }
}

static void put_polls(struct report *r, const struct pksim_exec *exec, const struct pksim_warp *w)
{
    put(r, "polls in vain");
    for (uint32_t i = 0; i < w->poll.count; i++) {
        struct pksim_mem_info info;
        uint64_t address = w->poll.words[i].address;
        put(r, "%s 0x%" PRIx64, i ? "," : "", address);
        if (pksim_mem_query(exec->config.mem, address, &info) && info.owner != PKSIM_HOST)
            put(r, " (memory of device %u)", info.owner);
        put(r, " = %" PRIu64, w->poll.words[i].value);
    }
}

static void put_wait(struct report *r, const struct pksim_exec *exec, const struct waiter *a)
{
    const struct pksim_wait *wait = &a->frag->wait;
    char words[160];
    switch (wait->kind) {
    case PKSIM_WAIT_NONE:
        if (polls(a->warp))
            put_polls(r, exec, a->warp);
        else
            put(r, "can run");
        break;
    case PKSIM_WAIT_CONVERGE:
        put(r, "lanes 0x%08x wait for lanes 0x%08x of the same warp", a->frag->mask,
            wait->mask & ~a->frag->mask);
        break;
    case PKSIM_WAIT_WARP_SYNC:
        put(r, "bar.warp.sync: lanes 0x%08x wait for lanes 0x%08x", a->frag->mask,
            wait->mask & ~a->frag->mask);
        break;
    case PKSIM_WAIT_BARRIER:
        put(r, "waits at barrier %u: %u threads have arrived", wait->id, a->cta->barriers[wait->id].arrived);
        if (a->cta->barriers[wait->id].expected)
            put(r, " of %u", a->cta->barriers[wait->id].expected);
        break;
    case PKSIM_WAIT_CLUSTER:
        put(r, "waits at the cluster barrier: %u threads have arrived", a->cta->cluster->arrived);
        break;
    case PKSIM_WAIT_MBARRIER:
        pksim_mbarrier_describe(a->cta, wait->address, words, sizeof words);
        put(r, "waits for parity %u of the mbarrier at shared address 0x%x, %s", wait->parity, wait->address,
            words);
        break;
    case PKSIM_WAIT_BULK:
        put(r, "waits until at most %u bulk groups are left", wait->id);
        break;
    case PKSIM_WAIT_WGMMA:
        put(r, "waits for matrix products that other warps of the warpgroup have not issued");
        break;
    }
}

static void put_waiter(struct report *r, const struct pksim_exec *exec, const struct waiter *a)
{
    struct pksim_fault place;
    pksim_place(a->cta->run, a->frag->pc, &place);
    put(r, "\n  ");
    if (place.file[0])
        put(r, "%s:%u:%u: ", place.file, place.line, place.column);
    put(r, "%s, device %u, CTA (%u, %u, %u)", a->cta->run->function->name, a->cta->run->device,
        a->cta->ctaid[0], a->cta->ctaid[1], a->cta->ctaid[2]);
    if (a->ctas > 1)
        put(r, " and %u more", a->ctas - 1);
    put(r, ", warp%s %u", a->last_warp != a->warp->index ? "s" : "", a->warp->index);
    if (a->last_warp != a->warp->index)
        put(r, " to %u", a->last_warp);
    put(r, " (PTX line %u): ", place.ptx_line);
    put_wait(r, exec, a);
}

static uint64_t ctas_not_placed(const struct pksim_exec *exec)
{
    uint64_t count = 0;
    for (const struct pksim_run *run = exec->runs; run; run = run->next)
        count +=
            (run->cluster_total - run->cluster_next) * run->cluster[0] * run->cluster[1] * run->cluster[2];
    return count;
}

// The fault stands at the first waiter: the one of the first launch.
void pksim_deadlock_report(struct pksim_exec *exec)
{
    struct report r = {0};
    note_all(&r, exec);
    pksim_raise(exec, r.count ? r.waiters[0].warp : NULL, PKSIM_FAULT_DEADLOCK, "nothing can run any more");
    r.out = exec->fault.text;
    r.size = sizeof exec->fault.text;
    r.used = strlen(r.out);
    if (ctas_not_placed(exec))
        put(&r, "; %" PRIu64 " CTAs have not started for want of room", ctas_not_placed(exec));
    for (uint32_t i = 0; i < r.count; i++)
        put_waiter(&r, exec, &r.waiters[i]);
    if (r.left_out)
        put(&r, "\n  and %u more", r.left_out);
}
