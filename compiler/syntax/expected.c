// SPDX-License-Identifier: Apache-2.0
// Turns "these tokens could have stood here" into a sentence for a person, with the fix where there is an
// obvious one.
#include <string.h>

#include "syntax/parser.h"

typedef enum token_group { ITEM, STMT, START, BOTH, OPERATOR, ASSIGN, WORD, PLAIN } token_group;

typedef struct token_text {
    const char *spelling, *shown;
    token_group group;
} token_text;

static const token_text texts[PKC_TOKEN_COUNT] = {
#define PKC_TOKEN(id, spelling, shown, group) {spelling, shown, group},
#include "grammar/tokens.def"
#undef PKC_TOKEN
    {NULL, "the end of the file", PLAIN},
};

static void drop_group(pkc_expected *e, token_group group)
{
    for (int i = 0; i < PKC_TOKEN_COUNT; i++)
        if (texts[i].group == group)
            e->token[i] = false;
}

static bool only(const pkc_expected *e, pkc_token token)
{
    for (int i = 0; i < PKC_TOKEN_COUNT; i++)
        if (e->token[i] && i != (int)token)
            return false;
    return true;
}

typedef struct choices {
    const char *text[PKC_TOKEN_COUNT + 3];
    size_t count;
} choices;

// Kinds of token ("a name") before words and signs.
static void add_texts(choices *c, const pkc_expected *e, bool spelled)
{
    for (int i = 0; i < PKC_TOKEN_COUNT; i++)
        if (e->token[i] && (texts[i].spelling != NULL) == spelled)
            c->text[c->count++] = texts[i].shown;
}

// Many tokens that mean one thing become one phrase; operators that could go on are no news.
static choices fold(pkc_expected e)
{
    choices c = {0};
    bool statement = e.token[PKC_TOKEN_LET], item = e.token[PKC_TOKEN_IMPORT];
    bool expression = e.token[PKC_TOKEN_FLOAT] && e.token[PKC_TOKEN_IDENT];
    bool going_on = e.token[PKC_TOKEN_STAR];
    if (item) {
        c.text[c.count++] = "'import', 'kernel' or 'fn'";
        drop_group(&e, ITEM);
        e.token[PKC_TOKEN_AT] = e.token[PKC_TOKEN_END] = false;
    }
    if (statement)
        drop_group(&e, STMT);
    if (statement || expression) {
        c.text[c.count++] = statement ? "a statement" : "an expression";
        drop_group(&e, START);
        drop_group(&e, BOTH);
    }
    if (going_on) {
        bool closes = e.token[PKC_TOKEN_GREATER] && !e.token[PKC_TOKEN_LESS]; // a list of const parameters
        drop_group(&e, BOTH);
        drop_group(&e, OPERATOR);
        e.token[PKC_TOKEN_GREATER] = closes;
    }
    if (statement || expression || e.token[PKC_TOKEN_IDENT])
        drop_group(&e, WORD);
    if (e.token[PKC_TOKEN_PEER]) {
        c.text[c.count++] = "a type";
        e.token[PKC_TOKEN_PEER] = e.token[PKC_TOKEN_IDENT] = e.token[PKC_TOKEN_LPAREN] = false;
    }
    if (e.token[PKC_TOKEN_CONST]) // after 'for', where '(' is read only to be refused
        e.token[PKC_TOKEN_LPAREN] = false;
    if (e.token[PKC_TOKEN_ADDEQ])
        e.token[PKC_TOKEN_ASSIGN] = false;
    drop_group(&e, ASSIGN);
    if (!only(&e, PKC_TOKEN_END))
        e.token[PKC_TOKEN_END] = false;
    add_texts(&c, &e, false);
    add_texts(&c, &e, true);
    return c;
}

static const char *join(pkc_parser *p, const choices *c)
{
    const char *text = c->count ? c->text[0] : "something else";
    for (size_t i = 1; i < c->count; i++)
        text = pkc_arena_printf(&p->session->arena, "%s%s%s", text, i + 1 < c->count ? ", " : " or ",
                                c->text[i]);
    return text;
}

static const char *source_text(pkc_parser *p, pkc_span span)
{
    uint32_t len = span.end - span.begin, shown = len > 40 ? 40 : len;
    return pkc_arena_printf(&p->session->arena, "'%.*s%s'", (int)shown, p->file->text + span.begin,
                            shown < len ? "..." : "");
}

static const char *found_text(pkc_parser *p, pkc_span span, pkc_token found)
{
    if (found == PKC_TOKEN_END || found == PKC_TOKEN_STRING)
        return texts[found].shown;
    return source_text(p, span);
}

static bool span_is(pkc_span span, const char *text)
{
    return span.file && span.end - span.begin == strlen(text) &&
           memcmp(span.file->text + span.begin, text, span.end - span.begin) == 0;
}

typedef struct foreign_word {
    const char *word, *advice;
} foreign_word;

static const char declare[] = "variables are declared with 'let' or 'var', as in 'let x = 1;'";

// Words with which other languages begin a statement.
static const foreign_word foreign_words[] = {
    {"int", declare},
    {"float", declare},
    {"double", declare},
    {"char", declare},
    {"void", declare},
    {"bool", declare},
    {"size_t", declare},
    {"auto", declare},
    {"long", declare},
    {"unsigned", declare},
    {"elif", "write 'else if'"},
    {"while", "the loops are 'for i in a .. b { }' and 'for const i in a .. b { }'"},
    {"do", "the loops are 'for i in a .. b { }' and 'for const i in a .. b { }'"},
    {"switch", "write a chain of 'if' and 'else if'"},
    {"def", "functions are written 'fn name(args) { }'"},
    {"func", "functions are written 'fn name(args) { }'"},
    {"__global__", "kernels are written 'kernel name(params) { }'"},
    {"include", "modules are read with 'import name;'"},
};

static const char *foreign_advice(pkc_span span)
{
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++)
        if (span_is(span, foreign_words[i].word))
            return foreign_words[i].advice;
    return NULL;
}

// The keyword of the group that the word in the source is a slip of, or NULL.
static const char *near_keyword(pkc_parser *p, pkc_span span, token_group group)
{
    if (!span.file)
        return NULL;
    const char *word =
        pkc_arena_strndup(&p->session->arena, p->file->text + span.begin, span.end - span.begin);
    size_t len = strlen(word);
    unsigned limit = len < 3 ? 0 : len < 6 ? 1 : 2;
    for (int i = 0; i < PKC_TOKEN_COUNT; i++)
        if (texts[i].group == group && texts[i].spelling && strcmp(word, texts[i].spelling) != 0 &&
            pkc_str_distance(word, texts[i].spelling, limit) <= limit)
            return texts[i].spelling;
    return NULL;
}

static bool is_keyword(pkc_token token)
{
    const char *spelling = texts[token].spelling;
    return spelling && spelling[0] >= 'a' && spelling[0] <= 'z';
}

// A word that was meant as another: a slip of a keyword, or one of another language. True where it is.
static bool advise_word(pkc_parser *p, pkc_diag *d, pkc_span span, pkc_token found, const pkc_expected *e)
{
    bool item = e->token[PKC_TOKEN_IMPORT], after_name = e->token[PKC_TOKEN_ADDEQ];
    if (!(item && found == PKC_TOKEN_IDENT) && !after_name)
        return false;
    pkc_span word = item ? span : p->before_last;
    const char *keyword = near_keyword(p, word, item ? ITEM : STMT), *advice = foreign_advice(word);
    if (advice)
        pkc_diag_help(d, "%s", advice);
    else if (keyword && found != PKC_TOKEN_SEMICOLON)
        pkc_diag_fix(d, word, keyword);
    return advice || keyword;
}

// Braces that were left out around a body.
static bool advise_braces(pkc_parser *p, pkc_diag *d, pkc_token found, const pkc_expected *e)
{
    if (!e->token[PKC_TOKEN_LBRACE] || found == PKC_TOKEN_END)
        return false;
    if (span_is(p->before_last, "else"))
        pkc_diag_help(d, "braces are always written: else { ... }");
    else if (e->token[PKC_TOKEN_STAR] || span_is(p->before_last, ")"))
        pkc_diag_help(d, "braces are always written around a body: { ... }");
    return true;
}

// Advice for what people bring along from other languages.
static void advise(pkc_parser *p, pkc_diag *d, pkc_span span, pkc_token found, const pkc_expected *e)
{
    pkc_span before = p->before_last;
    if (advise_word(p, d, span, found, e))
        return;
    if (found == PKC_TOKEN_ASSIGN && e->token[PKC_TOKEN_EQ] && !e->token[PKC_TOKEN_SEMICOLON])
        pkc_diag_fix(d, span, "==");
    else if (found == PKC_TOKEN_LBRACE && (span_is(before, "consumer") || span_is(before, "communicator")))
        pkc_diag_help(d, "say how many: %.*s(2)", (int)(before.end - before.begin),
                      p->file->text + before.begin);
    else if (!advise_braces(p, d, found, e) && is_keyword(found) && e->token[PKC_TOKEN_IDENT] &&
             !e->token[PKC_TOKEN_LET])
        pkc_diag_help(d, "'%s' is a word of the language and cannot be a name", texts[found].spelling);
}

static bool on_later_line(pkc_span before, pkc_span span)
{
    return before.file && pkc_span_end(before).line < pkc_span_begin(span).line;
}

static void report_semicolon(pkc_parser *p)
{
    pkc_span before = p->before_last, at = {before.file, before.end, before.end};
    pkc_diag *d = pkc_diag_error(p->session, PKC_DIAG_MISSING_SEMICOLON, at, source_text(p, before));
    pkc_diag_fix(d, at, ";");
}

// The bracket that the indentation says was forgotten, otherwise the innermost one that is open.
static void report_unclosed(pkc_parser *p, pkc_span end)
{
    uint32_t open = p->has_suspect ? p->suspect : p->open[p->open_count - 1];
    pkc_span bracket = {p->file, open, open + 1};
    pkc_diag *d = pkc_diag_error(p->session, PKC_DIAG_UNCLOSED, bracket, source_text(p, bracket));
    if (p->has_suspect)
        pkc_diag_help(d, "the '}' that closes it now stands further left than its line");
    pkc_diag_note(d, end, "the file ends here");
}

// A '}' between items right behind one that was reported.
static bool one_more_stray(pkc_parser *p, pkc_span span, pkc_token found, const pkc_expected *e)
{
    if (found != PKC_TOKEN_RBRACE || !e->token[PKC_TOKEN_IMPORT])
        return false;
    bool again = p->stray_end != 0 && p->before_last.end == p->stray_end;
    p->stray_end = span.end;
    return again;
}

void pkc_report_syntax(pkc_parser *p, pkc_span span, pkc_token found, pkc_expected expected)
{
    if (p->stopped || one_more_stray(p, span, found, &expected))
        return;
    bool semicolon = expected.token[PKC_TOKEN_SEMICOLON];
    if (semicolon && (on_later_line(p->before_last, span) || found == PKC_TOKEN_RBRACE)) {
        report_semicolon(p);
        return;
    }
    if (found == PKC_TOKEN_END && p->open_count > 0) {
        report_unclosed(p, span);
        return;
    }
    choices c = fold(expected);
    pkc_diag *d = pkc_diag_error(p->session, PKC_DIAG_SYNTAX, span, join(p, &c), found_text(p, span, found));
    advise(p, d, span, found, &expected);
}

void pkc_report_depth(pkc_parser *p, pkc_span span)
{
    if (!p->stopped)
        pkc_diag_error(p->session, PKC_DIAG_TOO_DEEP, span, PKC_MAX_NESTING);
    p->stopped = true;
}

void pkc_report_c_for(pkc_parser *p, pkc_span paren)
{
    pkc_diag_error(p->session, PKC_DIAG_FOREIGN_FOR, paren);
}
