// SPDX-License-Identifier: Apache-2.0
#include "sema/roles.h"

static const pkc_role_row rows[] = {
#define PKC_ROLE_ROW(id, unit, most, products, doc) {unit, doc, most, products},
#include "sema/roles.def"
#undef PKC_ROLE_ROW
};

const pkc_role_row *pkc_role_row_of(pkc_role_row_id id)
{
    return &rows[id];
}
