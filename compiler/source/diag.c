// SPDX-License-Identifier: Apache-2.0
#include "source/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "source/session.h"

typedef struct diag_row {
    pkc_severity severity;
    const char *code, *format, *explanation;
} diag_row;

static const diag_row rows[] = {
#define PKC_DIAG(id, severity, code, format, explanation)                                                    \
    {PKC_SEVERITY_##severity, code, format, explanation},
#include "source/diag.def"
#undef PKC_DIAG
};

void pkc_diags_init(pkc_diags *diags, pkc_arena *arena)
{
    *diags = (pkc_diags){.arena = arena};
}

static bool same_span(pkc_span a, pkc_span b)
{
    return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

// Reports without a place differ by their text only.
static bool reported(const pkc_diags *diags, pkc_diag_id id, pkc_span span, const char *message)
{
    for (size_t i = 0; i < diags->list.len; i++) {
        const pkc_diag *d = diags->list.data[i];
        if (d->id == id && same_span(d->span, span) && (span.file || strcmp(d->message, message) == 0))
            return true;
    }
    return false;
}

static pkc_diag *use_sink(pkc_diags *diags, pkc_diag_id id)
{
    diags->sink = (pkc_diag){.id = id, .severity = rows[id].severity, .arena = diags->arena};
    return &diags->sink;
}

pkc_diag *pkc_diag_emit(pkc_session *session, pkc_diag_id id, pkc_span span, ...)
{
    pkc_diags *diags = &session->diags;
    if (pkc_diags_full(session)) { // what is not kept costs nothing: mistakes may come by the million
        diags->counts[rows[id].severity]++;
        return use_sink(diags, id);
    }
    va_list args;
    va_start(args, span);
    const char *message = pkc_arena_vprintf(diags->arena, rows[id].format, args);
    va_end(args);
    if (reported(diags, id, span, message))
        return use_sink(diags, id);
    diags->counts[rows[id].severity]++;
    pkc_diag *d = PKC_NEW(diags->arena, pkc_diag);
    *d = (pkc_diag){.id = id,
                    .severity = rows[id].severity,
                    .span = span,
                    .message = message,
                    .order = diags->list.len,
                    .kept = true,
                    .arena = diags->arena};
    pkc_vec_push(diags->arena, &diags->list, d);
    return d;
}

bool pkc_diags_full(const pkc_session *session)
{
    return session->diags.list.len >= PKC_MAX_DIAGS;
}

void pkc_diag_note(pkc_diag *diag, pkc_span span, const char *format, ...)
{
    if (!diag->kept)
        return;
    va_list args;
    va_start(args, format);
    pkc_note note = {span, pkc_arena_vprintf(diag->arena, format, args)};
    va_end(args);
    pkc_vec_push(diag->arena, &diag->notes, note);
}

void pkc_diag_fix(pkc_diag *diag, pkc_span span, const char *replacement)
{
    if (!diag->kept)
        return;
    pkc_fix fix = {span, pkc_arena_strdup(diag->arena, replacement)};
    pkc_vec_push(diag->arena, &diag->fixes, fix);
}

void pkc_diag_help(pkc_diag *diag, const char *format, ...)
{
    if (!diag->kept)
        return;
    va_list args;
    va_start(args, format);
    diag->help = pkc_arena_vprintf(diag->arena, format, args);
    va_end(args);
}

size_t pkc_diag_count(const pkc_session *session, pkc_severity severity)
{
    return session->diags.counts[severity];
}

bool pkc_has_errors(const pkc_session *session)
{
    return pkc_diag_count(session, PKC_SEVERITY_ERROR) > 0;
}

const char *pkc_diag_code(pkc_diag_id id)
{
    return rows[id].code;
}

const char *pkc_diag_explanation(pkc_diag_id id)
{
    return rows[id].explanation;
}

const char *pkc_severity_name(pkc_severity severity)
{
    switch (severity) {
    case PKC_SEVERITY_ERROR:
        return "error";
    case PKC_SEVERITY_WARNING:
        return "warning";
    case PKC_SEVERITY_REMARK:
        return "remark";
    }
    return "";
}

bool pkc_diag_find(const char *code, pkc_diag_id *out)
{
    for (size_t i = 0; i < PKC_DIAG_COUNT; i++)
        if (strcasecmp(rows[i].code, code) == 0) {
            *out = (pkc_diag_id)i;
            return true;
        }
    return false;
}

static int compare(const void *left, const void *right)
{
    const pkc_diag *a = *(pkc_diag *const *)left, *b = *(pkc_diag *const *)right;
    uint32_t file_a = a->span.file ? a->span.file->index + 1 : 0;
    uint32_t file_b = b->span.file ? b->span.file->index + 1 : 0;
    if (file_a != file_b)
        return file_a < file_b ? -1 : 1;
    if (a->span.begin != b->span.begin)
        return a->span.begin < b->span.begin ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

pkc_diag **pkc_diags_sorted(pkc_session *session)
{
    pkc_diags *diags = &session->diags;
    pkc_diag **sorted = PKC_NEW_ARRAY(diags->arena, pkc_diag *, diags->list.len + 1);
    for (size_t i = 0; i < diags->list.len; i++)
        sorted[i] = diags->list.data[i];
    qsort(sorted, diags->list.len, sizeof *sorted, compare); // NOLINT(bugprone-sizeof-expression): pointers
    return sorted;
}
