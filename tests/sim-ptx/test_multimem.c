// SPDX-License-Identifier: Apache-2.0
// multimem: which forms there are, what they do to the memory of three devices behind a multicast address,
// and what is said where something is wrong with the address.
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/units/number.h"

enum { DEVICES = 3, BYTES = 2 << 20 };

// ---- forms
// ---------------------------------------------------------------------------------------------

typedef struct type_row {
    const char *name, *registers;
    int counts[4]; // lengths of vectors that there are, 1: without
    bool add, extremes, bitwise, wide;
} type_row;

static const type_row types[] = {
    {"f16", "%h", {2, 4, 8}, true, true, false, true},   {"bf16", "%h", {2, 4, 8}, true, true, false, true},
    {"f16x2", "%r", {1, 2, 4}, true, true, false, true}, {"bf16x2", "%r", {1, 2, 4}, true, true, false, true},
    {"f32", "%f", {1, 2, 4}, true, false, false, false}, {"f64", "%g", {1}, true, false, false, false},
    {"u32", "%r", {1}, true, true, false, false},        {"s32", "%r", {1}, true, true, false, false},
    {"u64", "%d", {1}, true, true, false, false},        {"s64", "%d", {1}, false, true, false, false},
    {"b32", "%r", {1}, false, false, true, false},       {"b64", "%d", {1}, false, false, true, false},
};
static const char *const operations[] = {"add", "min", "max", "and", "or", "xor"};
enum { TYPES = sizeof types / sizeof *types, OPERATIONS = sizeof operations / sizeof *operations };

static bool does(const type_row *t, int operation)
{
    return operation == 0 ? t->add : operation < 3 ? t->extremes : t->bitwise;
}

static bool has_length(const type_row *t, int count)
{
    for (int i = 0; i < 4; i++)
        if (t->counts[i] == count)
            return true;
    return false;
}

static void registers(const type_row *t, int count, char *out, size_t size)
{
    int n = snprintf(out, size, "%s", count > 1 ? "{" : "");
    for (int i = 0; i < count; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%s%d", i ? ", " : "", t->registers, 1 + i);
    snprintf(out + n, size - (size_t)n, "%s", count > 1 ? "}" : "");
}

// One instruction: kind is "ld_reduce", "red" or "st"; operation -1: none.
static void instruction(const char *kind, int operation, const char *accumulate, const type_row *t, int count,
                        char *out, size_t size)
{
    char regs[80], vector[16] = "";
    bool loads = strcmp(kind, "ld_reduce") == 0;
    registers(t, count, regs, sizeof regs);
    if (count > 1)
        snprintf(vector, sizeof vector, ".v%d", count);
    snprintf(out, size, "multimem.%s.relaxed.sys.global%s%s%s%s.%s %s%s%s;\n", kind, operation < 0 ? "" : ".",
             operation < 0 ? "" : operations[operation], accumulate, vector, t->name, loads ? regs : "[%d39]",
             ", ", loads ? "[%d39]" : regs);
}

static bool parses(const char *statements)
{
    static const char format[] =
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
        ".reg .b16 %%h<40>;\n.reg .b32 %%r<40>;\n.reg .b64 %%d<40>;\n.reg .f32 %%f<40>;\n.reg .f64 %%g<20>;\n"
        "ld.param.u64 %%d39, [out];\n%sret;\n}\n";
    struct pksim_ptx_error error;
    size_t size = sizeof format + strlen(statements);
    char *text = malloc(size);
    snprintf(text, size, format, statements);
    struct pksim_module *module = pksim_module_parse(text, strlen(text), &error);
    bool good = module != NULL;
    pksim_module_free(module);
    if (good && !rig_assembles(text))
        fail_msg("ptxas refuses what the simulator takes:\n%s", statements);
    free(text);
    return good;
}

// Checks one form, and gathers those that exist, for ptxas to look at together.
static void check_form(const char *text, bool exists, char *all, int *count)
{
    static const char head[] = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
                               ".reg .b16 %h<40>;\n.reg .b32 %r<40>;\n.reg .b64 %d<40>;\n.reg .f32 %f<40>;\n"
                               ".reg .f64 %g<20>;\n";
    struct pksim_ptx_error error;
    char whole[sizeof head + 400];
    snprintf(whole, sizeof whole, "%s%sret;\n}\n", head, text);
    struct pksim_module *module = pksim_module_parse(whole, strlen(whole), &error);
    if ((module != NULL) != exists)
        fail_msg("%s: %s", exists ? error.text : "taken, but it does not exist", text);
    pksim_module_free(module);
    if (exists) {
        strcat(all, text);
        ++*count;
    }
}

static void test_forms(void **state)
{
    (void)state;
    static const char *const accumulate[] = {"", ".acc::f32"};
    char *all = calloc(1, 1 << 16), text[300];
    int count = 0;
    for (int i = 0; i < TYPES; i++)
        for (int n = 1; n <= 8; n *= 2) {
            const type_row *t = &types[i];
            bool vector = has_length(t, n), lone = n == 1 && strstr(t->name, "16x2");
            for (int op = 0; op < OPERATIONS; op++) {
                for (int a = 0; a < 2; a++) {
                    instruction("ld_reduce", op, accumulate[a], t, n, text, sizeof text);
                    check_form(text, vector && does(t, op) && (!a || (t->wide && op == 0)), all, &count);
                }
                instruction("red", op, "", t, n, text, sizeof text);
                check_form(text, vector && does(t, op) && !(lone && op > 0), all, &count);
            }
            instruction("st", -1, "", t, n, text, sizeof text);
            check_form(text, vector, all, &count);
        }
    assert_int_equal(count, 144);
    assert_true(parses(all));
    free(all);
}

// ---- what they do
// --------------------------------------------------------------------------------------

typedef struct machine {
    struct rig rig;
    struct pksim_phys *memory[DEVICES];
    struct pksim_mcast *object;
    uint64_t plain[DEVICES], all;
} machine;

static uint64_t map(machine *m, struct pksim_phys *phys, struct pksim_mcast *object)
{
    uint64_t address;
    assert_int_equal(pksim_mem_reserve(m->rig.mem, BYTES, 0, 0, &address), PKSIM_MEM_DONE);
    assert_int_equal(pksim_mem_map(m->rig.mem, address, BYTES, 0, phys, object), PKSIM_MEM_DONE);
    for (uint32_t d = 0; d < DEVICES; d++)
        assert_int_equal(pksim_mem_set_access(m->rig.mem, address, BYTES, d, PKSIM_READ | PKSIM_WRITE),
                         PKSIM_MEM_DONE);
    return address;
}

// Three devices with memory behind one multicast address, and a kernel k(.param .u64 all, .param .u64 out) of
// the statements with %a = all and %o = out.
static void open_machine(machine *m, const char *body)
{
    static const char head[] = ".version 8.6\n.target sm_90a\n.address_size 64\n"
                               ".visible .entry k(.param .u64 all, .param .u64 out)\n{\n"
                               ".reg .b16 %h<40>;\n.reg .b32 %r<40>;\n.reg .b64 %d<40>;\n.reg .f32 %f<40>;\n"
                               ".reg .b64 %a;\n.reg .b64 %o;\n"
                               "ld.param.u64 %a, [all];\nld.param.u64 %o, [out];\n";
    char text[sizeof head + 1000];
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", head, body);
    if (!rig_assembles(text))
        fail_msg("ptxas refuses the test's PTX:\n%s", text);
    rig_open(&m->rig, DEVICES, text);
    assert_int_equal(pksim_mcast_create(m->rig.mem, DEVICES, BYTES, &m->object), PKSIM_MEM_DONE);
    for (uint32_t d = 0; d < DEVICES; d++)
        assert_int_equal(pksim_mcast_add_device(m->object, d), PKSIM_MEM_DONE);
    for (uint32_t d = 0; d < DEVICES; d++) {
        assert_int_equal(pksim_phys_create(m->rig.mem, d, BYTES, false, &m->memory[d]), PKSIM_MEM_DONE);
        assert_int_equal(pksim_mcast_bind(m->rig.mem, m->object, 0, m->memory[d], 0, BYTES), PKSIM_MEM_DONE);
        m->plain[d] = map(m, m->memory[d], NULL);
    }
    m->all = map(m, NULL, m->object);
}

static void close_machine(machine *m)
{
    for (int d = 0; d < DEVICES; d++)
        pksim_phys_release(m->rig.mem, m->memory[d]);
    pksim_mcast_release(m->rig.mem, m->object);
    rig_close(&m->rig);
}

// Runs one thread on device 1 with 16 bytes a device, and gives what is in `out` then.
static void run(machine *m, const void *data[DEVICES], void *out, uint64_t bytes)
{
    struct pksim_mem_fault fault;
    for (int d = 0; data && d < DEVICES; d++)
        assert_true(pksim_mem_write(m->rig.mem, m->plain[d], data[d], 16, &fault));
    uint64_t params[] = {m->all, rig_alloc(&m->rig, 1, 16)};
    struct pksim_launch launch = rig_launch(&m->rig, "k", 1, 1, 1, params, sizeof params);
    rig_run_ok(&m->rig, &launch, 1);
    if (out)
        rig_download(&m->rig, out, params[1], bytes);
}

static void test_sums_in_single_precision(void **state)
{
    (void)state;
    machine m;
    // 256 + 1 + 1: rounded to bf16 at each step it stays 256, with f32 inside it is 258.
    uint16_t big[8], one[8], got[8];
    for (int i = 0; i < 8; i++) {
        big[i] = pksim_to_bf16(256);
        one[i] = pksim_to_bf16(1);
    }
    const void *data[] = {big, one, one};
    open_machine(&m,
                 "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2 {%r1, %r2, %r3, %r4}, [%a];\n"
                 "st.global.v4.b32 [%o], {%r1, %r2, %r3, %r4};");
    run(&m, data, got, sizeof got);
    for (int i = 0; i < 8; i++)
        assert_int_equal(got[i], pksim_to_bf16(258));
    close_machine(&m);
    open_machine(
        &m, "multimem.ld_reduce.relaxed.sys.global.add.v8.bf16 {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}, "
            "[%a];\nst.global.v4.b16 [%o], {%h1, %h2, %h3, %h8};");
    run(&m, data, got, 8);
    for (int i = 0; i < 4; i++)
        assert_int_equal(got[i], pksim_to_bf16(256));
    close_machine(&m);
}

static void test_negative_zero(void **state)
{
    (void)state;
    machine m;
    const uint16_t zeros[8] = {0x8000, 0x8000, 0, 0, 0x8000, 0x8000, 0x8000, 0x8000};
    uint16_t got[8];
    const void *data[] = {zeros, zeros, zeros};
    open_machine(&m,
                 "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.f16x2 {%r1, %r2, %r3, %r4}, [%a];\n"
                 "st.global.v4.b32 [%o], {%r1, %r2, %r3, %r4};");
    run(&m, data, got, sizeof got);
    assert_memory_equal(got, zeros, sizeof zeros);
    close_machine(&m);
}

static void test_extremes(void **state)
{
    (void)state;
    machine m;
    const int32_t a[4] = {-5, 7}, b[4] = {3, -9}, c[4] = {0, 100};
    const void *data[] = {a, b, c};
    int32_t got[4];
    open_machine(&m, "multimem.ld_reduce.relaxed.sys.global.min.s32 %r1, [%a];\n"
                     "multimem.ld_reduce.relaxed.sys.global.max.s32 %r2, [%a+4];\n"
                     "multimem.ld_reduce.relaxed.sys.global.min.u32 %r3, [%a];\n"
                     "multimem.ld_reduce.relaxed.sys.global.xor.b32 %r4, [%a+4];\n"
                     "st.global.v4.b32 [%o], {%r1, %r2, %r3, %r4};");
    run(&m, data, got, sizeof got);
    assert_int_equal(got[0], -5);
    assert_int_equal(got[1], 100);
    assert_int_equal(got[2], 0);
    assert_int_equal(got[3], 7 ^ -9 ^ 100);
    close_machine(&m);
}

// Stores reach every device's memory; reductions are done in each.
static void test_stores(void **state)
{
    (void)state;
    machine m;
    const float a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40}, c[4] = {0};
    const float *before[] = {a, b, c};
    const void *data[] = {a, b, c};
    open_machine(&m, "mov.f32 %f1, 0f3F800000;\nmov.b32 %r1, 7;\nmov.b32 %r2, 8;\n"
                     "multimem.red.relaxed.sys.global.add.v2.f32 [%a], {%f1, %f1};\n"
                     "multimem.st.relaxed.sys.global.v2.f32 [%a+8], {%r1, %r2};");
    run(&m, data, NULL, 0);
    for (int d = 0; d < DEVICES; d++) {
        float sums[2];
        uint32_t stored[2];
        rig_download(&m.rig, sums, m.plain[d], sizeof sums);
        rig_download(&m.rig, stored, m.plain[d] + 8, sizeof stored);
        assert_true(sums[0] == before[d][0] + 1 && sums[1] == before[d][1] + 1);
        assert_true(stored[0] == 7 && stored[1] == 8);
    }
    close_machine(&m);
}

// Bulk stores to a multicast address are not in the PTX ISA before 9.1, but ParallelKittens makes them and
// reports that they reach all.
static void test_bulk_store(void **state)
{
    (void)state;
    machine m;
    open_machine(
        &m, ".shared .align 16 .b8 mem[16];\nmov.u32 %r1, 3;\nst.shared.v4.u32 [mem], {%r1, %r1, %r1, %r1};\n"
            "fence.proxy.async.shared::cta;\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%a], [mem], 16;\ncp.async.bulk.commit_group;\n"
            "cp.async.bulk.wait_group 0;");
    run(&m, NULL, NULL, 0);
    for (int d = 0; d < DEVICES; d++) {
        uint32_t stored[4];
        rig_download(&m.rig, stored, m.plain[d], sizeof stored);
        for (int i = 0; i < 4; i++)
            assert_int_equal(stored[i], 3);
    }
    close_machine(&m);
}

// A warp that polls its own device's memory sees what another device adds behind the multicast address.
static void test_wakes(void **state)
{
    (void)state;
    machine m;
    const uint32_t zero[4] = {0};
    const void *data[] = {zero, zero, zero};
    struct pksim_mem_fault fault;
    open_machine(&m, ".reg .pred %p;\nsetp.eq.u64 %p, %a, 0;\n@%p bra POLL;\n"
                     "multimem.red.release.sys.global.add.u32 [%a], 5;\nret;\n"
                     "POLL:\nld.acquire.sys.global.u32 %r1, [%o];\nsetp.ne.u32 %p, %r1, 5;\n@%p bra POLL;");
    for (int d = 0; d < DEVICES; d++)
        assert_true(pksim_mem_write(m.rig.mem, m.plain[d], data[d], 16, &fault));
    uint64_t waits[] = {0, m.plain[2]}, adds[] = {m.all, 0};
    struct pksim_launch both[] = {rig_launch(&m.rig, "k", 2, 1, 1, waits, sizeof waits),
                                  rig_launch(&m.rig, "k", 0, 1, 1, adds, sizeof adds)};
    rig_run_ok(&m.rig, both, 2);
    close_machine(&m);
}

// ---- faults
// ---------------------------------------------------------------------------------------------

typedef enum where { AT_ALL, AT_PLAIN, AT_UNBOUND } where;

static void expect_fault(const char *body, where at, enum pksim_fault_kind kind, const char *words)
{
    machine m;
    char text[5000];
    struct pksim_mem_fault fault;
    const uint32_t zero[4] = {0};
    open_machine(&m, body);
    for (int d = 0; d < DEVICES - 1; d++) // the last one's is never written
        assert_true(pksim_mem_write(m.rig.mem, m.plain[d], zero, 16, &fault));
    if (at == AT_UNBOUND)
        assert_int_equal(pksim_mcast_unbind(m.rig.mem, m.object, 2, 0, BYTES), PKSIM_MEM_DONE);
    uint64_t params[] = {at == AT_PLAIN ? m.plain[0] : m.all, rig_alloc(&m.rig, 0, 16)};
    struct pksim_launch launch = rig_launch(&m.rig, "k", 0, 1, 1, params, sizeof params);
    rig_run(&m.rig, &launch, 1);
    pksim_fault_format(&m.rig.fault, text, sizeof text);
    if (m.rig.fault.kind != kind || !strstr(text, words))
        fail_msg("expected \"%s: ... %s\", got: %s", pksim_fault_words(kind), words, text);
    close_machine(&m);
}

static void test_faults(void **state)
{
    (void)state;
    static const char sum[] = "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%a];";
    expect_fault("ld.global.u32 %r1, [%a];", AT_ALL, PKSIM_FAULT_MULTICAST,
                 "plain access to a multicast address");
    expect_fault("st.global.u32 [%a], %r1;", AT_ALL, PKSIM_FAULT_MULTICAST,
                 "plain access to a multicast address");
    expect_fault("red.relaxed.sys.global.add.u32 [%a], 1;", AT_ALL, PKSIM_FAULT_MULTICAST,
                 "plain access to a multicast address");
    expect_fault(sum, AT_PLAIN, PKSIM_FAULT_NOT_MULTICAST, "no multicast address");
    expect_fault(sum, AT_UNBOUND, PKSIM_FAULT_NOT_MULTICAST, "memory of device 2");
    expect_fault(sum, AT_ALL, PKSIM_FAULT_UNINITIALISED, "never written");
    expect_fault("multimem.st.relaxed.sys.global.v4.f32 [%a+8], {%f1, %f1, %f1, %f1};", AT_ALL,
                 PKSIM_FAULT_MISALIGNED, "multiple of 16");
    expect_fault("multimem.st.relaxed.sys.global.f32 [%a+2097152], %f1;", AT_ALL, PKSIM_FAULT_OUT_OF_BOUNDS,
                 "past the end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),         cmocka_unit_test(test_sums_in_single_precision),
        cmocka_unit_test(test_negative_zero), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_stores),        cmocka_unit_test(test_bulk_store),
        cmocka_unit_test(test_wakes),         cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
