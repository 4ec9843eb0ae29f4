// SPDX-License-Identifier: Apache-2.0
// Lookup in the table of builtins.
#ifndef PKC_SEMA_BUILTINS_H
#define PKC_SEMA_BUILTINS_H

#include <stdbool.h>

typedef enum pkc_builtin_id {
#define PKC_BUILTIN(id, name, args, place, doc) PKC_BUILTIN_##id,
#include "sema/builtins.def"
#undef PKC_BUILTIN
    PKC_BUILTIN_COUNT
} pkc_builtin_id;

typedef enum pkc_place_kind { PKC_PLACE_ANY, PKC_PLACE_ROLE, PKC_PLACE_PUT } pkc_place_kind;

/// No builtin takes more arguments.
#define PKC_BUILTIN_MAX_ARGS 5

typedef struct pkc_builtin {
    const char *name, *doc;
    const char *args; // as in builtins.def
    pkc_builtin_id id;
    pkc_place_kind place;
} pkc_builtin;

const pkc_builtin *pkc_builtin_row(pkc_builtin_id id);
/// NULL where there is no builtin of that name.
const pkc_builtin *pkc_builtin_find(const char *name);
/// Fewest and most arguments.
int pkc_builtin_least(const pkc_builtin *b);
int pkc_builtin_most(const pkc_builtin *b);
/// The letter of argument i, which is below most.
char pkc_builtin_arg(const pkc_builtin *b, int i);

#endif
