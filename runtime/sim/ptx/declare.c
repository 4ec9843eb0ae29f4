// SPDX-License-Identifier: Apache-2.0
// Declarations: registers, variables with their initialisers, parameters (PTX ISA 5.4).
#include <string.h>

#include "sim/ptx/parse.h"

static const struct {
    const char *name;
    enum pksim_ptx_space space;
} space_names[] = {
    {"param", PKSIM_PTX_PARAM}, {"shared", PKSIM_PTX_SHARED}, {"global", PKSIM_PTX_GLOBAL},
    {"local", PKSIM_PTX_LOCAL}, {"const", PKSIM_PTX_CONST},
};

bool pksim_parse_space(const struct pksim_parser *p, enum pksim_ptx_space *space)
{
    for (size_t i = 0; i < sizeof space_names / sizeof *space_names; i++) {
        if (pksim_parse_is_directive(p, space_names[i].name)) {
            *space = space_names[i].space;
            return true;
        }
    }
    return false;
}

static enum pksim_ptx_type parse_type(struct pksim_parser *p)
{
    enum pksim_ptx_type type = PKSIM_TYPE_NONE;
    if (p->token.kind == PKSIM_TOK_DIRECTIVE)
        type = pksim_ptx_type_named(p->token.name.text, p->token.name.length);
    if (type == PKSIM_TYPE_NONE)
        pksim_parse_fail(p, p->token.line, "expected a type");
    pksim_parse_next(p);
    return type;
}

static void add_register(struct pksim_parser *p, enum pksim_ptx_type type)
{
    struct pksim_ptx_func *f = p->func;
    if (!pksim_arena_grow(&p->ptx->arena, (void **)&f->regs, f->reg_count, &f->reg_capacity,
                          sizeof *f->regs)) {
        pksim_parse_fail(p, p->token.line, "out of memory");
        return;
    }
    f->regs[f->reg_count++].type = type;
}

static void declare_register(struct pksim_parser *p, enum pksim_ptx_type type)
{
    struct pksim_name name = p->token.name;
    if (p->token.kind != PKSIM_TOK_NAME) {
        pksim_parse_fail(p, p->token.line, "expected a register name");
        return;
    }
    pksim_parse_next(p);
    struct pksim_symbol *symbol = pksim_scope_add(p, name, PKSIM_SYM_REG);
    if (!symbol)
        return;
    symbol->id = (uint32_t)p->func->reg_count;
    if (pksim_parse_accept(p, '<')) {
        int64_t count = pksim_parse_int(p);
        pksim_parse_expect(p, '>');
        if (count < 0 || count > 1 << 20) {
            pksim_parse_fail(p, p->token.line, "bad register count");
            return;
        }
        symbol->ranged = true;
        symbol->count = (uint32_t)count;
    }
    for (uint32_t i = 0; i < symbol->count && !p->failed; i++)
        add_register(p, type);
}

void pksim_parse_registers(struct pksim_parser *p)
{
    pksim_parse_next(p);
    if (!p->func) {
        pksim_parse_fail(p, p->token.line, "registers are declared in functions only");
        return;
    }
    if (pksim_parse_is_directive(p, "v2") || pksim_parse_is_directive(p, "v4")) {
        pksim_parse_fail(p, p->token.line, "vector registers are not supported");
        return;
    }
    enum pksim_ptx_type type = parse_type(p);
    do
        declare_register(p, type);
    while (pksim_parse_accept(p, ','));
    pksim_parse_expect(p, ';');
}

// ---- Initialisers
// --------------------------------------------------------------------------------------------------

static void store_bits(uint8_t *at, uint32_t size, uint64_t bits)
{
    for (uint32_t i = 0; i < size && i < 8; i++)
        at[i] = (uint8_t)(bits >> (8 * i));
}

static uint64_t float_bits(const struct pksim_token *token, uint32_t size)
{
    if (token->real_bits == 8 * size)
        return (uint64_t)token->value;
    uint64_t bits = 0;
    float single = (float)token->real;
    if (size == 4)
        memcpy(&bits, &single, 4);
    else
        memcpy(&bits, &token->real, 8);
    return bits;
}

static void add_reloc(struct pksim_parser *p, struct pksim_ptx_var *var, uint32_t offset, uint32_t size)
{
    uint32_t id;
    struct pksim_name name = p->token.name;
    bool generic = pksim_name_is(name, "generic");
    pksim_parse_next(p);
    if (generic) {
        pksim_parse_expect(p, '(');
        name = p->token.name;
        pksim_parse_next(p);
        pksim_parse_expect(p, ')');
    }
    struct pksim_symbol *symbol = pksim_scope_find(p, name, &id);
    if (!symbol || symbol->kind != PKSIM_SYM_VAR ||
        (symbol->var->space != PKSIM_PTX_GLOBAL && symbol->var->space != PKSIM_PTX_CONST)) {
        pksim_parse_fail(p, p->token.line, "an initialiser may name .global and .const variables only");
        return;
    }
    if (!pksim_arena_grow(&p->ptx->arena, (void **)&var->relocs, var->reloc_count, &var->reloc_capacity,
                          sizeof *var->relocs))
        return;
    int64_t addend = pksim_parse_accept(p, '+') ? pksim_parse_int(p) : 0;
    var->relocs[var->reloc_count++] = (struct pksim_ptx_reloc){
        .offset = offset, .size = size, .var = symbol->var, .addend = addend, .generic = generic};
}

static void parse_init_element(struct pksim_parser *p, struct pksim_ptx_var *var, uint64_t offset)
{
    uint32_t size = pksim_ptx_types[var->type].bytes;
    if (offset + size > var->bytes) {
        pksim_parse_fail(p, p->token.line, "more initialisers than elements");
        return;
    }
    if (p->token.kind == PKSIM_TOK_NAME) {
        add_reloc(p, var, (uint32_t)offset, size);
        return;
    }
    bool negative = pksim_parse_accept(p, '-');
    if (p->token.kind == PKSIM_TOK_FLOAT) {
        if (negative)
            p->token.real = -p->token.real;
        store_bits(var->init + offset, size, float_bits(&p->token, size));
        pksim_parse_next(p);
        return;
    }
    int64_t value = pksim_parse_int(p);
    store_bits(var->init + offset, size, negative ? 0 - (uint64_t)value : (uint64_t)value);
}

// Nested braces only group: elements come in order. PTX lets an inner brace list be short; LLVM and nvcc
// never do that.
static void parse_init(struct pksim_parser *p, struct pksim_ptx_var *var)
{
    var->init = pksim_arena_alloc(&p->ptx->arena, var->bytes ? var->bytes : 1);
    if (!var->init) {
        pksim_parse_fail(p, p->token.line, "out of memory");
        return;
    }
    uint64_t offset = 0;
    uint32_t nesting = 0;
    do {
        while (pksim_parse_accept(p, '{'))
            nesting++;
        parse_init_element(p, var, offset);
        offset += pksim_ptx_types[var->type].bytes;
        while (nesting && pksim_parse_accept(p, '}'))
            nesting--;
    } while (pksim_parse_accept(p, ','));
    if (nesting)
        pksim_parse_expect(p, '}');
}

// ---- Variables
// -----------------------------------------------------------------------------------------------------

static uint64_t parse_dimensions(struct pksim_parser *p)
{
    uint64_t elements = 1;
    while (pksim_parse_accept(p, '[')) {
        // An empty dimension is the dynamic part of shared memory.
        uint64_t extent = pksim_parse_is(p, ']') ? 0 : (uint64_t)pksim_parse_int(p);
        pksim_parse_expect(p, ']');
        if (extent > UINT32_MAX || elements * extent > UINT32_MAX) {
            pksim_parse_fail(p, p->token.line, "variable too large");
            return 0;
        }
        elements *= extent;
    }
    return elements;
}

static void keep_module_var(struct pksim_parser *p, struct pksim_ptx_var *var)
{
    struct pksim_ptx *ptx = p->ptx;
    var->is_module = true;
    if (var->space != PKSIM_PTX_GLOBAL && var->space != PKSIM_PTX_CONST)
        return;
    if (!pksim_arena_grow(&ptx->arena, (void **)&ptx->vars, ptx->var_count, &ptx->var_capacity,
                          sizeof(struct pksim_ptx_var *))) {
        pksim_parse_fail(p, p->token.line, "out of memory");
        return;
    }
    // The driver asks for these by name: keep one that ends in NUL.
    char *name = pksim_arena_alloc(&ptx->arena, var->name.length + 1);
    if (!name) {
        pksim_parse_fail(p, p->token.line, "out of memory");
        return;
    }
    memcpy(name, var->name.text, var->name.length);
    var->name.text = name;
    var->index = (uint32_t)ptx->var_count;
    ptx->vars[ptx->var_count++] = var;
}

// What stands between the space and the name: .align n, .v2, .ptr ..., the type.
static void parse_attributes(struct pksim_parser *p, struct pksim_ptx_var *var, uint32_t *lanes)
{
    *lanes = 1;
    for (;;) {
        if (pksim_parse_is_directive(p, "align")) {
            pksim_parse_next(p);
            var->align = (uint32_t)pksim_parse_int(p);
            if (!var->align || (var->align & (var->align - 1)))
                pksim_parse_fail(p, p->token.line, "alignment is not a power of two");
        } else if (pksim_parse_is_directive(p, "v2") || pksim_parse_is_directive(p, "v4")) {
            *lanes = p->token.name.text[1] == '2' ? 2 : 4;
            pksim_parse_next(p);
        } else {
            break;
        }
    }
    var->type = parse_type(p);
    if (!p->failed && !pksim_ptx_types[var->type].bytes)
        pksim_parse_fail(p, p->token.line, "a variable cannot have this type");
}

// .param .u64 .ptr .global .align 16 name: the pointer attribute only informs.
static void skip_pointer_attribute(struct pksim_parser *p)
{
    enum pksim_ptx_space space;
    if (!pksim_parse_is_directive(p, "ptr"))
        return;
    pksim_parse_next(p);
    if (pksim_parse_space(p, &space))
        pksim_parse_next(p);
    if (pksim_parse_is_directive(p, "align")) {
        pksim_parse_next(p);
        pksim_parse_int(p);
    }
}

static struct pksim_ptx_var *parse_variable(struct pksim_parser *p, const struct pksim_ptx_var *like,
                                            uint32_t lanes)
{
    struct pksim_ptx_var *var = pksim_arena_alloc(&p->ptx->arena, sizeof *var);
    if (!var || p->token.kind != PKSIM_TOK_NAME) {
        pksim_parse_fail(p, p->token.line, "expected the name of a variable");
        return NULL;
    }
    *var = *like;
    var->name = p->token.name;
    pksim_parse_next(p);
    uint32_t element = pksim_ptx_types[var->type].bytes * lanes;
    if (!var->align)
        var->align = element;
    var->bytes = parse_dimensions(p) * element;
    if (pksim_parse_accept(p, '='))
        parse_init(p, var);
    struct pksim_symbol *symbol = pksim_scope_add(p, var->name, PKSIM_SYM_VAR);
    if (!symbol || p->failed)
        return NULL;
    symbol->var = var;
    return var;
}

void pksim_parse_variables(struct pksim_parser *p, enum pksim_ptx_space space, bool is_extern)
{
    struct pksim_ptx_var like = {.space = space, .is_extern = is_extern};
    uint32_t lanes, line = p->token.line;
    pksim_parse_next(p);
    parse_attributes(p, &like, &lanes);
    do {
        struct pksim_ptx_var *var = parse_variable(p, &like, lanes);
        if (!var)
            return;
        if (is_extern && space != PKSIM_PTX_SHARED)
            pksim_parse_fail(p, line, "external variable %.*s is defined nowhere", (int)var->name.length,
                             var->name.text);
        if (!p->func || space == PKSIM_PTX_GLOBAL || space == PKSIM_PTX_CONST)
            keep_module_var(p, var);
        else
            var->index = p->var_index++;
        var->frame_param = p->func && space == PKSIM_PTX_PARAM;
    } while (pksim_parse_accept(p, ','));
    pksim_parse_expect(p, ';');
}

struct pksim_ptx_var *pksim_parse_param(struct pksim_parser *p)
{
    struct pksim_ptx_var like = {.space = PKSIM_PTX_PARAM};
    uint32_t lanes;
    if (!pksim_parse_is_directive(p, "param")) {
        pksim_parse_fail(p, p->token.line, "expected .param");
        return NULL;
    }
    pksim_parse_next(p);
    parse_attributes(p, &like, &lanes);
    skip_pointer_attribute(p);
    struct pksim_ptx_var *var = parse_variable(p, &like, lanes);
    if (var)
        var->index = p->var_index++;
    return var;
}
