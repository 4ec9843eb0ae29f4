// SPDX-License-Identifier: Apache-2.0
// Changes to a program's text, by bytes and by tokens.
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <stdint.h>

#include "support/buf.h"

/// A text that mutations may take pieces from.
typedef struct seed_text {
    const char *text;
    size_t len;
} seed_text;

/// splitmix64; the state is any number.
uint64_t random_next(uint64_t *state);
/// 0 .. n - 1.
size_t random_below(uint64_t *state, size_t n);

/// Replaces the text of `buf` by a changed one: one to four changes, chosen by the generator.
void mutate(pkc_buf *buf, const seed_text *others, size_t other_count, uint64_t *state);

#endif
