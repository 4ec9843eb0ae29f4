// SPDX-License-Identifier: Apache-2.0
// The same arithmetic compiled with AVX2 and FMA instructions (see CMakeLists.txt).
#include "sim/exec/alu_rows.h"

struct pksim_alu_table pksim_alu_table_avx2(void)
{
    return (struct pksim_alu_table){alu_ops, sizeof alu_ops / sizeof *alu_ops};
}
