// SPDX-License-Identifier: Apache-2.0
// State of one parse: shared by the scanner, the grammar's actions and the error reports of this layer only.
#ifndef PKC_SYNTAX_PARSER_H
#define PKC_SYNTAX_PARSER_H

#include "source/session.h"
#include "syntax/ast.h"

/// Rows of grammar/tokens.def; END is the end of the file.
typedef enum pkc_token {
#define PKC_TOKEN(id, spelling, shown, group) PKC_TOKEN_##id,
#include "grammar/tokens.def"
#undef PKC_TOKEN
    PKC_TOKEN_END,
    PKC_TOKEN_COUNT
} pkc_token;

/// The tokens that could have stood where one could not.
typedef struct pkc_expected {
    bool token[PKC_TOKEN_COUNT];
} pkc_expected;

typedef struct pkc_parser {
    pkc_session *session;
    const pkc_file *file;
    pkc_module *module;
    void *scanner;
    uint32_t offset;                // of the byte after the scanner's last match
    pkc_span last, before_last;     // the last two tokens that the grammar got
    uint32_t open[PKC_MAX_NESTING]; // offsets of the brackets that are open
    uint32_t open_count;
    bool has_suspect;   // a '{' was closed by a '}' further left than its line:
    uint32_t suspect;   // its offset, the first one's; its own '}' is likely to be missing
    uint32_t stray_end; // end of the last '}' without a partner: one of a run of them is reported
    bool stopped;       // nothing more is read: the nesting is beyond its limit
    bool bad_encoding;  // reported for the whole file: its bytes are not reported again
} pkc_parser;

/// What went wrong at a token, in human words.
void pkc_report_syntax(pkc_parser *p, pkc_span span, pkc_token found, pkc_expected expected);
/// A loop in the form of C, at its parenthesis.
void pkc_report_c_for(pkc_parser *p, pkc_span paren);
/// Nesting beyond PKC_MAX_NESTING (or bison's stack); reported once a file.
void pkc_report_depth(pkc_parser *p, pkc_span span);

#endif
