// SPDX-License-Identifier: Apache-2.0
// Modules whose description is broken are refused with the place of the fault, and never misread.
#include "rt.h"

#include <cjson/cJSON.h>

#include "kernels.pk.h"

static pkrt_context *ctx;

static int open_once(void **state)
{
    (void)state;
    ctx = rt_open(1, 1);
    return 0;
}

static int close_once(void **state)
{
    (void)state;
    pkrt_context_destroy(ctx);
    return rt_live() != 0;
}

static cJSON *good_description(void)
{
    cJSON *meta = cJSON_Parse(kernels_pk + strlen("//pk "));
    assert_non_null(meta);
    return meta;
}

static pkrt_status load_description(const cJSON *meta)
{
    pkrt_module *m;
    char *json = cJSON_PrintUnformatted(meta), *text = malloc(strlen(json) + 10);
    sprintf(text, "//pk %s\n", json);
    pkrt_status s = pkrt_module_load(ctx, &m, text, strlen(text));
    assert_true((s == PKRT_OK) == (m != NULL));
    pkrt_module_destroy(m);
    free(text);
    free(json);
    return s;
}

static void not_a_module(void **state)
{
    (void)state;
    pkrt_module *m;
    static const char *const texts[] = {"", ".version 8.6\n", "//pk {", "//pk {\n", "//pk 5\n", "//pk []\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(pkrt_module_load(ctx, &m, texts[i], strlen(texts[i])), PKRT_BAD_MODULE);
        assert_null(m);
    }
}

static void newer_version(void **state)
{
    (void)state;
    cJSON *meta = good_description();
    cJSON_SetNumberValue(cJSON_GetArrayItem(cJSON_GetObjectItem(meta, "abi"), 1),
                         99); // a newer minor is read
    assert_int_equal(load_description(meta), PKRT_OK);
    cJSON_SetNumberValue(cJSON_GetArrayItem(cJSON_GetObjectItem(meta, "abi"), 0), 2);
    assert_error(ctx, load_description(meta), PKRT_BAD_MODULE, "version 2|knows 1");
    cJSON_Delete(meta);
}

static void no_kernels(void **state)
{
    (void)state;
    cJSON *meta = good_description();
    cJSON_ReplaceItemInObject(meta, "kernels", cJSON_CreateArray());
    assert_error(ctx, load_description(meta), PKRT_BAD_MODULE, "no kernel");
    cJSON_Delete(meta);
}

/// Goes through all fields below `x`, and puts something of another type in the place of each, then nothing.
static void spoil_below(cJSON *meta, cJSON *x, int *refused)
{
    for (cJSON *field = x->child, *following; field; field = following) {
        following = field->next;
        if (cJSON_IsObject(field) || (cJSON_IsArray(field) && cJSON_IsObject(field->child)))
            spoil_below(meta, field, refused);
        if (!cJSON_IsObject(x) || field->string == NULL)
            continue;
        char *name = strdup(field->string);
        cJSON *other = cJSON_IsNull(field) ? cJSON_CreateNumber(1) : cJSON_CreateNull();
        cJSON *copy = cJSON_Duplicate(field, true);
        cJSON_ReplaceItemInObjectCaseSensitive(x, name, other);
        pkrt_status s = load_description(meta);
        const char *error = pkrt_last_error(ctx);
        if (s != PKRT_OK && !strstr(error, name) && !strstr(error, "version 0") && !strstr(error, "consts"))
            fail_msg("'%s' is not named: %s", name, pkrt_last_error(ctx));
        *refused += s != PKRT_OK;
        char *key = other->string, absent[] = "absent";
        other->string = absent;
        load_description(meta); // the field may or may not be needed; either way no crash
        other->string = key;
        cJSON_ReplaceItemInObjectCaseSensitive(x, name, copy);
        free(name);
    }
}

static void spoiled_fields(void **state)
{
    (void)state;
    int refused = 0;
    cJSON *meta = good_description();
    spoil_below(meta, meta, &refused);
    assert_int_equal(load_description(meta), PKRT_OK); // all was put back
    assert_true(refused > 100);
    cJSON_Delete(meta);
}

static void deep_expressions(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    pkrt_module *m;
    char *text = malloc(DEPTH * 2 + 100), *at = text;
    at += sprintf(at, "//pk {\"abi\":[1,0],\"kernels\":");
    memset(at, '[', DEPTH);
    memset(at + DEPTH, ']', DEPTH);
    strcpy(at + 2 * DEPTH, "}\n");
    assert_int_equal(pkrt_module_load(ctx, &m, text, strlen(text)), PKRT_BAD_MODULE);
    free(text);
}

/// Text cut anywhere, and single bytes changed, do not crash the reader.
static void damaged_text(void **state)
{
    (void)state;
    size_t end = strcspn(kernels_pk, "\n") + 1;
    char *text = malloc(end + 1);
    pkrt_module *m;
    for (size_t i = 0; i < end; i += 7) {
        memcpy(text, kernels_pk, end);
        text[end] = 0;
        text[i] = text[i] == '"' ? '7' : '"';
        pkrt_module_load(ctx, &m, text, end);
        pkrt_module_destroy(m);
        pkrt_module_load(ctx, &m, kernels_pk, i);
        pkrt_module_destroy(m);
    }
    free(text);
}

static void other_target(void **state)
{
    (void)state;
    pkrt_module *m;
    pkrt_kernel *k;
    char *text = strdup(kernels_pk), *at = strstr(text, "\"target\":\"sm_90a\"");
    assert_non_null(at);
    memcpy(at, "\"target\":\"sm_100\"", strlen("\"target\":\"sm_100\""));
    assert_ok(ctx, pkrt_module_load(ctx, &m, text, strlen(text)));
    pkrt_arg args[] = {{.name = "X", .tensor = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){64}, 0)},
                       {.name = "Y", .tensor = rt_tensor(ctx, PKRT_F32, 1, (int64_t[]){64}, PKRT_SYMMETRIC)}};
    assert_error(ctx, pkrt_kernel_bind(m, &k, "ring", args, 2), PKRT_BAD_MODULE, "sm_100|device 0 is sm_90");
    assert_null(k);
    free(text);
}

static void asks_about_kernels(void **state)
{
    (void)state;
    pkrt_module *m = rt_load(ctx);
    pkrt_param_info info;
    assert_int_equal(pkrt_module_kernel_count(m), 5);
    assert_string_equal(pkrt_module_kernel_name(m, 1), "ring");
    assert_null(pkrt_module_kernel_name(m, 5));
    assert_int_equal(pkrt_module_param_count(m, "shapes"), 7);
    assert_true(pkrt_module_param(m, "shapes", 2, &info));
    assert_string_equal(info.name, "Z");
    assert_true(info.written && !info.scalar && !info.peer && info.elem == PKRT_F32 && info.n_dims == 2);
    assert_true(pkrt_module_param(m, "ring", 2, &info) && info.signal);
    assert_true(pkrt_module_param(m, "ring", 1, &info) && info.peer);
    assert_false(pkrt_module_param(m, "ring", 3, &info));
    assert_false(pkrt_module_param(m, "nothing", 0, &info));
    assert_string_equal(pkrt_module_dim_name(m, "shapes", 0), "M");
    assert_string_equal(pkrt_module_dim_name(m, "shapes", 1), "N");
    assert_null(pkrt_module_dim_name(m, "shapes", 2));
    assert_null(pkrt_module_dim_name(m, "shapes", -1));
    int64_t size, seven = 7;
    const char *name = "M";
    assert_ok(ctx, pkrt_module_param_dim(m, "shapes", 2, 0, &name, &seven, 1, &size));
    assert_int_equal(size, 4);
    assert_error(ctx, pkrt_module_param_dim(m, "shapes", 2, 1, &name, &seven, 1, &size), PKRT_BAD_SHAPE,
                 "'Z'|N");
    pkrt_module_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_a_module),     cmocka_unit_test(newer_version),
        cmocka_unit_test(no_kernels),       cmocka_unit_test(spoiled_fields),
        cmocka_unit_test(deep_expressions), cmocka_unit_test(damaged_text),
        cmocka_unit_test(other_target),     cmocka_unit_test(asks_about_kernels),
    };
    return cmocka_run_group_tests(tests, open_once, close_once);
}
