// SPDX-License-Identifier: Apache-2.0
#include "sim/exec/special.h"

#include "sim/exec/lanes.h"

struct special {
    enum pksim_sreg id;
    uint32_t bytes;
};

struct variable {
    uint32_t index;
    int64_t addend;
};

static uint32_t thread_of(const struct pksim_warp *w, int lane, int axis)
{
    const uint32_t *block = w->cta->run->block;
    uint32_t linear = w->index * PKSIM_LANES + (uint32_t)lane;
    if (axis == 0)
        return linear % block[0];
    if (axis == 1)
        return linear / block[0] % block[1];
    return linear / block[0] / block[1];
}

static uint32_t lane_mask(enum pksim_sreg id, int lane)
{
    uint32_t bit = 1u << lane;
    if (id == PKSIM_SREG_LANEMASK_EQ)
        return bit;
    if (id == PKSIM_SREG_LANEMASK_LT)
        return bit - 1;
    if (id == PKSIM_SREG_LANEMASK_LE)
        return bit | (bit - 1);
    return id == PKSIM_SREG_LANEMASK_GE ? ~(bit - 1) : ~(bit | (bit - 1));
}

static uint32_t cluster_axis(const struct pksim_run *run, const uint32_t ctaid[3], int axis)
{
    return ctaid[axis] % run->cluster[axis];
}

// Virtual nanoseconds: one warp instruction of the whole machine each. Coarse, but it advances and never goes
// back.
static uint64_t read_clock(const struct pksim_warp *w)
{
    return w->exec->clock + w->steps;
}

// Values that all lanes share.
static uint64_t uniform_value(const struct pksim_warp *w, enum pksim_sreg id)
{
    const struct pksim_cta *cta = w->cta;
    const struct pksim_run *run = cta->run;
    int axis = 0;
    if (id >= PKSIM_SREG_NTID_X && id <= PKSIM_SREG_CLUSTER_NCTAID_Z)
        axis = (int)(id - PKSIM_SREG_NTID_X) % 3;
    switch (id) {
    case PKSIM_SREG_NTID_X:
    case PKSIM_SREG_NTID_Y:
    case PKSIM_SREG_NTID_Z:
        return run->block[axis];
    case PKSIM_SREG_CTAID_X:
    case PKSIM_SREG_CTAID_Y:
    case PKSIM_SREG_CTAID_Z:
        return cta->ctaid[axis];
    case PKSIM_SREG_NCTAID_X:
    case PKSIM_SREG_NCTAID_Y:
    case PKSIM_SREG_NCTAID_Z:
        return run->grid[axis];
    case PKSIM_SREG_CLUSTERID_X:
    case PKSIM_SREG_CLUSTERID_Y:
    case PKSIM_SREG_CLUSTERID_Z:
        return cta->cluster->id[axis];
    case PKSIM_SREG_NCLUSTERID_X:
    case PKSIM_SREG_NCLUSTERID_Y:
    case PKSIM_SREG_NCLUSTERID_Z:
        return run->clusters[axis];
    case PKSIM_SREG_CLUSTER_CTAID_X:
    case PKSIM_SREG_CLUSTER_CTAID_Y:
    case PKSIM_SREG_CLUSTER_CTAID_Z:
        return cluster_axis(run, cta->ctaid, axis);
    case PKSIM_SREG_CLUSTER_NCTAID_X:
    case PKSIM_SREG_CLUSTER_NCTAID_Y:
    case PKSIM_SREG_CLUSTER_NCTAID_Z:
        return run->cluster[axis];
    case PKSIM_SREG_CLUSTER_CTARANK:
        return cta->rank;
    case PKSIM_SREG_CLUSTER_NCTARANK:
        return cta->cluster->count;
    case PKSIM_SREG_IS_EXPLICIT_CLUSTER:
        return cta->cluster->count > 1;
    case PKSIM_SREG_WARPID:
        return w->index;
    case PKSIM_SREG_NWARPID:
        return run->warps;
    case PKSIM_SREG_SMID:
        return cta->sm;
    case PKSIM_SREG_NSMID:
        return w->exec->config.limits.sms;
    case PKSIM_SREG_GRIDID:
        return run->id;
    case PKSIM_SREG_CLOCK:
    case PKSIM_SREG_CLOCK64:
    case PKSIM_SREG_GLOBALTIMER:
    case PKSIM_SREG_GLOBALTIMER_LO:
        return read_clock(w);
    case PKSIM_SREG_CLOCK_HI:
    case PKSIM_SREG_GLOBALTIMER_HI:
        return read_clock(w) >> 32;
    case PKSIM_SREG_TOTAL_SMEM:
        return run->shared_bytes;
    case PKSIM_SREG_DYNAMIC_SMEM:
        return run->dynamic_shared;
    case PKSIM_SREG_TID_X:
    case PKSIM_SREG_TID_Y:
    case PKSIM_SREG_TID_Z:
    case PKSIM_SREG_LANEID:
    case PKSIM_SREG_LANEMASK_EQ:
    case PKSIM_SREG_LANEMASK_LE:
    case PKSIM_SREG_LANEMASK_LT:
    case PKSIM_SREG_LANEMASK_GE:
    case PKSIM_SREG_LANEMASK_GT:
    case PKSIM_SREG_COUNT:
        break;
    }
    return 0;
}

static enum pksim_step run_lane_register(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct special *s = i->more;
    PKSIM_EACH(lane, mask)
    {
        uint32_t value = lane;
        if (s->id <= PKSIM_SREG_TID_Z)
            value = thread_of(w, (int)lane, (int)(s->id - PKSIM_SREG_TID_X));
        else if (s->id != PKSIM_SREG_LANEID)
            value = lane_mask(s->id, (int)lane);
        pksim_set(w, i->dst, s->bytes, (int)lane, value);
    }
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_uniform_register(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct special *s = i->more;
    uint64_t value = uniform_value(w, s->id);
    if (!s->bytes)
        pksim_set_mask(w, i->dst, mask, value ? mask : 0);
    else
        PKSIM_EACH(lane, mask)
    pksim_set(w, i->dst, s->bytes, (int)lane, value);
    return PKSIM_STEP_NEXT;
}

static bool differs_by_lane(enum pksim_sreg id)
{
    return id <= PKSIM_SREG_TID_Z || id == PKSIM_SREG_LANEID ||
           (id >= PKSIM_SREG_LANEMASK_EQ && id <= PKSIM_SREG_LANEMASK_GT);
}

void pksim_special_register(struct pksim_decoder *d, struct pksim_insn *insn, enum pksim_sreg id,
                            uint32_t bytes)
{
    struct special *s = pksim_decode_alloc(d, sizeof *s);
    if (!s)
        return;
    if ((bytes == 0) != (pksim_sregs[id].bytes == 0))
        pksim_decode_fail(d, "special register %s does not fit the instruction", pksim_sregs[id].name);
    *s = (struct special){id, bytes};
    insn->more = s;
    insn->run = differs_by_lane(id) ? run_lane_register : run_uniform_register;
}

static enum pksim_step run_variable(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct variable *v = i->more;
    uint64_t address = w->cta->run->variables[v->index] + (uint64_t)v->addend;
    PKSIM_EACH(lane, mask)
    pksim_set(w, i->dst, 8, (int)lane, address);
    return PKSIM_STEP_NEXT;
}

void pksim_special_variable(struct pksim_decoder *d, struct pksim_insn *insn, uint32_t index, int64_t addend)
{
    struct variable *v = pksim_decode_alloc(d, sizeof *v);
    if (!v)
        return;
    *v = (struct variable){index, addend};
    insn->more = v;
    insn->run = run_variable;
}

static enum pksim_step run_shared(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct special *s = i->more;
    uint64_t address = i->target + ((uint64_t)w->cta->rank << PKSIM_SHARED_RANK_SHIFT);
    PKSIM_EACH(lane, mask)
    pksim_set(w, i->dst, s->bytes, (int)lane, address);
    return PKSIM_STEP_NEXT;
}

void pksim_special_shared(struct pksim_decoder *d, struct pksim_insn *insn, uint32_t offset, uint32_t bytes)
{
    struct special *s = pksim_decode_alloc(d, sizeof *s);
    if (!s)
        return;
    s->bytes = bytes;
    insn->more = s;
    insn->target = offset;
    insn->run = run_shared;
}
