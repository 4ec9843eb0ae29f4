// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and mma.sync (PTX ISA 9.7.14).
#include <stdio.h>

#include "sim/check/check.h"
#include "sim/exec/access.h"
#include "sim/exec/lanes.h"
#include "sim/exec/mma.h"
#include "sim/exec/numbers.h"

enum { MAX_MATRICES = 4, MAX_FRAGMENT = 8 };

// ---- ldmatrix, stmatrix
// --------------------------------------------------------------------------------------------

struct matrix_move {
    struct pksim_address address;
    enum pksim_ptx_space space;
    uint32_t count;
    bool transposed, stores;
    pksim_place_t regs[MAX_MATRICES];
};

// Shared offsets of the rows. Lanes beyond 8 * count give no address.
static bool row_offsets(struct pksim_warp *w, const struct matrix_move *op, uint32_t rows[PKSIM_LANES],
                        struct pksim_cta **cta)
{
    *cta = w->cta;
    for (uint32_t lane = 0; lane < PKSIM_LANES; lane++) {
        struct pksim_ref ref;
        rows[lane] = PKSIM_SHARED_BASE;
        if (lane >= 8 * op->count)
            continue;
        uint64_t address = pksim_lane_address(w, &op->address, op->space, lane);
        if (!pksim_locate(w, op->space, false, address, 16, 16, PKSIM_READ, lane, &ref))
            return false;
        if (ref.cta != w->cta) {
            pksim_raise(w->exec, w, PKSIM_FAULT_BAD_OPERAND,
                        "lane %u: 0x%llx is not in this CTA's shared memory", lane,
                        (unsigned long long)address);
            return false;
        }
        rows[lane] = (uint32_t)ref.shadow_offset;
    }
    return true;
}

static enum pksim_step run_matrix_move(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct matrix_move *op = i->more;
    struct pksim_cta *cta;
    struct pksim_unit_error error;
    uint32_t rows[PKSIM_LANES];
    uint32_t *regs[MAX_MATRICES];
    const uint32_t *values[MAX_MATRICES];
    bool ok;
    if (!pksim_converge(w, &mask, UINT32_MAX))
        return PKSIM_STEP_BLOCK;
    if (w->live != UINT32_MAX) {
        pksim_raise(w->exec, w, PKSIM_FAULT_DIVERGENCE, "matrix moves need all 32 threads of the warp");
        return PKSIM_STEP_STOP;
    }
    if (!row_offsets(w, op, rows, &cta))
        return PKSIM_STEP_STOP;
    if (w->check)
        pksim_check_rows(w, cta, rows, 8 * op->count, op->stores);
    if (w->exec->faulted)
        return PKSIM_STEP_STOP;
    for (uint32_t k = 0; k < op->count; k++) {
        values[k] = pksim_at(w, op->regs[k]);
        regs[k] = (uint32_t *)(uintptr_t)values[k];
    }
    if (op->stores)
        ok = pksim_stmatrix(&cta->shared, rows, op->count, op->transposed, values, &error);
    else
        ok = pksim_ldmatrix(&cta->shared, rows, op->count, op->transposed, !w->exec->config.no_init_check,
                            regs, &error);
    if (!ok) {
        pksim_raise_unit(w, w->pc, 0, &error);
        return PKSIM_STEP_STOP;
    }
    if (op->stores)
        pksim_note_effect(w);
    return PKSIM_STEP_NEXT;
}

static uint32_t take_count(struct pksim_decoder *d)
{
    if (pksim_mod(d, "x1"))
        return 1;
    if (pksim_mod(d, "x2"))
        return 2;
    if (pksim_mod(d, "x4"))
        return 4;
    pksim_decode_fail(d, "expected .x1, .x2 or .x4");
    return 1;
}

static void use_registers(struct pksim_decoder *d, const struct pksim_operand *operand,
                          struct matrix_move *op)
{
    if (operand->kind != PKSIM_OP_VECTOR || operand->count != op->count) {
        pksim_decode_fail(d, "expected %u registers in braces", op->count);
        return;
    }
    for (uint32_t k = 0; k < op->count; k++)
        op->regs[k] = op->stores ? pksim_use(d, &operand->elems[k], 4) : pksim_def(d, &operand->elems[k], 4);
}

static void decode_matrix_move(struct pksim_decoder *d, bool stores)
{
    struct matrix_move *op = pksim_decode_alloc(d, sizeof *op);
    if (!op)
        return;
    op->stores = stores;
    pksim_mod(d, "sync");
    pksim_mod(d, "aligned");
    if (!pksim_mod(d, "m8n8") || !pksim_mod(d, "b16"))
        pksim_decode_fail(d, "only .m8n8 and .b16 are supported");
    op->count = take_count(d);
    op->transposed = pksim_mod(d, "trans");
    op->space = pksim_mod_space(d, NULL);
    if (op->space != PKSIM_PTX_SHARED && op->space != PKSIM_PTX_GENERIC)
        pksim_decode_fail(d, "the matrices lie in shared memory");
    pksim_use_address(d, pksim_operand_at(d, stores ? 0 : 1), &op->address);
    use_registers(d, pksim_operand_at(d, stores ? 1 : 0), op);
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_matrix_move;
    insn.more = op;
    pksim_insn_add(d, &insn);
}

void pksim_decode_ldmatrix(struct pksim_decoder *d)
{
    decode_matrix_move(d, false);
}

void pksim_decode_stmatrix(struct pksim_decoder *d)
{
    decode_matrix_move(d, true);
}

// ---- mma.sync
// ------------------------------------------------------------------------------------------------------

struct mma_insn {
    struct pksim_mma op;
    uint32_t counts[4];
    pksim_place_t regs[4][MAX_FRAGMENT]; // D, A, B, C
};

static enum pksim_step run_mma(struct pksim_warp *w, const struct pksim_insn *i, uint32_t mask)
{
    const struct mma_insn *m = i->more;
    const uint32_t *in[4][MAX_FRAGMENT];
    uint32_t *d[MAX_FRAGMENT];
    if (!pksim_converge(w, &mask, UINT32_MAX))
        return PKSIM_STEP_BLOCK;
    if (w->live != UINT32_MAX) {
        pksim_raise(w->exec, w, PKSIM_FAULT_DIVERGENCE, "mma needs all 32 threads of the warp");
        return PKSIM_STEP_STOP;
    }
    for (int part = 0; part < 4; part++) {
        for (uint32_t k = 0; k < m->counts[part]; k++)
            in[part][k] = pksim_at(w, m->regs[part][k]);
    }
    for (uint32_t k = 0; k < m->counts[0]; k++)
        d[k] = pksim_dst(w, m->regs[0][k]);
    pksim_mma(&m->op, in[1], in[2], in[3], d);
    return PKSIM_STEP_NEXT;
}

static bool take_mma_shape(struct pksim_decoder *d, uint32_t *k)
{
    static const struct {
        const char *name;
        uint32_t k;
    } shapes[] = {{"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}, {"m16n8k32", 32}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (pksim_mod(d, shapes[i].name)) {
            *k = shapes[i].k;
            return true;
        }
    }
    return false;
}

static void use_fragment(struct pksim_decoder *d, struct mma_insn *m, uint32_t part, uint32_t count)
{
    const struct pksim_operand *operand = pksim_operand_at(d, part);
    m->counts[part] = count;
    if (operand->kind != PKSIM_OP_VECTOR || operand->count != count) {
        pksim_decode_fail(d, "expected %u registers in operand %u", count, part);
        return;
    }
    for (uint32_t k = 0; k < count; k++)
        m->regs[part][k] = part ? pksim_use(d, &operand->elems[k], 4) : pksim_def(d, &operand->elems[k], 4);
}

void pksim_decode_mma(struct pksim_decoder *d)
{
    struct mma_insn *m = pksim_decode_alloc(d, sizeof *m);
    struct pksim_unit_error error;
    if (!m)
        return;
    pksim_mod(d, "sync");
    pksim_mod(d, "aligned");
    m->op.saturate = pksim_mod(d, "satfinite");
    if (!take_mma_shape(d, &m->op.k) || !pksim_mod(d, "row") || !pksim_mod(d, "col")) {
        pksim_decode_fail(d, "no shape that is supported");
        return;
    }
    m->op.d_type = pksim_mod_number(d, pksim_mod_type(d));
    m->op.a_type = pksim_mod_number(d, pksim_mod_type(d));
    m->op.b_type = pksim_mod_number(d, pksim_mod_type(d));
    enum pksim_number c_type = pksim_mod_number(d, pksim_mod_type(d));
    if (d->failed)
        return;
    if (!pksim_mma_valid(&m->op, &error) || c_type != m->op.d_type) {
        pksim_decode_fail(d, "no such product");
        return;
    }
    uint32_t bytes = m->op.k * pksim_number_bytes(m->op.a_type),
             accumulators = m->op.d_type == PKSIM_F16 ? 2 : 4;
    use_fragment(d, m, 0, accumulators);
    use_fragment(d, m, 1, bytes / 8);
    use_fragment(d, m, 2, bytes / 16);
    use_fragment(d, m, 3, accumulators);
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.run = run_mma;
    insn.more = m;
    pksim_insn_add(d, &insn);
}
