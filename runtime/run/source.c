// SPDX-License-Identifier: Apache-2.0
#include "run/source.h"

#include <errno.h>
#include <pkc/pkc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/data.h"

static char *read_file(const char *path, size_t *len)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    size_t room = 1 << 16, n = 0, got;
    char *text = f ? data_alloc(room + 1) : NULL;
    while (f && (got = fread(text + n, 1, room - n, f)) > 0) {
        n += got;
        if (n < room)
            continue;
        char *more = data_alloc(2 * room + 1);
        memcpy(more, text, n);
        free(text);
        text = more;
        room *= 2;
    }
    bool good = f && !ferror(f);
    if (f && f != stdin)
        fclose(f);
    if (!good) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    *len = n;
    return text;
}

static char *copy_text(const char *text, size_t len)
{
    char *copy = data_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

static pkc_diagnostics_form form(const args *a)
{
    if (a->json)
        return PKC_DIAGNOSTICS_JSON;
    return isatty(STDERR_FILENO) ? PKC_DIAGNOSTICS_COLOR : PKC_DIAGNOSTICS_TEXT;
}

static bool compile(const args *a, char **text, size_t *len)
{
    pkc_options o = PKC_OPTIONS_INIT;
    pkc_result *result = NULL;
    o.defines = a->defines.items;
    o.define_count = (size_t)a->defines.n;
    o.include_dirs = a->includes.items;
    o.include_dir_count = (size_t)a->includes.n;
    pkc_compile(strcmp(a->file, "-") == 0 ? "<stdin>" : a->file, *text, *len, &o, &result);
    fputs(pkc_result_diagnostics(result, form(a), NULL), stderr);
    bool good = pkc_result_ok(result);
    free(*text);
    *text = NULL;
    if (good) {
        const char *ptx = pkc_result_output(result, len);
        *text = copy_text(ptx, *len);
    }
    pkc_result_free(result);
    return good;
}

source_status source_load(const args *a, char **text, size_t *len)
{
    *text = read_file(a->file, len);
    if (!*text) {
        fprintf(stderr, "pkrun: cannot read '%s': %s\n", a->file, strerror(errno));
        return SOURCE_UNREADABLE;
    }
    const char *end = strrchr(a->file, '.');
    bool module = strncmp(*text, "//pk ", 5) == 0 || (end && strcmp(end, ".ptx") == 0);
    return module || compile(a, text, len) ? SOURCE_OK : SOURCE_WRONG;
}
