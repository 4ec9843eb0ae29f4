// SPDX-License-Identifier: Apache-2.0
#include "run/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { MOST_HEADER = 1 << 16 };

static bool wrong(const char *path, char *why, const char *what)
{
    snprintf(why, NPY_WHY, "%s: %s", path, what);
    return false;
}

/// The text behind 'key': in a header, NULL where it has none.
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    return at + strspn(at, " ");
}

static bool parse_type(const char *header, npy_array *out)
{
    const char *at = value_of(header, "descr");
    if (!at || at[0] != '\'' || !strchr("<|=", at[1]) || !strchr("fiu", at[2]) || !strchr("1248", at[3]) ||
        at[4] != '\'')
        return false;
    snprintf(out->type, sizeof out->type, "%.2s", at + 2);
    return true;
}

static bool parse_shape(const char *header, npy_array *out)
{
    const char *at = value_of(header, "shape");
    int64_t bytes = out->type[1] - '0';
    if (!at || *at++ != '(')
        return false;
    out->count = 1;
    while (*at != ')') {
        char *end;
        long long v = strtoll(at, &end, 10);
        if (end == at || v < 0 || out->n_dims == NPY_MAX_DIMS ||
            (v && __builtin_mul_overflow(bytes, v, &bytes)))
            return false;
        out->dims[out->n_dims++] = v;
        out->count *= (size_t)v;
        at = end + strspn(end, ", ");
    }
    return true;
}

static bool parse_header(const char *path, const char *header, npy_array *out, char *why)
{
    const char *order = value_of(header, "fortran_order");
    if (!parse_type(header, out))
        return wrong(
            path, why,
            "a type that pkrun does not read: little-endian f, i or u of 1, 2, 4 or 8 bytes expected");
    if (!order || strncmp(order, "False", 5) != 0)
        return wrong(path, why, "in Fortran order: C order expected");
    if (!parse_shape(header, out))
        return wrong(path, why, "a shape of at most 5 dimensions expected");
    return true;
}

/// Reads magic, version and header; `header` has room for MOST_HEADER + 1 bytes.
static bool read_header(FILE *f, char *header)
{
    unsigned char head[8], length[4] = {0};
    if (fread(head, 1, 8, f) != 8 || memcmp(head, magic, sizeof magic) != 0 || head[6] < 1 || head[6] > 3)
        return false;
    size_t bytes = head[6] == 1 ? 2 : 4;
    if (fread(length, 1, bytes, f) != bytes)
        return false;
    size_t n = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    if (n > MOST_HEADER || fread(header, 1, n, f) != n)
        return false;
    header[n] = 0;
    return true;
}

static bool read_data(FILE *f, const char *path, npy_array *out, char *why)
{
    size_t size = (size_t)(out->type[1] - '0'), bytes = size * out->count;
    out->data = malloc(bytes ? bytes : 1);
    if (!out->data)
        return wrong(path, why, "memory ran out");
    if (fread(out->data, 1, bytes, f) == bytes)
        return true;
    npy_free(out);
    return wrong(path, why, "shorter than its header says");
}

bool npy_read(const char *path, npy_array *out, char *why)
{
    *out = (npy_array){0};
    FILE *f = fopen(path, "rb");
    if (!f)
        return wrong(path, why, strerror(errno));
    char *header = malloc(MOST_HEADER + 1);
    bool good = header && read_header(f, header);
    if (!good)
        wrong(path, why, "not a .npy file");
    good = good && parse_header(path, header, out, why) && read_data(f, path, out, why);
    free(header);
    fclose(f);
    return good;
}

void npy_free(npy_array *array)
{
    free(array->data);
    array->data = NULL;
}

bool npy_write(const char *path, const char *type, int n_dims, const int64_t *dims, const void *data,
               size_t bytes, char *why)
{
    enum { ALIGN = 64, HEAD = 10 };
    char header[512];
    int n = snprintf(header, sizeof header, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
                     type[1] == '1' ? "|" : "<", type);
    for (int i = 0; i < n_dims; i++)
        n += snprintf(header + n, sizeof header - (size_t)n, "%lld,%s", (long long)dims[i],
                      i + 1 < n_dims ? " " : "");
    n += snprintf(header + n, sizeof header - (size_t)n, "), }");
    while ((n + HEAD + 1) % ALIGN != 0) // data begins at a multiple of 64 (NEP 1)
        header[n++] = ' ';
    header[n++] = '\n';
    FILE *f = fopen(path, "wb");
    if (!f)
        return wrong(path, why, strerror(errno));
    const unsigned char rest[] = {1, 0, (unsigned char)(n & 255), (unsigned char)(n >> 8)};
    bool good = fwrite(magic, 1, sizeof magic, f) == sizeof magic &&
                fwrite(rest, 1, sizeof rest, f) == sizeof rest &&
                fwrite(header, 1, (size_t)n, f) == (size_t)n && fwrite(data, 1, bytes, f) == bytes;
    good = fclose(f) == 0 && good;
    return good || wrong(path, why, "cannot be written");
}
