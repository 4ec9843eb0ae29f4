// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "pk.tab.h"
#include "support/utf8.h"
#include "syntax/syntax.h"
#include "syntax/tokens.h"

// Reports the first byte that is not UTF-8 text. The scanner then passes over such bytes in silence.
static void check_encoding(pkc_session *session, const pkc_file *file)
{
    for (uint32_t at = 0; at < file->len;) {
        size_t n = pkc_utf8_length(file->text + at, file->len - at);
        if (n == 0 || file->text[at] == 0) {
            pkc_span span = {file, at, at + 1};
            pkc_diag_error(session, PKC_DIAG_BAD_ENCODING, span, (unsigned char)file->text[at]);
            return;
        }
        at += (uint32_t)n;
    }
}

// What importers call the file: its name without folder and ending.
static pkc_str module_name(pkc_session *session, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return pkc_intern_n(&session->strings, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

pkc_module *pkc_parse(pkc_session *session, const pkc_file *file)
{
    pkc_module *module = PKC_NEW(&session->arena, pkc_module);
    *module = (pkc_module){.name = module_name(session, file->name), .file = file};
    check_encoding(session, file);
    pkc_parser parser = {.session = session, .file = file, .module = module};
    bool has_mark = file->len >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0;
    parser.offset = has_mark ? 3 : 0;
    parser.scanner = pkc_lex_open(&parser, file->text + parser.offset, file->len - parser.offset);
    if (!parser.scanner)
        return module;
    pkc_yyparse(&parser);
    pkc_lex_close(parser.scanner);
    return module;
}
