// SPDX-License-Identifier: Apache-2.0
#include "support/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/arena.h"
#include "support/utf8.h"

void pkc_buf_init(pkc_buf *buf)
{
    *buf = (pkc_buf){0};
}

void pkc_buf_free(pkc_buf *buf)
{
    free(buf->data);
    *buf = (pkc_buf){0};
}

// Room for `more` bytes and the zero behind them.
static void reserve(pkc_buf *buf, size_t more)
{
    if (buf->cap - buf->len > more)
        return;
    size_t cap = buf->cap ? buf->cap * 2 : 128;
    while (cap - buf->len <= more)
        cap *= 2;
    buf->data = pkc_xrealloc(buf->data, cap);
    buf->cap = cap;
}

void pkc_buf_write(pkc_buf *buf, const char *data, size_t len)
{
    reserve(buf, len);
    if (len)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = 0;
}

void pkc_buf_putc(pkc_buf *buf, char c)
{
    pkc_buf_write(buf, &c, 1);
}

void pkc_buf_puts(pkc_buf *buf, const char *text)
{
    pkc_buf_write(buf, text, strlen(text));
}

void pkc_buf_fill(pkc_buf *buf, char c, size_t n)
{
    reserve(buf, n);
    memset(buf->data + buf->len, c, n);
    buf->len += n;
    buf->data[buf->len] = 0;
}

void pkc_buf_vprintf(pkc_buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len > 0) {
        reserve(buf, (size_t)len);
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void pkc_buf_printf(pkc_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pkc_buf_vprintf(buf, format, args);
    va_end(args);
}

const char *pkc_buf_cstr(const pkc_buf *buf)
{
    return buf->data ? buf->data : "";
}

char *pkc_buf_take(pkc_buf *buf, size_t *len)
{
    reserve(buf, 0);
    buf->data[buf->len] = 0;
    char *data = buf->data;
    if (len)
        *len = buf->len;
    *buf = (pkc_buf){0};
    return data;
}

static void json_escape(pkc_buf *buf, unsigned char c)
{
    const char *short_forms = "\"\"\\\\\nn\tt\rr"; // pairs: character, letter behind the backslash
    for (const char *p = short_forms; *p; p += 2)
        if (c == (unsigned char)p[0]) {
            pkc_buf_printf(buf, "\\%c", p[1]);
            return;
        }
    pkc_buf_printf(buf, "\\u%04x", c);
}

void pkc_buf_json(pkc_buf *buf, const char *text)
{
    pkc_buf_putc(buf, '"');
    for (size_t left = strlen(text); left;) {
        unsigned char c = (unsigned char)*text;
        size_t n = pkc_utf8_length(text, left);
        if (n == 0)
            pkc_buf_puts(buf, "\\ufffd");
        else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
            json_escape(buf, c);
        else
            pkc_buf_write(buf, text, n);
        n = n ? n : 1;
        text += n;
        left -= n;
    }
    pkc_buf_putc(buf, '"');
}
