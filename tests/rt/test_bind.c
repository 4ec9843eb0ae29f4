// SPDX-License-Identifier: Apache-2.0
// What binding refuses, and how it says so: kernel, parameter, expected, got, and the nearest that works.
#include "rt.h"

#include <cjson/cJSON.h>

#include "kernels.pk.h"

typedef struct fixture {
    pkrt_context *ctx;
    pkrt_module *m;
    shapes_args shapes; // of kernel shapes, right: M = 6, N = 128
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->ctx = rt_open(2, 2);
    f->m = rt_load(f->ctx);
    f->shapes = (shapes_args){.X = rt_tensor(f->ctx, PKRT_F32, 2, (int64_t[]){6, 128}, 0),
                              .Y = rt_tensor(f->ctx, PKRT_F32, 2, (int64_t[]){128, 4}, 0),
                              .Z = rt_tensor(f->ctx, PKRT_F32, 2, (int64_t[]){3, 128}, 0),
                              .n = 1,
                              .f = 2,
                              .w = 3,
                              .on = true};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    pkrt_context_destroy(f->ctx);
    free(f);
    return rt_live() != 0;
}

static pkrt_tensor *tensor(fixture *f, int n_dims, const int64_t *dims)
{
    return rt_tensor(f->ctx, PKRT_F32, n_dims, dims, 0);
}

static void refused(fixture *f, const shapes_args *a, pkrt_status want, const char *words)
{
    pkrt_kernel *k;
    pkrt_status s = shapes_bind(f->m, &k, a);
    assert_null(k);
    assert_error(f->ctx, s, want, words);
}

static void right_shapes(void **state)
{
    fixture *f = *state;
    pkrt_kernel *k;
    assert_ok(f->ctx, shapes_bind(f->m, &k, &f->shapes));
    assert_true(pkrt_kernel_sms(k) > 0);
}

static void wrong_shapes(void **state)
{
    fixture *f = *state;
    shapes_args a = f->shapes;
    a.Y = tensor(f, 2, (int64_t[]){130, 4});
    refused(f, &a, PKRT_BAD_SHAPE,
            "kernel 'shapes', parameter 'Y'|dimension 0 (N) expected to be 128 as in 'X', got 130");
    a = f->shapes;
    a.Y = tensor(f, 2, (int64_t[]){128, 5});
    refused(f, &a, PKRT_BAD_SHAPE, "parameter 'Y'|dimension 1 expected to be 4, got 5");
    a = f->shapes;
    a.Z = tensor(f, 2, (int64_t[]){4, 128});
    refused(f, &a, PKRT_BAD_SHAPE, "parameter 'Z'|dimension 0 (cdiv(M, 2)) expected to be 3, got 4");
    a.Z = tensor(f, 1, (int64_t[]){3});
    refused(f, &a, PKRT_BAD_SHAPE, "parameter 'Z'|2 dimensions expected, got 1");
    a.Z = rt_tensor(f->ctx, PKRT_BF16, 2, (int64_t[]){3, 128}, 0);
    refused(f, &a, PKRT_BAD_SHAPE, "parameter 'Z'|elements expected to be f32, got bf16");
}

static void requirements(void **state)
{
    fixture *f = *state;
    shapes_args a = f->shapes;
    a.X = tensor(f, 2, (int64_t[]){7, 128});
    a.Z = tensor(f, 2, (int64_t[]){4, 128});
    refused(f, &a, PKRT_BAD_SHAPE,
            "kernel 'shapes': M must be a multiple of 3; got M = 7; the nearest M that works is 6");
}

static void bulk_copies(void **state)
{
    fixture *f = *state;
    pkrt_kernel *k;
    spread_args a = {.X = rt_tensor(f->ctx, PKRT_BF16, 2, (int64_t[]){8, 100}, 0),
                     .Y = rt_tensor(f->ctx, PKRT_BF16, 3, (int64_t[]){2, 8, 100}, PKRT_SYMMETRIC)};
    assert_error(f->ctx, spread_bind(f->m, &k, &a), PKRT_BAD_SHAPE,
                 "kernel 'spread'|16 bytes|got N = 100; the nearest N that works is 104");
    a.Y = rt_tensor(f->ctx, PKRT_BF16, 3, (int64_t[]){3, 8, 100}, PKRT_SYMMETRIC);
    assert_error(f->ctx, spread_bind(f->m, &k, &a), PKRT_BAD_SHAPE,
                 "'Y'|dimension 0 (ranks) expected to be 2, got 3");
}

/// What the encoder of tensor maps would refuse is refused before, in the kernel's words.
static void strides_and_addresses(void **state)
{
    fixture *f = *state;
    pkrt_kernel *k;
    pkrt_tensor *memory = rt_tensor(f->ctx, PKRT_BF16, 1, (int64_t[]){10000}, 0), *X;
    void *at[2], *odd[2];
    for (int r = 0; r < 2; r++) {
        at[r] = pkrt_tensor_pointer(memory, r);
        odd[r] = (char *)at[r] + 2;
    }
    spread_args a = {.Y = rt_tensor(f->ctx, PKRT_BF16, 3, (int64_t[]){2, 8, 96}, PKRT_SYMMETRIC)};
    const int64_t dims[] = {8, 96};
    assert_ok(f->ctx, pkrt_tensor_wrap(f->ctx, &X, PKRT_BF16, 2, dims, (int64_t[]){100}, at, 0));
    a.X = X;
    assert_error(f->ctx, spread_bind(f->m, &k, &a), PKRT_BAD_SHAPE,
                 "parameter 'X'|multiples of 16 bytes expected, got 200|208");
    assert_ok(f->ctx, pkrt_tensor_wrap(f->ctx, &X, PKRT_BF16, 2, dims, NULL, odd, 0));
    a.X = X;
    assert_error(f->ctx, spread_bind(f->m, &k, &a), PKRT_BAD_SHAPE,
                 "parameter 'X'|address|multiple of 16|rank 0");
    assert_ok(f->ctx, pkrt_tensor_wrap(f->ctx, &X, PKRT_BF16, 2, dims, (int64_t[]){104}, at, 0));
    a.X = X;
    assert_ok(f->ctx, spread_bind(f->m, &k, &a));
}

static void wrong_arguments(void **state)
{
    fixture *f = *state;
    pkrt_kernel *k;
    shapes_args a = f->shapes;
    a.X = NULL;
    refused(f, &a, PKRT_INVALID, "kernel 'shapes', parameter 'X': a tensor expected, got none");
    pkrt_tensor *x = rt_tensor(f->ctx, PKRT_F32, 1, (int64_t[]){64}, 0);
    pkrt_tensor *y = rt_tensor(f->ctx, PKRT_F32, 1, (int64_t[]){64}, PKRT_SYMMETRIC);
    pkrt_arg args[] = {{.name = "X", .tensor = x}, {.name = "Y", .tensor = y}, {.name = "Q", .tensor = x}};
    assert_error(f->ctx, pkrt_kernel_bind(f->m, &k, "ring", args, 3), PKRT_INVALID,
                 "kernel 'ring' has no parameter 'Q'; it has X, Y");
    args[2].name = "X";
    assert_error(f->ctx, pkrt_kernel_bind(f->m, &k, "ring", args, 3), PKRT_INVALID, "'X': given twice");
    args[2].name = "done";
    assert_error(f->ctx, pkrt_kernel_bind(f->m, &k, "ring", args, 3), PKRT_INVALID,
                 "'done': signals are the kernel's own");
    assert_error(f->ctx, pkrt_kernel_bind(f->m, &k, "ring", args, 1), PKRT_INVALID,
                 "parameter 'Y': nothing was passed");
    args[1].tensor = x;
    assert_error(f->ctx, pkrt_kernel_bind(f->m, &k, "ring", args, 2), PKRT_BAD_SHAPE,
                 "'Y'|symmetric|PKRT_SYMMETRIC|local");
    assert_error(f->ctx, pkrt_kernel_bind(f->m, &k, NULL, args, 2), PKRT_INVALID, "several kernels");
    assert_error(f->ctx, pkrt_kernel_bind(f->m, &k, "nothing", args, 2), PKRT_INVALID, "no kernel 'nothing'");
    pkrt_arg number[] = {{.name = "n", .tensor = x}};
    assert_error(f->ctx, pkrt_kernel_bind(f->m, &k, "shapes", number, 1), PKRT_INVALID,
                 "'n': a number expected, got a tensor");
}

static void other_contexts(void **state)
{
    fixture *f = *state;
    pkrt_kernel *k;
    pkrt_context *other = rt_open(2, 1);
    shapes_args a = f->shapes;
    a.X = rt_tensor(other, PKRT_F32, 2, (int64_t[]){6, 128}, 0);
    assert_error(f->ctx, shapes_bind(f->m, &k, &a), PKRT_INVALID, "parameter 'X'|another context");
    pkrt_context_destroy(other);
}

/// A changed description: group counts, blocks and maps that do not fit.
static pkrt_status bind_changed(fixture *f, const char *from, const char *to, const char *kernel,
                                const pkrt_arg *args, int n)
{
    pkrt_module *m;
    pkrt_kernel *k;
    size_t head = strcspn(kernels_pk, "\n"), room = strlen(kernels_pk) + strlen(to) + 1;
    char *text = calloc(1, room);
    const char *at = strstr(kernels_pk, from);
    assert_non_null(at);
    assert_true(at < kernels_pk + head);
    snprintf(text, room, "%.*s%s%s", (int)(at - kernels_pk), kernels_pk, to, at + strlen(from));
    assert_ok(f->ctx, pkrt_module_load(f->ctx, &m, text, strlen(text)));
    pkrt_status s = pkrt_kernel_bind(m, &k, kernel, args, n);
    assert_true((s == PKRT_OK) == (k != NULL));
    free(text);
    return s;
}

static void groups(void **state)
{
    fixture *f = *state;
    pkrt_tensor *x = rt_tensor(f->ctx, PKRT_F32, 1, (int64_t[]){64}, 0);
    pkrt_arg args[] = {{.name = "X", .tensor = x}, {.name = "Y", .tensor = x}, {.name = "Z", .tensor = x}};
    const char *count = "{\"name\":\"first\",\"count\":2", *rest = "\"count\":[\"sub\",[\"sms\"],2]";
    assert_int_equal(bind_changed(f, count, count, "split", args, 3), PKRT_OK);
    assert_error(f->ctx, bind_changed(f, count, "{\"name\":\"first\",\"count\":0", "split", args, 3),
                 PKRT_NO_ROOM, "kernel 'split', group 'first': at least 1 worker expected, got 0");
    assert_error(f->ctx, bind_changed(f, rest, "\"count\":[\"sub\",[\"sms\"],100000]", "split", args, 3),
                 PKRT_NO_ROOM, "group 'rest': at least 1 worker expected, got -");
    assert_error(f->ctx, bind_changed(f, rest, "\"count\":[\"sms\"]", "split", args, 3), PKRT_NO_ROOM,
                 "the groups want");
    assert_error(f->ctx, bind_changed(f, rest, "\"count\":[\"div\",1,0]", "split", args, 3), PKRT_NO_ROOM,
                 "group 'rest'|divides by zero");
}

static void too_large(void **state)
{
    fixture *f = *state;
    pkrt_tensor *x = rt_tensor(f->ctx, PKRT_F32, 1, (int64_t[]){64}, 0);
    pkrt_arg args[] = {{.name = "X", .tensor = x}, {.name = "Y", .tensor = x}, {.name = "Z", .tensor = x}};
    const char *split = "\"entry\":\"pk1_split\"";
    char changed[200];
    snprintf(changed, sizeof changed, "%s,\"smem\":400000", split);
    // the first of two fields of a name counts
    assert_error(f->ctx, bind_changed(f, split, changed, "split", args, 3), PKRT_NO_ROOM,
                 "kernel 'split'|400000 bytes of shared memory|device 0");
    snprintf(changed, sizeof changed, "%s,\"block\":{\"size\":40000,\"stride_align\":128,\"fields\":[]}",
             split);
    assert_error(f->ctx, bind_changed(f, split, changed, "split", args, 3), PKRT_NO_ROOM,
                 "more parameters than a launch takes");
    snprintf(changed, sizeof changed,
             "%s,\"block\":{\"size\":64,\"stride_align\":128,\"fields\":[{\"at\":126,\"what\":[\"state\"]}]}",
             split);
    assert_error(f->ctx, bind_changed(f, split, changed, "split", args, 3), PKRT_BAD_MODULE,
                 "outside the block");
    snprintf(changed, sizeof changed,
             "%s,\"block\":{\"size\":64,\"stride_align\":128,\"fields\":[{\"at\":32,\"what\":[\"magic\"]}]}",
             split);
    assert_error(f->ctx, bind_changed(f, split, changed, "split", args, 3), PKRT_BAD_MODULE, "does not know");
    const char *map = "{\"param\":\"X\",\"per\":\"own\",\"axes\":[0],\"box\":[64],\"swizzle\":0,\"at\":";
    snprintf(changed, sizeof changed, "%s,\"maps\":[%s1000}]", split, map);
    assert_error(f->ctx, bind_changed(f, split, changed, "split", args, 3), PKRT_BAD_MODULE,
                 "a map outside the block");
    snprintf(
        changed, sizeof changed,
        "%s,\"maps\":[{\"param\":\"X\",\"per\":\"own\",\"axes\":[3],\"box\":[64],\"swizzle\":0,\"at\":0}]",
        split);
    assert_error(f->ctx, bind_changed(f, split, changed, "split", args, 3), PKRT_BAD_MODULE,
                 "does not fit its tensor");
}

static void too_many_ranks(void **state)
{
    (void)state;
    pkrt_context *ctx = rt_open(60, 1); // on 4 multiprocessors
    pkrt_kernel *k;
    spread_args a = {.X = rt_tensor(ctx, PKRT_BF16, 2, (int64_t[]){8, 64}, 0),
                     .Y = rt_tensor(ctx, PKRT_BF16, 3, (int64_t[]){60, 8, 64}, PKRT_SYMMETRIC)};
    assert_error(ctx, spread_bind(rt_load(ctx), &k, &a), PKRT_NO_ROOM,
                 "kernel 'spread'|device 0 has room for|60 ranks want at least one each");
    assert_null(k);
    pkrt_context_destroy(ctx);
}

static void wrong_tensors(void **state)
{
    fixture *f = *state;
    pkrt_tensor *t;
    int64_t one[] = {1}, negative[] = {-1}, big[] = {INT64_C(1) << 31}, huge[] = {1 << 30, 1 << 30, 1 << 30};
    void *null[2] = {NULL, NULL};
    assert_error(f->ctx, pkrt_tensor_create(f->ctx, &t, PKRT_F32, 0, one, 0), PKRT_INVALID,
                 "1 to 5 dimensions, got 0");
    assert_error(f->ctx, pkrt_tensor_create(f->ctx, &t, PKRT_F32, 6, one, 0), PKRT_INVALID,
                 "1 to 5 dimensions, got 6");
    assert_error(f->ctx, pkrt_tensor_create(f->ctx, &t, PKRT_F32, 1, negative, 0), PKRT_INVALID,
                 "dimension 0|got -1");
    assert_error(f->ctx, pkrt_tensor_create(f->ctx, &t, PKRT_F32, 1, big, 0), PKRT_INVALID,
                 "dimension 0|2147483648");
    assert_error(f->ctx, pkrt_tensor_create(f->ctx, &t, PKRT_F32, 3, huge, 0), PKRT_INVALID,
                 "more than 2^63");
    assert_error(f->ctx, pkrt_tensor_create(f->ctx, &t, PKRT_ELEM_COUNT, 1, one, 0), PKRT_INVALID,
                 "element type");
    assert_error(f->ctx, pkrt_tensor_create(f->ctx, &t, PKRT_F32, 1, NULL, 0), PKRT_INVALID, "NULL");
    assert_error(f->ctx, pkrt_tensor_wrap(f->ctx, &t, PKRT_F32, 1, one, NULL, NULL, 0), PKRT_INVALID,
                 "pointer");
    assert_error(f->ctx, pkrt_tensor_wrap(f->ctx, &t, PKRT_F32, 1, one, NULL, null, 0), PKRT_INVALID,
                 "rank 0|pointer");
    assert_null(t);
    float x[3];
    t = tensor(f, 1, (int64_t[]){2});
    assert_error(f->ctx, pkrt_tensor_write_f32(t, 0, x, 3), PKRT_INVALID, "has 2 elements, got 3");
    assert_error(f->ctx, pkrt_tensor_read(t, 0, x, 3), PKRT_INVALID, "has 8 bytes, got 3");
    assert_error(f->ctx, pkrt_tensor_read(t, 2, x, 8), PKRT_INVALID,
                 "rank expected to be from 0 to 1, got 2");
}

static void wrong_contexts(void **state)
{
    (void)state;
    pkrt_context *ctx;
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    o.backend = PKRT_BACKEND_SIM;
    o.ranks = 0;
    assert_error(ctx, pkrt_context_create(&ctx, &o), PKRT_INVALID,
                 "ranks expected to be from 1 to 64, got 0");
    pkrt_context_destroy(ctx);
    o.ranks = 1;
    o.devices = (int[]){99};
    assert_error(ctx, pkrt_context_create(&ctx, &o), PKRT_INVALID, "rank 0: device 99");
    pkrt_context_destroy(ctx);
    o.devices = NULL;
    o.driver = "/nowhere/libnothing.so";
    assert_error(ctx, pkrt_context_create(&ctx, &o), PKRT_NO_DRIVER,
                 "/nowhere/libnothing.so cannot be opened");
    pkrt_context_destroy(ctx);
    o.driver = "libm.so.6"; // a library, but no driver
    assert_error(ctx, pkrt_context_create(&ctx, &o), PKRT_NO_DRIVER, "libm.so.6 has no cuInit");
    pkrt_tensor *t;
    assert_error(ctx, pkrt_tensor_create(ctx, &t, PKRT_F32, 1, (int64_t[]){1}, 0), PKRT_INVALID,
                 "could not be made");
    pkrt_context_destroy(ctx);
    pkrt_context_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_shapes),
        cmocka_unit_test(wrong_shapes),
        cmocka_unit_test(requirements),
        cmocka_unit_test(bulk_copies),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(other_contexts),
        cmocka_unit_test(strides_and_addresses),
        cmocka_unit_test(groups),
        cmocka_unit_test(too_large),
        cmocka_unit_test(too_many_ranks),
        cmocka_unit_test(wrong_tensors),
        cmocka_unit_test(wrong_contexts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
