// SPDX-License-Identifier: Apache-2.0
// What the kinds of roles are made of and may do.
#ifndef PKC_SEMA_ROLES_H
#define PKC_SEMA_ROLES_H

#include <stdbool.h>

typedef enum pkc_role_row_id {
#define PKC_ROLE_ROW(id, unit, most, products, doc) PKC_ROLE_ROW_##id,
#include "sema/roles.def"
#undef PKC_ROLE_ROW
    PKC_ROLE_ROW_COUNT
} pkc_role_row_id;

typedef struct pkc_role_row {
    const char *unit, *doc; // unit: "warps" or "warpgroups"
    int most;               // units that a worker has room for
    bool products;          // has matrix units
} pkc_role_row;

const pkc_role_row *pkc_role_row_of(pkc_role_row_id id);

#endif
