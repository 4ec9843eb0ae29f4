// SPDX-License-Identifier: Apache-2.0
#include "mutate.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

// Programs that grow beyond this are cut, so that many runs stay quick.
enum { LONGEST = 20000 };

// Every spelling of the language, and what tends to be near a limit.
static const char *const dictionary[] = {
#define PKC_TOKEN(id, spelling, shown, group) spelling,
#include "grammar/tokens.def"
#undef PKC_TOKEN
    "all",
    "rank",
    "ranks",
    "worker",
    "workers",
    "sms",
    "inf",
    "bf16",
    "f32",
    "i32",
    "signal",
    "bool",
    "e4m3",
    "T",
    "0",
    "1",
    "64",
    "128",
    "256",
    "2147483647",
    "9223372036854775807",
    "9223372036854775808",
    "0x",
    "1.5",
    "1e400",
    "-1",
    "load_async(",
    "store_async(",
    "store_add_async(",
    "mma(",
    "wait(",
    "cdiv(",
    "select(",
    "load(",
    "store(",
    "iota(",
    "rowmax(",
    "reduce(",
    "all_reduce(",
    "signal_all(",
    "import order;",
    "barrier;",
    "\"text\"",
    "\"",
    "\\",
    "//",
    "/*",
    "#",
    "&",
    "?",
    "\n",
    "\xc3\xa9",
    "\xff",
    "shared x: f32[64];",
    "role a: warps(1) { }",
    "put ab { }",
    "get ab { }",
    "kernel k(X: f32[M]) { }",
    "fn f(a) { return a; }"};

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

size_t random_below(uint64_t *state, size_t n)
{
    return n ? random_next(state) % n : 0;
}

typedef struct range {
    size_t begin, end;
} range;

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// The token at or after a random place: a word, or one other character.
static range random_token(const pkc_buf *buf, uint64_t *state)
{
    size_t begin = random_below(state, buf->len);
    while (begin < buf->len && isspace((unsigned char)buf->data[begin]))
        begin++;
    while (begin > 0 && begin < buf->len && in_word(buf->data[begin]) && in_word(buf->data[begin - 1]))
        begin--;
    size_t end = begin < buf->len ? begin + 1 : begin;
    while (end < buf->len && in_word(buf->data[begin]) && in_word(buf->data[end]))
        end++;
    return (range){begin, end};
}

static range random_range(size_t len, size_t longest, uint64_t *state)
{
    size_t begin = random_below(state, len), size = 1 + random_below(state, longest);
    return (range){begin, begin + size < len ? begin + size : len};
}

// Puts `len` bytes in place of the range. The piece may lie in the buffer itself.
static void splice(pkc_buf *buf, range at, const char *piece, size_t len)
{
    pkc_buf out = {0};
    pkc_buf_write(&out, buf->data, at.begin);
    pkc_buf_write(&out, piece, len);
    pkc_buf_write(&out, buf->data + at.end, buf->len - at.end);
    pkc_buf_free(buf);
    *buf = out;
}

static void insert_word(pkc_buf *buf, range at, uint64_t *state)
{
    const char *word = dictionary[random_below(state, sizeof dictionary / sizeof *dictionary)];
    if (!word)
        word = "x";
    pkc_buf piece = {0};
    pkc_buf_printf(&piece, random_below(state, 3) ? " %s " : "%s", word);
    splice(buf, at, piece.data, piece.len);
    pkc_buf_free(&piece);
}

static void repeat(pkc_buf *buf, range piece, size_t times)
{
    pkc_buf many = {0};
    for (size_t i = 0; i < times && many.len < LONGEST; i++)
        pkc_buf_write(&many, buf->data + piece.begin, piece.end - piece.begin);
    splice(buf, (range){piece.end, piece.end}, many.data ? many.data : "", many.len);
    pkc_buf_free(&many);
}

static void swap_tokens(pkc_buf *buf, uint64_t *state)
{
    range a = random_token(buf, state), b = random_token(buf, state);
    if (b.begin < a.begin) {
        range c = a;
        a = b;
        b = c;
    }
    if (a.end > b.begin)
        return;
    pkc_buf out = {0};
    pkc_buf_write(&out, buf->data + b.begin, b.end - b.begin);
    pkc_buf_write(&out, buf->data + a.end, b.begin - a.end);
    pkc_buf_write(&out, buf->data + a.begin, a.end - a.begin);
    splice(buf, (range){a.begin, b.end}, out.data, out.len);
    pkc_buf_free(&out);
}

static void mutate_tokens(pkc_buf *buf, uint64_t *state)
{
    range token = random_token(buf, state), other = random_token(buf, state);
    switch (random_below(state, 7)) {
    case 0:
        splice(buf, token, "", 0);
        break;
    case 1:
        insert_word(buf, (range){token.begin, token.begin}, state);
        break;
    case 2:
        insert_word(buf, token, state);
        break;
    case 3:
        splice(buf, token, buf->data + other.begin, other.end - other.begin);
        break;
    case 4:
        swap_tokens(buf, state);
        break;
    case 5:
        repeat(buf, token, 1 + random_below(state, 3));
        break;
    case 6:
        repeat(buf, token, random_below(state, 40) ? 2 : 400);
        break;
    }
}

static void mutate_bytes(pkc_buf *buf, const seed_text *other, uint64_t *state)
{
    range at = random_range(buf->len, 64, state), piece = random_range(other->len, 400, state);
    char byte = (char)random_next(state);
    switch (random_below(state, 6)) {
    case 0:
        splice(buf, (range){at.begin, at.begin < buf->len ? at.begin + 1 : at.begin}, &byte, 1);
        break;
    case 1:
        splice(buf, (range){at.begin, at.begin}, &byte, 1);
        break;
    case 2:
        splice(buf, at, "", 0);
        break;
    case 3:
        repeat(buf, at, 1 + random_below(state, 2));
        break;
    case 4:
        splice(buf, (range){at.begin, at.begin}, other->text + piece.begin, piece.end - piece.begin);
        break;
    case 5:
        splice(buf, random_range(buf->len, 800, state), other->text + piece.begin, piece.end - piece.begin);
        break;
    }
}

void mutate(pkc_buf *buf, const seed_text *others, size_t other_count, uint64_t *state)
{
    size_t changes = 1 + random_below(state, 4);
    for (size_t i = 0; i < changes && buf->len > 0; i++) {
        if (random_below(state, 3))
            mutate_tokens(buf, state);
        else
            mutate_bytes(buf, &others[random_below(state, other_count)], state);
        if (buf->len > LONGEST)
            splice(buf, (range){LONGEST, buf->len}, "", 0);
    }
}
