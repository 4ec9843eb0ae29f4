// SPDX-License-Identifier: Apache-2.0
#include "attention/reference.h"

#include <math.h>
#include <stdlib.h>

size_t attention_queries(const attention_size *s)
{
    return s->batches * s->heads * s->rows * s->dim;
}

size_t attention_keys(const attention_size *s)
{
    return s->batches * s->key_heads * s->rows * s->dim;
}

/// Where a position's row begins, `heads` heads a batch.
static size_t row_of(const attention_size *s, size_t heads, size_t batch, size_t head, size_t position)
{
    size_t shard = position / s->rows, row = position % s->rows;
    return (((shard * s->batches + batch) * heads + head) * s->rows + row) * s->dim;
}

static double dot(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/// Weights of the first n positions; gives the log-sum-exp of their scores.
static double weigh(const attention_size *s, double scale, const float *q, const float *k, size_t batch,
                    size_t head, size_t n, double *weight)
{
    double top = -INFINITY, sum = 0;
    for (size_t j = 0; j < n; j++) {
        weight[j] = scale * dot(q, k + row_of(s, s->key_heads, batch, head, j), s->dim);
        top = fmax(top, weight[j]);
    }
    for (size_t j = 0; j < n; j++)
        sum += weight[j] = exp(weight[j] - top);
    for (size_t j = 0; j < n; j++)
        weight[j] /= sum;
    return top + log(sum);
}

void attention_reference(const attention_size *s, double scale, const float *q, const float *k,
                         const float *v, double *o, double *lse)
{
    size_t positions = s->shards * s->rows;
    double *weight = malloc((positions + 1) * sizeof *weight);
    for (size_t x = 0; x < s->batches * s->heads * positions; x++) {
        size_t batch = x / (s->heads * positions), head = x / positions % s->heads, p = x % positions;
        size_t key_head = head / (s->heads / s->key_heads), n = s->causal ? p + 1 : positions;
        size_t at = row_of(s, s->heads, batch, head, p);
        double sum = weigh(s, scale, q + at, k, batch, key_head, n, weight);
        if (lse)
            lse[at / s->dim] = sum;
        for (size_t d = 0; d < s->dim; d++)
            o[at + d] = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t d = 0; d < s->dim; d++)
                o[at + d] += weight[j] * v[row_of(s, s->key_heads, batch, key_head, j) + d];
    }
    free(weight);
}
