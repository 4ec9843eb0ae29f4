// SPDX-License-Identifier: Apache-2.0
// Attention in float64: what attention, ring_attention and ulysses are held against.
#ifndef EXAMPLES_ATTENTION_REFERENCE_H
#define EXAMPLES_ATTENTION_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/// A sequence of shards * rows positions, shard after shard. Tensors are [shards][batches][heads][rows][dim],
/// those of keys and values with key_heads heads; shard r is what rank r holds.
typedef struct attention_size {
    size_t shards, batches, heads, key_heads, rows, dim;
    bool causal; // position p attends to the positions 0 .. p only
} attention_size;

/// Elements of Q or O, and of K or V, of one shard.
size_t attention_queries(const attention_size *s);
size_t attention_keys(const attention_size *s);

/// o = softmax(scale * q * k.T) * v for every position; lse: the natural log-sum-exp of each row's scaled
/// scores, [shards][batches][heads][rows], or NULL.
void attention_reference(const attention_size *s, double scale, const float *q, const float *k,
                         const float *v, double *o, double *lse);

#endif
