// SPDX-License-Identifier: Apache-2.0
// The programs of programs.def, wrong and corrected. A wrong one is flagged with the right code and pair of
// lines under every schedule tried; a corrected one is silent under more.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LINES = 40, TEXT = 16384, WRONG_SEEDS = 5, RIGHT_SEEDS = 100 };

struct program {
    const char *name, *code;
    uint32_t ranks, threads, launches;
    const char *lines[MAX_LINES];
};

static const struct program programs[] = {
#define RACE(name, code, ranks, threads, launches, ...)                                                      \
    {#name, code, ranks, threads, launches, {__VA_ARGS__}},
#include "programs.def"
};

static const char prologue[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 rank, .param .u32 launch)\n{\n"
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .f32 %f<9>;\n"
    ".reg .b32 %t, %R, %N, %s, %l; .reg .b64 %A, %B; .shared .align 1024 .b8 mem[4096];\n"
    "ld.param.u64 %A, [a]; ld.param.u64 %B, [b]; ld.param.u32 %R, [rank]; ld.param.u32 %N, [launch];\n"
    "cvta.to.global.u64 %A, %A; cvta.to.global.u64 %B, %B; mov.u32 %t, %tid.x; mov.u32 %s, mem;\n"
    "shl.b32 %l, %t, 2; add.u32 %l, %l, %s;\n";
enum { FIRST_LINE = 11 };

// The text of one form; lines[k] is where mark k stands.
static void build(const struct program *p, bool wrong, char *text, uint32_t lines[2])
{
    size_t used = (size_t)snprintf(text, TEXT, "%s", prologue);
    lines[0] = lines[1] = 0;
    for (uint32_t i = 0; i < MAX_LINES && p->lines[i]; i++) {
        const char *line = p->lines[i], *mark = strchr(line, '>');
        bool mine = line[0] == '-' ? wrong : line[0] == '+' ? !wrong : true;
        const char *code = line + (line[0] == '-' || line[0] == '+');
        if (mark && mark < line + 4) {
            for (const char *c = code; mine && c < mark; c++)
                lines[*c - '1'] = FIRST_LINE + i;
            code = mark + 1;
        }
        used += (size_t)snprintf(text + used, TEXT - used, "%s\n", mine ? code : "");
    }
    snprintf(text + used, TEXT - used, "end: ret;\n}\n");
}

struct params {
    uint64_t a, b;
    uint32_t rank, launch;
};

// Launches of a rank follow each other; nothing else orders them.
static void run_program(const struct program *p, const char *text, uint64_t seed, struct pksim_fault *fault)
{
    struct rig rig;
    struct pksim_before *before[2] = {NULL, NULL};
    static const unsigned char zeros[4096];
    rig_open(&rig, p->ranks, text);
    rig.config.seed = seed;
    rig.config.late = seed % 2;
    rig.config.no_init_check = true;
    rig.config.check = pksim_check_create();
    struct params params = {rig_upload(&rig, 0, zeros, sizeof zeros),
                            rig_upload(&rig, 0, zeros, sizeof zeros), 0, 0};
    struct pksim_exec *exec = pksim_exec_create(&rig.config);
    *fault = (struct pksim_fault){0};
    for (params.launch = 0; params.launch < p->launches && !pksim_exec_fault(exec); params.launch++) {
        uint64_t ids[2];
        for (params.rank = 0; params.rank < p->ranks; params.rank++) {
            struct pksim_launch launch =
                rig_launch(&rig, "k", params.rank, 1, p->threads, &params, sizeof params);
            launch.after = before[params.rank];
            assert_int_equal(pksim_exec_add(exec, &launch, &ids[params.rank]), PKSIM_LAUNCH_OK);
        }
        if (pksim_exec_run(exec, 0) == PKSIM_EXEC_STALLED)
            pksim_exec_deadlock(exec);
        for (uint32_t r = 0; r < p->ranks; r++)
            before[r] = pksim_before_join(before[r], pksim_exec_before(exec, ids[r]));
    }
    if (pksim_exec_fault(exec))
        *fault = *pksim_exec_fault(exec);
    pksim_exec_free(exec);
    for (uint32_t r = 0; r < 2; r++)
        pksim_before_release(before[r]);
    pksim_check_destroy(rig.config.check);
    rig_close(&rig);
}

static void check_wrong(const struct program *p)
{
    char text[TEXT], report[6000];
    uint32_t lines[2];
    struct pksim_fault fault;
    build(p, true, text, lines);
    if (!rig_assembles(text))
        fail_msg("%s: ptxas refuses the wrong form", p->name);
    for (uint64_t seed = 1; seed <= WRONG_SEEDS; seed++) {
        run_program(p, text, seed, &fault);
        pksim_fault_format(&fault, report, sizeof report);
        uint32_t here = fault.ptx_line, there = fault.other.ptx_line;
        bool pair = (here == lines[0] && there == lines[1]) || (here == lines[1] && there == lines[0]);
        if (fault.kind != PKSIM_FAULT_RACE || !pair || !fault.code[0] || !strstr(p->code, fault.code))
            fail_msg("%s, wrong form, seed %d: %s at lines %u and %u expected, got\n%s", p->name, (int)seed,
                     p->code, lines[0], lines[1], report);
    }
}

static void check_right(const struct program *p)
{
    char text[TEXT], report[6000];
    uint32_t lines[2];
    struct pksim_fault fault;
    build(p, false, text, lines);
    if (!rig_assembles(text))
        fail_msg("%s: ptxas refuses the corrected form", p->name);
    for (uint64_t seed = 1; seed <= RIGHT_SEEDS; seed++) {
        run_program(p, text, seed, &fault);
        pksim_fault_format(&fault, report, sizeof report);
        if (fault.kind != PKSIM_FAULT_NONE)
            fail_msg("%s, corrected form, seed %d: %s", p->name, (int)seed, report);
    }
}

static void test_program(void **state)
{
    const struct program *p = *state;
    check_wrong(p);
    check_right(p);
}

int main(void)
{
    struct CMUnitTest tests[sizeof programs / sizeof *programs];
    size_t count = sizeof programs / sizeof *programs;
    for (size_t i = 0; i < count; i++)
        tests[i] =
            (struct CMUnitTest){programs[i].name, test_program, NULL, NULL, (void *)(uintptr_t)&programs[i]};
    return _cmocka_run_group_tests("races", tests, count, NULL, NULL);
}
