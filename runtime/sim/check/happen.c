// SPDX-License-Identifier: Apache-2.0
// Launches, warps and CTAs; barriers; what asynchronous work has come to.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check/inside.h"

static struct pksim_check *check_of(const struct pksim_warp *warp)
{
    return warp->check->launch->check;
}

static bool is_off(const struct pksim_warp *warp)
{
    return check_of(warp)->failed || warp->exec->faulted;
}

// ---- The checker
// ---------------------------------------------------------------------------------------------------

struct pksim_check *pksim_check_create(void)
{
    struct pksim_check *check = calloc(1, sizeof *check);
    if (check)
        check->next_launch = check->horizon = 1;
    return check;
}

void pksim_check_destroy(struct pksim_check *check)
{
    if (!check)
        return;
    pksim_cells_free(check);
    pksim_words_gone(check, NULL, UINT64_MAX);
    while (check->launches) {
        struct pksim_check_launch *next = check->launches->next;
        pksim_check_launch_release(check->launches);
        check->launches = next;
    }
    free(check);
}

void pksim_check_gone(struct pksim_check *check, const void *host, uint64_t size)
{
    pksim_cells_gone(check, host, size);
    pksim_words_gone(check, host, size);
}

// ---- What lies before a launch
// -------------------------------------------------------------------------------------

struct pksim_before {
    uint32_t references;
    struct pksim_check *check;
    struct knowledge known;
};

struct pksim_before *pksim_before_retain(struct pksim_before *order)
{
    if (order)
        order->references++;
    return order;
}

void pksim_before_release(struct pksim_before *order)
{
    if (!order || --order->references)
        return;
    pksim_knowledge_drop(&order->known);
    free(order);
}

static struct pksim_before *new_order(struct pksim_check *check)
{
    struct pksim_before *order = calloc(1, sizeof *order);
    if (!order) {
        check->failed = true;
        return NULL;
    }
    order->references = 1;
    order->check = check;
    return order;
}

struct pksim_before *pksim_before_join(struct pksim_before *a, struct pksim_before *b)
{
    if (!a || !b || a == b) {
        struct pksim_before *one = a ? a : b;
        if (a && b)
            pksim_before_release(b);
        return one;
    }
    struct pksim_before *sum = new_order(a->check);
    if (sum) {
        pksim_knowledge_join(a->check, &sum->known, &a->known);
        pksim_knowledge_join(a->check, &sum->known, &b->known);
    }
    pksim_before_release(a);
    pksim_before_release(b);
    return sum;
}

// ---- Launches
// ------------------------------------------------------------------------------------------------------

void pksim_check_launch_release(struct pksim_check_launch *launch)
{
    if (!launch || --launch->references)
        return;
    pksim_knowledge_drop(&launch->start);
    pksim_knowledge_drop(&launch->end);
    for (uint32_t i = 0; launch->files && i < launch->file_count; i++)
        free(launch->files[i]);
    free(launch->files);
    free(launch);
}

// Modules may go before reports are written: names are kept.
static bool copy_files(struct pksim_check_launch *launch, const struct pksim_ptx *ptx)
{
    launch->files = calloc(ptx->file_count + 1, sizeof *launch->files);
    launch->file_count = launch->files ? (uint32_t)ptx->file_count : 0;
    for (uint32_t i = 0; i < launch->file_count; i++) {
        if (!ptx->files[i].text)
            continue;
        launch->files[i] = strndup(ptx->files[i].text, ptx->files[i].length);
        if (!launch->files[i])
            return false;
    }
    return launch->files != NULL;
}

static bool lies_before(const struct pksim_check_launch *launch, const struct pksim_check_launch *other)
{
    bool whole;
    pksim_clock_find(other->start.clock[CLOCK_ORDER], launch->number, 0, &whole);
    return whole;
}

static bool can_retire(const struct pksim_check *check, const struct pksim_check_launch *launch)
{
    for (const struct pksim_check_launch *other = check->launches; other; other = other->next)
        if (other->running && !lies_before(launch, other))
            return false;
    return !launch->running;
}

// Launches that lie before all that run order themselves with whatever comes: forgets them.
static void retire(struct pksim_check *check)
{
    struct pksim_check_launch **link = &check->launches;
    check->horizon = check->next_launch;
    while (*link) {
        struct pksim_check_launch *launch = *link;
        if (can_retire(check, launch)) {
            launch->retired = true;
            *link = launch->next;
            pksim_check_launch_release(launch);
            continue;
        }
        check->horizon = launch->number < check->horizon ? launch->number : check->horizon;
        link = &launch->next;
    }
    if (!check->launches || (!check->launches->next && check->launches->number == check->horizon))
        pksim_cells_free(check);
}

bool pksim_check_launch_begin(struct pksim_exec *exec, struct pksim_run *run, struct pksim_before *after)
{
    struct pksim_check *check = exec->config.check;
    struct pksim_check_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return false;
    launch->references = 2; // the run's, and the list's
    launch->check = check;
    launch->number = check->next_launch++;
    launch->device = run->device;
    launch->running = true;
    launch->height = pksim_clock_height((uint64_t)run->grid[0] * run->grid[1] * run->grid[2] * run->warps);
    snprintf(launch->kernel, sizeof launch->kernel, "%s", run->function->name);
    if (after)
        pksim_knowledge_copy(&launch->start, &after->known);
    launch->next = check->launches;
    check->launches = launch;
    run->check = launch;
    if (!copy_files(launch, run->program->ptx))
        return false;
    retire(check);
    return true;
}

void pksim_check_launch_end(struct pksim_run *run)
{
    run->check->running = false;
}

bool pksim_check_is_awaited(const struct pksim_run *run)
{
    return !run->check->claimed;
}

void pksim_check_launch_free(struct pksim_run *run)
{
    run->check->running = false;
    pksim_check_launch_release(run->check);
    run->check = NULL;
}

struct pksim_before *pksim_exec_before(const struct pksim_exec *exec, uint64_t id)
{
    for (const struct pksim_run *run = exec->runs; run; run = run->next) {
        if (run->id != id || !run->check)
            continue;
        struct pksim_check_launch *launch = run->check;
        struct pksim_before *order = new_order(launch->check);
        launch->claimed = true;
        if (!order)
            return NULL;
        pksim_knowledge_join(launch->check, &order->known, &launch->start);
        pksim_knowledge_join(launch->check, &order->known, &launch->end);
        for (uint32_t c = 0; c < CLOCKS; c++)
            order->known.clock[c] =
                pksim_clock_whole(order->known.clock[c], launch->number, &launch->check->failed);
        return order;
    }
    return NULL;
}

// ---- CTAs and warps
// ------------------------------------------------------------------------------------------------

bool pksim_check_cta_begin(struct pksim_cta *cta)
{
    struct pksim_run *run = cta->run;
    struct pksim_check *check = run->check->check;
    uint64_t linear =
        cta->ctaid[0] + (uint64_t)run->grid[0] * (cta->ctaid[1] + (uint64_t)run->grid[1] * cta->ctaid[2]);
    cta->check = calloc(1, sizeof *cta->check);
    if (!cta->check)
        return false;
    cta->check->number = ++check->next_cta;
    if (!cta->cluster->check)
        cta->cluster->check = calloc(1, sizeof *cta->cluster->check);
    if (!cta->cluster->check)
        return false;
    cta->cluster->check->number = cta->cluster->check->number ? cta->cluster->check->number : check->next_cta;
    for (uint32_t i = 0; i < run->warps; i++) {
        struct pksim_check_warp *w = cta->warps[i].check = calloc(1, sizeof *w);
        if (!w)
            return false;
        w->launch = run->check;
        w->number = (uint32_t)(linear * run->warps + i);
        w->tick = 1;
        pksim_knowledge_copy(&w->view.now, &run->check->start);
    }
    return true;
}

static void drop_warp(struct pksim_check_warp *w)
{
    if (!w)
        return;
    pksim_view_drop(&w->view);
    for (uint32_t lane = 0; lane < PKSIM_LANES; lane++) {
        struct pksim_check_lane *l = &w->lanes[lane];
        if (l->view)
            pksim_view_drop(l->view);
        free(l->view);
        for (uint32_t i = 0; i < l->count; i++)
            pksim_operation_release(l->bulks[i].operation);
        free(l->bulks);
    }
    for (uint32_t i = 0; i < w->product_count; i++)
        pksim_operation_release(w->products[i].operation);
    free(w->products);
    free(w);
}

void pksim_check_cta_end(struct pksim_cta *cta)
{
    for (uint32_t i = 0; cta->warps && i < cta->warp_count; i++)
        drop_warp(cta->warps[i].check);
    if (cta->check) {
        for (uint32_t i = 0; i < PKSIM_NAMED_BARRIERS; i++) {
            pksim_knowledge_drop(&cta->check->barrier[i]);
            pksim_knowledge_drop(&cta->check->barrier_passed[i]);
        }
        while (cta->check->phases) {
            struct phase *next = cta->check->phases->next;
            pksim_happening_release(cta->check->phases->open);
            pksim_happening_release(cta->check->phases->last);
            free(cta->check->phases);
            cta->check->phases = next;
        }
        if (cta->shared.bytes)
            pksim_check_gone(cta->run->check->check, cta->shared.bytes, cta->shared.size);
    }
    free(cta->check);
    if (cta->rank || !cta->cluster->check)
        return;
    pksim_knowledge_drop(&cta->cluster->check->open);
    pksim_knowledge_drop(&cta->cluster->check->last);
    free(cta->cluster->check);
    cta->cluster->check = NULL;
}

// What it knew of its own launch does not matter: who is behind the launch is behind all of it.
static void end_with(struct pksim_check_launch *launch, const struct knowledge *known)
{
    struct pksim_check *check = launch->check;
    for (uint32_t c = 0; c < CLOCKS; c++) {
        struct pksim_clock *sum = pksim_clock_join(launch->end.clock[c], known->clock[c], check->horizon,
                                                   launch->number, &check->failed);
        pksim_clock_release(launch->end.clock[c]);
        launch->end.clock[c] = sum;
    }
}

void pksim_check_warp_end(struct pksim_warp *warp)
{
    struct pksim_check_warp *w = warp->check;
    struct pksim_check *check = w->launch->check;
    if (check->failed)
        return;
    end_with(w->launch, &w->view.now);
    for (uint32_t lane = 0; lane < PKSIM_LANES; lane++)
        if (w->lanes[lane].view)
            end_with(w->launch, &w->lanes[lane].view->now);
}

// ---- Barriers
// ------------------------------------------------------------------------------------------------------

void pksim_check_barrier_arrive(struct pksim_warp *warp, uint32_t id)
{
    struct knowledge known;
    if (is_off(warp))
        return;
    pksim_publish(warp, warp->live, &known);
    pksim_knowledge_join(check_of(warp), &warp->cta->check->barrier[id], &known);
    pksim_knowledge_drop(&known);
}

void pksim_check_barrier_open(struct pksim_cta *cta, uint32_t id)
{
    pksim_knowledge_drop(&cta->check->barrier_passed[id]);
    cta->check->barrier_passed[id] = cta->check->barrier[id];
    cta->check->barrier[id] = (struct knowledge){0};
}

// A warp may arrive at the barrier again before others have gone on; it cannot open again before.
void pksim_check_barrier_pass(struct pksim_warp *warp, uint32_t id)
{
    if (is_off(warp))
        return;
    pksim_acquire(warp, warp->live, &warp->cta->check->barrier_passed[id]);
    pksim_sync_lanes(warp);
}

void pksim_check_cluster_arrive(struct pksim_warp *warp, uint32_t lanes, bool releases)
{
    struct knowledge known;
    if (is_off(warp))
        return;
    pksim_publish(warp, lanes, &known);
    if (!releases) {
        for (uint32_t c = 0; c < CLOCK_ANY; c++) {
            pksim_clock_release(known.clock[c]);
            known.clock[c] = NULL;
        }
        PKSIM_EACH(lane, lanes)
        {
            const struct view *view = pksim_lane_view(warp->check, lane);
            pksim_knowledge_join(check_of(warp), &known, &view->released[PKSIM_SCOPE_CLUSTER]);
        }
    }
    pksim_knowledge_join(check_of(warp), &warp->cta->cluster->check->open, &known);
    pksim_knowledge_drop(&known);
}

void pksim_check_cluster_open(struct pksim_cluster *cluster)
{
    pksim_knowledge_drop(&cluster->check->last);
    cluster->check->last = cluster->check->open;
    cluster->check->open = (struct knowledge){0};
}

void pksim_check_cluster_pass(struct pksim_warp *warp, uint32_t lanes, bool acquires)
{
    if (!is_off(warp) && acquires)
        pksim_acquire(warp, lanes, &warp->cta->cluster->check->last);
}

// ---- Happenings
// ----------------------------------------------------------------------------------------------------

struct happening *pksim_happening_new(struct pksim_check *check)
{
    struct happening *h = calloc(1, sizeof *h);
    if (h)
        h->references = 1;
    else
        check->failed = true;
    return h;
}

struct happening *pksim_happening_retain(struct happening *h)
{
    if (h)
        h->references++;
    return h;
}

void pksim_happening_release(struct happening *h)
{
    if (!h || --h->references)
        return;
    for (uint32_t i = 0; i < h->count; i++)
        pksim_check_launch_release(h->seen[i].launch);
    pksim_knowledge_drop(&h->released);
    free(h->seen);
    free(h);
}

void pksim_happening_see(struct pksim_warp *warp, uint32_t lanes, struct happening *h)
{
    struct pksim_check_warp *w = warp->check;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->seen[i].launch == w->launch && h->seen[i].warp == w->number && !(lanes & ~h->seen[i].lanes))
            return;
    if (h->count == h->capacity) {
        uint32_t more = h->capacity ? h->capacity * 2 : 2;
        struct observation *seen = realloc(h->seen, more * sizeof *seen);
        if (!seen) {
            w->launch->check->failed = true;
            return;
        }
        h->seen = seen;
        h->capacity = more;
    }
    w->launch->references++;
    h->seen[h->count++] = (struct observation){w->launch, w->number, lanes, ++w->tick};
    w->tick++;
}

// ---- mbarriers
// -----------------------------------------------------------------------------------------------------

struct phase *pksim_phase_of(struct pksim_check *check, struct pksim_cta *cta, uint32_t offset)
{
    struct phase *p = cta->check->phases;
    while (p && p->offset != offset)
        p = p->next;
    if (p)
        return p;
    p = calloc(1, sizeof *p);
    struct happening *open = pksim_happening_new(check);
    if (!p || !open) {
        check->failed = true;
        free(p);
        pksim_happening_release(open);
        return NULL;
    }
    p->offset = offset;
    p->open = open;
    p->next = cta->check->phases;
    cta->check->phases = p;
    return p;
}

void pksim_check_mbarrier_init(struct pksim_warp *warp, uint32_t lane, struct pksim_cta *cta, uint32_t offset)
{
    (void)lane;
    if (is_off(warp))
        return;
    struct phase *p = pksim_phase_of(check_of(warp), cta, offset);
    struct happening *open = p ? pksim_happening_new(check_of(warp)) : NULL;
    if (!open)
        return;
    pksim_happening_release(p->open);
    pksim_happening_release(p->last);
    p->open = open;
    p->last = NULL;
}

void pksim_check_mbarrier_arrive(struct pksim_warp *warp, uint32_t lane, struct pksim_cta *cta,
                                 uint32_t offset, bool releases)
{
    struct knowledge known;
    struct phase *p = is_off(warp) ? NULL : pksim_phase_of(check_of(warp), cta, offset);
    if (!p)
        return;
    pksim_check_mbarrier_access(warp, 1u << lane, cta, offset, false);
    pksim_publish(warp, 1u << lane, &known);
    struct knowledge any = {0};
    any.clock[CLOCK_ANY] = known.clock[CLOCK_ANY];
    pksim_knowledge_join(check_of(warp), &p->open->released, releases ? &known : &any);
    pksim_knowledge_drop(&known);
}

void pksim_check_mbarrier_phase(struct pksim_cta *cta, uint32_t offset)
{
    struct pksim_check *check = cta->run->check->check;
    struct phase *p = check->failed ? NULL : pksim_phase_of(check, cta, offset);
    struct happening *open = p ? pksim_happening_new(check) : NULL;
    if (!open)
        return;
    pksim_happening_release(p->last);
    p->last = p->open;
    p->open = open;
}

void pksim_check_mbarrier_pass(struct pksim_warp *warp, uint32_t lanes, struct pksim_cta *cta,
                               uint32_t offset, bool acquires)
{
    struct phase *p = is_off(warp) ? NULL : pksim_phase_of(check_of(warp), cta, offset);
    pksim_check_mbarrier_access(warp, lanes, cta, offset, false);
    if (!p || !p->last || !acquires)
        return;
    pksim_acquire(warp, lanes, &p->last->released);
    pksim_happening_see(warp, lanes, p->last);
}

// ---- Operations
// ----------------------------------------------------------------------------------------------------

struct pksim_operation *pksim_operation_new(struct pksim_warp *warp, uint32_t lanes, enum operation_kind kind,
                                            bool asynchronous)
{
    const struct pksim_check_warp *w = warp->check;
    const struct pksim_insn *insn = &warp->code[warp->pc];
    const struct pksim_ptx_loc *loc = &warp->cta->run->program->ptx->locs[insn->loc];
    struct pksim_operation *o = calloc(1, sizeof *o);
    if (!o) {
        w->launch->check->failed = true;
        return NULL;
    }
    w->launch->references++;
    o->references = 1;
    o->kind = kind;
    o->launch = w->launch;
    o->warp = w->number;
    o->index = warp->index;
    o->lanes = lanes;
    o->tick = w->tick;
    o->asynchronous = asynchronous;
    memcpy(o->ctaid, warp->cta->ctaid, sizeof o->ctaid);
    o->ptx_line = insn->line;
    if (insn->loc) {
        o->file = loc->file;
        o->line = loc->line;
        o->column = loc->column;
    }
    return o;
}

struct pksim_operation *pksim_operation_retain(struct pksim_operation *o)
{
    o->references++;
    return o;
}

void pksim_operation_release(struct pksim_operation *o)
{
    if (!o || --o->references)
        return;
    for (uint32_t i = 0; i < o->part_count; i++)
        pksim_operation_release(o->parts[i]);
    for (uint32_t i = 0; i < ENDS; i++)
        pksim_happening_release(o->ends[i]);
    pksim_check_launch_release(o->launch);
    free(o);
}

// ---- Bulk groups and groups of products
// ----------------------------------------------------------------------------

static void end(struct pksim_operation *o, uint32_t which, struct happening *h)
{
    if (!o->ends[which])
        o->ends[which] = pksim_happening_retain(h);
}

void pksim_check_bulk_commit(struct pksim_warp *warp, uint32_t lane)
{
    warp->check->lanes[lane].group++;
}

void pksim_check_bulk_wait(struct pksim_warp *warp, uint32_t lane, uint32_t keep, bool reads)
{
    struct pksim_check_lane *l = &warp->check->lanes[lane];
    uint32_t left = 0;
    struct happening *h = l->count && !is_off(warp) ? pksim_happening_new(check_of(warp)) : NULL;
    if (!h)
        return;
    for (uint32_t i = 0; i < l->count; i++) {
        struct bulk *b = &l->bulks[i];
        bool over = b->group + keep < l->group;
        if (over)
            end(b->operation, END_READ, h);
        if (over && !reads) {
            end(b->operation, END_WRITE, h);
            pksim_operation_release(b->operation);
        } else {
            l->bulks[left++] = *b;
        }
    }
    l->count = left;
    pksim_happening_see(warp, 1u << lane, h);
    pksim_happening_release(h);
}

void pksim_check_wgmma_commit(struct pksim_warp *warp)
{
    warp->check->group++;
}

void pksim_check_wgmma_wait(struct pksim_warp *warp, uint32_t keep)
{
    struct pksim_check_warp *w = warp->check;
    uint32_t left = 0;
    struct happening *h = w->product_count && !is_off(warp) ? pksim_happening_new(check_of(warp)) : NULL;
    if (!h)
        return;
    for (uint32_t i = 0; i < w->product_count; i++) {
        if (w->products[i].group + keep < w->group) {
            end(w->products[i].operation, END_READ, h);
            pksim_operation_release(w->products[i].operation);
        } else {
            w->products[left++] = w->products[i];
        }
    }
    w->product_count = left;
    pksim_happening_see(warp, warp->live, h);
    pksim_happening_release(h);
}

void pksim_check_copy_arrives(struct pksim_operation *o, uint32_t n, struct pksim_cta *cta, uint32_t offset)
{
    struct pksim_check *check = o->launch->check;
    struct phase *p = check->failed ? NULL : pksim_phase_of(check, cta, offset);
    if (!p)
        return;
    // The source is read when any destination is written.
    end(o, END_READ, p->open);
    end(o->part_count ? o->parts[n] : o, END_WRITE, p->open);
}

void pksim_check_copy_free(struct pksim_operation *o)
{
    pksim_operation_release(o);
}
