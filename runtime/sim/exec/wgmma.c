// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA 9.7.15). The four warps of a warpgroup issue the same products; one is carried out when all
// four have issued it, at the latest when a warp waits for it ("late": only then). Accumulators stay in
// matrix form from one product to the next; a warp's part goes to its registers when the warp has waited for
// the last product on them: before that PTX gives the registers no value that a program may read.
#include <stdio.h>
#include <stdlib.h>

#include "sim/check/check.h"
#include "sim/exec/lanes.h"
#include "sim/exec/mma.h"
#include "sim/exec/numbers.h"
#include "sim/ptx/parse.h"

enum { GROUP_WARPS = 4, MAX_D = 128, SLOTS = 4, A_REGISTERS = 4 };

struct wgmma_insn {
    struct pksim_wgmma op;
    uint32_t d_count;
    pksim_place_t d[MAX_D];
    uint32_t d_low, d_high; // the registers of D lie in [low, high)
    bool a_registers;
    pksim_place_t a[A_REGISTERS], a_descriptor, b_descriptor;
    pksim_place_t scale_d; // predicate
};

// A product issued by some warps of the group.
struct product {
    const struct wgmma_insn *insn;
    struct pksim_wgmma op; // with scale_d of this issue
    uint32_t pc, issued;   // bit a warp
    uint64_t a_descriptor, b_descriptor;
    uint32_t a[GROUP_WARPS][A_REGISTERS][PKSIM_LANES];
};

// Accumulators in matrix form.
struct slot {
    const struct wgmma_insn *insn; // whose D they are; NULL: empty
    uint32_t in_matrix;            // bit a warp: the matrix is newer than that warp's registers
    uint64_t last;                 // the last product on them
    float *acc;
};

struct pksim_wgmma_unit {
    struct product **products; // numbers first .. next - 1, at [number & (capacity - 1)]
    uint64_t first, next;
    uint32_t capacity; // a power of two
    struct slot slots[SLOTS];
};

// ---- The unit of a warpgroup
// ---------------------------------------------------------------------------------------

static struct pksim_wgmma_unit *unit_of(struct pksim_warp *w)
{
    struct pksim_wgmma_unit **unit = &w->cta->wgmma[w->index / GROUP_WARPS];
    if (!*unit)
        *unit = calloc(1, sizeof **unit);
    return *unit;
}

void pksim_wgmma_free(struct pksim_cta *cta)
{
    for (uint32_t g = 0; g < PKSIM_MAX_WARPGROUPS; g++) {
        struct pksim_wgmma_unit *unit = cta->wgmma[g];
        if (!unit)
            continue;
        for (uint32_t i = 0; i < unit->capacity; i++)
            free(unit->products[i]);
        for (uint32_t i = 0; i < SLOTS; i++)
            free(unit->slots[i].acc);
        free(unit->products);
        free(unit);
    }
}

static bool grow_products(struct pksim_wgmma_unit *unit)
{
    uint32_t more = unit->capacity ? unit->capacity * 2 : 16;
    struct product **products = calloc(more, sizeof(struct product *));
    if (!products)
        return false;
    for (uint64_t n = unit->first; n < unit->next; n++) {
        products[n & (more - 1)] = unit->products[n & (unit->capacity - 1)];
        unit->products[n & (unit->capacity - 1)] = NULL;
    }
    for (uint32_t i = 0; i < unit->capacity; i++)
        free(unit->products[i]);
    free(unit->products);
    unit->products = products;
    unit->capacity = more;
    return true;
}

static struct product *product_at(const struct pksim_wgmma_unit *unit, uint64_t number)
{
    return unit->products[number & (unit->capacity - 1)];
}

static struct product *new_product(struct pksim_wgmma_unit *unit)
{
    if (unit->next - unit->first == unit->capacity && !grow_products(unit))
        return NULL;
    struct product **at = &unit->products[unit->next & (unit->capacity - 1)];
    if (!*at)
        *at = malloc(sizeof **at);
    if (*at)
        unit->next++;
    return *at;
}

static struct pksim_warp *group_warp(const struct pksim_warp *w, uint32_t k)
{
    return &w->cta->warps[w->index / GROUP_WARPS * GROUP_WARPS + k];
}

// ---- Accumulators
// --------------------------------------------------------------------------------------------------

static void to_registers(const struct pksim_warp *w, struct slot *slot, uint32_t k)
{
    const struct pksim_warp *warp = group_warp(w, k);
    if (!(slot->in_matrix >> k & 1))
        return;
    for (uint32_t i = 0; i < slot->insn->d_count; i++)
        pksim_wgmma_to_register(&slot->insn->op, slot->acc, k, i,
                                (uint32_t *)(warp->regs + slot->insn->d[i]));
    slot->in_matrix &= ~(1u << k);
}

static void from_registers(const struct pksim_warp *w, struct slot *slot)
{
    for (uint32_t k = 0; k < GROUP_WARPS; k++) {
        const struct pksim_warp *warp = group_warp(w, k);
        if (slot->in_matrix >> k & 1)
            continue;
        for (uint32_t i = 0; i < slot->insn->d_count; i++)
            pksim_wgmma_from_register(&slot->insn->op, (const uint32_t *)(warp->regs + slot->insn->d[i]), k,
                                      i, slot->acc);
    }
}

static bool same_registers(const struct wgmma_insn *a, const struct wgmma_insn *b)
{
    return a == b || (a->d_count == b->d_count && a->op.n == b->op.n && a->op.d_type == b->op.d_type &&
                      !memcmp(a->d, b->d, a->d_count * sizeof *a->d));
}

static void empty_slot(const struct pksim_warp *w, struct slot *slot)
{
    for (uint32_t k = 0; slot->insn && k < GROUP_WARPS; k++)
        to_registers(w, slot, k);
    slot->insn = NULL;
}

// The slot of the instruction's accumulators; others that share registers with it are written back first.
static struct slot *find_slot(const struct pksim_warp *w, struct pksim_wgmma_unit *unit,
                              const struct wgmma_insn *insn)
{
    struct slot *found = NULL, *oldest = &unit->slots[0];
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &unit->slots[i];
        if (slot->insn && same_registers(slot->insn, insn))
            found = slot;
        else if (slot->insn && slot->insn->d_low < insn->d_high && insn->d_low < slot->insn->d_high)
            empty_slot(w, slot);
        if (!slot->insn || (oldest->insn && slot->last < oldest->last))
            oldest = slot;
    }
    if (found)
        return found;
    empty_slot(w, oldest);
    if (!oldest->acc)
        oldest->acc = aligned_alloc(64, PKSIM_WGMMA_ROWS * PKSIM_WGMMA_MAX_N * sizeof *oldest->acc);
    if (!oldest->acc)
        return NULL;
    oldest->insn = insn;
    oldest->in_matrix = 0;
    return oldest;
}

// ---- Carrying out
// --------------------------------------------------------------------------------------------------

static bool multiply(struct pksim_warp *w, const struct product *p, struct slot *slot,
                     struct pksim_unit_error *error)
{
    struct pksim_exec *exec = w->exec;
    const uint32_t *a[GROUP_WARPS * A_REGISTERS];
    bool check = !exec->config.no_init_check;
    if (!p->insn->a_registers)
        return pksim_wgmma_shared(&p->op, &w->cta->shared, p->a_descriptor, p->b_descriptor, check,
                                  exec->panels, slot->acc, error);
    for (uint32_t k = 0; k < GROUP_WARPS * A_REGISTERS; k++)
        a[k] = p->a[k / A_REGISTERS][k % A_REGISTERS];
    return pksim_wgmma_registers(&p->op, &w->cta->shared, a, p->b_descriptor, check, exec->panels, slot->acc,
                                 error);
}

static bool carry_out(struct pksim_warp *w, struct pksim_wgmma_unit *unit, uint64_t number)
{
    struct product *p = product_at(unit, number);
    struct slot *slot = find_slot(w, unit, p->insn);
    struct pksim_unit_error error;
    if (!slot) {
        pksim_raise(w->exec, w, PKSIM_FAULT_OUT_OF_MEMORY, "accumulators");
        return false;
    }
    if (p->op.scale_d)
        from_registers(w, slot);
    if (!multiply(w, p, slot, &error)) {
        pksim_raise_unit(w, p->pc, 0, &error);
        return false;
    }
    slot->insn = p->insn;
    slot->in_matrix = (1u << GROUP_WARPS) - 1;
    slot->last = number;
    unit->first = number + 1;
    w->exec->stats.wgmmas++;
    return true;
}

// Carries out all products before `end` that every warp has issued.
static bool carry_out_before(struct pksim_warp *w, struct pksim_wgmma_unit *unit, uint64_t end)
{
    while (unit->first < end && unit->first < unit->next &&
           product_at(unit, unit->first)->issued == (1u << GROUP_WARPS) - 1) {
        if (!carry_out(w, unit, unit->first))
            return false;
    }
    return true;
}

static void wake_group(const struct pksim_warp *w)
{
    for (uint32_t k = 0; k < GROUP_WARPS; k++) {
        struct pksim_warp *other = group_warp(w, k);
        for (uint32_t i = 0; i < other->frag_count; i++) {
            if (other->frags[i].wait.kind == PKSIM_WAIT_WGMMA)
                pksim_wake(other, &other->frags[i]);
        }
    }
}

void pksim_wgmma_exit(struct pksim_warp *w)
{
    struct pksim_wgmma_unit *unit = w->cta->wgmma[w->index / GROUP_WARPS];
    if (unit && !w->exec->faulted)
        carry_out_before(w, unit, w->wgmma_issued);
}

// ---- Issue
// ---------------------------------------------------------------------------------------------------------

static bool uniform_descriptor(struct pksim_warp *w, pksim_place_t place, uint64_t *value)
{
    const uint64_t *lanes = pksim_at(w, place);
    *value = lanes[0];
    for (int l = 1; l < PKSIM_LANES; l++) {
        if (lanes[l] == *value)
            continue;
        pksim_raise(w->exec, w, PKSIM_FAULT_BAD_OPERAND, "lane %d has another matrix descriptor than lane 0",
                    l);
        return false;
    }
    return true;
}

// The operands of this warp's issue must be those of the warps before it.
static bool join_product(struct pksim_warp *w, const struct wgmma_insn *insn, struct product *p, uint32_t k)
{
    uint64_t a = 0, b;
    uint32_t scale = insn->scale_d == PKSIM_NO_PLACE ? UINT32_MAX : pksim_get_mask(w, insn->scale_d);
    if ((!insn->a_registers && !uniform_descriptor(w, insn->a_descriptor, &a)) ||
        !uniform_descriptor(w, insn->b_descriptor, &b))
        return false;
    if (scale && scale != UINT32_MAX) {
        pksim_raise(w->exec, w, PKSIM_FAULT_BAD_OPERAND, "scale-d differs between the lanes");
        return false;
    }
    if (!p->issued) {
        p->insn = insn;
        p->op = insn->op;
        p->op.scale_d = scale != 0;
        p->pc = w->pc;
        p->a_descriptor = a;
        p->b_descriptor = b;
    } else if (p->insn != insn || p->a_descriptor != a || p->b_descriptor != b ||
               p->op.scale_d != (scale != 0)) {
        pksim_raise(w->exec, w, PKSIM_FAULT_DIVERGENCE,
                    "the warps of a warpgroup issue different products (the first stands at PTX line %u)",
                    w->code[p->pc].line);
        return false;
    }
    for (uint32_t r = 0; insn->a_registers && r < A_REGISTERS; r++)
        memcpy(p->a[k][r], pksim_at(w, insn->a[r]), sizeof p->a[k][r]);
    p->issued |= 1u << k;
    return true;
}

static void check_operands(struct pksim_warp *w, const struct product *p)
{
    uint32_t pieces[PKSIM_WGMMA_PIECES];
    uint32_t count = pksim_wgmma_pieces(&p->op, p->insn->a_registers ? NULL : &p->a_descriptor,
                                        p->b_descriptor, w->index % GROUP_WARPS, pieces);
    pksim_check_wgmma(w, pieces, count);
}

static enum pksim_step run_mma_async(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    struct pksim_wgmma_unit *unit;
    if (!pksim_converge(w, &mask, UINT32_MAX))
        return PKSIM_STEP_BLOCK;
    if (w->live != UINT32_MAX || w->index / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS > w->cta->warp_count) {
        pksim_raise(w->exec, w, PKSIM_FAULT_DIVERGENCE, "wgmma needs a whole warpgroup of 128 threads");
        return PKSIM_STEP_STOP;
    }
    unit = unit_of(w);
    struct product *p = NULL;
    if (unit && w->wgmma_issued == unit->next) {
        p = new_product(unit);
        if (p)
            p->issued = 0;
    } else if (unit && unit->products) {
        p = product_at(unit, w->wgmma_issued);
    }
    if (!p) {
        pksim_raise(w->exec, w, PKSIM_FAULT_OUT_OF_MEMORY, "a matrix product");
        return PKSIM_STEP_STOP;
    }
    if (!join_product(w, i->more, p, w->index % GROUP_WARPS))
        return PKSIM_STEP_STOP;
    if (w->check)
        check_operands(w, p);
    if (w->exec->faulted)
        return PKSIM_STEP_STOP;
    w->wgmma_issued++;
    pksim_note_effect(w);
    if (p->issued != (1u << GROUP_WARPS) - 1)
        return PKSIM_STEP_NEXT;
    wake_group(w);
    if (!w->exec->config.late && pksim_random(w->exec) % 4 && !carry_out_before(w, unit, w->wgmma_issued))
        return PKSIM_STEP_STOP;
    return PKSIM_STEP_NEXT;
}

// ---- fence, commit, wait
// -------------------------------------------------------------------------------------------

static enum pksim_step run_wgmma_fence(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    (void)i;
    return pksim_converge(w, &mask, UINT32_MAX) ? PKSIM_STEP_NEXT : PKSIM_STEP_BLOCK;
}

static enum pksim_step run_wgmma_commit(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    (void)i;
    if (!pksim_converge(w, &mask, UINT32_MAX))
        return PKSIM_STEP_BLOCK;
    w->wgmma_ends[w->wgmma_groups++ % PKSIM_WGMMA_GROUPS] = w->wgmma_issued;
    if (w->check)
        pksim_check_wgmma_commit(w);
    return PKSIM_STEP_NEXT;
}

// This warp has issued a product on the same accumulators that is not carried out: the matrix form is needed
// again.
static bool goes_on(const struct pksim_warp *w, const struct pksim_wgmma_unit *unit, const struct slot *slot)
{
    for (uint64_t n = unit->first; n < w->wgmma_issued; n++) {
        if (same_registers(product_at(unit, n)->insn, slot->insn))
            return true;
    }
    return false;
}

static enum pksim_step run_wgmma_wait(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    struct pksim_wgmma_unit *unit = w->cta->wgmma[w->index / GROUP_WARPS];
    uint64_t end;
    if (!pksim_converge(w, &mask, UINT32_MAX))
        return PKSIM_STEP_BLOCK;
    if (!unit || w->wgmma_groups <= i->target)
        return PKSIM_STEP_NEXT; // nothing is over that was not before
    end = w->wgmma_ends[(w->wgmma_groups - 1 - i->target) % PKSIM_WGMMA_GROUPS];
    if (!carry_out_before(w, unit, end))
        return PKSIM_STEP_STOP;
    if (unit->first < end) {
        pksim_wait_here(w, PKSIM_WAIT_WGMMA)->id = i->target;
        return PKSIM_STEP_BLOCK;
    }
    if (w->check)
        pksim_check_wgmma_wait(w, i->target);
    for (uint32_t s = 0; s < SLOTS; s++) {
        struct slot *slot = &unit->slots[s];
        if (slot->insn && slot->last < end && !goes_on(w, unit, slot))
            to_registers(w, slot, w->index % GROUP_WARPS);
    }
    return PKSIM_STEP_NEXT;
}

// ---- Decoding
// ------------------------------------------------------------------------------------------------------

void pksim_wgmma_place_accumulators(struct pksim_decoder *d)
{
    static const char base[] = "wgmma.mma_async";
    const struct pksim_ptx_insn *insn = d->insn;
    if (insn->opcode.length < sizeof base || memcmp(insn->opcode.text, base, sizeof base - 1) != 0 ||
        !insn->count || insn->operands[0].kind != PKSIM_OP_VECTOR)
        return;
    for (uint32_t i = 0; i < insn->operands[0].count; i++) {
        const struct pksim_operand *element = &insn->operands[0].elems[i];
        if (element->kind == PKSIM_OP_REG)
            pksim_def(d, element, pksim_operand_bytes(d, element, 4));
    }
}

// m64n256k16 gives n; the rest must be what the types say.
static bool take_shape(struct pksim_decoder *d, uint32_t *n, uint32_t *k)
{
    for (uint32_t i = 0; i < d->mods.count; i++) {
        char text[32];
        int used = 0;
        if (d->mods.names[i].length >= sizeof text || d->mods.taken >> i & 1)
            continue;
        memcpy(text, d->mods.names[i].text, d->mods.names[i].length);
        text[d->mods.names[i].length] = '\0';
        if (sscanf(text, "m64n%uk%u%n", n, k, &used) != 2 || (uint32_t)used != d->mods.names[i].length)
            continue;
        d->mods.taken |= 1u << i;
        return true;
    }
    return false;
}

static void use_d(struct pksim_decoder *d, struct wgmma_insn *w)
{
    const struct pksim_operand *operand = pksim_operand_at(d, 0);
    w->d_count = pksim_wgmma_registers_of_d(&w->op);
    if (operand->kind != PKSIM_OP_VECTOR || operand->count != w->d_count) {
        pksim_decode_fail(d, "expected %u registers for D", w->d_count);
        return;
    }
    w->d_low = UINT32_MAX;
    for (uint32_t i = 0; i < w->d_count; i++) {
        w->d[i] = pksim_def(d, &operand->elems[i], 4);
        w->d_low = w->d[i] < w->d_low ? w->d[i] : w->d_low;
        w->d_high = w->d[i] + 128 > w->d_high ? w->d[i] + 128 : w->d_high;
    }
}

static void use_a(struct pksim_decoder *d, struct wgmma_insn *w)
{
    const struct pksim_operand *operand = pksim_operand_at(d, 1);
    w->a_registers = operand->kind == PKSIM_OP_VECTOR;
    if (!w->a_registers) {
        w->a_descriptor = pksim_use(d, operand, 8);
        return;
    }
    if (operand->count != A_REGISTERS) {
        pksim_decode_fail(d, "expected %d registers for A", A_REGISTERS);
        return;
    }
    for (uint32_t i = 0; i < A_REGISTERS; i++)
        w->a[i] = pksim_use(d, &operand->elems[i], 4);
}

static int64_t flag_at(struct pksim_decoder *d, uint32_t index)
{
    return index < pksim_operand_count(d) ? pksim_immediate(d, pksim_operand_at(d, index)) : 0;
}

// D, A, B, scale-d, then imm-scale-a, imm-scale-b (floats), then the transposes (16-bit types).
static void use_flags(struct pksim_decoder *d, struct wgmma_insn *w)
{
    bool is_float =
        pksim_number_bytes(w->op.a_type) > 1 || w->op.a_type == PKSIM_E4M3 || w->op.a_type == PKSIM_E5M2;
    uint32_t next = 4;
    const struct pksim_operand *scale = pksim_operand_at(d, 3);
    if (scale->kind == PKSIM_OP_INT)
        w->scale_d = pksim_constant(d, 0, scale->value != 0);
    else
        w->scale_d = pksim_use(d, scale, 0);
    if (is_float) {
        w->op.negate_a = flag_at(d, next++) < 0;
        w->op.negate_b = flag_at(d, next++) < 0;
    }
    if (w->op.a_type != PKSIM_F16 && w->op.a_type != PKSIM_BF16)
        return;
    if (!w->a_registers)
        w->op.a_major_m = flag_at(d, next++) != 0;
    w->op.b_major_n = flag_at(d, next) != 0;
}

static void decode_mma_async(struct pksim_decoder *d)
{
    struct wgmma_insn *w = pksim_decode_alloc(d, sizeof *w);
    struct pksim_unit_error error;
    uint32_t k = 0;
    if (!w)
        return;
    if (!take_shape(d, &w->op.n, &k)) {
        pksim_decode_fail(d, "no shape that is supported");
        return;
    }
    w->op.saturate = pksim_mod(d, "satfinite");
    w->op.d_type = pksim_mod_number(d, pksim_mod_type(d));
    w->op.a_type = pksim_mod_number(d, pksim_mod_type(d));
    w->op.b_type = pksim_mod_number(d, pksim_mod_type(d));
    if (d->failed)
        return;
    if (!pksim_wgmma_valid(&w->op, &error) || k != pksim_wgmma_k(&w->op)) {
        pksim_decode_fail(d, "no such product");
        return;
    }
    use_d(d, w);
    use_a(d, w);
    w->b_descriptor = pksim_use(d, pksim_operand_at(d, 2), 8);
    use_flags(d, w);
    if (!d->failed && !pksim_wgmma_valid(&w->op, &error))
        pksim_decode_fail(d, "%s", error.text);
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_mma_async;
    insn.more = w;
    pksim_insn_add(d, &insn);
}

void pksim_decode_wgmma(struct pksim_decoder *d)
{
    pksim_mod(d, "sync");
    pksim_mod(d, "aligned");
    if (pksim_mod(d, "mma_async")) {
        decode_mma_async(d);
        return;
    }
    struct pksim_insn insn = pksim_insn_begin(d);
    if (pksim_mod(d, "fence")) {
        insn.run = run_wgmma_fence;
    } else if (pksim_mod(d, "commit_group")) {
        insn.run = run_wgmma_commit;
    } else if (pksim_mod(d, "wait_group")) {
        insn.run = run_wgmma_wait;
        insn.target = (uint32_t)pksim_immediate(d, pksim_operand_at(d, 0));
    } else {
        pksim_decode_fail(d, "unknown wgmma operation");
    }
    pksim_insn_add(d, &insn);
}
