// SPDX-License-Identifier: Apache-2.0
// pkrun: tries a kernel. Compiles where needed, fills tensors, launches, says what came out.
#include <stdlib.h>

#include "run/report.h"
#include "run/source.h"

static int run(const args *a)
{
    char *text;
    size_t len;
    job j;
    source_status loaded = source_load(a, &text, &len);
    if (loaded != SOURCE_OK)
        return loaded == SOURCE_WRONG ? JOB_WRONG : JOB_USAGE;
    job_status status = job_run(&j, a, text, len);
    report_print(&j, status);
    job_free(&j);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    args a;
    char problem[ARGS_PROBLEM];
    int status = JOB_OK;
    if (!args_parse(&a, argc, argv, problem)) {
        fprintf(stderr, "pkrun: %s\ntry 'pkrun --help'\n", problem);
        status = JOB_USAGE;
    } else if (a.action == ARGS_HELP) {
        args_help(stdout);
    } else if (a.action == ARGS_VERSION) {
        printf("pkrun %s\n", pkrt_version());
    } else {
        status = run(&a);
    }
    args_free(&a);
    return status;
}
