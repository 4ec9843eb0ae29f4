// SPDX-License-Identifier: Apache-2.0
// Launches become clusters of CTAs on multiprocessors, and cease to be.
#include <stdlib.h>

#include "sim/check/check.h"
#include "sim/exec/lanes.h"

void pksim_limits_default(struct pksim_limits *limits)
{
    *limits = (struct pksim_limits){
        .sms = 132,
        .shared_per_sm = 233472,
        .shared_per_cta = 232448,
        .shared_reserved = 1024,
        .threads_per_sm = 2048,
        .threads_per_cta = 1024,
        .ctas_per_sm = 32,
        .registers_per_sm = 65536,
    };
}

// ---- What a CTA takes
// ----------------------------------------------------------------------------------------------

// Registers of a thread. What ptxas would use is not known; it never exceeds what lets a CTA of the declared
// size fit.
uint32_t pksim_function_registers(const struct pksim_function *function)
{
    const struct pksim_ptx_func *f = function->entry;
    uint32_t most = 255, estimate = function->program.register_words + 8;
    uint64_t threads = (uint64_t)f->maxntid[0] * f->maxntid[1] * f->maxntid[2];
    if (!threads)
        threads = (uint64_t)f->reqntid[0] * f->reqntid[1] * f->reqntid[2];
    if (f->max_registers)
        most = f->max_registers;
    if (threads) {
        uint64_t fit = 65536 / ((threads + 31) / 32 * 32) / (f->min_ctas ? f->min_ctas : 1);
        most = fit < most ? (uint32_t)fit : most;
    }
    estimate = estimate < most ? estimate : most;
    return estimate < 8 ? 8 : estimate & ~7u;
}

static struct pksim_sm cta_needs(const struct pksim_limits *limits, const struct pksim_function *function,
                                 uint32_t threads, uint32_t dynamic_shared)
{
    const struct pksim_program *program = &function->program;
    uint32_t warps = (threads + 31) / 32;
    uint32_t shared = program->dynamic_shared_offset + dynamic_shared;
    return (struct pksim_sm){
        .shared = (shared + limits->shared_reserved + 127) & ~127u,
        .threads = warps * 32,
        .ctas = 1,
        .registers = warps * ((pksim_function_registers(function) * 32 + 255) & ~255u),
    };
}

static struct pksim_sm sm_room(const struct pksim_limits *limits)
{
    return (struct pksim_sm){limits->shared_per_sm, limits->threads_per_sm, limits->ctas_per_sm,
                             limits->registers_per_sm};
}

static bool fits(const struct pksim_sm *room, const struct pksim_sm *needs)
{
    return needs->shared <= room->shared && needs->threads <= room->threads && needs->ctas <= room->ctas &&
           needs->registers <= room->registers;
}

static void take(struct pksim_sm *room, const struct pksim_sm *needs)
{
    room->shared -= needs->shared;
    room->threads -= needs->threads;
    room->ctas -= needs->ctas;
    room->registers -= needs->registers;
}

static void give(struct pksim_sm *room, const struct pksim_sm *needs)
{
    room->shared += needs->shared;
    room->threads += needs->threads;
    room->ctas += needs->ctas;
    room->registers += needs->registers;
}

uint32_t pksim_occupancy(const struct pksim_limits *limits, const struct pksim_function *function,
                         uint32_t threads, uint32_t dynamic_shared)
{
    struct pksim_sm room = sm_room(limits), needs = cta_needs(limits, function, threads, dynamic_shared);
    uint32_t count = 0;
    if (!threads || threads > limits->threads_per_cta ||
        (uint64_t)function->program.dynamic_shared_offset + dynamic_shared > limits->shared_per_cta)
        return 0;
    while (fits(&room, &needs)) {
        take(&room, &needs);
        count++;
    }
    return count;
}

// ---- CTAs
// ----------------------------------------------------------------------------------------------------------

static struct pksim_sm run_needs(const struct pksim_exec *exec, const struct pksim_run *run)
{
    return cta_needs(&exec->config.limits, run->function, run->threads, run->dynamic_shared);
}

static bool init_warp(struct pksim_exec *exec, struct pksim_cta *cta, uint32_t index)
{
    struct pksim_run *run = cta->run;
    const struct pksim_program *program = run->program;
    struct pksim_warp *w = &cta->warps[index];
    uint32_t threads = run->threads - index * PKSIM_LANES;
    w->local = program->local_bytes ? malloc((size_t)program->local_bytes * PKSIM_LANES) : NULL;
    if (program->local_bytes && !w->local)
        return false;
    if (w->local)
        memset(w->local, PKSIM_POISON, (size_t)program->local_bytes * PKSIM_LANES);
    w->bank[1] = program->constants;
    w->code = program->insns;
    w->exec = exec;
    w->cta = cta;
    w->index = index;
    w->live = threads >= PKSIM_LANES ? UINT32_MAX : (1u << threads) - 1;
    w->frag_count = 1;
    w->frags[0] = (struct pksim_frag){.pc = 0, .mask = w->live};
    w->state = PKSIM_WARP_WAITING;
    return true;
}

static bool init_cta(struct pksim_exec *exec, struct pksim_cta *cta)
{
    struct pksim_run *run = cta->run;
    cta->warps = calloc(run->warps, sizeof *cta->warps);
    if (!cta->warps)
        return false;
    cta->warp_count = cta->live_warps = run->warps;
    for (uint32_t i = 0; i < run->warps; i++) {
        if (!init_warp(exec, cta, i))
            return false;
    }
    return !exec->config.check || pksim_check_cta_begin(cta);
}

static void free_warp(struct pksim_warp *w)
{
    pksim_warp_bulk_free(w);
    free(w->local);
}

void pksim_cluster_free(struct pksim_exec *exec, struct pksim_cluster *cluster)
{
    for (uint32_t c = 0; c < cluster->count; c++) {
        struct pksim_cta *cta = &cluster->ctas[c];
        if (cta->check)
            pksim_check_cta_end(cta);
        for (uint32_t i = 0; cta->warps && i < cta->warp_count; i++)
            free_warp(&cta->warps[i]);
        free(cta->warps);
        pksim_wgmma_free(cta);
        pksim_cta_give_storage(exec, cta);
    }
    free(cluster->ctas);
    free(cluster);
}

// Where cluster number `index` and CTA `rank` in it stand in the grid: x runs fastest in both.
static void place_in_grid(const struct pksim_run *run, uint64_t index, uint32_t rank, uint32_t id[3],
                          uint32_t ctaid[3])
{
    uint64_t outer = index, inner = rank;
    for (int axis = 0; axis < 3; axis++) {
        id[axis] = (uint32_t)(outer % run->clusters[axis]);
        ctaid[axis] = id[axis] * run->cluster[axis] + (uint32_t)(inner % run->cluster[axis]);
        outer /= run->clusters[axis];
        inner /= run->cluster[axis];
    }
}

static struct pksim_cluster *make_cluster(struct pksim_exec *exec, struct pksim_run *run, const uint32_t *sms)
{
    uint32_t count = run->cluster[0] * run->cluster[1] * run->cluster[2];
    struct pksim_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return NULL;
    cluster->run = run;
    cluster->count = cluster->live_ctas = count;
    cluster->ctas = calloc(count, sizeof *cluster->ctas);
    for (uint32_t c = 0; cluster->ctas && c < count; c++) {
        struct pksim_cta *cta = &cluster->ctas[c];
        cta->run = run;
        cta->cluster = cluster;
        cta->rank = c;
        cta->sm = sms[c];
        place_in_grid(run, run->cluster_next, c, cluster->id, cta->ctaid);
        if (!init_cta(exec, cta)) {
            pksim_cluster_free(exec, cluster);
            return NULL;
        }
    }
    return cluster;
}

static void link_cluster(struct pksim_run *run, struct pksim_cluster *cluster)
{
    cluster->next = run->live;
    cluster->link = &run->live;
    if (run->live)
        run->live->link = &cluster->next;
    run->live = cluster;
}

// The emptiest multiprocessor with room; UINT32_MAX if there is none.
static uint32_t find_sm(const struct pksim_exec *exec, const struct pksim_sm *sms,
                        const struct pksim_sm *needs)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < exec->config.limits.sms; i++) {
        if (fits(&sms[i], needs) && (best == UINT32_MAX || sms[i].ctas > sms[best].ctas))
            best = i;
    }
    return best;
}

enum { MAX_CLUSTER = 16 };

// Takes room for one cluster. False: not enough, and nothing is taken.
static bool take_room(struct pksim_exec *exec, struct pksim_run *run, uint32_t sms[MAX_CLUSTER])
{
    struct pksim_sm *room = exec->sms + (size_t)run->device * exec->config.limits.sms,
                    needs = run_needs(exec, run);
    uint32_t count = run->cluster[0] * run->cluster[1] * run->cluster[2];
    for (uint32_t c = 0; c < count; c++) {
        sms[c] = find_sm(exec, room, &needs);
        if (sms[c] == UINT32_MAX) {
            while (c-- > 0)
                give(&room[sms[c]], &needs);
            return false;
        }
        take(&room[sms[c]], &needs);
    }
    return true;
}

static bool place_one(struct pksim_exec *exec, struct pksim_run *run)
{
    uint32_t sms[MAX_CLUSTER];
    if (!take_room(exec, run, sms))
        return false;
    struct pksim_cluster *cluster = make_cluster(exec, run, sms);
    if (!cluster) {
        pksim_raise(exec, NULL, PKSIM_FAULT_OUT_OF_MEMORY, "a cluster of CTAs");
        return false;
    }
    link_cluster(run, cluster);
    run->cluster_next++;
    for (uint32_t c = 0; c < cluster->count; c++) {
        for (uint32_t i = 0; i < run->warps; i++)
            pksim_set_state(&cluster->ctas[c].warps[i], PKSIM_WARP_READY);
    }
    return true;
}

// True when all of the run's clusters fit at this moment.
static bool all_fit(struct pksim_exec *exec, struct pksim_run *run)
{
    struct pksim_sm *room = exec->sms + (size_t)run->device * exec->config.limits.sms,
                    needs = run_needs(exec, run);
    uint64_t ctas = 0, count = (uint64_t)run->cluster[0] * run->cluster[1] * run->cluster[2];
    for (uint32_t i = 0; i < exec->config.limits.sms; i++) {
        struct pksim_sm left = room[i];
        while (fits(&left, &needs)) {
            take(&left, &needs);
            ctas++;
        }
    }
    return ctas / count >= run->cluster_total;
}

bool pksim_place_ctas(struct pksim_exec *exec)
{
    bool any = false;
    for (struct pksim_run *run = exec->runs; run && !exec->faulted; run = run->next) {
        if (run->cooperative && !run->cluster_next && run->cluster_total && !all_fit(exec, run))
            continue;
        while (run->cluster_next < run->cluster_total && place_one(exec, run))
            any = true;
    }
    return any;
}

// ---- The end
// -------------------------------------------------------------------------------------------------------

static void unlink_cluster(struct pksim_cluster *cluster)
{
    *cluster->link = cluster->next;
    if (cluster->next)
        cluster->next->link = cluster->link;
}

void pksim_cluster_settle(struct pksim_cluster *cluster)
{
    struct pksim_run *run = cluster->run;
    if (cluster->live_ctas || cluster->async_pending)
        return;
    struct pksim_exec *exec = cluster->ctas[0].warps[0].exec;
    struct pksim_sm *room = exec->sms + (size_t)run->device * exec->config.limits.sms,
                    needs = run_needs(exec, run);
    for (uint32_t c = 0; c < cluster->count; c++)
        give(&room[cluster->ctas[c].sm], &needs);
    unlink_cluster(cluster);
    pksim_cluster_free(exec, cluster);
    run->cluster_left--;
    if (!run->cluster_left && run->check)
        pksim_check_launch_end(run);
    pksim_place_ctas(exec);
}

void pksim_warp_exit(struct pksim_warp *w)
{
    struct pksim_cta *cta = w->cta;
    struct pksim_cluster *cluster = cta->cluster;
    pksim_wgmma_exit(w);
    if (w->check)
        pksim_check_warp_end(w);
    pksim_set_state(w, PKSIM_WARP_DONE);
    cta->live_warps--;
    pksim_barrier_recheck(cta);
    if (cluster->count > 1)
        pksim_cluster_barrier_recheck(cluster);
    if (!cta->live_warps) {
        cluster->live_ctas--;
        if (cta->async_shared)
            pksim_raise(w->exec, w, PKSIM_FAULT_IN_FLIGHT,
                        "the CTA ends while %u bulk copies still read or write its shared memory",
                        cta->async_shared);
    }
    pksim_cluster_settle(cluster);
}

// ---- Adding launches
// -----------------------------------------------------------------------------------------------

static bool shape_is_good(const struct pksim_exec *exec, const struct pksim_launch *launch,
                          const uint32_t cluster[3])
{
    const struct pksim_ptx_func *f = launch->function->entry;
    uint64_t threads = 1, most = 1, ctas = 1;
    for (int i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->block[i] || launch->grid[i] % cluster[i])
            return false;
        if (f->reqntid[0] && f->reqntid[i] != launch->block[i])
            return false;
        threads *= launch->block[i];
        most *= f->maxntid[i];
        ctas *= cluster[i];
    }
    return ctas <= MAX_CLUSTER && (!f->maxntid[0] || threads <= most) &&
           launch->device < exec->config.devices && launch->grid[1] <= 65535 && launch->grid[2] <= 65535 &&
           (uint64_t)launch->grid[0] <= INT32_MAX;
}

static void choose_cluster(const struct pksim_launch *launch, uint32_t cluster[3])
{
    for (int i = 0; i < 3; i++) {
        cluster[i] = launch->cluster[i] ? launch->cluster[i] : launch->function->entry->cluster[i];
        if (!cluster[i])
            cluster[i] = 1;
    }
}

static void free_run(struct pksim_run *run)
{
    if (run->check)
        pksim_check_launch_free(run);
    free(run->params);
    free(run->variables);
    free(run);
}

static struct pksim_run *make_run(const struct pksim_launch *launch, const uint32_t cluster[3])
{
    struct pksim_run *run = calloc(1, sizeof *run);
    size_t variables = launch->module->ptx.var_count;
    if (!run)
        return NULL;
    run->params = malloc(launch->param_bytes + 16);
    run->variables = calloc(variables + 1, sizeof *run->variables);
    if (!run->params || !run->variables) {
        free_run(run);
        return NULL;
    }
    if (launch->param_bytes)
        memcpy(run->params, launch->params, launch->param_bytes);
    if (variables && launch->variables)
        memcpy(run->variables, launch->variables, variables * sizeof *run->variables);
    run->module = launch->module;
    run->function = launch->function;
    run->program = &launch->function->program;
    run->device = launch->device;
    run->cooperative = launch->cooperative;
    run->dynamic_shared = launch->dynamic_shared;
    run->shared_bytes = run->program->dynamic_shared_offset + launch->dynamic_shared;
    run->threads = launch->block[0] * launch->block[1] * launch->block[2];
    run->warps = (run->threads + 31) / 32;
    run->cluster_total = 1;
    for (int i = 0; i < 3; i++) {
        run->grid[i] = launch->grid[i];
        run->block[i] = launch->block[i];
        run->cluster[i] = cluster[i];
        run->clusters[i] = launch->grid[i] / cluster[i];
        run->cluster_total *= run->clusters[i];
    }
    run->cluster_left = run->cluster_total;
    return run;
}

enum pksim_launch_status pksim_exec_add(struct pksim_exec *exec, const struct pksim_launch *launch,
                                        uint64_t *id)
{
    uint32_t cluster[3];
    choose_cluster(launch, cluster);
    if (!shape_is_good(exec, launch, cluster))
        return PKSIM_LAUNCH_BAD_SHAPE;
    if (launch->param_bytes != launch->function->entry->param_bytes)
        return PKSIM_LAUNCH_BAD_PARAMS;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (threads > exec->config.limits.threads_per_cta)
        return PKSIM_LAUNCH_BAD_SHAPE;
    uint64_t occupancy =
        pksim_occupancy(&exec->config.limits, launch->function, (uint32_t)threads, launch->dynamic_shared);
    if (!occupancy)
        return PKSIM_LAUNCH_TOO_MUCH;
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (launch->cooperative && ctas > occupancy * exec->config.limits.sms)
        return PKSIM_LAUNCH_NOT_RESIDENT;
    pksim_runs_free(exec, true);
    struct pksim_run *run = make_run(launch, cluster), **tail = &exec->runs;
    if (!run)
        return PKSIM_LAUNCH_NO_MEMORY;
    if (exec->config.check && !pksim_check_launch_begin(exec, run, launch->after)) {
        free_run(run);
        return PKSIM_LAUNCH_NO_MEMORY;
    }
    while (*tail)
        tail = &(*tail)->next;
    *tail = run;
    run->id = *id = ++exec->next_id;
    return PKSIM_LAUNCH_OK;
}

bool pksim_exec_finished(const struct pksim_exec *exec, uint64_t id)
{
    for (const struct pksim_run *run = exec->runs; run; run = run->next) {
        if (run->id == id)
            return !run->cluster_left;
    }
    return true;
}

void pksim_runs_free(struct pksim_exec *exec, bool finished_only)
{
    struct pksim_run **link = &exec->runs;
    while (*link) {
        struct pksim_run *run = *link;
        bool wanted = run->cluster_left || (run->check && pksim_check_is_awaited(run));
        if (finished_only && wanted) {
            link = &run->next;
            continue;
        }
        while (run->live) {
            struct pksim_cluster *cluster = run->live;
            run->live = cluster->next;
            pksim_cluster_free(exec, cluster);
        }
        *link = run->next;
        free_run(run);
    }
}
