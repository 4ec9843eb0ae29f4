// SPDX-License-Identifier: Apache-2.0
// Descriptions of modules: whether they have the form that abi/description.def says, so that the rest of the
// runtime may read them without looking twice.
#include <stdio.h>
#include <string.h>

#include "src/internal.h"

typedef enum object {
    OBJECT_none,
    OBJECT_module,
    OBJECT_kernel,
    OBJECT_group,
    OBJECT_role,
    OBJECT_param,
    OBJECT_map,
    OBJECT_block,
    OBJECT_field,
    OBJECT_require,
    OBJECT_state
} object;

typedef enum type {
    TYPE_INT,
    TYPE_TEXT,
    TYPE_FLAG,
    TYPE_EXPR,
    TYPE_WHAT,
    TYPE_INTS,
    TYPE_EXPRS,
    TYPE_MAP,
    TYPE_OBJECT,
    TYPE_LIST
} type;

enum { PRESENCE_MAY, PRESENCE_ALWAYS };

typedef struct row {
    const char *name;
    object in, of;
    type type;
    int presence;
} row;

static const row rows[] = {
#define PK_DESCRIPTION(object, field, type, of, presence, since, meaning)                                    \
    {#field, OBJECT_##object, OBJECT_##of, TYPE_##type, PRESENCE_##presence},
#include "abi/description.def"
};

static const char *const type_words[] = {
    [TYPE_INT] = "a whole number",    [TYPE_TEXT] = "a string",     [TYPE_FLAG] = "true or false",
    [TYPE_EXPR] = "an expression",    [TYPE_WHAT] = "a kind",       [TYPE_INTS] = "whole numbers",
    [TYPE_EXPRS] = "expressions",     [TYPE_MAP] = "named numbers", [TYPE_OBJECT] = "an object",
    [TYPE_LIST] = "a list of objects"};

typedef struct checking {
    char *why;
    size_t size;
} checking;

static bool check_object(const checking *c, const cJSON *json, object kind, const char *path);

static bool whole(const cJSON *x)
{
    const double most = 9007199254740992.0; // 2^53: beyond, a double is no longer exact
    return cJSON_IsNumber(x) && x->valuedouble >= -most && x->valuedouble <= most &&
           x->valuedouble == (double)(int64_t)x->valuedouble;
}

/// A number, or an array that begins with an operator's name, followed by names and expressions.
static bool expression(const cJSON *x)
{
    if (whole(x))
        return true;
    if (!cJSON_IsArray(x) || !cJSON_IsString(x->child))
        return false;
    for (const cJSON *a = x->child->next; a; a = a->next)
        if (!cJSON_IsString(a) && !expression(a))
            return false;
    return true;
}

/// Whether all items of an array are `good`.
static bool each(const cJSON *x, bool (*good)(const cJSON *))
{
    const cJSON *item;
    if (!cJSON_IsArray(x))
        return false;
    cJSON_ArrayForEach(item, x) if (!good(item)) return false;
    return true;
}

static bool is_object(const cJSON *x)
{
    return cJSON_IsObject(x);
}

static bool small(const cJSON *x) // fits an int
{
    return whole(x) && x->valuedouble == (double)x->valueint;
}

static bool named_numbers(const cJSON *x)
{
    const cJSON *item;
    if (!cJSON_IsObject(x))
        return false;
    cJSON_ArrayForEach(item, x) if (!whole(item)) return false;
    return true;
}

static bool has_type(const cJSON *x, type t)
{
    switch (t) {
    case TYPE_INT:
        return small(x);
    case TYPE_TEXT:
        return cJSON_IsString(x);
    case TYPE_FLAG:
        return cJSON_IsBool(x);
    case TYPE_EXPR:
        return expression(x);
    case TYPE_WHAT:
        return cJSON_IsArray(x) && expression(x);
    case TYPE_INTS:
        return each(x, small);
    case TYPE_EXPRS:
        return each(x, expression);
    case TYPE_MAP:
        return named_numbers(x);
    case TYPE_OBJECT:
        return cJSON_IsObject(x);
    case TYPE_LIST:
        return each(x, is_object);
    }
    return false;
}

static bool wrong(const checking *c, const char *path, const char *expected)
{
    snprintf(c->why, c->size, "'%s' expected to be %s", path, expected);
    return false;
}

static bool check_field(const checking *c, const cJSON *json, const row *r, const char *path)
{
    enum { PATH = 200 };
    char here[PATH];
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(json, r->name), *item;
    int n = 0;
    snprintf(here, sizeof here, "%.150s%s%s", path, path[0] ? "." : "", r->name);
    if (!x)
        return r->presence == PRESENCE_MAY || wrong(c, here, type_words[r->type]);
    if (!has_type(x, r->type))
        return wrong(c, here, type_words[r->type]);
    if (r->type == TYPE_OBJECT)
        return check_object(c, x, r->of, here);
    if (r->type != TYPE_LIST)
        return true;
    size_t end = strlen(here);
    cJSON_ArrayForEach(item, x)
    {
        snprintf(here + end, sizeof here - end, "[%d]", n++);
        if (!check_object(c, item, r->of, here))
            return false;
    }
    return true;
}

static bool check_object(const checking *c, const cJSON *json, object kind, const char *path)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].in == kind && !check_field(c, json, &rows[i], path))
            return false;
    return true;
}

bool rt_description_check(const cJSON *module, char *why, size_t size)
{
    checking c = {why, size};
    return check_object(&c, module, OBJECT_module, "");
}

// ---- named dimensions ----------------------------------------------------------------------------------

static int add_name(const char **names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return n;
    if (n < RT_MAX_NAMED_DIMS)
        names[n] = name;
    return n + 1;
}

static int gather(const cJSON *x, const char **names, int n)
{
    const char *op = cJSON_IsArray(x) ? cJSON_GetStringValue(x->child) : NULL;
    const char *name = op ? cJSON_GetStringValue(x->child->next) : NULL;
    if (!op || n > RT_MAX_NAMED_DIMS)
        return n;
    if (name && strcmp(op, "dim") == 0)
        return add_name(names, n, name);
    for (const cJSON *a = x->child->next; a; a = a->next)
        n = gather(a, names, n);
    return n;
}

int rt_description_dims(const cJSON *kernel, const char *names[RT_MAX_NAMED_DIMS])
{
    const cJSON *p, *d;
    int n = 0;
    cJSON_ArrayForEach(p, cJSON_GetObjectItem(kernel, "params"))
    {
        cJSON_ArrayForEach(d, cJSON_GetObjectItem(p, "dims"))
        {
            n = gather(d, names, n);
        }
    }
    return n;
}
