// SPDX-License-Identifier: Apache-2.0
// Lookup in the table of builtins.
#ifndef PKC_SEMA_BUILTINS_H
#define PKC_SEMA_BUILTINS_H

#include <stdbool.h>

typedef enum pkc_builtin_id {
#define PKC_BUILTIN(id, name, least, most, place, doc) PKC_BUILTIN_##id,
#include "sema/builtins.def"
#undef PKC_BUILTIN
    PKC_BUILTIN_COUNT
} pkc_builtin_id;

typedef enum pkc_place_kind { PKC_PLACE_ANY, PKC_PLACE_ROLE, PKC_PLACE_PUT } pkc_place_kind;

typedef struct pkc_builtin {
    const char *name, *doc;
    int least, most; // arguments
    pkc_place_kind place;
} pkc_builtin;

const pkc_builtin *pkc_builtin_row(pkc_builtin_id id);
bool pkc_builtin_find(const char *name, pkc_builtin_id *out);

#endif
