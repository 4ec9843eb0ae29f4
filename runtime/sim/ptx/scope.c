// SPDX-License-Identifier: Apache-2.0
// Names in nested scopes, and the small steps every part of the parser takes.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/ptx/parse.h"

const struct pksim_ptx_type_info pksim_ptx_types[] = {
#define TYPE(id, spelling, bytes, kind) {spelling, bytes, #kind[0]},
#include "sim/ptx/types.def"
};

const struct pksim_sreg_info pksim_sregs[] = {
#define SREG(id, spelling, bytes) {spelling, bytes},
#include "sim/ptx/sregs.def"
};

enum pksim_ptx_type pksim_ptx_type_named(const char *text, size_t length)
{
    for (size_t i = 1; i < sizeof pksim_ptx_types / sizeof *pksim_ptx_types; i++) {
        if (strlen(pksim_ptx_types[i].name) == length && !memcmp(pksim_ptx_types[i].name, text, length))
            return (enum pksim_ptx_type)i;
    }
    return PKSIM_TYPE_NONE;
}

void pksim_parse_fail(struct pksim_parser *p, uint32_t line, const char *format, ...)
{
    if (p->failed)
        return;
    p->failed = true;
    p->error->line = line;
    va_list args;
    va_start(args, format);
    vsnprintf(p->error->text, sizeof p->error->text, format, args);
    va_end(args);
    p->lexer.at = p->lexer.end;
    p->token.kind = PKSIM_TOK_END;
}

void pksim_parse_next(struct pksim_parser *p)
{
    pksim_lex(&p->lexer, &p->token);
}

bool pksim_parse_is(const struct pksim_parser *p, char punct)
{
    return p->token.kind == PKSIM_TOK_PUNCT && p->token.punct == punct;
}

bool pksim_parse_accept(struct pksim_parser *p, char punct)
{
    if (!pksim_parse_is(p, punct))
        return false;
    pksim_parse_next(p);
    return true;
}

void pksim_parse_expect(struct pksim_parser *p, char punct)
{
    if (pksim_parse_accept(p, punct))
        return;
    const char *at = p->token.start;
    int length = (int)(p->lexer.at - at);
    pksim_parse_fail(p, p->token.line, "expected '%c', found '%.*s'", punct, length > 40 ? 40 : length, at);
}

bool pksim_parse_is_directive(const struct pksim_parser *p, const char *name)
{
    return p->token.kind == PKSIM_TOK_DIRECTIVE && pksim_name_is(p->token.name, name);
}

int64_t pksim_parse_int(struct pksim_parser *p)
{
    bool negative = pksim_parse_accept(p, '-');
    if (p->token.kind != PKSIM_TOK_INT) {
        pksim_parse_fail(p, p->token.line, "expected an integer");
        return 0;
    }
    int64_t value = p->token.value;
    pksim_parse_next(p);
    return negative ? (int64_t)(0 - (uint64_t)value) : value;
}

bool pksim_name_is(struct pksim_name name, const char *text)
{
    return strlen(text) == name.length && !memcmp(name.text, text, name.length);
}

bool pksim_name_equal(struct pksim_name a, struct pksim_name b)
{
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

// FNV-1a (public domain): http://www.isthe.com/chongo/tech/comp/fnv
static uint32_t bucket_of(struct pksim_name name)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < name.length; i++)
        hash = (hash ^ (unsigned char)name.text[i]) * 16777619u;
    return hash % PKSIM_SYMBOL_BUCKETS;
}

void pksim_scope_open(struct pksim_parser *p)
{
    p->depth++;
}

void pksim_scope_close(struct pksim_parser *p)
{
    while (p->newest && p->newest->depth == p->depth) {
        p->buckets[bucket_of(p->newest->name)] = p->newest->next;
        p->newest = p->newest->older;
    }
    p->depth--;
}

struct pksim_symbol *pksim_scope_add(struct pksim_parser *p, struct pksim_name name,
                                     enum pksim_symbol_kind kind)
{
    struct pksim_symbol *symbol = pksim_arena_alloc(&p->ptx->arena, sizeof *symbol);
    if (!symbol) {
        pksim_parse_fail(p, p->token.line, "out of memory");
        return NULL;
    }
    struct pksim_symbol **bucket = &p->buckets[bucket_of(name)];
    *symbol = (struct pksim_symbol){.name = name, .kind = kind, .depth = p->depth, .count = 1};
    symbol->next = *bucket;
    symbol->older = p->newest;
    *bucket = symbol;
    p->newest = symbol;
    return symbol;
}

static struct pksim_symbol *find_exact(struct pksim_parser *p, struct pksim_name name, bool ranged)
{
    struct pksim_symbol *symbol = p->buckets[bucket_of(name)];
    while (symbol && (symbol->ranged != ranged || !pksim_name_equal(symbol->name, name)))
        symbol = symbol->next;
    return symbol;
}

struct pksim_symbol *pksim_scope_find(struct pksim_parser *p, struct pksim_name name, uint32_t *id)
{
    struct pksim_symbol *symbol = find_exact(p, name, false);
    if (symbol) {
        *id = symbol->id;
        return symbol;
    }
    struct pksim_name prefix = name;
    while (prefix.length && isdigit((unsigned char)prefix.text[prefix.length - 1]))
        prefix.length--;
    // The number of %r0x12-like names may begin anywhere in the digits; LLVM and nvcc never end a prefix in a
    // digit.
    if (prefix.length == name.length || name.length - prefix.length > 9)
        return NULL;
    uint32_t number = 0;
    for (uint32_t i = prefix.length; i < name.length; i++)
        number = number * 10 + (uint32_t)(name.text[i] - '0');
    symbol = find_exact(p, prefix, true);
    if (!symbol || number >= symbol->count)
        return NULL;
    *id = symbol->id + number;
    return symbol;
}

struct pksim_ptx_func *pksim_parse_find_func(const struct pksim_parser *p, struct pksim_name name)
{
    struct pksim_ptx_func *f = p->ptx->funcs;
    while (f && !pksim_name_equal(f->name, name))
        f = f->next;
    return f;
}
