// SPDX-License-Identifier: Apache-2.0
#include "run/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/args.h"

static const struct elem_row {
    const char *raw;
    size_t bytes;
    bool has_poison;
    uint32_t poison;
} elems[] = {
#define PKRUN_ELEM(id, raw, bytes, has_poison, poison) [PKRT_##id] = {raw, bytes, has_poison, poison},
#include "run/elems.def"
#undef PKRUN_ELEM
};

static const char *const fill_names[] = {
#define PKRUN_FILL(id, spelling, help) spelling,
#include "run/fills.def"
#undef PKRUN_FILL
};

void *data_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fputs("pkrun: memory ran out\n", stderr);
        exit(1);
    }
    return p;
}

// ---- fillings ------------------------------------------------------------------------------------------

bool data_parse_fill(const char *text, data_fill *out)
{
    *out = (data_fill){0};
    for (data_kind k = 0; k < DATA_POISON; k++) {
        size_t len = strcspn(fill_names[k], ":");
        if (strncmp(text, fill_names[k], len) != 0)
            continue;
        out->kind = k;
        if (k == DATA_CONST)
            return text[len] == ':' && args_number(text + len + 1, &out->value);
        return !text[len];
    }
    return false;
}

/// splitmix64.
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// In (0, 1].
static double unit(uint64_t *state)
{
    return ((double)(next(state) >> 11) + 1) * 0x1p-53;
}

static bool is_integer(pkrt_elem elem)
{
    return elem == PKRT_I8 || elem == PKRT_I32 || elem == PKRT_U32;
}

static float random_number(pkrt_elem elem, data_kind kind, uint64_t *state)
{
    const double two_pi = 6.283185307179586;
    if (is_integer(elem))
        return (float)(next(state) >> 60) - (elem == PKRT_U32 ? 0 : 8);
    if (kind == DATA_UNIFORM)
        return (float)(2 * unit(state) - 1);
    double u = unit(state), v = unit(state); // Box and Muller's transform
    return (float)(sqrt(-2 * log(u)) * cos(two_pi * v));
}

static float number(pkrt_elem elem, data_fill fill, size_t i, uint64_t *state)
{
    switch (fill.kind) {
    case DATA_NORMAL:
    case DATA_UNIFORM:
        return random_number(elem, fill.kind, state);
    case DATA_IOTA:
        return (float)i;
    case DATA_CONST:
        return (float)fill.value;
    case DATA_ZERO:
    case DATA_POISON:
    case DATA_KIND_COUNT:
        break;
    }
    return 0;
}

static pkrt_status poison(pkrt_tensor *t, pkrt_elem elem, int rank)
{
    size_t bytes = pkrt_tensor_bytes(t), size = elems[elem].bytes;
    char *raw = data_alloc(bytes);
    for (size_t at = 0; at < bytes; at += size) // little endian, as the device is
        memcpy(raw + at, &elems[elem].poison, size);
    pkrt_status s = pkrt_tensor_write(t, rank, raw, bytes);
    free(raw);
    return s;
}

pkrt_status data_fill_tensor(pkrt_tensor *t, pkrt_elem elem, int rank, data_fill fill, uint64_t seed)
{
    if (fill.kind == DATA_POISON)
        return poison(t, elem, rank);
    size_t n = (size_t)pkrt_tensor_count(t);
    float *x = data_alloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = number(elem, fill, i, &seed);
    pkrt_status s = pkrt_tensor_write_f32(t, rank, x, n);
    free(x);
    return s;
}

// ---- files ---------------------------------------------------------------------------------------------

static float *as_floats(const npy_array *a)
{
    float *x = data_alloc(a->count * sizeof *x);
    for (size_t i = 0; i < a->count; i++)
        x[i] = a->type[1] == '8' ? (float)((const double *)a->data)[i] : ((const float *)a->data)[i];
    return x;
}

bool data_from_npy(pkrt_tensor *t, pkrt_elem elem, int rank, const npy_array *array, char *why)
{
    pkrt_status s;
    if (strcmp(array->type, elems[elem].raw) == 0) {
        s = pkrt_tensor_write(t, rank, array->data, pkrt_tensor_bytes(t));
    } else if (strcmp(array->type, "f4") == 0 || strcmp(array->type, "f8") == 0) {
        float *x = as_floats(array);
        s = pkrt_tensor_write_f32(t, rank, x, array->count);
        free(x);
    } else {
        snprintf(why, NPY_WHY, "elements expected to be f4, f8 or %s, got %s", elems[elem].raw, array->type);
        return false;
    }
    if (s != PKRT_OK)
        snprintf(why, NPY_WHY, "%s", pkrt_status_text(s));
    return s == PKRT_OK;
}

bool data_to_npy(pkrt_tensor *t, pkrt_elem elem, int n_dims, const int64_t *dims, int rank, const char *path,
                 char *why)
{
    size_t n = (size_t)pkrt_tensor_count(t),
           bytes = is_integer(elem) ? pkrt_tensor_bytes(t) : n * sizeof(float);
    void *data = data_alloc(bytes);
    pkrt_status s =
        is_integer(elem) ? pkrt_tensor_read(t, rank, data, bytes) : pkrt_tensor_read_f32(t, rank, data, n);
    if (s != PKRT_OK)
        snprintf(why, NPY_WHY, "%s", pkrt_status_text(s));
    bool good = s == PKRT_OK &&
                npy_write(path, is_integer(elem) ? elems[elem].raw : "f4", n_dims, dims, data, bytes, why);
    free(data);
    return good;
}

char *data_path(const char *pattern, int rank)
{
    enum { DIGITS = 12 };
    const char *mark = strstr(pattern, "{rank}");
    size_t room = strlen(pattern) + DIGITS;
    char *path = data_alloc(room);
    if (mark)
        snprintf(path, room, "%.*s%d%s", (int)(mark - pattern), pattern, rank, mark + strlen("{rank}"));
    else
        snprintf(path, room, "%s", pattern);
    return path;
}

// ---- figures -------------------------------------------------------------------------------------------

static void look_at_bytes(const unsigned char *raw, size_t n, pkrt_elem elem, data_figures *out)
{
    size_t size = elems[elem].bytes;
    out->checksum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n * size; i++)
        out->checksum = (out->checksum ^ raw[i]) * 0x100000001b3u;
    for (size_t i = 0; elems[elem].has_poison && i < n; i++)
        if (memcmp(raw + i * size, &elems[elem].poison, size) == 0 && out->poison++ == 0)
            out->first_poison = (int64_t)i;
}

static void look_at_numbers(const float *x, size_t n, data_figures *out)
{
    double squares = 0;
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i])) {
            out->nan++;
            continue;
        }
        out->least = first || x[i] < out->least ? x[i] : out->least;
        out->largest = first || x[i] > out->largest ? x[i] : out->largest;
        out->sum += x[i];
        squares += (double)x[i] * x[i];
        first = false;
    }
    out->norm = sqrt(squares);
}

pkrt_status data_measure(pkrt_tensor *t, pkrt_elem elem, int rank, data_figures *out)
{
    size_t n = (size_t)pkrt_tensor_count(t), bytes = pkrt_tensor_bytes(t);
    *out = (data_figures){.count = n, .first_poison = -1};
    void *raw = data_alloc(bytes);
    float *x = data_alloc(n * sizeof *x);
    pkrt_status s = pkrt_tensor_read(t, rank, raw, bytes);
    if (s == PKRT_OK)
        s = pkrt_tensor_read_f32(t, rank, x, n);
    if (s == PKRT_OK) {
        look_at_bytes(raw, n, elem, out);
        look_at_numbers(x, n, out);
    }
    free(raw);
    free(x);
    return s;
}
