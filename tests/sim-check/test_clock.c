// SPDX-License-Identifier: Apache-2.0
// Clocks against a table: random joins and additions must know exactly what the table knows.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/check/clock.h"

enum { LAUNCHES = 3, WARPS = 600, CLOCKS = 6, STEPS = 4000 };

struct model {
    uint32_t all[LAUNCHES][WARPS];
    bool whole[LAUNCHES];
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void join_model(struct model *to, const struct model *from)
{
    for (uint32_t l = 0; l < LAUNCHES; l++) {
        to->whole[l] |= from->whole[l];
        for (uint32_t w = 0; w < WARPS; w++)
            to->all[l][w] = to->all[l][w] > from->all[l][w] ? to->all[l][w] : from->all[l][w];
    }
}

static void check_one(const struct pksim_clock *clock, const struct model *model, uint32_t l, uint32_t w)
{
    bool whole;
    const struct pksim_entry *e = pksim_clock_find(clock, l + 1, w, &whole);
    assert_int_equal(whole, model->whole[l]);
    if (!whole)
        assert_int_equal(e ? e->all : 0, model->all[l][w]);
}

static void test_against_table(void **state)
{
    (void)state;
    static struct model models[CLOCKS];
    struct pksim_clock *clocks[CLOCKS] = {0};
    uint64_t random = 20261201;
    bool failed = false;
    uint32_t height = pksim_clock_height(WARPS);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t a = (uint32_t)next_random(&random) % CLOCKS, b = (uint32_t)next_random(&random) % CLOCKS;
        uint32_t l = (uint32_t)next_random(&random) % LAUNCHES, w = (uint32_t)next_random(&random) % WARPS;
        if (step % 3 == 0) {
            struct pksim_clock *sum = pksim_clock_join(clocks[a], clocks[b], 0, 0, &failed);
            pksim_clock_release(clocks[a]);
            clocks[a] = sum;
            join_model(&models[a], &models[b]);
        } else if (step == STEPS / 2) {
            clocks[a] = pksim_clock_whole(clocks[a], l + 1, &failed);
            models[a].whole[l] = true;
        } else {
            struct pksim_entry entry = {.all = step};
            clocks[a] = pksim_clock_add(clocks[a], l + 1, height, w, &entry, &failed);
            models[a].all[l][w] = step;
        }
        check_one(clocks[a], &models[a], l, w);
    }
    for (uint32_t c = 0; c < CLOCKS; c++) {
        for (uint32_t w = 0; w < WARPS; w++)
            check_one(clocks[c], &models[c], w % LAUNCHES, w);
        pksim_clock_release(clocks[c]);
    }
    assert_false(failed);
}

static void test_horizon(void **state)
{
    (void)state;
    bool failed = false, whole;
    struct pksim_clock *a = pksim_clock_whole(NULL, 1, &failed), *b = pksim_clock_whole(NULL, 2, &failed);
    struct pksim_clock *sum = pksim_clock_join(a, b, 2, 0, &failed);
    pksim_clock_find(sum, 1, 0, &whole);
    assert_false(whole);
    pksim_clock_find(sum, 2, 0, &whole);
    assert_true(whole);
    pksim_clock_release(sum);
    sum = pksim_clock_join(a, b, 0, 2, &failed);
    pksim_clock_find(sum, 1, 0, &whole);
    assert_true(whole);
    pksim_clock_find(sum, 2, 0, &whole);
    assert_false(whole);
    pksim_clock_release(a);
    pksim_clock_release(b);
    pksim_clock_release(sum);
}

static void test_lanes(void **state)
{
    (void)state;
    struct pksim_entry e = {.all = 3};
    pksim_entry_add(&e, 1, 7);
    pksim_entry_add(&e, 2, 7);
    pksim_entry_add(&e, 4, 5);
    assert_true(pksim_entry_knows(&e, 0xffffffff, 3, false));
    assert_true(pksim_entry_knows(&e, 3, 7, false));
    assert_false(pksim_entry_knows(&e, 4, 7, false));
    assert_true(pksim_entry_knows(&e, 7, 5, false));
    assert_false(pksim_entry_knows(&e, 8, 4, false));
    assert_true(pksim_entry_knows(&e, 9, 7, true));
    pksim_entry_add(&e, 8, 1); // known already
    assert_false(pksim_entry_knows(&e, 8, 4, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_table),
        cmocka_unit_test(test_horizon),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
