// SPDX-License-Identifier: Apache-2.0
// The passes keep what a kernel means: with and without -fno-defer and -fno-flight the same bytes leave in
// the same order, no slot is written while something reads it, no register is read in flight, and nobody gets
// stuck.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "game.h"
#include "ir/lower.h"
#include "sema/sema.h"
#include "syntax/syntax.h"

enum { MAX_ROLES = 8 };

static const char gemm[] = "kernel gemm<S = 4, O = 2, J = 4>(A: bf16[M, K], B: bf16[K, N], C: bf16[M, N]) {\n"
                           "  pipe ab[S] { a: bf16[128, 64]; b: bf16[64, J * 64]; }\n"
                           "  pipe out[O] { c: bf16[128, 64]; }\n"
                           "  for t in worker .. cdiv(M, 128) step workers {\n"
                           "    loader { for k in 0 .. cdiv(K, 64) { put ab { load_async(a, A[t, k]); "
                           "load_async(b, B[k, 0]); } } }\n"
                           "    consumer(2) {\n"
                           "      var acc: f32[128, J * 64] = 0;\n"
                           "      for k in 0 .. cdiv(K, 64) { get ab { mma(acc, a, b); } }\n"
                           "      for const j in 0 .. J { put out { store(c, acc[:, j:64]); } }\n"
                           "    }\n"
                           "    storer { for const j in 0 .. J { get out { store_async(C[t, j], c); } } }\n"
                           "  }\n"
                           "}\n";

static const char two_pipes[] =
    "kernel two<S = 2, O = 2, J = 2>(A: bf16[M, K], B: bf16[K, N], C: bf16[M, N]) {\n"
    "  pipe pa[S] { a: bf16[128, 64]; }\n"
    "  pipe pb[S] { b: bf16[64, J * 64]; }\n"
    "  pipe out[O] { c: bf16[128, J * 64]; }\n"
    "  for t in worker .. cdiv(M, 128) step workers {\n"
    "    loader { for k in 0 .. cdiv(K, 64) { put pa { load_async(a, A[t, k]); } put pb { load_async(b, B[k, "
    "0]); } } }\n"
    "    consumer(2) {\n"
    "      var acc: f32[128, J * 64] = 0;\n"
    "      for k in 0 .. cdiv(K, 64) { get pa { get pb { mma(acc, a, b); } } }\n"
    "      put out { store(c, acc); }\n"
    "    }\n"
    "    storer { get out { store_async(C[t, 0], c); } }\n"
    "  }\n"
    "}\n";

static const char attention[] =
    "kernel attention<S = 2, O = 1, J = 1>(Q: bf16[M, N], P: bf16[K, N], V: bf16[K, N], C: bf16[M, N]) {\n"
    "  pipe qs[1] { q: bf16[128, 64]; }\n"
    "  pipe ks[S] { k: bf16[64, 64]; }\n"
    "  pipe vs[S] { v: bf16[64, 64]; }\n"
    "  pipe os[O] { o: bf16[128, 64]; }\n"
    "  for t in worker .. cdiv(M, 128) step workers {\n"
    "    loader { put qs { load_async(q, Q[t, 0]); }\n"
    "      for j in 0 .. cdiv(K, 64) { put ks { load_async(k, P[j, 0]); } put vs { load_async(v, V[j, 0]); } "
    "} }\n"
    "    consumer(2) {\n"
    "      var acc: f32[128, 64] = 0;\n"
    "      get qs { for j in 0 .. cdiv(K, 64) {\n"
    "        var s: f32[128, 64] = 0;\n"
    "        get ks { mma(s, q, k.T); }\n"
    "        acc = acc * rowmax(s);\n"
    "        get vs { mma(acc, bf16(exp2(s)), v); }\n"
    "      } }\n"
    "      put os { store(o, acc); }\n"
    "    }\n"
    "    storer { get os { store_async(C[t, 0], o); } }\n"
    "  }\n"
    "}\n";

static const char branches[] =
    "kernel branches<S = 3, O = 2, J = 2>(A: bf16[M, K], D: bf16[M, K], B: bf16[K, N], C: bf16[M, N]) {\n"
    "  pipe ab[S] { a: bf16[128, 64]; b: bf16[64, J * 64]; }\n"
    "  pipe out[O] { c: bf16[128, J * 64]; }\n"
    "  for t in worker .. cdiv(M, 128) step workers {\n"
    "    loader { for k in 0 .. cdiv(K, 64) { put ab {\n"
    "      if t % 2 == 0 { load_async(a, A[t, k]); } else { load_async(a, D[t, k]); } load_async(b, B[k, "
    "0]); } } }\n"
    "    consumer(2) {\n"
    "      var acc: f32[128, J * 64] = 0;\n"
    "      for k in 0 .. cdiv(K, 64) { get ab { if k != 1 { mma(acc, a, b); } } }\n"
    "      put out { store(c, acc); }\n"
    "    }\n"
    "    storer { get out { if t != 1 { store_async(C[t, 0], c); } } }\n"
    "  }\n"
    "}\n";

static const char copies[] =
    "kernel copies<S = 5, O = 1, J = 1>(A: bf16[M, K], C: bf16[M, K]) {\n"
    "  pipe p[S] { x: bf16[128, 64]; }\n"
    "  for t in worker .. cdiv(M, 128) step workers {\n"
    "    loader { for k in 0 .. cdiv(K, 64) { put p { load_async(x, A[t, k]); } } }\n"
    "    storer { for k in 0 .. cdiv(K, 64) { get p { store_async(C[t, k], x); store_add_async(C[t, k], x); "
    "} } }\n"
    "  }\n"
    "}\n";

static const char unrolled[] =
    "kernel unrolled<S = 4, O = 2, J = 2>(A: bf16[M, K], B: bf16[K, N], C: bf16[M, N]) {\n"
    "  pipe ab[S] { a: bf16[128, 64]; b: bf16[64, J * 64]; }\n"
    "  pipe out[O] { c: bf16[128, 64]; }\n"
    "  for t in worker .. cdiv(M, 128) step workers {\n"
    "    loader { for k in 0 .. cdiv(K, 64) { for const u in 0 .. 2 {\n"
    "      put ab { load_async(a, A[t, 2 * k + u]); load_async(b, B[2 * k + u, 0]); } } } }\n"
    "    consumer(2) {\n"
    "      var acc: f32[128, J * 64] = 0, sum: f32[128, J * 64] = 0;\n"
    "      for k in 0 .. cdiv(K, 64) {\n"
    "        get ab { mma(acc, a, b); mma(sum, a, b); }\n"
    "        get ab { mma(acc, a, b); }\n"
    "      }\n"
    "      for const j in 0 .. J { put out { store(c, acc[:, j:64] + sum[:, j:64]); } }\n"
    "    }\n"
    "    storer { for const j in 0 .. J { get out { store_async(C[t, j], c); } } }\n"
    "  }\n"
    "}\n";

static const char split[] =
    "kernel split<S = 4, O = 2, J = 2>(A: bf16[M, K], B: bf16[K, N], C: bf16[M, N]) {\n"
    "  pipe ab[S] { a: bf16[128, 64]; b: bf16[64, J * 64]; }\n"
    "  pipe out[O] { c: bf16[128, J * 64]; }\n"
    "  for t in worker .. cdiv(M, 128) step workers {\n"
    "    loader {\n"
    "      for i in 0 .. 2 { for k in 0 .. cdiv(K, 64) { put ab { load_async(a, A[t, k]); load_async(b, B[i, "
    "k]); } } }\n"
    "      put ab { load_async(a, A[t, 0]); load_async(b, B[0, 0]); }\n"
    "      for k in 0 .. cdiv(K, 64) { put ab { load_async(a, A[t, k]); load_async(b, B[7, k]); } } }\n"
    "    consumer(2) {\n"
    "      var acc: f32[128, J * 64] = 0;\n"
    "      for i in 0 .. 2 { for k in 0 .. cdiv(K, 64) { get ab { mma(acc, a, b); } } }\n"
    "      get ab { mma(acc, a, b); }\n"
    "      for k in 0 .. cdiv(K, 64) { get ab { mma(acc, a, b); } }\n"
    "      put out { store(c, acc); }\n"
    "    }\n"
    "    storer { get out { store_async(C[t, 0], c); } }\n"
    "  }\n"
    "}\n";

static void define(pkc_session *s, const char *name, int64_t value)
{
    pkc_define d = {.name = pkc_session_str(s, name), .value = value};
    pkc_vec_push(&s->arena, &s->settings.defines, d);
}

static ir_kernel *compile(pkc_session *s, const char *text, int slots, int outs, int parts)
{
    define(s, "S", slots);
    define(s, "O", outs);
    define(s, "J", parts);
    const pkc_file *file = pkc_session_add_file(s, "game.pk", text, strlen(text));
    pkc_program *program = pkc_load(s, file);
    assert_non_null(program);
    assert_true(pkc_sema(s, program));
    ir_module *m = ir_lower(s, program);
    assert_non_null(m);
    return m->kernels[0];
}

static outcome run(pkc_session *s, ir_kernel *k, const ir_options *options, const game_sizes *sizes)
{
    pkc_buf why = {0};
    if (!ir_run_passes(k, options, IR_PASS_PLACE, NULL, NULL)) {
        pkc_diags_render_text(s, false, &why);
        fail_msg("%s", pkc_buf_cstr(&why));
    }
    if (!ir_verify(k, &why))
        fail_msg("%s", pkc_buf_cstr(&why));
    trace traces[MAX_ROLES];
    int n = 0;
    for (const ir_role *r = k->groups->roles; r != NULL; r = r->next)
        record(&s->arena, k, r, sizes, &traces[n++]);
    return play(&s->arena, k, traces, n);
}

typedef struct shape {
    int slots, outs, parts;
} shape;

/// One kernel, one set of sizes, all four settings: the outcome of the plainest is the measure.
static void compare(const char *text, shape sh, int64_t tasks, int64_t blocks)
{
    game_sizes sz = {.dim = 128 * tasks, .k = 64 * blocks, .workers = 1, .ranks = 1};
    pkc_session plain;
    pkc_session_init(&plain);
    ir_options options = {.no_defer = true, .no_flight = true, .smem_limit = 1 << 20, .regs_per_sm = 65536};
    outcome expected = run(&plain, compile(&plain, text, sh.slots, sh.outs, sh.parts), &options, &sz);
    if (expected.fault != NULL)
        fail_msg("plain, %d slots, %d tasks, %d blocks: %s", sh.slots, (int)tasks, (int)blocks,
                 expected.fault);
    for (int bits = 0; bits < 3; bits++) {
        pkc_session s;
        pkc_session_init(&s);
        options.no_defer = bits & 1;
        options.no_flight = bits & 2;
        outcome got = run(&s, compile(&s, text, sh.slots, sh.outs, sh.parts), &options, &sz);
        if (got.fault != NULL)
            fail_msg("settings %d, %d slots, %d tasks, %d blocks: %s", bits, sh.slots, (int)tasks,
                     (int)blocks, got.fault);
        assert_int_equal(got.stores.len, expected.stores.len);
        for (size_t i = 0; i < got.stores.len; i++)
            assert_true(got.stores.data[i] == expected.stores.data[i]);
        pkc_session_free(&s);
    }
    pkc_session_free(&plain);
}

static void compare_all(const char *text, const shape *shapes, int n)
{
    static const int blocks[] = {0, 1, 2, 3, 5, 9};
    for (int i = 0; i < n; i++)
        for (int tasks = 0; tasks < 4; tasks++)
            for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++)
                compare(text, shapes[i], tasks, blocks[b]);
}

static void test_gemm(void **state)
{
    static const shape shapes[] = {{4, 2, 4}, {2, 1, 3}, {1, 1, 2}, {3, 3, 1}};
    (void)state;
    compare_all(gemm, shapes, 4);
}

static void test_two_pipes(void **state)
{
    static const shape shapes[] = {{2, 2, 2}, {1, 1, 1}, {4, 1, 2}};
    (void)state;
    compare_all(two_pipes, shapes, 3);
}

static void test_attention(void **state)
{
    static const shape shapes[] = {{2, 1, 1}, {1, 1, 1}, {3, 2, 1}};
    (void)state;
    compare_all(attention, shapes, 3);
}

static void test_branches(void **state)
{
    static const shape shapes[] = {{3, 2, 2}, {2, 1, 1}, {1, 1, 1}};
    (void)state;
    compare_all(branches, shapes, 3);
}

static void test_copies(void **state)
{
    static const shape shapes[] = {{1, 1, 1}, {2, 1, 1}, {5, 1, 1}};
    (void)state;
    compare_all(copies, shapes, 3);
}

static void test_unrolled(void **state)
{
    static const shape shapes[] = {{4, 2, 2}, {2, 1, 1}, {1, 1, 1}};
    (void)state;
    compare_all(unrolled, shapes, 3);
}

static void test_split(void **state)
{
    static const shape shapes[] = {{4, 2, 2}, {2, 1, 1}, {1, 1, 1}};
    (void)state;
    compare_all(split, shapes, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),     cmocka_unit_test(test_two_pipes), cmocka_unit_test(test_attention),
        cmocka_unit_test(test_branches), cmocka_unit_test(test_copies),    cmocka_unit_test(test_unrolled),
        cmocka_unit_test(test_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
