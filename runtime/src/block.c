// SPDX-License-Identifier: Apache-2.0
// The parameter of a launch: one block a rank, filled as the description's fields say, with the tensor maps
// (docs/module.md).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/internal.h"

typedef struct filling {
    pkrt_kernel *k;
    int rank, place;
    rt_scope scope;
    char *block;
} filling;

static const char *string_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
}

static pkrt_status broken(const filling *f, const char *what)
{
    return rt_fail(f->k->ctx, PKRT_BAD_MODULE, "kernel '%s': the module's description is broken: %s",
                   f->k->name, what);
}

/// Evaluates an offset and checks that `bytes` from there lie in the block.
static bool offset_of(const filling *f, const cJSON *expr, size_t bytes, size_t *out)
{
    char why[200];
    int64_t at;
    if (!rt_eval(expr, &f->scope, &at, why, sizeof why) || at < 0 || (size_t)at + bytes > f->k->block_bytes)
        return false;
    *out = (size_t)at;
    return true;
}

// ---- tensor maps ---------------------------------------------------------------------------------------

static const int map_types[] = {
#define RT_ELEM(id, name, bytes, map) map,
#include "src/elems.def"
#undef RT_ELEM
};

/// A tensor map's shape, innermost axis first.
typedef struct map_shape {
    int n;
    uint64_t dims[PKRT_MAX_DIMS], strides[PKRT_MAX_DIMS];
    uint32_t box[PKRT_MAX_DIMS], steps[PKRT_MAX_DIMS];
    bool empty;
} map_shape;

/// Reads a map's axes and box. False: they do not fit the tensor.
static bool shape_of(const pkrt_tensor *t, const cJSON *map, map_shape *m)
{
    const cJSON *axis = cJSON_GetObjectItem(map, "axes")->child,
                *box = cJSON_GetObjectItem(map, "box")->child;
    *m = (map_shape){0};
    for (; axis && box && m->n < t->n_dims; axis = axis->next, box = box->next, m->n++) {
        int a = axis->valueint;
        if (a < 0 || a >= t->n_dims || box->valueint < 1)
            return false;
        m->dims[m->n] = (uint64_t)t->dims[a];
        m->strides[m->n] = (uint64_t)t->strides[a] * rt_elem_size(t->elem);
        m->box[m->n] = (uint32_t)box->valueint;
        m->steps[m->n] = 1;
        m->empty |= t->dims[a] == 0;
    }
    return !axis && !box && m->n > 0;
}

/// The rules of cuTensorMapEncodeTiled (CUDA driver API) that depend on what the caller passes, said in the
/// kernel's words.
static pkrt_status check_map(const filling *f, const rt_param *p, const map_shape *m, rt_ptr address)
{
    enum { ALIGN = 16 };
    const uint64_t longest = UINT64_C(1) << 40;
    const char *kernel = f->k->name;
    if (address % ALIGN != 0)
        return rt_fail(
            f->k->ctx, PKRT_BAD_SHAPE,
            "kernel '%s', parameter '%s': an address that is a multiple of %d expected, got %#llx on rank %d",
            kernel, p->name, ALIGN, (unsigned long long)address, f->rank);
    for (int i = 1; i < m->n; i++) {
        unsigned long long stride = m->strides[i];
        if (stride % ALIGN != 0)
            return rt_fail(
                f->k->ctx, PKRT_BAD_SHAPE,
                "kernel '%s', parameter '%s': strides that are multiples of %d bytes expected, got %llu; "
                "the nearest that works is %llu",
                kernel, p->name, ALIGN, stride, stride / ALIGN * ALIGN + ALIGN);
        if (stride >= longest)
            return rt_fail(f->k->ctx, PKRT_BAD_SHAPE,
                           "kernel '%s', parameter '%s': strides below 2^40 bytes expected, got %llu", kernel,
                           p->name, stride);
    }
    return PKRT_OK;
}

static int swizzle_code(int bytes) // CUtensorMapSwizzle
{
    return bytes == 32 ? 1 : bytes == 64 ? 2 : bytes == 128 ? 3 : 0;
}

static pkrt_status encode_map(const filling *f, const cJSON *map, int owner, size_t at)
{
    enum { PROMOTE_L2_128 = 2 };
    pkrt_context *ctx = f->k->ctx;
    const rt_param *p = rt_kernel_param(f->k, string_of(map, "param"));
    rt_map encoded = {{0}};
    map_shape m;
    if (!p || !p->tensor)
        return broken(f, "a map of no tensor");
    if (!shape_of(p->tensor, map, &m))
        return broken(f, "a map that does not fit its tensor");
    rt_ptr address = p->tensor->copies[owner].ptr;
    if (m.empty) // zeros, which nobody uses: there are no tiles
        return PKRT_OK;
    pkrt_status s = check_map(f, p, &m, address);
    if (s != PKRT_OK)
        return s;
    int swizzle = swizzle_code(cJSON_GetObjectItem(map, "swizzle")->valueint);
    rt_result r = ctx->driver.cuTensorMapEncodeTiled(&encoded, map_types[p->tensor->elem], (unsigned)m.n,
                                                     (void *)(uintptr_t)address, m.dims, m.strides + 1, m.box,
                                                     m.steps, 0, swizzle, PROMOTE_L2_128, 0);
    s = rt_check(ctx, r, "encoding a copy descriptor");
    if (s != PKRT_OK) {
        rt_saved why;
        rt_save_error(ctx, &why);
        return rt_fail(ctx, s, "kernel '%s', parameter '%s': %.4000s", f->k->name, p->name, why.text);
    }
    memcpy(f->block + at, &encoded, sizeof encoded);
    return PKRT_OK;
}

static pkrt_status fill_map(const filling *f, const cJSON *map)
{
    const char *per = string_of(map, "per");
    bool each = per && strcmp(per, "rank") == 0;
    int n = each ? f->k->ctx->n_ranks : 1;
    size_t at;
    pkrt_status s = PKRT_OK;
    if (!offset_of(f, cJSON_GetObjectItem(map, "at"), (size_t)n * RT_MAP_BYTES, &at))
        return broken(f, "a map outside the block");
    for (int i = 0; s == PKRT_OK && i < n; i++)
        s = encode_map(f, map, each ? i : f->rank, at + (size_t)i * RT_MAP_BYTES);
    return s;
}

// ---- fields --------------------------------------------------------------------------------------------

/// A field's bytes: at most a table of one address a rank.
typedef struct field {
    uint64_t values[64];
    int n;
    size_t size; // of one value
} field;

static void one(field *out, uint64_t value, size_t size)
{
    *out = (field){.values = {value}, .n = 1, .size = size};
}

static void table(const filling *f, const pkrt_tensor *t, field *out)
{
    *out = (field){.n = f->k->ctx->n_ranks, .size = 8};
    for (int r = 0; r < out->n; r++)
        out->values[r] = t ? t->copies[r].ptr : 0;
}

static rt_ptr multicast_of(const filling *f, const pkrt_tensor *t)
{
    return (rt_ptr)(uintptr_t)pkrt_tensor_multicast(t, f->rank);
}

static bool dim_value(const filling *f, const char *name, field *out)
{
    for (int i = 0; i < f->k->n_dims; i++)
        if (strcmp(f->k->dims[i].name, name) == 0) {
            one(out, (uint64_t)f->k->dims[i].value, 4);
            return true;
        }
    return false;
}

/// Counts of the groups before group `index`.
static bool first_of_group(const filling *f, int index, field *out)
{
    const cJSON *g;
    int64_t first = 0, n;
    char why[200];
    cJSON_ArrayForEach(g, cJSON_GetObjectItem(f->k->json, "groups"))
    {
        if (index-- == 0)
            break;
        if (!rt_eval(cJSON_GetObjectItem(g, "count"), &f->scope, &n, why, sizeof why))
            return false;
        first += n;
    }
    one(out, (uint64_t)first, 4);
    return true;
}

static bool abort_address(const filling *f, field *out)
{
    one(out, f->k->ctx->places[f->place].abort_address, 8);
    return true;
}

/// What belongs to no parameter.
static bool plain_value(const filling *f, const char *kind, field *out)
{
    const pkrt_kernel *k = f->k;
    if (strcmp(kind, "state") == 0)
        one(out, k->state ? k->state->copies[f->rank].ptr : 0, 8);
    else if (strcmp(kind, "abort") == 0)
        return abort_address(f, out);
    else if (strcmp(kind, "rank") == 0)
        one(out, (uint64_t)f->rank, 4);
    else if (strcmp(kind, "ranks") == 0)
        one(out, (uint64_t)k->ctx->n_ranks, 4);
    else if (strcmp(kind, "sms") == 0)
        one(out, (uint64_t)k->sms, 4);
    else if (strcmp(kind, "flags") == 0)
        one(out, 0, 4);
    else if (strcmp(kind, "bank_words") == 0)
        one(out, k->bank_words, 4);
    else if (strcmp(kind, "peer_states") == 0)
        table(f, k->state, out);
    else if (strcmp(kind, "multicast_state") == 0)
        one(out, multicast_of(f, k->state), 8);
    else
        return false;
    return true;
}

static bool param_value(const filling *f, const char *kind, const cJSON *what, field *out)
{
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(what, 1));
    const rt_param *p = rt_kernel_param(f->k, name);
    const cJSON *extra = cJSON_GetArrayItem(what, 2);
    const char *whose = cJSON_GetStringValue(extra) ? cJSON_GetStringValue(extra) : "";
    if (!p)
        return false;
    uint64_t bits;
    size_t size;
    if (strcmp(kind, "scalar") == 0 && strcmp(p->kind, kind) == 0) {
        size = rt_scalar_bits(p, &bits);
        one(out, bits, size);
    } else if (strcmp(kind, "signal") == 0)
        one(out, p->first_word, 4);
    else if (strcmp(kind, "stride") == 0 && p->tensor && cJSON_IsNumber(extra) &&
             extra->valueint < p->tensor->n_dims)
        one(out, (uint64_t)p->tensor->strides[extra->valueint] * rt_elem_size(p->tensor->elem), 8);
    else if (strcmp(kind, "pointer") == 0 && p->tensor && strcmp(whose, "rank") == 0)
        table(f, p->tensor, out);
    else if (strcmp(kind, "pointer") == 0 && p->tensor && strcmp(whose, "all") == 0)
        one(out, multicast_of(f, p->tensor), 8);
    else if (strcmp(kind, "pointer") == 0 && p->tensor)
        one(out, p->tensor->copies[f->rank].ptr, 8);
    else
        return false;
    return true;
}

static bool field_value(const filling *f, const cJSON *what, field *out)
{
    const char *kind = cJSON_GetStringValue(cJSON_GetArrayItem(what, 0));
    const cJSON *of = cJSON_GetArrayItem(what, 1);
    if (!kind)
        return false;
    if (strcmp(kind, "dim") == 0 && cJSON_IsString(of))
        return dim_value(f, of->valuestring, out);
    if (strcmp(kind, "first") == 0 && cJSON_IsNumber(of))
        return first_of_group(f, of->valueint, out);
    return of ? param_value(f, kind, what, out) : plain_value(f, kind, out);
}

static pkrt_status fill_field(const filling *f, const cJSON *json)
{
    field v;
    size_t at;
    if (!field_value(f, cJSON_GetObjectItem(json, "what"), &v))
        return broken(f, "a field that this runtime does not know");
    if (!offset_of(f, cJSON_GetObjectItem(json, "at"), (size_t)v.n * v.size, &at))
        return broken(f, "a field outside the block");
    for (int i = 0; i < v.n; i++)
        memcpy(f->block + at + (size_t)i * v.size, &v.values[i], v.size); // little endian, as the device is
    return PKRT_OK;
}

static pkrt_status fill_rank(const filling *f)
{
    const cJSON *j;
    pkrt_status s = PKRT_OK;
    cJSON_ArrayForEach(j, cJSON_GetObjectItem(cJSON_GetObjectItem(f->k->json, "block"), "fields"))
    {
        if (s == PKRT_OK)
            s = fill_field(f, j);
    }
    cJSON_ArrayForEach(j, cJSON_GetObjectItem(f->k->json, "maps"))
    {
        if (s == PKRT_OK)
            s = fill_map(f, j);
    }
    return s;
}

pkrt_status rt_fill_blocks(pkrt_kernel *k)
{
    pkrt_context *ctx = k->ctx;
    pkrt_status s = PKRT_OK;
    for (int r = 0; s == PKRT_OK && r < ctx->n_ranks; r++) {
        int place = ctx->place_of[r];
        filling f = {.k = k, .rank = r, .place = place, .scope = rt_kernel_scope(k, r)};
        f.block = k->blocks[place] + (size_t)ctx->slot_of[r] * k->block_bytes;
        if ((s = rt_enter(ctx, place)) != PKRT_OK)
            return s;
        s = fill_rank(&f);
        rt_leave(ctx);
    }
    return s;
}
