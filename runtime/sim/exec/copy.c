// SPDX-License-Identifier: Apache-2.0
// Decoding and issue of cp.async, cp.async.bulk, cp.reduce.async.bulk and their tensor forms (PTX
// ISA 9.7.9.25, 9.7.9.27).
#include "sim/check/check.h"
#include "sim/exec/async.h"
#include "sim/exec/lanes.h"
#include "sim/exec/numbers.h"

struct copy_op {
    enum pksim_copy_kind kind;
    bool tensor, counts, multicast, reads; // reads: wait_group.read
    enum pksim_reduce reduce;
    enum pksim_number type;
    struct pksim_address to, from, map, barrier;
    enum pksim_ptx_space map_space;
    uint32_t rank;
    pksim_place_t coords[PKSIM_MAP_MAX_RANK];
    pksim_place_t bytes, mask;
};

// ---- Issue
// ---------------------------------------------------------------------------------------------------------

static bool shared_place(struct pksim_warp *w, const struct pksim_address *address, bool cluster,
                         uint32_t bytes, uint32_t align, uint32_t lane, struct pksim_cta **cta,
                         uint32_t *offset)
{
    struct pksim_ref ref;
    uint64_t at = pksim_lane_address(w, address, PKSIM_PTX_SHARED, lane);
    enum pksim_ptx_space space = at & PKSIM_WINDOW_MASK ? PKSIM_PTX_GENERIC : PKSIM_PTX_SHARED;
    if (!pksim_locate(w, space, cluster, at, bytes, align, PKSIM_WRITE, lane, &ref))
        return false;
    if (!ref.shared) {
        pksim_raise(w->exec, w, PKSIM_FAULT_BAD_OPERAND, "lane %u: 0x%llx is no shared address", lane,
                    (unsigned long long)at);
        return false;
    }
    *cta = ref.cta;
    *offset = (uint32_t)ref.shadow_offset;
    return true;
}

static bool read_map(struct pksim_warp *w, const struct copy_op *op, uint32_t lane, struct pksim_copy *copy)
{
    struct pksim_ref ref;
    struct pksim_unit_error error;
    uint64_t address = pksim_lane_address(w, &op->map, op->map_space, lane);
    if (!pksim_locate(w, op->map_space, false, address, PKSIM_MAP_BYTES, 64, PKSIM_READ, lane, &ref))
        return false;
    if (!pksim_map_decode(ref.host, op->rank, &copy->map, &error)) {
        pksim_raise_unit(w, w->pc, lane, &error);
        return false;
    }
    for (uint32_t k = 0; k < op->rank; k++)
        copy->coords[k] = (int32_t)pksim_get32(w, op->coords[k], (int)lane);
    copy->bytes = pksim_map_box_bytes(&copy->map);
    return true;
}

static bool set_multicast(struct pksim_warp *w, const struct copy_op *op, uint32_t lane,
                          struct pksim_copy *copy)
{
    copy->to_mask = (uint16_t)pksim_get(w, op->mask, 2, (int)lane);
    if (copy->to_mask && !(copy->to_mask >> w->cta->cluster->count))
        return true;
    pksim_raise(w->exec, w, PKSIM_FAULT_BAD_OPERAND, "lane %u: multicast to CTAs 0x%x of a cluster of %u",
                lane, copy->to_mask, w->cta->cluster->count);
    return false;
}

static bool set_shared_sides(struct pksim_warp *w, const struct copy_op *op, uint32_t lane,
                             struct pksim_copy *copy)
{
    uint32_t least = 1, align = op->tensor ? 128 : 16;
    if (copy->kind != PKSIM_COPY_LOAD &&
        !shared_place(w, &op->from, false, least, align, lane, &copy->from, &copy->from_offset))
        return false;
    if (copy->kind != PKSIM_COPY_STORE && copy->kind != PKSIM_COPY_REDUCE &&
        !shared_place(w, &op->to, true, least, align, lane, &copy->to, &copy->to_offset))
        return false;
    if (op->counts && !shared_place(w, &op->barrier, true, 8, 8, lane, &copy->barrier_cta, &copy->barrier))
        return false;
    return !op->multicast || set_multicast(w, op, lane, copy);
}

static bool issue_lane(struct pksim_warp *w, const struct copy_op *op, uint32_t lane)
{
    struct pksim_copy copy = {
        .kind = op->kind, .tensor = op->tensor, .reduce = op->reduce, .type = op->type, .counts = op->counts};
    if (op->tensor) {
        if (!read_map(w, op, lane, &copy))
            return false;
    } else {
        copy.bytes = pksim_get32(w, op->bytes, (int)lane);
        if (op->kind == PKSIM_COPY_LOAD)
            copy.global = pksim_lane_address(w, &op->from, PKSIM_PTX_GLOBAL, lane);
        if (op->kind == PKSIM_COPY_STORE || op->kind == PKSIM_COPY_REDUCE)
            copy.global = pksim_lane_address(w, &op->to, PKSIM_PTX_GLOBAL, lane);
    }
    return set_shared_sides(w, op, lane, &copy) && pksim_copy_issue(w, lane, &copy);
}

static enum pksim_step run_copy(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    pksim_note_effect(w);
    PKSIM_EACH(lane, mask)
    {
        if (!issue_lane(w, i->more, lane))
            return PKSIM_STEP_STOP;
    }
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_commit(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    (void)i;
    PKSIM_EACH(lane, mask)
    {
        if (!pksim_bulk_commit(w, lane))
            return PKSIM_STEP_STOP;
        if (w->check)
            pksim_check_bulk_commit(w, lane);
    }
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_wait(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct copy_op *op = i->more;
    PKSIM_EACH(lane, mask)
    {
        if (pksim_bulk_done(w, lane, i->target, op->reads))
            continue;
        if (mask != w->active) {
            pksim_split(w, w->pc + 1, w->active & ~mask);
            w->active = mask;
        }
        struct pksim_wait *wait = pksim_wait_here(w, PKSIM_WAIT_BULK);
        wait->id = i->target;
        wait->reads = op->reads;
        return PKSIM_STEP_BLOCK;
    }
    PKSIM_EACH(lane, w->check ? mask : 0)
    pksim_check_bulk_wait(w, lane, i->target, op->reads);
    return PKSIM_STEP_NEXT;
}

// ---- Decoding of bulk copies
// ---------------------------------------------------------------------------------------

static void add_copy(struct pksim_decoder *d, struct copy_op *op, pksim_run_fn *run, uint32_t target)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run;
    insn.more = op;
    insn.target = target;
    pksim_insn_add(d, &insn);
}

// [map, {coordinates}]
static void use_map(struct pksim_decoder *d, const struct pksim_operand *operand, struct copy_op *op)
{
    struct pksim_operand base = *operand;
    if (operand->kind != PKSIM_OP_ADDRESS || operand->count != 2 ||
        operand->elems[1].kind != PKSIM_OP_VECTOR || operand->elems[1].count != op->rank) {
        pksim_decode_fail(d, "expected [map, {%u coordinates}]", op->rank);
        return;
    }
    const struct pksim_operand *var = &operand->elems[0];
    op->map_space = PKSIM_PTX_GENERIC;
    if (var->kind == PKSIM_OP_VAR && var->var->space == PKSIM_PTX_PARAM && !var->var->frame_param)
        op->map_space = PKSIM_PTX_PARAM;
    base.count = 1;
    pksim_use_address(d, &base, &op->map);
    for (uint32_t k = 0; k < op->rank && !d->failed; k++)
        op->coords[k] = pksim_use(d, &operand->elems[1].elems[k], 4);
}

static void take_rank(struct pksim_decoder *d, struct copy_op *op)
{
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d"};
    op->tensor = pksim_mod(d, "tensor");
    for (uint32_t r = 0; op->tensor && r < 5; r++) {
        if (pksim_mod(d, ranks[r]))
            op->rank = r + 1;
    }
    if (op->tensor && !op->rank)
        pksim_decode_fail(d, "no rank that is supported");
    pksim_mod(d, "tile");
    pksim_mod(d, "cta_group::1");
}

// Which way the copy goes follows from the spaces that are named and how it completes.
static void take_direction(struct pksim_decoder *d, struct copy_op *op, bool reduces)
{
    bool global = pksim_mod(d, "global"), cluster = pksim_mod(d, "shared::cluster"),
         cta = pksim_mod(d, "shared::cta");
    bool group = pksim_mod(d, "bulk_group");
    op->counts = pksim_mod(d, "mbarrier::complete_tx::bytes");
    op->multicast = pksim_mod(d, "multicast::cluster");
    if (global && group && cta && !op->counts)
        op->kind = reduces ? PKSIM_COPY_REDUCE : PKSIM_COPY_STORE;
    else if (global && op->counts && (cluster || cta) && !reduces)
        op->kind = PKSIM_COPY_LOAD;
    else if (!global && cluster && cta && op->counts && !op->tensor)
        op->kind = reduces ? PKSIM_COPY_CLUSTER_REDUCE : PKSIM_COPY_CLUSTER;
    else
        pksim_decode_fail(d, "this form of bulk copy is not supported");
}

static void decode_flat(struct pksim_decoder *d, struct copy_op *op)
{
    uint32_t next = 3;
    pksim_use_address(d, pksim_operand_at(d, 0), &op->to);
    pksim_use_address(d, pksim_operand_at(d, 1), &op->from);
    op->bytes = pksim_use(d, pksim_operand_at(d, 2), 4);
    if (op->counts)
        pksim_use_address(d, pksim_operand_at(d, next++), &op->barrier);
    if (op->multicast)
        op->mask = pksim_use(d, pksim_operand_at(d, next), 2);
}

static void decode_tensor(struct pksim_decoder *d, struct copy_op *op)
{
    if (op->kind != PKSIM_COPY_LOAD) {
        use_map(d, pksim_operand_at(d, 0), op);
        pksim_use_address(d, pksim_operand_at(d, 1), &op->from);
        return;
    }
    pksim_use_address(d, pksim_operand_at(d, 0), &op->to);
    use_map(d, pksim_operand_at(d, 1), op);
    pksim_use_address(d, pksim_operand_at(d, 2), &op->barrier);
    if (op->multicast)
        op->mask = pksim_use(d, pksim_operand_at(d, 3), 2);
}

static void take_reduction(struct pksim_decoder *d, struct copy_op *op)
{
    if (!pksim_mod_reduce(d, &op->reduce)) {
        pksim_decode_fail(d, "no reduction that is supported");
        return;
    }
    pksim_mod(d, "noftz");
    if (op->tensor)
        return;
    op->type = pksim_mod_number(d, pksim_mod_last_type(d));
    if (!d->failed && !pksim_reduce_known(op->reduce, op->type))
        pksim_decode_fail(d, "the reduction does not exist for this type");
}

static void decode_prefetch(struct pksim_decoder *d)
{
    pksim_mod(d, "L2");
    pksim_mod(d, "global");
    pksim_decode_nothing(d);
}

static void decode_bulk(struct pksim_decoder *d, bool reduces)
{
    struct copy_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    if (pksim_mod(d, "commit_group")) {
        add_copy(d, op, run_commit, 0);
        return;
    }
    if (pksim_mod(d, "wait_group")) {
        op->reads = pksim_mod(d, "read");
        add_copy(d, op, run_wait, (uint32_t)pksim_immediate(d, pksim_operand_at(d, 0)));
        return;
    }
    take_rank(d, op);
    pksim_mod_cache(d);
    if (pksim_mod(d, "prefetch")) {
        decode_prefetch(d);
        return;
    }
    take_direction(d, op, reduces);
    if (reduces)
        take_reduction(d, op);
    if (d->failed)
        return;
    if (op->tensor)
        decode_tensor(d, op);
    else
        decode_flat(d, op);
    add_copy(d, op, run_copy, 0);
}

// ---- cp.async: small copies of each thread, carried out when they are issued
// ---------------------------------------

struct small_copy {
    struct pksim_address to, from;
    uint32_t bytes;
    pksim_place_t read_bytes; // PKSIM_NO_PLACE: all
};

static bool small_copy_lane(struct pksim_warp *w, const struct small_copy *op, uint32_t lane)
{
    struct pksim_ref to, from;
    const struct pksim_access_kind writes = {.access = PKSIM_WRITE, .proxy = PKSIM_PROXY_ASYNC};
    const struct pksim_access_kind reads = {.access = PKSIM_READ, .proxy = PKSIM_PROXY_ASYNC};
    unsigned char bytes[16] = {0};
    uint32_t count = op->read_bytes == PKSIM_NO_PLACE ? op->bytes : pksim_get32(w, op->read_bytes, (int)lane);
    count = count < op->bytes ? count : op->bytes;
    uint64_t source = pksim_lane_address(w, &op->from, PKSIM_PTX_GLOBAL, lane);
    for (uint32_t k = 0; k < count; k++) {
        if (!pksim_access(w, PKSIM_PTX_GLOBAL, false, source + k, 1, reads, lane, &from))
            return false;
        bytes[k] = *from.host;
    }
    if (!pksim_access(w, PKSIM_PTX_SHARED, false, pksim_lane_address(w, &op->to, PKSIM_PTX_SHARED, lane),
                      op->bytes, writes, lane, &to))
        return false;
    memcpy(to.host, bytes, op->bytes);
    return true;
}

static enum pksim_step run_small_copy(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    pksim_note_effect(w);
    PKSIM_EACH(lane, mask)
    {
        if (!small_copy_lane(w, i->more, lane))
            return PKSIM_STEP_STOP;
    }
    return PKSIM_STEP_NEXT;
}

static void decode_small(struct pksim_decoder *d)
{
    static const char *const inert[] = {"ca",     "cg",           "shared",   "shared::cta",
                                        "global", "commit_group", "wait_all", "wait_group"};
    bool copies = pksim_mod(d, "ca") || pksim_mod(d, "cg");
    struct pksim_insn insn = pksim_insn_begin(d);
    struct small_copy *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    for (size_t i = 0; i < sizeof inert / sizeof *inert; i++)
        pksim_mod(d, inert[i]);
    pksim_mod_cache(d);
    if (!copies) {
        pksim_decode_nothing(d);
        return;
    }
    pksim_use_address(d, pksim_operand_at(d, 0), &op->to);
    pksim_use_address(d, pksim_operand_at(d, 1), &op->from);
    op->bytes = (uint32_t)pksim_immediate(d, pksim_operand_at(d, 2));
    op->read_bytes = pksim_operand_count(d) > 3 ? pksim_use(d, pksim_operand_at(d, 3), 4) : PKSIM_NO_PLACE;
    if (op->bytes != 4 && op->bytes != 8 && op->bytes != 16)
        pksim_decode_fail(d, "cp.async copies 4, 8 or 16 bytes");
    insn.run = run_small_copy;
    insn.more = op;
    pksim_insn_add(d, &insn);
}

void pksim_decode_cp(struct pksim_decoder *d)
{
    bool reduces = pksim_mod(d, "reduce"), is_async = pksim_mod(d, "async");
    if (pksim_mod(d, "bulk"))
        decode_bulk(d, reduces);
    else if (is_async && !reduces)
        decode_small(d);
    else
        pksim_decode_fail(d, "unknown form of cp");
}
