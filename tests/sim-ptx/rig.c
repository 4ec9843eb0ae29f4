// SPDX-License-Identifier: Apache-2.0
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void rig_open(struct rig *rig, uint32_t devices, const char *ptx)
{
    struct pksim_ptx_error error;
    memset(rig, 0, sizeof *rig);
    rig->mem = pksim_mem_create(devices, UINT64_C(1) << 36);
    assert_non_null(rig->mem);
    for (uint32_t a = 0; a < devices; a++)
        for (uint32_t b = 0; b < devices; b++)
            if (a != b)
                pksim_mem_peer(rig->mem, a, b, true);
    rig->module = pksim_module_parse(ptx, strlen(ptx), &error);
    if (!rig->module)
        fail_msg("PTX line %u: %s", error.line, error.text);
    rig->config = (struct pksim_exec_config){.mem = rig->mem, .devices = devices, .seed = 1, .straggler = -1};
    pksim_limits_default(&rig->config.limits);
    for (uint32_t i = 0; i < pksim_module_variable_count(rig->module); i++) {
        struct pksim_variable_info info;
        pksim_module_variable(rig->module, i, &info);
        rig->variables[i] = rig_alloc(rig, 0, info.size);
    }
    for (uint32_t i = 0; i < pksim_module_variable_count(rig->module); i++) {
        struct pksim_variable_info info;
        pksim_module_variable(rig->module, i, &info);
        void *bytes = malloc(info.size);
        pksim_module_variable_fill(rig->module, i, rig->variables, bytes);
        assert_true(pksim_mem_write(rig->mem, rig->variables[i], bytes, info.size, NULL));
        free(bytes);
    }
}

char *rig_read(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", RIG_INPUTS, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    char *text = calloc(1, 1 << 20);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

void rig_close(struct rig *rig)
{
    pksim_module_free(rig->module);
    pksim_mem_destroy(rig->mem);
}

uint64_t rig_alloc(struct rig *rig, uint32_t device, uint64_t bytes)
{
    uint64_t address;
    assert_int_equal(pksim_mem_alloc(rig->mem, device, bytes, &address), PKSIM_MEM_DONE);
    return address;
}

uint64_t rig_upload(struct rig *rig, uint32_t device, const void *data, uint64_t bytes)
{
    struct pksim_mem_fault fault;
    uint64_t address = rig_alloc(rig, device, bytes);
    assert_true(pksim_mem_write(rig->mem, address, data, bytes, &fault));
    return address;
}

void rig_download(struct rig *rig, void *out, uint64_t address, uint64_t bytes)
{
    struct pksim_mem_fault fault;
    assert_true(pksim_mem_read(rig->mem, out, address, bytes, &fault));
}

struct pksim_launch rig_launch(const struct rig *rig, const char *kernel, uint32_t device, uint32_t grid,
                               uint32_t block, const void *params, size_t param_bytes)
{
    return (struct pksim_launch){
        .module = rig->module,
        .function = pksim_module_find(rig->module, kernel),
        .device = device,
        .grid = {grid, 1, 1},
        .block = {block, 1, 1},
        .params = params,
        .param_bytes = param_bytes,
        .variables = rig->variables,
    };
}

void rig_run(struct rig *rig, const struct pksim_launch *launches, uint32_t count)
{
    assert_non_null(launches[0].function);
    assert_int_equal(pksim_run(&rig->config, launches, count, &rig->fault, &rig->stats), PKSIM_LAUNCH_OK);
}

void rig_run_ok(struct rig *rig, const struct pksim_launch *launches, uint32_t count)
{
    char text[5000];
    rig_run(rig, launches, count);
    pksim_fault_format(&rig->fault, text, sizeof text);
    if (rig->fault.kind != PKSIM_FAULT_NONE)
        fail_msg("seed %llu: %s", (unsigned long long)rig->config.seed, text);
}

static const char prologue[] = ".version 8.6\n.target sm_90a\n.address_size 64\n"
                               ".visible .entry k(.param .u64 out)\n{\n"
                               ".reg .pred %p<40>;\n.reg .b16 %h<40>;\n.reg .b32 %r<80>;\n.reg .b64 %d<40>;\n"
                               ".reg .f32 %f<40>;\n.reg .f64 %g<20>;\n.reg .b32 %t;\n.reg .b64 %o;\n"
                               ".shared .align 1024 .b8 mem[4096];\n"
                               "ld.param.u64 %o, [out];\ncvta.to.global.u64 %o, %o;\nmov.u32 %t, %tid.x;\n"
                               "mul.wide.u32 %d39, %t, 4;\nadd.s64 %o, %o, %d39;\n";

void rig_open_kernel(struct rig *rig, const char *body)
{
    size_t size = sizeof prologue + strlen(body) + 32;
    char *text = malloc(size);
    snprintf(text, size, "%s%s\nret;\n}\n", prologue, body);
    if (!rig_assembles(text))
        fail_msg("ptxas refuses the test's PTX:\n%s", text);
    rig_open(rig, 1, text);
    free(text);
}

void rig_run_kernel(struct rig *rig, uint32_t threads, uint32_t *out)
{
    uint64_t address = rig_alloc(rig, 0, threads * 4);
    struct pksim_launch launch = rig_launch(rig, "k", 0, 1, threads, &address, sizeof address);
    rig_run_ok(rig, &launch, 1);
    rig_download(rig, out, address, threads * 4);
}

bool rig_assembles(const char *ptx)
{
#ifdef RIG_PTXAS
    char path[] = "/tmp/pksim_ptx_XXXXXX", command[600];
    int file = mkstemp(path);
    if (file < 0 || write(file, ptx, strlen(ptx)) != (ssize_t)strlen(ptx))
        return false;
    close(file);
    snprintf(command, sizeof command, "%s -arch=sm_90a -o /dev/null %s", RIG_PTXAS, path);
    bool ok = system(command) == 0;
    unlink(path);
    return ok;
#else
    (void)ptx;
    return true;
#endif
}
