// SPDX-License-Identifier: Apache-2.0
// The command line of pkrun as data.
#ifndef PKRUN_ARGS_H
#define PKRUN_ARGS_H

#include <pkrt/pkrt.h>
#include <stdio.h>

typedef enum args_action { ARGS_RUN, ARGS_HELP, ARGS_VERSION } args_action;

/// NAME=VALUE, pointing into the command line; `len` is the name's length.
typedef struct args_pair {
    const char *name, *value;
    size_t len;
} args_pair;

typedef struct args_pairs {
    args_pair *items;
    int n;
} args_pairs;

typedef struct args_words {
    const char **items;
    int n;
} args_words;

typedef struct args {
    args_action action;
    const char *file, *kernel; // kernel NULL: the only one
    args_pairs values;         // named dimensions and scalar parameters
    args_pairs in, out, fill;  // by parameter
    args_words defines, includes;
    int ranks, launches;
    int *devices, n_devices; // none: dealt over all
    uint64_t seed;
    pkrt_backend backend;
    const char *driver;
    pkrt_multicast multicast;
    const char *check; // what the simulator looks for; NULL: what costs nothing
    bool time, json;
} args;

enum { ARGS_PROBLEM = 400 };

/// Parses the command line. False: `problem` (ARGS_PROBLEM bytes) says what is wrong with it. args_free in
/// every case.
bool args_parse(args *out, int argc, char **argv, char *problem);
void args_free(args *a);
void args_help(FILE *to);

/// The last pair of that name, NULL where there is none.
const args_pair *args_find(const args_pairs *pairs, const char *name);
/// Whole numbers and numbers, the whole text of them.
bool args_whole(const char *text, int64_t *out);
bool args_number(const char *text, double *out);

#endif
