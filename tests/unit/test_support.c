// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "support/arena.h"
#include "support/buf.h"
#include "support/str.h"
#include "support/utf8.h"
#include "support/vec.h"

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    pkc_arena arena = {0};
    unsigned char *last = NULL;
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char *p = pkc_arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size); // the next one must still be zero
        assert_true(!last || p != last);
        last = p;
    }
    pkc_arena_free(&arena);
    assert_null(arena.head);
}

static void arena_gives_a_block_larger_than_its_chunks(void **state)
{
    (void)state;
    pkc_arena arena = {0};
    char *small = pkc_arena_strdup(&arena, "small");
    char *large = pkc_arena_alloc(&arena, 5 << 20);
    large[(5 << 20) - 1] = 1;
    assert_string_equal(small, "small");
    assert_string_equal(pkc_arena_printf(&arena, "%d-%s", 12, "x"), "12-x");
    assert_string_equal(pkc_arena_strndup(&arena, "abcdef", 3), "abc");
    pkc_arena_free(&arena);
}

static void equal_texts_are_one_string(void **state)
{
    (void)state;
    pkc_arena arena = {0};
    pkc_strings strings;
    pkc_strings_init(&strings, &arena);
    enum { COUNT = 5000 };
    static pkc_str first[COUNT];
    for (int i = 0; i < COUNT; i++)
        first[i] = pkc_intern(&strings, pkc_arena_printf(&arena, "name%d", i));
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(first[i], pkc_intern(&strings, pkc_arena_printf(&arena, "name%d", i)));
    assert_ptr_equal(pkc_intern_n(&strings, "name12345", 6), pkc_intern(&strings, "name12"));
    assert_ptr_not_equal(first[1], first[2]);
    assert_int_equal(strings.count, COUNT);
    pkc_arena_free(&arena);
}

static void distance_counts_edits(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned distance;
    } rows[] = {{"", "", 0},         {"rows", "rows", 0},  {"rows", "row", 1}, {"rows", "rowz", 1},
                {"rows", "rwos", 1}, {"rows", "cols", 2},  {"", "ab", 2},      {"kitten", "sitting", 3},
                {"ab", "ba", 1},     {"load", "store", 4}, {"abcdef", "", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(pkc_str_distance(rows[i].a, rows[i].b, 3), rows[i].distance);
        assert_int_equal(pkc_str_distance(rows[i].b, rows[i].a, 3), rows[i].distance);
    }
    char longer[80];
    memset(longer, 'a', sizeof longer);
    longer[79] = 0;
    assert_int_equal(pkc_str_distance(longer, longer, 2), 3);
}

static void vectors_keep_their_elements(void **state)
{
    (void)state;
    pkc_arena arena = {0};
    PKC_VEC(int) on_arena = {0};
    PKC_VEC(int) on_heap = {0};
    for (int i = 0; i < 1000; i++) {
        pkc_vec_push(&arena, &on_arena, i);
        pkc_vec_push(NULL, &on_heap, i * 2);
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(on_arena.data[i], i);
        assert_int_equal(on_heap.data[i], i * 2);
    }
    assert_int_equal(pkc_vec_last(&on_heap), 1998);
    assert_int_equal(pkc_vec_pop(&on_heap), 1998);
    assert_int_equal(on_heap.len, 999);
    pkc_vec_free(&on_heap);
    assert_null(on_heap.data);
    pkc_arena_free(&arena);
}

static void buffers_grow(void **state)
{
    (void)state;
    pkc_buf buf = {0};
    assert_string_equal(pkc_buf_cstr(&buf), "");
    for (int i = 0; i < 1000; i++)
        pkc_buf_printf(&buf, "%d,", i);
    assert_int_equal(buf.len, 10 * 2 + 90 * 3 + 900 * 4);
    assert_memory_equal(buf.data + buf.len - 4, "999,", 5);
    pkc_buf_fill(&buf, '-', 300);
    size_t len = 0;
    char *text = pkc_buf_take(&buf, &len);
    assert_int_equal(strlen(text), len);
    assert_int_equal(buf.len, 0);
    free(text);
    text = pkc_buf_take(&buf, &len);
    assert_string_equal(text, "");
    free(text);
}

static void json_strings_are_escaped(void **state)
{
    (void)state;
    pkc_buf buf = {0};
    pkc_buf_json(&buf, "a\"b\\c\n\t\r\x01\x7f \xc3\xa9 \xff\xc3");
    assert_string_equal(buf.data, "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u007f \xc3\xa9 \\ufffd\\ufffd\"");
    pkc_buf_free(&buf);
}

static void utf8_accepts_what_rfc_3629_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } rows[] = {{"a", 1},
                {"\xc2\x80", 2},
                {"\xdf\xbf", 2},
                {"\xe0\xa0\x80", 3},
                {"\xed\x9f\xbf", 3},
                {"\xef\xbf\xbf", 3},
                {"\xf0\x90\x80\x80", 4},
                {"\xf4\x8f\xbf\xbf", 4},
                {"\x80", 0},             // a later byte
                {"\xc1\xbf", 0},         // overlong
                {"\xe0\x9f\xbf", 0},     // overlong
                {"\xed\xa0\x80", 0},     // a surrogate
                {"\xf0\x8f\xbf\xbf", 0}, // overlong
                {"\xf4\x90\x80\x80", 0}, // beyond U+10FFFF
                {"\xf5\x80\x80\x80", 0}, // likewise
                {"\xe2\x82", 0},         // cut short
                {"\xe2\x28\xa1", 0},
                {"\xff", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pkc_utf8_length(rows[i].text, strlen(rows[i].text)), rows[i].length);
    assert_int_equal(pkc_utf8_length("", 0), 0);
    assert_int_equal(pkc_utf8_length("\xe2\x82\xac", 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(arena_gives_a_block_larger_than_its_chunks),
        cmocka_unit_test(equal_texts_are_one_string),
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(vectors_keep_their_elements),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(utf8_accepts_what_rfc_3629_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
