// SPDX-License-Identifier: Apache-2.0
// Builds a program: decodes the entry and every function that it reaches, then fills in the branch targets.
#include <stdio.h>
#include <string.h>

#include "sim/exec/allocate.h"
#include "sim/exec/control.h"
#include "sim/exec/decode.h"
#include "sim/exec/machine.h"
#include "sim/exec/mma.h"
#include "sim/ptx/parse.h"

typedef void decoder_fn(struct pksim_decoder *d);

static const struct {
    const char *base;
    decoder_fn *decode;
} opcodes[] = {
#define OPCODE(base, decoder) {base, pksim_decode_##decoder},
#include "sim/exec/opcodes.def"
};

static decoder_fn *find_decoder(struct pksim_name base)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        if (pksim_name_is(base, opcodes[i].base))
            return opcodes[i].decode;
    }
    return NULL;
}

// "shared::cta" is one part: only single dots separate.
static void split_opcode(struct pksim_decoder *d, struct pksim_name opcode)
{
    d->mods = (struct pksim_mods){0};
    const char *at = opcode.text, *end = at + opcode.length;
    for (bool first = true; at < end; first = false) {
        const char *stop = memchr(at, '.', (size_t)(end - at));
        if (!stop)
            stop = end;
        struct pksim_name part = {at, (uint32_t)(stop - at)};
        if (first)
            d->base = part;
        else if (d->mods.count == PKSIM_MAX_MODS)
            pksim_decode_fail(d, "too many modifiers");
        else
            d->mods.names[d->mods.count++] = part;
        at = stop + 1;
    }
}

static void check_all_taken(struct pksim_decoder *d)
{
    for (uint32_t i = 0; i < d->mods.count && !d->failed; i++) {
        if (!(d->mods.taken >> i & 1))
            pksim_decode_fail(d, "modifier .%.*s is not supported", (int)d->mods.names[i].length,
                              d->mods.names[i].text);
    }
}

static void decode_insn(struct pksim_decoder *d)
{
    split_opcode(d, d->insn->opcode);
    if (d->insn->guard != PKSIM_NO_REG && d->func->places[d->insn->guard] == PKSIM_NO_PLACE)
        d->func->places[d->insn->guard] = pksim_new_place(d, 0);
    decoder_fn *decode = find_decoder(d->base);
    if (decode) {
        decode(d);
        check_all_taken(d);
    } else if (!pksim_decode_alu(d)) {
        pksim_decode_fail(d, "unknown instruction");
    }
    pksim_temps_release(d);
}

static void decode_function(struct pksim_decoder *d, struct pksim_decoded_func *f)
{
    d->func = f;
    f->first = (uint32_t)d->program->insn_count;
    pksim_allocate_registers(d);
    for (size_t i = 0; i < f->func->insn_count && !d->failed; i++) {
        d->insn = &f->func->insns[i];
        f->insn_index[i] = (uint32_t)d->program->insn_count;
        decode_insn(d);
    }
    if (d->failed)
        return;
    struct pksim_ptx_insn end = {
        .opcode = {"ret", 3}, .line = f->func->line, .guard = PKSIM_NO_REG, .operands = NULL};
    f->insn_index[f->func->insn_count] = (uint32_t)d->program->insn_count;
    d->insn = &end;
    decode_insn(d);
    d->insn = NULL;
}

struct pksim_decoded_func *pksim_decode_callee(struct pksim_decoder *d, const struct pksim_ptx_func *func)
{
    struct pksim_decoded_func *f = d->funcs;
    while (f && f->func != func)
        f = f->next;
    if (f)
        return f;
    if (!func->has_body) {
        pksim_decode_fail(d, "function %.*s has no body", (int)func->name.length, func->name.text);
        return NULL;
    }
    f = pksim_decode_alloc(d, sizeof *f);
    if (!f)
        return NULL;
    f->func = func;
    f->places = pksim_decode_alloc(d, (func->reg_count + 1) * sizeof *f->places);
    f->insn_index = pksim_decode_alloc(d, (func->insn_count + 1) * sizeof *f->insn_index);
    if (!f->places || !f->insn_index)
        return NULL;
    memset(f->places, 0xff, func->reg_count * sizeof *f->places);
    f->return_place = pksim_new_place(d, 4);
    struct pksim_decoded_func **tail = &d->funcs;
    while (*tail)
        tail = &(*tail)->next;
    *tail = f;
    return f;
}

// ---- Before decoding: what lies in static shared memory, which registers want to be neighbours
// ----------------------

static void scan_operand(struct pksim_decoder *d, const struct pksim_operand *operand)
{
    if (operand->kind == PKSIM_OP_VAR && operand->var->space == PKSIM_PTX_SHARED) {
        if (operand->var->is_extern && operand->var->align > d->dynamic_align)
            d->dynamic_align = operand->var->align;
        pksim_var_offset(d, operand->var);
    }
    if (operand->kind == PKSIM_OP_FUNC)
        pksim_decode_callee(d, operand->func);
    for (uint32_t i = 0; i < operand->count; i++)
        scan_operand(d, &operand->elems[i]);
}

static void scan_function(struct pksim_decoder *d, struct pksim_decoded_func *f)
{
    d->func = f;
    for (size_t i = 0; i < f->func->insn_count && !d->failed; i++) {
        d->insn = &f->func->insns[i];
        for (uint32_t k = 0; k < d->insn->count; k++)
            scan_operand(d, &d->insn->operands[k]);
        pksim_wgmma_place_accumulators(d);
    }
    d->insn = NULL;
}

static void place_dynamic_shared(struct pksim_decoder *d)
{
    uint32_t align = d->dynamic_align < 16 ? 16 : d->dynamic_align;
    d->program->dynamic_shared_offset = (d->program->static_shared + align - 1) / align * align;
}

// ---- After decoding
// ------------------------------------------------------------------------------------------------

static uint32_t label_target(const struct pksim_decoded_func *f, uint32_t label)
{
    const struct pksim_ptx_label *l = &f->func->labels[label];
    while (l->alias != UINT32_MAX)
        l = &f->func->labels[l->alias];
    return f->insn_index[l->insn];
}

static void resolve_fixups(struct pksim_decoder *d)
{
    for (struct pksim_fixup *fixup = d->fixups; fixup; fixup = fixup->next) {
        uint32_t target = label_target(fixup->func, fixup->label);
        if (fixup->slot)
            *fixup->slot = target;
        else
            d->program->insns[fixup->insn].target = target;
    }
}

static void resolve_calls(struct pksim_decoder *d)
{
    for (size_t i = 0; i < d->program->insn_count; i++)
        pksim_call_resolve(&d->program->insns[i]);
}

// A function keeps one frame and one place for its return address, so it cannot call itself, directly or not.
static bool reaches(const struct pksim_decoder *d, const struct pksim_decoded_func *from,
                    const struct pksim_decoded_func *to, uint32_t depth)
{
    if (depth > 64)
        return true;
    for (size_t i = 0; i < from->func->insn_count; i++) {
        const struct pksim_ptx_insn *insn = &from->func->insns[i];
        for (uint32_t k = 0; k < insn->count; k++) {
            if (insn->operands[k].kind != PKSIM_OP_FUNC)
                continue;
            const struct pksim_decoded_func *f = d->funcs;
            while (f && f->func != insn->operands[k].func)
                f = f->next;
            if (f == to || (f && reaches(d, f, to, depth + 1)))
                return true;
        }
    }
    return false;
}

static void check_recursion(struct pksim_decoder *d)
{
    for (const struct pksim_decoded_func *f = d->funcs; f && !d->failed; f = f->next) {
        if (f->func->is_entry || !reaches(d, f, f, 0))
            continue;
        pksim_decode_fail(d, "function %.*s calls itself, which is not supported", (int)f->func->name.length,
                          f->func->name.text);
        d->error->line = f->func->line;
    }
}

bool pksim_program_build(struct pksim_ptx *ptx, const struct pksim_ptx_func *entry,
                         struct pksim_program *program, struct pksim_ptx_error *error)
{
    struct pksim_decoder d = {.ptx = ptx, .program = program, .error = error, .alu = pksim_alu_table_host()};
    *program = (struct pksim_program){.ptx = ptx, .entry = entry, .shared_align = 16};
    if (!pksim_decode_callee(&d, entry))
        return false;
    for (struct pksim_decoded_func *f = d.funcs; f && !d.failed; f = f->next)
        scan_function(&d, f);
    place_dynamic_shared(&d);
    if (!d.failed)
        check_recursion(&d);
    for (struct pksim_decoded_func *f = d.funcs; f && !d.failed; f = f->next)
        decode_function(&d, f);
    if (d.failed)
        return false;
    resolve_fixups(&d);
    resolve_calls(&d);
    program->register_bytes = (program->register_bytes + 63) & ~63u;
    program->local_bytes = (program->local_bytes + 15) & ~15u;
    return true;
}
