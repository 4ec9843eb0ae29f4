// SPDX-License-Identifier: Apache-2.0
// Diagnostics are data owned by one engine in the session. Layers report, renderers print.
//
//     pkc_diag *d = pkc_diag_error(session, PKC_DIAG_UNKNOWN_NAME, span, name);
//     pkc_diag_note(d, where, "'%s' is declared here", name);
//     pkc_diag_fix(d, span, "rows");
//
// The same (id, span) is kept once: a second report returns a diagnostic that is never shown, so that callers
// need not care. Reports are sorted by position when they are rendered.
#ifndef PKC_SOURCE_DIAG_H
#define PKC_SOURCE_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "source/source.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/vec.h"

struct pkc_session;

typedef enum pkc_severity { PKC_SEVERITY_ERROR, PKC_SEVERITY_WARNING, PKC_SEVERITY_REMARK } pkc_severity;

typedef enum pkc_diag_id {
#define PKC_DIAG(id, severity, code, format, explanation) PKC_DIAG_##id,
#include "source/diag.def"
#undef PKC_DIAG
    PKC_DIAG_COUNT
} pkc_diag_id;

/// A further place or remark. A note without a file ("nowhere") is a plain line below the message.
typedef struct pkc_note {
    pkc_span span;
    const char *text;
} pkc_note;

/// An edit that makes the program right: `replacement` in place of the bytes of `span` (begin == end
/// inserts).
typedef struct pkc_fix {
    pkc_span span;
    const char *replacement;
} pkc_fix;

typedef struct pkc_diag {
    pkc_diag_id id;
    pkc_severity severity;
    pkc_span span;
    const char *message;
    PKC_VEC(pkc_note) notes;
    PKC_VEC(pkc_fix) fixes;
    const char *help; // one line of advice, or NULL
    size_t order;     // order of reporting: the second key when sorting
    bool kept;        // false: it will not be shown, so advice for it is wasted
    pkc_arena *arena;
} pkc_diag;

/// Reports beyond this number are counted, repeated ones too, and not kept.
#define PKC_MAX_DIAGS 200

typedef struct pkc_diags {
    pkc_arena *arena;
    PKC_VEC(pkc_diag *) list; // in order of reporting
    size_t counts[3];         // by severity, the ones beyond the limit included
    pkc_diag sink;            // what a repeated report returns
} pkc_diags;

// Only so that the C compiler checks a report's arguments against its row's format.
#define PKC_DIAG(id, severity, code, format, explanation)                                                    \
    __attribute__((unused)) static const char pkc_diag_format_PKC_DIAG_##id[] = format;
#include "source/diag.def"
#undef PKC_DIAG
int pkc_diag_check(const char *format, pkc_span span, ...) __attribute__((format(printf, 1, 3)));

/// Reports a row of diag.def: pkc_diag_error(session, PKC_DIAG_X, span, arguments of X's format...). The
/// severity is the row's, so warnings and remarks go through pkc_diag_report under the same checks. Never
/// returns NULL.
#define pkc_diag_report(session, id, ...)                                                                    \
    (pkc_diag_emit((session),                                                                                \
                   (pkc_diag_id)((id) + 0 * sizeof(pkc_diag_check(pkc_diag_format_##id, __VA_ARGS__))),      \
                   __VA_ARGS__))
#define pkc_diag_error   pkc_diag_report
#define pkc_diag_warning pkc_diag_report
/// The function behind it, for an id that is computed: the caller answers for the arguments.
pkc_diag *pkc_diag_emit(struct pkc_session *session, pkc_diag_id id, pkc_span span, ...);

void pkc_diag_note(pkc_diag *diag, pkc_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pkc_diag_fix(pkc_diag *diag, pkc_span span, const char *replacement);
/// One line of advice, "help: ..."; the last one stands.
void pkc_diag_help(pkc_diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

void pkc_diags_init(pkc_diags *diags, pkc_arena *arena);
size_t pkc_diag_count(const struct pkc_session *session, pkc_severity severity);
/// Whether further reports are only counted.
bool pkc_diags_full(const struct pkc_session *session);
bool pkc_has_errors(const struct pkc_session *session);

const char *pkc_diag_code(pkc_diag_id id);
const char *pkc_diag_explanation(pkc_diag_id id);
const char *pkc_severity_name(pkc_severity severity);
/// Finds a row by its code ("E0203", letter case ignored); false where there is none.
bool pkc_diag_find(const char *code, pkc_diag_id *out);

/// Reports sorted by file, position and order; an array of session->diags.list.len in the session's arena.
pkc_diag **pkc_diags_sorted(struct pkc_session *session);
/// Text for a terminal: message, source line, underline, notes, fixes. `color` adds ANSI colours.
void pkc_diags_render_text(struct pkc_session *session, bool color, pkc_buf *out);
/// One JSON object a line, for editors and tools.
void pkc_diags_render_json(struct pkc_session *session, pkc_buf *out);

#endif
