// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool usage(const char *program, const host_args *args, const char *wrong)
{
    fprintf(stderr, "%s: cannot use '%s'\n", program, wrong);
    fprintf(stderr,
            "usage: %s [--ranks N] [--backend auto|cuda|sim] [--multicast never|auto|require] [--launches K] "
            "[--seed S]",
            program);
    for (int i = 0; i < HOST_MAX_DIMS && args->dims[i].name; i++)
        fprintf(stderr, " [%s=%lld]", args->dims[i].name, (long long)args->dims[i].value);
    fputc('\n', stderr);
    return false;
}

/// A whole number of at least `least` and below 2^31.
static bool number(const char *text, int64_t least, int64_t *out)
{
    char *end;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || v < least || v > INT32_MAX)
        return false;
    *out = v;
    return true;
}

static bool parse_dim(const char *text, host_args *args)
{
    const char *eq = strchr(text, '=');
    for (int i = 0; eq && i < HOST_MAX_DIMS && args->dims[i].name; i++) {
        const char *name = args->dims[i].name;
        if (strlen(name) == (size_t)(eq - text) && strncmp(name, text, (size_t)(eq - text)) == 0)
            return number(eq + 1, 0, &args->dims[i].value);
    }
    return false;
}

static bool one_of(const char *value, const char *a, const char *b, const char *c)
{
    return strcmp(value, a) == 0 || strcmp(value, b) == 0 || strcmp(value, c) == 0;
}

static bool parse_option(const char *option, const char *value, host_args *args)
{
    int64_t v;
    if (strcmp(option, "--backend") == 0) {
        args->backend = value;
        return one_of(value, "auto", "cuda", "sim");
    }
    if (strcmp(option, "--multicast") == 0) {
        args->multicast = value;
        return one_of(value, "never", "auto", "require");
    }
    if (!number(value, strcmp(option, "--seed") == 0 ? 0 : 1, &v))
        return false;
    if (strcmp(option, "--ranks") == 0)
        args->ranks = (int)v;
    else if (strcmp(option, "--launches") == 0)
        args->launches = (int)v;
    else if (strcmp(option, "--seed") == 0)
        args->seed = (uint64_t)v;
    else
        return false;
    return true;
}

bool host_parse(int argc, char **argv, host_args *args)
{
    for (int i = 1; i < argc; i++) {
        bool option = strncmp(argv[i], "--", 2) == 0;
        if (option && (i + 1 == argc || !parse_option(argv[i], argv[i + 1], args)))
            return usage(argv[0], args, argv[i]);
        if (!option && !parse_dim(argv[i], args))
            return usage(argv[0], args, argv[i]);
        i += option;
    }
    return true;
}

uint64_t host_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

float host_round_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7fff + ((bits >> 16) & 1);
    bits &= 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void host_normal_bf16(float *x, size_t n, uint64_t *state)
{
    const double two_pi = 6.283185307179586;
    for (size_t i = 0; i < n; i++) { // Box and Muller's transform
        double u = ((double)(host_random(state) >> 11) + 1) * 0x1p-53;
        double v = (double)(host_random(state) >> 11) * 0x1p-53;
        x[i] = host_round_bf16((float)(sqrt(-2 * log(u)) * cos(two_pi * v)));
    }
}

float *host_normal_tensor(size_t n, uint64_t *state)
{
    float *x = malloc((n + 1) * sizeof *x);
    host_normal_bf16(x, n, state);
    return x;
}

void host_gemm(double *restrict c, const float *restrict a, const float *restrict b, size_t m, size_t n,
               size_t k)
{
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k; l++) {
            double x = a[i * k + l];
            for (size_t j = 0; j < n; j++)
                c[i * n + j] += x * b[l * n + j];
        }
}

float host_poison(void)
{
    return NAN;
}

host_error host_compare(const float *got, const double *want, size_t n)
{
    host_error e = {0};
    double diff = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        norm += want[i] * want[i];
        if (isnan(got[i])) {
            e.unwritten++;
            continue;
        }
        double d = fabs(got[i] - want[i]);
        diff += d * d;
        if (d > e.worst) {
            e.worst = d;
            e.at = i;
        }
    }
    e.relative = norm > 0 ? sqrt(diff / norm) : sqrt(diff);
    return e;
}

double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
