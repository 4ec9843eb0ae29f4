// SPDX-License-Identifier: Apache-2.0
// Feeds mutated programs to libpkc and looks at what comes back: no crash, no hang, no message that speaks of
// the compiler's inside, no output beside errors, and a printed tree that reads back as itself.
//
//     pkc_fuzz [--runs N] [--seed S] [--first I] [--emit ast|ptx] [--print] FOLDER ...
//
// Run I of seed S is always the same program: --first I --runs 1 --print shows it.
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutate.h"
#include "pkc/pkc.h"
#include "support/vec.h"

enum { SECONDS_A_RUN = 120 };

typedef struct seed_file {
    char *path, *name;
    char *text;
    size_t len;
} seed_file;

typedef struct fuzz {
    uint64_t runs, seed, first;
    pkc_emit emit;
    int print;
    PKC_VEC(seed_file) files;
    PKC_VEC(seed_text) texts;
    uint64_t accepted; // programs without errors
} fuzz;

// Which run it is, written before each one: the handlers of fatal signals and of the sanitizers only put it
// out.
static char where[120];
static size_t where_len;

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void note_run(uint64_t seed, uint64_t run)
{
    int len = snprintf(where, sizeof where, "\npkc_fuzz: see --seed %llu --first %llu --runs 1 --print\n",
                       (unsigned long long)seed, (unsigned long long)run);
    where_len = (size_t)len;
}

static void say_where(void)
{
    if (write(STDERR_FILENO, where, where_len) < 0)
        return;
}

static void on_signal(int number)
{
    say_where();
    signal(number, SIG_DFL);
    raise(number);
}

static void watch(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(say_where);
}

static char *copy_text(const char *text, size_t len)
{
    char *copy = pkc_xrealloc(NULL, len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

// Imports come from the seeds: only what is named, never the file system.
static char *read_seed(void *context, const char *path, size_t *len)
{
    const fuzz *f = context;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < f->files.len; i++)
        if (strcmp(f->files.data[i].name, name) == 0) {
            *len = f->files.data[i].len;
            return copy_text(f->files.data[i].text, *len);
        }
    return NULL;
}

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "pkc_fuzz: %s: %s", what, detail);
    say_where();
    exit(EXIT_FAILURE);
}

// The messages in a text of JSON lines, with what is quoted from the program left out.
static void gather_messages(const char *json, pkc_buf *out)
{
    static const char key[] = "\"message\":\"";
    bool quoted = false;
    for (const char *at = strstr(json, key); at; at = strstr(at, key)) {
        quoted = false;
        for (at += sizeof key - 1; *at && *at != '"'; at++) {
            if (*at == '\\' && at[1])
                at++;
            else if (*at == '\'')
                quoted = !quoted;
            else if (!quoted)
                pkc_buf_putc(out, *at);
        }
        pkc_buf_putc(out, '\n');
    }
}

static void check_messages(pkc_result *result)
{
    static const char *const inside[] = {"(null)", "internal", "PKC_",   "pkc_",  "YY",   "yy",
                                         "TOK_",   "IDENT",    "assert", "LLVM",  "llvm", "AST",
                                         " node",  "errno",    ".c:",    "malloc"};
    pkc_buf messages = {0};
    gather_messages(pkc_result_diagnostics(result, PKC_DIAGNOSTICS_JSON, NULL), &messages);
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (strstr(pkc_buf_cstr(&messages), inside[i]))
            fail("a message speaks of the compiler's inside", pkc_buf_cstr(&messages));
    if (!pkc_result_ok(result) && messages.len == 0)
        fail("refused without a message", "");
    pkc_buf_free(&messages);
    pkc_result_diagnostics(result, PKC_DIAGNOSTICS_COLOR, NULL);
}

static pkc_options options_for(fuzz *f)
{
    pkc_options options = PKC_OPTIONS_INIT;
    options.emit = f->emit;
    options.read_file = read_seed;
    options.read_context = f;
    options.stdlib_dir = "/seeds";
    return options;
}

static void check_fixed_point(fuzz *f, const pkc_result *result)
{
    pkc_options options = options_for(f);
    size_t len = 0, again_len = 0;
    const char *printed = pkc_result_output(result, &len);
    pkc_result *again = NULL;
    if (!pkc_compile("run.pk", printed, len, &options, &again))
        fail("the printed program is refused", pkc_result_diagnostics(again, PKC_DIAGNOSTICS_TEXT, NULL));
    const char *reprinted = pkc_result_output(again, &again_len);
    if (len != again_len || memcmp(printed, reprinted, len) != 0)
        fail("the printed program reads back differently", printed);
    pkc_result_free(again);
}

static void compile(fuzz *f, const pkc_buf *text)
{
    pkc_options options = options_for(f);
    pkc_result *result = NULL;
    alarm(SECONDS_A_RUN);
    bool good = pkc_compile("run.pk", pkc_buf_cstr(text), text->len, &options, &result);
    alarm(0);
    f->accepted += good;
    check_messages(result);
    if (!good && pkc_result_output(result, NULL)[0])
        fail("output in spite of errors", "");
    if (good && f->emit == PKC_EMIT_AST)
        check_fixed_point(f, result);
    pkc_result_free(result);
}

static void run_one(fuzz *f, uint64_t run)
{
    uint64_t state = f->seed * 0x2545f4914f6cdd1du + run;
    note_run(f->seed, run);
    const seed_file *file = &f->files.data[random_below(&state, f->files.len)];
    pkc_buf text = {0};
    pkc_buf_write(&text, file->text, file->len);
    mutate(&text, f->texts.data, f->texts.len, &state);
    if (f->print)
        fwrite(pkc_buf_cstr(&text), 1, text.len, stdout);
    compile(f, &text);
    pkc_buf_free(&text);
}

static int is_program(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return len > 3 && strcmp(entry->d_name + len - 3, ".pk") == 0;
}

static void add_file(fuzz *f, const char *folder, const char *name)
{
    pkc_buf path = {0}, text = {0};
    pkc_buf_printf(&path, "%s/%s", folder, name);
    FILE *stream = fopen(path.data, "rb");
    char block[4096];
    size_t n;
    while (stream && (n = fread(block, 1, sizeof block, stream)) > 0)
        pkc_buf_write(&text, block, n);
    if (stream)
        fclose(stream);
    seed_file file = {.path = pkc_buf_take(&path, NULL), .name = copy_text(name, strlen(name))};
    file.text = pkc_buf_take(&text, &file.len);
    pkc_vec_push(NULL, &f->files, file);
    pkc_vec_push(NULL, &f->texts, ((seed_text){file.text, file.len}));
}

// In the order of their names, so that a run is the same on every machine.
static void add_folder(fuzz *f, const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_program, alphasort);
    for (int i = 0; i < count; i++) {
        add_file(f, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void free_seeds(fuzz *f)
{
    for (size_t i = 0; i < f->files.len; i++) {
        free(f->files.data[i].path);
        free(f->files.data[i].name);
        free(f->files.data[i].text);
    }
    pkc_vec_free(&f->files);
    pkc_vec_free(&f->texts);
}

static void parse_arguments(fuzz *f, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool value = i + 1 < argc;
        if (strcmp(argv[i], "--print") == 0)
            f->print = 1;
        else if (strcmp(argv[i], "--runs") == 0 && value)
            f->runs = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && value)
            f->seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--first") == 0 && value)
            f->first = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--emit") == 0 && value)
            f->emit = strcmp(argv[++i], "ast") == 0 ? PKC_EMIT_AST : PKC_EMIT_PTX;
        else
            add_folder(f, argv[i]);
    }
}

int main(int argc, char **argv)
{
    fuzz f = {.runs = 1000, .seed = 1, .emit = PKC_EMIT_AST};
    parse_arguments(&f, argc, argv);
    if (f.files.len == 0) {
        fputs("usage: pkc_fuzz [--runs N] [--seed S] [--first I] [--emit ast|ptx] [--print] FOLDER ...\n",
              stderr);
        return 2;
    }
    watch();
    for (uint64_t run = f.first; run < f.first + f.runs; run++)
        run_one(&f, run);
    printf("pkc_fuzz: seed %llu, %llu runs, %llu programs accepted\n", (unsigned long long)f.seed,
           (unsigned long long)f.runs, (unsigned long long)f.accepted);
    free_seeds(&f);
    return 0;
}
