// SPDX-License-Identifier: Apache-2.0
#include "sema/symbol.h"

static const struct symbol_row {
    const char *words;
    bool value;
} rows[] = {
#define PKC_SYMBOL(id, words, value) {words, value},
#include "sema/symbols.def"
#undef PKC_SYMBOL
};

static const char *const standing[] = {
#define PKC_STANDING(id, name, doc) #name,
#include "sema/standing.def"
#undef PKC_STANDING
};

const char *pkc_symbol_words(pkc_symbol_kind kind)
{
    return rows[kind].words;
}

bool pkc_symbol_has_value(pkc_symbol_kind kind)
{
    return rows[kind].value;
}

const char *pkc_standing_name(pkc_standing s)
{
    return standing[s];
}
