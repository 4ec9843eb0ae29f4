// SPDX-License-Identifier: Apache-2.0
// What is wrong with a kernel is said, with the place in the PTX and in the source.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Runs the statements (line 20 on of the PTX) with 32 threads and expects that fault, with `words` in its
// text.
static void expect_fault(const char *body, enum pksim_fault_kind kind, const char *words)
{
    struct rig rig;
    char text[5000];
    rig_open_kernel(&rig, body);
    rig.config.max_steps = 1000000;
    uint64_t address = rig_alloc(&rig, 0, 128);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 32, &address, sizeof address);
    rig_run(&rig, &launch, 1);
    pksim_fault_format(&rig.fault, text, sizeof text);
    if (rig.fault.kind != kind || !strstr(text, words))
        fail_msg("expected \"%s: ... %s\", got: %s", pksim_fault_words(kind), words, text);
    assert_true(rig.fault.kind == PKSIM_FAULT_STEP_LIMIT || rig.fault.ptx_line >= 20);
    rig_close(&rig);
}

static void test_memory_faults(void **state)
{
    (void)state;
    expect_fault("st.global.u32 [%o+128], %t;", PKSIM_FAULT_OUT_OF_BOUNDS, "lane 0");
    expect_fault("st.global.u32 [%o+2], %t;", PKSIM_FAULT_MISALIGNED, "lane 0");
    expect_fault("mov.u64 %d1, 64; ld.global.u32 %r1, [%d1];", PKSIM_FAULT_OUT_OF_BOUNDS, "lane 0");
    expect_fault("ld.global.u32 %r1, [%o];", PKSIM_FAULT_UNINITIALISED, "lane 0");
    expect_fault("ld.shared.u32 %r1, [mem];", PKSIM_FAULT_UNINITIALISED, "shared address");
    expect_fault("mov.u32 %r1, mem; st.shared.u32 [%r1+4096], %t;", PKSIM_FAULT_OUT_OF_BOUNDS,
                 "outside shared memory");
    expect_fault("mov.u32 %r1, 0; st.shared.u32 [%r1], %t;", PKSIM_FAULT_OUT_OF_BOUNDS,
                 "outside shared memory");
    expect_fault(".local .b8 frame[16]; mov.u64 %d1, frame; st.local.u32 [%d1+16], %t;",
                 PKSIM_FAULT_OUT_OF_BOUNDS, "local");
    expect_fault("atom.global.add.u32 %r1, [%o], 1;", PKSIM_FAULT_UNINITIALISED, "lane 0");
}

static void test_misuse(void **state)
{
    (void)state;
    expect_fault("trap;", PKSIM_FAULT_TRAP, "lane 0");
    expect_fault("mov.u32 %r1, 17; bar.sync %r1;", PKSIM_FAULT_BARRIER, "barrier 17");
    expect_fault("mbarrier.arrive.shared.b64 %d1, [mem];", PKSIM_FAULT_MBARRIER, "no initialised mbarrier");
    expect_fault(
        "mov.u32 %r1, mem; mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.shared.b64 %d1, [%r1], 2;",
        PKSIM_FAULT_MBARRIER, "2 arrivals");
    expect_fault("setp.lt.u32 %p1, %t, 8; mov.u32 %r1, 0xff; @!%p1 bra END; shfl.sync.idx.b32 %r2, %t, 20, "
                 "31, %r1; END:",
                 PKSIM_FAULT_DIVERGENCE, "lane 20");
}

// CTAs so large that one fills a multiprocessor: the second half of the grid runs in the memory of the first,
// which has written there, and must find it unwritten.
static void test_memory_of_ctas_before(void **state)
{
    (void)state;
    struct rig rig;
    rig_open_kernel(&rig, "mov.u32 %r1, %ctaid.x; setp.ge.u32 %p1, %r1, 4; @%p1 ld.shared.u32 %r2, [mem]; "
                          "@!%p1 st.shared.u32 [mem], %t;");
    uint64_t address = rig_alloc(&rig, 0, 128);
    rig.config.limits.sms = 4;
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 8, 32, &address, sizeof address);
    launch.dynamic_shared = 200000;
    rig_run(&rig, &launch, 1);
    assert_int_equal(rig.fault.kind, PKSIM_FAULT_UNINITIALISED);
    assert_true(rig.fault.ctaid[0] >= 4);
    rig_close(&rig);
}

static void test_endless_loop(void **state)
{
    (void)state;
    expect_fault("L: add.u32 %r1, %r1, 1; bra L;", PKSIM_FAULT_STEP_LIMIT, "warp instructions");
}

static void test_deadlocks(void **state)
{
    (void)state;
    expect_fault("mov.u32 %r1, mem; mbarrier.init.shared.b64 [%r1+64], 1; bar.sync 0;\n"
                 "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1+64], 0; @!%p1 bra W;",
                 PKSIM_FAULT_DEADLOCK,
                 "waits for parity 0 of the mbarrier at shared address 0x440, in a phase of parity 0");
    expect_fault("bar.sync 1, 64;", PKSIM_FAULT_DEADLOCK,
                 "waits at barrier 1: 32 threads have arrived of 64");
    expect_fault("st.global.u32 [%o], 5;\nL: ld.acquire.gpu.global.u32 %r1, [%o]; setp.eq.u32 %p1, %r1, 5; "
                 "@%p1 bra L;",
                 PKSIM_FAULT_DEADLOCK, "polls in vain");
    expect_fault(
        "setp.eq.u32 %p1, %t, 0; @%p1 bra END; bar.warp.sync -1; END: @!%p1 bra OUT; bar.sync 2, 64; OUT:",
        PKSIM_FAULT_DEADLOCK, "bar.warp.sync: lanes 0xfffffffe wait for lanes 0x00000001");
}

static const char located[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .b64 %d<3>;\n.file 1 \"dir/saxpy.pk\"\n.loc 1 12 7\nld.param.u64 %d1, [out];\n.loc 1 14 "
    "3\nst.global.u32 [%d1+8], 1;\n"
    "ret;\n}\n.file 1 \"dir/saxpy.pk\"\n";

static void test_source_place(void **state)
{
    (void)state;
    struct rig rig;
    char text[1000];
    // ptxas takes .file anywhere; LLVM puts it at the end of the module.
    char *module = strdup(located);
    char *file = strstr(module, ".file");
    memmove(file, strchr(file, '\n') + 1, strlen(strchr(file, '\n') + 1) + 1);
    rig_open(&rig, 1, module);
    free(module);
    uint64_t address = rig_alloc(&rig, 0, 4);
    struct pksim_launch launch = rig_launch(&rig, "k", 0, 1, 1, &address, sizeof address);
    rig_run(&rig, &launch, 1);
    assert_string_equal(rig.fault.file, "dir/saxpy.pk");
    assert_int_equal(rig.fault.line, 14);
    assert_int_equal(rig.fault.column, 3);
    pksim_fault_format(&rig.fault, text, sizeof text);
    assert_non_null(strstr(text, "dir/saxpy.pk:14:3: out-of-bounds access"));
    rig_close(&rig);
}

// ---- Texts that are refused
// ----------------------------------------------------------------------------------------

static void expect_refused(const char *statement, const char *words)
{
    struct pksim_ptx_error error;
    char text[2000];
    snprintf(text, sizeof text,
             ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 "
             "%%r<9>;\n.reg .pred %%p<3>;\n"
             ".reg .b64 %%d<9>;\n%s\nret;\n}\n",
             statement);
    struct pksim_module *module = pksim_module_parse(text, strlen(text), &error);
    if (module || error.line != 9 || !strstr(error.text, words))
        fail_msg("%s: line %u: %s", statement, module ? 0 : error.line, module ? "was taken" : error.text);
}

static void test_refused(void **state)
{
    (void)state;
    expect_refused("frobnicate.b32 %r1, %r2;", "unknown instruction");
    expect_refused("add.q32 %r1, %r2, %r3;", "unknown instruction: add.q32");
    expect_refused("ld.global.sideways.u32 %r1, [%d1];", "modifier .sideways is not supported");
    expect_refused("add.s32 %r1, %r2, %x9;", "unknown name '%x9'");
    expect_refused("add.s32 %r1, %r2;", "too few operands");
    expect_refused("add.s32 %r1, %r2, %r3, %r4;", "too many operands");
    expect_refused("add.s32 %d1, %r2, %r3;", "register of 64 bits where 32 are needed");
    expect_refused("bra NOWHERE;", "label 'NOWHERE' is not defined");
    expect_refused("add.s32 %r1, %r2 %r3;", "expected ';'");
    expect_refused("wgmma.mma_async.sync.aligned.m64n9k16.f32.bf16.bf16 {%r1}, %d1, %d2, %p1, 1, 1, 0, 0;",
                   "no such product");
    expect_refused("tcgen05.wait.ld.sync.aligned;", "unknown instruction");
    expect_refused("setmaxnreg.inc.sync.aligned.u32 233;", "multiple of 8");
}

static void test_not_ptx(void **state)
{
    (void)state;
    struct pksim_ptx_error error;
    assert_null(pksim_module_parse("hello", 5, &error));
    assert_int_equal(error.line, 1);
    assert_null(pksim_module_parse("", 0, &error));
    static const char open[] = ".version 8.6\n.target sm_90a\n.entry k()\n{ add";
    assert_null(pksim_module_parse(open, sizeof open, &error));
}

// Every prefix of a real module, and every module with one byte changed, is taken or refused, but nothing
// worse.
static void test_damaged_texts(void **state)
{
    (void)state;
    char *text = rig_read("gemm_probe.ptx");
    size_t length = strlen(text);
    struct pksim_ptx_error error;
    uint64_t random = 12345;
    for (int i = 0; i < 150; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)(random >> 33) % length;
        char kept = text[at];
        text[at] = (char)(random >> 20);
        pksim_module_free(pksim_module_parse(text, i % 3 ? length : at, &error));
        text[at] = kept;
    }
    free(text);
}

// ---- Launches that are refused
// -------------------------------------------------------------------------------------

static void test_launch_limits(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t address = 0, id;
    rig_open_kernel(&rig, "ret;");
    struct pksim_exec *exec = pksim_exec_create(&rig.config);
    struct pksim_launch good = rig_launch(&rig, "k", 0, 4, 32, &address, sizeof address), bad = good;
    bad.param_bytes = 4;
    assert_int_equal(pksim_exec_add(exec, &bad, &id), PKSIM_LAUNCH_BAD_PARAMS);
    bad = good;
    bad.block[0] = 2048;
    assert_int_equal(pksim_exec_add(exec, &bad, &id), PKSIM_LAUNCH_BAD_SHAPE);
    bad = good;
    bad.dynamic_shared = 232449;
    assert_int_equal(pksim_exec_add(exec, &bad, &id), PKSIM_LAUNCH_TOO_MUCH);
    bad = good;
    bad.cooperative = true;
    bad.dynamic_shared = 200000;
    bad.grid[0] = 133;
    assert_int_equal(pksim_exec_add(exec, &bad, &id), PKSIM_LAUNCH_NOT_RESIDENT);
    bad.grid[0] = 132;
    assert_int_equal(pksim_exec_add(exec, &bad, &id), PKSIM_LAUNCH_OK);
    assert_int_equal(pksim_exec_add(exec, &good, &id), PKSIM_LAUNCH_OK);
    assert_int_equal(pksim_exec_run(exec, 0), PKSIM_EXEC_DONE);
    pksim_exec_free(exec);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_faults),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_memory_of_ctas_before),
        cmocka_unit_test(test_endless_loop),
        cmocka_unit_test(test_deadlocks),
        cmocka_unit_test(test_source_place),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_not_ptx),
        cmocka_unit_test(test_damaged_texts),
        cmocka_unit_test(test_launch_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
