// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static void skip_block_comment(struct pksim_lexer *lx)
{
    lx->at += 2;
    while (lx->at < lx->end && !(lx->at[0] == '*' && lx->at[1] == '/')) {
        lx->line += *lx->at == '\n';
        lx->at++;
    }
    lx->at += lx->at < lx->end ? 2 : 0;
}

static void skip_blank(struct pksim_lexer *lx)
{
    while (lx->at < lx->end) {
        if (lx->at[0] == '/' && lx->at[1] == '/') {
            while (lx->at < lx->end && *lx->at != '\n')
                lx->at++;
        } else if (lx->at[0] == '/' && lx->at[1] == '*') {
            skip_block_comment(lx);
        } else if (isspace((unsigned char)*lx->at)) {
            lx->line += *lx->at == '\n';
            lx->at++;
        } else {
            return;
        }
    }
}

static void lex_string(struct pksim_lexer *lx, struct pksim_token *token)
{
    token->kind = PKSIM_TOK_STRING;
    token->name.text = ++lx->at;
    while (lx->at < lx->end && *lx->at != '"' && *lx->at != '\n')
        lx->at += lx->at[0] == '\\' && lx->at + 1 < lx->end ? 2 : 1;
    token->name.length = (uint32_t)(lx->at - token->name.text);
    lx->at += lx->at < lx->end && *lx->at == '"';
}

// 0f1234ABCD and 0d0123456789ABCDEF give the bits.
static void lex_float_bits(struct pksim_lexer *lx, struct pksim_token *token)
{
    bool single = lx->at[1] == 'f' || lx->at[1] == 'F';
    char *stop;
    token->kind = PKSIM_TOK_FLOAT;
    token->real_bits = single ? 32 : 64;
    token->value = (int64_t)strtoull(lx->at + 2, &stop, 16);
    if (single) {
        uint32_t bits = (uint32_t)token->value;
        float value;
        memcpy(&value, &bits, sizeof value);
        token->real = (double)value;
    } else {
        memcpy(&token->real, &token->value, sizeof token->real);
    }
    lx->at = stop;
}

static bool looks_decimal_float(const char *at)
{
    while (isdigit((unsigned char)*at))
        at++;
    return (*at == '.' && isdigit((unsigned char)at[1])) || *at == 'e' || *at == 'E';
}

static void lex_number(struct pksim_lexer *lx, struct pksim_token *token)
{
    char second = lx->at[0] == '0' ? lx->at[1] : '\0';
    char *stop;
    if (second && strchr("fFdD", second)) {
        lex_float_bits(lx, token);
        return;
    }
    if (looks_decimal_float(lx->at) && second != 'x' && second != 'X') {
        token->kind = PKSIM_TOK_FLOAT;
        token->real = strtod(lx->at, &stop);
        lx->at = stop;
        return;
    }
    token->kind = PKSIM_TOK_INT;
    if (second == 'b' || second == 'B')
        token->value = (int64_t)strtoull(lx->at + 2, &stop, 2);
    else
        token->value = (int64_t)strtoull(lx->at, &stop, 0);
    lx->at = stop;
    lx->at += *lx->at == 'U' || *lx->at == 'u';
}

static void lex_name(struct pksim_lexer *lx, struct pksim_token *token)
{
    token->kind = PKSIM_TOK_NAME;
    token->name.text = lx->at++;
    while (is_name_char(*lx->at))
        lx->at++;
    token->name.length = (uint32_t)(lx->at - token->name.text);
}

static void lex_directive(struct pksim_lexer *lx, struct pksim_token *token)
{
    token->kind = PKSIM_TOK_DIRECTIVE;
    token->name.text = ++lx->at;
    while (is_name_char(*lx->at))
        lx->at++;
    token->name.length = (uint32_t)(lx->at - token->name.text);
}

void pksim_lex(struct pksim_lexer *lx, struct pksim_token *token)
{
    skip_blank(lx);
    *token = (struct pksim_token){.kind = PKSIM_TOK_END, .line = lx->line, .start = lx->at};
    if (lx->at >= lx->end)
        return;
    char c = *lx->at;
    if (is_name_start(c)) {
        lex_name(lx, token);
    } else if (isdigit((unsigned char)c)) {
        lex_number(lx, token);
    } else if (c == '"') {
        lex_string(lx, token);
    } else if (c == '.' && is_name_char(lx->at[1])) {
        lex_directive(lx, token);
    } else {
        token->kind = PKSIM_TOK_PUNCT;
        token->punct = c;
        lx->at++;
    }
}

void pksim_lex_opcode(struct pksim_lexer *lx, struct pksim_token *token)
{
    const char *at = token->name.text + token->name.length;
    for (;;) {
        if (*at == '.' && is_name_char(at[1]))
            at++;
        else if (at[0] == ':' && at[1] == ':' && is_name_char(at[2]))
            at += 2;
        else if (!is_name_char(*at))
            break;
        else
            at++;
    }
    token->name.length = (uint32_t)(at - token->name.text);
    lx->at = at;
}
