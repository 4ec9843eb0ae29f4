// SPDX-License-Identifier: Apache-2.0
// The parts of decoding that all families share: modifiers, places of operands, constants.
#include "sim/exec/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/exec/machine.h"
#include "sim/exec/special.h"
#include "sim/ptx/parse.h"

void pksim_decode_fail(struct pksim_decoder *d, const char *format, ...)
{
    if (d->failed)
        return;
    d->failed = true;
    d->error->line = d->insn ? d->insn->line : 0;
    va_list args;
    va_start(args, format);
    int used = vsnprintf(d->error->text, sizeof d->error->text, format, args);
    va_end(args);
    if (d->insn && used >= 0 && (size_t)used < sizeof d->error->text) {
        int length = d->insn->opcode.length > 80 ? 80 : (int)d->insn->opcode.length;
        snprintf(d->error->text + used, sizeof d->error->text - (size_t)used, ": %.*s", length,
                 d->insn->opcode.text);
    }
}

void *pksim_decode_alloc(struct pksim_decoder *d, size_t size)
{
    static const char text[] = "out of memory";
    void *result = pksim_arena_alloc(&d->ptx->arena, size);
    if (!result)
        pksim_decode_fail(d, text);
    return result;
}

// ---- Modifiers
// -----------------------------------------------------------------------------------------------------

bool pksim_mod(struct pksim_decoder *d, const char *name)
{
    for (uint32_t i = 0; i < d->mods.count; i++) {
        if (!(d->mods.taken >> i & 1) && pksim_name_is(d->mods.names[i], name)) {
            d->mods.taken |= 1u << i;
            return true;
        }
    }
    return false;
}

enum pksim_ptx_type pksim_mod_type(struct pksim_decoder *d)
{
    for (uint32_t i = 0; i < d->mods.count; i++) {
        if (d->mods.taken >> i & 1)
            continue;
        enum pksim_ptx_type type = pksim_ptx_type_named(d->mods.names[i].text, d->mods.names[i].length);
        if (type != PKSIM_TYPE_NONE)
            d->mods.taken |= 1u << i;
        return type;
    }
    return PKSIM_TYPE_NONE;
}

enum pksim_ptx_type pksim_mod_last_type(struct pksim_decoder *d)
{
    uint32_t last = d->mods.count - 1;
    enum pksim_ptx_type type = PKSIM_TYPE_NONE;
    if (d->mods.count && !(d->mods.taken >> last & 1))
        type = pksim_ptx_type_named(d->mods.names[last].text, d->mods.names[last].length);
    if (type == PKSIM_TYPE_NONE)
        pksim_decode_fail(d, "the opcode ends in no type");
    else
        d->mods.taken |= 1u << last;
    return type;
}

enum pksim_ptx_space pksim_mod_space(struct pksim_decoder *d, bool *cluster)
{
    bool is_cluster = pksim_mod(d, "shared::cluster");
    if (cluster)
        *cluster = is_cluster;
    if (is_cluster || pksim_mod(d, "shared::cta") || pksim_mod(d, "shared"))
        return PKSIM_PTX_SHARED;
    if (pksim_mod(d, "global"))
        return PKSIM_PTX_GLOBAL;
    if (pksim_mod(d, "param") || pksim_mod(d, "param::entry") || pksim_mod(d, "param::func"))
        return PKSIM_PTX_PARAM;
    if (pksim_mod(d, "local"))
        return PKSIM_PTX_LOCAL;
    if (pksim_mod(d, "const"))
        return PKSIM_PTX_CONST;
    return PKSIM_PTX_GENERIC;
}

bool pksim_mod_cache(struct pksim_decoder *d)
{
    static const char *const inert[] = {
        "ca",
        "cg",
        "cs",
        "lu",
        "cv",
        "wb",
        "wt",
        "nc",
        "L1::evict_normal",
        "L1::evict_unchanged",
        "L1::evict_first",
        "L1::evict_last",
        "L1::no_allocate",
        "L2::evict_first",
        "L2::evict_last",
        "L2::evict_normal",
        "L2::64B",
        "L2::128B",
        "L2::256B",
        "level::eviction_priority",
    };
    for (size_t i = 0; i < sizeof inert / sizeof *inert; i++)
        pksim_mod(d, inert[i]);
    return pksim_mod(d, "L2::cache_hint");
}

// ---- Places
// --------------------------------------------------------------------------------------------------------

uint32_t pksim_reg_bytes(enum pksim_ptx_type type)
{
    if (type == PKSIM_TYPE_PRED)
        return 0;
    uint32_t bytes = pksim_ptx_types[type].bytes;
    return bytes < 2 ? 2 : bytes;
}

static pksim_place_t new_predicate(struct pksim_decoder *d)
{
    if (d->pred_cursor == d->pred_end) {
        d->pred_cursor = d->program->register_bytes;
        d->program->register_bytes += 64;
        d->pred_end = d->program->register_bytes;
    }
    d->pred_cursor += 4;
    return d->pred_cursor - 4;
}

pksim_place_t pksim_new_place(struct pksim_decoder *d, uint32_t bytes)
{
    if (!bytes)
        return new_predicate(d);
    pksim_place_t place = d->program->register_bytes;
    d->program->register_bytes += bytes * PKSIM_LANES;
    d->program->register_words += (bytes + 3) / 4;
    if (d->program->register_bytes > 1u << 30)
        pksim_decode_fail(d, "too many registers");
    return place;
}

pksim_place_t pksim_temp(struct pksim_decoder *d, uint32_t bytes)
{
    struct pksim_temp_place *temp = d->temps;
    while (temp && (temp->used || temp->bytes != bytes))
        temp = temp->next;
    if (!temp) {
        temp = pksim_decode_alloc(d, sizeof *temp);
        if (!temp)
            return 0;
        *temp =
            (struct pksim_temp_place){.place = pksim_new_place(d, bytes), .bytes = bytes, .next = d->temps};
        d->temps = temp;
    }
    temp->used = true;
    return temp->place;
}

void pksim_temps_release(struct pksim_decoder *d)
{
    for (struct pksim_temp_place *temp = d->temps; temp; temp = temp->next)
        temp->used = false;
}

static pksim_place_t register_place(struct pksim_decoder *d, uint32_t id, uint32_t bytes)
{
    uint32_t have = pksim_reg_bytes(d->func->func->regs[id].type);
    if (have != bytes) {
        pksim_decode_fail(d, "register of %u bits where %u are needed", have * 8, bytes * 8);
        return 0;
    }
    pksim_place_t *place = &d->func->places[id];
    if (*place == PKSIM_NO_PLACE)
        *place = pksim_new_place(d, bytes);
    return *place;
}

static bool find_constant(const struct pksim_program *program, uint32_t size, const uint8_t *bytes,
                          size_t *at)
{
    // All constants are multiples of 64 bytes, so that any match at a multiple of 64 will do.
    for (size_t i = 0; i + size <= program->constant_bytes; i += 64) {
        if (!memcmp(program->constants + i, bytes, size)) {
            *at = i;
            return true;
        }
    }
    return false;
}

static void broadcast(uint8_t *out, uint32_t bytes, uint64_t bits)
{
    if (!bytes) {
        uint32_t mask = bits ? UINT32_MAX : 0;
        memcpy(out, &mask, 4);
        return;
    }
    for (int l = 0; l < PKSIM_LANES; l++)
        memcpy(out + l * bytes, &bits, bytes < 8 ? bytes : 8);
}

pksim_place_t pksim_constant(struct pksim_decoder *d, uint32_t bytes, uint64_t bits)
{
    uint8_t lanes[16 * PKSIM_LANES] = {0};
    struct pksim_program *program = d->program;
    uint32_t size = bytes ? bytes * PKSIM_LANES : 64;
    size_t at;
    broadcast(lanes, bytes, bits);
    if (find_constant(program, size, lanes, &at))
        return (pksim_place_t)at | PKSIM_CONST_BANK;
    if (program->constant_bytes + size > program->constant_capacity) {
        size_t more = program->constant_capacity ? program->constant_capacity * 2 : 8192;
        uint8_t *bigger = pksim_decode_alloc(d, more + 64);
        if (!bigger)
            return 0;
        bigger += -(uintptr_t)bigger & 63;
        memcpy(bigger, program->constants ? program->constants : lanes, program->constant_bytes);
        program->constants = bigger;
        program->constant_capacity = more;
    }
    at = program->constant_bytes;
    memcpy(program->constants + at, lanes, size);
    program->constant_bytes += size;
    return (pksim_place_t)at | PKSIM_CONST_BANK;
}

// ---- Variables
// -----------------------------------------------------------------------------------------------------

static uint32_t place_shared(struct pksim_decoder *d, const struct pksim_ptx_var *var)
{
    struct pksim_program *program = d->program;
    if (var->align > program->shared_align)
        program->shared_align = var->align;
    if (var->is_extern || !var->bytes)
        return UINT32_MAX; // the dynamic part: known when all static variables are
    uint32_t offset = (program->static_shared + var->align - 1) / var->align * var->align;
    program->static_shared = offset + (uint32_t)var->bytes;
    return PKSIM_SHARED_BASE + offset;
}

static uint32_t place_local(struct pksim_decoder *d, const struct pksim_ptx_var *var)
{
    uint32_t offset = (d->program->local_bytes + var->align - 1) / var->align * var->align;
    d->program->local_bytes = offset + (uint32_t)var->bytes;
    return offset;
}

uint32_t pksim_var_offset(struct pksim_decoder *d, const struct pksim_ptx_var *var)
{
    struct pksim_var_place *place = d->vars;
    while (place && place->var != var)
        place = place->next;
    if (!place) {
        place = pksim_decode_alloc(d, sizeof *place);
        if (!place)
            return 0;
        place->var = var;
        place->offset = var->space == PKSIM_PTX_SHARED ? place_shared(d, var) : place_local(d, var);
        place->next = d->vars;
        d->vars = place;
    }
    if (place->offset != UINT32_MAX)
        return place->offset;
    return PKSIM_SHARED_BASE + d->program->dynamic_shared_offset;
}

static pksim_place_t use_variable(struct pksim_decoder *d, const struct pksim_ptx_var *var, int64_t addend,
                                  uint32_t bytes)
{
    if (var->space == PKSIM_PTX_GLOBAL || var->space == PKSIM_PTX_CONST) {
        struct pksim_insn insn = pksim_insn_begin(d);
        insn.guard = PKSIM_NO_PLACE;
        if (bytes != 8) {
            pksim_decode_fail(d, "the address of a variable needs 64 bits");
            return 0;
        }
        insn.dst = pksim_temp(d, 8);
        pksim_special_variable(d, &insn, var->index, addend);
        pksim_insn_add(d, &insn);
        return insn.dst;
    }
    int64_t offset =
        var->space == PKSIM_PTX_PARAM && !var->frame_param ? var->offset : pksim_var_offset(d, var);
    if (var->space == PKSIM_PTX_SHARED) {
        struct pksim_insn insn = pksim_insn_begin(d);
        insn.guard = PKSIM_NO_PLACE;
        insn.dst = pksim_temp(d, bytes);
        pksim_special_shared(d, &insn, (uint32_t)(offset + addend), bytes);
        pksim_insn_add(d, &insn);
        return insn.dst;
    }
    return pksim_constant(d, bytes, (uint64_t)(offset + addend));
}

// ---- Operands
// ------------------------------------------------------------------------------------------------------

uint32_t pksim_operand_count(const struct pksim_decoder *d)
{
    return d->insn->count;
}

const struct pksim_operand *pksim_operand_at(struct pksim_decoder *d, uint32_t index)
{
    static const struct pksim_operand nothing = {.kind = PKSIM_OP_SINK};
    if (index < d->insn->count)
        return &d->insn->operands[index];
    pksim_decode_fail(d, "too few operands");
    return &nothing;
}

uint32_t pksim_operand_bytes(const struct pksim_decoder *d, const struct pksim_operand *operand,
                             uint32_t otherwise)
{
    if (operand->kind != PKSIM_OP_REG)
        return otherwise;
    return pksim_reg_bytes(d->func->func->regs[operand->id].type);
}

static uint64_t float_immediate(const struct pksim_operand *operand, uint32_t bytes)
{
    uint64_t bits = 0;
    float single = (float)operand->real;
    if (operand->real_bits && operand->real_bits == bytes * 8)
        return (uint64_t)operand->value;
    if (bytes == 8)
        memcpy(&bits, &operand->real, 8);
    else
        memcpy(&bits, &single, 4);
    return bits;
}

static pksim_place_t use_special(struct pksim_decoder *d, uint32_t id, uint32_t bytes)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.guard = PKSIM_NO_PLACE;
    insn.dst = pksim_temp(d, bytes);
    pksim_special_register(d, &insn, (enum pksim_sreg)id, bytes);
    pksim_insn_add(d, &insn);
    return insn.dst;
}

static pksim_place_t use_negated(struct pksim_decoder *d, pksim_place_t source)
{
    struct pksim_insn insn = pksim_insn_begin(d);
    insn.guard = PKSIM_NO_PLACE;
    insn.dst = pksim_temp(d, 0);
    insn.alu = pksim_alu_named(d, "not.pred")->fn;
    insn.src[0] = source;
    insn.sources = 1;
    pksim_insn_add(d, &insn);
    return insn.dst;
}

pksim_place_t pksim_use(struct pksim_decoder *d, const struct pksim_operand *operand, uint32_t bytes)
{
    pksim_place_t place = 0;
    switch (operand->kind) {
    case PKSIM_OP_REG:
        place = register_place(d, operand->id, bytes);
        break;
    case PKSIM_OP_SREG:
        place = use_special(d, operand->id, bytes);
        break;
    case PKSIM_OP_INT:
        place = pksim_constant(d, bytes, (uint64_t)operand->value);
        break;
    case PKSIM_OP_FLOAT:
        place = pksim_constant(d, bytes, float_immediate(operand, bytes));
        break;
    case PKSIM_OP_VAR:
        place = use_variable(d, operand->var, operand->value, bytes);
        break;
    case PKSIM_OP_FUNC:
    case PKSIM_OP_LABEL:
    case PKSIM_OP_VECTOR:
    case PKSIM_OP_ADDRESS:
    case PKSIM_OP_LIST:
    case PKSIM_OP_SINK:
        pksim_decode_fail(d, "operand of a kind that is not supported here");
        break;
    }
    return operand->negated ? use_negated(d, place) : place;
}

pksim_place_t pksim_def(struct pksim_decoder *d, const struct pksim_operand *operand, uint32_t bytes)
{
    if (operand->kind == PKSIM_OP_SINK)
        return pksim_temp(d, bytes);
    if (operand->kind == PKSIM_OP_REG)
        return register_place(d, operand->id, bytes);
    pksim_decode_fail(d, "the destination is not a register");
    return 0;
}

int64_t pksim_immediate(struct pksim_decoder *d, const struct pksim_operand *operand)
{
    if (operand->kind != PKSIM_OP_INT)
        pksim_decode_fail(d, "expected an immediate integer");
    return operand->value;
}

void pksim_use_address(struct pksim_decoder *d, const struct pksim_operand *operand,
                       struct pksim_address *address)
{
    *address = (struct pksim_address){.base_bytes = 8};
    if (operand->kind != PKSIM_OP_ADDRESS) {
        pksim_decode_fail(d, "expected an address");
        return;
    }
    const struct pksim_operand *base = &operand->elems[0];
    address->offset = operand->value;
    if (base->kind == PKSIM_OP_VAR)
        address->frame_param = base->var->frame_param;
    if (base->kind == PKSIM_OP_VAR && base->var->space != PKSIM_PTX_GLOBAL &&
        base->var->space != PKSIM_PTX_CONST) {
        const struct pksim_ptx_var *var = base->var;
        bool entry_param = var->space == PKSIM_PTX_PARAM && !var->frame_param;
        address->offset += entry_param ? var->offset : pksim_var_offset(d, var);
    } else if (base->kind == PKSIM_OP_INT) {
        address->offset += base->value;
    } else {
        address->base_bytes = (uint8_t)pksim_operand_bytes(d, base, 8);
        if (address->base_bytes != 4 && address->base_bytes != 8)
            pksim_decode_fail(d, "an address has 32 or 64 bits");
        address->base = pksim_use(d, base, address->base_bytes);
        return;
    }
    address->known = true;
    address->base = pksim_constant(d, 8, 0);
}

// ---- Output
// --------------------------------------------------------------------------------------------------------

struct pksim_insn pksim_insn_begin(const struct pksim_decoder *d)
{
    struct pksim_insn insn = {
        .guard = PKSIM_NO_PLACE, .dst = PKSIM_NO_PLACE, .line = d->insn->line, .loc = d->insn->loc};
    if (d->insn->guard != PKSIM_NO_REG) {
        insn.guard = d->func->places[d->insn->guard];
        insn.guard_negated = d->insn->guard_negated;
    }
    return insn;
}

void pksim_insn_add(struct pksim_decoder *d, const struct pksim_insn *insn)
{
    struct pksim_program *program = d->program;
    if (!pksim_arena_grow(&d->ptx->arena, (void **)&program->insns, program->insn_count,
                          &program->insn_capacity, sizeof *insn)) {
        pksim_decode_fail(d, "out of memory");
        return;
    }
    program->insns[program->insn_count++] = *insn;
}

static void add_fixup(struct pksim_decoder *d, uint32_t label, uint32_t *slot)
{
    struct pksim_fixup *fixup = pksim_decode_alloc(d, sizeof *fixup);
    if (!fixup)
        return;
    *fixup = (struct pksim_fixup){(uint32_t)d->program->insn_count, label, d->func, slot, d->fixups};
    d->fixups = fixup;
}

void pksim_fix_target(struct pksim_decoder *d, uint32_t label)
{
    add_fixup(d, label, NULL);
}

void pksim_fix_slot(struct pksim_decoder *d, uint32_t label, uint32_t *slot)
{
    add_fixup(d, label, slot);
}
