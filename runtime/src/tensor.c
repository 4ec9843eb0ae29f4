// SPDX-License-Identifier: Apache-2.0
// Tensors: one copy a rank. Symmetric ones are made of virtual-memory pieces that every device in use may
// reach.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/internal.h"

static pkrt_status check_shape(pkrt_context *ctx, pkrt_elem elem, int n_dims, const int64_t *dims)
{
    int64_t count = 1;
    if ((unsigned)elem >= PKRT_ELEM_COUNT)
        return rt_fail(ctx, PKRT_INVALID, "there is no element type %d", (int)elem);
    if (n_dims < 1 || n_dims > PKRT_MAX_DIMS)
        return rt_fail(ctx, PKRT_INVALID, "a tensor has 1 to %d dimensions, got %d", PKRT_MAX_DIMS, n_dims);
    if (!dims)
        return rt_fail(ctx, PKRT_INVALID, "a tensor needs dimensions, got NULL");
    for (int i = 0; i < n_dims; i++) {
        if (dims[i] < 0 || dims[i] > INT32_MAX)
            return rt_fail(ctx, PKRT_INVALID, "dimension %d expected to be from 0 to %d, got %lld", i,
                           INT32_MAX, (long long)dims[i]);
        if (dims[i] && __builtin_mul_overflow(count, dims[i], &count))
            return rt_fail(ctx, PKRT_INVALID, "the tensor has more than 2^63 elements");
    }
    if (count > INT64_MAX / 8)
        return rt_fail(ctx, PKRT_INVALID, "the tensor has more than 2^63 bytes");
    return PKRT_OK;
}

static pkrt_tensor *new_tensor(pkrt_context *ctx, pkrt_elem elem, int n_dims, const int64_t *dims,
                               unsigned flags)
{
    pkrt_tensor *t = calloc(1, sizeof *t);
    rt_copy *copies = calloc((size_t)ctx->n_ranks, sizeof *copies);
    if (!t || !copies) {
        free(t);
        free(copies);
        rt_fail(ctx, PKRT_NO_MEMORY, "host memory for a tensor ran out");
        return NULL;
    }
    *t = (pkrt_tensor){.ctx = ctx,
                       .elem = elem,
                       .n_dims = n_dims,
                       .symmetric = (flags & PKRT_SYMMETRIC) != 0,
                       .copies = copies};
    memcpy(t->dims, dims, (size_t)n_dims * sizeof *dims);
    t->strides[n_dims - 1] = 1;
    for (int i = n_dims - 2; i >= 0; i--)
        t->strides[i] = t->strides[i + 1] * dims[i + 1];
    return t;
}

// ---- memory --------------------------------------------------------------------------------------------

static pkrt_status allocate_local(pkrt_tensor *t, int rank)
{
    size_t bytes = pkrt_tensor_bytes(t);
    pkrt_context *ctx = t->ctx;
    rt_copy *c = &t->copies[rank];
    pkrt_status s =
        rt_check(ctx, ctx->driver.cuMemAlloc_v2(&c->ptr, bytes ? bytes : 1), "allocating a tensor");
    c->allocated = s == PKRT_OK;
    return s;
}

static rt_alloc_prop properties(const pkrt_context *ctx, int rank)
{
    return (rt_alloc_prop){.type = RT_ALLOC_PINNED,
                           .location = {RT_LOCATION_DEVICE, ctx->places[ctx->place_of[rank]].ordinal}};
}

/// Bytes of a copy rounded up to what every device in use maps at once.
static pkrt_status symmetric_bytes(pkrt_tensor *t, size_t *out)
{
    pkrt_context *ctx = t->ctx;
    size_t most = 1, bytes = pkrt_tensor_bytes(t);
    for (int r = 0; r < ctx->n_ranks; r++) {
        size_t g = 0;
        rt_alloc_prop prop = properties(ctx, r);
        rt_result result = ctx->driver.cuMemGetAllocationGranularity(&g, &prop, RT_GRANULARITY_RECOMMENDED);
        pkrt_status s = rt_check(ctx, result, "asking for the granularity of memory");
        if (s != PKRT_OK)
            return s;
        most = g > most ? g : most;
    }
    bytes = bytes ? bytes : 1;
    most = ctx->multicast_granularity > most ? ctx->multicast_granularity : most;
    *out = (bytes + most - 1) / most * most;
    return PKRT_OK;
}

static pkrt_status can_reach(pkrt_context *ctx, const rt_place *from, const rt_place *owner)
{
    int can = from == owner;
    pkrt_status s = PKRT_OK;
    if (!can)
        s = rt_check(ctx, ctx->driver.cuDeviceCanAccessPeer(&can, from->device, owner->device),
                     "asking a device");
    return s != PKRT_OK || can
               ? s
               : rt_fail(ctx, PKRT_DRIVER,
                         "device %d cannot reach the memory of device %d: no link between them",
                         from->ordinal, owner->ordinal);
}

/// Lets every device in use reach rank's copy.
static pkrt_status share(pkrt_tensor *t, int rank)
{
    pkrt_context *ctx = t->ctx;
    pkrt_status s = PKRT_OK;
    for (int i = 0; s == PKRT_OK && i < ctx->n_places; i++) {
        rt_access access = {{RT_LOCATION_DEVICE, ctx->places[i].ordinal}, RT_ACCESS_READ_WRITE};
        s = can_reach(ctx, &ctx->places[i], &ctx->places[ctx->place_of[rank]]);
        if (s == PKRT_OK)
            s = rt_check(ctx, ctx->driver.cuMemSetAccess(t->copies[rank].ptr, t->mapped_bytes, &access, 1),
                         "sharing symmetric memory");
    }
    return s;
}

static pkrt_status allocate_symmetric(pkrt_tensor *t, int rank)
{
    pkrt_context *ctx = t->ctx;
    rt_driver *d = &ctx->driver;
    rt_copy *c = &t->copies[rank];
    rt_alloc_prop prop = properties(ctx, rank);
    pkrt_status s =
        rt_check(ctx, d->cuMemAddressReserve(&c->ptr, t->mapped_bytes, 0, 0, 0), "reserving addresses");
    c->reserved = s == PKRT_OK;
    if (s == PKRT_OK)
        s = rt_check(ctx, d->cuMemCreate(&c->handle, t->mapped_bytes, &prop, 0),
                     "allocating symmetric memory");
    c->created = c->reserved && s == PKRT_OK;
    if (s == PKRT_OK)
        s = rt_check(ctx, d->cuMemMap(c->ptr, t->mapped_bytes, 0, c->handle, 0), "mapping symmetric memory");
    c->mapped = c->created && s == PKRT_OK;
    return s == PKRT_OK ? share(t, rank) : s;
}

static void free_copy(pkrt_tensor *t, int rank)
{
    rt_driver *d = &t->ctx->driver;
    rt_copy *c = &t->copies[rank];
    if (c->allocated)
        d->cuMemFree_v2(c->ptr);
    if (c->mapped)
        d->cuMemUnmap(c->ptr, t->mapped_bytes);
    if (c->created)
        d->cuMemRelease(c->handle);
    if (c->reserved)
        d->cuMemAddressFree(c->ptr, t->mapped_bytes);
    *c = (rt_copy){0};
}

// ---- the interface -------------------------------------------------------------------------------------

static pkrt_status allocate(pkrt_tensor *t, bool multicast)
{
    pkrt_context *ctx = t->ctx;
    pkrt_status s = t->symmetric ? symmetric_bytes(t, &t->mapped_bytes) : PKRT_OK;
    for (int r = 0; s == PKRT_OK && r < ctx->n_ranks; r++) {
        if ((s = rt_enter(ctx, ctx->place_of[r])) != PKRT_OK)
            return s;
        s = t->symmetric ? allocate_symmetric(t, r) : allocate_local(t, r);
        rt_leave(ctx);
    }
    return s == PKRT_OK && multicast && t->symmetric ? rt_multicast_make(t) : s;
}

static void enlist(pkrt_tensor *t)
{
    t->next = t->ctx->tensors;
    t->ctx->tensors = t;
}

pkrt_status rt_tensor_make(pkrt_context *ctx, pkrt_tensor **out, pkrt_elem elem, int n_dims,
                           const int64_t *dims, unsigned flags, bool multicast)
{
    if (!ctx || !out)
        return PKRT_INVALID;
    *out = NULL;
    pkrt_status s = rt_begin(ctx);
    if (s == PKRT_OK)
        s = check_shape(ctx, elem, n_dims, dims);
    if (s != PKRT_OK)
        return s;
    pkrt_tensor *t = new_tensor(ctx, elem, n_dims, dims, flags);
    if (!t)
        return PKRT_NO_MEMORY;
    enlist(t);
    s = allocate(t, multicast);
    if (s != PKRT_OK) {
        rt_saved why;
        rt_save_error(ctx, &why);
        pkrt_tensor_destroy(t);
        rt_restore_error(ctx, &why);
        return s;
    }
    *out = t;
    return PKRT_OK;
}

pkrt_status pkrt_tensor_create(pkrt_context *ctx, pkrt_tensor **out, pkrt_elem elem, int n_dims,
                               const int64_t *dims, unsigned flags)
{
    return rt_tensor_make(ctx, out, elem, n_dims, dims, flags, true);
}

static pkrt_status check_wrap(pkrt_context *ctx, int n_dims, const int64_t *dims, const int64_t *strides,
                              void *const *pointers)
{
    bool empty = false;
    for (int i = 0; i < n_dims; i++)
        empty |= dims[i] == 0;
    for (int i = 0; strides && i < n_dims - 1; i++)
        if (strides[i] < 0)
            return rt_fail(ctx, PKRT_INVALID, "stride %d expected to be 0 or more, got %lld", i,
                           (long long)strides[i]);
    if (!pointers)
        return rt_fail(ctx, PKRT_INVALID, "one pointer a rank expected, got NULL");
    for (int r = 0; r < ctx->n_ranks; r++)
        if (!pointers[r] && !empty)
            return rt_fail(ctx, PKRT_INVALID, "rank %d: a pointer to device memory expected, got NULL", r);
    return PKRT_OK;
}

/// Elements lie at multiples of their size, and symmetric copies alike within the 16 bytes of a vector:
/// kernels choose the width of their accesses to all ranks by this rank's copy.
static pkrt_status check_alignment(pkrt_context *ctx, pkrt_elem elem, void *const *pointers, bool symmetric)
{
    enum { VECTOR = 16 };
    for (int r = 1; symmetric && r < ctx->n_ranks; r++)
        if ((uintptr_t)pointers[r] % VECTOR != (uintptr_t)pointers[0] % VECTOR)
            return rt_fail(
                ctx, PKRT_INVALID,
                "a symmetric tensor's addresses are expected to have the same remainder by %d on all "
                "ranks, got %p on rank 0 and %p on rank %d",
                VECTOR, pointers[0], pointers[r], r);

    for (int r = 0; r < ctx->n_ranks; r++)
        if ((uintptr_t)pointers[r] % rt_elem_size(elem) != 0)
            return rt_fail(ctx, PKRT_INVALID,
                           "the address of rank %d expected to be a multiple of %zu, the size of %s, got %p",
                           r, rt_elem_size(elem), rt_elem_name(elem), pointers[r]);
    return PKRT_OK;
}

pkrt_status pkrt_tensor_wrap(pkrt_context *ctx, pkrt_tensor **out, pkrt_elem elem, int n_dims,
                             const int64_t *dims, const int64_t *strides, void *const *pointers,
                             unsigned flags)
{
    if (!ctx || !out)
        return PKRT_INVALID;
    *out = NULL;
    pkrt_status s = rt_begin(ctx);
    if (s == PKRT_OK)
        s = check_shape(ctx, elem, n_dims, dims);
    if (s == PKRT_OK)
        s = check_wrap(ctx, n_dims, dims, strides, pointers);
    if (s == PKRT_OK)
        s = check_alignment(ctx, elem, pointers, (flags & PKRT_SYMMETRIC) != 0);
    if (s != PKRT_OK)
        return s;
    pkrt_tensor *t = new_tensor(ctx, elem, n_dims, dims, flags);
    if (!t)
        return PKRT_NO_MEMORY;
    t->wrapped = true;
    for (int i = 0; strides && i < n_dims - 1; i++)
        t->strides[i] = strides[i];
    for (int r = 0; r < ctx->n_ranks; r++)
        t->copies[r].ptr = (rt_ptr)(uintptr_t)pointers[r];
    enlist(t);
    *out = t;
    return PKRT_OK;
}

void pkrt_tensor_destroy(pkrt_tensor *t)
{
    if (!t)
        return;
    pkrt_context *ctx = t->ctx;
    rt_multicast_free(t);
    for (int r = 0; r < ctx->n_ranks; r++) {
        bool entered = rt_enter_to_free(ctx, ctx->place_of[r]);
        free_copy(t, r);
        if (entered)
            rt_leave(ctx);
    }
    for (pkrt_tensor **at = &ctx->tensors; *at; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            break;
        }
    free(t->copies);
    free(t);
}

void *pkrt_tensor_pointer(const pkrt_tensor *t, int rank)
{
    if (!t)
        return NULL;
    return rank >= 0 && rank < t->ctx->n_ranks ? (void *)(uintptr_t)t->copies[rank].ptr : NULL;
}

void *pkrt_tensor_multicast(const pkrt_tensor *t, int rank)
{
    bool there = t && t->multicast && rank >= 0 && rank < t->ctx->n_ranks;
    return there ? (void *)(uintptr_t)t->copies[rank].multicast : NULL;
}

int64_t pkrt_tensor_count(const pkrt_tensor *t)
{
    if (!t)
        return 0;
    int64_t n = 1;
    for (int i = 0; i < t->n_dims; i++)
        n *= t->dims[i];
    return n;
}

size_t pkrt_tensor_bytes(const pkrt_tensor *t)
{
    if (!t)
        return 0;
    return (size_t)pkrt_tensor_count(t) * rt_elem_size(t->elem);
}

static bool contiguous(const pkrt_tensor *t)
{
    int64_t stride = 1;
    for (int i = t->n_dims - 1; i >= 0; i--) {
        if (t->dims[i] > 1 && t->strides[i] != stride)
            return false;
        stride *= t->dims[i];
    }
    return true;
}

/// Whether a copy of `size` (bytes or elements) from or to the host may be made.
static pkrt_status check_copy(pkrt_tensor *t, int rank, int64_t size, int64_t expected, const char *what)
{
    pkrt_context *ctx = t->ctx;
    pkrt_status s = rt_begin(ctx);
    if (s != PKRT_OK)
        return s;
    if (rank < 0 || rank >= ctx->n_ranks)
        return rt_fail(ctx, PKRT_INVALID, "rank expected to be from 0 to %d, got %d", ctx->n_ranks - 1, rank);
    if (!contiguous(t))
        return rt_fail(ctx, PKRT_INVALID, "the tensor has strides of its own: copy it by its pointer");
    if (size != expected)
        return rt_fail(ctx, PKRT_INVALID, "the tensor has %lld %s, got %lld", (long long)expected, what,
                       (long long)size);
    return PKRT_OK;
}

typedef enum direction { TO_DEVICE, TO_HOST } direction;

/// Copies behind all launches that were made before.
static pkrt_status copy(pkrt_tensor *t, int rank, void *host, size_t bytes, direction way)
{
    pkrt_context *ctx = t->ctx;
    rt_ptr ptr = t->copies[rank].ptr;
    pkrt_status s = rt_wait(ctx);
    if (s != PKRT_OK || !bytes || (s = rt_enter(ctx, ctx->place_of[rank])) != PKRT_OK)
        return s;
    s = way == TO_DEVICE ? rt_check(ctx, ctx->driver.cuMemcpyHtoD_v2(ptr, host, bytes), "writing a tensor")
                         : rt_check(ctx, ctx->driver.cuMemcpyDtoH_v2(host, ptr, bytes), "reading a tensor");
    // From pageable memory the copy may end behind the call, on the default stream (CUDA driver API, API
    // synchronization behavior).
    if (s == PKRT_OK && way == TO_DEVICE)
        s = rt_check(ctx, ctx->driver.cuStreamSynchronize(NULL), "writing a tensor");
    rt_leave(ctx);
    return s;
}

pkrt_status pkrt_tensor_write(pkrt_tensor *t, int rank, const void *data, size_t bytes)
{
    if (!t || (!data && bytes))
        return PKRT_INVALID;
    pkrt_status s = check_copy(t, rank, (int64_t)bytes, (int64_t)pkrt_tensor_bytes(t), "bytes");
    return s == PKRT_OK ? copy(t, rank, (void *)(uintptr_t)data, bytes, TO_DEVICE) : s;
}

pkrt_status pkrt_tensor_read(pkrt_tensor *t, int rank, void *data, size_t bytes)
{
    if (!t || (!data && bytes))
        return PKRT_INVALID;
    pkrt_status s = check_copy(t, rank, (int64_t)bytes, (int64_t)pkrt_tensor_bytes(t), "bytes");
    return s == PKRT_OK ? copy(t, rank, data, bytes, TO_HOST) : s;
}

pkrt_status pkrt_tensor_write_f32(pkrt_tensor *t, int rank, const float *data, size_t count)
{
    if (!t || (!data && count))
        return PKRT_INVALID;
    pkrt_status s = check_copy(t, rank, (int64_t)count, pkrt_tensor_count(t), "elements");
    if (s != PKRT_OK || !count)
        return s;
    void *raw = malloc(pkrt_tensor_bytes(t));
    if (!raw)
        return rt_fail(t->ctx, PKRT_NO_MEMORY, "host memory for a copy ran out");
    rt_from_f32(t->elem, raw, data, count);
    s = pkrt_tensor_write(t, rank, raw, pkrt_tensor_bytes(t));
    free(raw);
    return s;
}

pkrt_status pkrt_tensor_read_f32(pkrt_tensor *t, int rank, float *data, size_t count)
{
    if (!t || (!data && count))
        return PKRT_INVALID;
    pkrt_status s = check_copy(t, rank, (int64_t)count, pkrt_tensor_count(t), "elements");
    if (s != PKRT_OK || !count)
        return s;
    void *raw = malloc(pkrt_tensor_bytes(t));
    if (!raw)
        return rt_fail(t->ctx, PKRT_NO_MEMORY, "host memory for a copy ran out");
    s = pkrt_tensor_read(t, rank, raw, pkrt_tensor_bytes(t));
    if (s == PKRT_OK)
        rt_to_f32(t->elem, data, raw, count);
    free(raw);
    return s;
}
