// SPDX-License-Identifier: Apache-2.0
#include "support/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct pkc_strings_entry {
    struct pkc_strings_entry *next;
    uint64_t hash;
    size_t len;
    char text[];
};

enum { FIRST_BUCKETS = 256, LONGEST_NEAR = 64 };

// FNV-1a, 64 bits.
static uint64_t hash_bytes(const char *text, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h;
}

void pkc_strings_init(pkc_strings *table, pkc_arena *arena)
{
    *table = (pkc_strings){.arena = arena, .bucket_count = FIRST_BUCKETS};
    table->buckets = PKC_NEW_ARRAY(arena, struct pkc_strings_entry *, FIRST_BUCKETS);
}

static void grow(pkc_strings *table)
{
    size_t count = table->bucket_count * 2;
    struct pkc_strings_entry **buckets = PKC_NEW_ARRAY(table->arena, struct pkc_strings_entry *, count);
    for (size_t i = 0; i < table->bucket_count; i++) {
        struct pkc_strings_entry *e = table->buckets[i];
        while (e) {
            struct pkc_strings_entry *next = e->next;
            e->next = buckets[e->hash % count];
            buckets[e->hash % count] = e;
            e = next;
        }
    }
    table->buckets = buckets;
    table->bucket_count = count;
}

pkc_str pkc_intern_n(pkc_strings *table, const char *text, size_t len)
{
    uint64_t hash = hash_bytes(text, len);
    struct pkc_strings_entry *e = table->buckets[hash % table->bucket_count];
    for (; e; e = e->next)
        if (e->hash == hash && e->len == len && memcmp(e->text, text, len) == 0)
            return e->text;
    if (table->count >= table->bucket_count)
        grow(table);
    e = pkc_arena_alloc(table->arena, sizeof *e + len + 1);
    e->hash = hash;
    e->len = len;
    memcpy(e->text, text, len);
    e->next = table->buckets[hash % table->bucket_count];
    table->buckets[hash % table->bucket_count] = e;
    table->count++;
    return e->text;
}

pkc_str pkc_intern(pkc_strings *table, const char *text)
{
    return pkc_intern_n(table, text, strlen(text));
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

// One row of the optimal string alignment table: `row` from `last` and the one before it.
static void distance_row(const char *a, const char *b, size_t i, unsigned *row, const unsigned *last,
                         const unsigned *before)
{
    row[0] = (unsigned)i;
    for (size_t j = 1; b[j - 1]; j++) {
        unsigned cost = a[i - 1] != b[j - 1];
        row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + cost);
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = least(row[j], before[j - 2] + 1);
    }
}

unsigned pkc_str_distance(const char *a, const char *b, unsigned limit)
{
    size_t n = strlen(a), m = strlen(b);
    size_t apart = n > m ? n - m : m - n;
    if (n > LONGEST_NEAR || m > LONGEST_NEAR || apart > limit)
        return limit + 1;
    unsigned rows[3][LONGEST_NEAR + 1] = {{0}};
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = rows[2][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++)
        distance_row(a, b, i, rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]);
    return least(rows[n % 3][m], limit + 1);
}
