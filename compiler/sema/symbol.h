// SPDX-License-Identifier: Apache-2.0
// Symbols: what a name means. Every use of a name points at the symbol of its declaration.
#ifndef PKC_SEMA_SYMBOL_H
#define PKC_SEMA_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#include "syntax/ast.h"

typedef enum pkc_symbol_kind {
#define PKC_SYMBOL(id, words, value) PKC_SYM_##id,
#include "sema/symbols.def"
#undef PKC_SYMBOL
    PKC_SYM_COUNT
} pkc_symbol_kind;

typedef enum pkc_standing {
#define PKC_STANDING(id, name, doc) PKC_STANDING_##id,
#include "sema/standing.def"
#undef PKC_STANDING
    PKC_STANDING_COUNT
} pkc_standing;

/// What calling a function asks of the place of the call, with the place in the function that asks it; a
/// zeroed span: nothing does. Calls that the function makes are counted in.
typedef struct pkc_fn_facts {
    pkc_span role;    // has effects outside its own roles: the call must stand in a role
    pkc_span put;     // starts a bulk load outside its own puts
    pkc_span roles;   // has roles: the call must stand outside roles
    pkc_span pipe;    // declares a pipe
    pkc_span barrier; // has a barrier
    pkc_span worker;  // asks for worker or workers
} pkc_fn_facts;

typedef struct pkc_symbol pkc_symbol;
struct pkc_symbol {
    pkc_symbol_kind kind;
    pkc_str name;
    pkc_span span;         // of the declaration; nowhere for standing names
    uint32_t index;        // from 0, each symbol of a program its own
    const pkc_stmt *role;  // the role block that it was declared in, NULL: outside roles
    const pkc_stmt *pipe;  // PIPE
    const pkc_item *item;  // FN, KERNEL
    pkc_module *module;    // FN: where it stands; MODULE
    pkc_standing standing; // STANDING
    pkc_fn_facts facts;    // FN
    bool used;             // its value is asked for somewhere
    uint16_t level;        // of the scope that it was declared in
    uint16_t noted;        // the deepest open level whose `assigned` holds it (resolve.c)
    pkc_symbol *hidden;    // the one of the same name outside, while its scope is open (scope.c)
};

/// Symbols in order of first mention.
typedef struct pkc_varset {
    pkc_symbol **data;
    size_t len, cap;
} pkc_varset;

/// "a pipe".
const char *pkc_symbol_words(pkc_symbol_kind kind);
/// Whether a name of that kind may stand where a value, tile, tensor or pipe is expected.
bool pkc_symbol_has_value(pkc_symbol_kind kind);
const char *pkc_standing_name(pkc_standing standing);

#endif
