// SPDX-License-Identifier: Apache-2.0
#include "nvptx/target.h"

#include <stddef.h>
#include <string.h>

static const pkc_target targets[] = {
#define PKC_TARGET(name, features, ptx, smem, regs, wgmma, tma, setmaxnreg, emitted)                         \
    {name, features, ptx, smem, regs, wgmma, tma, setmaxnreg, emitted},
#include "nvptx/target.def"
};

const pkc_target *pkc_target_at(int index)
{
    int count = (int)(sizeof targets / sizeof *targets);
    return index >= 0 && index < count ? &targets[index] : NULL;
}

const pkc_target *pkc_target_find(const char *name)
{
    for (int i = 0; pkc_target_at(i); i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}
