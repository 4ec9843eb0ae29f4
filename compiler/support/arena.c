// SPDX-License-Identifier: Apache-2.0
#include "support/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Chunks grow from FIRST to LARGEST so that a small file costs little and a large one few calls of malloc.
enum { ALIGN = 16, FIRST_CHUNK = 1 << 14, LARGEST_CHUNK = 1 << 20 };

struct pkc_arena_chunk {
    struct pkc_arena_chunk *older;
    size_t used, size; // bytes of data
    _Alignas(ALIGN) unsigned char data[];
};

static void out_of_memory(void)
{
    fputs("pkc: out of memory\n", stderr);
    exit(EXIT_FAILURE);
}

void *pkc_xrealloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

void pkc_arena_init(pkc_arena *arena)
{
    *arena = (pkc_arena){0};
}

void pkc_arena_free(pkc_arena *arena)
{
    struct pkc_arena_chunk *chunk = arena->head;
    while (chunk) {
        struct pkc_arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    *arena = (pkc_arena){0};
}

static struct pkc_arena_chunk *add_chunk(pkc_arena *arena, size_t need)
{
    size_t size = arena->head ? arena->head->size * 2 : FIRST_CHUNK;
    if (size > LARGEST_CHUNK)
        size = LARGEST_CHUNK;
    if (size < need)
        size = need;
    struct pkc_arena_chunk *chunk = calloc(1, sizeof *chunk + size);
    if (!chunk)
        out_of_memory();
    chunk->older = arena->head;
    chunk->size = size;
    arena->head = chunk;
    arena->total += size;
    return chunk;
}

void *pkc_arena_alloc(pkc_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        out_of_memory();
    size = size ? size : 1; // every block has an address of its own
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct pkc_arena_chunk *chunk = arena->head;
    if (!chunk || chunk->size - chunk->used < size)
        chunk = add_chunk(arena, size);
    void *p = chunk->data + chunk->used;
    chunk->used += size;
    return p;
}

char *pkc_arena_strndup(pkc_arena *arena, const char *text, size_t len)
{
    char *copy = pkc_arena_alloc(arena, len + 1);
    memcpy(copy, text, len);
    return copy;
}

char *pkc_arena_strdup(pkc_arena *arena, const char *text)
{
    return pkc_arena_strndup(arena, text, strlen(text));
}

char *pkc_arena_vprintf(pkc_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len < 0)
        len = 0;
    char *text = pkc_arena_alloc(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

char *pkc_arena_printf(pkc_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = pkc_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
