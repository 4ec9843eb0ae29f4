// SPDX-License-Identifier: Apache-2.0
// Scalar parameters: their types, ranges and bits in the block.
#include <string.h>

#include "src/internal.h"

static const struct scalar_row {
    const char *name;
    size_t bytes;
    bool is_float;
    int64_t least, largest;
} rows[] = {
#define RT_SCALAR(name, bytes, is_float, least, largest) {#name, bytes, is_float, least, largest},
#include "src/scalars.def"
#undef RT_SCALAR
};

static const struct scalar_row *find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

pkrt_status rt_scalar_set(const pkrt_kernel *k, rt_param *p, int64_t i, double f)
{
    pkrt_context *ctx = k->ctx;
    const struct scalar_row *row = find(p->elem);
    if (!row)
        return rt_fail(ctx, PKRT_BAD_MODULE, "kernel '%s', parameter '%s': there is no type '%s'", k->name,
                       p->name, p->elem);
    // The member for the other kind of number holds something and this one nothing: a slip of the caller's.
    if (row->is_float && i != 0 && f == 0)
        return rt_fail(ctx, PKRT_INVALID,
                       "kernel '%s', parameter '%s' is %s: a value in `f` expected, got %lld in `i`", k->name,
                       p->name, p->elem, (long long)i);
    if (!row->is_float && i == 0 && f != 0)
        return rt_fail(ctx, PKRT_INVALID,
                       "kernel '%s', parameter '%s' is %s: a value in `i` expected, got %g in `f`", k->name,
                       p->name, p->elem, f);
    if (!row->is_float && (i < row->least || i > row->largest))
        return rt_fail(ctx, PKRT_BAD_SHAPE,
                       "kernel '%s', parameter '%s' is %s: a value from %lld to %lld expected, got %lld",
                       k->name, p->name, p->elem, (long long)row->least, (long long)row->largest,
                       (long long)i);
    p->i = i;
    p->f = f;
    return PKRT_OK;
}

size_t rt_scalar_bits(const rt_param *p, uint64_t *bits)
{
    const struct scalar_row *row = find(p->elem);
    float narrow = (float)p->f;
    *bits = 0;
    if (row->is_float && row->bytes == sizeof narrow)
        memcpy(bits, &narrow, sizeof narrow);
    else if (row->is_float)
        memcpy(bits, &p->f, sizeof p->f);
    else
        memcpy(bits, &p->i, sizeof p->i);
    return row->bytes;
}
