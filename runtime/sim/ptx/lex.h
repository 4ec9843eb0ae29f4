// SPDX-License-Identifier: Apache-2.0
// Tokens of PTX text (PTX ISA 4).
#ifndef PKSIM_PTX_LEX_H
#define PKSIM_PTX_LEX_H

#include "sim/ptx/ptx.h"

enum pksim_token_kind {
    PKSIM_TOK_END,
    PKSIM_TOK_NAME,      // letters, digits, _ $ %
    PKSIM_TOK_DIRECTIVE, // .name, the name without the dot in `text`
    PKSIM_TOK_INT,
    PKSIM_TOK_FLOAT,
    PKSIM_TOK_STRING, // without the quotes
    PKSIM_TOK_PUNCT   // one character
};

struct pksim_token {
    enum pksim_token_kind kind;
    char punct;
    uint8_t real_bits; // 32 or 64: `value` holds the bits of a float
    uint32_t line;
    struct pksim_name name;
    const char *start;
    int64_t value;
    double real;
};

struct pksim_lexer {
    const char *at, *end; // *end is NUL
    uint32_t line;
};

// The next token. A character that begins no token is a PUNCT.
void pksim_lex(struct pksim_lexer *lexer, struct pksim_token *token);
// Extends a NAME at the start of a statement over the modifiers of an opcode (".sync.aligned",
// ".shared::cta").
void pksim_lex_opcode(struct pksim_lexer *lexer, struct pksim_token *token);

#endif
