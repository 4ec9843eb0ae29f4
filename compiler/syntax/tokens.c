// SPDX-License-Identifier: Apache-2.0
#include "syntax/tokens.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pk.tab.h"
#include "support/utf8.h"

typedef struct token_row {
    const char *spelling; // NULL: the token is a class of spellings
    int code;             // what the grammar knows it by
} token_row;

static const token_row tokens[] = {
#define PKC_TOKEN(id, spelling, shown, group) {spelling, PKC_TOK_##id},
#include "grammar/tokens.def"
#undef PKC_TOKEN
};

// Longest part of the source that a message quotes.
enum { QUOTE_MAX = 40 };

static const char *quote(pkc_parser *p, const char *text, uint32_t len)
{
    if (len <= QUOTE_MAX)
        return pkc_arena_strndup(&p->session->arena, text, len);
    return pkc_arena_printf(&p->session->arena, "%.*s...", QUOTE_MAX, text);
}

void pkc_token_advance(pkc_parser *p, uint32_t len, pkc_span *span)
{
    *span = (pkc_span){p->file, p->offset, p->offset + len};
    p->offset += len;
}

// Code of the token with that spelling, or 0.
static int find_spelling(const char *text, uint32_t len)
{
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const char *spelling = tokens[i].spelling;
        if (spelling && strlen(spelling) == len && memcmp(spelling, text, len) == 0)
            return tokens[i].code;
    }
    return 0;
}

int pkc_token_word(pkc_parser *p, const char *text, uint32_t len, pkc_span span, pkc_name *name)
{
    *name = (pkc_name){pkc_intern_n(&p->session->strings, text, len), span, NULL};
    int code = find_spelling(text, len);
    return code ? code : PKC_TOK_IDENT;
}

int pkc_token_operator(pkc_parser *p, const char *text, uint32_t len, pkc_span span)
{
    (void)p;
    (void)span;
    return find_spelling(text, len);
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return (c | 0x20) - 'a' + 10;
}

uint64_t pkc_token_integer(pkc_parser *p, const char *text, uint32_t len, pkc_span span)
{
    uint64_t base = len > 2 && (text[1] | 0x20) == 'x' ? 16 : 10, value = 0;
    for (uint32_t i = base == 16 ? 2 : 0; i < len; i++) {
        if (text[i] == '_')
            continue;
        uint64_t digit = (uint64_t)digit_value(text[i]);
        if (value > ((uint64_t)INT64_MAX - digit) / base) {
            pkc_diag_error(p->session, PKC_DIAG_INTEGER_TOO_LARGE, span);
            return 0;
        }
        value = value * base + digit;
    }
    return value;
}

double pkc_token_number(pkc_parser *p, const char *text, uint32_t len, pkc_span span)
{
    char *digits = pkc_arena_alloc(&p->session->arena, (size_t)len + 1), *end = digits;
    for (uint32_t i = 0; i < len; i++)
        if (text[i] != '_')
            *end++ = text[i];
    double value = strtod(digits, NULL);
    if (isinf(value)) {
        pkc_diag_error(p->session, PKC_DIAG_NUMBER_TOO_LARGE, span);
        return 0;
    }
    return value;
}

uint64_t pkc_token_malformed(pkc_parser *p, const char *text, uint32_t len, pkc_span span)
{
    pkc_diag *d = pkc_diag_error(p->session, PKC_DIAG_MALFORMED_NUMBER, span, quote(p, text, len));
    uint32_t number = (uint32_t)strspn(text, "0123456789_.");
    bool suffix = number < len && strspn(text + number, "uUlLfF") == len - number;
    if (suffix) {
        span.begin += number;
        pkc_diag_fix(d, span, "");
    }
    return 0;
}

// The character that the escape stands for; 0 where there is no such escape.
static char escape_value(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '"':
    case '\\':
        return c;
    }
    return 0;
}

static void report_escape(pkc_parser *p, const char *text, uint32_t at, uint32_t len, pkc_span string)
{
    size_t n = pkc_utf8_length(text + at + 1, len - at - 1);
    uint32_t width = 1 + (uint32_t)(n ? n : 1);
    pkc_span span = {string.file, string.begin + at, string.begin + at + width};
    if (n)
        pkc_diag_error(p->session, PKC_DIAG_BAD_ESCAPE, span, quote(p, text + at, width));
}

pkc_string pkc_token_string(pkc_parser *p, const char *text, uint32_t len, pkc_span span)
{
    char *out = pkc_arena_alloc(&p->session->arena, len), *end = out;
    for (uint32_t i = 1; i + 1 < len; i++) {
        char c = text[i];
        if (c == '\\') {
            c = escape_value(text[i + 1]);
            if (!c)
                report_escape(p, text, i, len, span);
            i++;
        }
        if (c)
            *end++ = c;
    }
    return (pkc_string){pkc_intern_n(&p->session->strings, out, (size_t)(end - out)), span};
}

int pkc_token_open_string(pkc_parser *p, const char *text, uint32_t len, pkc_span span)
{
    (void)text;
    (void)len;
    pkc_diag_error(p->session, PKC_DIAG_UNTERMINATED_STRING, span);
    return PKC_TOK_BAD;
}

// One byte was matched; the rest of a longer character is taken along, so that it is reported once.
int pkc_token_bad_character(pkc_parser *p, const char *text, uint32_t len, pkc_span span)
{
    (void)text;
    (void)len;
    const char *at = p->file->text + span.begin;
    size_t n = pkc_utf8_length(at, p->file->len - span.begin);
    unsigned char c = (unsigned char)*at;
    if (n == 0 || c == 0) // reported with the file's encoding; the later bytes of a character end up here too
        return PKC_TOK_BAD;
    span.end = span.begin + (uint32_t)n;
    const char *shown = c < 0x20 || c == 0x7f
                            ? pkc_arena_printf(&p->session->arena, "the control character %u", c)
                            : pkc_arena_printf(&p->session->arena, "'%.*s'", (int)n, at);
    pkc_diag_error(p->session, PKC_DIAG_BAD_CHARACTER, span, shown);
    return PKC_TOK_BAD;
}

typedef struct foreign_row {
    const char *spelling, *instead; // what to write, or NULL
    int code;                       // what the parser goes on with
    const char *help;               // where no other spelling helps
} foreign_row;

static const foreign_row foreign[] = {
    {"&", "&&", PKC_TOK_AND, NULL},
    {"|", "||", PKC_TOK_OR, NULL},
    {"===", "==", PKC_TOK_EQ, NULL},
    {"!==", "!=", PKC_TOK_NE, NULL},
    {"=>", ">=", PKC_TOK_GE, NULL},
    {":=", "=", PKC_TOK_ASSIGN, NULL},
    {"::", ".", PKC_TOK_DOT, NULL},
    {"...", "..", PKC_TOK_DOTDOT, NULL},
    {"?", NULL, PKC_TOK_BAD, "write 'select(condition, a, b)'"},
    {"++", NULL, PKC_TOK_BAD, "write 'x += 1;'"},
    {"<<", NULL, PKC_TOK_BAD, "multiply by a power of two"},
    {"%=", NULL, PKC_TOK_BAD, "write 'x = x % n;'"},
    {"**", NULL, PKC_TOK_BAD, "write the product"},
};

int pkc_token_foreign_operator(pkc_parser *p, const char *text, uint32_t len, pkc_span span)
{
    pkc_diag *d = pkc_diag_error(p->session, PKC_DIAG_FOREIGN_OPERATOR, span, quote(p, text, len));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const foreign_row *row = &foreign[i];
        if (strlen(row->spelling) != len || memcmp(row->spelling, text, len) != 0)
            continue;
        if (row->instead)
            pkc_diag_fix(d, span, row->instead);
        else
            pkc_diag_help(d, "%s", row->help);
        return row->code;
    }
    return PKC_TOK_BAD;
}

void pkc_token_foreign_comment(pkc_parser *p, pkc_span span, uint32_t mark)
{
    pkc_span head = {span.file, span.begin, span.begin + mark};
    pkc_diag *d = pkc_diag_error(p->session, PKC_DIAG_FOREIGN_COMMENT, head);
    if (mark == 1)
        pkc_diag_fix(d, head, "//");
}

// Blanks before the first character of the line; `*first` says whether the offset is that character's.
static uint32_t indentation(const pkc_file *file, uint32_t offset, bool *first)
{
    uint32_t begin = offset, at;
    while (begin > 0 && file->text[begin - 1] != '\n')
        begin--;
    for (at = begin; file->text[at] == ' ' || file->text[at] == '\t';)
        at++;
    *first = at == offset;
    return at - begin;
}

static void note_suspect(pkc_parser *p, uint32_t open, uint32_t close)
{
    bool open_first, close_first;
    uint32_t left = indentation(p->file, open, &open_first);
    if (indentation(p->file, close, &close_first) < left && close_first && !p->has_suspect) {
        p->has_suspect = true;
        p->suspect = open;
    }
}

// Keeps count of the brackets that are open; false where they nest too deeply.
static bool count_bracket(pkc_parser *p, int code, pkc_span span)
{
    switch (code) {
    case PKC_TOK_LPAREN:
    case PKC_TOK_LBRACKET:
    case PKC_TOK_LBRACE:
        if (p->open_count == PKC_MAX_NESTING)
            return false;
        p->open[p->open_count++] = span.begin;
        break;
    case PKC_TOK_RPAREN:
    case PKC_TOK_RBRACKET:
    case PKC_TOK_RBRACE:
        if (p->open_count > 0 && code == PKC_TOK_RBRACE)
            note_suspect(p, p->open[p->open_count - 1], span.begin);
        if (p->open_count > 0)
            p->open_count--;
        break;
    }
    return true;
}

int pkc_yylex(PKC_YYSTYPE *value, pkc_span *span, pkc_parser *p)
{
    *span = (pkc_span){p->file, p->offset, p->offset};
    int code = p->stopped ? 0 : pkc_lex_token(p->scanner, value, span);
    if (!count_bracket(p, code, *span)) {
        pkc_report_depth(p, *span);
        code = 0;
    }
    if (code == 0)
        *span = (pkc_span){p->file, p->offset, p->offset};
    p->before_last = p->last;
    p->last = *span;
    return code;
}
