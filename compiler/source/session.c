// SPDX-License-Identifier: Apache-2.0
#include "source/session.h"

void pkc_session_init(pkc_session *session)
{
    *session = (pkc_session){0};
    pkc_arena_init(&session->arena);
    pkc_strings_init(&session->strings, &session->arena);
    pkc_diags_init(&session->diags, &session->arena);
    session->settings.arch = pkc_session_str(session, "sm_90a");
#ifndef NDEBUG
    session->settings.verify = true;
#endif
}

void pkc_session_free(pkc_session *session)
{
    pkc_arena_free(&session->arena);
    *session = (pkc_session){0};
}

pkc_file *pkc_session_add_file(pkc_session *session, const char *name, const char *text, size_t len)
{
    if (len > PKC_MAX_SOURCE_BYTES) {
        pkc_diag_error(session, PKC_DIAG_FILE_TOO_LARGE, (pkc_span){0}, name, PKC_MAX_SOURCE_BYTES >> 20);
        return NULL;
    }
    pkc_file *file = pkc_file_new(&session->arena, pkc_session_str(session, name), text, len);
    file->index = (uint32_t)session->files.len;
    pkc_vec_push(&session->arena, &session->files, file);
    return file;
}
