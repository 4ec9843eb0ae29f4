// SPDX-License-Identifier: Apache-2.0
// libpkc: source text in, PTX (or a header, IR, ...) and diagnostics out. Nothing is printed, no global state
// is kept: compilations may run in parallel in different threads.
//
//     pkc_options options = PKC_OPTIONS_INIT;
//     pkc_result *result = NULL;
//     pkc_compile("scale.pk", text, strlen(text), &options, &result);
//     if (pkc_result_ok(result))
//         use(pkc_result_output(result, NULL));
//     else
//         fputs(pkc_result_diagnostics(result, PKC_DIAGNOSTICS_TEXT, NULL), stderr);
//     pkc_result_free(result);
#ifndef PKC_PKC_H
#define PKC_PKC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PKC_VERSION_MAJOR 0
#define PKC_VERSION_MINOR 1
#define PKC_VERSION_PATCH 0

#define PKC_API __attribute__((visibility("default")))

/// What a compilation makes.
typedef enum pkc_emit {
    PKC_EMIT_PTX,    // PTX with the module's description in comment lines at its head
    PKC_EMIT_HEADER, // a C header: the same bytes, and typed bind and launch functions
    PKC_EMIT_LLVM,   // LLVM IR
    PKC_EMIT_IR,     // tile IR
    PKC_EMIT_IR_LOC, // tile IR with source lines
    PKC_EMIT_AST,    // the program as it was understood, in one fixed form
    PKC_EMIT_META    // the module's description alone, as JSON
} pkc_emit;

/// Reads a file for `import`: malloc'd text and its length, or NULL where there is no such file. The caller
/// frees it.
typedef char *(*pkc_read_file_fn)(void *context, const char *path, size_t *len);

/// Every member may stay zero. Strings and arrays must stay as they are during the call.
typedef struct pkc_options {
    size_t size; // sizeof(pkc_options): tells the library which members the caller knows
    pkc_emit emit;
    const char *arch;           // "sm_90a", also the default
    const char *const *defines; // "NAME=VALUE" or "KERNEL.NAME=VALUE", overriding const parameters
    size_t define_count;
    const char *const *include_dirs; // where imports are looked for after the importing file's folder
    size_t include_dir_count;
    const char *stdlib_dir;        // NULL: found beside the program or library (../share/pkc/stdlib)
    const char *stop_after;        // name of the last pass to run; for PKC_EMIT_IR
    const char *const *dump_after; // names of passes after which the tile IR is added to the dumps
    size_t dump_after_count;
    const char *const *passes; // for a file of tile IR, NAME.ir: the passes to run on it, in this order
    size_t pass_count;
    bool check_only;            // diagnostics only, no output
    bool debug;                 // source lines and a friendly form rather than the fastest
    bool no_defer, no_flight;   // leave these optimisations out
    pkc_read_file_fn read_file; // NULL: the file system
    void *read_context;
} pkc_options;

#define PKC_OPTIONS_INIT                                                                                     \
    {                                                                                                        \
        .size = sizeof(pkc_options)                                                                          \
    }

typedef struct pkc_result pkc_result;

typedef enum pkc_diagnostics_form {
    PKC_DIAGNOSTICS_TEXT,
    PKC_DIAGNOSTICS_COLOR,
    PKC_DIAGNOSTICS_JSON
} pkc_diagnostics_form;

/// Compiles `len` bytes of text: a program, or tile IR where `name` ends with ".ir". `name` stands in
/// messages and is where imports are looked for first. The result is made in every case and is the caller's;
/// false where there were errors (as pkc_result_ok says).
PKC_API bool pkc_compile(const char *name, const char *text, size_t len, const pkc_options *options,
                         pkc_result **result);
PKC_API void pkc_result_free(pkc_result *result);
PKC_API bool pkc_result_ok(const pkc_result *result);
/// What was asked for: zero-terminated, owned by the result; "" where there were errors. `len` may be NULL.
PKC_API const char *pkc_result_output(const pkc_result *result, size_t *len);
/// What `dump_after` gathered.
PKC_API const char *pkc_result_dumps(const pkc_result *result, size_t *len);
/// All diagnostics in one text, sorted by position; owned by the result.
PKC_API const char *pkc_result_diagnostics(pkc_result *result, pkc_diagnostics_form form, size_t *len);
/// Files that were read for imports, for build systems.
PKC_API size_t pkc_result_import_count(const pkc_result *result);
PKC_API const char *pkc_result_import(const pkc_result *result, size_t index);

/// The library's version, "0.1.0".
PKC_API const char *pkc_version(void);
/// What a diagnostic's code ("E0110") means and what to do; NULL where there is no such code.
PKC_API const char *pkc_explain(const char *code);

#ifdef __cplusplus
}
#endif

#endif
