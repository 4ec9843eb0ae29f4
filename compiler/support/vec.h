// SPDX-License-Identifier: Apache-2.0
// Growing arrays. `PKC_VEC(T)` is a struct { T *data; size_t len, cap; }; name it with a typedef.
// An array on an arena leaves its old storage behind when it grows; with a NULL arena it is malloc'd and
// freed by pkc_vec_free.
#ifndef PKC_SUPPORT_VEC_H
#define PKC_SUPPORT_VEC_H

#include <stddef.h>

#include "support/arena.h"

#define PKC_VEC(T)                                                                                           \
    struct {                                                                                                 \
        T *data;                                                                                             \
        size_t len, cap;                                                                                     \
    }

/// Appends `value` to the vector that `v` points at.
#define pkc_vec_push(arena, v, value)                                                                        \
    do {                                                                                                     \
        size_t elem_size_ = sizeof *(v)->data; /* NOLINT(bugprone-sizeof-expression): it may be a pointer */ \
        if ((v)->len == (v)->cap)                                                                            \
            (v)->data = pkc_vec_grow((arena), (v)->data, (v)->len, &(v)->cap, elem_size_);                   \
        (v)->data[(v)->len++] = (value);                                                                     \
    } while (0)

#define pkc_vec_pop(v)  ((v)->data[--(v)->len])
#define pkc_vec_last(v) ((v)->data[(v)->len - 1])

/// Frees a vector that grew with a NULL arena.
#define pkc_vec_free(v)                                                                                      \
    do {                                                                                                     \
        free((v)->data);                                                                                     \
        (v)->data = NULL;                                                                                    \
        (v)->len = (v)->cap = 0;                                                                             \
    } while (0)

/// Storage for more than `len` elements with the first `len` copied over; doubles `*cap`.
void *pkc_vec_grow(pkc_arena *arena, void *data, size_t len, size_t *cap, size_t elem_size);

#endif
