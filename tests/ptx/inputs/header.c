// SPDX-License-Identifier: Apache-2.0
// Prints the module that a header holds. The stubs stand in for the runtime.
#include "gemm_rs.pk.h"
#include "gemm_rs.pk.h" // twice does no harm

#include <stdio.h>

pkrt_status pkrt_module_load(pkrt_context *ctx, pkrt_module **out, const char *text, size_t length)
{
    (void)ctx;
    *out = NULL;
    fwrite(text, 1, length, stdout);
    return PKRT_OK;
}

pkrt_status pkrt_kernel_bind(pkrt_module *module, pkrt_kernel **out, const char *kernel, const pkrt_arg *args,
                             int n_args)
{
    (void)module;
    (void)kernel;
    (void)args;
    *out = NULL;
    return n_args == 3 ? PKRT_OK : PKRT_INVALID;
}

pkrt_status pkrt_kernel_launch(pkrt_kernel *kernel, void *const *streams)
{
    (void)kernel;
    (void)streams;
    return PKRT_OK;
}

int main(void)
{
    pkrt_module *module;
    pkrt_kernel *kernel;
    gemm_rs_args args = {NULL, NULL, NULL};
    return gemm_rs_pk_load(NULL, &module) != PKRT_OK || gemm_rs_bind(module, &kernel, &args) != PKRT_OK ||
           gemm_rs_launch(kernel, NULL) != PKRT_OK;
}
