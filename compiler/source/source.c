// SPDX-License-Identifier: Apache-2.0
#include "source/source.h"

#include <string.h>

static uint32_t count_lines(const char *text, uint32_t len)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < len; i++)
        count += text[i] == '\n';
    return count;
}

static const uint32_t *line_table(pkc_arena *arena, const char *text, uint32_t len, uint32_t count)
{
    uint32_t *lines = PKC_NEW_ARRAY(arena, uint32_t, count), at = 1;
    for (uint32_t i = 0; i < len; i++)
        if (text[i] == '\n')
            lines[at++] = i + 1;
    return lines;
}

pkc_file *pkc_file_new(pkc_arena *arena, pkc_str name, const char *text, size_t len)
{
    pkc_file *file = PKC_NEW(arena, pkc_file);
    file->name = name;
    file->text = pkc_arena_strndup(arena, text, len);
    file->len = (uint32_t)len;
    file->line_count = count_lines(text, file->len);
    file->lines = line_table(arena, text, file->len, file->line_count);
    return file;
}

uint32_t pkc_file_mark(const pkc_file *file)
{
    return file->len >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/// Characters of [from, to): bytes that continue one do not count.
static uint32_t count_characters(const pkc_file *file, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t i = from ? from : pkc_file_mark(file); i < to; i++)
        count += ((unsigned char)file->text[i] & 0xc0) != 0x80;
    return count;
}

pkc_place pkc_file_place(const pkc_file *file, uint32_t offset)
{
    if (offset > file->len)
        offset = file->len;
    uint32_t low = 0, high = file->line_count; // the line lies in [low, high)
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (file->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return (pkc_place){low + 1, count_characters(file, file->lines[low], offset) + 1};
}

const char *pkc_file_line(const pkc_file *file, uint32_t line, uint32_t *len)
{
    uint32_t begin = file->lines[line - 1];
    uint32_t end = line < file->line_count ? file->lines[line] - 1 : file->len;
    if (end > begin && file->text[end - 1] == '\r')
        end--;
    *len = end - begin;
    return file->text + begin;
}

pkc_place pkc_span_begin(pkc_span span)
{
    return span.file ? pkc_file_place(span.file, span.begin) : (pkc_place){0, 0};
}

pkc_place pkc_span_end(pkc_span span)
{
    return span.file ? pkc_file_place(span.file, span.end) : (pkc_place){0, 0};
}

pkc_span pkc_span_join(pkc_span a, pkc_span b)
{
    if (!a.file)
        return b;
    if (a.file != b.file)
        return a;
    if (b.begin < a.begin)
        a.begin = b.begin;
    if (b.end > a.end)
        a.end = b.end;
    return a;
}
