// SPDX-License-Identifier: Apache-2.0
// Stands for libcuda.so.1: says of itself what FAKE_INIT and FAKE_DEVICES say, and has no more calls.
#include <stdlib.h>

#define FAKE __attribute__((visibility("default")))

static int number(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

FAKE int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    (void)flags;
    return number("FAKE_INIT");
}

FAKE int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
    *count = number("FAKE_DEVICES");
    return 0;
}
