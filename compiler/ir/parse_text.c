// SPDX-License-Identifier: Apache-2.0
// Words, numbers, types and host expressions of the text form.
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/parse_impl.h"

enum {
    MOST_SIDE = 1 << 20, // of a tile: far more than fits, and products stay within 64 bits
    MOST_NESTED = 200    // operators of a host expression: parsing recurses
};

void ir_parse_expected(ir_parser *p, const char *what)
{
    if (p->failed)
        return;
    p->failed = true;
    ir_parse_skip(p);
    uint32_t begin = (uint32_t)(p->at - p->file->text);
    pkc_span span = {p->file, begin, begin < p->file->len ? begin + 1 : begin};
    pkc_diag_error(p->session, PKC_DIAG_IR_SYNTAX, span, what);
}

void ir_parse_skip(ir_parser *p)
{
    for (;;) {
        while (isspace((unsigned char)*p->at))
            p->at++;
        if (p->at[0] != '/' || p->at[1] != '/')
            return;
        while (*p->at && *p->at != '\n')
            p->at++;
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

bool ir_parse_try(ir_parser *p, const char *text)
{
    size_t len = strlen(text);
    ir_parse_skip(p);
    if (p->failed || strncmp(p->at, text, len) != 0 || (is_word(text[len - 1]) && is_word(p->at[len])))
        return false;
    p->at += len;
    return true;
}

void ir_parse_need(ir_parser *p, const char *text)
{
    if (!ir_parse_try(p, text))
        ir_parse_expected(p, text);
}

pkc_str ir_parse_try_word(ir_parser *p)
{
    ir_parse_skip(p);
    size_t len = 0;
    while (is_word(p->at[len]))
        len++;
    if (p->failed || !len)
        return NULL;
    pkc_str word = pkc_intern_n(&p->session->strings, p->at, len);
    p->at += len;
    return word;
}

pkc_str ir_parse_word(ir_parser *p, const char *what)
{
    pkc_str word = ir_parse_try_word(p);
    if (!word)
        ir_parse_expected(p, what);
    return word ? word : pkc_session_str(p->session, "?");
}

pkc_str ir_parse_symbol(ir_parser *p)
{
    ir_parse_need(p, "@");
    pkc_str name = ir_parse_word(p, "a name after '@'");
    return strcmp(name, "_") == 0 ? pkc_session_str(p->session, "") : name;
}

int64_t ir_parse_int(ir_parser *p)
{
    char *end;
    ir_parse_skip(p);
    errno = 0;
    int64_t v = strtoll(p->at, &end, 10);
    if (p->failed || end == p->at || errno) {
        ir_parse_expected(p, "a whole number");
        return 0;
    }
    p->at = end;
    return v;
}

int64_t ir_parse_int_in(ir_parser *p, int64_t least, int64_t most, const char *what)
{
    ir_parse_skip(p);
    const char *start = p->at;
    int64_t v = ir_parse_int(p);
    if (!p->failed && v >= least && v <= most)
        return v;
    p->at = start;
    ir_parse_expected(p, what);
    return least;
}

bool ir_parse_try_double(ir_parser *p, double *out, bool *whole, int64_t *integer)
{
    char *end, *int_end;
    ir_parse_skip(p);
    bool sign = *p->at == '-';
    char first = p->at[sign];
    if (p->failed || !(isdigit((unsigned char)first) || strncmp(p->at + sign, "inf", 3) == 0 ||
                       strncmp(p->at + sign, "nan", 3) == 0))
        return false;
    *out = strtod(p->at, &end);
    errno = 0;
    *integer = strtoll(p->at, &int_end, 10);
    *whole = end == int_end && errno == 0;
    p->at = end;
    return true;
}

/// The character behind a backslash, as pkc_buf_json writes it.
static char unescaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

static void parse_escape(ir_parser *p, pkc_buf *text)
{
    unsigned code;
    char c = p->at[1];
    if (c == 'u' && sscanf(p->at + 2, "%4x", &code) == 1 && code > 0 && code < 0x80) {
        pkc_buf_putc(text, (char)code);
        p->at += 6;
    } else if (c && strchr("\"\\/ntr", c)) {
        pkc_buf_putc(text, unescaped(c));
        p->at += 2;
    } else {
        ir_parse_expected(p, "an escape of JSON below \\u0080");
    }
}

pkc_str ir_parse_string(ir_parser *p)
{
    pkc_buf text = {0};
    ir_parse_need(p, "\"");
    while (!p->failed && *p->at && *p->at != '"') {
        if (*p->at == '\\')
            parse_escape(p, &text);
        else
            pkc_buf_putc(&text, *p->at++);
    }
    ir_parse_need(p, "\"");
    pkc_str s = pkc_session_str(p->session, pkc_buf_cstr(&text));
    pkc_buf_free(&text);
    return s;
}

// ---- host expressions ----------------------------------------------------------------------------------

static const struct hx_row {
    const char *text;
    int arity;
} hx_rows[] = {
#define IR_HX(id, text, arity) {#text, arity},
#include "ir/hexpr.def"
#undef IR_HX
};

static const ir_hx *hx_leaf(ir_parser *p, ir_hx_op op)
{
    pkc_arena *a = p->k->arena;
    if (op == IR_HX_RANK || op == IR_HX_RANKS || op == IR_HX_SMS)
        return ir_hx_leaf(a, op);
    ir_parse_need(p, ",");
    pkc_str name = ir_parse_string(p);
    if (op == IR_HX_DIM)
        return ir_hx_dim(a, name);
    if (op == IR_HX_SCALAR)
        return ir_hx_scalar(a, name);
    ir_parse_need(p, ",");
    return ir_hx_stride(a, name, (int)ir_parse_int(p));
}

static const ir_hx *hx_operator(ir_parser *p, ir_hx_op op)
{
    ir_parse_need(p, ",");
    const ir_hx *a = ir_parse_hx(p);
    if (hx_rows[op].arity == 1)
        return ir_hx_not(p->k->arena, a);
    ir_parse_need(p, ",");
    return ir_hx_bin(p->k->arena, op, a, ir_parse_hx(p));
}

const ir_hx *ir_parse_hx(ir_parser *p)
{
    if (!ir_parse_try(p, "["))
        return ir_hx_const(p->k->arena, ir_parse_int(p));
    if (p->nest == MOST_NESTED)
        ir_parse_expected(p, "at most 200 operators within each other");
    pkc_str name = ir_parse_string(p);
    int op = 1; // CONST is written as a number
    while (op < IR_HX_COUNT && strcmp(hx_rows[op].text, name) != 0)
        op++;
    if (p->failed || op == IR_HX_COUNT) {
        ir_parse_expected(p, "an operator of host expressions");
        return ir_hx_const(p->k->arena, 0);
    }
    p->nest++;
    const ir_hx *x = hx_rows[op].arity == 0 ? hx_leaf(p, (ir_hx_op)op) : hx_operator(p, (ir_hx_op)op);
    p->nest--;
    ir_parse_need(p, "]");
    return x;
}

// ---- types ---------------------------------------------------------------------------------------------

pkc_elem ir_parse_elem(ir_parser *p)
{
    pkc_elem e = PKC_E_I32;
    const char *start = p->at;
    pkc_str name = ir_parse_try_word(p);
    if (!name || !pkc_elem_find(name, &e)) {
        p->at = start;
        ir_parse_expected(p, "an element type");
    }
    return e;
}

void ir_parse_shape(ir_parser *p, int32_t *rows, int32_t *cols)
{
    ir_parse_need(p, "[");
    *rows = (int32_t)ir_parse_int_in(p, 1, MOST_SIDE, "a number of rows");
    ir_parse_need(p, ",");
    *cols = (int32_t)ir_parse_int_in(p, 1, MOST_SIDE, "a number of columns");
    ir_parse_need(p, "]");
}

ir_layout ir_parse_layout(ir_parser *p)
{
    for (int l = IR_LAY_UNKNOWN; l <= IR_LAY_SW128; l++)
        if (ir_parse_try(p, ir_layout_text((ir_layout)l)))
            return (ir_layout)l;
    ir_parse_expected(p, "a layout");
    return IR_LAY_UNKNOWN;
}

void ir_parse_members(ir_parser *p, void *object, const ir_member *members)
{
    if (!ir_parse_try(p, "{"))
        return;
    while (!p->failed && !ir_parse_try(p, "}")) {
        pkc_str key = ir_parse_word(p, "a member");
        const ir_member *m = members;
        while (m->key && strcmp(m->key, key) != 0)
            m++;
        ir_parse_need(p, "=");
        int64_t v = ir_parse_int(p);
        if (!m->key)
            ir_parse_expected(p, "a known member");
        else
            ir_member_set(object, m, v);
    }
}

static ir_dist parse_dist(ir_parser *p)
{
    ir_dist d = {0};
    for (int b = IR_DIST_UNKNOWN; b <= IR_DIST_FLAT; b++)
        if (ir_parse_try(p, ir_dist_base_text((ir_dist_base)b))) {
            d.base = (ir_dist_base)b;
            if (ir_parse_try(p, "(")) {
                d.w = (uint16_t)ir_parse_int_in(p, 1, 32, "a number of warps or warpgroups");
                if (ir_parse_try(p, ","))
                    d.lanes = (uint16_t)ir_parse_int_in(p, 1, 32, "a number of lanes");
                if ((d.lanes & (d.lanes - 1)) != 0)
                    ir_parse_expected(p, "a power of two");
                ir_parse_need(p, ")");
            }
            return d;
        }
    ir_parse_expected(p, "a distribution");
    return d;
}

/// What follows `view<`, `tile<` or `reg<`.
static const ir_type *parse_shaped(ir_parser *p, ir_type_kind kind)
{
    int32_t rows, cols;
    pkc_elem e = ir_parse_elem(p);
    ir_parse_shape(p, &rows, &cols);
    const ir_type *t;
    if (kind == IR_T_VIEW) {
        t = ir_type_view(p->k, e, rows, cols, ir_parse_try(p, ",element"));
    } else if (kind == IR_T_TILE) {
        ir_parse_need(p, ",");
        ir_layout l = ir_parse_layout(p);
        t = ir_type_tile(p->k, e, rows, cols, l, ir_parse_try(p, ",T"));
    } else {
        ir_parse_need(p, ",");
        t = ir_type_reg(p->k, e, rows, cols, parse_dist(p));
    }
    ir_parse_need(p, ">");
    return t;
}

static const ir_type *parse_of_pipe(ir_parser *p, ir_type_kind kind)
{
    ir_pipe *pipe = ir_parse_find_pipe(p, ir_parse_symbol(p));
    ir_parse_need(p, ">");
    return kind == IR_T_SLOT ? ir_type_slot(p->k, pipe) : ir_type_state(p->k, pipe);
}

const ir_type *ir_parse_type(ir_parser *p)
{
    if (ir_parse_try(p, "view<"))
        return parse_shaped(p, IR_T_VIEW);
    if (ir_parse_try(p, "tile<"))
        return parse_shaped(p, IR_T_TILE);
    if (ir_parse_try(p, "reg<"))
        return parse_shaped(p, IR_T_REG);
    if (ir_parse_try(p, "slot<"))
        return parse_of_pipe(p, IR_T_SLOT);
    if (ir_parse_try(p, "pst<"))
        return parse_of_pipe(p, IR_T_STATE);
    if (ir_parse_try(p, "tok<mma>"))
        return ir_type_token(p->k, IR_TOK_MMA);
    if (ir_parse_try(p, "tok<bulk>"))
        return ir_type_token(p->k, IR_TOK_BULK);
    if (ir_parse_try(p, "sig"))
        return ir_type_sig(p->k);
    return ir_type_scalar(p->k, ir_parse_elem(p));
}
