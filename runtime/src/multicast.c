// SPDX-License-Identifier: Apache-2.0
// Multicast addresses of symmetric memory: a multicast object to which every rank's copy is bound, mapped
// once for each device (CUDA driver API, "Multicast Object Management"). A device stands once in an object
// and binds one memory at each offset, so ranks that share a device cannot have one. Sizes are multiples of
// the object's granularity, the least one, since the recommended one would make the smallest tensor half a
// gigabyte.
#include "src/internal.h"

// ---- whether the devices can
// ------------------------------------------------------------------------------

/// Every rank has a device of its own, and each supports multicast.
static pkrt_status check_devices(pkrt_context *ctx)
{
    pkrt_status s = PKRT_OK;
    for (int i = 0; s == PKRT_OK && i < ctx->n_places; i++) {
        const rt_place *p = &ctx->places[i];
        int can = 0;
        if (p->n_ranks > 1)
            return rt_fail(
                ctx, PKRT_INVALID,
                "multicast was required, but ranks %d and %d share device %d, which can stand behind a "
                "multicast address once",
                p->ranks[0], p->ranks[1], p->ordinal);
        s = rt_check(ctx, ctx->driver.cuDeviceGetAttribute(&can, RT_ATTR_MULTICAST, p->device),
                     "asking a device about multicast");
        if (s == PKRT_OK && !can)
            return rt_fail(ctx, PKRT_DRIVER, "multicast was required, but device %d does not support it",
                           p->ordinal);
    }
    return s;
}

static rt_multicast_prop object_of(const pkrt_context *ctx, size_t bytes)
{
    return (rt_multicast_prop){.devices = (unsigned)ctx->n_places, .size = bytes};
}

static pkrt_status find_granularity(pkrt_context *ctx)
{
    const size_t usual = (size_t)2 << 20;
    rt_multicast_prop prop = object_of(ctx, usual);
    rt_result r =
        ctx->driver.cuMulticastGetGranularity(&ctx->multicast_granularity, &prop, RT_MULTICAST_MINIMUM);
    return rt_check(ctx, r, "asking for the granularity of multicast objects");
}

/// Nothing that only multicast asked for stays behind, the message neither. Faults of kernels are told all
/// the same: they have nothing to do with it.
static pkrt_status do_without(pkrt_context *ctx, pkrt_status s)
{
    if (s == PKRT_FAULT)
        return s;
    ctx->error[0] = 0;
    return PKRT_OK;
}

pkrt_status rt_multicast_decide(pkrt_context *ctx, pkrt_multicast asked)
{
    if (asked == PKRT_MULTICAST_NEVER || (asked == PKRT_MULTICAST_AUTO && ctx->n_ranks == 1))
        return PKRT_OK;
    pkrt_status s = check_devices(ctx);
    if (s == PKRT_OK)
        s = find_granularity(ctx);
    if (s == PKRT_OK)
        ctx->multicast = asked;
    else
        ctx->multicast_granularity = 0;
    return s != PKRT_OK && asked == PKRT_MULTICAST_AUTO ? do_without(ctx, s) : s;
}

// ---- one tensor's object
// ----------------------------------------------------------------------------------

static pkrt_status make_object(pkrt_tensor *t)
{
    pkrt_context *ctx = t->ctx;
    rt_multicast_prop prop = object_of(ctx, t->mapped_bytes);
    pkrt_status s = rt_check(ctx, ctx->driver.cuMulticastCreate(&t->multicast_object, &prop),
                             "making a multicast object");
    t->multicast_created = s == PKRT_OK;
    for (int i = 0; s == PKRT_OK && i < ctx->n_places; i++)
        s = rt_check(ctx, ctx->driver.cuMulticastAddDevice(t->multicast_object, ctx->places[i].device),
                     "adding a device to a multicast object");
    return s;
}

static pkrt_status bind_copy(pkrt_tensor *t, int rank)
{
    rt_copy *c = &t->copies[rank];
    rt_result r = t->ctx->driver.cuMulticastBindMem(t->multicast_object, 0, c->handle, 0, t->mapped_bytes, 0);
    pkrt_status s = rt_check(t->ctx, r, "binding memory to a multicast object");
    c->multicast_bound = s == PKRT_OK;
    return s;
}

/// An address of the object for the device of one rank.
static pkrt_status map_object(pkrt_tensor *t, int rank)
{
    pkrt_context *ctx = t->ctx;
    rt_driver *d = &ctx->driver;
    rt_copy *c = &t->copies[rank];
    rt_access access = {{RT_LOCATION_DEVICE, ctx->places[ctx->place_of[rank]].ordinal}, RT_ACCESS_READ_WRITE};
    rt_result r = d->cuMemAddressReserve(&c->multicast, t->mapped_bytes, ctx->multicast_granularity, 0, 0);
    pkrt_status s = rt_check(ctx, r, "reserving addresses");
    c->multicast_reserved = s == PKRT_OK;
    if (s == PKRT_OK) {
        r = d->cuMemMap(c->multicast, t->mapped_bytes, 0, t->multicast_object, 0);
        s = rt_check(ctx, r, "mapping a multicast object");
        c->multicast_mapped = s == PKRT_OK;
    }
    if (s == PKRT_OK)
        s = rt_check(ctx, d->cuMemSetAccess(c->multicast, t->mapped_bytes, &access, 1),
                     "sharing a multicast object");
    return s;
}

/// All devices first, then all memory, then the addresses: the order that the driver asks for.
static pkrt_status make(pkrt_tensor *t)
{
    static pkrt_status (*const steps[])(pkrt_tensor *, int) = {bind_copy, map_object};
    pkrt_context *ctx = t->ctx;
    pkrt_status s = make_object(t);
    for (size_t step = 0; step < sizeof steps / sizeof steps[0]; step++)
        for (int r = 0; s == PKRT_OK && r < ctx->n_ranks; r++) {
            if ((s = rt_enter(ctx, ctx->place_of[r])) != PKRT_OK)
                return s;
            s = steps[step](t, r);
            rt_leave(ctx);
        }
    return s;
}

pkrt_status rt_multicast_make(pkrt_tensor *t)
{
    pkrt_context *ctx = t->ctx;
    if (ctx->multicast == PKRT_MULTICAST_NEVER)
        return PKRT_OK;
    pkrt_status s = make(t);
    t->multicast = s == PKRT_OK;
    if (s == PKRT_OK)
        return s;
    rt_saved why;
    rt_save_error(ctx, &why);
    rt_multicast_free(t);
    rt_restore_error(ctx, &why);
    return ctx->multicast == PKRT_MULTICAST_AUTO ? do_without(ctx, s) : s;
}

static void free_for(pkrt_tensor *t, int rank)
{
    rt_driver *d = &t->ctx->driver;
    rt_copy *c = &t->copies[rank];
    if (c->multicast_mapped)
        d->cuMemUnmap(c->multicast, t->mapped_bytes);
    if (c->multicast_reserved)
        d->cuMemAddressFree(c->multicast, t->mapped_bytes);
    if (c->multicast_bound)
        d->cuMulticastUnbind(t->multicast_object, t->ctx->places[t->ctx->place_of[rank]].device, 0,
                             t->mapped_bytes);
    c->multicast_mapped = c->multicast_reserved = c->multicast_bound = false;
    c->multicast = 0;
}

void rt_multicast_free(pkrt_tensor *t)
{
    pkrt_context *ctx = t->ctx;
    for (int r = 0; t->multicast_created && r < ctx->n_ranks; r++) {
        bool entered = rt_enter_to_free(ctx, ctx->place_of[r]);
        free_for(t, r);
        if (entered)
            rt_leave(ctx);
    }
    if (t->multicast_created)
        ctx->driver.cuMemRelease(t->multicast_object);
    t->multicast = t->multicast_created = false;
}
