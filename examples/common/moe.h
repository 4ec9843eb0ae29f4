// SPDX-License-Identifier: Apache-2.0
// Mixture of experts on the host: which token goes to which expert, as the kernels want it said, and float64
// references. Experts are dealt to the ranks in equal blocks.
#ifndef EXAMPLES_MOE_H
#define EXAMPLES_MOE_H

#include <stddef.h>
#include <stdint.h>

typedef enum moe_load {
    MOE_UNEVEN,  // random; every third expert gets nothing, nor do those of rank 1 where there are 3 ranks
    MOE_ONE,     // every token goes to one and the same expert
    MOE_NOTHING, // no token goes anywhere
    MOE_LOADS
} moe_load;

/// Who goes where. In every load but MOE_ONE the last of several ranks has no tokens that go anywhere.
typedef struct moe_routing {
    size_t ranks, tokens, experts, topk; // tokens and experts of each rank
    size_t rows;                         // room on each rank: what the fullest one gets, 1 at least
    int32_t *from;                       // [ranks, rows, 2]: rank and token of each row; -1 beyond the last
    int32_t *first; // [ranks, experts + 1]: first row of each expert, then the number of rows
    int32_t *where; // [ranks, tokens, topk, 2]: rank and row of each choice; -1: none
} moe_routing;

/// Routes random choices; moe_free frees what it made. Ends the program where memory runs out.
moe_routing moe_route(size_t ranks, size_t tokens, size_t experts, size_t topk, moe_load load,
                      uint64_t *seed);
void moe_free(moe_routing *r);
/// Rows that rank gets.
size_t moe_rows(const moe_routing *r, size_t rank);

/// y[rows, h] of one rank: its rows of x[ranks, tokens, h]. Rows beyond the last stay as they are.
void moe_dispatch_reference(double *y, const moe_routing *r, size_t rank, const float *x, size_t h);
/// z[rows, n] of one rank, zero before: each expert's rows of y, from x, times its w[experts, h, n].
void moe_gemm_reference(double *z, const moe_routing *r, size_t rank, const float *x, const float *w,
                        size_t h, size_t n);
/// y[tokens, h] of one rank, zero before: the sum over its choices of weight[tokens, topk] times their row of
/// z[ranks, rows, h].
void moe_combine_reference(double *y, const moe_routing *r, size_t rank, const float *z, const float *weight,
                           size_t h);

#endif
