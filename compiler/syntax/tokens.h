// SPDX-License-Identifier: Apache-2.0
// What the scanner's rules do with the text that they matched. Each returns the grammar's token.
#ifndef PKC_SYNTAX_TOKENS_H
#define PKC_SYNTAX_TOKENS_H

#include "syntax/parser.h"

union PKC_YYSTYPE;

/// Moves the scanner's position over `len` bytes and sets the span of the match.
void pkc_token_advance(pkc_parser *p, uint32_t len, pkc_span *span);
int pkc_token_word(pkc_parser *p, const char *text, uint32_t len, pkc_span span, pkc_name *name);
int pkc_token_operator(pkc_parser *p, const char *text, uint32_t len, pkc_span span);
uint64_t pkc_token_integer(pkc_parser *p, const char *text, uint32_t len, pkc_span span);
double pkc_token_number(pkc_parser *p, const char *text, uint32_t len, pkc_span span);
pkc_string pkc_token_string(pkc_parser *p, const char *text, uint32_t len, pkc_span span);

// Mistakes: reported here; the value or token lets the parser go on.
uint64_t pkc_token_malformed(pkc_parser *p, const char *text, uint32_t len, pkc_span span);
int pkc_token_open_string(pkc_parser *p, const char *text, uint32_t len, pkc_span span);
int pkc_token_bad_character(pkc_parser *p, const char *text, uint32_t len, pkc_span span);
int pkc_token_foreign_operator(pkc_parser *p, const char *text, uint32_t len, pkc_span span);
/// `mark` bytes stand where "//" should: 1 for '#', 2 for a comment in slash and star.
void pkc_token_foreign_comment(pkc_parser *p, pkc_span span, uint32_t mark);

/// The scanner of grammar/pk.l over a text; NULL when memory ran out.
void *pkc_lex_open(pkc_parser *p, const char *text, uint32_t len);
void pkc_lex_close(void *scanner);
int pkc_lex_token(void *scanner, union PKC_YYSTYPE *value, pkc_span *span);

/// What the grammar calls: the next token, with brackets counted.
int pkc_yylex(union PKC_YYSTYPE *value, pkc_span *span, pkc_parser *p);

#endif
