// SPDX-License-Identifier: Apache-2.0
#include "sema/elems.h"

#include <math.h>
#include <string.h>

static const struct elem_row {
    const char *name;
    unsigned bits;
    char class;
    bool tensor, scalar;
} rows[] = {
#define PKC_ELEM(id, spelling, bits, class, tensor, scalar) {#spelling, bits, #class[0], tensor, scalar},
#include "sema/elems.def"
#undef PKC_ELEM
};

const char *pkc_elem_name(pkc_elem e)
{
    return rows[e].name;
}

unsigned pkc_elem_bits(pkc_elem e)
{
    return rows[e].bits;
}

char pkc_elem_class(pkc_elem e)
{
    return rows[e].class;
}

bool pkc_elem_in_tensor(pkc_elem e)
{
    return rows[e].tensor;
}

bool pkc_elem_in_scalar(pkc_elem e)
{
    return rows[e].scalar;
}

/// Exponent of the smallest normal number, bits of the fraction, the largest number, whether larger ones
/// become it.
typedef struct format {
    int low, fraction;
    double most;
    bool saturates;
} format;

static double round_format(format f, double v)
{
    int exponent;
    frexp(v, &exponent); // |v| in [2^(exponent - 1), 2^exponent)
    int top = exponent - 1 > f.low ? exponent - 1 : f.low;
    double unit = ldexp(1, top - f.fraction), r = nearbyint(v / unit) * unit;
    return fabs(r) > f.most ? copysign(f.saturates ? f.most : INFINITY, v) : copysign(r, v);
}

double pkc_elem_round(pkc_elem e, double v)
{
    if (isnan(v) || v == 0 || e == PKC_E_F64)
        return v;
    bool saturates = e == PKC_E_E4M3 || e == PKC_E_E5M2;
    if (isinf(v) && !saturates)
        return v;
    if (e == PKC_E_BF16)
        return round_format((format){-126, 7, 0x1.fep127, false}, v);
    if (e == PKC_E_F16)
        return round_format((format){-14, 10, 65504, false}, v);
    if (e == PKC_E_E4M3)
        return isinf(v) ? copysign(448, v) : round_format((format){-6, 3, 448, true}, v);
    if (e == PKC_E_E5M2)
        return isinf(v) ? copysign(57344, v) : round_format((format){-14, 2, 57344, true}, v);
    return (double)(float)v;
}

bool pkc_elem_find(const char *name, pkc_elem *out)
{
    for (int e = 0; e < PKC_E_COUNT; e++)
        if (strcmp(rows[e].name, name) == 0) {
            *out = (pkc_elem)e;
            return true;
        }
    return false;
}
