// SPDX-License-Identifier: Apache-2.0
#include "rt.h"

#include "kernels.pk.h"
#include "sim/pksim.h"

void rt_assert_ok(const pkrt_context *ctx, pkrt_status status, const char *file, int line)
{
    if (status == PKRT_OK)
        return;
    print_error("%s (%s)\n", pkrt_last_error(ctx), pkrt_status_text(status));
    _fail(file, line);
}

void rt_assert_error(const pkrt_context *ctx, pkrt_status status, pkrt_status want, const char *words,
                     const char *file, int line)
{
    const char *error = pkrt_last_error(ctx);
    bool good = status == want;
    while (good && *words) {
        char word[200];
        size_t n = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        good = strstr(error, word) != NULL;
        words += words[n] ? n + 1 : n;
    }
    if (good)
        return;
    print_error("got %d '%s', expected %d with '%s'\n", (int)status, error, (int)want, words);
    _fail(file, line);
}

pkrt_context *rt_open(int ranks, int devices)
{
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    pkrt_context *ctx;
    int *list = malloc((size_t)ranks * sizeof *list);
    for (int r = 0; r < ranks; r++)
        list[r] = r * devices / ranks;
    o.ranks = ranks;
    o.devices = list;
    o.backend = PKRT_BACKEND_SIM;
    pkrt_status s = pkrt_context_create(&ctx, &o);
    free(list);
    assert_ok(ctx, s);
    return ctx;
}

pkrt_module *rt_load(pkrt_context *ctx)
{
    pkrt_module *m;
    assert_ok(ctx, kernels_pk_load(ctx, &m));
    return m;
}

float rt_number(int rank, int64_t i)
{
    return (float)(i + 1000 * rank);
}

pkrt_tensor *rt_tensor(pkrt_context *ctx, pkrt_elem elem, int n_dims, const int64_t *dims, unsigned flags)
{
    pkrt_tensor *t;
    assert_ok(ctx, pkrt_tensor_create(ctx, &t, elem, n_dims, dims, flags));
    size_t n = (size_t)pkrt_tensor_count(t);
    float *x = malloc(n * sizeof *x + 1);
    for (int r = 0; r < pkrt_context_ranks(ctx); r++) {
        for (size_t i = 0; i < n; i++)
            x[i] = rt_number(r, (int64_t)i);
        assert_ok(ctx, pkrt_tensor_write_f32(t, r, x, n));
    }
    free(x);
    return t;
}

unsigned long long rt_live(void)
{
    struct pksim_resources live;
    pksimLiveResources(&live);
    return live.memory + live.modules + live.streams + live.events + live.contexts;
}
