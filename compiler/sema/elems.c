// SPDX-License-Identifier: Apache-2.0
#include "sema/elems.h"

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

bool pkc_elem_find(const char *name, pkc_elem *out)
{
    for (int e = 0; e < PKC_E_COUNT; e++)
        if (strcmp(rows[e].name, name) == 0) {
            *out = (pkc_elem)e;
            return true;
        }
    return false;
}
