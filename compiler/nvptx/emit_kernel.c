// SPDX-License-Identifier: Apache-2.0
// One kernel: entry, dispatch of groups, warpgroups and roles, exit. Every branch here is a two-way if: a
// switch while a product is in flight makes ptxas inject a wait.
#include "nvptx/abi.h"
#include "nvptx/emit.h"
#include "nvptx/geometry.h"

enum { MAX_UNITS = 64, WARPS_OF_GROUP = 4 };

/// A run of warps with one job: a role, or the keeper (role NULL).
typedef struct unit {
    const ir_role *role;
    int first, warps;
} unit;

typedef struct units {
    unit unit[MAX_UNITS];
    int n;
} units;

// ---- entry
// -------------------------------------------------------------------------------------------------

static void find_threads(nv_emit *e)
{
    e->tid = nv_call0(e, NV_TID);
    e->cta = nv_call0(e, NV_CTAID);
    e->lane = nv_andi(e, e->tid, 31);
    // A warp number that goes through shfl is uniform in the eyes of ptxas, which keeps addresses in uniform
    // registers.
    e->warp = nv_call(e, NV_SHFL_IDX, nv_i32(e, -1), nv_shri(e, e->tid, 5), nv_i32(e, 0), nv_i32(e, 31));
}

// Several ranks of one device share a launch: ctaid.y is the rank within the device, their blocks follow each
// other.
static void find_block(nv_emit *e)
{
    e->block = LLVMGetParam(e->fn, 0);
    LLVMValueRef size =
        nv_addi(e, nv_muli(e, nv_ranks(e), e->lay->size_ranks), e->lay->size + NV_ABI_BLOCK_ALIGN - 1);
    LLVMValueRef far = nv_mul(e, nv_call0(e, NV_CTAID_Y), nv_andi(e, size, -NV_ABI_BLOCK_ALIGN));
    far = LLVMBuildZExt(e->b, far, e->c->i64, "");
    e->block = LLVMBuildGEP2(e->b, e->c->i8, e->block, &far, 1, "block");
}

static LLVMValueRef in_group(nv_emit *e, const ir_group *g)
{
    LLVMValueRef number = nv_sub(e, e->cta, nv_group_first(e, g));
    return nv_cmp(e, LLVMIntULT, number, nv_group_count(e, g));
}

static bool has_groups(const ir_kernel *k)
{
    return k->groups && (k->groups->next || *k->groups->name);
}

static void init_pipe(nv_emit *e, const ir_pipe *pipe)
{
    for (int s = 0; s < pipe->slots; s++) {
        LLVMValueRef full = nv_i32(e, pipe->full_bar + 8 * s), empty = nv_i32(e, pipe->free_bar + 8 * s);
        nv_call(e, NV_MBAR_INIT, nv_shared(e, full), nv_i32(e, pipe->full_count));
        nv_call(e, NV_MBAR_INIT, nv_shared(e, empty), nv_i32(e, pipe->free_count));
    }
}

static void init_pipes(nv_emit *e)
{
    for (const ir_group *g = e->k->groups; g; g = g->next) {
        LLVMBasicBlockRef after = has_groups(e->k) ? nv_begin_if(e, in_group(e, g)) : NULL;
        for (const ir_pipe *p = e->k->pipes; p; p = p->next)
            if (p->group == g)
                init_pipe(e, p);
        if (after)
            nv_end_if(e, after);
    }
}

// The map of a tensor with an axis of size 0 is not a map: it must not be touched.
static LLVMValueRef is_map(nv_emit *e, const ir_param *p)
{
    LLVMValueRef there = llvmc_bool(e->c, true);
    for (int axis = 0; axis < p->n_dims; axis++)
        there = nv_and(e, there, nv_cmp(e, LLVMIntNE, nv_axis(e, p, axis), nv_i32(e, 0)));
    return there;
}

static void prefetch_maps(nv_emit *e)
{
    for (int i = 0; i < e->lay->n_maps; i++) {
        const nv_tmap *map = &e->lay->maps[i];
        if (map->per_rank)
            continue;
        LLVMBasicBlockRef after = nv_begin_if(e, is_map(e, map->param));
        nv_call(e, NV_PREFETCH_MAP, nv_tensor_map(e, map, NULL));
        nv_end_if(e, after);
    }
}

static void emit_entry(nv_emit *e)
{
    find_threads(e);
    find_block(e);
    if (!e->k->pipes)
        return;
    LLVMBasicBlockRef after = nv_begin_if(e, nv_is(e, e->tid, 0));
    prefetch_maps(e);
    init_pipes(e);
    nv_call0(e, NV_FENCE_ASYNC_CTA); // bulk copies complete on these barriers
    nv_end_if(e, after);
    nv_call(e, NV_BAR_CTA_ALIGNED, nv_i32(e, 0));
}

// ---- roles
// -------------------------------------------------------------------------------------------------

typedef struct needs {
    bool products, bank;
} needs;

static bool see_needs(ir_op *op, void *user)
{
    needs *n = user;
    n->products |= op->kind == IR_MMA_ISSUE;
    n->bank |= op->kind == IR_SIG;
    return true;
}

// Number of the first word of this launch's bank, read once: the epoch changes at the exit barrier only.
static void prepare_role(nv_emit *e)
{
    needs n = {0};
    if (e->role->body)
        ir_walk(e->role->body, see_needs, NULL, &n);
    e->products = n.products;
    e->bank = n.bank ? nv_mul(e, nv_andi(e, nv_epoch(e), 1), nv_bank_words(e)) : NULL;
    if (e->role->ring >= 0)
        nv_ring_start(e);
}

static void emit_role(nv_emit *e, const ir_role *role)
{
    e->role = role;
    e->role_warp = nv_addi(e, e->warp, -role->first_warp);
    e->role_thread = nv_addi(e, e->tid, (int64_t)-32 * role->first_warp);
    LLVMBasicBlockRef after = NULL;
    if (role->thin) {
        LLVMValueRef elected = nv_call(e, NV_ELECT, nv_i32(e, -1));
        after = nv_begin_if(e, LLVMBuildExtractValue(e->b, elected, 1, ""));
    }
    prepare_role(e);
    if (role->body)
        nv_region(e, role->body);
    if (after)
        nv_end_if(e, after);
    llvmc_at(e->c, e->k->pos, e->k->pos);
    e->role = NULL;
}

static void emit_unit(nv_emit *e, const unit *u)
{
    if (u->role)
        emit_role(e, u->role);
    else
        nv_keeper(e);
}

static units units_of(const ir_group *g)
{
    units u = {.n = 0};
    for (const ir_role *r = g->roles; r && u.n < MAX_UNITS - 1; r = r->next)
        if (r->body)
            u.unit[u.n++] = (unit){r, r->first_warp, r->warps};
    if (g->keeper_warp >= 0)
        u.unit[u.n++] = (unit){NULL, g->keeper_warp, 1};
    for (int i = 1; i < u.n; i++) // by their first warp
        for (int j = i; j > 0 && u.unit[j - 1].first > u.unit[j].first; j--) {
            unit t = u.unit[j];
            u.unit[j] = u.unit[j - 1];
            u.unit[j - 1] = t;
        }
    return u;
}

/// Whole warpgroups that no other unit reaches into: they change their register budget together.
typedef struct section {
    int from, to;   // units
    int first, end; // warps
    int regs;
} section;

static section next_section(const units *u, int from)
{
    section s = {.from = from, .to = from};
    s.first = u->unit[from].first / WARPS_OF_GROUP * WARPS_OF_GROUP;
    s.end = s.first;
    while (s.to < u->n && (s.to == from || u->unit[s.to].first < s.end)) {
        const unit *v = &u->unit[s.to++];
        int end = (v->first + v->warps + WARPS_OF_GROUP - 1) / WARPS_OF_GROUP * WARPS_OF_GROUP;
        s.end = end > s.end ? end : s.end;
        if (v->role && v->role->regs > s.regs)
            s.regs = v->role->regs;
    }
    return s;
}

static void set_registers(nv_emit *e, int regs)
{
    int now = e->k->place.entry_regs;
    if (!e->c->target->setmaxnreg || !now || !regs || regs == now)
        return;
    nv_call(e, regs > now ? NV_SETMAXNREG_INC : NV_SETMAXNREG_DEC, nv_i32(e, regs));
}

static LLVMValueRef in_warps(nv_emit *e, int first, int end)
{
    if (end == first + 1)
        return nv_is(e, e->warp, first);
    return nv_cmp(e, LLVMIntULT, nv_addi(e, e->warp, -first), nv_i32(e, end - first));
}

// In a group whose warpgroup roles take registers, all other warps give theirs up, those without a job too.
static bool moves_registers(const ir_group *g)
{
    for (const ir_role *r = g->roles; r; r = r->next)
        if (r->regs)
            return true;
    return false;
}

// Leaves the builder in a block that only warps without a job reach, and ends it with a branch to `fin`.
static void emit_section(nv_emit *e, const units *u, section s, LLVMBasicBlockRef fin)
{
    set_registers(e, s.regs || !moves_registers(e->group) ? s.regs : e->k->place.helper_regs);
    for (int i = s.from; i < s.to; i++) {
        const unit *v = &u->unit[i];
        LLVMBasicBlockRef mine = nv_block(e, "role"), other = nv_block(e, "next");
        if (v->first == s.first && v->first + v->warps == s.end)
            nv_goto(e, mine);
        else
            nv_branch(e, in_warps(e, v->first, v->first + v->warps), mine, other);
        nv_enter(e, mine);
        emit_unit(e, v);
        nv_goto(e, fin);
        nv_enter(e, other);
    }
    nv_goto(e, fin);
}

static void emit_group(nv_emit *e, const ir_group *g, LLVMBasicBlockRef fin)
{
    e->group = g;
    units u = units_of(g);
    int covered = 0;
    for (int from = 0; from < u.n;) {
        section s = next_section(&u, from);
        LLVMBasicBlockRef mine = nv_block(e, "section"), other = nv_block(e, "next");
        int threads = e->k->place.threads;
        if (s.first == 0 && s.end * 32 >= threads)
            nv_goto(e, mine);
        else
            nv_branch(e, in_warps(e, s.first, s.end), mine, other);
        nv_enter(e, mine);
        emit_section(e, &u, s, fin);
        nv_enter(e, other);
        from = s.to;
        covered += s.end - s.first;
    }
    if (covered * 32 < e->k->place.threads && moves_registers(g))
        set_registers(e, e->k->place.helper_regs);
    nv_goto(e, fin);
}

// CTAs beyond the last group have nothing to do, but they count at entry and exit like all others.
static void emit_idle(nv_emit *e, LLVMBasicBlockRef fin)
{
    if (e->k->groups->keeper_warp >= 0) { // every group has one, or none has
        e->group = NULL;
        LLVMBasicBlockRef after = nv_begin_if(e, nv_is(e, e->warp, e->k->groups->keeper_warp));
        nv_keeper(e);
        nv_end_if(e, after);
    }
    nv_goto(e, fin);
}

static void emit_groups(nv_emit *e, LLVMBasicBlockRef fin)
{
    if (!has_groups(e->k)) {
        emit_group(e, e->k->groups, fin);
        return;
    }
    for (const ir_group *g = e->k->groups; g; g = g->next) {
        LLVMBasicBlockRef mine = nv_block(e, "group"), other = nv_block(e, "next");
        nv_branch(e, in_group(e, g), mine, other);
        nv_enter(e, mine);
        emit_group(e, g, fin);
        nv_enter(e, other);
    }
    emit_idle(e, fin);
}

// ---- the kernel
// --------------------------------------------------------------------------------------------

static LLVMValueRef shared_memory(llvmc *c)
{
    LLVMValueRef smem = LLVMGetNamedGlobal(c->module, "pk_smem");
    if (smem)
        return smem;
    smem = LLVMAddGlobalInAddressSpace(c->module, LLVMArrayType2(c->i8, 0), "pk_smem", NV_AS_SHARED);
    LLVMSetLinkage(smem, LLVMExternalLinkage);
    LLVMSetAlignment(smem, 1024); // the swizzle's pattern and the slots count from here
    return smem;
}

static void emit_exit(nv_emit *e, LLVMBasicBlockRef fin)
{
    nv_enter(e, fin);
    if (nv_has_exit(e->k) || e->k->needs_entry) { // the epoch advances even where nobody waits
        nv_sync_warp(e);
        nv_call(e, NV_BAR_CTA, nv_i32(e, 0));
        LLVMBasicBlockRef after = nv_begin_if(e, nv_is(e, e->tid, 0));
        nv_exit_protocol(e);
        nv_end_if(e, after);
    }
    LLVMBuildRetVoid(e->b);
    nv_enter(e, e->stop);
    LLVMBuildRetVoid(e->b);
}

bool nv_emit_kernel(llvmc *c, const ir_kernel *k, const nv_layout *lay)
{
    nv_emit e = {.c = c, .b = c->b, .arena = k->arena, .k = k, .lay = lay};
    const char *name = pkc_arena_printf(k->arena, "pk%d_%s", NV_ABI_MAJOR, k->name);
    e.fn = llvmc_kernel(c, name, NV_ABI_PARAM_BYTES, k->place.threads, k->pos);
    e.smem = shared_memory(c);
    e.stop = nv_block(&e, "stop");
    nv_enter(&e, nv_block(&e, "entry"));
    LLVMMoveBasicBlockBefore(nv_here(&e), LLVMGetFirstBasicBlock(e.fn));
    llvmc_at(c, k->pos, k->pos);
    emit_entry(&e);
    LLVMBasicBlockRef fin = nv_block(&e, "fin");
    emit_groups(&e, fin);
    emit_exit(&e, fin);
    return !c->failed;
}
