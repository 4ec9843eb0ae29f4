// SPDX-License-Identifier: Apache-2.0
// Pass `place`: shared memory, warps, named barriers, register budgets, and whether they fit.
#include "ir/place.h"

#include "ir/slay.h"

typedef struct placer {
    ir_kernel *k;
    const ir_options *options;
    int64_t end; // first free byte of shared memory
    bool ok;
} placer;

static int64_t align_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

// ---- shared memory
// -------------------------------------------------------------------------------------------

static void place_fields(ir_pipe *p)
{
    int64_t end = 0, align = 16;
    for (int i = 0; i < p->n_fields; i++) {
        ir_field *f = &p->field[i];
        int64_t need = ir_layout_align(f->layout);
        f->offset = align_up(end, need);
        end = f->offset + ir_tile_bytes(f->elem, f->rows, f->cols);
        align = need > align ? need : align;
    }
    p->slot_bytes = align_up(end, align);
}

static int64_t pipe_bytes(const ir_pipe *p)
{
    return p->slots * p->slot_bytes;
}

/// The largest pipe of the group that has no place yet (offset -1).
static ir_pipe *next_pipe(const placer *s, const ir_group *group)
{
    ir_pipe *best = NULL;
    for (ir_pipe *p = s->k->pipes; p != NULL; p = p->next)
        if (p->group == group && p->offset < 0 && (best == NULL || pipe_bytes(p) > pipe_bytes(best)))
            best = p;
    return best;
}

/// Pipes and shared tiles of a group from byte 0 on: a worker belongs to one group only.
static int64_t place_group(placer *s, ir_group *group)
{
    int64_t end = 0;
    for (ir_pipe *p = next_pipe(s, group); p != NULL; p = next_pipe(s, group)) {
        p->offset = align_up(end, 1024);
        end = p->offset + pipe_bytes(p);
    }
    for (ir_shared *h = s->k->shared; h != NULL; h = h->next) {
        if (h->role == NULL || h->role->group != group)
            continue;
        h->offset = align_up(end, ir_layout_align(h->layout));
        end = h->offset + ir_tile_bytes(h->elem, h->rows, h->cols);
    }
    return end;
}

static void place_tiles(placer *s)
{
    for (ir_pipe *p = s->k->pipes; p != NULL; p = p->next) {
        place_fields(p);
        p->offset = -1;
    }
    for (ir_group *g = s->k->groups; g != NULL; g = g->next) {
        int64_t end = place_group(s, g);
        s->end = end > s->end ? end : s->end;
    }
}

/// Barriers are never shared: every worker initialises those of all pipes.
static void place_barriers(placer *s)
{
    s->end = align_up(s->end, 8);
    for (ir_pipe *p = s->k->pipes; p != NULL; p = p->next) {
        p->full_bar = s->end;
        p->free_bar = s->end + 8 * (int64_t)p->slots;
        s->end += 16 * (int64_t)p->slots;
    }
}

typedef struct needs {
    int warps;
    bool ring, sync;
    int64_t scratch;
} needs;

/// Scratch of a column reduction: one partial row a warp; of a redistribution: the whole tile.
static bool find_needs(ir_op *op, void *user)
{
    needs *n = user;
    int64_t scratch = 0;
    if (op->kind == IR_CRED)
        scratch = (int64_t)n->warps * op->out[0].type->cols * 4;
    if (op->kind == IR_REDIST)
        scratch = ir_tile_bytes(ir_in(op, 0)->type->elem, ir_in(op, 0)->type->rows, ir_in(op, 0)->type->cols);
    n->scratch = scratch > n->scratch ? scratch : n->scratch;
    n->ring = n->ring || op->kind == IR_SIG_PUSH;
    n->sync = n->sync || scratch > 0 || (op->kind == IR_SYNC && op->sub == IR_SYNC_ROLE);
    return true;
}

static needs role_needs(const ir_role *role)
{
    needs n = {.warps = ir_role_warps(role)};
    ir_walk(role->body, find_needs, NULL, &n);
    return n;
}

/// Roles run beside each other, so each has its own.
static void place_scratch(placer *s)
{
    for (ir_group *g = s->k->groups; g != NULL; g = g->next)
        for (ir_role *r = g->roles; r != NULL; r = r->next) {
            needs n = role_needs(r);
            r->ring = n.ring ? align_up(s->end, 16) : -1;
            s->end = n.ring ? r->ring + IR_RING_BYTES : s->end;
            r->scratch = n.scratch > 0 ? align_up(s->end, 16) : 0;
            s->end = n.scratch > 0 ? r->scratch + n.scratch : s->end;
            s->k->place.scratch_bytes += n.scratch;
        }
}

static void note_pipes(const placer *s, pkc_diag *d, int64_t *barriers)
{
    for (const ir_pipe *p = s->k->pipes; p != NULL; p = p->next) {
        pkc_diag_note(d, p->pos, "pipe '%s' takes %lld bytes: %d slots of %lld", p->name,
                      (long long)pipe_bytes(p), p->slots, (long long)p->slot_bytes);
        for (int i = 0; i < p->n_fields && p->n_fields > 1; i++)
            pkc_diag_note(d, p->field[i].pos, "'%s' takes %lld bytes of a slot", p->field[i].name,
                          (long long)ir_tile_bytes(p->field[i].elem, p->field[i].rows, p->field[i].cols));
        *barriers += 16 * (int64_t)p->slots;
    }
}

static void check_smem(placer *s)
{
    s->k->place.smem = s->end;
    if (s->end <= s->options->smem_limit)
        return;
    s->ok = false;
    pkc_diag *d = pkc_diag_error(s->k->session, PKC_DIAG_SHARED_BUDGET, s->k->pos, s->k->name,
                                 (long long)s->end, (long long)s->options->smem_limit);
    int64_t barriers = 0;
    note_pipes(s, d, &barriers);
    for (const ir_shared *h = s->k->shared; h != NULL; h = h->next)
        pkc_diag_note(d, h->pos, "shared '%s' takes %lld bytes", h->name,
                      (long long)ir_tile_bytes(h->elem, h->rows, h->cols));
    pkc_diag_note(d, (pkc_span){0}, "barriers take %lld bytes", (long long)barriers);
    if (s->k->place.scratch_bytes > 0)
        pkc_diag_note(d, (pkc_span){0}, "scratch space for reductions and transposes takes %lld bytes",
                      (long long)s->k->place.scratch_bytes);
    pkc_diag_help(d, "%s", "use smaller tiles or fewer slots");
}

// ---- warps, registers, barriers
// ------------------------------------------------------------------------------

static int place_role(ir_role *role, int first, int regs)
{
    role->first_warp = first;
    role->warps = ir_role_warps(role);
    role->regs = regs;
    return first + role->warps;
}

/// Thin roles first, then other helpers, then the keeper; warpgroup roles follow at a multiple of four warps.
static void place_warps(placer *s, ir_group *group)
{
    ir_kernel *k = s->k;
    ir_warp_plan plan = ir_plan_warps(k, group);
    ir_reg_plan regs = ir_plan_regs(k, group, s->options->regs_per_sm);
    int helper = 0, wg = plan.first_wg;
    for (int thin = 1; thin >= 0; thin--)
        for (ir_role *r = group->roles; r != NULL; r = r->next)
            if (ir_role_warpgroups(r) == 0 && r->thin == (thin == 1))
                helper = place_role(r, helper, regs.moves ? regs.helper : 0);
    for (ir_role *r = group->roles; r != NULL; r = r->next)
        if (ir_role_warpgroups(r) > 0)
            wg = place_role(r, wg, regs.moves ? regs.consumer : 0);
    group->keeper_warp = ir_plan_keeper(k, group);
    if (regs.moves) {
        k->place.entry_regs = regs.entry;
        k->place.helper_regs = regs.helper;
    }
}

static void place_named(placer *s, ir_group *group)
{
    int next = 1; // 0 is the CTA's own
    for (ir_role *r = group->roles; r != NULL; r = r->next)
        r->named_barrier = r->warps > 1 && role_needs(r).sync ? next++ : 0;
    if (next <= 16)
        return;
    pkc_diag_error(s->k->session, PKC_DIAG_TOO_MANY_BARRIERS, s->k->pos, next);
    s->ok = false;
}

bool ir_pass_place(ir_kernel *k, const ir_options *options)
{
    placer s = {.k = k, .options = options, .ok = true};
    k->place = (ir_placement){.threads = ir_plan_threads(k)};
    place_tiles(&s);
    place_barriers(&s);
    place_scratch(&s);
    check_smem(&s);
    for (ir_group *g = k->groups; g != NULL; g = g->next) {
        place_warps(&s, g);
        place_named(&s, g);
    }
    return s.ok;
}
