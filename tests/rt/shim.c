// SPDX-License-Identifier: Apache-2.0
// A driver between the runtime and another one: every call goes on to libpksim unless a test's hook answers
// it.
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "src/cuda.h"

#define SHIM __attribute__((visibility("default")))

/// A test's hook: true when it answers the call, with *result. `a` and `b` are the call's first two
/// arguments, 0 where there is none.
typedef bool (*shim_hook)(const char *name, uintptr_t a, uintptr_t b, rt_result *result);

static shim_hook hook;

SHIM void shim_set_hook(shim_hook h);
void shim_set_hook(shim_hook h)
{
    hook = h;
}

static void *find(const char *name)
{
    void *library = dlopen("libpksim.so.0", RTLD_NOW | RTLD_NOLOAD);
    return library ? dlsym(library, name) : NULL;
}

#define FIRST(a, ...)          (uintptr_t)(a)
#define SECOND(a, ...)         PICK_SECOND(a __VA_OPT__(, ) __VA_ARGS__, 0, 0)
#define PICK_SECOND(a, b, ...) (uintptr_t)(b)
#define RT_CALL(symbol, params, names)                                                                       \
    SHIM rt_result symbol params;                                                                            \
    rt_result symbol params                                                                                  \
    {                                                                                                        \
        rt_result shim_result = 0, (*real)params;                                                            \
        void *real_address = find(#symbol);                                                                  \
        if (hook && hook(#symbol, FIRST names, SECOND names, &shim_result))                                  \
            return shim_result;                                                                              \
        memcpy(&real, &real_address, sizeof real);                                                           \
        return real names;                                                                                   \
    }
#include "src/driver.def"
#undef RT_CALL
