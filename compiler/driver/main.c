// SPDX-License-Identifier: Apache-2.0
// The program pkc: command line, files, printing. Everything else is libpkc.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/args.h"
#include "driver/read_file.h"

enum { EXIT_OK = 0, EXIT_ERRORS = 1, EXIT_USAGE = 2 };

static int wrong_usage(const char *problem)
{
    fprintf(stderr, "pkc: %s\ntry 'pkc --help'\n", problem);
    return EXIT_USAGE;
}

static int print_buf(pkc_buf *buf)
{
    fputs(pkc_buf_cstr(buf), stdout);
    pkc_buf_free(buf);
    return EXIT_OK;
}

static int explain(const char *code)
{
    const char *text = pkc_explain(code);
    if (!text) {
        fprintf(stderr, "pkc: there is no diagnostic '%s'\n", code);
        return EXIT_USAGE;
    }
    printf("%s\n", text);
    return EXIT_OK;
}

static char *read_input(const char *path, size_t *len)
{
    return strcmp(path, "-") == 0 ? pkc_read_stream(stdin, len) : pkc_read_file(NULL, path, len);
}

static bool write_file(const char *path, const char *text, size_t len)
{
    FILE *stream = !path || strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    bool good = stream && fwrite(text, 1, len, stream) == len;
    if (stream && (stream == stdout ? fflush(stream) : fclose(stream)) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "pkc: cannot write '%s': %s\n", path ? path : "standard output", strerror(errno));
    return good;
}

// `OUT: FILE IMPORT...`, and an empty rule for each import so that a removed one does not stop make.
static bool write_dependencies(const args *a, const pkc_result *result)
{
    pkc_buf rule = {0};
    pkc_buf_printf(&rule, "%s: %s", a->output ? a->output : "-", a->input);
    for (size_t i = 0; i < pkc_result_import_count(result); i++)
        pkc_buf_printf(&rule, " %s", pkc_result_import(result, i));
    pkc_buf_putc(&rule, '\n');
    for (size_t i = 0; i < pkc_result_import_count(result); i++)
        pkc_buf_printf(&rule, "%s:\n", pkc_result_import(result, i));
    bool good = write_file(a->dependencies, rule.data, rule.len);
    pkc_buf_free(&rule);
    return good;
}

static pkc_diagnostics_form diagnostics_form(const args *a)
{
    if (a->json)
        return PKC_DIAGNOSTICS_JSON;
    bool color = a->color == ARGS_COLOR_ALWAYS || (a->color == ARGS_COLOR_AUTO && isatty(STDERR_FILENO));
    return color ? PKC_DIAGNOSTICS_COLOR : PKC_DIAGNOSTICS_TEXT;
}

static int finish(const args *a, pkc_result *result)
{
    fputs(pkc_result_dumps(result, NULL), stderr);
    fputs(pkc_result_diagnostics(result, diagnostics_form(a), NULL), stderr);
    if (!pkc_result_ok(result))
        return EXIT_ERRORS;
    if (a->dependencies && !write_dependencies(a, result))
        return EXIT_USAGE;
    size_t len = 0;
    const char *output = pkc_result_output(result, &len);
    if (!a->options.check_only && !write_file(a->output, output, len))
        return EXIT_USAGE;
    return EXIT_OK;
}

static int compile(const args *a)
{
    size_t len = 0;
    char *text = read_input(a->input, &len);
    if (!text) {
        fprintf(stderr, "pkc: cannot read '%s': %s\n", a->input, strerror(errno));
        return EXIT_USAGE;
    }
    const char *name = strcmp(a->input, "-") == 0 ? "<stdin>" : a->input;
    pkc_result *result = NULL;
    pkc_compile(name, text, len, &a->options, &result);
    free(text);
    int status = finish(a, result);
    pkc_result_free(result);
    return status;
}

static int run(const args *a)
{
    pkc_buf text = {0};
    switch (a->action) {
    case ARGS_HELP:
        args_help(&text);
        return print_buf(&text);
    case ARGS_MAN:
        args_man(&text);
        return print_buf(&text);
    case ARGS_VERSION:
        printf("pkc %s\n", pkc_version());
        return EXIT_OK;
    case ARGS_EXPLAIN:
        return explain(a->explain);
    case ARGS_COMPILE:
        break;
    }
    return compile(a);
}

int main(int argc, char **argv)
{
    args a;
    pkc_buf problem = {0};
    bool good = args_parse(&a, argc, argv, &problem);
    int status = good ? run(&a) : wrong_usage(pkc_buf_cstr(&problem));
    pkc_buf_free(&problem);
    args_free(&a);
    return status;
}
