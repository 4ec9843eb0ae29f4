// SPDX-License-Identifier: Apache-2.0
// Bump allocator: one per compilation, freed as a whole. Nothing in a pass is freed one by one.
// When memory runs out the process ends with a message: the one failure that a compilation does not report.
#ifndef PKC_SUPPORT_ARENA_H
#define PKC_SUPPORT_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct pkc_arena {
    struct pkc_arena_chunk *head; // the chunk being filled; older ones hang behind it
    size_t total;                 // bytes asked of malloc so far
} pkc_arena;

/// A zeroed struct is an empty arena too.
void pkc_arena_init(pkc_arena *arena);
/// Frees every chunk; the arena is empty and usable again.
void pkc_arena_free(pkc_arena *arena);
/// `size` zeroed bytes, aligned to 16. Never NULL.
void *pkc_arena_alloc(pkc_arena *arena, size_t size);
char *pkc_arena_strdup(pkc_arena *arena, const char *text);
/// Copies `len` bytes and ends them with a zero.
char *pkc_arena_strndup(pkc_arena *arena, const char *text, size_t len);
char *pkc_arena_printf(pkc_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *pkc_arena_vprintf(pkc_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/// One zeroed T, or n of them.
#define PKC_NEW(arena, T)          ((T *)pkc_arena_alloc((arena), sizeof(T)))
#define PKC_NEW_ARRAY(arena, T, n) ((T *)pkc_arena_alloc((arena), sizeof(T) * (size_t)(n)))

/// malloc and realloc that end the process with a message when memory runs out.
void *pkc_xrealloc(void *old, size_t size);

#endif
