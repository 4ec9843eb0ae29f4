// SPDX-License-Identifier: Apache-2.0
// Whole files into memory.
#ifndef PKC_DRIVER_READ_FILE_H
#define PKC_DRIVER_READ_FILE_H

#include <stddef.h>
#include <stdio.h>

/// The file's text, malloc'd, with a zero behind it; NULL with errno set where it cannot be read. `context`
/// is unused: the signature is that of pkc_read_file_fn.
char *pkc_read_file(void *context, const char *path, size_t *len);
/// The same from an open stream.
char *pkc_read_stream(FILE *stream, size_t *len);

#endif
