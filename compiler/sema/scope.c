// SPDX-License-Identifier: Apache-2.0
#include "sema/scope.h"

typedef struct pkc_scope_slot {
    pkc_str name; // NULL: free
    pkc_symbol *symbol;
} slot;

enum { FIRST_CAP = 64 };

void pkc_scopes_init(pkc_scopes *scopes, pkc_arena *arena)
{
    *scopes = (pkc_scopes){.arena = arena, .cap = FIRST_CAP};
    scopes->slots = PKC_NEW_ARRAY(arena, slot, FIRST_CAP);
}

// Names are never taken out, so probing ends at the name or at a free slot.
static slot *probe(const pkc_scopes *scopes, pkc_str name)
{
    size_t mask = scopes->cap - 1, i = ((uintptr_t)name >> 4) * 0x9e3779b97f4a7c15u >> 20;
    while (scopes->slots[i & mask].name && scopes->slots[i & mask].name != name)
        i++;
    return &scopes->slots[i & mask];
}

static void grow(pkc_scopes *scopes)
{
    slot *old = scopes->slots;
    size_t n = scopes->cap;
    scopes->cap = 2 * n;
    scopes->slots = PKC_NEW_ARRAY(scopes->arena, slot, scopes->cap);
    for (size_t i = 0; i < n; i++)
        if (old[i].name)
            *probe(scopes, old[i].name) = old[i];
}

static slot *slot_for(pkc_scopes *scopes, pkc_str name)
{
    if (2 * scopes->count >= scopes->cap)
        grow(scopes);
    slot *s = probe(scopes, name);
    if (!s->name) {
        s->name = name;
        scopes->count++;
    }
    return s;
}

void pkc_scope_open(pkc_scopes *scopes)
{
    pkc_vec_push(scopes->arena, &scopes->starts, scopes->live.len);
}

void pkc_scope_close(pkc_scopes *scopes)
{
    size_t start = pkc_vec_pop(&scopes->starts);
    while (scopes->live.len > start) {
        pkc_symbol *s = pkc_vec_pop(&scopes->live);
        probe(scopes, s->name)->symbol = s->hidden;
    }
}

uint16_t pkc_scope_level(const pkc_scopes *scopes)
{
    return (uint16_t)scopes->starts.len;
}

void pkc_scope_add(pkc_scopes *scopes, pkc_symbol *symbol)
{
    slot *s = slot_for(scopes, symbol->name);
    symbol->hidden = s->symbol;
    symbol->level = pkc_scope_level(scopes);
    symbol->noted = symbol->level;
    s->symbol = symbol;
    pkc_vec_push(scopes->arena, &scopes->live, symbol);
}

pkc_symbol *pkc_scope_find(const pkc_scopes *scopes, pkc_str name)
{
    return probe(scopes, name)->symbol;
}

pkc_symbol *pkc_scope_find_kind(const pkc_scopes *scopes, pkc_str name, pkc_symbol_kind kind)
{
    pkc_symbol *s = pkc_scope_find(scopes, name);
    while (s && s->kind != kind)
        s = s->hidden;
    return s;
}
