// SPDX-License-Identifier: Apache-2.0
// The public interface: options in, a session through the pipeline, a result out.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/pipeline.h"
#include "driver/read_file.h"

struct pkc_result {
    pkc_session session;
    pkc_job job;
    pkc_buf texts[3]; // diagnostics by form, rendered when asked for
    bool rendered[3];
};

// Only what the caller's version of the struct has; the rest is zero.
static pkc_options known_options(const pkc_options *given)
{
    pkc_options options = {0};
    if (given)
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    return options;
}

static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return len > 0;
}

static bool parse_define(pkc_session *session, const char *text, pkc_define *define)
{
    const char *equals = strchr(text, '=');
    if (!equals || !equals[1])
        return false;
    const char *dot = memchr(text, '.', (size_t)(equals - text)), *name = dot ? dot + 1 : text;
    if (!is_name(name, (size_t)(equals - name)) || (dot && !is_name(text, (size_t)(dot - text))))
        return false;
    char *end = NULL;
    errno = 0;
    define->value = strtoll(equals + 1, &end, 0);
    define->name = pkc_intern_n(&session->strings, name, (size_t)(equals - name));
    define->kernel = dot ? pkc_intern_n(&session->strings, text, (size_t)(dot - text)) : NULL;
    return errno == 0 && *end == 0;
}

static void take_defines(pkc_session *session, const pkc_options *options)
{
    for (size_t i = 0; i < options->define_count; i++) {
        pkc_define define = {0};
        if (parse_define(session, options->defines[i], &define))
            pkc_vec_push(&session->arena, &session->settings.defines, define);
        else
            pkc_diag_error(session, PKC_DIAG_BAD_DEFINE, (pkc_span){0}, options->defines[i]);
    }
}

static pkc_str copy(pkc_session *session, const char *text)
{
    return text ? pkc_session_str(session, text) : NULL;
}

static void take_options(pkc_session *session, const pkc_options *options)
{
    pkc_settings *settings = &session->settings;
    if (options->arch)
        settings->arch = copy(session, options->arch);
    take_defines(session, options);
    for (size_t i = 0; i < options->include_dir_count; i++)
        pkc_vec_push(&session->arena, &settings->include_dirs, copy(session, options->include_dirs[i]));
    settings->stdlib_dir =
        copy(session, options->stdlib_dir ? options->stdlib_dir : pkc_find_stdlib(&session->arena));
    settings->stop_after = copy(session, options->stop_after);
    for (size_t i = 0; i < options->pass_count; i++)
        pkc_vec_push(&session->arena, &settings->passes, copy(session, options->passes[i]));
    for (size_t i = 0; i < options->dump_after_count; i++)
        pkc_vec_push(&session->arena, &settings->dump_after, copy(session, options->dump_after[i]));
    settings->debug = options->debug;
    settings->no_defer = options->no_defer;
    settings->no_flight = options->no_flight;
    session->read = options->read_file ? options->read_file : pkc_read_file;
    session->read_context = options->read_context;
}

bool pkc_compile(const char *name, const char *text, size_t len, const pkc_options *given, pkc_result **out)
{
    pkc_options options = known_options(given);
    pkc_result *result = pkc_xrealloc(NULL, sizeof *result);
    *result = (pkc_result){0};
    *out = result;
    pkc_session_init(&result->session);
    take_options(&result->session, &options);
    result->job.session = &result->session;
    result->job.emit = options.emit;
    result->job.check_only = options.check_only;
    result->job.root = pkc_session_add_file(&result->session, name, text, len);
    if (result->job.root && !pkc_has_errors(&result->session))
        pkc_pipeline_run(&result->job);
    return pkc_result_ok(result);
}

void pkc_result_free(pkc_result *result)
{
    if (!result)
        return;
    for (size_t i = 0; i < sizeof result->texts / sizeof *result->texts; i++)
        pkc_buf_free(&result->texts[i]);
    pkc_buf_free(&result->job.output);
    pkc_buf_free(&result->job.dumps);
    pkc_session_free(&result->session);
    free(result);
}

bool pkc_result_ok(const pkc_result *result)
{
    return !pkc_has_errors(&result->session);
}

static const char *text_of(const pkc_buf *buf, size_t *len)
{
    if (len)
        *len = buf->len;
    return pkc_buf_cstr(buf);
}

const char *pkc_result_output(const pkc_result *result, size_t *len)
{
    static const pkc_buf nothing = {0};
    bool shown = pkc_result_ok(result) && !result->job.check_only;
    return text_of(shown ? &result->job.output : &nothing, len);
}

const char *pkc_result_dumps(const pkc_result *result, size_t *len)
{
    return text_of(&result->job.dumps, len);
}

const char *pkc_result_diagnostics(pkc_result *result, pkc_diagnostics_form form, size_t *len)
{
    pkc_buf *buf = &result->texts[form];
    if (!result->rendered[form]) {
        result->rendered[form] = true;
        if (form == PKC_DIAGNOSTICS_JSON)
            pkc_diags_render_json(&result->session, buf);
        else
            pkc_diags_render_text(&result->session, form == PKC_DIAGNOSTICS_COLOR, buf);
    }
    return text_of(buf, len);
}

// The root is the first file of a session.
size_t pkc_result_import_count(const pkc_result *result)
{
    return result->session.files.len ? result->session.files.len - 1 : 0;
}

const char *pkc_result_import(const pkc_result *result, size_t index)
{
    return index < pkc_result_import_count(result) ? result->session.files.data[index + 1]->name : NULL;
}

#define STRING_OF(x)                    #x
#define VERSION_OF(major, minor, patch) STRING_OF(major) "." STRING_OF(minor) "." STRING_OF(patch)

const char *pkc_version(void)
{
    return VERSION_OF(PKC_VERSION_MAJOR, PKC_VERSION_MINOR, PKC_VERSION_PATCH);
}

const char *pkc_explain(const char *code)
{
    pkc_diag_id id;
    return pkc_diag_find(code, &id) ? pkc_diag_explanation(id) : NULL;
}
