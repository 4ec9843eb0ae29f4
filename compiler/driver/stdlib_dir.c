// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "driver/pipeline.h"

enum { PATH_BYTES = 4096 };

// <prefix>/share/pkc/stdlib for a file <prefix>/bin/x or <prefix>/lib/x (Debian: <prefix>/lib/<triple>/x).
static const char *beside(pkc_arena *arena, const char *path)
{
    static const char *const ups[] = {"..", "../.."};
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; slash && i < sizeof ups / sizeof *ups; i++) {
        const char *dir =
            pkc_arena_printf(arena, "%.*s/%s/share/pkc/stdlib", (int)(slash - path), path, ups[i]);
        if (access(dir, R_OK) == 0)
            return dir;
    }
    return NULL;
}

const char *pkc_find_stdlib(pkc_arena *arena)
{
    char path[PATH_BYTES];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    path[len > 0 ? len : 0] = 0;
    const char *dir = beside(arena, path);
    Dl_info info;
    if (!dir && dladdr((void *)(size_t)&pkc_find_stdlib, &info) && info.dli_fname)
        dir = beside(arena, info.dli_fname);
    if (!dir && access(PKC_STDLIB_DIR, R_OK) == 0)
        dir = PKC_STDLIB_DIR;
    return dir;
}
