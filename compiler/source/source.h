// SPDX-License-Identifier: Apache-2.0
// Source files and places in them. A place is a byte range; lines and columns are computed when shown.
#ifndef PKC_SOURCE_SOURCE_H
#define PKC_SOURCE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"
#include "support/str.h"

/// Largest source file in bytes; larger ones are refused when they are added.
#define PKC_MAX_SOURCE_BYTES (8u << 20)

typedef struct pkc_file {
    pkc_str name;          // as shown to the user and written into line tables; "<stdin>" for '-'
    const char *text;      // zero-terminated copy
    uint32_t len;          // bytes in text
    uint32_t index;        // position among the session's files, from 0
    const uint32_t *lines; // offset of the first byte of each line
    uint32_t line_count;   // at least 1
} pkc_file;

/// Bytes [begin, end) of `file`. A zeroed span (no file) means "nowhere": an option, the command line.
typedef struct pkc_span {
    const pkc_file *file;
    uint32_t begin, end;
} pkc_span;

/// Line and column from 1; the column counts characters (a tab is one), the byte order mark of a file not.
typedef struct pkc_place {
    uint32_t line, column;
} pkc_place;

/// Copies the text (len <= PKC_MAX_SOURCE_BYTES) and builds the line table, all in `arena`.
pkc_file *pkc_file_new(pkc_arena *arena, pkc_str name, const char *text, size_t len);
/// Where the offset lies; offsets beyond the end count as the end.
pkc_place pkc_file_place(const pkc_file *file, uint32_t offset);
/// Bytes of the byte order mark that the text begins with: 3, or 0 without one.
uint32_t pkc_file_mark(const pkc_file *file);
/// Start and length of a line (from 1) without its line end.
const char *pkc_file_line(const pkc_file *file, uint32_t line, uint32_t *len);

pkc_place pkc_span_begin(pkc_span span);
pkc_place pkc_span_end(pkc_span span);
/// From the begin of `a` to the end of `b` (of the same file; otherwise `a`). "Nowhere" gives way.
pkc_span pkc_span_join(pkc_span a, pkc_span b);

#endif
