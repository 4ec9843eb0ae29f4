// SPDX-License-Identifier: Apache-2.0
#include "all_to_all/reference.h"

/// Row-major position of i in a tensor of size n.
static size_t place(const size_t n[4], const size_t i[4])
{
    return ((i[0] * n[1] + i[1]) * n[2] + i[2]) * n[3] + i[3];
}

/// The element of x that goes to index i of y on rank `to`.
static size_t source(size_t to, size_t ranks, const size_t dims[4], int scatter, int gather,
                     const size_t i[4])
{
    size_t at[4] = {i[0], i[1], i[2], i[3]};
    size_t from = i[gather] / dims[gather];
    at[gather] = i[gather] % dims[gather];
    at[scatter] += to * (dims[scatter] / ranks);
    return from * dims[0] * dims[1] * dims[2] * dims[3] + place(dims, at);
}

void all_to_all_reference(double *y, const float *x, size_t ranks, const size_t dims[4], int scatter,
                          int gather)
{
    size_t n[4] = {dims[0], dims[1], dims[2], dims[3]}, i[4];
    n[scatter] /= ranks;
    n[gather] *= ranks;
    for (size_t to = 0; to < ranks; to++)
        for (i[0] = 0; i[0] < n[0]; i[0]++)
            for (i[1] = 0; i[1] < n[1]; i[1]++)
                for (i[2] = 0; i[2] < n[2]; i[2]++)
                    for (i[3] = 0; i[3] < n[3]; i[3]++)
                        *y++ = x[source(to, ranks, dims, scatter, gather, i)];
}
