// SPDX-License-Identifier: Apache-2.0
// A growing text. Always zero-terminated once something was added; malloc'd, freed by pkc_buf_free.
#ifndef PKC_SUPPORT_BUF_H
#define PKC_SUPPORT_BUF_H

#include <stdarg.h>
#include <stddef.h>

typedef struct pkc_buf {
    char *data;
    size_t len, cap;
} pkc_buf;

/// A zeroed struct is an empty buffer too.
void pkc_buf_init(pkc_buf *buf);
void pkc_buf_free(pkc_buf *buf);
void pkc_buf_putc(pkc_buf *buf, char c);
void pkc_buf_puts(pkc_buf *buf, const char *text);
void pkc_buf_write(pkc_buf *buf, const char *data, size_t len);
/// `n` times the character, for indentation.
void pkc_buf_fill(pkc_buf *buf, char c, size_t n);
void pkc_buf_printf(pkc_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pkc_buf_vprintf(pkc_buf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/// The text, "" when nothing was added. Valid until the next change.
const char *pkc_buf_cstr(const pkc_buf *buf);
/// Hands the text over to the caller, who frees it with free(); the buffer is empty afterwards.
char *pkc_buf_take(pkc_buf *buf, size_t *len);
/// Appends the text as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD.
void pkc_buf_json(pkc_buf *buf, const char *text);

#endif
