// SPDX-License-Identifier: Apache-2.0
#include "driver/read_file.h"

#include <errno.h>
#include <stdlib.h>

#include "source/source.h"
#include "support/buf.h"

char *pkc_read_stream(FILE *stream, size_t *len)
{
    pkc_buf buf = {0};
    char block[16384];
    size_t n;
    // A little beyond the limit is read, so that whoever takes the text can say that it is too large.
    while (buf.len <= PKC_MAX_SOURCE_BYTES && (n = fread(block, 1, sizeof block, stream)) > 0)
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
