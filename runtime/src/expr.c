// SPDX-License-Identifier: Apache-2.0
// Host expressions of a module's description: prefix JSON over 64-bit integers, overflow and division
// checked.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/internal.h"

typedef struct eval {
    const rt_scope *scope;
    char *why;
    size_t size;
} eval;

static bool give_up(const eval *e, const char *format, const char *name)
{
    snprintf(e->why, e->size, format, name);
    return false;
}

// ---- leaves --------------------------------------------------------------------------------------------

static bool find_dim(const eval *e, const char *name, int64_t *out)
{
    for (int i = 0; i < e->scope->n_dims; i++)
        if (strcmp(e->scope->dims[i].name, name) == 0 && e->scope->dims[i].known) {
            *out = e->scope->dims[i].value;
            return true;
        }
    return give_up(e, "dimension %s is not known", name);
}

static const rt_param *find_param(const eval *e, const char *name)
{
    for (int i = 0; i < e->scope->n_params; i++)
        if (strcmp(e->scope->params[i].name, name) == 0)
            return &e->scope->params[i];
    return NULL;
}

/// Bytes from one index of an axis to the next.
static bool stride(const eval *e, const pkrt_tensor *t, const cJSON *axis, int64_t *out)
{
    if (!cJSON_IsNumber(axis) || axis->valueint < 0 || axis->valueint >= t->n_dims)
        return give_up(e, "'%s' of no axis", "stride");
    *out = t->strides[axis->valueint] * (int64_t)rt_elem_size(t->elem);
    return true;
}

static bool leaf(const eval *e, const cJSON *x, const char *op, int64_t *out)
{
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(x, 1));
    const rt_param *p = name ? find_param(e, name) : NULL;
    if (strcmp(op, "rank") == 0)
        *out = e->scope->rank;
    else if (strcmp(op, "ranks") == 0)
        *out = e->scope->ranks;
    else if (strcmp(op, "sms") == 0 && e->scope->sms)
        *out = e->scope->sms;
    else if (strcmp(op, "dim") == 0 && name)
        return find_dim(e, name, out);
    else if (strcmp(op, "scalar") == 0 && p)
        *out = p->i;
    else if (strcmp(op, "stride") == 0 && p && p->tensor)
        return stride(e, p->tensor, cJSON_GetArrayItem(x, 2), out);
    else
        return give_up(e, "'%s' cannot be evaluated", op);
    return true;
}

// ---- operators -----------------------------------------------------------------------------------------

static bool arithmetic(const char *op, int64_t a, int64_t b, int64_t *out, bool *known)
{
    *known = true;
    if (strcmp(op, "add") == 0)
        return !__builtin_add_overflow(a, b, out);
    if (strcmp(op, "sub") == 0)
        return !__builtin_sub_overflow(a, b, out);
    if (strcmp(op, "mul") == 0)
        return !__builtin_mul_overflow(a, b, out);
    bool div = strcmp(op, "div") == 0, cdiv = strcmp(op, "cdiv") == 0, mod = strcmp(op, "mod") == 0;
    *known = div || cdiv || mod;
    if (!*known || b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *out = mod ? a % b : a / b + (cdiv && a % b != 0 && (a < 0) == (b < 0));
    return true;
}

static bool comparison(const char *op, int64_t a, int64_t b, int64_t *out)
{
    if (strcmp(op, "min") == 0)
        *out = a < b ? a : b;
    else if (strcmp(op, "max") == 0)
        *out = a > b ? a : b;
    else if (strcmp(op, "eq") == 0)
        *out = a == b;
    else if (strcmp(op, "ne") == 0)
        *out = a != b;
    else if (strcmp(op, "lt") == 0)
        *out = a < b;
    else if (strcmp(op, "le") == 0)
        *out = a <= b;
    else if (strcmp(op, "and") == 0)
        *out = a && b;
    else if (strcmp(op, "or") == 0)
        *out = a || b;
    else
        return false;
    return true;
}

static bool evaluate(const eval *e, const cJSON *x, int64_t *out)
{
    int64_t a = 0, b = 0;
    bool known;
    if (cJSON_IsNumber(x)) {
        *out = (int64_t)x->valuedouble; // whole and below 2^53 (describe.c)
        return true;
    }
    const char *op = cJSON_GetStringValue(cJSON_GetArrayItem(x, 0));
    if (!op)
        return give_up(e, "%s is not an expression", "this");
    const cJSON *left = cJSON_GetArrayItem(x, 1), *right = cJSON_GetArrayItem(x, 2);
    if (!left || cJSON_IsString(left))
        return leaf(e, x, op, out);
    if (!evaluate(e, left, &a) || (right && !evaluate(e, right, &b)))
        return false;
    if (!right && strcmp(op, "not") == 0) {
        *out = !a;
        return true;
    }
    if (right && arithmetic(op, a, b, out, &known))
        return true;
    if (right && known)
        return give_up(e, b == 0 ? "'%s' divides by zero" : "'%s' overflows", op);
    return (right && comparison(op, a, b, out)) || give_up(e, "there is no operator '%s'", op);
}

bool rt_eval(const cJSON *expr, const rt_scope *scope, int64_t *out, char *why, size_t size)
{
    eval e = {scope, why, size};
    return evaluate(&e, expr, out);
}

// ---- text ----------------------------------------------------------------------------------------------

static void append(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    if (used + 1 < size)
        snprintf(out + used, size - used, "%s", text);
}

static const char *infix(const char *op)
{
    static const char *const table[][2] = {{"add", " + "}, {"sub", " - "},  {"mul", " * "}, {"div", " / "},
                                           {"mod", " % "}, {"eq", " == "},  {"ne", " != "}, {"lt", " < "},
                                           {"le", " <= "}, {"and", " && "}, {"or", " || "}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i][0], op) == 0)
            return table[i][1];
    return NULL;
}

static void text_of(const cJSON *x, char *out, size_t size, bool inner);

static void call_text(const cJSON *x, const char *op, char *out, size_t size)
{
    append(out, size, op);
    for (const cJSON *a = cJSON_GetArrayItem(x, 1); a; a = a->next) {
        append(out, size, a == cJSON_GetArrayItem(x, 1) ? "(" : ", ");
        text_of(a, out, size, false);
    }
    if (cJSON_GetArraySize(x) > 1)
        append(out, size, ")");
}

static void text_of(const cJSON *x, char *out, size_t size, bool inner)
{
    char number[32];
    const char *op = cJSON_GetStringValue(cJSON_GetArrayItem(x, 0));
    if (cJSON_IsNumber(x)) {
        snprintf(number, sizeof number, "%" PRId64, (int64_t)x->valuedouble);
        append(out, size, number);
    } else if (cJSON_IsString(x)) {
        append(out, size, x->valuestring);
    } else if (op && (strcmp(op, "dim") == 0 || strcmp(op, "scalar") == 0)) {
        append(out, size, cJSON_GetStringValue(cJSON_GetArrayItem(x, 1)));
    } else if (op && infix(op)) {
        append(out, size, inner ? "(" : "");
        text_of(cJSON_GetArrayItem(x, 1), out, size, true);
        append(out, size, infix(op));
        text_of(cJSON_GetArrayItem(x, 2), out, size, true);
        append(out, size, inner ? ")" : "");
    } else if (op) {
        call_text(x, op, out, size);
    }
}

void rt_expr_text(const cJSON *expr, char *out, size_t size)
{
    out[0] = 0;
    text_of(expr, out, size, false);
}
