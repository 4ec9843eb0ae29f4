// SPDX-License-Identifier: Apache-2.0
// Multicast addresses: who gets them, what fails on the way, and that kernels come to the same with and
// without: sums within rounding of a float64 reference, minima and maxima exact, on 1 to 8 ranks.
#include "rt.h"

#include <dlfcn.h>
#include <math.h>

#include "exchange.pk.h"
#include "net.pk.h"
#include "sim/pksim.h"
#include "src/internal.h"

static const int rank_counts[] = {1, 2, 3, 5, 8};
enum { COUNTS = sizeof rank_counts / sizeof rank_counts[0], MAX_RANKS = 8, N = 64 };

static pkrt_status try_open(pkrt_context **ctx, int ranks, int devices, pkrt_multicast multicast)
{
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    int list[MAX_RANKS];
    for (int r = 0; r < ranks; r++)
        list[r] = r * devices / ranks;
    o.ranks = ranks;
    o.devices = list;
    o.backend = PKRT_BACKEND_SIM;
    o.multicast = multicast;
    return pkrt_context_create(ctx, &o);
}

static pkrt_context *open_with(int ranks, int devices, pkrt_multicast multicast)
{
    pkrt_context *ctx;
    assert_ok(ctx, try_open(&ctx, ranks, devices, multicast));
    return ctx;
}

static void close_context(pkrt_context *ctx)
{
    pkrt_context_destroy(ctx);
    assert_int_equal(rt_live(), 0);
}

// ---- values --------------------------------------------------------------------------------------------

typedef struct type_row {
    const char *name;
    pkrt_elem elem;
    double rounding; // of one rounding to the type, relative
    bool whole;
} type_row;

static const type_row types[] = {{"bf16", PKRT_BF16, 0x1p-8, false}, {"f16", PKRT_F16, 0x1p-11, false},
                                 {"f32", PKRT_F32, 0, false},        {"i32", PKRT_I32, 0, true},
                                 {"u32", PKRT_U32, 0, true},         {"i8", PKRT_I8, 0, true}};
static const int64_t shapes[][2] = {{5, 136}, {3, 37}, {9, 64}, {2, 160}, {1, 4}};
enum { TYPES = sizeof types / sizeof types[0], SHAPES = sizeof shapes / sizeof shapes[0] };

/// One tensor's values on all ranks as doubles, which hold every type exactly.
typedef struct values {
    const type_row *type;
    int ranks;
    size_t n;
    double *x; // ranks * n
} values;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static double as_number(const type_row *type, uint32_t bits)
{
    if (type->elem == PKRT_I8)
        return (double)(int8_t)bits;
    return type->elem == PKRT_I32 ? (double)(int32_t)bits : (double)bits;
}

/// Writes or reads whole numbers, of which a tensor's element has the low bytes.
static void move_bits(pkrt_context *ctx, pkrt_tensor *t, int rank, uint32_t *bits, bool write)
{
    size_t n = (size_t)pkrt_tensor_count(t), bytes = pkrt_tensor_bytes(t), size = bytes / n;
    char *raw = calloc(1, bytes);
    for (size_t i = 0; write && i < n; i++)
        memcpy(raw + i * size, &bits[i], size); // little endian
    assert_ok(ctx, write ? pkrt_tensor_write(t, rank, raw, bytes) : pkrt_tensor_read(t, rank, raw, bytes));
    for (size_t i = 0; !write && i < n; i++)
        memcpy(&bits[i], raw + i * size, size);
    free(raw);
}

/// Fills a tensor with random numbers, zeros of both signs and infinities among the floats, and says which.
static values fill(pkrt_context *ctx, pkrt_tensor *t, const type_row *type, uint64_t *seed)
{
    values v = {type, pkrt_context_ranks(ctx), (size_t)pkrt_tensor_count(t), NULL};
    v.x = calloc((size_t)v.ranks * v.n, sizeof *v.x);
    float *f = calloc(v.n, sizeof *f);
    uint32_t *bits = calloc(v.n, sizeof *bits);
    for (int r = 0; r < v.ranks; r++) {
        for (size_t i = 0; i < v.n; i++) {
            bits[i] = next_random(seed);
            f[i] = i == 0 ? -0.0f : i == 1 && r == 0 ? INFINITY : (float)(int32_t)bits[i] * 0x1p-24f;
        }
        if (type->whole) {
            move_bits(ctx, t, r, bits, true);
        } else {
            assert_ok(ctx, pkrt_tensor_write_f32(t, r, f, v.n));
            assert_ok(ctx, pkrt_tensor_read_f32(t, r, f, v.n));
        }
        for (size_t i = 0; i < v.n; i++)
            v.x[(size_t)r * v.n + i] = type->whole ? as_number(type, bits[i]) : f[i];
    }
    free(f);
    free(bits);
    return v;
}

typedef enum operation { SUM, LEAST, GREATEST } operation;

static double wanted(const values *v, operation what, size_t i, double *size)
{
    double all = v->x[i];
    *size = fabs(all);
    for (int r = 1; r < v->ranks; r++) {
        double x = v->x[(size_t)r * v->n + i];
        *size += fabs(x);
        all = what == SUM ? all + x : what == LEAST ? fmin(all, x) : fmax(all, x);
    }
    if (what == SUM && v->type->whole) // they wrap
        all = as_number(v->type, (uint32_t)(int64_t)fmod(all, 0x1p32));
    return all;
}

static bool near_enough(const values *v, operation what, double got, double want, double size)
{
    if (what != SUM || v->type->whole || isinf(want))
        return got == want;
    return fabs(got - want) <= v->type->rounding * fabs(want) + 0x1p-20 * size;
}

static void check(pkrt_context *ctx, pkrt_tensor *t, const values *v, operation what, const char *kernel)
{
    float *f = calloc(v->n, sizeof *f);
    uint32_t *bits = calloc(v->n, sizeof *bits);
    for (int r = 0; r < v->ranks; r++) {
        if (v->type->whole)
            move_bits(ctx, t, r, bits, false);
        else
            assert_ok(ctx, pkrt_tensor_read_f32(t, r, f, v->n));
        for (size_t i = 0; i < v->n; i++) {
            double size, want = wanted(v, what, i, &size),
                         got = v->type->whole ? as_number(v->type, bits[i]) : f[i];
            if (!near_enough(v, what, got, want, size))
                fail_msg("%s, %d ranks, operation %d, rank %d, element %zu: %.9g instead of %.9g", kernel,
                         v->ranks, (int)what, r, i, got, want);
        }
    }
    free(f);
    free(bits);
}

static pkrt_tensor *make(pkrt_context *ctx, const type_row *type, const int64_t *dims, unsigned flags)
{
    pkrt_tensor *t;
    assert_ok(ctx, pkrt_tensor_create(ctx, &t, type->elem, 2, dims, flags));
    return t;
}

static void launch(pkrt_context *ctx, pkrt_module *m, const char *name, const pkrt_arg *args, int n)
{
    pkrt_kernel *k;
    assert_ok(ctx, pkrt_kernel_bind(m, &k, name, args, n));
    assert_ok(ctx, pkrt_kernel_launch(k, NULL));
    assert_ok(ctx, pkrt_context_synchronize(ctx));
    pkrt_kernel_destroy(k);
}

/// Sums, minima and maxima of one tensor, to each rank's own memory.
static void reduce_once(pkrt_context *ctx, pkrt_module *m, const type_row *type, const int64_t *dims,
                        uint64_t *seed)
{
    static const char *const names[] = {[SUM] = "S", [LEAST] = "L", [GREATEST] = "G"};
    char kernel[32];
    pkrt_arg args[4] = {{"X", .tensor = make(ctx, type, dims, PKRT_SYMMETRIC)}};
    values v = fill(ctx, args[0].tensor, type, seed);
    for (int i = SUM; i <= GREATEST; i++)
        args[1 + i] = (pkrt_arg){names[i], .tensor = make(ctx, type, dims, 0)};
    snprintf(kernel, sizeof kernel, "reduce_%s", type->name);
    launch(ctx, m, kernel, args, 4);
    for (int i = SUM; i <= GREATEST; i++)
        check(ctx, args[1 + i].tensor, &v, (operation)i, kernel);
    for (int i = 0; i < 4; i++)
        pkrt_tensor_destroy(args[i].tensor);
    free(v.x);
}

/// The same in place, written back to every rank.
static void reduce_everywhere(pkrt_context *ctx, pkrt_module *m, const type_row *type, const int64_t *dims,
                              uint64_t *seed)
{
    static const char *const names[] = {[SUM] = "S", [LEAST] = "L", [GREATEST] = "G"};
    char kernel[32];
    pkrt_arg args[3];
    values v[3];
    for (int i = SUM; i <= GREATEST; i++) {
        args[i] = (pkrt_arg){names[i], .tensor = make(ctx, type, dims, PKRT_SYMMETRIC)};
        v[i] = fill(ctx, args[i].tensor, type, seed);
    }
    snprintf(kernel, sizeof kernel, "everywhere_%s", type->name);
    launch(ctx, m, kernel, args, 3);
    for (int i = SUM; i <= GREATEST; i++) {
        check(ctx, args[i].tensor, &v[i], (operation)i, kernel);
        pkrt_tensor_destroy(args[i].tensor);
        free(v[i].x);
    }
}

static void all_types(int ranks, int devices, pkrt_multicast multicast)
{
    uint64_t seed = 12345;
    pkrt_context *ctx = open_with(ranks, devices, multicast);
    pkrt_module *m;
    assert_ok(ctx, net_pk_load(ctx, &m));
    for (int t = 0; t < TYPES; t++)
        for (int s = 0; s < SHAPES; s++) {
            reduce_once(ctx, m, &types[t], shapes[s], &seed);
            reduce_everywhere(ctx, m, &types[t], shapes[s], &seed);
        }
    close_context(ctx);
}

static void sums_of_all_types_by_loops(void **state)
{
    (void)state;
    print_message("seed 12345\n");
    for (int i = 0; i < COUNTS; i++)
        all_types(rank_counts[i], i % 2 ? rank_counts[i] : 1, PKRT_MULTICAST_NEVER);
}

static void sums_of_all_types_by_multicast(void **state)
{
    (void)state;
    print_message("seed 12345\n");
    for (int i = 0; i < COUNTS; i++)
        all_types(rank_counts[i], rank_counts[i], PKRT_MULTICAST_REQUIRE);
}

// ---- signals and stores to all -------------------------------------------------------------------------

typedef struct exchange {
    pkrt_context *ctx;
    pkrt_kernel *kernel;
    exchange_args args;
} exchange;

static pkrt_status make_exchange(exchange *e, int ranks)
{
    const int64_t row[] = {N}, rows[] = {ranks, N};
    pkrt_module *m;
    pkrt_status s = pkrt_tensor_create(e->ctx, &e->args.X, PKRT_F32, 1, row, PKRT_SYMMETRIC);
    if (s == PKRT_OK)
        s = pkrt_tensor_create(e->ctx, &e->args.T, PKRT_F32, 2, rows, PKRT_SYMMETRIC);
    if (s == PKRT_OK)
        s = pkrt_tensor_create(e->ctx, &e->args.Y, PKRT_F32, 2, rows, 0);
    if (s == PKRT_OK)
        s = exchange_pk_load(e->ctx, &m);
    if (s == PKRT_OK)
        s = exchange_bind(m, &e->kernel, &e->args);
    return s == PKRT_OK ? exchange_launch(e->kernel, NULL) : s;
}

/// Every row of every rank's Y is the sum over ranks of rank + 1 + i.
static pkrt_status read_exchange(exchange *e, int ranks, bool *right)
{
    float got[MAX_RANKS * N];
    size_t n = (size_t)ranks * N;
    pkrt_status s = pkrt_context_synchronize(e->ctx);
    *right = s == PKRT_OK;
    for (int r = 0; s == PKRT_OK && r < ranks; r++) {
        s = pkrt_tensor_read_f32(e->args.Y, r, got, n);
        for (size_t i = 0; s == PKRT_OK && i < n; i++)
            *right &= got[i] == (float)(ranks * (1 + (int)(i % N)) + ranks * (ranks - 1) / 2);
    }
    return s;
}

static void signals_to_all(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * COUNTS; i++) {
        int ranks = rank_counts[i / 2];
        bool right;
        exchange e = {.ctx = open_with(ranks, ranks, i % 2 ? PKRT_MULTICAST_REQUIRE : PKRT_MULTICAST_NEVER)};
        assert_ok(e.ctx, make_exchange(&e, ranks));
        for (int launches = 0; launches < 3; launches++) {
            assert_ok(e.ctx, read_exchange(&e, ranks, &right));
            assert_true(right);
            assert_ok(e.ctx, exchange_launch(e.kernel, NULL));
        }
        assert_ok(e.ctx, pkrt_context_synchronize(e.ctx));
        assert_int_equal(e.kernel->state->multicast, i % 2);
        close_context(e.ctx);
    }
}

/// The multicast address is what a kernel uses: with other memory bound behind it, the sum is of that.
static void what_is_bound_is_summed(void **state)
{
    (void)state;
    enum { RANKS = 2 };
    uint64_t seed = 1;
    const int64_t dims[] = {4, 64};
    pkrt_context *ctx = open_with(RANKS, RANKS, PKRT_MULTICAST_REQUIRE);
    pkrt_module *m;
    assert_ok(ctx, net_pk_load(ctx, &m));
    pkrt_tensor *x = make(ctx, &types[2], dims, PKRT_SYMMETRIC),
                *other = make(ctx, &types[2], dims, PKRT_SYMMETRIC);
    values a = fill(ctx, x, &types[2], &seed), b = fill(ctx, other, &types[2], &seed);
    rt_driver *d = &ctx->driver;
    assert_int_equal(d->cuMulticastUnbind(other->multicast_object, 1, 0, x->mapped_bytes), RT_SUCCESS);
    assert_int_equal(d->cuMulticastUnbind(x->multicast_object, 1, 0, x->mapped_bytes), RT_SUCCESS);
    rt_alloc memory = other->copies[1].handle;
    assert_int_equal(d->cuMulticastBindMem(x->multicast_object, 0, memory, 0, x->mapped_bytes, 0),
                     RT_SUCCESS);
    other->copies[1].multicast_bound = false;
    pkrt_arg args[] = {{"X", .tensor = x},
                       {"S", .tensor = make(ctx, &types[2], dims, 0)},
                       {"L", .tensor = make(ctx, &types[2], dims, 0)},
                       {"G", .tensor = make(ctx, &types[2], dims, 0)}};
    launch(ctx, m, "reduce_f32", args, 4);
    memcpy(a.x + a.n, b.x + b.n, a.n * sizeof *a.x);
    check(ctx, args[1].tensor, &a, SUM, "reduce_f32");
    free(a.x);
    free(b.x);
    close_context(ctx);
}

// ---- who gets one --------------------------------------------------------------------------------------

static void assert_multicast(int ranks, int devices, pkrt_multicast asked, bool expected)
{
    const int64_t row[] = {N};
    pkrt_context *ctx = open_with(ranks, devices, asked);
    pkrt_tensor *shared, *local;
    assert_ok(ctx, pkrt_tensor_create(ctx, &shared, PKRT_F32, 1, row, PKRT_SYMMETRIC));
    assert_ok(ctx, pkrt_tensor_create(ctx, &local, PKRT_F32, 1, row, 0));
    assert_int_equal(pkrt_context_multicast(ctx), expected);
    for (int r = 0; r < ranks; r++) {
        assert_int_equal(pkrt_tensor_multicast(shared, r) != NULL, expected);
        assert_null(pkrt_tensor_multicast(local, r));
    }
    assert_null(pkrt_tensor_multicast(shared, ranks));
    assert_null(pkrt_tensor_multicast(NULL, 0));
    close_context(ctx);
}

static void who_gets_one(void **state)
{
    (void)state;
    assert_multicast(3, 3, PKRT_MULTICAST_NEVER, false);
    assert_multicast(3, 3, PKRT_MULTICAST_AUTO, true);
    assert_multicast(3, 3, PKRT_MULTICAST_REQUIRE, true);
    assert_multicast(1, 1, PKRT_MULTICAST_AUTO, false); // nobody to share it with
    assert_multicast(1, 1, PKRT_MULTICAST_REQUIRE, true);
    assert_multicast(3, 2, PKRT_MULTICAST_AUTO, false); // two ranks share a device
    pkrt_context *ctx;
    assert_error(ctx, try_open(&ctx, 3, 2, PKRT_MULTICAST_REQUIRE), PKRT_INVALID,
                 "ranks 0 and 1 share device 0");
    close_context(ctx);
    assert_error(ctx, try_open(&ctx, 2, 2, (pkrt_multicast)3), PKRT_INVALID, "no choice of multicast 3");
    close_context(ctx);
}

/// Wrapped copies must lie alike, since the width of an access is one for all of them.
static void wrapped_copies_lie_alike(void **state)
{
    (void)state;
    const int64_t whole[] = {N + 8}, row[] = {N};
    pkrt_context *ctx = open_with(2, 2, PKRT_MULTICAST_REQUIRE);
    pkrt_tensor *memory, *t;
    assert_ok(ctx, pkrt_tensor_create(ctx, &memory, PKRT_BF16, 1, whole, PKRT_SYMMETRIC));
    char *first = pkrt_tensor_pointer(memory, 0), *second = pkrt_tensor_pointer(memory, 1);
    void *apart[] = {first, second + 2}, *alike[] = {first + 2, second + 2};
    assert_error(ctx, pkrt_tensor_wrap(ctx, &t, PKRT_BF16, 1, row, NULL, apart, PKRT_SYMMETRIC), PKRT_INVALID,
                 "same remainder by 16|on rank 1");
    assert_ok(ctx, pkrt_tensor_wrap(ctx, &t, PKRT_BF16, 1, row, NULL, apart, 0));
    assert_ok(ctx, pkrt_tensor_wrap(ctx, &t, PKRT_BF16, 1, row, NULL, alike, PKRT_SYMMETRIC));
    assert_null(pkrt_tensor_multicast(t, 0));
    close_context(ctx);
}

// ---- a driver in between -------------------------------------------------------------------------------

typedef bool (*shim_hook)(const char *name, uintptr_t a, uintptr_t b, rt_result *result);

static struct {
    int asked, made; // questions whether a device can; other calls for multicast
} seen;

static void set_hook(shim_hook hook)
{
    void *library = dlopen(RT_SHIM, RTLD_NOW | RTLD_NODELETE);
    void (*set)(shim_hook);
    assert_non_null(library);
    void *symbol = dlsym(library, "shim_set_hook");
    memcpy(&set, &symbol, sizeof set);
    set(hook);
    dlclose(library);
}

/// The second device cannot.
static bool second_cannot(const char *name, uintptr_t a, uintptr_t b, rt_result *result)
{
    seen.made += strncmp(name, "cuMulticast", 11) == 0;
    if (strcmp(name, "cuDeviceGetAttribute") != 0 || b != RT_ATTR_MULTICAST)
        return false;
    *(int *)a = ++seen.asked != 2;
    *result = RT_SUCCESS;
    return true;
}

static pkrt_status open_shim(pkrt_context **ctx, pkrt_multicast multicast)
{
    pkrt_context_options o = PKRT_CONTEXT_OPTIONS_INIT;
    o.ranks = 3;
    o.backend = PKRT_BACKEND_CUDA; // to the runtime it is a GPU's
    o.driver = RT_SHIM;
    o.multicast = multicast;
    memset(&seen, 0, sizeof seen);
    return pkrt_context_create(ctx, &o);
}

static void a_device_that_cannot(void **state)
{
    (void)state;
    const int64_t row[] = {N};
    pkrt_context *ctx;
    pkrt_tensor *t;
    set_hook(second_cannot);
    assert_error(ctx, open_shim(&ctx, PKRT_MULTICAST_REQUIRE), PKRT_DRIVER, "device 1 does not support it");
    pkrt_context_destroy(ctx);
    assert_ok(ctx, open_shim(&ctx, PKRT_MULTICAST_AUTO));
    assert_string_equal(pkrt_last_error(ctx), "");
    assert_ok(ctx, pkrt_tensor_create(ctx, &t, PKRT_F32, 1, row, PKRT_SYMMETRIC));
    assert_false(pkrt_context_multicast(ctx));
    assert_int_equal(seen.made, 0);
    pkrt_context_destroy(ctx);
    set_hook(NULL);
    assert_int_equal(rt_live(), 0);
}

/// Who does not ask for multicast causes no call about it.
static void never_asks_nobody(void **state)
{
    (void)state;
    bool right;
    exchange e = {0};
    set_hook(second_cannot);
    assert_ok(e.ctx, open_shim(&e.ctx, PKRT_MULTICAST_NEVER));
    assert_ok(e.ctx, make_exchange(&e, 3));
    assert_ok(e.ctx, read_exchange(&e, 3, &right));
    assert_true(right);
    pkrt_context_destroy(e.ctx);
    set_hook(NULL);
    assert_int_equal(seen.asked + seen.made, 0);
    assert_int_equal(rt_live(), 0);
}

// ---- calls that fail -----------------------------------------------------------------------------------

/// A tensor for which the driver refuses goes without, and the kernel comes to the same.
static void auto_goes_without(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuMulticastCreate", "cuMulticastAddDevice", "cuMulticastBindMem"};
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
        for (unsigned long long nth = 1; nth <= 3; nth++) {
            bool right;
            exchange e = {.ctx = open_with(3, 3, PKRT_MULTICAST_AUTO)};
            pksimFailCall(calls[c], nth, RT_ERROR_OUT_OF_MEMORY);
            assert_ok(e.ctx, make_exchange(&e, 3));
            assert_true(pksimCalls() >= nth);
            pksimFailCall(NULL, 0, 0);
            assert_ok(e.ctx, read_exchange(&e, 3, &right));
            assert_true(right);
            bool x = pkrt_tensor_multicast(e.args.X, 0), t = pkrt_tensor_multicast(e.args.T, 0);
            assert_int_equal(x + t + e.kernel->state->multicast, 2); // all but one
            close_context(e.ctx);
        }
}

static pkrt_status run(exchange *e, pkrt_multicast multicast, bool *right)
{
    enum { RANKS = 2 };
    *right = false;
    pkrt_status s = try_open(&e->ctx, RANKS, RANKS, multicast);
    if (s == PKRT_OK)
        s = make_exchange(e, RANKS);
    return s == PKRT_OK ? read_exchange(e, RANKS, right) : s;
}

/// Every call of the driver fails in turn. Nothing is kept; what needs no multicast goes on without.
static void fail_in_turn(pkrt_multicast multicast, const char *name, int least)
{
    unsigned long long call = 0, made;
    int failures = 0;
    bool right;
    do {
        exchange e = {0};
        pksimFailCall(name, ++call, RT_ERROR_OUT_OF_MEMORY);
        pkrt_status s = run(&e, multicast, &right);
        made = pksimCalls();
        pksimFailCall(NULL, 0, 0);
        failures += s != PKRT_OK;
        if (s != PKRT_OK && !pkrt_last_error(e.ctx)[0])
            fail_msg("call %llu: status %d and no message", call, (int)s);
        if (s == PKRT_OK && (!right || pkrt_last_error(e.ctx)[0]))
            fail_msg("call %llu: a wrong result, or a message without a failure", call);
        pkrt_context_destroy(e.ctx);
        if (rt_live() != 0)
            fail_msg("call %llu: %llu things were kept", call, rt_live());
    } while (call <= made);
    print_message("%llu calls failed once, %d were told\n", call - 1, failures);
    assert_true(call > (unsigned long long)least);
    if (name)
        assert_int_equal(failures, multicast == PKRT_MULTICAST_REQUIRE ? (int)call - 1 : 0);
}

static void every_call(void **state)
{
    (void)state;
    fail_in_turn(PKRT_MULTICAST_AUTO, NULL, 100);
    fail_in_turn(PKRT_MULTICAST_REQUIRE, NULL, 100);
    fail_in_turn(PKRT_MULTICAST_AUTO, "cuMulticastBindMem", 6);
    fail_in_turn(PKRT_MULTICAST_REQUIRE, "cuMulticastBindMem", 6);
    fail_in_turn(PKRT_MULTICAST_REQUIRE, "cuMulticastGetGranularity", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_gets_one),
        cmocka_unit_test(wrapped_copies_lie_alike),
        cmocka_unit_test(a_device_that_cannot),
        cmocka_unit_test(never_asks_nobody),
        cmocka_unit_test(sums_of_all_types_by_loops),
        cmocka_unit_test(sums_of_all_types_by_multicast),
        cmocka_unit_test(signals_to_all),
        cmocka_unit_test(what_is_bound_is_summed),
        cmocka_unit_test(auto_goes_without),
        cmocka_unit_test(every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
