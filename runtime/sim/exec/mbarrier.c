// SPDX-License-Identifier: Apache-2.0
// mbarrier instructions (PTX ISA 9.7.13.15).
#include "sim/exec/mbarrier.h"

#include <stdio.h>

#include "sim/check/check.h"
#include "sim/exec/lanes.h"

// ---- The object
// ----------------------------------------------------------------------------------------------------

enum { COUNT_BITS = 20, TX_BITS = 21, MARK = 2 };

bool pksim_mbarrier_unpack(uint64_t word, struct pksim_mbarrier *b)
{
    const uint64_t count_mask = ((uint64_t)1 << COUNT_BITS) - 1;
    if (word >> 62 != MARK)
        return false;
    b->phase = word & 1;
    b->expected = (uint32_t)(word >> 1 & count_mask);
    b->pending = (uint32_t)(word >> (1 + COUNT_BITS) & count_mask);
    b->tx = (int32_t)((uint32_t)(word >> (1 + 2 * COUNT_BITS)) << (32 - TX_BITS)) >> (32 - TX_BITS);
    return true;
}

uint64_t pksim_mbarrier_pack(const struct pksim_mbarrier *b)
{
    uint64_t tx = (uint32_t)b->tx & (((uint32_t)1 << TX_BITS) - 1);
    return (uint64_t)MARK << 62 | tx << (1 + 2 * COUNT_BITS) | (uint64_t)b->pending << (1 + COUNT_BITS) |
           (uint64_t)b->expected << 1 | b->phase;
}

static void store_word(struct pksim_cta *cta, uint32_t offset, const struct pksim_mbarrier *b)
{
    uint64_t word = pksim_mbarrier_pack(b);
    memcpy(cta->shared.bytes + offset, &word, sizeof word);
}

bool pksim_mbarrier_at(const struct pksim_cta *cta, uint32_t offset, struct pksim_mbarrier *b)
{
    uint64_t word;
    if (!pksim_shared_inside(&cta->shared, offset, 8) || !pksim_shared_written(&cta->shared, offset, 8))
        return false;
    memcpy(&word, cta->shared.bytes + offset, sizeof word);
    return pksim_mbarrier_unpack(word, b);
}

static void wake_waiters(struct pksim_cta *cta, uint32_t offset)
{
    for (uint32_t k = 0; k < cta->warp_count; k++) {
        struct pksim_warp *w = &cta->warps[k];
        for (uint32_t i = 0; i < w->frag_count; i++) {
            if (w->frags[i].wait.kind == PKSIM_WAIT_MBARRIER && w->frags[i].wait.address == offset)
                pksim_wake(w, &w->frags[i]);
        }
    }
}

static void complete_if_done(struct pksim_cta *cta, uint32_t offset, struct pksim_mbarrier *b)
{
    if (!b->pending && !b->tx) {
        b->phase ^= 1;
        b->pending = b->expected;
        if (cta->check)
            pksim_check_mbarrier_phase(cta, offset);
        store_word(cta, offset, b);
        wake_waiters(cta, offset);
        return;
    }
    store_word(cta, offset, b);
}

static bool change_tx(struct pksim_exec *exec, const struct pksim_warp *w, struct pksim_mbarrier *b,
                      int64_t by)
{
    int64_t tx = (int64_t)b->tx + by;
    if (tx > PKSIM_MBARRIER_MAX_TX || tx < -PKSIM_MBARRIER_MAX_TX) {
        pksim_raise(exec, w, PKSIM_FAULT_MBARRIER, "the byte count of an mbarrier leaves its range: %lld",
                    (long long)tx);
        return false;
    }
    b->tx = (int32_t)tx;
    return true;
}

bool pksim_mbarrier_complete_tx(struct pksim_exec *exec, const struct pksim_warp *w, struct pksim_cta *cta,
                                uint32_t offset, uint32_t bytes)
{
    struct pksim_mbarrier b;
    if (!pksim_mbarrier_at(cta, offset, &b)) {
        pksim_raise(exec, w, PKSIM_FAULT_MBARRIER,
                    "%u bytes arrive at shared address 0x%x, which holds no initialised mbarrier", bytes,
                    offset);
        return false;
    }
    if (!change_tx(exec, w, &b, -(int64_t)bytes))
        return false;
    complete_if_done(cta, offset, &b);
    return true;
}

void pksim_mbarrier_describe(const struct pksim_cta *cta, uint32_t offset, char *out, size_t size)
{
    struct pksim_mbarrier b;
    if (!pksim_mbarrier_at(cta, offset, &b)) {
        snprintf(out, size, "no initialised mbarrier");
        return;
    }
    int used = snprintf(out, size, "in a phase of parity %u, %u of %u arrivals missing", b.phase, b.pending,
                        b.expected);
    if (b.tx && used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, ", %d bytes %s", b.tx < 0 ? -b.tx : b.tx,
                 b.tx < 0 ? "more than were announced" : "still to come");
}

// ---- Instructions
// --------------------------------------------------------------------------------------------------

struct mbarrier_op {
    struct pksim_address address;
    enum pksim_ptx_space space;
    bool cluster, no_complete, drop, expect, potentially_blocking, by_parity, relaxed;
    pksim_place_t state, count, bytes, pred; // PKSIM_NO_PLACE where there is none
};

// Where the lane's mbarrier is, and its state. False after a fault.
static bool find_barrier(struct pksim_warp *w, const struct mbarrier_op *op, uint32_t lane,
                         struct pksim_ref *ref, struct pksim_mbarrier *b)
{
    uint64_t address = pksim_lane_address(w, &op->address, op->space, lane);
    if (!pksim_locate(w, op->space, op->cluster, address, 8, 8, PKSIM_READ, lane, ref))
        return false;
    if (!ref->shared || !pksim_mbarrier_at(ref->cta, (uint32_t)ref->shadow_offset, b)) {
        pksim_raise(w->exec, w, PKSIM_FAULT_MBARRIER, "lane %u: there is no initialised mbarrier at 0x%llx",
                    lane, (unsigned long long)address);
        return false;
    }
    return true;
}

static enum pksim_step run_init(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct mbarrier_op *op = i->more;
    const struct pksim_access_kind kind = {.access = PKSIM_WRITE};
    PKSIM_EACH(lane, mask)
    {
        struct pksim_ref ref;
        uint64_t address = pksim_lane_address(w, &op->address, op->space, lane);
        uint32_t count = pksim_get32(w, op->count, (int)lane);
        if (!pksim_access(w, op->space, false, address, 8, kind, lane, &ref))
            return PKSIM_STEP_STOP;
        if (!ref.shared || !count || count > PKSIM_MBARRIER_MAX_COUNT) {
            pksim_raise(w->exec, w, PKSIM_FAULT_MBARRIER, "lane %u: mbarrier with %u arrivals", lane, count);
            return PKSIM_STEP_STOP;
        }
        struct pksim_mbarrier b = {.expected = count, .pending = count};
        store_word(ref.cta, (uint32_t)ref.shadow_offset, &b);
        if (w->check)
            pksim_check_mbarrier_init(w, lane, ref.cta, (uint32_t)ref.shadow_offset);
    }
    pksim_note_effect(w);
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_inval(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct mbarrier_op *op = i->more;
    PKSIM_EACH(lane, mask)
    {
        struct pksim_ref ref;
        struct pksim_mbarrier b;
        if (!find_barrier(w, op, lane, &ref, &b))
            return PKSIM_STEP_STOP;
        memset(ref.host, 0, 8);
        if (w->check)
            pksim_check_mbarrier_access(w, 1u << lane, ref.cta, (uint32_t)ref.shadow_offset, true);
    }
    pksim_note_effect(w);
    return PKSIM_STEP_NEXT;
}

static bool arrive_lane(struct pksim_warp *w, const struct pksim_insn *i, uint32_t lane)
{
    const struct mbarrier_op *op = i->more;
    struct pksim_ref ref;
    struct pksim_mbarrier b;
    uint32_t count = op->count == PKSIM_NO_PLACE ? 1 : pksim_get32(w, op->count, (int)lane);
    if (!find_barrier(w, op, lane, &ref, &b))
        return false;
    uint64_t before = pksim_mbarrier_pack(&b);
    if (op->bytes != PKSIM_NO_PLACE && !change_tx(w->exec, w, &b, pksim_get32(w, op->bytes, (int)lane)))
        return false;
    if (count > b.pending || !count) {
        pksim_raise(w->exec, w, PKSIM_FAULT_MBARRIER,
                    "lane %u: %u arrivals at the mbarrier at shared address 0x%x, which misses %u of %u in "
                    "this phase",
                    lane, count, (uint32_t)ref.shadow_offset, b.pending, b.expected);
        return false;
    }
    b.pending -= count;
    if (op->drop)
        b.expected -= count;
    if (op->no_complete && !b.pending) {
        pksim_raise(w->exec, w, PKSIM_FAULT_MBARRIER, "lane %u: .noComplete, but the phase would complete",
                    lane);
        return false;
    }
    if (w->check)
        pksim_check_mbarrier_arrive(w, lane, ref.cta, (uint32_t)ref.shadow_offset, !op->relaxed);
    complete_if_done(ref.cta, (uint32_t)ref.shadow_offset, &b);
    if (op->state != PKSIM_NO_PLACE)
        pksim_set(w, op->state, 8, (int)lane, before);
    return true;
}

static enum pksim_step run_arrive(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    pksim_note_effect(w);
    PKSIM_EACH(lane, mask)
    {
        if (!arrive_lane(w, i, lane))
            return PKSIM_STEP_STOP;
    }
    return PKSIM_STEP_NEXT;
}

// expect_tx and complete_tx without an arrival.
static enum pksim_step run_tx(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct mbarrier_op *op = i->more;
    pksim_note_effect(w);
    PKSIM_EACH(lane, mask)
    {
        struct pksim_ref ref;
        struct pksim_mbarrier b;
        int64_t bytes = pksim_get32(w, op->bytes, (int)lane);
        if (!find_barrier(w, op, lane, &ref, &b) || !change_tx(w->exec, w, &b, op->expect ? bytes : -bytes))
            return PKSIM_STEP_STOP;
        if (w->check)
            pksim_check_mbarrier_access(w, 1u << lane, ref.cta, (uint32_t)ref.shadow_offset, false);
        complete_if_done(ref.cta, (uint32_t)ref.shadow_offset, &b);
    }
    return PKSIM_STEP_NEXT;
}

// Lanes that passed, by mbarrier: all lanes of a warp mostly wait for one.
struct passed {
    struct pksim_cta *cta;
    uint32_t count, lanes[PKSIM_LANES + 1], at[PKSIM_LANES + 1];
};

// The newest item goes to one with the same mbarrier, if there is one.
static bool join_passed(struct passed *passed)
{
    for (uint32_t i = 0; i < passed->count; i++) {
        if (passed->at[i] != passed->at[passed->count])
            continue;
        passed->lanes[i] |= passed->lanes[passed->count];
        return true;
    }
    return false;
}

static void note_passed(struct pksim_warp *w, const struct passed *passed, bool acquires)
{
    for (uint32_t i = 0; w->check && i < passed->count; i++)
        pksim_check_mbarrier_pass(w, passed->lanes[i], passed->cta, passed->at[i], acquires);
}

// Lanes of `mask` whose phase is over; *blocked describes one that is not.
static bool test_lanes(struct pksim_warp *w, const struct mbarrier_op *op, uint32_t mask, uint32_t *done,
                       struct pksim_wait *blocked, const void **word, struct passed *passed)
{
    *done = 0;
    PKSIM_EACH(lane, mask)
    {
        struct pksim_ref ref;
        struct pksim_mbarrier b;
        if (!find_barrier(w, op, lane, &ref, &b))
            return false;
        uint32_t parity = op->by_parity ? pksim_get32(w, op->state, (int)lane) & 1
                                        : (uint32_t)pksim_get64(w, op->state, (int)lane) & 1;
        if (b.phase != parity) {
            *done |= 1u << lane;
            passed->lanes[passed->count] = 1u << lane;
            passed->at[passed->count] = (uint32_t)ref.shadow_offset;
            passed->cta = ref.cta;
            passed->count += !join_passed(passed);
            continue;
        }
        *blocked = (struct pksim_wait){
            .kind = PKSIM_WAIT_MBARRIER, .parity = (uint8_t)parity, .address = (uint32_t)ref.shadow_offset};
        *word = ref.host;
    }
    return true;
}

// try_wait waits until the phase is over; its time limit passes only when nothing else in the machine can go
// on.
static enum pksim_step run_wait(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct mbarrier_op *op = i->more;
    struct pksim_frag *frag = &w->frags[w->current];
    struct pksim_wait blocked = {0};
    const void *word = NULL;
    struct passed passed = {0};
    uint32_t done;
    if (!test_lanes(w, op, mask, &done, &blocked, &word, &passed))
        return PKSIM_STEP_STOP;
    bool gave_up = frag->wait.gave_up;
    frag->wait.gave_up = false;
    if (op->potentially_blocking && !done && !gave_up) {
        if (mask != w->active) {
            pksim_split(w, w->pc + 1, w->active & ~mask);
            w->active = mask;
        }
        w->frags[w->current].wait = blocked;
        return PKSIM_STEP_BLOCK;
    }
    note_passed(w, &passed, !op->relaxed);
    if (done != mask) {
        pksim_note_poll(w, word, 8, blocked.address);
        pksim_note_look(w);
    }
    pksim_set_mask(w, op->pred, mask, done);
    return PKSIM_STEP_NEXT;
}

// The count of pending arrivals in a state word.
static enum pksim_step run_pending(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    PKSIM_EACH(lane, mask)
    {
        struct pksim_mbarrier b = {0};
        pksim_mbarrier_unpack(pksim_get64(w, i->src[0], (int)lane), &b);
        pksim_set(w, i->dst, 4, (int)lane, b.pending);
    }
    return PKSIM_STEP_NEXT;
}

// ---- Decoding
// ------------------------------------------------------------------------------------------------------

static void add_mbarrier(struct pksim_decoder *d, struct mbarrier_op *op, pksim_run_fn *run)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run;
    insn.more = op;
    pksim_insn_add(d, &insn);
}

static void decode_init(struct pksim_decoder *d, struct mbarrier_op *op)
{
    pksim_use_address(d, pksim_operand_at(d, 0), &op->address);
    op->count = pksim_use(d, pksim_operand_at(d, 1), 4);
    add_mbarrier(d, op, run_init);
}

static void decode_arrive(struct pksim_decoder *d, struct mbarrier_op *op)
{
    const struct pksim_operand *first = pksim_operand_at(d, 0);
    uint32_t next = first->kind == PKSIM_OP_ADDRESS ? 0 : 1;
    bool expect = pksim_mod(d, "expect_tx");
    op->no_complete = pksim_mod(d, "noComplete");
    if (next && first->kind != PKSIM_OP_SINK)
        op->state = pksim_def(d, first, 8);
    pksim_use_address(d, pksim_operand_at(d, next++), &op->address);
    if (next < pksim_operand_count(d)) {
        pksim_place_t value = pksim_use(d, pksim_operand_at(d, next), 4);
        *(expect ? &op->bytes : &op->count) = value;
    } else if (expect || op->no_complete) {
        pksim_decode_fail(d, "too few operands");
    }
    add_mbarrier(d, op, run_arrive);
}

static void decode_tx(struct pksim_decoder *d, struct mbarrier_op *op)
{
    pksim_use_address(d, pksim_operand_at(d, 0), &op->address);
    op->bytes = pksim_use(d, pksim_operand_at(d, 1), 4);
    add_mbarrier(d, op, run_tx);
}

// The time limit of try_wait, a fourth operand, has no meaning here.
static void decode_wait(struct pksim_decoder *d, struct mbarrier_op *op)
{
    const struct pksim_operand *pred = pksim_operand_at(d, 0), *state = pksim_operand_at(d, 2);
    op->by_parity = pksim_mod(d, "parity");
    pksim_use_address(d, pksim_operand_at(d, 1), &op->address);
    op->state = pksim_use(d, state, op->by_parity ? 4 : 8);
    op->pred = pksim_def(d, pred, 0);
    add_mbarrier(d, op, run_wait);
}

static void decode_pending(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_pending;
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), 8);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), 4);
    pksim_insn_add(d, &insn);
}

void pksim_decode_mbarrier(struct pksim_decoder *d)
{
    struct mbarrier_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    pksim_mod(d, "b64");
    op->state = op->count = op->bytes = op->pred = PKSIM_NO_PLACE;
    op->relaxed = pksim_mod_order(d).order == PKSIM_RELAXED;
    op->space = pksim_mod_space(d, &op->cluster);
    if (pksim_mod(d, "init")) {
        decode_init(d, op);
    } else if (pksim_mod(d, "inval")) {
        pksim_use_address(d, pksim_operand_at(d, 0), &op->address);
        add_mbarrier(d, op, run_inval);
    } else if (pksim_mod(d, "arrive") || (op->drop = pksim_mod(d, "arrive_drop"))) {
        decode_arrive(d, op);
    } else if ((op->expect = pksim_mod(d, "expect_tx")) || pksim_mod(d, "complete_tx")) {
        decode_tx(d, op);
    } else if ((op->potentially_blocking = pksim_mod(d, "try_wait")) || pksim_mod(d, "test_wait")) {
        decode_wait(d, op);
    } else if (pksim_mod(d, "pending_count")) {
        decode_pending(d);
    } else {
        pksim_decode_fail(d, "unknown mbarrier operation");
    }
}
