// SPDX-License-Identifier: Apache-2.0
// What is checked before a kernel may be launched: arguments, dimensions, requirements.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/internal.h"

static const char *string_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
}

rt_scope rt_kernel_scope(const pkrt_kernel *k, int rank)
{
    return (rt_scope){.dims = k->dims,
                      .n_dims = k->n_dims,
                      .rank = rank,
                      .ranks = k->ctx->n_ranks,
                      .sms = k->sms,
                      .params = k->params,
                      .n_params = k->n_params};
}

static bool is_kind(const rt_param *p, const char *kind)
{
    return strcmp(p->kind, kind) == 0;
}

// ---- arguments -----------------------------------------------------------------------------------------

rt_param *rt_kernel_param(const pkrt_kernel *k, const char *name)
{
    for (int i = 0; name && i < k->n_params; i++)
        if (strcmp(k->params[i].name, name) == 0)
            return &k->params[i];
    return NULL;
}

/// Names of the parameters that may be passed, for messages.
static void list_params(const pkrt_kernel *k, char *out, size_t size)
{
    out[0] = 0;
    for (int i = 0; i < k->n_params; i++)
        if (!is_kind(&k->params[i], "signal"))
            snprintf(out + strlen(out), size - strlen(out), "%s%s", out[0] ? ", " : "", k->params[i].name);
}

static pkrt_status take_arg(pkrt_kernel *k, const pkrt_arg *arg)
{
    pkrt_context *ctx = k->ctx;
    rt_param *p = rt_kernel_param(k, arg->name);
    char names[300];
    if (!p) {
        list_params(k, names, sizeof names);
        return rt_fail(ctx, PKRT_INVALID, "kernel '%s' has no parameter '%s'; it has %s", k->name,
                       arg->name ? arg->name : "(null)", names);
    }
    if (p->given)
        return rt_fail(ctx, PKRT_INVALID, "kernel '%s', parameter '%s': given twice", k->name, p->name);
    if (is_kind(p, "signal"))
        return rt_fail(ctx, PKRT_INVALID,
                       "kernel '%s', parameter '%s': signals are the kernel's own and are not passed",
                       k->name, p->name);
    p->given = true;
    if (!is_kind(p, "scalar")) {
        p->tensor = arg->tensor;
        return PKRT_OK;
    }
    if (arg->tensor)
        return rt_fail(ctx, PKRT_INVALID, "kernel '%s', parameter '%s': a number expected, got a tensor",
                       k->name, p->name);
    return rt_scalar_set(k, p, arg->i, arg->f);
}

/// Whether a tensor is of the kind that the parameter wants, its sizes apart.
static pkrt_status check_tensor(pkrt_kernel *k, const rt_param *p)
{
    pkrt_context *ctx = k->ctx;
    const pkrt_tensor *t = p->tensor;
    int want = cJSON_GetArraySize(cJSON_GetObjectItem(p->json, "dims"));
    if (!t)
        return rt_fail(ctx, PKRT_INVALID, "kernel '%s', parameter '%s': a tensor expected, got none", k->name,
                       p->name);
    if (t->ctx != ctx)
        return rt_fail(ctx, PKRT_INVALID,
                       "kernel '%s', parameter '%s': the tensor belongs to another context", k->name,
                       p->name);
    if (strcmp(rt_elem_name(t->elem), p->elem) != 0)
        return rt_fail(ctx, PKRT_BAD_SHAPE, "kernel '%s', parameter '%s': elements expected to be %s, got %s",
                       k->name, p->name, p->elem, rt_elem_name(t->elem));
    if (t->n_dims != want)
        return rt_fail(ctx, PKRT_BAD_SHAPE, "kernel '%s', parameter '%s': %d dimensions expected, got %d",
                       k->name, p->name, want, t->n_dims);
    if (is_kind(p, "peer") && !t->symmetric)
        return rt_fail(
            ctx, PKRT_BAD_SHAPE,
            "kernel '%s', parameter '%s': a symmetric tensor expected (PKRT_SYMMETRIC), got a local one",
            k->name, p->name);
    return PKRT_OK;
}

static pkrt_status check_given(pkrt_kernel *k, const rt_param *p)
{
    if (is_kind(p, "signal"))
        return PKRT_OK;
    if (!p->given)
        return rt_fail(k->ctx, PKRT_INVALID, "kernel '%s', parameter '%s': nothing was passed", k->name,
                       p->name);
    return is_kind(p, "scalar") ? PKRT_OK : check_tensor(k, p);
}

// ---- dimensions ----------------------------------------------------------------------------------------

static rt_dim *find_dim(pkrt_kernel *k, const char *name)
{
    for (int i = 0; i < k->n_dims; i++)
        if (strcmp(k->dims[i].name, name) == 0)
            return &k->dims[i];
    return NULL;
}

/// The name where a dimension is a bare one: ["dim", "R"].
static const char *bare_name(const cJSON *expr)
{
    const char *op = cJSON_GetStringValue(cJSON_GetArrayItem(expr, 0));
    return op && strcmp(op, "dim") == 0 ? cJSON_GetStringValue(cJSON_GetArrayItem(expr, 1)) : NULL;
}

static pkrt_status bind_axis(pkrt_kernel *k, const rt_param *p, int axis, const cJSON *expr)
{
    const char *name = bare_name(expr);
    rt_dim *d = name ? find_dim(k, name) : NULL;
    int64_t got = p->tensor->dims[axis];
    if (!d)
        return PKRT_OK;
    if (d->known && d->value != got)
        return rt_fail(
            k->ctx, PKRT_BAD_SHAPE,
            "kernel '%s', parameter '%s': dimension %d (%s) expected to be %lld as in '%s', got %lld",
            k->name, p->name, axis, name, (long long)d->value, d->bound, (long long)got);
    if (!d->known)
        *d = (rt_dim){.name = d->name, .value = got, .known = true, .bound = p->name};
    return PKRT_OK;
}

/// A dimension that is a constant or an expression is compared with the tensor's.
static pkrt_status check_axis(pkrt_kernel *k, const rt_param *p, int axis, const cJSON *expr)
{
    char why[200], text[200];
    int64_t want, got = p->tensor->dims[axis];
    rt_scope scope = rt_kernel_scope(k, 0);
    if (bare_name(expr))
        return PKRT_OK;
    if (!rt_eval(expr, &scope, &want, why, sizeof why))
        return rt_fail(k->ctx, PKRT_BAD_SHAPE, "kernel '%s', parameter '%s': dimension %d: %s", k->name,
                       p->name, axis, why);
    if (want == got)
        return PKRT_OK;
    rt_expr_text(expr, text, sizeof text);
    if (cJSON_IsNumber(expr))
        return rt_fail(k->ctx, PKRT_BAD_SHAPE,
                       "kernel '%s', parameter '%s': dimension %d expected to be %lld, got %lld", k->name,
                       p->name, axis, (long long)want, (long long)got);
    return rt_fail(k->ctx, PKRT_BAD_SHAPE,
                   "kernel '%s', parameter '%s': dimension %d (%s) expected to be %lld, got %lld", k->name,
                   p->name, axis, text, (long long)want, (long long)got);
}

typedef pkrt_status (*axis_step)(pkrt_kernel *k, const rt_param *p, int axis, const cJSON *expr);

static pkrt_status each_axis(pkrt_kernel *k, axis_step step)
{
    pkrt_status s = PKRT_OK;
    for (int i = 0; i < k->n_params; i++) {
        const cJSON *expr;
        int axis = 0;
        if (!k->params[i].tensor)
            continue;
        cJSON_ArrayForEach(expr, cJSON_GetObjectItem(k->params[i].json, "dims"))
        {
            if (s == PKRT_OK)
                s = step(k, &k->params[i], axis++, expr);
        }
    }
    return s;
}

static pkrt_status check_known(pkrt_kernel *k)
{
    for (int i = 0; i < k->n_dims; i++)
        if (!k->dims[i].known)
            return rt_fail(k->ctx, PKRT_BAD_SHAPE, "kernel '%s': no tensor binds dimension %s", k->name,
                           k->dims[i].name);
    return PKRT_OK;
}

/// Signal arrays lie in a bank one after the other.
static pkrt_status place_signals(pkrt_kernel *k)
{
    enum { MOST_WORDS = 1 << 26 };
    rt_scope scope = rt_kernel_scope(k, 0);
    int64_t words = 0;
    for (int i = 0; i < k->n_params; i++) {
        rt_param *p = &k->params[i];
        const cJSON *expr;
        int64_t count = 1, n;
        char why[200];
        if (!is_kind(p, "signal"))
            continue;
        cJSON_ArrayForEach(expr, cJSON_GetObjectItem(p->json, "dims"))
        {
            if (!rt_eval(expr, &scope, &n, why, sizeof why))
                return rt_fail(k->ctx, PKRT_BAD_SHAPE, "kernel '%s', signals '%s': %s", k->name, p->name,
                               why);
            if (n < 0 || __builtin_mul_overflow(count, n, &count) || count > MOST_WORDS)
                return rt_fail(k->ctx, PKRT_BAD_SHAPE,
                               "kernel '%s', signals '%s': at most %d counters expected", k->name, p->name,
                               MOST_WORDS);
        }
        p->first_word = (uint32_t)words;
        words += count;
    }
    if (words > MOST_WORDS)
        return rt_fail(k->ctx, PKRT_BAD_SHAPE, "kernel '%s': at most %d signals expected, got %lld", k->name,
                       MOST_WORDS, (long long)words);
    k->bank_words = (uint32_t)words;
    return PKRT_OK;
}

pkrt_status rt_bind_shapes(pkrt_kernel *k, const pkrt_arg *args, int n_args)
{
    pkrt_status s = PKRT_OK;
    for (int i = 0; s == PKRT_OK && i < n_args; i++)
        s = take_arg(k, &args[i]);
    for (int i = 0; s == PKRT_OK && i < k->n_params; i++)
        s = check_given(k, &k->params[i]);
    if (s == PKRT_OK)
        s = each_axis(k, bind_axis);
    if (s == PKRT_OK)
        s = check_known(k);
    if (s == PKRT_OK)
        s = each_axis(k, check_axis);
    return s == PKRT_OK ? place_signals(k) : s;
}

// ---- requirements --------------------------------------------------------------------------------------

static const char *last_dim_in(const cJSON *expr)
{
    const char *name = bare_name(expr), *found = name;
    for (const cJSON *a = cJSON_IsArray(expr) && !name ? expr->child : NULL; a; a = a->next)
        if (cJSON_IsArray(a) && last_dim_in(a))
            found = last_dim_in(a);
    return found;
}

/// Looks for the nearest value of the requirement's dimension, the others kept, that meets it: "the nearest
/// that works is 104".
static void suggest(pkrt_kernel *k, const cJSON *expr, char *out, size_t size)
{
    enum { FAR = 4096 };
    const char *name = last_dim_in(expr);
    rt_dim *d = name ? find_dim(k, name) : NULL;
    rt_scope scope = rt_kernel_scope(k, 0);
    int64_t met = 0;
    char why[200];
    out[0] = 0;
    if (!d)
        return;
    int64_t value = d->value;
    for (int64_t i = 1; i <= FAR && !met; i++)
        for (int side = 1; side >= -1 && !met; side -= 2) {
            d->value = value + side * i;
            if (d->value > 0 && rt_eval(expr, &scope, &met, why, sizeof why) && met)
                snprintf(out, size, "; the nearest %s that works is %lld", name, (long long)d->value);
        }
    d->value = value;
}

/// Whether an expression is a dimension or an integer scalar, and which.
static bool named(pkrt_kernel *k, const cJSON *expr, const char **name, int64_t *value)
{
    const char *op = cJSON_GetStringValue(cJSON_GetArrayItem(expr, 0));
    bool scalar = op && strcmp(op, "scalar") == 0;
    *name = scalar ? cJSON_GetStringValue(cJSON_GetArrayItem(expr, 1)) : bare_name(expr);
    const rt_dim *d = *name && !scalar ? find_dim(k, *name) : NULL;
    const rt_param *p = *name && scalar ? rt_kernel_param(k, *name) : NULL;
    if (d || p)
        *value = d ? d->value : p->i;
    return d || p;
}

/// Names and values of the dimensions and scalars in an expression: "K = 100".
static void list_names(pkrt_kernel *k, const cJSON *expr, char *out, size_t size)
{
    const char *name;
    int64_t value;
    char item[64];
    if (named(k, expr, &name, &value)) {
        snprintf(item, sizeof item, "%s = %lld", name, (long long)value);
        if (!strstr(out, item))
            snprintf(out + strlen(out), size - strlen(out), "%s%s", out[0] ? ", " : "", item);
        return;
    }
    for (const cJSON *a = cJSON_IsArray(expr) ? expr->child : NULL; a; a = a->next)
        list_names(k, a, out, size);
}

static pkrt_status check_requirement(pkrt_kernel *k, const cJSON *r)
{
    char why[200], near[120], dims[200] = "";
    int64_t met;
    rt_scope scope = rt_kernel_scope(k, 0);
    const cJSON *expr = cJSON_GetObjectItem(r, "expr");
    const char *message = string_of(r, "why");
    if (!rt_eval(expr, &scope, &met, why, sizeof why))
        return rt_fail(k->ctx, PKRT_BAD_SHAPE, "kernel '%s': %s (%s)", k->name,
                       message ? message : "a requirement", why);
    if (met)
        return PKRT_OK;
    list_names(k, expr, dims, sizeof dims);
    suggest(k, expr, near, sizeof near);
    return rt_fail(k->ctx, PKRT_BAD_SHAPE, "kernel '%s': %s; got %s%s", k->name,
                   message ? message : "a requirement is not met", dims[0] ? dims : "other values", near);
}

/// Counts of groups: at least 1 each, together no more than the workers.
static pkrt_status check_groups(pkrt_kernel *k)
{
    rt_scope scope = rt_kernel_scope(k, 0);
    const cJSON *g;
    int64_t sum = 0, n;
    char why[200];
    cJSON_ArrayForEach(g, cJSON_GetObjectItem(k->json, "groups"))
    {
        if (!rt_eval(cJSON_GetObjectItem(g, "count"), &scope, &n, why, sizeof why))
            return rt_fail(k->ctx, PKRT_NO_ROOM, "kernel '%s', group '%s': %s", k->name, string_of(g, "name"),
                           why);
        if (n < 1)
            return rt_fail(
                k->ctx, PKRT_NO_ROOM,
                "kernel '%s', group '%s': at least 1 worker expected, got %lld of the %d that each rank has",
                k->name, string_of(g, "name"), (long long)n, k->sms);
        sum += n;
    }
    if (sum > k->sms)
        return rt_fail(k->ctx, PKRT_NO_ROOM, "kernel '%s': the groups want %lld workers, each rank has %d",
                       k->name, (long long)sum, k->sms);
    return PKRT_OK;
}

pkrt_status rt_check_requirements(pkrt_kernel *k)
{
    const cJSON *r;
    cJSON_ArrayForEach(r, cJSON_GetObjectItem(k->json, "require"))
    {
        pkrt_status s = check_requirement(k, r);
        if (s != PKRT_OK)
            return s;
    }
    return check_groups(k);
}
