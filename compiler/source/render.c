// SPDX-License-Identifier: Apache-2.0
// Diagnostics as text for a terminal and as JSON lines.
#include <string.h>

#include "source/session.h"
#include "support/utf8.h"

// ANSI escapes, or empty texts.
typedef struct palette {
    const char *error, *warning, *note, *fix, *bold, *off;
} palette;

static const palette colors = {"\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m", "\033[1m", "\033[0m"};
static const palette plain = {"", "", "", "", "", ""};

// A source line longer than this is shown as a window around the mistake.
enum { WIDEST_LINE = 160, TAB_WIDTH = 4 };

static const char *severity_color(const palette *p, pkc_severity severity)
{
    switch (severity) {
    case PKC_SEVERITY_ERROR:
        return p->error;
    case PKC_SEVERITY_WARNING:
        return p->warning;
    case PKC_SEVERITY_REMARK:
        return p->note;
    }
    return "";
}

// Columns that the byte takes: tabs are spread, the later bytes of a character take none.
static size_t byte_width(char c)
{
    if (c == '\t')
        return TAB_WIDTH;
    return ((unsigned char)c & 0xc0) == 0x80 ? 0 : 1;
}

// The line's bytes [from, to) with tabs spread and what a terminal should not see replaced.
static void put_source(pkc_buf *out, const char *line, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to;) {
        size_t n = pkc_utf8_length(line + i, to - i);
        unsigned char c = (unsigned char)line[i];
        if (c == '\t')
            pkc_buf_fill(out, ' ', TAB_WIDTH);
        else if (n == 0 || c < 0x20 || c == 0x7f)
            pkc_buf_putc(out, '?');
        else
            pkc_buf_write(out, line + i, n);
        i += n ? (uint32_t)n : 1;
    }
}

static size_t width(const char *line, uint32_t from, uint32_t to)
{
    size_t w = 0;
    for (uint32_t i = from; i < to; i++)
        w += byte_width(line[i]);
    return w;
}

typedef struct window {
    uint32_t from, to;
} window;

static window choose_window(uint32_t begin, uint32_t len)
{
    if (len <= WIDEST_LINE)
        return (window){0, len};
    uint32_t from = begin > WIDEST_LINE / 2 ? begin - WIDEST_LINE / 2 : 0;
    uint32_t to = len - from > WIDEST_LINE ? from + WIDEST_LINE : len;
    return (window){from, to};
}

// The line that the span begins on and an underline; a span over several lines is underlined to the line's
// end.
static void put_snippet(pkc_buf *out, pkc_span span, const char *color, const char *off)
{
    pkc_place begin = pkc_span_begin(span), end = pkc_span_end(span);
    uint32_t len;
    const char *line = pkc_file_line(span.file, begin.line, &len);
    uint32_t start = (uint32_t)(line - span.file->text);
    uint32_t first = span.begin - start < len ? span.begin - start : len;
    uint32_t last = end.line == begin.line && span.end - start < len ? span.end - start : len;
    window shown = choose_window(first, len);
    if (start == 0 && shown.from == 0)
        shown.from = pkc_file_mark(span.file); // it takes no place on a terminal
    last = last < shown.to ? last : shown.to;
    pkc_buf_printf(out, "%5u | ", begin.line);
    put_source(out, line, shown.from, shown.to);
    pkc_buf_puts(out, "\n      | ");
    pkc_buf_fill(out, ' ', width(line, shown.from, first));
    pkc_buf_printf(out, "%s^", color);
    size_t underline = last > first ? width(line, first, last) : 1;
    pkc_buf_fill(out, '~', underline > 1 ? underline - 1 : 0);
    pkc_buf_printf(out, "%s\n", off);
}

static void put_where(pkc_buf *out, pkc_span span, const palette *p)
{
    pkc_place at = pkc_span_begin(span);
    if (span.file)
        pkc_buf_printf(out, "%s%s:%u:%u:%s ", p->bold, span.file->name, at.line, at.column, p->off);
    else
        pkc_buf_printf(out, "%spkc:%s ", p->bold, p->off);
}

static void put_note(pkc_buf *out, const pkc_note *note, const palette *p)
{
    if (!note->span.file) {
        pkc_buf_printf(out, "      = %snote:%s %s\n", p->note, p->off, note->text);
        return;
    }
    put_where(out, note->span, p);
    pkc_buf_printf(out, "%snote:%s %s\n", p->note, p->off, note->text);
    put_snippet(out, note->span, p->note, p->off);
}

static void put_fix(pkc_buf *out, const pkc_fix *fix, const palette *p)
{
    const pkc_file *file = fix->span.file;
    int len = (int)(fix->span.end - fix->span.begin);
    const char *old = file ? file->text + fix->span.begin : "";
    pkc_buf_printf(out, "      = %shelp:%s ", p->fix, p->off);
    if (len == 0)
        pkc_buf_printf(out, "insert '%s'\n", fix->replacement);
    else if (!*fix->replacement)
        pkc_buf_printf(out, "remove '%.*s'\n", len, old);
    else
        pkc_buf_printf(out, "write '%s' instead of '%.*s'\n", fix->replacement, len, old);
}

static void put_diag(pkc_buf *out, const pkc_diag *d, const palette *p)
{
    const char *color = severity_color(p, d->severity);
    put_where(out, d->span, p);
    pkc_buf_printf(out, "%s%s %s:%s %s\n", color, pkc_severity_name(d->severity), pkc_diag_code(d->id),
                   p->off, d->message);
    if (d->span.file)
        put_snippet(out, d->span, color, p->off);
    for (size_t i = 0; i < d->notes.len; i++)
        put_note(out, &d->notes.data[i], p);
    for (size_t i = 0; i < d->fixes.len; i++)
        put_fix(out, &d->fixes.data[i], p);
    if (d->help)
        pkc_buf_printf(out, "      = %shelp:%s %s\n", p->fix, p->off, d->help);
}

static void put_summary(pkc_buf *out, const pkc_diags *diags)
{
    size_t all = 0;
    for (int i = 0; i <= PKC_SEVERITY_REMARK; i++)
        all += diags->counts[i];
    if (all > diags->list.len)
        pkc_buf_printf(out, "%zu more are not shown\n", all - diags->list.len);
    size_t errors = diags->counts[PKC_SEVERITY_ERROR], warnings = diags->counts[PKC_SEVERITY_WARNING];
    if (errors)
        pkc_buf_printf(out, "%zu error%s", errors, errors == 1 ? "" : "s");
    if (warnings)
        pkc_buf_printf(out, "%s%zu warning%s", errors ? ", " : "", warnings, warnings == 1 ? "" : "s");
    if (errors || warnings)
        pkc_buf_puts(out, "\n");
}

void pkc_diags_render_text(pkc_session *session, bool color, pkc_buf *out)
{
    pkc_diag **sorted = pkc_diags_sorted(session);
    for (size_t i = 0; i < session->diags.list.len; i++)
        put_diag(out, sorted[i], color ? &colors : &plain);
    put_summary(out, &session->diags);
}

static void json_span(pkc_buf *out, pkc_span span)
{
    if (!span.file) {
        pkc_buf_puts(out, "null");
        return;
    }
    pkc_place begin = pkc_span_begin(span), end = pkc_span_end(span);
    pkc_buf_puts(out, "{\"file\":");
    pkc_buf_json(out, span.file->name);
    pkc_buf_printf(out, ",\"line\":%u,\"column\":%u,\"endLine\":%u,\"endColumn\":%u,\"begin\":%u,\"end\":%u}",
                   begin.line, begin.column, end.line, end.column, span.begin, span.end);
}

static void json_text(pkc_buf *out, const char *key, const char *text)
{
    pkc_buf_printf(out, "\"%s\":", key);
    pkc_buf_json(out, text);
}

static void json_notes(pkc_buf *out, const pkc_diag *d)
{
    pkc_buf_puts(out, ",\"notes\":[");
    for (size_t i = 0; i < d->notes.len; i++) {
        pkc_buf_puts(out, i ? ",{" : "{");
        json_text(out, "message", d->notes.data[i].text);
        pkc_buf_puts(out, ",\"span\":");
        json_span(out, d->notes.data[i].span);
        pkc_buf_putc(out, '}');
    }
    pkc_buf_putc(out, ']');
}

static void json_fixes(pkc_buf *out, const pkc_diag *d)
{
    pkc_buf_puts(out, ",\"fixes\":[");
    for (size_t i = 0; i < d->fixes.len; i++) {
        pkc_buf_puts(out, i ? ",{" : "{");
        json_text(out, "replacement", d->fixes.data[i].replacement);
        pkc_buf_puts(out, ",\"span\":");
        json_span(out, d->fixes.data[i].span);
        pkc_buf_putc(out, '}');
    }
    pkc_buf_putc(out, ']');
}

static void json_diag(pkc_buf *out, const pkc_diag *d)
{
    pkc_buf_putc(out, '{');
    json_text(out, "severity", pkc_severity_name(d->severity));
    pkc_buf_putc(out, ',');
    json_text(out, "code", pkc_diag_code(d->id));
    pkc_buf_putc(out, ',');
    json_text(out, "message", d->message);
    pkc_buf_puts(out, ",\"span\":");
    json_span(out, d->span);
    json_notes(out, d);
    json_fixes(out, d);
    if (d->help) {
        pkc_buf_putc(out, ',');
        json_text(out, "help", d->help);
    }
    pkc_buf_puts(out, "}\n");
}

void pkc_diags_render_json(pkc_session *session, pkc_buf *out)
{
    pkc_diag **sorted = pkc_diags_sorted(session);
    for (size_t i = 0; i < session->diags.list.len; i++)
        json_diag(out, sorted[i]);
}
