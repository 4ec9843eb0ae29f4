// SPDX-License-Identifier: Apache-2.0
// Spellings of the closed sets in ast.def.
#include "syntax/ast.h"

const char *pkc_unary_text(pkc_unary_op op)
{
    static const char *const texts[] = {
#define PKC_AST_UNARY(id, text) text,
#include "syntax/ast.def"
    };
    return texts[op];
}

const char *pkc_binary_text(pkc_binary_op op)
{
    static const char *const texts[] = {
#define PKC_AST_BINARY(id, text) text,
#include "syntax/ast.def"
    };
    return texts[op];
}

const char *pkc_assign_text(pkc_assign_op op)
{
    static const char *const texts[] = {
#define PKC_AST_ASSIGN(id, text) text,
#include "syntax/ast.def"
    };
    return texts[op];
}

const char *pkc_role_text(pkc_role_kind role)
{
    static const char *const texts[] = {
#define PKC_AST_ROLE(id, text) text,
#include "syntax/ast.def"
    };
    return texts[role];
}

const char *pkc_unit_text(pkc_role_unit unit)
{
    static const char *const texts[] = {
#define PKC_AST_UNIT(id, text) text,
#include "syntax/ast.def"
    };
    return texts[unit];
}
