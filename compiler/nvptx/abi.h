// SPDX-License-Identifier: Apache-2.0
// The numbers of abi.def as constants: NV_ABI_*, NV_AT_* (in a rank's block), NV_STATE_* (in a rank's state).
#ifndef PKC_NVPTX_ABI_H
#define PKC_NVPTX_ABI_H

enum {
#define PK_ABI_CONST(name, value)        NV_ABI_##name = value,
#define PK_ABI_BLOCK(name, text, offset) NV_AT_##name = offset,
#define PK_ABI_STATE(name, offset)       NV_STATE_##name = offset,
#include "abi/abi.def"
};

#endif
