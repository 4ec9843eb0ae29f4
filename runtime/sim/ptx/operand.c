// SPDX-License-Identifier: Apache-2.0
// Operands of instructions (PTX ISA 6).
#include <string.h>

#include "sim/ptx/parse.h"

static struct pksim_operand *add_element(struct pksim_parser *p, struct pksim_operand *list, size_t *capacity)
{
    if (!pksim_arena_grow(&p->ptx->arena, (void **)&list->elems, list->count, capacity,
                          sizeof *list->elems)) {
        pksim_parse_fail(p, p->token.line, "out of memory");
        return NULL;
    }
    return &list->elems[list->count++];
}

static void parse_elements(struct pksim_parser *p, struct pksim_operand *list, char close)
{
    size_t capacity = 0;
    pksim_parse_next(p);
    if (pksim_parse_accept(p, close))
        return;
    do {
        struct pksim_operand *element = add_element(p, list, &capacity);
        if (!element)
            return;
        pksim_parse_operand(p, element);
    } while (pksim_parse_accept(p, ','));
    pksim_parse_expect(p, close);
}

static int64_t parse_offset(struct pksim_parser *p)
{
    int64_t offset = 0;
    for (;;) {
        if (pksim_parse_accept(p, '+'))
            offset += pksim_parse_int(p);
        else if (pksim_parse_accept(p, '-'))
            offset -= pksim_parse_int(p);
        else
            return offset;
    }
}

// [base], [base + offset], [base, coordinates]
static void parse_address(struct pksim_parser *p, struct pksim_operand *operand)
{
    size_t capacity = 0;
    operand->kind = PKSIM_OP_ADDRESS;
    pksim_parse_next(p);
    struct pksim_operand *base = add_element(p, operand, &capacity);
    if (!base)
        return;
    pksim_parse_operand(p, base);
    operand->value = parse_offset(p);
    if (base->kind == PKSIM_OP_VAR) {
        operand->value += base->value;
        base->value = 0;
    }
    while (pksim_parse_accept(p, ',')) {
        struct pksim_operand *more = add_element(p, operand, &capacity);
        if (!more)
            return;
        pksim_parse_operand(p, more);
    }
    pksim_parse_expect(p, ']');
}

// %tid and its like; the component is a directive token of its own.
static bool parse_special(struct pksim_parser *p, struct pksim_operand *operand, struct pksim_name name)
{
    char full[48];
    if (name.length + 3 > sizeof full || name.text[0] != '%')
        return false;
    memcpy(full, name.text, name.length);
    uint32_t length = name.length;
    bool component = p->token.kind == PKSIM_TOK_DIRECTIVE && p->token.name.length == 1;
    if (component) {
        full[length++] = '.';
        full[length++] = p->token.name.text[0];
    }
    full[length] = '\0';
    for (uint32_t i = 0; i < PKSIM_SREG_COUNT; i++) {
        if (strcmp(pksim_sregs[i].name, full) != 0)
            continue;
        if (component)
            pksim_parse_next(p);
        operand->kind = PKSIM_OP_SREG;
        operand->id = i;
        return true;
    }
    return false;
}

static void use_symbol(struct pksim_parser *p, struct pksim_operand *operand,
                       const struct pksim_symbol *symbol, uint32_t id)
{
    switch (symbol->kind) {
    case PKSIM_SYM_REG:
        operand->kind = PKSIM_OP_REG;
        operand->id = id;
        break;
    case PKSIM_SYM_VAR:
        operand->kind = PKSIM_OP_VAR;
        operand->var = symbol->var;
        operand->value = parse_offset(p);
        break;
    }
}

static void parse_name(struct pksim_parser *p, struct pksim_operand *operand)
{
    struct pksim_name name = p->token.name;
    uint32_t line = p->token.line, id;
    pksim_parse_next(p);
    if (pksim_name_is(name, "_")) {
        operand->kind = PKSIM_OP_SINK;
        return;
    }
    struct pksim_symbol *symbol = pksim_scope_find(p, name, &id);
    if (symbol) {
        use_symbol(p, operand, symbol, id);
        return;
    }
    if (parse_special(p, operand, name))
        return;
    operand->func = pksim_parse_find_func(p, name);
    if (operand->func) {
        operand->kind = PKSIM_OP_FUNC;
        return;
    }
    if (pksim_name_is(name, "WARP_SZ")) {
        operand->kind = PKSIM_OP_INT;
        operand->value = 32;
        return;
    }
    if (p->labels_allowed && name.text[0] != '%') {
        operand->kind = PKSIM_OP_LABEL;
        operand->id = pksim_parse_label_id(p, name);
        return;
    }
    pksim_parse_fail(p, line, "unknown name '%.*s'", (int)name.length, name.text);
}

static void parse_constant(struct pksim_parser *p, struct pksim_operand *operand, bool negative)
{
    if (p->token.kind == PKSIM_TOK_INT) {
        operand->kind = PKSIM_OP_INT;
        operand->value = negative ? (int64_t)(0 - (uint64_t)p->token.value) : p->token.value;
    } else {
        operand->kind = PKSIM_OP_FLOAT;
        operand->value = p->token.value;
        operand->real = negative ? -p->token.real : p->token.real;
        operand->real_bits = negative ? 0 : p->token.real_bits;
    }
    pksim_parse_next(p);
}

static void parse_plain(struct pksim_parser *p, struct pksim_operand *operand)
{
    bool negative = pksim_parse_accept(p, '-');
    if (p->token.kind == PKSIM_TOK_INT || p->token.kind == PKSIM_TOK_FLOAT) {
        parse_constant(p, operand, negative);
    } else if (p->token.kind == PKSIM_TOK_NAME && !negative) {
        parse_name(p, operand);
    } else {
        int length = (int)(p->lexer.at - p->token.start);
        pksim_parse_fail(p, p->token.line, "expected an operand, found '%.*s'", length > 40 ? 40 : length,
                         p->token.start);
    }
}

void pksim_parse_operand(struct pksim_parser *p, struct pksim_operand *operand)
{
    *operand = (struct pksim_operand){.kind = PKSIM_OP_SINK};
    operand->negated = pksim_parse_accept(p, '!');
    if (pksim_parse_is(p, '{')) {
        operand->kind = PKSIM_OP_VECTOR;
        parse_elements(p, operand, '}');
    } else if (pksim_parse_is(p, '(')) {
        operand->kind = PKSIM_OP_LIST;
        parse_elements(p, operand, ')');
    } else if (pksim_parse_is(p, '[')) {
        parse_address(p, operand);
    } else {
        parse_plain(p, operand);
    }
    if (!pksim_parse_accept(p, '|'))
        return;
    operand->pair = pksim_arena_alloc(&p->ptx->arena, sizeof *operand->pair);
    if (operand->pair)
        pksim_parse_operand(p, operand->pair);
}
