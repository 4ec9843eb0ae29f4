// SPDX-License-Identifier: Apache-2.0
// What tensors hold: fillings, files, and figures of what came out.
#ifndef PKRUN_DATA_H
#define PKRUN_DATA_H

#include "run/npy.h"

typedef enum data_kind {
#define PKRUN_FILL(id, spelling, help) DATA_##id,
#include "run/fills.def"
#undef PKRUN_FILL
    DATA_POISON,
    DATA_KIND_COUNT
} data_kind;

typedef struct data_fill {
    data_kind kind;
    double value; // of DATA_CONST
} data_fill;

/// "normal", "const:2.5". False: no such filling.
bool data_parse_fill(const char *text, data_fill *out);

/// Fills rank's copy. `seed` decides the random ones.
pkrt_status data_fill_tensor(pkrt_tensor *t, pkrt_elem elem, int rank, data_fill fill, uint64_t seed);

/// Writes an array into rank's copy: float32 and float64 are converted, the raw type of the elements is taken
/// as it is. False: `why` (NPY_WHY bytes) says what does not fit.
bool data_from_npy(pkrt_tensor *t, pkrt_elem elem, int rank, const npy_array *array, char *why);
/// Writes rank's copy to a file: integers as they are, all others as float32.
bool data_to_npy(pkrt_tensor *t, pkrt_elem elem, int n_dims, const int64_t *dims, int rank, const char *path,
                 char *why);

/// What a copy holds. least, largest and the norm are over the numbers, without NaN.
typedef struct data_figures {
    size_t count, nan, poison; // poison: elements that still hold it
    int64_t first_poison;      // -1: none
    double least, largest, norm, sum;
    uint64_t checksum; // FNV-1a of the bytes
} data_figures;

pkrt_status data_measure(pkrt_tensor *t, pkrt_elem elem, int rank, data_figures *out);

/// `pattern` with {rank} replaced; malloc'd.
char *data_path(const char *pattern, int rank);

/// malloc that does not fail: a program that has no memory ends with a message and status 1.
void *data_alloc(size_t bytes);

#endif
