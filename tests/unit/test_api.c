// SPDX-License-Identifier: Apache-2.0
// libpkc as an application uses it.
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pkc/pkc.h"

static const char good[] = "import lib;\nkernel k<N = 4>(X: f32[M]) { let a = lib.f(N); }\n";
static const char wrong[] = "kernel k(X: f32[M]) { let = 1; }\n";

static char *read_lib(void *context, const char *path, size_t *len)
{
    static const char lib[] = "fn f(a) { return a; }\n";
    int *asked = context;
    (*asked)++;
    if (!strstr(path, "inc/lib.pk"))
        return NULL;
    *len = sizeof lib - 1;
    return strdup(lib);
}

static pkc_options ast_options(int *asked)
{
    static const char *const dirs[] = {"inc"};
    pkc_options options = PKC_OPTIONS_INIT;
    options.emit = PKC_EMIT_AST;
    options.include_dirs = dirs;
    options.include_dir_count = 1;
    options.read_file = read_lib;
    options.read_context = asked;
    return options;
}

static void a_good_program_gives_output(void **state)
{
    (void)state;
    int asked = 0;
    pkc_options options = ast_options(&asked);
    pkc_result *result = NULL;
    size_t len = 0;
    assert_true(pkc_compile("app/k.pk", good, strlen(good), &options, &result));
    assert_int_equal(asked, 2); // app/lib.pk, then inc/lib.pk
    assert_true(pkc_result_ok(result));
    assert_non_null(strstr(pkc_result_output(result, &len), "lib.f(N)"));
    assert_int_equal(strlen(pkc_result_output(result, NULL)), len);
    assert_string_equal(pkc_result_diagnostics(result, PKC_DIAGNOSTICS_TEXT, &len), "");
    assert_int_equal(len, 0);
    assert_int_equal(pkc_result_import_count(result), 1);
    assert_string_equal(pkc_result_import(result, 0), "inc/lib.pk");
    assert_null(pkc_result_import(result, 1));
    pkc_result_free(result);
}

static void a_wrong_program_gives_diagnostics_and_nothing_else(void **state)
{
    (void)state;
    int asked = 0;
    pkc_options options = ast_options(&asked);
    pkc_result *result = NULL;
    assert_false(pkc_compile("k.pk", wrong, strlen(wrong), &options, &result));
    assert_false(pkc_result_ok(result));
    assert_string_equal(pkc_result_output(result, NULL), "");
    assert_non_null(
        strstr(pkc_result_diagnostics(result, PKC_DIAGNOSTICS_TEXT, NULL), "k.pk:1:27: error E0110"));
    assert_non_null(strstr(pkc_result_diagnostics(result, PKC_DIAGNOSTICS_COLOR, NULL), "\033["));
    assert_int_equal(pkc_result_diagnostics(result, PKC_DIAGNOSTICS_JSON, NULL)[0], '{');
    pkc_result_free(result);
}

static void check_only_gives_no_output(void **state)
{
    (void)state;
    int asked = 0;
    pkc_options options = ast_options(&asked);
    options.check_only = true;
    pkc_result *result = NULL;
    assert_true(pkc_compile("k.pk", good, strlen(good), &options, &result));
    assert_string_equal(pkc_result_output(result, NULL), "");
    pkc_result_free(result);
}

// A caller that was compiled with an older, shorter struct: what lies behind it is not read.
static void an_older_struct_is_understood(void **state)
{
    (void)state;
    int asked = 0;
    pkc_options options = ast_options(&asked);
    options.size = offsetof(pkc_options, arch);
    pkc_result *result = NULL;
    assert_false(pkc_compile("k.pk", good, strlen(good), &options, &result));
    assert_int_equal(asked, 0);
    assert_non_null(strstr(pkc_result_diagnostics(result, PKC_DIAGNOSTICS_TEXT, NULL), "E0116"));
    pkc_result_free(result);
    pkc_result_free(NULL);
}

static void codes_are_explained(void **state)
{
    (void)state;
    assert_non_null(strstr(pkc_explain("E0114"), "&&"));
    assert_null(pkc_explain("E0000"));
    assert_int_equal(strspn(pkc_version(), "0123456789."), strlen(pkc_version()));
}

static void *compile_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < 200; i++) {
        int asked = 0;
        pkc_options options = ast_options(&asked);
        pkc_result *result = NULL;
        const char *text = i % 2 ? good : wrong;
        if (pkc_compile("k.pk", text, strlen(text), &options, &result) != (i % 2 == 1))
            return "a compilation went differently";
        pkc_result_free(result);
    }
    return NULL;
}

static void threads_do_not_meet(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_often, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *problem = NULL;
        pthread_join(threads[i], &problem);
        assert_null(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_program_gives_output),
        cmocka_unit_test(a_wrong_program_gives_diagnostics_and_nothing_else),
        cmocka_unit_test(check_only_gives_no_output),
        cmocka_unit_test(an_older_struct_is_understood),
        cmocka_unit_test(codes_are_explained),
        cmocka_unit_test(threads_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
