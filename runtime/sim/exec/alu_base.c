// SPDX-License-Identifier: Apache-2.0
// The arithmetic for any CPU, and the choice between the two.
#include "sim/exec/alu_rows.h"

struct pksim_alu_table pksim_alu_table_base(void)
{
    return (struct pksim_alu_table){alu_ops, sizeof alu_ops / sizeof *alu_ops};
}

struct pksim_alu_table pksim_alu_table_host(void)
{
#if defined(PKSIM_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return pksim_alu_table_avx2();
#endif
    return pksim_alu_table_base();
}
