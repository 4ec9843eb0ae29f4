// SPDX-License-Identifier: Apache-2.0
// Instructions by which the lanes of a warp see each other (PTX ISA 9.7.9.6, 9.7.13.8 to 9.7.13.12).
#include "sim/exec/decode.h"
#include "sim/exec/lanes.h"

enum shfl_mode { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum vote_mode { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

// The lanes named by the member mask gather. False: they wait, or there was a fault (*step says which).
static bool gather(struct pksim_warp *w, pksim_place_t members, uint32_t *mask, enum pksim_step *step)
{
    uint32_t need = pksim_get32(w, members, __builtin_ctz(*mask));
    PKSIM_EACH(lane, *mask)
    {
        if (pksim_get32(w, members, (int)lane) == need && need >> lane & 1)
            continue;
        pksim_raise(w->exec, w, PKSIM_FAULT_DIVERGENCE,
                    "lane %u is not in the member mask, or has another one", lane);
        *step = PKSIM_STEP_STOP;
        return false;
    }
    *step = PKSIM_STEP_BLOCK;
    return pksim_converge(w, mask, need);
}

// ---- shfl
// ----------------------------------------------------------------------------------------------------------

struct shfl_op {
    enum shfl_mode mode;
    pksim_place_t pred; // PKSIM_NO_PLACE: none
};

// Source lane of `lane`, as the PTX ISA's table for shfl.sync has it; *in_range says whether it counts.
static int source_lane(enum shfl_mode mode, int lane, uint32_t b, uint32_t c, bool *in_range)
{
    int segment = (int)(c >> 8 & 31), clamp = (int)(c & 31), by = (int)(b & 31);
    int max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment, j = lane;
    switch (mode) {
    case SHFL_UP:
        j = lane - by;
        *in_range = j >= max_lane;
        break;
    case SHFL_DOWN:
        j = lane + by;
        *in_range = j <= max_lane;
        break;
    case SHFL_BFLY:
        j = lane ^ by;
        *in_range = j <= max_lane;
        break;
    case SHFL_IDX:
        j = min_lane | (by & ~segment);
        *in_range = j <= max_lane;
        break;
    }
    return *in_range ? j : lane;
}

static enum pksim_step run_shfl(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct shfl_op *op = i->more;
    enum pksim_step step;
    uint32_t values[PKSIM_LANES], in_range = 0;
    if (!gather(w, i->src[3], &mask, &step))
        return step;
    memcpy(values, pksim_at(w, i->src[0]), sizeof values);
    PKSIM_EACH(lane, mask)
    {
        bool counts = false;
        int from = source_lane(op->mode, (int)lane, pksim_get32(w, i->src[1], (int)lane),
                               pksim_get32(w, i->src[2], (int)lane), &counts);
        in_range |= (uint32_t)counts << lane;
        if (!(mask >> from & 1) && (w->live >> from & 1)) {
            pksim_raise(w->exec, w, PKSIM_FAULT_DIVERGENCE,
                        "lane %u reads lane %d, which is not in the member mask", lane, from);
            return PKSIM_STEP_STOP;
        }
        pksim_set(w, i->dst, 4, (int)lane, values[from]);
    }
    if (op->pred != PKSIM_NO_PLACE)
        pksim_set_mask(w, op->pred, mask, in_range);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_shfl(struct pksim_decoder *d)
{
    static const char *const names[] = {"up", "down", "bfly", "idx"};
    struct shfl_op *op = pksim_decode_alloc(d, sizeof *op);
    bool found = false;
    if (!op)
        return;
    for (int m = 0; m < 4 && !found; m++) {
        op->mode = (enum shfl_mode)m;
        found = pksim_mod(d, names[m]);
    }
    if (!pksim_mod(d, "sync") || !pksim_mod(d, "b32") || !found)
        pksim_decode_fail(d, "this form of shfl is not supported");
    const struct pksim_operand *to = pksim_operand_at(d, 0);
    struct pksim_insn insn = pksim_insn_begin(d);
    for (uint32_t k = 0; k < 4 && !d->failed; k++)
        insn.src[k] = pksim_use(d, pksim_operand_at(d, k + 1), 4);
    op->pred = to->pair ? pksim_def(d, to->pair, 0) : PKSIM_NO_PLACE;
    insn.dst = pksim_def(d, to, 4);
    insn.run = run_shfl;
    insn.more = op;
    pksim_insn_add(d, &insn);
}

// ---- vote, activemask, elect
// ---------------------------------------------------------------------------------------

static enum pksim_step run_vote(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    enum pksim_step step;
    if (!gather(w, i->src[1], &mask, &step))
        return step;
    uint32_t yes = pksim_get_mask(w, i->src[0]) & mask, result = 0;
    switch ((enum vote_mode)i->target) {
    case VOTE_ALL:
        result = yes == mask ? mask : 0;
        break;
    case VOTE_ANY:
        result = yes ? mask : 0;
        break;
    case VOTE_UNI:
        result = yes == mask || !yes ? mask : 0;
        break;
    case VOTE_BALLOT:
        PKSIM_EACH(lane, mask)
        pksim_set(w, i->dst, 4, (int)lane, yes);
        return PKSIM_STEP_NEXT;
    }
    pksim_set_mask(w, i->dst, mask, result);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_vote(struct pksim_decoder *d)
{
    static const char *const names[] = {"all", "any", "uni", "ballot"};
    struct pksim_insn insn = pksim_insn_begin(d);
    bool found = false;
    for (uint32_t m = 0; m < 4 && !found; m++) {
        insn.target = m;
        found = pksim_mod(d, names[m]);
    }
    if (!pksim_mod(d, "sync") || !found)
        pksim_decode_fail(d, "this form of vote is not supported");
    pksim_mod(d, "pred");
    pksim_mod(d, "b32");
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), 0);
    insn.src[1] = pksim_use(d, pksim_operand_at(d, 2), 4);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), insn.target == VOTE_BALLOT ? 4 : 0);
    insn.run = run_vote;
    pksim_insn_add(d, &insn);
}

static enum pksim_step run_activemask(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    PKSIM_EACH(lane, mask)
    pksim_set(w, i->dst, 4, (int)lane, mask);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_activemask(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    pksim_mod(d, "b32");
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), 4);
    insn.run = run_activemask;
    pksim_insn_add(d, &insn);
}

// elect.sync d|p, members: the lowest member is elected.
static enum pksim_step run_elect(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    enum pksim_step step;
    if (!gather(w, i->src[0], &mask, &step))
        return step;
    uint32_t leader = (uint32_t)__builtin_ctz(mask);
    PKSIM_EACH(lane, mask)
    pksim_set(w, i->dst, 4, (int)lane, leader);
    pksim_set_mask(w, i->src[1], mask, 1u << leader);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_elect(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    const struct pksim_operand *to = pksim_operand_at(d, 0);
    pksim_mod(d, "sync");
    if (!to->pair) {
        pksim_decode_fail(d, "expected d|p");
        return;
    }
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), 4);
    insn.src[1] = pksim_def(d, to->pair, 0);
    insn.dst = pksim_def(d, to, 4);
    insn.run = run_elect;
    pksim_insn_add(d, &insn);
}

// ---- match, redux
// --------------------------------------------------------------------------------------------------

struct match_op {
    bool all;
    uint8_t bytes;
    pksim_place_t pred;
};

static enum pksim_step run_match(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct match_op *op = i->more;
    enum pksim_step step;
    if (!gather(w, i->src[1], &mask, &step))
        return step;
    PKSIM_EACH(lane, mask)
    {
        uint64_t mine = pksim_get(w, i->src[0], op->bytes, (int)lane);
        uint32_t same = 0;
        for (int other = 0; other < PKSIM_LANES; other++) {
            if (mask >> other & 1 && pksim_get(w, i->src[0], op->bytes, other) == mine)
                same |= 1u << other;
        }
        pksim_set(w, i->dst, 4, (int)lane, op->all && same != mask ? 0 : same);
        if (op->pred != PKSIM_NO_PLACE)
            pksim_set_mask(w, op->pred, 1u << lane, same == mask ? 1u << lane : 0);
    }
    return PKSIM_STEP_NEXT;
}

void pksim_decode_match(struct pksim_decoder *d)
{
    struct match_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    const struct pksim_operand *to = pksim_operand_at(d, 0);
    struct pksim_insn insn = pksim_insn_begin(d);
    op->all = pksim_mod(d, "all");
    op->bytes = pksim_mod(d, "b64") ? 8 : 4;
    pksim_mod(d, "any");
    pksim_mod(d, "b32");
    if (!pksim_mod(d, "sync"))
        pksim_decode_fail(d, "expected .sync");
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), op->bytes);
    insn.src[1] = pksim_use(d, pksim_operand_at(d, 2), 4);
    op->pred = to->pair ? pksim_def(d, to->pair, 0) : PKSIM_NO_PLACE;
    insn.dst = pksim_def(d, to, 4);
    insn.run = run_match;
    insn.more = op;
    pksim_insn_add(d, &insn);
}

enum redux_op { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };

static uint32_t redux(enum redux_op op, bool is_signed, uint32_t a, uint32_t b)
{
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (op) {
    case REDUX_ADD:
        return a + b;
    case REDUX_MIN:
        return less ? a : b;
    case REDUX_MAX:
        return less ? b : a;
    case REDUX_AND:
        return a & b;
    case REDUX_OR:
        return a | b;
    case REDUX_XOR:
        return a ^ b;
    }
    return a;
}

static enum pksim_step run_redux(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    enum pksim_step step;
    if (!gather(w, i->src[1], &mask, &step))
        return step;
    uint32_t first = (uint32_t)__builtin_ctz(mask), result = pksim_get32(w, i->src[0], (int)first);
    PKSIM_EACH(lane, mask & (mask - 1))
    result =
        redux((enum redux_op)(i->target & 7), i->target & 8, result, pksim_get32(w, i->src[0], (int)lane));
    PKSIM_EACH(lane, mask)
    pksim_set(w, i->dst, 4, (int)lane, result);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_redux(struct pksim_decoder *d)
{
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    struct pksim_insn insn = pksim_insn_begin(d);
    bool found = false;
    for (uint32_t m = 0; m < 6 && !found; m++) {
        insn.target = m;
        found = pksim_mod(d, names[m]);
    }
    enum pksim_ptx_type type = pksim_mod_last_type(d);
    if (!pksim_mod(d, "sync") || !found || pksim_ptx_types[type].bytes != 4 ||
        pksim_ptx_types[type].kind == 'F')
        pksim_decode_fail(d, "this form of redux is not supported");
    insn.target |= pksim_ptx_types[type].kind == 'S' ? 8 : 0;
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), 4);
    insn.src[1] = pksim_use(d, pksim_operand_at(d, 2), 4);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), 4);
    insn.run = run_redux;
    pksim_insn_add(d, &insn);
}
