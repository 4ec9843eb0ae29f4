// SPDX-License-Identifier: Apache-2.0
// Scopes: which symbol a name means here. One stack for a whole program; a lookup takes constant time.
#ifndef PKC_SEMA_SCOPE_H
#define PKC_SEMA_SCOPE_H

#include "sema/symbol.h"
#include "support/vec.h"

typedef struct pkc_scopes {
    pkc_arena *arena;
    struct pkc_scope_slot *slots; // hash table by the address of the interned name
    size_t cap, count;
    PKC_VEC(pkc_symbol *) live; // every symbol in scope, outermost first
    PKC_VEC(size_t) starts;     // where each open scope begins in `live`
} pkc_scopes;

void pkc_scopes_init(pkc_scopes *scopes, pkc_arena *arena);
void pkc_scope_open(pkc_scopes *scopes);
/// Takes the innermost scope's symbols out again.
void pkc_scope_close(pkc_scopes *scopes);
/// Number of open scopes: the level of a symbol added now.
uint16_t pkc_scope_level(const pkc_scopes *scopes);
/// Puts the symbol into the innermost scope; it hides one of the same name further out.
void pkc_scope_add(pkc_scopes *scopes, pkc_symbol *symbol);
/// The innermost symbol of that name, NULL where there is none.
pkc_symbol *pkc_scope_find(const pkc_scopes *scopes, pkc_str name);
/// The innermost one of that name and kind.
pkc_symbol *pkc_scope_find_kind(const pkc_scopes *scopes, pkc_str name, pkc_symbol_kind kind);

#endif
