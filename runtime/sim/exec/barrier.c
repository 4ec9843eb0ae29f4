// SPDX-License-Identifier: Apache-2.0
// Named barriers of a CTA, warp barriers, cluster barriers (PTX ISA 9.7.13.1 to 9.7.13.4), setmaxnreg.
#include "sim/check/check.h"
#include "sim/exec/decode.h"
#include "sim/exec/lanes.h"

enum bar_kind { BAR_SYNC, BAR_ARRIVE, BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR };

struct bar_op {
    enum bar_kind kind;
    pksim_place_t id, threads; // threads: PKSIM_NO_PLACE means the whole CTA
    pksim_place_t predicate;
    bool negated;
};

// ---- Named barriers
// ------------------------------------------------------------------------------------------------

static uint32_t needed(const struct pksim_cta *cta, const struct pksim_barrier *barrier)
{
    return barrier->expected ? barrier->expected : cta->live_warps * PKSIM_LANES;
}

static void release_barrier(struct pksim_cta *cta, uint32_t id)
{
    struct pksim_barrier *barrier = &cta->barriers[id];
    barrier->result_count = barrier->votes;
    barrier->result_total = barrier->voters;
    barrier->arrived = barrier->votes = barrier->voters = 0;
    barrier->in_use = false;
    if (cta->check)
        pksim_check_barrier_open(cta, id);
    for (uint32_t k = 0; k < cta->warp_count; k++) {
        struct pksim_warp *w = &cta->warps[k];
        for (uint32_t i = 0; i < w->frag_count; i++) {
            struct pksim_frag *frag = &w->frags[i];
            if (frag->wait.kind != PKSIM_WAIT_BARRIER || frag->wait.id != id)
                continue;
            frag->wait.released = true;
            pksim_wake(w, frag);
        }
    }
}

void pksim_barrier_recheck(struct pksim_cta *cta)
{
    for (uint32_t id = 0; id < PKSIM_NAMED_BARRIERS; id++) {
        struct pksim_barrier *barrier = &cta->barriers[id];
        if (barrier->in_use && cta->live_warps && barrier->arrived >= needed(cta, barrier))
            release_barrier(cta, id);
    }
}

static bool uniform32(const struct pksim_warp *w, pksim_place_t place, uint32_t mask, uint32_t *value)
{
    const uint32_t *lanes = pksim_at(w, place);
    *value = lanes[__builtin_ctz(mask)];
    PKSIM_EACH(lane, mask)
    {
        if (lanes[lane] != *value)
            return false;
    }
    return true;
}

static bool barrier_operands(struct pksim_warp *w, const struct bar_op *op, uint32_t mask, uint32_t *id,
                             uint32_t *threads)
{
    *threads = 0;
    if (!uniform32(w, op->id, mask, id) ||
        (op->threads != PKSIM_NO_PLACE && !uniform32(w, op->threads, mask, threads))) {
        pksim_raise(w->exec, w, PKSIM_FAULT_BARRIER,
                    "the lanes of the warp name different barriers or counts");
        return false;
    }
    if (*id >= PKSIM_NAMED_BARRIERS) {
        pksim_raise(w->exec, w, PKSIM_FAULT_BARRIER, "barrier %u; there are 0 to 15", *id);
        return false;
    }
    if (op->threads != PKSIM_NO_PLACE && (!*threads || *threads % PKSIM_LANES)) {
        pksim_raise(w->exec, w, PKSIM_FAULT_BARRIER,
                    "barrier %u with %u threads, which is not a multiple of the warp", *id, *threads);
        return false;
    }
    return true;
}

// The warp arrives, as a whole: a partial warp counts as 32 threads.
static bool arrive(struct pksim_warp *w, uint32_t id, uint32_t threads)
{
    struct pksim_barrier *barrier = &w->cta->barriers[id];
    if (barrier->in_use && barrier->expected != threads) {
        pksim_raise(w->exec, w, PKSIM_FAULT_BARRIER,
                    "barrier %u is used with %u threads here and %u elsewhere", id, threads,
                    barrier->expected);
        return false;
    }
    barrier->in_use = true;
    barrier->expected = threads;
    barrier->arrived += PKSIM_LANES;
    return true;
}

static void write_reduction(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask, uint32_t id)
{
    const struct bar_op *op = i->more;
    const struct pksim_barrier *barrier = &w->cta->barriers[id];
    if (op->kind == BAR_RED_POPC) {
        PKSIM_EACH(lane, mask)
        pksim_set(w, i->dst, 4, (int)lane, barrier->result_count);
        return;
    }
    bool value =
        op->kind == BAR_RED_AND ? barrier->result_count == barrier->result_total : barrier->result_count > 0;
    pksim_set_mask(w, i->dst, mask, value ? mask : 0);
}

static void vote_at(struct pksim_warp *w, const struct bar_op *op, uint32_t mask, uint32_t id)
{
    struct pksim_barrier *barrier = &w->cta->barriers[id];
    uint32_t predicate = pksim_get_mask(w, op->predicate);
    barrier->votes += (uint32_t)__builtin_popcount((op->negated ? ~predicate : predicate) & mask);
    barrier->voters += (uint32_t)__builtin_popcount(mask);
}

// All lanes of the warp that live gather first, whatever the form: an arrival is one of the whole warp.
static enum pksim_step run_bar(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct bar_op *op = i->more;
    struct pksim_wait *wait = &w->frags[w->current].wait;
    uint32_t id, threads;
    if (wait->released) {
        wait->released = false;
        if (w->check)
            pksim_check_barrier_pass(w, wait->id);
        if (op->kind >= BAR_RED_POPC)
            write_reduction(w, i, mask, wait->id);
        return PKSIM_STEP_NEXT;
    }
    if (!pksim_converge(w, &mask, UINT32_MAX))
        return PKSIM_STEP_BLOCK;
    if (!barrier_operands(w, op, mask, &id, &threads) || !arrive(w, id, threads))
        return PKSIM_STEP_STOP;
    if (op->kind >= BAR_RED_POPC)
        vote_at(w, op, mask, id);
    pksim_note_effect(w);
    if (w->check)
        pksim_check_barrier_arrive(w, id);
    if (op->kind != BAR_ARRIVE)
        pksim_wait_here(w, PKSIM_WAIT_BARRIER)->id = id;
    pksim_barrier_recheck(w->cta);
    wait = &w->frags[w->current].wait;
    if (op->kind == BAR_ARRIVE)
        return PKSIM_STEP_NEXT;
    if (!wait->released)
        return PKSIM_STEP_BLOCK;
    wait->released = false;
    if (w->check)
        pksim_check_barrier_pass(w, id);
    if (op->kind >= BAR_RED_POPC)
        write_reduction(w, i, mask, id);
    return PKSIM_STEP_NEXT;
}

// ---- bar.warp.sync
// -------------------------------------------------------------------------------------------------

// Lanes may stand at different bar.warp.sync instructions with the same mask.
static uint32_t lanes_waiting(const struct pksim_warp *w, uint32_t need)
{
    uint32_t here = w->active;
    for (uint32_t i = 0; i < w->frag_count; i++) {
        const struct pksim_frag *frag = &w->frags[i];
        if (i != w->current && frag->wait.kind == PKSIM_WAIT_WARP_SYNC && frag->wait.mask == need)
            here |= frag->mask;
    }
    return here;
}

static void release_warp_sync(struct pksim_warp *w, uint32_t need)
{
    for (uint32_t i = 0; i < w->frag_count; i++) {
        struct pksim_frag *frag = &w->frags[i];
        if (i == w->current || frag->wait.kind != PKSIM_WAIT_WARP_SYNC || frag->wait.mask != need)
            continue;
        frag->wait.released = true;
        pksim_wake(w, frag);
    }
}

static enum pksim_step run_warp_sync(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    struct pksim_wait *wait = &w->frags[w->current].wait;
    uint32_t need;
    if (wait->released) {
        wait->released = false;
        return PKSIM_STEP_NEXT;
    }
    if (!uniform32(w, i->src[0], mask, &need) || (mask & ~need)) {
        pksim_raise(w->exec, w, PKSIM_FAULT_DIVERGENCE, "a lane that is not in the mask of bar.warp.sync");
        return PKSIM_STEP_STOP;
    }
    if (mask != w->active) {
        pksim_split(w, w->pc + 1, w->active & ~mask);
        w->active = mask;
    }
    if ((lanes_waiting(w, need) & need & w->live) == (need & w->live)) {
        release_warp_sync(w, need);
        if (w->check)
            pksim_check_warp_sync(w, need);
        return PKSIM_STEP_NEXT;
    }
    pksim_wait_here(w, PKSIM_WAIT_WARP_SYNC)->mask = need;
    return PKSIM_STEP_BLOCK;
}

// ---- Cluster barriers
// ----------------------------------------------------------------------------------------------

static uint32_t cluster_threads(const struct pksim_cluster *cluster)
{
    uint32_t threads = 0;
    for (uint32_t c = 0; c < cluster->count; c++) {
        for (uint32_t k = 0; k < cluster->ctas[c].warp_count; k++)
            threads += (uint32_t)__builtin_popcount(cluster->ctas[c].warps[k].live);
    }
    return threads;
}

void pksim_cluster_barrier_recheck(struct pksim_cluster *cluster)
{
    if (!cluster->arrived || cluster->arrived < cluster_threads(cluster))
        return;
    cluster->arrived = 0;
    cluster->phase++;
    if (cluster->check)
        pksim_check_cluster_open(cluster);
    for (uint32_t c = 0; c < cluster->count; c++) {
        for (uint32_t k = 0; k < cluster->ctas[c].warp_count; k++) {
            struct pksim_warp *w = &cluster->ctas[c].warps[k];
            for (uint32_t i = 0; i < w->frag_count; i++) {
                if (w->frags[i].wait.kind == PKSIM_WAIT_CLUSTER)
                    pksim_wake(w, &w->frags[i]);
            }
        }
    }
}

static enum pksim_step run_cluster_arrive(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    struct pksim_cluster *cluster = w->cta->cluster;
    uint32_t phase = cluster->phase;
    if (w->cluster_arrived & mask) {
        pksim_raise(w->exec, w, PKSIM_FAULT_BARRIER,
                    "a thread arrives at the cluster barrier twice without waiting");
        return PKSIM_STEP_STOP;
    }
    PKSIM_EACH(lane, mask)
    w->cluster_phase[lane] = phase;
    w->cluster_arrived |= mask;
    cluster->arrived += (uint32_t)__builtin_popcount(mask);
    if (w->check)
        pksim_check_cluster_arrive(w, mask, !i->target);
    pksim_note_effect(w);
    pksim_cluster_barrier_recheck(cluster);
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_cluster_wait(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    if ((w->cluster_arrived & mask) != mask) {
        pksim_raise(w->exec, w, PKSIM_FAULT_BARRIER,
                    "a thread waits at the cluster barrier without having arrived");
        return PKSIM_STEP_STOP;
    }
    if (mask != w->active) {
        pksim_split(w, w->pc + 1, w->active & ~mask);
        w->active = mask;
    }
    PKSIM_EACH(lane, mask)
    {
        if (w->cluster_phase[lane] == w->cta->cluster->phase) {
            pksim_wait_here(w, PKSIM_WAIT_CLUSTER);
            return PKSIM_STEP_BLOCK;
        }
    }
    w->cluster_arrived &= ~mask;
    if (w->check)
        pksim_check_cluster_pass(w, mask, !i->target);
    return PKSIM_STEP_NEXT;
}

// ---- Decoding
// ------------------------------------------------------------------------------------------------------

static void decode_cluster_barrier(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    pksim_mod(d, "aligned");
    pksim_mod(d, "acquire");
    pksim_mod(d, "release");
    insn.target = pksim_mod(d, "relaxed");
    if (pksim_mod(d, "arrive"))
        insn.run = run_cluster_arrive;
    else if (pksim_mod(d, "wait"))
        insn.run = run_cluster_wait;
    else
        pksim_decode_fail(d, "expected .arrive or .wait");
    pksim_insn_add(d, &insn);
}

static void decode_warp_sync(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    pksim_mod(d, "sync");
    insn.run = run_warp_sync;
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 0), 4);
    pksim_insn_add(d, &insn);
}

static enum bar_kind take_kind(struct pksim_decoder *d)
{
    if (pksim_mod(d, "sync"))
        return BAR_SYNC;
    if (pksim_mod(d, "arrive"))
        return BAR_ARRIVE;
    if (pksim_mod(d, "red")) {
        if (pksim_mod(d, "popc"))
            return BAR_RED_POPC;
        if (pksim_mod(d, "and"))
            return BAR_RED_AND;
        if (pksim_mod(d, "or"))
            return BAR_RED_OR;
    }
    pksim_decode_fail(d, "expected .sync, .arrive or .red");
    return BAR_SYNC;
}

static void decode_reduction(struct pksim_decoder *d, struct bar_op *op, struct pksim_insn *insn,
                             uint32_t *next)
{
    pksim_mod(d, "u32");
    pksim_mod(d, "pred");
    insn->dst = pksim_def(d, pksim_operand_at(d, 0), op->kind == BAR_RED_POPC ? 4 : 0);
    *next = 1;
    struct pksim_operand predicate = *pksim_operand_at(d, pksim_operand_count(d) - 1);
    op->negated = predicate.negated;
    predicate.negated = false;
    op->predicate = pksim_use(d, &predicate, 0);
}

void pksim_decode_bar(struct pksim_decoder *d)
{
    if (pksim_mod(d, "warp")) {
        decode_warp_sync(d);
        return;
    }
    if (pksim_mod(d, "cluster")) {
        decode_cluster_barrier(d);
        return;
    }
    struct bar_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    struct pksim_insn insn = pksim_insn_begin(d);
    uint32_t next = 0, count = pksim_operand_count(d);
    pksim_mod(d, "cta");
    pksim_mod(d, "aligned");
    op->kind = take_kind(d);
    op->threads = PKSIM_NO_PLACE;
    if (op->kind >= BAR_RED_POPC) {
        decode_reduction(d, op, &insn, &next);
        count--;
    }
    op->id = pksim_use(d, pksim_operand_at(d, next), 4);
    if (next + 1 < count)
        op->threads = pksim_use(d, pksim_operand_at(d, next + 1), 4);
    else if (op->kind == BAR_ARRIVE)
        pksim_decode_fail(d, "an arrival names the number of threads");
    insn.run = run_bar;
    insn.more = op;
    pksim_insn_add(d, &insn);
}

// The register file of an SM is not modelled; that all warps of a warpgroup execute it is the hardware's
// rule, of which the warp's part is checked.
static enum pksim_step run_setmaxnreg(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    (void)i;
    return pksim_converge(w, &mask, UINT32_MAX) ? PKSIM_STEP_NEXT : PKSIM_STEP_BLOCK;
}

void pksim_decode_setmaxnreg(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    pksim_mod(d, "inc");
    pksim_mod(d, "dec");
    pksim_mod(d, "sync");
    pksim_mod(d, "aligned");
    pksim_mod(d, "u32");
    int64_t count = pksim_immediate(d, pksim_operand_at(d, 0));
    if (!d->failed && (count < 24 || count > 256 || count % 8))
        pksim_decode_fail(d, "a register count is a multiple of 8 from 24 to 256");
    insn.run = run_setmaxnreg;
    pksim_insn_add(d, &insn);
}
