// SPDX-License-Identifier: Apache-2.0
// Runs a kernel of cases.def over rank counts, sizes, machines and schedules, several launches in a row on
// poisoned outputs, against its float64 reference.
//   kernel_sweep KERNEL [--backend sim|cuda] [--ranks 1,2,8] [--launches N] [--full] [--seed S] [--only STEP]
// Without --full the combinations rotate so that every value occurs (plan.h). A shape that the kernel cannot
// take must be refused with a message that names the size and the nearest one that works, and the kernel must
// run at that one. Every failure prints the options that run its combination alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "host.h"
#include "plan.h"
#include "run.h"

#define CASE(name, file, module, defines) extern const kernel_case case_##name;
#include "cases.def"
#undef CASE

static const kernel_case *const cases[] = {
#define CASE(name, file, module, defines) &case_##name,
#include "cases.def"
#undef CASE
};

typedef struct tally {
    int run, refused, failed, launches;
} tally;

/// One setting at work.
typedef struct sweep {
    const plan_options *options;
    plan_setting setting;
    const kernel_case *k;
    pkrt_context *ctx;
    pkrt_module *module;
    tally t;
} sweep;

static void describe(const sweep *s, const case_run *run)
{
    printf("%s, %d ranks", s->k->name, s->setting.ranks);
    for (int i = 0; i < CASE_AXES && s->k->axes[i].name; i++)
        printf(", %s = %lld", s->k->axes[i].name, (long long)run->values[i]);
}

/// The rank list stays whole: where a combination stands in it decides on its machine and schedule.
static void print_again(const sweep *s, long step)
{
    const plan_options *o = s->options;
    printf("  again: kernel_sweep %s --backend %s --seed %llu%s --only %ld --ranks ", s->k->name, o->backend,
           (unsigned long long)o->seed, o->full ? " --full" : "", step);
    for (int i = 0; i < o->n_ranks; i++)
        printf("%s%d", i ? "," : "", o->ranks[i]);
    putchar('\n');
}

static void fail(sweep *s, const case_run *run, long step, const char *why)
{
    printf("FAILED ");
    describe(s, run);
    printf(": %s\n", why);
    print_again(s, step);
    s->t.failed++;
}

// ---- one combination -----------------------------------------------------------------------------------

/// Sets the number of communication SMs: 1, 2, a quarter, half. A count that leaves a group without workers
/// must be refused, by the call that sets it or by the launch, with the kernel's name in the message.
static bool set_comm(sweep *s, case_run *run, long step)
{
    int sms = pkrt_kernel_sms(run->kernel);
    const int64_t wrong[] = {0, -1, sms};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pkrt_status status = pkrt_kernel_set(run->kernel, s->k->comm, wrong[i], 0);
        if (status == PKRT_OK)
            status = pkrt_kernel_launch(run->kernel, NULL);
        if (status != PKRT_NO_ROOM || !strstr(pkrt_last_error(s->ctx), "group")) {
            fail(s, run, step, "a group without workers was not refused");
            return false;
        }
    }
    const int counts[] = {1, 2, sms / 4, sms / 2};
    int n = counts[(step + step / 4) % 4];
    n = n < 1 ? 1 : n > sms / 2 ? sms / 2 : n;
    run_check(s->ctx, pkrt_kernel_set(run->kernel, s->k->comm, n, 0), "setting the communication SMs");
    return true;
}

/// All launches but the last two are compared one by one. The last two follow each other without the host in
/// between, where they do not work in place.
static bool launch_all(sweep *s, case_run *run)
{
    bool ok = true;
    for (int left = s->options->launches; ok && left > 0;) {
        int n = left == 2 && !case_in_place(run) ? 2 : 1;
        case_refill(run);
        for (int i = 0; i < n; i++)
            run_check(s->ctx, pkrt_kernel_launch(run->kernel, NULL), "launching");
        run_check(s->ctx, pkrt_context_synchronize(s->ctx), "running");
        ok = case_right(run);
        left -= n;
        s->t.launches += n;
    }
    return ok;
}

/// A refusal must say "got NAME = VALUE; the nearest NAME that works is OTHER"; gives that combination.
static bool nearest(const sweep *s, pkrt_status status, int64_t *values)
{
    const char *why = pkrt_last_error(s->ctx), *at = strstr(why, "the nearest ");
    char name[32];
    long long value;
    if (status != PKRT_BAD_SHAPE || !strstr(why, pkrt_module_kernel_name(s->module, 0)) ||
        !strstr(why, "got ") || !at || sscanf(at, "the nearest %31s that works is %lld", name, &value) != 2)
        return false;
    for (int i = 0; i < CASE_AXES && s->k->axes[i].name; i++)
        if (strcmp(s->k->axes[i].name, name) == 0 && values[i] != value) {
            values[i] = value;
            return true;
        }
    return false;
}

static case_run new_run(const sweep *s, long step)
{
    return (case_run){.kernel_case = s->k,
                      .ctx = s->ctx,
                      .module = s->module,
                      .ranks = s->setting.ranks,
                      .seed = s->options->seed + (uint64_t)step * 1000003};
}

static void run_combination(sweep *s, long step)
{
    case_run run = new_run(s, step);
    plan_values(s->options, s->k, step, run.values);
    pkrt_status status = s->k->prepare(&run);
    for (int i = 0; status != PKRT_OK && i < CASE_AXES && nearest(s, status, run.values); i++) {
        case_run again = new_run(s, step);
        memcpy(again.values, run.values, sizeof run.values);
        s->t.refused++;
        case_free(&run);
        run = again;
        status = s->k->prepare(&run);
    }
    if (status != PKRT_OK)
        fail(s, &run, step, pkrt_last_error(s->ctx));
    else if ((!s->k->comm || set_comm(s, &run, step)) && !launch_all(s, &run))
        fail(s, &run, step, "wrong result");
    s->t.run++;
    case_free(&run);
}

// ---- one setting, in a process of its own --------------------------------------------------------------

static void put_setting(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    setenv(name, text, 1);
}

/// The simulator reads these when its driver starts.
static void set_machine(const plan_setting *p)
{
    put_setting("PKSIM_SMS", p->sms);
    put_setting("PKSIM_DEVICES", p->devices);
    put_setting("PKSIM_SEED", p->seed);
    put_setting("PKSIM_LATE", p->late);
    unsetenv("PKSIM_STRAGGLER");
    if (p->straggler >= 0)
        put_setting("PKSIM_STRAGGLER", p->straggler);
}

static tally run_setting(sweep *s)
{
    pkrt_context_options options = PKRT_CONTEXT_OPTIONS_INIT;
    bool sim = strcmp(s->options->backend, "sim") == 0;
    options.ranks = s->setting.ranks;
    options.backend = sim ? PKRT_BACKEND_SIM : PKRT_BACKEND_CUDA;
    options.multicast = s->setting.multicast ? PKRT_MULTICAST_REQUIRE : PKRT_MULTICAST_NEVER;
    if (sim)
        set_machine(&s->setting);
    run_check(s->ctx, pkrt_context_create(&s->ctx, &options), "opening a context");
    run_check(s->ctx, pkrt_module_load(s->ctx, &s->module, s->k->text, s->k->length), "loading the module");
    for (long i = 0; i < s->setting.count; i++)
        if (s->options->only < 0 || s->options->only == s->setting.first + i)
            run_combination(s, s->setting.first + i);
    pkrt_context_destroy(s->ctx);
    return s->t;
}

static void print_setting(const plan_options *o, const plan_setting *p)
{
    printf("%d ranks", p->ranks);
    if (strcmp(o->backend, "sim") == 0)
        printf(" on %d devices of %d SMs%s, schedule seed %d%s", p->devices, p->sms,
               p->multicast ? " with multicast" : "", p->seed, p->late ? ", late copies" : "");
    if (p->straggler >= 0)
        printf(", device %d slow", p->straggler);
    printf(": combinations %ld to %ld\n", p->first, p->first + p->count - 1);
    fflush(stdout);
}

/// What a child tells its parent. A child that ends in another way has failed.
static tally in_child(sweep *s)
{
    int ends[2];
    tally t = {.failed = 1};
    if (pipe(ends) != 0)
        return t;
    pid_t child = fork();
    if (child == 0) {
        t = run_setting(s);
        fflush(stdout);
        _exit(write(ends[1], &t, sizeof t) != sizeof t);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &t, sizeof t) != sizeof t) {
        t = (tally){.failed = 1};
        printf("FAILED: the process of this setting ended early\n");
    }
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return t;
}

static bool wanted(const plan_options *o, const plan_setting *p)
{
    return p->count > 0 && (o->only < 0 || (o->only >= p->first && o->only < p->first + p->count));
}

static tally run_all(const plan_options *o, const kernel_case *k)
{
    tally all = {0};
    plan_setting p;
    for (int i = 0; plan_setting_at(o, k, i, &p); i++) {
        if (!wanted(o, &p))
            continue;
        print_setting(o, &p);
        sweep s = {.options = o, .setting = p, .k = k};
        tally t = in_child(&s);
        all.run += t.run;
        all.refused += t.refused;
        all.failed += t.failed;
        all.launches += t.launches;
    }
    return all;
}

// ---- the command line ----------------------------------------------------------------------------------

static bool parse_ranks(const char *text, plan_options *o)
{
    char *end;
    for (o->n_ranks = 0; o->n_ranks < PLAN_MAX_RANKS; text = end + 1) {
        o->ranks[o->n_ranks++] = (int)strtol(text, &end, 10);
        if (end == text || o->ranks[o->n_ranks - 1] < 1 || (*end && *end != ','))
            return false;
        if (!*end)
            return true;
    }
    return false;
}

static bool parse_value(const char *option, const char *value, plan_options *o)
{
    if (strcmp(option, "--ranks") == 0)
        return parse_ranks(value, o);
    if (strcmp(option, "--backend") == 0) {
        o->backend = value;
        return strcmp(value, "sim") == 0 || strcmp(value, "cuda") == 0;
    }
    char *end;
    long long v = strtoll(value, &end, 10);
    if (end == value || *end || v < 0)
        return false;
    if (strcmp(option, "--seed") == 0)
        o->seed = (uint64_t)v;
    else if (strcmp(option, "--launches") == 0)
        o->launches = (int)v;
    else if (strcmp(option, "--only") == 0)
        o->only = (long)v;
    else
        return false;
    return true;
}

static bool parse(int argc, char **argv, plan_options *o)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--full") == 0)
            o->full = true;
        else if (argv[i][0] != '-' && !o->kernel)
            o->kernel = argv[i];
        else if (i + 1 < argc && parse_value(argv[i], argv[i + 1], o))
            i++;
        else
            return false;
    }
    return o->kernel != NULL;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: kernel_sweep KERNEL [--backend sim|cuda] [--ranks 1,2,8] [--launches N] [--full]\n"
            "                    [--seed S] [--only STEP]\nkernels:");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        fprintf(stderr, " %s", cases[i]->name);
    fputc('\n', stderr);
    return 2;
}

int main(int argc, char **argv)
{
    plan_options o = {
        .backend = "sim", .ranks = {1, 2, 3, 4, 5, 8}, .n_ranks = 6, .launches = 5, .only = -1, .seed = 1};
    const kernel_case *k = NULL;
    bool parsed = parse(argc, argv, &o);
    for (size_t i = 0; parsed && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i]->name, o.kernel) == 0)
            k = cases[i];
    if (!k)
        return usage();
    printf("seed %llu\n", (unsigned long long)o.seed);
    double start = host_seconds();
    tally t = run_all(&o, k);
    printf("%s: %d combinations, %d launches, %d refused at first, %d failed, %.1f s\n", k->name, t.run,
           t.launches, t.refused, t.failed, host_seconds() - start);
    return t.failed != 0 || t.run == 0;
}
