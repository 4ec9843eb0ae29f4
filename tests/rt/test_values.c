// SPDX-License-Identifier: Apache-2.0
// Host expressions and element conversions.
#include "rt.h"

#include <math.h>

#include "src/internal.h"

static bool eval_in(const char *text, const rt_scope *scope, int64_t *out, char *why)
{
    cJSON *x = cJSON_Parse(text);
    assert_non_null(x);
    bool good = rt_eval(x, scope, out, why, 200);
    cJSON_Delete(x);
    return good;
}

static void evaluates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"5", 5},
        {"[\"dim\", \"R\"]", 10},
        {"[\"add\", [\"rank\"], [\"mul\", [\"ranks\"], [\"sms\"]]]", 3 + 8 * 132},
        {"[\"sub\", 3, 5]", -2},
        {"[\"div\", -7, 2]", -3},
        {"[\"mod\", -7, 2]", -1},
        {"[\"cdiv\", 7, 2]", 4},
        {"[\"cdiv\", -7, 2]", -3},
        {"[\"cdiv\", 8, 2]", 4},
        {"[\"cdiv\", 0, 2]", 0},
        {"[\"min\", 3, -4]", -4},
        {"[\"max\", 3, -4]", 3},
        {"[\"eq\", 3, 3]", 1},
        {"[\"ne\", 3, 3]", 0},
        {"[\"lt\", 2, 3]", 1},
        {"[\"le\", 3, 3]", 1},
        {"[\"and\", 2, 4]", 1},
        {"[\"or\", 0, 0]", 0},
        {"[\"not\", 7]", 0},
    };
    rt_dim dims[] = {{.name = "R", .value = 10, .known = true}};
    rt_scope scope = {.dims = dims, .n_dims = 1, .rank = 3, .ranks = 8, .sms = 132};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char why[200] = "";
        int64_t got;
        assert_true(eval_in(cases[i].text, &scope, &got, why));
        assert_int_equal(got, cases[i].value);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"[\"div\", 1, 0]", "divides by zero"},
        {"[\"mod\", 1, 0]", "divides by zero"},
        {"[\"cdiv\", 1, [\"sub\", 1, 1]]", "divides by zero"},
        {"[\"mul\", [\"mul\", 4503599627370496, 4503599627370496], 2]", "overflows"},
        {"[\"add\", [\"mul\", 4503599627370496, 2047], [\"mul\", 4503599627370496, 2047]]", "overflows"},
        {"[\"dim\", \"Q\"]", "Q"},
        {"[\"sms\"]", "sms"},
        {"[\"stride\", \"A\", 0]", "stride"},
        {"[\"pow\", 1, 2]", "pow"},
        {"[\"add\", 1]", "add"},
        {"{}", "not an expression"},
    };
    rt_dim dims[] = {{.name = "Q"}}; // not known yet
    rt_scope scope = {.dims = dims, .n_dims = 1, .ranks = 8};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char why[200] = "";
        int64_t got;
        assert_false(eval_in(cases[i].text, &scope, &got, why));
        if (!strstr(why, cases[i].why))
            fail_msg("%s: '%s' expected, got '%s'", cases[i].text, cases[i].why, why);
    }
}

static void says_expressions(void **state)
{
    (void)state;
    char text[200];
    cJSON *x =
        cJSON_Parse("[\"eq\", [\"mod\", [\"mul\", [\"dim\", \"K\"], 2], 16], [\"cdiv\", [\"ranks\"], 3]]");
    rt_expr_text(x, text, sizeof text);
    assert_string_equal(text, "((K * 2) % 16) == cdiv(ranks, 3)");
    cJSON_Delete(x);
}

// ---- conversions ---------------------------------------------------------------------------------------

/// Every value of a type with few bits goes to float and back unchanged, NaN apart.
static void round_trips(void **state)
{
    (void)state;
    static const pkrt_elem elems[] = {PKRT_BF16, PKRT_F16, PKRT_E4M3, PKRT_E5M2, PKRT_I8};
    for (size_t e = 0; e < sizeof elems / sizeof elems[0]; e++) {
        size_t size = rt_elem_size(elems[e]);
        for (uint32_t bits = 0; bits < (size == 2 ? 65536u : 256u); bits++) {
            uint32_t back = 0;
            float x;
            rt_to_f32(elems[e], &x, &bits, 1);
            rt_from_f32(elems[e], &back, &x, 1);
            if (isnan(x) || (elems[e] == PKRT_E5M2 && isinf(x))) // which saturates
                continue;
            if (back != bits)
                fail_msg("%s %x: %g, %x", rt_elem_name(elems[e]), bits, (double)x, back);
        }
    }
}

static uint32_t encoded(pkrt_elem elem, float x)
{
    uint32_t bits = 0;
    rt_from_f32(elem, &bits, &x, 1);
    return bits;
}

static void rounds_to_nearest_even(void **state)
{
    (void)state;
    assert_int_equal(encoded(PKRT_BF16, 1.0f + 0x1p-8f), 0x3f80); // half way: down to even
    assert_int_equal(encoded(PKRT_BF16, 1.0f + 0x3p-8f), 0x3f82); // half way: up to even
    assert_int_equal(encoded(PKRT_BF16, 3.4e38f), 0x7f80);        // beyond the largest
    assert_int_equal(encoded(PKRT_F16, 65519.0f), 0x7bff);
    assert_int_equal(encoded(PKRT_F16, 65520.0f), 0x7c00);
    assert_int_equal(encoded(PKRT_F16, 0x1p-25f), 0); // half of the smallest
    assert_int_equal(encoded(PKRT_F16, 0x1.8p-25f), 1);
    assert_int_equal(encoded(PKRT_E4M3, 1e9f), 0x7e); // saturates at 448
    assert_int_equal(encoded(PKRT_E4M3, -INFINITY), 0xfe);
    assert_int_equal(encoded(PKRT_E4M3, 1.0625f), 0x38);
    assert_int_equal(encoded(PKRT_E5M2, 1e9f), 0x7b); // saturates at 57344
    assert_int_equal(encoded(PKRT_E4M3, NAN) & 0x7f, 0x7f);
    assert_true((encoded(PKRT_BF16, NAN) & 0x7fff) > 0x7f80);
    assert_int_equal(encoded(PKRT_I8, -129.0f) & 0xff, 0x80);
    assert_int_equal(encoded(PKRT_I8, 3.9f), 3);
    assert_int_equal(encoded(PKRT_U32, -1.0f), 0);
    assert_int_equal(encoded(PKRT_I32, NAN), 0);
}

static void scalar_types(void **state)
{
    (void)state;
    pkrt_context ctx = {0};
    pkrt_kernel k = {.ctx = &ctx, .name = "k"};
    rt_param p = {.name = "p", .kind = "scalar", .elem = "f32"};
    uint64_t bits;
    assert_int_equal(rt_scalar_set(&k, &p, 0, 1.5), PKRT_OK);
    assert_int_equal(rt_scalar_bits(&p, &bits), 4);
    assert_int_equal(bits, 0x3fc00000);
    assert_error(&ctx, rt_scalar_set(&k, &p, 2, 0), PKRT_INVALID,
                 "kernel 'k', parameter 'p'|f32|`f` expected|2 in `i`");
    p.elem = "u8";
    assert_error(&ctx, rt_scalar_set(&k, &p, 256, 0), PKRT_BAD_SHAPE, "from 0 to 255 expected, got 256");
    assert_error(&ctx, rt_scalar_set(&k, &p, 0, 1.5), PKRT_INVALID, "`i` expected, got 1.5 in `f`");
    p.elem = "i64";
    assert_int_equal(rt_scalar_set(&k, &p, INT64_MIN, 0), PKRT_OK);
    assert_int_equal(rt_scalar_bits(&p, &bits), 8);
    assert_true(bits == UINT64_C(1) << 63);
    p.elem = "q7";
    assert_error(&ctx, rt_scalar_set(&k, &p, 0, 0), PKRT_BAD_MODULE, "no type 'q7'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluates),
        cmocka_unit_test(refuses),
        cmocka_unit_test(says_expressions),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(rounds_to_nearest_even),
        cmocka_unit_test(scalar_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
