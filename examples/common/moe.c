// SPDX-License-Identifier: Apache-2.0
#include "moe.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static int32_t *numbers(size_t n)
{
    int32_t *x = malloc((n + 1) * sizeof *x);
    if (!x) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    memset(x, 0xff, (n + 1) * sizeof *x); // -1
    return x;
}

/// Whether any token may choose the expert.
static bool open_to(const moe_routing *r, size_t expert, moe_load load)
{
    if (load == MOE_ONE)
        return expert == r->ranks * r->experts / 2;
    return expert % 3 != 2 && !(r->ranks > 2 && expert / r->experts == 1);
}

/// Fills choice[topk] of one token with different experts, -1 where it finds none.
static void choose(const moe_routing *r, bool some, moe_load load, int32_t *choice, uint64_t *seed)
{
    size_t all = r->ranks * r->experts, found = 0, start = host_random(seed) % all;
    for (size_t i = 0; some && i < all && found < r->topk; i++) {
        size_t expert = (start + i) % all;
        if (open_to(r, expert, load) && (load == MOE_ONE || host_random(seed) % 4))
            choice[found++] = (int32_t)expert;
    }
}

/// first[] of every rank from the choices, and the room that the fullest rank needs.
static void count_rows(moe_routing *r, const int32_t *choice)
{
    size_t n = r->ranks * r->tokens * r->topk, stride = r->experts + 1;
    memset(r->first, 0, r->ranks * stride * sizeof *r->first);
    for (size_t i = 0; i < n; i++)
        if (choice[i] >= 0)
            r->first[(size_t)choice[i] / r->experts * stride + (size_t)choice[i] % r->experts + 1]++;
    r->rows = 1;
    for (size_t rank = 0; rank < r->ranks; rank++) {
        for (size_t e = 0; e < r->experts; e++)
            r->first[rank * stride + e + 1] += r->first[rank * stride + e];
        if (moe_rows(r, rank) > r->rows)
            r->rows = moe_rows(r, rank);
    }
}

/// A row for each choice, those of one expert in the order of ranks and tokens.
static void deal_rows(moe_routing *r, const int32_t *choice)
{
    size_t n = r->ranks * r->tokens * r->topk, stride = r->experts + 1;
    int32_t *used = numbers(r->ranks * r->experts);
    memset(used, 0, r->ranks * r->experts * sizeof *used);
    for (size_t i = 0; i < n; i++) {
        if (choice[i] < 0)
            continue;
        size_t expert = (size_t)choice[i], rank = expert / r->experts, token = i / r->topk;
        size_t row = (size_t)(r->first[rank * stride + expert % r->experts] + used[expert]++);
        int32_t *from = r->from + (rank * r->rows + row) * 2;
        from[0] = (int32_t)(token / r->tokens);
        from[1] = (int32_t)(token % r->tokens);
        r->where[i * 2] = (int32_t)rank;
        r->where[i * 2 + 1] = (int32_t)row;
    }
    free(used);
}

moe_routing moe_route(size_t ranks, size_t tokens, size_t experts, size_t topk, moe_load load, uint64_t *seed)
{
    moe_routing r = {.ranks = ranks, .tokens = tokens, .experts = experts, .topk = topk};
    int32_t *choice = numbers(ranks * tokens * topk);
    for (size_t t = 0; t < ranks * tokens; t++) {
        bool idle = load == MOE_NOTHING || (load != MOE_ONE && ranks > 1 && t / tokens == ranks - 1);
        choose(&r, !idle, load, choice + t * topk, seed);
    }
    r.first = numbers(ranks * (experts + 1));
    r.where = numbers(ranks * tokens * topk * 2);
    count_rows(&r, choice);
    r.from = numbers(ranks * r.rows * 2);
    deal_rows(&r, choice);
    free(choice);
    return r;
}

void moe_free(moe_routing *r)
{
    free(r->from);
    free(r->first);
    free(r->where);
    *r = (moe_routing){0};
}

size_t moe_rows(const moe_routing *r, size_t rank)
{
    return (size_t)r->first[rank * (r->experts + 1) + r->experts];
}

// ---- references ----------------------------------------------------------------------------------------

/// The token behind a row: its h values.
static const float *token_of(const moe_routing *r, size_t rank, size_t row, const float *x, size_t h)
{
    const int32_t *from = r->from + (rank * r->rows + row) * 2;
    return x + ((size_t)from[0] * r->tokens + (size_t)from[1]) * h;
}

void moe_dispatch_reference(double *y, const moe_routing *r, size_t rank, const float *x, size_t h)
{
    for (size_t row = 0; row < moe_rows(r, rank); row++)
        for (size_t i = 0; i < h; i++)
            y[row * h + i] = token_of(r, rank, row, x, h)[i];
}

void moe_gemm_reference(double *z, const moe_routing *r, size_t rank, const float *x, const float *w,
                        size_t h, size_t n)
{
    const int32_t *first = r->first + rank * (r->experts + 1);
    for (size_t e = 0; e < r->experts; e++)
        for (size_t row = (size_t)first[e]; row < (size_t)first[e + 1]; row++)
            host_gemm(z + row * n, token_of(r, rank, row, x, h), w + e * h * n, 1, n, h);
}

void moe_combine_reference(double *y, const moe_routing *r, size_t rank, const float *z, const float *weight,
                           size_t h)
{
    const int32_t *where = r->where + rank * r->tokens * r->topk * 2;
    for (size_t c = 0; c < r->tokens * r->topk; c++) {
        if (where[c * 2] < 0)
            continue;
        const float *row = z + ((size_t)where[c * 2] * r->rows + (size_t)where[c * 2 + 1]) * h;
        for (size_t i = 0; i < h; i++)
            y[c / r->topk * h + i] += (double)weight[c] * row[i];
    }
}
