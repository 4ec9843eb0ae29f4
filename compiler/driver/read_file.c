// SPDX-License-Identifier: Apache-2.0
#include "driver/read_file.h"

#include <errno.h>
#include <stdlib.h>

#include "support/buf.h"

char *pkc_read_stream(FILE *stream, size_t *len)
{
    pkc_buf buf = {0};
    char block[16384];
    size_t n;
    while ((n = fread(block, 1, sizeof block, stream)) > 0)
        pkc_buf_write(&buf, block, n);
    if (ferror(stream)) {
        int error = errno;
        pkc_buf_free(&buf);
        errno = error;
        return NULL;
    }
    return pkc_buf_take(&buf, len);
}

char *pkc_read_file(void *context, const char *path, size_t *len)
{
    (void)context;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return NULL;
    char *text = pkc_read_stream(stream, len);
    int error = errno;
    fclose(stream);
    errno = error;
    return text;
}
