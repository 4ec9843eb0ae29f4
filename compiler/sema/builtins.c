// SPDX-License-Identifier: Apache-2.0
#include "sema/builtins.h"

#include <string.h>

static const pkc_builtin rows[] = {
#define PKC_BUILTIN(id, name, args, place, doc) {#name, doc, args, PKC_BUILTIN_##id, PKC_PLACE_##place},
#include "sema/builtins.def"
#undef PKC_BUILTIN
};

const pkc_builtin *pkc_builtin_row(pkc_builtin_id id)
{
    return &rows[id];
}

const pkc_builtin *pkc_builtin_find(const char *name)
{
    for (int i = 0; i < PKC_BUILTIN_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

int pkc_builtin_least(const pkc_builtin *b)
{
    return (int)strcspn(b->args, "?");
}

int pkc_builtin_most(const pkc_builtin *b)
{
    return (int)strlen(b->args) - (strchr(b->args, '?') != NULL);
}

char pkc_builtin_arg(const pkc_builtin *b, int i)
{
    return b->args[i < pkc_builtin_least(b) ? i : i + 1];
}
