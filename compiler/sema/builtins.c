// SPDX-License-Identifier: Apache-2.0
#include "sema/builtins.h"

#include <string.h>

static const pkc_builtin rows[] = {
#define PKC_BUILTIN(id, name, least, most, place, doc) {#name, doc, least, most, PKC_PLACE_##place},
#include "sema/builtins.def"
#undef PKC_BUILTIN
};

const pkc_builtin *pkc_builtin_row(pkc_builtin_id id)
{
    return &rows[id];
}

bool pkc_builtin_find(const char *name, pkc_builtin_id *out)
{
    for (int i = 0; i < PKC_BUILTIN_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *out = (pkc_builtin_id)i;
            return true;
        }
    return false;
}
