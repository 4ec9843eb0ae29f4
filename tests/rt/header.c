// SPDX-License-Identifier: Apache-2.0
// pkrt.h needs nothing before it and may be included twice.
#include <pkrt/pkrt.h>

const char *rt_header_version(void)
{
    return pkrt_version();
}
