// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics, fences (PTX ISA 9.7.9, 9.7.13).
#include "sim/check/check.h"
#include "sim/exec/access.h"
#include "sim/exec/lanes.h"
#include "sim/exec/rmw.h"

enum { MAX_VECTOR = 8 };

// What ld, st, atom and red keep. An element goes between memory (`bytes`) and a register (`reg_bytes`, not
// fewer).
struct memory_op {
    struct pksim_address address;
    struct pksim_access_kind kind;
    enum pksim_ptx_space space;
    enum pksim_ptx_type type;
    enum pksim_rmw_op rmw;
    bool cluster, is_signed;
    uint8_t count, bytes, reg_bytes;
    pksim_place_t regs[MAX_VECTOR];  // destination of ld and atom
    pksim_place_t value[MAX_VECTOR]; // source of st, atom and red
    pksim_place_t value2;            // the new value of cas
};

// ---- Decoding
// ------------------------------------------------------------------------------------------------------

static uint32_t take_vector(struct pksim_decoder *d)
{
    if (pksim_mod(d, "v2"))
        return 2;
    if (pksim_mod(d, "v4"))
        return 4;
    return pksim_mod(d, "v8") ? 8 : 1;
}

static const struct pksim_operand *element_at(struct pksim_decoder *d, const struct pksim_operand *operand,
                                              const struct memory_op *op, uint32_t index)
{
    if (op->count == 1 && operand->kind != PKSIM_OP_VECTOR)
        return operand;
    if (operand->kind == PKSIM_OP_VECTOR && operand->count == op->count)
        return &operand->elems[index];
    pksim_decode_fail(d, "expected %u registers in braces", op->count);
    return operand;
}

static uint32_t widest(struct pksim_decoder *d, const struct pksim_operand *operand,
                       const struct memory_op *op)
{
    uint32_t bytes = op->bytes < 2 ? 2 : op->bytes;
    for (uint32_t i = 0; i < op->count; i++) {
        uint32_t have = pksim_operand_bytes(d, element_at(d, operand, op, i), bytes);
        bytes = have > bytes ? have : bytes;
    }
    return bytes;
}

static void use_elements(struct pksim_decoder *d, const struct pksim_operand *operand, struct memory_op *op)
{
    op->reg_bytes = (uint8_t)widest(d, operand, op);
    for (uint32_t i = 0; i < op->count && !d->failed; i++)
        op->value[i] = pksim_use(d, element_at(d, operand, op, i), op->reg_bytes);
}

static void def_elements(struct pksim_decoder *d, const struct pksim_operand *operand, struct memory_op *op)
{
    op->reg_bytes = (uint8_t)widest(d, operand, op);
    for (uint32_t i = 0; i < op->count && !d->failed; i++)
        op->regs[i] = pksim_def(d, element_at(d, operand, op, i), op->reg_bytes);
}

static void set_type(struct pksim_decoder *d, struct memory_op *op)
{
    op->type = pksim_mod_last_type(d);
    op->bytes = (uint8_t)pksim_ptx_types[op->type].bytes;
    op->is_signed = pksim_ptx_types[op->type].kind == 'S';
    if (!d->failed && !op->bytes)
        pksim_decode_fail(d, "memory holds no predicates");
}

static void set_address(struct pksim_decoder *d, const struct pksim_operand *operand, struct memory_op *op)
{
    pksim_use_address(d, operand, &op->address);
    if (op->address.frame_param)
        op->space = PKSIM_PTX_LOCAL;
}

static struct memory_op *begin_op(struct pksim_decoder *d, uint8_t access)
{
    struct memory_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return NULL;
    set_type(d, op);
    op->kind = pksim_mod_order(d);
    op->kind.access = access;
    op->space = pksim_mod_space(d, &op->cluster);
    op->count = (uint8_t)take_vector(d);
    return op;
}

static void finish_op(struct pksim_decoder *d, struct memory_op *op, pksim_run_fn *run)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run;
    insn.more = op;
    pksim_insn_add(d, &insn);
}

// ---- ld and st
// -----------------------------------------------------------------------------------------------------

static uint64_t extend(uint64_t value, uint32_t bytes, bool is_signed)
{
    if (!is_signed || bytes >= 8)
        return value;
    uint32_t shift = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(value << shift) >> shift);
}

static void load_element(const struct pksim_warp *w, const struct memory_op *op, uint32_t index,
                         uint32_t lane, const unsigned char *from)
{
    if (op->bytes == 16) {
        memcpy(w->regs + op->regs[index] + (size_t)lane * 16, from, 16);
        return;
    }
    uint64_t value = pksim_part(from, op->bytes);
    pksim_set(w, op->regs[index], op->reg_bytes, (int)lane, extend(value, op->bytes, op->is_signed));
}

// Loads that order something, or are volatile, are what programs poll with.
static bool may_poll(const struct memory_op *op)
{
    return op->kind.order != PKSIM_WEAK;
}

static enum pksim_step run_ld(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct memory_op *op = i->more;
    uint32_t size = (uint32_t)op->count * op->bytes;
    PKSIM_EACH(lane, mask)
    {
        struct pksim_ref ref;
        uint64_t address = pksim_lane_address(w, &op->address, op->space, lane);
        if (!pksim_access(w, op->space, op->cluster, address, size, op->kind, lane, &ref))
            return PKSIM_STEP_STOP;
        for (uint32_t k = 0; k < op->count; k++)
            load_element(w, op, k, lane, ref.host + (size_t)k * op->bytes);
        if (may_poll(op))
            pksim_note_poll(w, ref.host, size < 8 ? size : 8, address);
    }
    if (may_poll(op))
        pksim_note_look(w);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_ld(struct pksim_decoder *d)
{
    struct memory_op *op = begin_op(d, PKSIM_READ);
    if (!op)
        return;
    bool hint = pksim_mod_cache(d);
    set_address(d, pksim_operand_at(d, 1), op);
    (void)hint;
    def_elements(d, pksim_operand_at(d, 0), op);
    finish_op(d, op, run_ld);
}

static enum pksim_step run_st(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct memory_op *op = i->more;
    uint32_t size = (uint32_t)op->count * op->bytes;
    PKSIM_EACH(lane, mask)
    {
        struct pksim_ref ref;
        uint64_t address = pksim_lane_address(w, &op->address, op->space, lane);
        if (!pksim_access(w, op->space, op->cluster, address, size, op->kind, lane, &ref))
            return PKSIM_STEP_STOP;
        for (uint32_t k = 0; k < op->count; k++)
            memcpy(ref.host + (size_t)k * op->bytes,
                   (const uint8_t *)pksim_at(w, op->value[k]) + (size_t)lane * op->reg_bytes, op->bytes);
    }
    pksim_note_effect(w);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_st(struct pksim_decoder *d)
{
    // st.async writes another CTA's shared memory and counts bytes there.
    if (pksim_mod(d, "async") || pksim_mod(d, "bulk")) {
        pksim_decode_fail(d, "asynchronous stores are not supported");
        return;
    }
    struct memory_op *op = begin_op(d, PKSIM_WRITE);
    if (!op)
        return;
    pksim_mod_cache(d);
    set_address(d, pksim_operand_at(d, 0), op);
    use_elements(d, pksim_operand_at(d, 1), op);
    finish_op(d, op, run_st);
}

// ---- atom and red
// --------------------------------------------------------------------------------------------------

static bool rmw_element(struct pksim_warp *w, const struct memory_op *op, uint32_t index, uint32_t lane,
                        unsigned char *at)
{
    uint64_t old = 0, fresh;
    uint64_t b = pksim_get(w, op->value[index], op->reg_bytes, (int)lane);
    uint64_t c = op->rmw == PKSIM_RMW_CAS ? pksim_get(w, op->value2, op->reg_bytes, (int)lane) : 0;
    memcpy(&old, at, op->bytes);
    fresh = pksim_rmw(op->rmw, op->type, old, b, c);
    memcpy(at, &fresh, op->bytes);
    if (op->regs[index] != PKSIM_NO_PLACE)
        pksim_set(w, op->regs[index], op->reg_bytes, (int)lane, old);
    return memcmp(&old, &fresh, op->bytes) != 0;
}

// An atomic that changes nothing is a look at memory, and may be a poll.
static enum pksim_step run_rmw(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct memory_op *op = i->more;
    uint32_t size = (uint32_t)op->count * op->bytes;
    PKSIM_EACH(lane, mask)
    {
        struct pksim_ref ref;
        bool changed = false;
        uint64_t address = pksim_lane_address(w, &op->address, op->space, lane);
        if (!pksim_access(w, op->space, op->cluster, address, size, op->kind, lane, &ref))
            return PKSIM_STEP_STOP;
        for (uint32_t k = 0; k < op->count; k++)
            changed |= rmw_element(w, op, k, lane, ref.host + (size_t)k * op->bytes);
        if (changed)
            pksim_note_effect(w);
        else
            pksim_note_poll(w, ref.host, size < 8 ? size : 8, address);
    }
    pksim_note_look(w);
    return PKSIM_STEP_NEXT;
}

static struct memory_op *begin_rmw(struct pksim_decoder *d)
{
    struct memory_op *op = begin_op(d, PKSIM_READ | PKSIM_WRITE);
    if (!op)
        return NULL;
    op->kind.rmw = true;
    pksim_mod(d, "noftz");
    pksim_mod_cache(d);
    if (!pksim_mod_rmw(d, &op->rmw))
        return NULL;
    if (op->kind.order == PKSIM_WEAK)
        op->kind.order = PKSIM_RELAXED;
    if (op->kind.scope == PKSIM_SCOPE_NONE)
        op->kind.scope = PKSIM_SCOPE_GPU;
    if (!pksim_rmw_allowed(op->rmw, op->type)) {
        pksim_decode_fail(d, "the operation does not exist for this type");
        return NULL;
    }
    for (int k = 0; k < MAX_VECTOR; k++)
        op->regs[k] = PKSIM_NO_PLACE;
    return op;
}

void pksim_decode_atom(struct pksim_decoder *d)
{
    struct memory_op *op = begin_rmw(d);
    if (!op)
        return;
    set_address(d, pksim_operand_at(d, 1), op);
    use_elements(d, pksim_operand_at(d, 2), op);
    if (op->rmw == PKSIM_RMW_CAS)
        op->value2 = pksim_use(d, pksim_operand_at(d, 3), op->reg_bytes);
    if (pksim_operand_at(d, 0)->kind != PKSIM_OP_SINK)
        def_elements(d, pksim_operand_at(d, 0), op);
    finish_op(d, op, run_rmw);
}

void pksim_decode_red(struct pksim_decoder *d)
{
    if (pksim_mod(d, "async")) {
        pksim_decode_fail(d, "asynchronous reductions of registers are not supported");
        return;
    }
    struct memory_op *op = begin_rmw(d);
    if (!op)
        return;
    set_address(d, pksim_operand_at(d, 0), op);
    use_elements(d, pksim_operand_at(d, 1), op);
    finish_op(d, op, run_rmw);
}

// ---- Addresses
// -----------------------------------------------------------------------------------------------------

struct cvta_op {
    uint64_t add, keep;
    uint8_t bytes;
};

static enum pksim_step run_cvta(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct cvta_op *op = i->more;
    PKSIM_EACH(lane, mask)
    {
        uint64_t value = pksim_get(w, i->src[0], op->bytes, (int)lane);
        pksim_set(w, i->dst, op->bytes, (int)lane, (value + op->add) & op->keep);
    }
    return PKSIM_STEP_NEXT;
}

static uint64_t window_of(enum pksim_ptx_space space)
{
    switch (space) {
    case PKSIM_PTX_SHARED:
        return PKSIM_WINDOW_SHARED;
    case PKSIM_PTX_LOCAL:
        return PKSIM_WINDOW_LOCAL;
    case PKSIM_PTX_PARAM:
        return PKSIM_WINDOW_PARAM;
    case PKSIM_PTX_GLOBAL:
    case PKSIM_PTX_CONST:
    case PKSIM_PTX_GENERIC:
        break;
    }
    return 0;
}

void pksim_decode_cvta(struct pksim_decoder *d)
{
    struct cvta_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    bool to = pksim_mod(d, "to");
    enum pksim_ptx_type type = pksim_mod_last_type(d);
    uint64_t window = window_of(pksim_mod_space(d, NULL));
    op->bytes = (uint8_t)pksim_ptx_types[type].bytes;
    if (op->bytes != 8 && !d->failed)
        pksim_decode_fail(d, "addresses have 64 bits");
    op->add = to ? 0 : window;
    op->keep = to && window ? ~PKSIM_WINDOW_MASK : UINT64_MAX;
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_cvta;
    insn.more = op;
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), 8);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), 8);
    pksim_insn_add(d, &insn);
}

struct isspacep_op {
    uint64_t window;
    bool cta;
};

static enum pksim_step run_isspacep(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct isspacep_op *op = i->more;
    uint32_t result = 0;
    PKSIM_EACH(lane, mask)
    {
        uint64_t address = pksim_get64(w, i->src[0], (int)lane);
        bool inside = (address & PKSIM_WINDOW_MASK) == op->window;
        if (op->cta && (address & 0xffffffff) >> PKSIM_SHARED_RANK_SHIFT != w->cta->rank)
            inside = false;
        result |= (uint32_t)inside << lane;
    }
    pksim_set_mask(w, i->dst, mask, result);
    return PKSIM_STEP_NEXT;
}

void pksim_decode_isspacep(struct pksim_decoder *d)
{
    struct isspacep_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    bool cluster;
    enum pksim_ptx_space space = pksim_mod_space(d, &cluster);
    if (space == PKSIM_PTX_GENERIC || space == PKSIM_PTX_CONST)
        pksim_decode_fail(d, "no space that can be told apart");
    op->window = window_of(space);
    op->cta = space == PKSIM_PTX_SHARED && !cluster;
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_isspacep;
    insn.more = op;
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), 8);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), 0);
    pksim_insn_add(d, &insn);
}

// mapa: the address of the same place in CTA `rank` of the cluster.
static enum pksim_step run_mapa(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    uint32_t bytes = i->dst_bytes;
    const uint64_t rank_bits = (uint64_t)0xff << PKSIM_SHARED_RANK_SHIFT;
    PKSIM_EACH(lane, mask)
    {
        uint64_t address = pksim_get(w, i->src[0], bytes, (int)lane);
        uint64_t rank = pksim_get32(w, i->src[1], (int)lane);
        if (rank >= w->cta->cluster->count) {
            pksim_raise(w->exec, w, PKSIM_FAULT_BAD_OPERAND, "lane %u: CTA %llu of a cluster of %u", lane,
                        (unsigned long long)rank, w->cta->cluster->count);
            return PKSIM_STEP_STOP;
        }
        address = (address & ~rank_bits) | rank << PKSIM_SHARED_RANK_SHIFT;
        pksim_set(w, i->dst, bytes, (int)lane, address);
    }
    return PKSIM_STEP_NEXT;
}

void pksim_decode_mapa(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    enum pksim_ptx_type type = pksim_mod_last_type(d);
    pksim_mod_space(d, NULL);
    insn.dst_bytes = (uint8_t)pksim_ptx_types[type].bytes;
    insn.run = run_mapa;
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), insn.dst_bytes);
    insn.src[1] = pksim_use(d, pksim_operand_at(d, 2), 4);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), insn.dst_bytes);
    pksim_insn_add(d, &insn);
}

static enum pksim_step run_getctarank(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    PKSIM_EACH(lane, mask)
    {
        uint64_t address = pksim_get(w, i->src[0], i->dst_bytes, (int)lane);
        pksim_set(w, i->dst, 4, (int)lane, (address & 0xffffffff) >> PKSIM_SHARED_RANK_SHIFT);
    }
    return PKSIM_STEP_NEXT;
}

void pksim_decode_getctarank(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    enum pksim_ptx_type type = pksim_mod_last_type(d);
    pksim_mod_space(d, NULL);
    insn.dst_bytes = (uint8_t)pksim_ptx_types[type].bytes;
    insn.run = run_getctarank;
    insn.src[0] = pksim_use(d, pksim_operand_at(d, 1), insn.dst_bytes);
    insn.dst = pksim_def(d, pksim_operand_at(d, 0), 4);
    pksim_insn_add(d, &insn);
}

// ---- What only orders or hints
// -------------------------------------------------------------------------------------

struct fence_op {
    enum pksim_scope scope; // NONE: a fence of proxies only
    uint32_t proxies;       // PKSIM_FENCE_*
};

// One warp instruction runs at a time and each completes before the next: every fence holds already. Only the
// race detector asks which there were.
static enum pksim_step run_fence(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct fence_op *op = i->more;
    if (!w->check)
        return PKSIM_STEP_NEXT;
    if (op->scope)
        pksim_check_fence(w, mask, op->scope);
    if (op->proxies)
        pksim_check_proxy_fence(w, mask, op->proxies);
    return PKSIM_STEP_NEXT;
}

static enum pksim_step run_nothing(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    (void)w;
    (void)i;
    (void)mask;
    return PKSIM_STEP_NEXT;
}

// membar.cta, .gl and .sys are fence.sc of cta, gpu and sys scope (PTX ISA 9.7.13.4).
static enum pksim_scope take_fence_scope(struct pksim_decoder *d)
{
    static const struct {
        const char *name;
        enum pksim_scope scope;
    } scopes[] = {{"cta", PKSIM_SCOPE_CTA},
                  {"cluster", PKSIM_SCOPE_CLUSTER},
                  {"gpu", PKSIM_SCOPE_GPU},
                  {"gl", PKSIM_SCOPE_GPU},
                  {"sys", PKSIM_SCOPE_SYS}};
    enum pksim_scope scope = PKSIM_SCOPE_NONE;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (pksim_mod(d, scopes[i].name))
            scope = scopes[i].scope;
    return scope;
}

// fence.proxy.async, of both kinds of memory or of one; fence.mbarrier_init, which makes mbarriers visible to
// asynchronous work as well; fence.proxy.alias.
static uint32_t take_fence_proxies(struct pksim_decoder *d)
{
    const uint32_t both = PKSIM_FENCE_SHARED | PKSIM_FENCE_GLOBAL;
    bool proxy = pksim_mod(d, "proxy");
    if (pksim_mod(d, "mbarrier_init"))
        return PKSIM_FENCE_SHARED;
    if (!proxy)
        return 0;
    if (pksim_mod(d, "alias"))
        return PKSIM_FENCE_ALIAS;
    bool async = pksim_mod(d, "async") || pksim_mod(d, "async::generic");
    if (pksim_mod(d, "async.global") || (async && pksim_mod(d, "global")))
        return PKSIM_FENCE_GLOBAL;
    if (pksim_mod(d, "async.shared::cta") ||
        (async && (pksim_mod(d, "shared::cta") || pksim_mod(d, "shared::cluster"))))
        return PKSIM_FENCE_SHARED;
    return async ? both : 0;
}

void pksim_decode_fence(struct pksim_decoder *d)
{
    static const char *const words[] = {"tensormap::generic",
                                        "sc",
                                        "acq_rel",
                                        "acquire",
                                        "release",
                                        "sync_restrict::shared::cta",
                                        "sync_restrict::shared::cluster"};
    struct fence_op *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    op->proxies = take_fence_proxies(d);
    op->scope = take_fence_scope(d);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        pksim_mod(d, words[i]);
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_fence;
    insn.more = op;
    pksim_insn_add(d, &insn);
}

void pksim_decode_prefetch(struct pksim_decoder *d)
{
    static const char *const words[] = {"L1", "L2", "L2::evict_normal", "L2::evict_last", "tensormap"};
    struct pksim_insn insn = pksim_insn_begin(d);
    pksim_mod_space(d, NULL);
    pksim_mod_cache(d);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        pksim_mod(d, words[i]);
    insn.run = run_nothing;
    pksim_insn_add(d, &insn);
}

void pksim_decode_nothing(struct pksim_decoder *d)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    pksim_mod(d, "wait");
    pksim_mod(d, "launch_dependents");
    pksim_mod(d, "mask");
    insn.run = run_nothing;
    pksim_insn_add(d, &insn);
}
