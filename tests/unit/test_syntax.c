// SPDX-License-Identifier: Apache-2.0
// What sema relies on in the tree: spans, docs, depths, slots, and the walker's order.
#include "unit.h"

#include <string.h>

#include "syntax/syntax.h"

static pkc_session session;

static int open_session(void **state)
{
    (void)state;
    pkc_session_init(&session);
    return 0;
}

static int close_session(void **state)
{
    (void)state;
    pkc_session_free(&session);
    return 0;
}

static pkc_module *parse(const char *text)
{
    pkc_module *module =
        pkc_parse(&session, pkc_session_add_file(&session, "dir/mod.pk", text, strlen(text)));
    assert_false(pkc_has_errors(&session));
    assert_null(pkc_ast_verify(&session, module));
    return module;
}

static void assert_span(pkc_span span, const char *text)
{
    assert_int_equal(span.end - span.begin, strlen(text));
    assert_memory_equal(span.file->text + span.begin, text, strlen(text));
}

static void items_have_names_spans_and_docs(void **state)
{
    (void)state;
    pkc_module *module =
        parse("// not a doc\n\n// first\n//   second\n@a kernel k<N = 1>(X: bf16[M]) { }\nimport order;\n"
              "  // of f\n  fn f(a, b: i32) -> (i32, i32) { return (a, b); }\n");
    assert_string_equal(module->name, "mod");
    assert_int_equal(module->items.len, 3);
    const pkc_item *k = module->items.data[0], *f = module->items.data[2];
    assert_int_equal(k->kind, PKC_ITEM_KERNEL);
    assert_string_equal(k->doc, "first\n  second");
    assert_span(k->span, "@a kernel k<N = 1>(X: bf16[M]) { }");
    assert_string_equal(k->as.kernel.attributes.data[0].text, "a");
    assert_string_equal(f->doc, "of f");
    assert_null(f->as.fn.params.data[0]->type);
    assert_int_equal(f->as.fn.result->kind, PKC_TYEXPR_TUPLE);
    assert_null(module->items.data[1]->as.import.module);
}

static const pkc_stmt *stmt(const char *body)
{
    pkc_module *module = parse(pkc_arena_printf(&session.arena, "kernel k(X: f32[M]) { %s }", body));
    return module->items.data[0]->as.kernel.body->stmts.data[0];
}

static void expressions_bind_as_the_page_says(void **state)
{
    (void)state;
    const pkc_stmt *s = stmt("x = a || b && -c.T[1] * 2 + 3 < 4;");
    assert_int_equal(s->kind, PKC_STMT_ASSIGN);
    assert_span(s->span, "x = a || b && -c.T[1] * 2 + 3 < 4;");
    const pkc_expr *e = s->as.assign.value;
    assert_int_equal(e->as.binary.op, PKC_BINARY_OR);
    e = e->as.binary.right;
    assert_int_equal(e->as.binary.op, PKC_BINARY_AND);
    e = e->as.binary.right;
    assert_int_equal(e->as.binary.op, PKC_BINARY_LT);
    e = e->as.binary.left;
    assert_int_equal(e->as.binary.op, PKC_BINARY_ADD);
    e = e->as.binary.left;
    assert_int_equal(e->as.binary.op, PKC_BINARY_MUL);
    assert_span(e->span, "-c.T[1] * 2");
    e = e->as.binary.left;
    assert_int_equal(e->as.unary.op, PKC_UNARY_NEG);
    assert_int_equal(e->as.unary.operand->kind, PKC_EXPR_INDEX);
}

static void views_keep_their_parts(void **state)
{
    (void)state;
    const pkc_expr *e = stmt("Y@all[i, :, j:T, lo..:8, lo..hi:B];")->as.expr.value;
    assert_int_equal(e->kind, PKC_EXPR_INDEX);
    const pkc_expr *peer = e->as.index.base;
    assert_int_equal(peer->kind, PKC_EXPR_PEER);
    assert_string_equal(peer->as.peer.place->as.name.name.text, "all");
    for (int i = 0; i < PKC_INDEX_COUNT; i++)
        assert_int_equal(e->as.index.indices.data[i]->kind, i);
    assert_span(e->as.index.indices.data[4]->span, "lo..hi:B");
}

static void parentheses_belong_to_the_span(void **state)
{
    (void)state;
    const pkc_expr *e = stmt("(a + b) * c;")->as.expr.value;
    assert_span(e->as.binary.left->span, "(a + b)");
    assert_span(e->span, "(a + b) * c");
    assert_int_equal(stmt("(a, b) = f(x);")->as.assign.target->kind, PKC_EXPR_TUPLE);
}

static void else_if_is_a_block_of_one_if(void **state)
{
    (void)state;
    const pkc_stmt *s = stmt("if a { } else if b { } else { x = 1; }");
    const pkc_block *other = s->as.if_.else_body;
    assert_true(other->else_if);
    assert_int_equal(other->stmts.len, 1);
    const pkc_stmt *inner = other->stmts.data[0];
    assert_int_equal(inner->kind, PKC_STMT_IF);
    assert_false(inner->as.if_.else_body->else_if);
    assert_int_equal(s->depth, inner->depth + 1);
}

static void roles_know_what_they_count(void **state)
{
    (void)state;
    const struct pkc_stmt_role *role = &stmt("role mine: warpgroups(2) { }")->as.role;
    assert_int_equal(role->role, PKC_ROLE_USER);
    assert_string_equal(role->name.text, "mine");
    assert_int_equal(role->unit, PKC_UNIT_WARPGROUPS);
    role = &stmt("loader { }")->as.role;
    assert_int_equal(role->role, PKC_ROLE_LOADER);
    assert_null(role->count);
    role = &stmt("consumer(2) { }")->as.role;
    assert_int_equal(role->unit, PKC_UNIT_WARPGROUPS);
    assert_int_equal(stmt("communicator(8) { }")->as.role.unit, PKC_UNIT_WARPS);
}

static void words_may_be_names(void **state)
{
    (void)state;
    const pkc_stmt *s = stmt("for step in in .. step step step { }");
    assert_string_equal(s->as.for_.name.text, "step");
    assert_string_equal(s->as.for_.step->as.name.name.text, "step");
}

static void add_name(pkc_visitor *v, pkc_name *name)
{
    pkc_buf_printf(v->context, "%s ", name->text);
}

static void the_walker_goes_in_source_order(void **state)
{
    (void)state;
    pkc_module *module =
        parse("@at kernel k<N = n>(X: bf16[M, d]) { let (a, b) = f(c), e: f32[g] = h; "
              "for i in j .. l step o { put p { q(r@s[t, u:v, w..x:y]).z; } } if A { } else { B -= C; } }");
    pkc_buf names = {0};
    pkc_visitor v = {.name = add_name, .context = &names};
    pkc_walk_module(&v, module);
    assert_string_equal(names.data,
                        "at k N n X bf16 M d a b f c e f32 g h i j l o p q r s t u v w x y z A B C ");
    pkc_buf_free(&names);
}

static void the_verifier_finds_a_missing_child(void **state)
{
    (void)state;
    pkc_module *module = parse("kernel k(X: f32[M]) { x = a + b; }");
    pkc_stmt *s = module->items.data[0]->as.kernel.body->stmts.data[0];
    pkc_expr *sum = s->as.assign.value;
    pkc_expr *right = sum->as.binary.right;
    sum->as.binary.right = NULL;
    assert_string_equal(pkc_ast_verify(&session, module), "binary at byte 26: right is missing");
    sum->as.binary.right = right;
    right->span.end += 5;
    assert_non_null(strstr(pkc_ast_verify(&session, module), "reaches beyond its node"));
    right->span.end -= 5;
    sum->as.binary.op = PKC_BINARY_COUNT;
    assert_non_null(strstr(pkc_ast_verify(&session, module), "op is out of range"));
}

static void numbers_print_as_they_read(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0.1",     "1.0",        "1e+300",
                                          "2.5e-10", "123456.789", "9223372036854775807"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        pkc_buf out = {0};
        pkc_print_expr(stmt(pkc_arena_printf(&session.arena, "%s;", numbers[i]))->as.expr.value, &out);
        assert_string_equal(out.data, numbers[i]);
        pkc_buf_free(&out);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_session, close_session)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(items_have_names_spans_and_docs),
        TEST(expressions_bind_as_the_page_says),
        TEST(views_keep_their_parts),
        TEST(parentheses_belong_to_the_span),
        TEST(else_if_is_a_block_of_one_if),
        TEST(roles_know_what_they_count),
        TEST(words_may_be_names),
        TEST(the_walker_goes_in_source_order),
        TEST(the_verifier_finds_a_missing_child),
        TEST(numbers_print_as_they_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
