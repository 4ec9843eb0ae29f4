// SPDX-License-Identifier: Apache-2.0
#include "driver/args.h"

#include <stdlib.h>
#include <string.h>

typedef enum option_id {
#define PKC_OPTION(id, spelling, argument, help) OPTION_##id,
#include "driver/options.def"
#undef PKC_OPTION
    OPTION_COUNT
} option_id;

typedef struct option_row {
    const char *spelling, *argument, *help;
} option_row;

static const option_row rows[] = {
#define PKC_OPTION(id, spelling, argument, help) {spelling, argument, help},
#include "driver/options.def"
#undef PKC_OPTION
};

static const char *const emit_names[] = {
    [PKC_EMIT_PTX] = "ptx",  [PKC_EMIT_HEADER] = "header", [PKC_EMIT_LLVM] = "llvm",
    [PKC_EMIT_IR] = "ir",    [PKC_EMIT_IR_LOC] = "ir-loc", [PKC_EMIT_AST] = "ast",
    [PKC_EMIT_META] = "meta"};

static const char *const color_names[] = {
    [ARGS_COLOR_AUTO] = "auto", [ARGS_COLOR_ALWAYS] = "always", [ARGS_COLOR_NEVER] = "never"};

static int find_word(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return (int)i;
    return -1;
}

// The option that argv[i] is, with its value where it stands in the same word ("-DX", "--emit=ir").
static option_id find_option(const char *word, const char **value)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        size_t len = strlen(rows[i].spelling);
        if (strncmp(word, rows[i].spelling, len) != 0)
            continue;
        bool is_long = word[1] == '-';
        *value = word[len] == 0 ? NULL : word + len + (is_long ? 1 : 0);
        if (word[len] == 0 || (rows[i].argument && (!is_long || word[len] == '=')))
            return (option_id)i;
    }
    return OPTION_COUNT;
}

static bool take_word(const char *const *words, size_t count, const char *value, const char *what, int *out,
                      pkc_buf *problem)
{
    *out = find_word(words, count, value);
    if (*out < 0)
        pkc_buf_printf(problem, "'%s' is not one of %s", value, what);
    return *out >= 0;
}

static bool take_emit(args *a, const char *value, pkc_buf *problem)
{
    int emit;
    if (!take_word(emit_names, sizeof emit_names / sizeof *emit_names, value,
                   "ptx, header, llvm, ir, ir-loc, ast, meta", &emit, problem))
        return false;
    a->options.emit = (pkc_emit)emit;
    return true;
}

static bool take_color(args *a, const char *value, pkc_buf *problem)
{
    int color;
    if (!take_word(color_names, sizeof color_names / sizeof *color_names, value, "auto, always, never",
                   &color, problem))
        return false;
    a->color = (args_color)color;
    return true;
}

static bool take_option(args *a, option_id id, const char *value, pkc_buf *problem)
{
    switch (id) {
    case OPTION_OUTPUT:
        a->output = value;
        break;
    case OPTION_EMIT:
        return take_emit(a, value, problem);
    case OPTION_ARCH:
        a->options.arch = value;
        break;
    case OPTION_DEFINE:
        pkc_vec_push(NULL, &a->defines, value);
        break;
    case OPTION_INCLUDE:
        pkc_vec_push(NULL, &a->include_dirs, value);
        break;
    case OPTION_CHECK:
        a->options.check_only = true;
        break;
    case OPTION_JSON:
        a->json = true;
        break;
    case OPTION_COLOR:
        return take_color(a, value, problem);
    case OPTION_DEBUG:
        a->options.debug = true;
        break;
    case OPTION_NO_DEFER:
        a->options.no_defer = true;
        break;
    case OPTION_NO_FLIGHT:
        a->options.no_flight = true;
        break;
    case OPTION_STOP_AFTER:
        a->options.stop_after = value;
        break;
    case OPTION_DUMP_AFTER:
        pkc_vec_push(NULL, &a->dump_after, value);
        break;
    case OPTION_PASS:
        pkc_vec_push(NULL, &a->passes, value);
        break;
    case OPTION_DEPENDENCIES:
        a->dependencies = value;
        break;
    case OPTION_EXPLAIN:
        a->action = ARGS_EXPLAIN;
        a->explain = value;
        break;
    case OPTION_HELP:
        a->action = ARGS_HELP;
        break;
    case OPTION_MAN:
        a->action = ARGS_MAN;
        break;
    case OPTION_VERSION:
        a->action = ARGS_VERSION;
        break;
    case OPTION_COUNT:
        break;
    }
    return true;
}

static bool take_input(args *a, const char *word, pkc_buf *problem)
{
    if (a->input) {
        pkc_buf_printf(problem, "two input files, '%s' and '%s': pkc takes one", a->input, word);
        return false;
    }
    a->input = word;
    return true;
}

// One word of the command line, and the next where it is this one's argument.
static bool take_argument(args *a, int argc, char **argv, int *at, pkc_buf *problem)
{
    const char *word = argv[*at], *value = NULL;
    if (word[0] != '-' || word[1] == 0)
        return take_input(a, word, problem);
    option_id id = find_option(word, &value);
    if (id == OPTION_COUNT) {
        pkc_buf_printf(problem, "there is no option '%s'", word);
        return false;
    }
    if (rows[id].argument && !value) {
        if (*at + 1 >= argc) {
            pkc_buf_printf(problem, "'%s' wants an argument: %s", word, rows[id].argument);
            return false;
        }
        value = argv[++*at];
    }
    return take_option(a, id, value, problem);
}

bool args_parse(args *out, int argc, char **argv, pkc_buf *problem)
{
    *out = (args){.options = PKC_OPTIONS_INIT};
    for (int i = 1; i < argc; i++)
        if (!take_argument(out, argc, argv, &i, problem))
            return false;
    if (out->action == ARGS_COMPILE && !out->input) {
        pkc_buf_puts(problem, "no input file");
        return false;
    }
    out->options.defines = out->defines.data;
    out->options.define_count = out->defines.len;
    out->options.include_dirs = out->include_dirs.data;
    out->options.include_dir_count = out->include_dirs.len;
    out->options.dump_after = out->dump_after.data;
    out->options.dump_after_count = out->dump_after.len;
    out->options.passes = out->passes.data;
    out->options.pass_count = out->passes.len;
    return true;
}

void args_free(args *a)
{
    pkc_vec_free(&a->defines);
    pkc_vec_free(&a->include_dirs);
    pkc_vec_free(&a->dump_after);
    pkc_vec_free(&a->passes);
}

static const char *separator(const option_row *row)
{
    if (!row->argument)
        return "";
    return row->spelling[1] == '-' ? "=" : " ";
}

void args_help(pkc_buf *out)
{
    enum { COLUMN = 24 };
    pkc_buf_puts(out, "usage: pkc FILE.pk [OPTION ...]\n"
                      "Compiles multi-GPU kernels to PTX. FILE may be '-' for standard input.\n\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &rows[i];
        size_t before = out->len;
        pkc_buf_printf(out, "  %s%s%s", row->spelling, separator(row), row->argument ? row->argument : "");
        size_t used = out->len - before;
        pkc_buf_fill(out, ' ', used < COLUMN ? COLUMN - used : 1);
        pkc_buf_printf(out, "%s\n", row->help);
    }
    pkc_buf_puts(out,
                 "\nExit status: 0 when all is well, 1 when the program has errors, 2 for wrong usage.\n");
}

// roff takes '-' for a hyphen and a leading '.' or ''' for a request.
static void roff(pkc_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '-')
            pkc_buf_puts(out, "\\-");
        else if (*text == '\'')
            pkc_buf_puts(out, "\\(aq");
        else
            pkc_buf_putc(out, *text);
    }
}

void args_man(pkc_buf *out)
{
    pkc_buf_printf(
        out,
        ".TH PKC 1 \"\" \"pkc %s\" \"User Commands\"\n"
        ".SH NAME\npkc \\- compile multi\\-GPU kernels to PTX\n"
        ".SH SYNOPSIS\n.B pkc\n.I FILE.pk\n[\\fIOPTION\\fR ...]\n.SH DESCRIPTION\n"
        "Compiles a program in the .pk language for NVIDIA GPUs. FILE may be \\- for standard input.\n"
        ".SH OPTIONS\n",
        pkc_version());
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &rows[i];
        pkc_buf_puts(out, ".TP\n\\fB");
        roff(out, row->spelling);
        pkc_buf_printf(out, "\\fR%s\\fI%s\\fR\n", separator(row), row->argument ? row->argument : "");
        roff(out, row->help);
        pkc_buf_putc(out, '\n');
    }
    pkc_buf_puts(out,
                 ".SH EXIT STATUS\n0 when all is well, 1 when the program has errors, 2 for wrong usage.\n");
}
