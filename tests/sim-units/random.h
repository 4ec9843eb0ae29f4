// SPDX-License-Identifier: Apache-2.0
// Random numbers of the tests: the same on every machine for a seed.
#ifndef TESTS_SIM_UNITS_RANDOM_H
#define TESTS_SIM_UNITS_RANDOM_H

#include <stdint.h>

// xorshift64*, state not 0.
static inline uint64_t random_bits(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static inline uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((random_bits(state) >> 32) % bound);
}

// A multiple of 1/8 between -4 and 4: exact in every format here, and so are sums of a few hundred products.
static inline float random_eighth(uint64_t *state)
{
    return ((float)random_below(state, 65) - 32) / 8;
}

#endif
