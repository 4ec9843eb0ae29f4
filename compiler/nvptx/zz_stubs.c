#include "nvptx/nvptx.h"
__attribute__((weak)) bool pkc_nvptx_header(pkc_session *session, const ir_module *module, const char *name,
                                            const pkc_buf *ptx, pkc_buf *out)
{
    (void)session;
    (void)module;
    (void)name;
    (void)ptx;
    (void)out;
    return true;
}
__attribute__((weak)) ir_module *ir_parse_module(pkc_session *session, const pkc_file *file)
{
    (void)session;
    (void)file;
    return NULL;
}
