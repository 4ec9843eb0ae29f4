// SPDX-License-Identifier: Apache-2.0
// Interned strings: two with the same text are the same pointer, so names are compared by `==`.
// They live as long as the arena of their table.
#ifndef PKC_SUPPORT_STR_H
#define PKC_SUPPORT_STR_H

#include <stddef.h>

#include "support/arena.h"

typedef const char *pkc_str;

typedef struct pkc_strings {
    pkc_arena *arena;
    struct pkc_strings_entry **buckets;
    size_t bucket_count, count;
} pkc_strings;

/// The table and its strings are allocated in `arena`; there is nothing to free.
void pkc_strings_init(pkc_strings *table, pkc_arena *arena);
pkc_str pkc_intern(pkc_strings *table, const char *text);
/// Interns `len` bytes, which may not hold a zero byte.
pkc_str pkc_intern_n(pkc_strings *table, const char *text, size_t len);

/// Edit distance (insert, delete, replace, swap of neighbours), for "did you mean". Gives up beyond
/// `limit` and then returns limit + 1. Names longer than 64 bytes are never near.
unsigned pkc_str_distance(const char *a, const char *b, unsigned limit);

#endif
