// SPDX-License-Identifier: Apache-2.0
// Every example at many rank counts and shapes on the simulator (or a GPU), three launches in a row, against
// a float64 reference.
//   kernel_sweep KERNEL [--backend sim|cuda] [--ranks 1,2,8] [--full] [--seed S]
// Without --full: every size at least once and every pair of neighbouring sizes; with it: all combinations. A
// shape that the kernel cannot take must be refused with a message that names the size and the nearest one
// that works, and the kernel must run at that one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "all_gather.pk.h"
#include "gemm.pk.h"
#include "gemm_rs.pk.h"
#include "gemm_rs_clear.pk.h"
#include "host.h"
#include "run.h"
#include "scale.pk.h"

static const int64_t sizes[] = {8, 64, 100, 128, 130, 256, 1000};
enum { SIZES = sizeof sizes / sizeof sizes[0], LAUNCHES = 3, MAX_RANKS = 16 };

typedef struct sweep {
    pkrt_context *ctx;
    pkrt_module *module;
    int ranks;
    uint64_t seed;
    int64_t d[3]; // M or R, N, K
    int run, refused, failed;
} sweep;

/// Tensors, the kernel and what rank r's output should be.
typedef struct test_case {
    pkrt_tensor *tensors[3];
    int n_tensors;
    pkrt_tensor *output;
    pkrt_kernel *kernel;
    double *want; // ranks * count
    size_t count;
    double tolerance;
} test_case;

typedef struct kernel_row {
    const char *name;
    const char *text;
    size_t length;
    int n_dims;
    pkrt_status (*prepare)(sweep *s, test_case *c);
} kernel_row;

static float *normal(sweep *s, size_t n)
{
    float *x = malloc((n + 1) * sizeof *x);
    host_normal_bf16(x, n, &s->seed);
    return x;
}

static pkrt_tensor *input(sweep *s, test_case *c, int n_dims, const int64_t *dims, const float *x)
{
    pkrt_tensor *t = run_tensor(s->ctx, PKRT_BF16, n_dims, dims, 0, x);
    return c->tensors[c->n_tensors++] = t;
}

static pkrt_tensor *output(sweep *s, test_case *c, int n_dims, const int64_t *dims, unsigned flags)
{
    c->output = c->tensors[c->n_tensors++] = run_tensor(s->ctx, PKRT_BF16, n_dims, dims, flags, NULL);
    c->count = (size_t)pkrt_tensor_count(c->output);
    c->want = calloc((size_t)s->ranks * c->count + 1, sizeof *c->want);
    return c->output;
}

// ---- the kernels ---------------------------------------------------------------------------------------

static pkrt_status prepare_scale(sweep *s, test_case *c)
{
    int64_t dims[] = {s->d[0], s->d[1]};
    size_t n = (size_t)(dims[0] * dims[1]);
    float *x = normal(s, (size_t)s->ranks * n);
    scale_args args = {.X = input(s, c, 2, dims, x), .Y = output(s, c, 2, dims, 0), .a = 0.75f};
    for (size_t i = 0; i < (size_t)s->ranks * n; i++)
        c->want[i] = (double)args.a * x[i];
    free(x);
    c->tolerance = 1e-2;
    return scale_bind(s->module, &c->kernel, &args);
}

static pkrt_status prepare_all_gather(sweep *s, test_case *c)
{
    size_t m = (size_t)s->d[0], n = (size_t)s->d[1], ranks = (size_t)s->ranks;
    float *x = normal(s, ranks * m * n);
    all_gather_args args = {.X = input(s, c, 2, (int64_t[]){s->d[0], s->d[1]}, x),
                            .Y = output(s, c, 3, (int64_t[]){s->d[0], s->ranks, s->d[1]}, PKRT_SYMMETRIC)};
    for (size_t r = 0; r < ranks; r++)
        for (size_t i = 0; i < m; i++)
            for (size_t o = 0; o < ranks; o++)
                for (size_t j = 0; j < n; j++)
                    c->want[((r * m + i) * ranks + o) * n + j] = x[(o * m + i) * n + j];
    free(x);
    return all_gather_bind(s->module, &c->kernel, &args);
}

static pkrt_status prepare_gemm(sweep *s, test_case *c)
{
    size_t m = (size_t)s->d[0], n = (size_t)s->d[1], k = (size_t)s->d[2];
    float *a = normal(s, (size_t)s->ranks * m * k), *b = normal(s, (size_t)s->ranks * k * n);
    gemm_args args = {.A = input(s, c, 2, (int64_t[]){s->d[0], s->d[2]}, a),
                      .B = input(s, c, 2, (int64_t[]){s->d[2], s->d[1]}, b),
                      .C = output(s, c, 2, (int64_t[]){s->d[0], s->d[1]}, 0)};
    for (size_t r = 0; r < (size_t)s->ranks; r++)
        host_gemm(c->want + r * m * n, a + r * m * k, b + r * k * n, m, n, k);
    free(a);
    free(b);
    c->tolerance = 1e-2;
    return gemm_bind(s->module, &c->kernel, &args);
}

/// Tensors of both forms of gemm_rs.
static gemm_rs_args gemm_rs_tensors(sweep *s, test_case *c)
{
    size_t rows = (size_t)s->d[0], n = (size_t)s->d[1], k = (size_t)s->d[2], ranks = (size_t)s->ranks;
    float *a = normal(s, ranks * ranks * rows * k), *b = normal(s, ranks * k * n);
    gemm_rs_args args = {.A = input(s, c, 3, (int64_t[]){s->ranks, s->d[0], s->d[2]}, a),
                         .B = input(s, c, 2, (int64_t[]){s->d[2], s->d[1]}, b),
                         .C = output(s, c, 2, (int64_t[]){s->d[0], s->d[1]}, PKRT_SYMMETRIC)};
    for (size_t r = 0; r < ranks; r++)
        host_gemm(c->want, a + r * ranks * rows * k, b + r * k * n, ranks * rows, n, k);
    free(a);
    free(b);
    c->tolerance = 1e-2;
    return args;
}

static pkrt_status prepare_gemm_rs(sweep *s, test_case *c)
{
    gemm_rs_args args = gemm_rs_tensors(s, c);
    return gemm_rs_bind(s->module, &c->kernel, &args);
}

static pkrt_status prepare_gemm_rs_clear(sweep *s, test_case *c)
{
    gemm_rs_args t = gemm_rs_tensors(s, c);
    gemm_rs_clear_args args = {.A = t.A, .B = t.B, .C = t.C};
    return gemm_rs_clear_bind(s->module, &c->kernel, &args);
}

static const kernel_row kernels[] = {
    {"scale", scale_pk, sizeof scale_pk - 1, 2, prepare_scale},
    {"all_gather", all_gather_pk, sizeof all_gather_pk - 1, 2, prepare_all_gather},
    {"gemm", gemm_pk, sizeof gemm_pk - 1, 3, prepare_gemm},
    {"gemm_rs", gemm_rs_pk, sizeof gemm_rs_pk - 1, 3, prepare_gemm_rs},
    {"gemm_rs_clear", gemm_rs_clear_pk, sizeof gemm_rs_clear_pk - 1, 3, prepare_gemm_rs_clear},
};

// ---- one case ------------------------------------------------------------------------------------------

static void free_case(test_case *c)
{
    pkrt_kernel_destroy(c->kernel);
    for (int i = 0; i < c->n_tensors; i++)
        pkrt_tensor_destroy(c->tensors[i]);
    free(c->want);
}

static bool launch_and_compare(sweep *s, test_case *c)
{
    bool ok = true;
    double worst = 0;
    for (int l = 0; l < LAUNCHES; l++) {
        run_poison(s->ctx, c->output);
        run_launch(s->ctx, c->kernel);
        for (int r = 0; r < s->ranks; r++)
            ok &= run_compare(s->ctx, c->output, r, c->want + (size_t)r * c->count, c->tolerance, &worst);
    }
    return ok;
}

static void fail(sweep *s, const kernel_row *k, const char *why)
{
    printf("FAILED %s, %d ranks, %lld x %lld x %lld: %s\n", k->name, s->ranks, (long long)s->d[0],
           (long long)s->d[1], (long long)s->d[2], why);
    s->failed++;
}

/// A refusal must say "got NAME = VALUE; the nearest NAME that works is OTHER".
static void check_refusal(sweep *s, const kernel_row *k, pkrt_status status)
{
    const char *why = pkrt_last_error(s->ctx);
    bool clear = status == PKRT_BAD_SHAPE && strstr(why, k->name) && strstr(why, "got ") &&
                 strstr(why, "that works is ");
    s->refused++;
    if (!clear)
        fail(s, k, why);
}

static void run_case(sweep *s, const kernel_row *k)
{
    test_case c = {0};
    pkrt_status status = k->prepare(s, &c);
    if (status != PKRT_OK) {
        check_refusal(s, k, status);
    } else {
        s->run++;
        if (!launch_and_compare(s, &c))
            fail(s, k, "wrong result");
    }
    free_case(&c);
}

// ---- all cases -----------------------------------------------------------------------------------------

/// Whether the combination is one of those of a short run: sizes shifted against each other by a number that
/// grows with the rank count.
static bool chosen(bool full, int ranks, int i, int j, int l)
{
    return full || ((j == (i + ranks) % SIZES) && (l == (i + 2 * ranks) % SIZES));
}

static void run_rank_count(sweep *s, const kernel_row *k, const char *backend, bool full)
{
    host_args args = {.ranks = s->ranks, .backend = backend};
    s->ctx = run_open(&args);
    run_check(s->ctx, pkrt_module_load(s->ctx, &s->module, k->text, k->length), "loading the module");
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++)
            for (int l = 0; l < (k->n_dims == 3 ? SIZES : 1); l++)
                if (chosen(full, s->ranks, i, j, k->n_dims == 3 ? l : (i + 2 * s->ranks) % SIZES)) {
                    memcpy(s->d, (int64_t[]){sizes[i], sizes[j], k->n_dims == 3 ? sizes[l] : 0}, sizeof s->d);
                    run_case(s, k);
                }
    pkrt_context_destroy(s->ctx);
}

typedef struct options {
    const char *kernel, *backend;
    int ranks[MAX_RANKS], n_ranks;
    bool full;
    uint64_t seed;
} options;

static bool parse_ranks(const char *text, options *o)
{
    char *end;
    for (o->n_ranks = 0; o->n_ranks < MAX_RANKS; text = end + 1) {
        o->ranks[o->n_ranks++] = (int)strtol(text, &end, 10);
        if (end == text || o->ranks[o->n_ranks - 1] < 1 || (*end && *end != ','))
            return false;
        if (!*end)
            return true;
    }
    return false;
}

static bool parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        bool value = i + 1 < argc;
        if (strcmp(argv[i], "--full") == 0)
            o->full = true;
        else if (strcmp(argv[i], "--backend") == 0 && value)
            o->backend = argv[++i];
        else if (strcmp(argv[i], "--seed") == 0 && value)
            o->seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--ranks") == 0 && value && parse_ranks(argv[i + 1], o))
            i++;
        else if (argv[i][0] != '-' && !o->kernel)
            o->kernel = argv[i];
        else
            return false;
    }
    return o->kernel != NULL;
}

int main(int argc, char **argv)
{
    options o = {.backend = "sim", .ranks = {1, 2, 3, 4, 8}, .n_ranks = 5, .seed = 1};
    const kernel_row *k = NULL;
    bool parsed = parse(argc, argv, &o);
    for (size_t i = 0; parsed && i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, o.kernel) == 0)
            k = &kernels[i];
    if (!k) {
        fprintf(
            stderr,
            "usage: kernel_sweep scale|all_gather|gemm|gemm_rs|gemm_rs_clear [--backend sim|cuda] [--ranks "
            "1,2,8] [--full] [--seed S]\n");
        return 2;
    }
    sweep s = {.seed = o.seed};
    printf("seed %llu\n", (unsigned long long)o.seed);
    for (int i = 0; i < o.n_ranks; i++) {
        s.ranks = o.ranks[i];
        run_rank_count(&s, k, o.backend, o.full);
    }
    printf("%s: %d shapes run %d times each, %d refused, %d failed\n", k->name, s.run, LAUNCHES, s.refused,
           s.failed);
    return s.failed != 0 || s.run == 0;
}
