// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <string.h>

#include "source/session.h"

static int open_session(void **state)
{
    static pkc_session session;
    pkc_session_init(&session);
    *state = &session;
    return 0;
}

static int close_session(void **state)
{
    pkc_session_free(*state);
    return 0;
}

static pkc_file *add(pkc_session *session, const char *text)
{
    return pkc_session_add_file(session, "a.pk", text, strlen(text));
}

static void places_count_from_one(void **state)
{
    pkc_file *file = add(*state, "ab\n\ncd\r\n\nx");
    static const struct {
        uint32_t offset, line, column;
    } rows[] = {{0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 2, 1},  {4, 3, 1}, {6, 3, 3},
                {7, 3, 4}, {8, 4, 1}, {9, 5, 1}, {10, 5, 2}, {99, 5, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pkc_place place = pkc_file_place(file, rows[i].offset);
        assert_int_equal(place.line, rows[i].line);
        assert_int_equal(place.column, rows[i].column);
    }
    uint32_t len;
    assert_memory_equal(pkc_file_line(file, 3, &len), "cd", 2);
    assert_int_equal(len, 2);
    pkc_file_line(file, 2, &len);
    assert_int_equal(len, 0);
    pkc_file_line(file, 5, &len);
    assert_int_equal(len, 1);
}

static void an_empty_file_has_one_line(void **state)
{
    pkc_file *file = add(*state, "");
    uint32_t len;
    pkc_file_line(file, 1, &len);
    assert_int_equal(len, 0);
    assert_int_equal(pkc_file_place(file, 0).line, 1);
}

static void spans_join(void **state)
{
    pkc_file *file = add(*state, "abcdef"), *other = add(*state, "x");
    pkc_span a = {file, 1, 2}, b = {file, 4, 5}, c = {other, 0, 1}, nowhere = {0};
    pkc_span both = pkc_span_join(b, a);
    assert_int_equal(both.begin, 1);
    assert_int_equal(both.end, 5);
    assert_ptr_equal(pkc_span_join(a, c).file, file);
    assert_ptr_equal(pkc_span_join(nowhere, c).file, other);
    assert_int_equal(pkc_span_begin(nowhere).line, 0);
}

static void a_repeated_report_is_kept_once(void **state)
{
    pkc_session *session = *state;
    pkc_span span = {add(session, "abc"), 0, 1}, later = {span.file, 1, 2};
    pkc_diag *first = pkc_diag_error(session, PKC_DIAG_BAD_CHARACTER, span, "'a'");
    pkc_diag *again = pkc_diag_error(session, PKC_DIAG_BAD_CHARACTER, span, "'a'");
    pkc_diag_note(again, span, "never shown");
    pkc_diag_fix(again, span, "x");
    pkc_diag_help(again, "never shown");
    assert_ptr_not_equal(first, again);
    assert_int_equal(first->notes.len, 0);
    assert_int_equal(pkc_diag_count(session, PKC_SEVERITY_ERROR), 1);
    pkc_diag_error(session, PKC_DIAG_BAD_CHARACTER, later, "'b'");
    pkc_diag_error(session, PKC_DIAG_UNTERMINATED_STRING, span);
    assert_int_equal(pkc_diag_count(session, PKC_SEVERITY_ERROR), 3);
    assert_true(pkc_has_errors(session));
}

static void reports_without_a_place_differ_by_text(void **state)
{
    pkc_session *session = *state;
    pkc_diag_error(session, PKC_DIAG_BAD_DEFINE, (pkc_span){0}, "a");
    pkc_diag_error(session, PKC_DIAG_BAD_DEFINE, (pkc_span){0}, "b");
    pkc_diag_error(session, PKC_DIAG_BAD_DEFINE, (pkc_span){0}, "a");
    assert_int_equal(session->diags.list.len, 2);
}

static void reports_are_sorted_by_place(void **state)
{
    pkc_session *session = *state;
    pkc_file *a = add(session, "abcdef"), *b = add(session, "abcdef");
    pkc_diag_error(session, PKC_DIAG_UNTERMINATED_STRING, ((pkc_span){b, 1, 2}));
    pkc_diag_error(session, PKC_DIAG_UNTERMINATED_STRING, ((pkc_span){a, 3, 4}));
    pkc_diag_error(session, PKC_DIAG_UNTERMINATED_STRING, ((pkc_span){a, 1, 2}));
    pkc_diag_error(session, PKC_DIAG_BAD_DEFINE, (pkc_span){0}, "x");
    pkc_diag **sorted = pkc_diags_sorted(session);
    assert_null(sorted[0]->span.file);
    assert_ptr_equal(sorted[1]->span.file, a);
    assert_int_equal(sorted[1]->span.begin, 1);
    assert_int_equal(sorted[2]->span.begin, 3);
    assert_ptr_equal(sorted[3]->span.file, b);
}

static void the_number_of_kept_reports_is_limited(void **state)
{
    pkc_session *session = *state;
    pkc_file *file = add(session, "x");
    for (uint32_t i = 0; i < PKC_MAX_DIAGS + 50; i++)
        pkc_diag_note(pkc_diag_error(session, PKC_DIAG_UNTERMINATED_STRING, ((pkc_span){file, i, i})),
                      (pkc_span){0}, "note");
    assert_int_equal(session->diags.list.len, PKC_MAX_DIAGS);
    assert_int_equal(pkc_diag_count(session, PKC_SEVERITY_ERROR), PKC_MAX_DIAGS + 50);
}

static void text_shows_the_line_notes_and_fixes(void **state)
{
    pkc_session *session = *state;
    pkc_file *file = add(session, "let a = 1;\nlet \xc3\xa9 = $$;\n");
    pkc_diag *d = pkc_diag_error(session, PKC_DIAG_BAD_CHARACTER, ((pkc_span){file, 20, 22}), "'$$'");
    pkc_diag_note(d, (pkc_span){file, 4, 5}, "see %s", "here");
    pkc_diag_note(d, (pkc_span){0}, "a remark");
    pkc_diag_fix(d, (pkc_span){file, 20, 22}, "1");
    pkc_diag_help(d, "think");
    pkc_buf out = {0};
    pkc_diags_render_text(session, false, &out);
    assert_string_equal(out.data, "a.pk:2:9: error E0101: '$$' cannot stand here\n"
                                  "    2 | let \xc3\xa9 = $$;\n"
                                  "      |         ^~\n"
                                  "a.pk:1:5: note: see here\n"
                                  "    1 | let a = 1;\n"
                                  "      |     ^\n"
                                  "      = note: a remark\n"
                                  "      = help: write '1' instead of '$$'\n"
                                  "      = help: think\n"
                                  "1 error\n");
    pkc_buf_free(&out);
}

static void a_span_over_lines_is_underlined_to_the_end(void **state)
{
    pkc_session *session = *state;
    pkc_file *file = add(session, "ab cd\nef");
    pkc_diag_error(session, PKC_DIAG_UNTERMINATED_STRING, ((pkc_span){file, 3, 8}));
    pkc_diag_error(session, PKC_DIAG_UNTERMINATED_STRING, ((pkc_span){file, 8, 8}));
    pkc_buf out = {0};
    pkc_diags_render_text(session, false, &out);
    assert_non_null(strstr(out.data, "      |    ^~\n"));
    assert_non_null(strstr(out.data, "    2 | ef\n      |   ^\n"));
    pkc_buf_free(&out);
}

static void json_is_one_object_a_line(void **state)
{
    pkc_session *session = *state;
    pkc_file *file = add(session, "a\n$");
    pkc_diag *d = pkc_diag_error(session, PKC_DIAG_BAD_CHARACTER, ((pkc_span){file, 2, 3}), "'\"'");
    pkc_diag_fix(d, (pkc_span){file, 2, 3}, "");
    pkc_buf out = {0};
    pkc_diags_render_json(session, &out);
    assert_string_equal(
        out.data,
        "{\"severity\":\"error\",\"code\":\"E0101\",\"message\":\"'\\\"' cannot stand here\",\"span\":"
        "{\"file\":\"a.pk\",\"line\":2,\"column\":1,\"endLine\":2,\"endColumn\":2,\"begin\":2,\"end\":3},"
        "\"notes\":[],\"fixes\":[{\"replacement\":\"\",\"span\":"
        "{\"file\":\"a.pk\",\"line\":2,\"column\":1,\"endLine\":2,\"endColumn\":2,\"begin\":2,\"end\":3}}]}"
        "\n");
    pkc_buf_free(&out);
}

// The table that everybody adds to: codes are unique, sorted and in the form that --explain takes.
static void the_table_of_diagnostics_is_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < PKC_DIAG_COUNT; i++) {
        const char *code = pkc_diag_code((pkc_diag_id)i);
        pkc_diag_id found = PKC_DIAG_COUNT;
        assert_int_equal(strlen(code), 5);
        assert_non_null(strchr("EWR", code[0]));
        assert_true(pkc_diag_find(code, &found));
        assert_int_equal(found, i);
        assert_true(strlen(pkc_diag_explanation((pkc_diag_id)i)) > 20);
        if (i > 0 && pkc_diag_code((pkc_diag_id)(i - 1))[0] == code[0])
            assert_true(strcmp(pkc_diag_code((pkc_diag_id)(i - 1)), code) < 0);
    }
}

static void too_large_a_file_is_refused(void **state)
{
    pkc_session *session = *state;
    static char text[PKC_MAX_SOURCE_BYTES + 1];
    memset(text, ' ', sizeof text);
    assert_null(pkc_session_add_file(session, "big.pk", text, sizeof text));
    assert_true(pkc_has_errors(session));
    assert_non_null(pkc_session_add_file(session, "fits.pk", text, sizeof text - 1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_session, close_session)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(places_count_from_one),
        TEST(an_empty_file_has_one_line),
        TEST(spans_join),
        TEST(a_repeated_report_is_kept_once),
        TEST(reports_without_a_place_differ_by_text),
        TEST(reports_are_sorted_by_place),
        TEST(the_number_of_kept_reports_is_limited),
        TEST(text_shows_the_line_notes_and_fixes),
        TEST(a_span_over_lines_is_underlined_to_the_end),
        TEST(json_is_one_object_a_line),
        TEST(the_table_of_diagnostics_is_in_order),
        TEST(too_large_a_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
