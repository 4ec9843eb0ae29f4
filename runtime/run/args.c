// SPDX-License-Identifier: Apache-2.0
#include "run/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_id {
#define PKRUN_OPTION(id, spelling, argument, help) OPTION_##id,
#include "run/options.def"
#undef PKRUN_OPTION
    OPTION_COUNT
} option_id;

typedef struct option_row {
    const char *spelling, *argument, *help;
} option_row;

static const option_row rows[] = {
#define PKRUN_OPTION(id, spelling, argument, help) {spelling, argument, help},
#include "run/options.def"
#undef PKRUN_OPTION
};

// ---- numbers and pairs ---------------------------------------------------------------------------------

bool args_whole(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    *out = v;
    return end != text && !*end && errno == 0;
}

bool args_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end;
}

static bool whole_from(const char *text, int64_t least, int64_t largest, int64_t *out)
{
    return args_whole(text, out) && *out >= least && *out <= largest;
}

static bool small_number(const char *text, int least, int *out)
{
    int64_t v;
    if (!whole_from(text, least, INT32_MAX, &v))
        return false;
    *out = (int)v;
    return true;
}

/// Room for one more item; memory that runs out here ends the program as no parse could go on.
static void *grow(void *items, int n, size_t size)
{
    void *more = realloc(items, (size_t)(n + 1) * size);
    if (!more) {
        fputs("pkrun: memory ran out\n", stderr);
        exit(1);
    }
    return more;
}

static bool add_pair(args_pairs *to, const char *word)
{
    const char *eq = strchr(word, '=');
    if (!eq || eq == word || !eq[1])
        return false;
    to->items = grow(to->items, to->n, sizeof *to->items);
    to->items[to->n++] = (args_pair){.name = word, .value = eq + 1, .len = (size_t)(eq - word)};
    return true;
}

static bool add_word(args_words *to, const char *word)
{
    to->items = grow(to->items, to->n, sizeof *to->items);
    to->items[to->n++] = word;
    return true;
}

const args_pair *args_find(const args_pairs *pairs, const char *name)
{
    for (int i = pairs->n - 1; i >= 0; i--)
        if (strlen(name) == pairs->items[i].len &&
            strncmp(name, pairs->items[i].name, pairs->items[i].len) == 0)
            return &pairs->items[i];
    return NULL;
}

// ---- options -------------------------------------------------------------------------------------------

/// The place of a name in a list of n, -1 where it is none of them.
static int find_name(const char *name, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

static bool set_backend(args *a, const char *name)
{
    static const char *const names[] = {
        [PKRT_BACKEND_AUTO] = "auto", [PKRT_BACKEND_CUDA] = "cuda", [PKRT_BACKEND_SIM] = "sim"};
    int found = find_name(name, names, (int)(sizeof names / sizeof names[0]));
    a->backend = found < 0 ? PKRT_BACKEND_AUTO : (pkrt_backend)found;
    return found >= 0;
}

static bool set_multicast(args *a, const char *name)
{
    static const char *const names[] = {[PKRT_MULTICAST_NEVER] = "never",
                                        [PKRT_MULTICAST_AUTO] = "auto",
                                        [PKRT_MULTICAST_REQUIRE] = "require"};
    int found = find_name(name, names, (int)(sizeof names / sizeof names[0]));
    a->multicast = found < 0 ? PKRT_MULTICAST_NEVER : (pkrt_multicast)found;
    return found >= 0;
}

/// "0,0,1": the device of each rank.
static bool set_devices(args *a, const char *list)
{
    int n = 0;
    for (const char *at = list; *at;) {
        char *end;
        long v = strtol(at, &end, 10);
        if (end == at || v < 0 || v > INT32_MAX || (*end && *end != ','))
            return false;
        a->devices = grow(a->devices, n, sizeof *a->devices);
        a->devices[n++] = (int)v;
        at = *end ? end + 1 : end;
    }
    a->n_devices = n;
    return n > 0;
}

static bool set_seed(args *a, const char *text)
{
    int64_t v;
    bool good = whole_from(text, 0, INT64_MAX, &v);
    a->seed = (uint64_t)v;
    return good;
}

/// "races,memory": what is there is looked for by libpksim; what it does not know is refused here.
static bool set_check(args *a, const char *list)
{
    static const char *const names[] = {"all", "races", "memory"};
    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ",");
        bool known = false;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            known |= strlen(names[i]) == len && strncmp(names[i], at, len) == 0;
        if (!known)
            return false;
        at += len + (at[len] == ',');
    }
    a->check = list;
    return true;
}

/// Takes an option and its value; false where the value is wrong.
static bool take(args *a, option_id id, const char *value)
{
    switch (id) {
    case OPTION_RANKS:
        return small_number(value, 1, &a->ranks);
    case OPTION_BACKEND:
        return set_backend(a, value);
    case OPTION_MULTICAST:
        return set_multicast(a, value);
    case OPTION_DEVICES:
        return set_devices(a, value);
    case OPTION_FILL:
        return add_pair(&a->fill, value);
    case OPTION_IN:
        return add_pair(&a->in, value);
    case OPTION_OUT:
        return add_pair(&a->out, value);
    case OPTION_SEED:
        return set_seed(a, value);
    case OPTION_LAUNCHES:
        return small_number(value, 1, &a->launches);
    case OPTION_TIME:
        return a->time = true;
    case OPTION_JSON:
        return a->json = true;
    case OPTION_CHECK:
        return set_check(a, *value ? value : "all");
    case OPTION_DEFINE:
        return add_word(&a->defines, value);
    case OPTION_INCLUDE:
        return add_word(&a->includes, value);
    case OPTION_DRIVER:
        a->driver = value;
        return true;
    case OPTION_HELP:
        a->action = ARGS_HELP;
        return true;
    case OPTION_VERSION:
        a->action = ARGS_VERSION;
        return true;
    case OPTION_COUNT:
        break;
    }
    return false;
}

/// The option that a word is, with its value where it stands in the same word ("-DX", "--ranks=2").
static option_id find_option(const char *word, const char **value)
{
    *value = NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        size_t len = strlen(rows[i].spelling);
        if (strncmp(word, rows[i].spelling, len) != 0)
            continue;
        const char *rest = word + len;
        if (!*rest)
            return (option_id)i;
        if (!rows[i].argument || (word[1] == '-' && *rest != '='))
            continue;
        *value = word[1] == '-' ? rest + 1 : rest;
        return (option_id)i;
    }
    return OPTION_COUNT;
}

/// A word that is no option: the file, then a kernel or NAME=VALUE.
static bool take_word(args *a, const char *word, char *problem)
{
    if (!a->file)
        a->file = word;
    else if (strchr(word, '=') && add_pair(&a->values, word))
        return true;
    else if (!strchr(word, '=') && !a->kernel)
        a->kernel = word;
    else {
        snprintf(problem, ARGS_PROBLEM, "what is '%s'? After the file come one kernel's name and NAME=VALUE",
                 word);
        return false;
    }
    return true;
}

static bool take_option(args *a, int argc, char **argv, int *at, char *problem)
{
    const char *word = argv[*at], *value;
    option_id id = find_option(word, &value);
    if (id == OPTION_COUNT) {
        snprintf(problem, ARGS_PROBLEM, "there is no option '%s'", word);
        return false;
    }
    if (rows[id].argument && rows[id].argument[0] != '[' && !value) {
        if (*at + 1 >= argc) {
            snprintf(problem, ARGS_PROBLEM, "'%s' wants an argument: %s", word, rows[id].argument);
            return false;
        }
        value = argv[++*at];
    }
    if (take(a, id, value ? value : ""))
        return true;
    snprintf(problem, ARGS_PROBLEM, "'%s' cannot be '%s': %s", rows[id].spelling, value, rows[id].help);
    return false;
}

static bool finish(args *a, char *problem)
{
    if (a->action == ARGS_RUN && !a->file)
        snprintf(problem, ARGS_PROBLEM, "no file: give a .pk or .ptx file");
    else if (a->n_devices && a->ranks && a->n_devices != a->ranks)
        snprintf(problem, ARGS_PROBLEM, "--devices lists %d devices for %d ranks", a->n_devices, a->ranks);
    else if (a->check && a->backend == PKRT_BACKEND_CUDA)
        snprintf(problem, ARGS_PROBLEM, "--check is of the simulator: leave --backend out, or give sim");
    else {
        if (a->check)
            a->backend = PKRT_BACKEND_SIM;
        if (!a->ranks)
            a->ranks = a->n_devices ? a->n_devices : 1;
        return true;
    }
    return false;
}

bool args_parse(args *out, int argc, char **argv, char *problem)
{
    *out = (args){.launches = 1, .seed = 1};
    problem[0] = 0;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' ? !take_option(out, argc, argv, &i, problem)
                              : !take_word(out, argv[i], problem))
            return false;
    return finish(out, problem);
}

void args_free(args *a)
{
    free(a->values.items);
    free(a->in.items);
    free(a->out.items);
    free(a->fill.items);
    free(a->defines.items);
    free(a->includes.items);
    free(a->devices);
}

// ---- help ----------------------------------------------------------------------------------------------

void args_help(FILE *to)
{
    enum { COLUMN = 22 };
    fputs("usage: pkrun FILE.pk|FILE.ptx [KERNEL] [NAME=VALUE ...] [OPTION ...]\n"
          "Compiles a kernel where that is needed, runs it on any number of ranks, and says what came out.\n"
          "NAME=VALUE gives a named dimension or a scalar parameter its value.\n\n",
          to);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &rows[i];
        const char *between = row->argument && row->argument[0] != '[' ? " " : "";
        int used = fprintf(to, "  %s%s%s", row->spelling, between, row->argument ? row->argument : "");
        fprintf(to, "%*s%s\n", used < COLUMN ? COLUMN - used : 1, "", row->help);
    }
    fputs("\nfillings:\n", to);
#define PKRUN_FILL(id, spelling, help) fprintf(to, "  %-20s%s\n", spelling, help);
#include "run/fills.def"
#undef PKRUN_FILL
    fputs("\nTensors that the kernel writes are poisoned before the first launch where neither --in nor "
          "--fill names them,\n"
          "and an element that still holds the poison at the end is reported.\n"
          "Exit status: 0 when all is well, 1 when something is wrong with the program or the run, 2 for "
          "wrong usage.\n",
          to);
}
