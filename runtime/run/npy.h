// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files (NEP 1; versions 1.0 to 3.0), C order, little endian.
#ifndef PKRUN_NPY_H
#define PKRUN_NPY_H

#include <pkrt/pkrt.h>

enum { NPY_MAX_DIMS = PKRT_MAX_DIMS, NPY_WHY = 400 };

/// A file's contents; `data` is malloc'd.
typedef struct npy_array {
    char type[4]; // kind and bytes: "f4", "i4", "u1"
    int n_dims;
    int64_t dims[NPY_MAX_DIMS];
    size_t count;
    void *data;
} npy_array;

/// Reads a file. False: `why` (NPY_WHY bytes) says what is wrong with it.
bool npy_read(const char *path, npy_array *out, char *why);
void npy_free(npy_array *array);
/// Writes `bytes` of data of a type such as "f4".
bool npy_write(const char *path, const char *type, int n_dims, const int64_t *dims, const void *data,
               size_t bytes, char *why);

#endif
