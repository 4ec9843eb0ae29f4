// SPDX-License-Identifier: Apache-2.0
// Operations of the text form.
#include <string.h>

#include "ir/parse_impl.h"
#include "support/vec.h"

enum { MOST = 512 }; // results or operands of one op

// ---- values --------------------------------------------------------------------------------------------

/// %name; the name is interned with its number, so that it is one key.
static pkc_str value_name(ir_parser *p)
{
    ir_parse_need(p, "%");
    return ir_parse_word(p, "a value's name after '%'");
}

/// The source name of %acc.1 is acc; %7 has none.
static pkc_str source_name(ir_parser *p, pkc_str name)
{
    if (name[0] >= '0' && name[0] <= '9')
        return NULL;
    const char *dot = strrchr(name, '.');
    size_t digits = dot ? strspn(dot + 1, "0123456789") : 0;
    bool numbered = dot && digits && !dot[1 + digits];
    return numbered ? pkc_intern_n(&p->session->strings, name, (size_t)(dot - name)) : name;
}

static void define(ir_parser *p, pkc_str name, ir_value *v)
{
    v->name = source_name(p, name);
    ir_ptrmap_set(&p->values, name, v);
}

/// An immediate: its type is written behind it, or i32, f32, bool by its form.
static ir_value *immediate(ir_parser *p)
{
    double f;
    bool whole;
    int64_t i;
    if (ir_parse_try(p, "true"))
        return ir_build_int(&p->b, PKC_E_BOOL, 1);
    if (ir_parse_try(p, "false"))
        return ir_build_int(&p->b, PKC_E_BOOL, 0);
    if (!ir_parse_try_double(p, &f, &whole, &i))
        return NULL;
    pkc_elem e = whole ? PKC_E_I32 : PKC_E_F32;
    if (*p->at == ':') { // right behind the number: its type; behind a blank come the results' types
        p->at++;
        e = ir_parse_elem(p);
    }
    return pkc_elem_class(e) == 'f' ? ir_build_float(&p->b, e, f) : ir_build_int(&p->b, e, i);
}

/// Operands stand on the line of their op.
static bool at_operand(ir_parser *p)
{
    while (*p->at == ' ')
        p->at++;
    char c = *p->at;
    return !p->failed && (c == '%' || c == '-' || (c >= '0' && c <= '9') || strncmp(p->at, "true", 4) == 0 ||
                          strncmp(p->at, "false", 5) == 0 || strncmp(p->at, "inf", 3) == 0 ||
                          strncmp(p->at, "nan", 3) == 0);
}

static ir_value *operand(ir_parser *p)
{
    ir_parse_skip(p);
    if (*p->at != '%') {
        ir_value *v = immediate(p);
        if (!v)
            ir_parse_expected(p, "an operand");
        return v;
    }
    ir_value *v = ir_ptrmap_get(&p->values, value_name(p));
    if (!v)
        ir_parse_expected(p, "a value that is defined above");
    return v;
}

/// A statement's parts before it is built.
typedef struct statement {
    pkc_str names[MOST];
    ir_value *in[MOST];
    const ir_type *types[MOST];
    int n_names, n_in, n_types;
    ir_op_kind kind;
    unsigned sub;
    ir_attr attr;
} statement;

static void parse_operands(ir_parser *p, statement *s)
{
    if (!at_operand(p))
        return;
    do {
        if (s->n_in < MOST)
            s->in[s->n_in++] = operand(p);
    } while (!p->failed && ir_parse_try(p, ","));
}

static void parse_types(ir_parser *p, statement *s)
{
    if (!ir_parse_try(p, ":"))
        return;
    do {
        if (s->n_types < MOST)
            s->types[s->n_types++] = ir_parse_type(p);
    } while (!p->failed && ir_parse_try(p, ","));
}

// ---- names and attributes of ops -----------------------------------------------------------------------

/// The op whose text, with its sub-kind, is the word.
static bool find_op(const char *word, statement *s)
{
    for (int kind = 0; kind < IR_OP_COUNT; kind++) {
        const char *text = ir_op_text((ir_op_kind)kind);
        size_t len = strlen(text);
        if (strncmp(word, text, len) != 0 || (word[len] && word[len] != '.'))
            continue;
        s->kind = (ir_op_kind)kind;
        s->sub = 0;
        if (!word[len] && !ir_sub_text(s->kind, 0))
            return true;
        for (unsigned sub = 0; word[len] && ir_sub_text(s->kind, sub); sub++)
            if (strcmp(ir_sub_text(s->kind, sub), word + len + 1) == 0) {
                s->sub = sub;
                return true;
            }
    }
    return false;
}

static void parse_view(ir_parser *p, ir_attr *a)
{
    a->param = ir_parse_find_param(p, ir_parse_symbol(p));
    a->peer = ir_parse_try(p, "all") ? IR_PEER_ALL : ir_parse_try(p, "rank") ? IR_PEER_RANK : IR_PEER_OWN;
    if (a->peer == IR_PEER_OWN)
        ir_parse_need(p, "own");
    a->row_axis = ir_parse_try(p, "rows") ? (int8_t)ir_parse_int(p) : -1;
    a->col_axis = ir_parse_try(p, "cols") ? (int8_t)ir_parse_int(p) : -1;
    a->has_row_hi = ir_parse_try(p, "rowhi");
    a->has_col_hi = ir_parse_try(p, "colhi");
}

static ir_shared *find_shared(ir_parser *p, pkc_str name)
{
    ir_shared *s = p->k->shared;
    while (s && s->name != name)
        s = s->next;
    if (!s)
        ir_parse_expected(p, "a declared shared tile");
    return s;
}

static void parse_number(ir_parser *p, ir_attr *a)
{
    ir_parse_need(p, "#");
    a->i = ir_parse_int(p);
    a->flag = ir_parse_try(p, "!");
}

static void parse_attr(ir_parser *p, statement *s)
{
    ir_attr *a = &s->attr;
    switch (ir_op_attr(s->kind)) {
    case IR_ATTR_NONE:
    case IR_ATTR_SUB:
    case IR_ATTR_CONST:
        return;
    case IR_ATTR_INT:
    case IR_ATTR_INT_SUB:
    case IR_ATTR_FIELD:
        parse_number(p, a);
        return;
    case IR_ATTR_NAME:
        a->name = ir_parse_symbol(p);
        return;
    case IR_ATTR_PARAM:
        a->param = ir_parse_find_param(p, ir_parse_symbol(p));
        return;
    case IR_ATTR_VIEW:
        parse_view(p, a);
        return;
    case IR_ATTR_SHARED:
        a->shared = find_shared(p, ir_parse_symbol(p));
        return;
    case IR_ATTR_PIPE:
    case IR_ATTR_PIPE_SUB:
        a->pipe = ir_parse_find_pipe(p, ir_parse_symbol(p));
        return;
    case IR_ATTR_ROLE:
        a->role = ir_parse_find_role(p, NULL, ir_parse_symbol(p));
        return;
    case IR_ATTR_GROUP:
        a->group = ir_parse_find_group(p, ir_parse_symbol(p));
        return;
    }
}

// ---- statements ----------------------------------------------------------------------------------------

static void parse_location(ir_parser *p)
{
    if (ir_parse_try(p, "@")) { // line:column of a file that is not at hand
        ir_parse_int(p);
        ir_parse_need(p, ":");
        ir_parse_int(p);
    }
}

static void parse_inner(ir_parser *p, ir_region *region)
{
    ir_builder old = p->b;
    p->b.region = region;
    p->b.before = NULL;
    ir_parse_region(p, region);
    p->b = old;
}

static void define_results(ir_parser *p, const statement *s, ir_op *op)
{
    if (s->n_names != s->n_types)
        ir_parse_expected(p, "as many types as results");
    for (int i = 0; i < s->n_names && i < op->n_out; i++)
        define(p, s->names[i], &op->out[i]);
}

static void parse_for(ir_parser *p, statement *s)
{
    pkc_str args[MOST];
    int n = 0;
    args[n++] = value_name(p);
    ir_parse_need(p, "=");
    ir_value *lo = operand(p);
    ir_parse_need(p, "to");
    ir_value *hi = operand(p);
    ir_parse_need(p, "step");
    ir_value *step = operand(p);
    if (ir_parse_try(p, "carry")) {
        ir_parse_need(p, "(");
        do {
            args[n] = value_name(p);
            ir_parse_need(p, "=");
            s->in[n++ - 1] = operand(p);
        } while (!p->failed && n < MOST && ir_parse_try(p, ","));
        ir_parse_need(p, ")");
    }
    parse_types(p, s);
    parse_location(p);
    if (p->failed)
        return;
    ir_op *op = ir_build_for(&p->b, lo, hi, step, n - 1, s->in);
    for (int i = 0; i < n; i++)
        define(p, args[i], &op->reg[0].args[i]);
    ir_parse_need(p, "{");
    parse_inner(p, &op->reg[0]);
    define_results(p, s, op);
}

/// `(%a: type, ..)` before a region.
static void parse_args(ir_parser *p, ir_region *region)
{
    pkc_str names[MOST];
    const ir_type *types[MOST];
    int n = 0;
    if (ir_parse_try(p, "(")) {
        do {
            names[n] = value_name(p);
            ir_parse_need(p, ":");
            types[n++] = ir_parse_type(p);
        } while (!p->failed && n < MOST && ir_parse_try(p, ","));
        ir_parse_need(p, ")");
    }
    ir_region_args(p->k, region, n, types);
    for (int i = 0; i < n; i++)
        define(p, names[i], &region->args[i]);
}

static void parse_plain(ir_parser *p, statement *s)
{
    parse_attr(p, s);
    parse_operands(p, s);
    parse_types(p, s);
    parse_location(p);
    if (p->failed)
        return;
    ir_op *op = ir_build(&p->b, s->kind, s->sub, s->n_in, s->in, s->n_types, s->types, ir_op_n_reg(s->kind));
    op->attr = s->attr;
    for (int r = 0; r < op->n_reg && !p->failed; r++) {
        if (r)
            ir_parse_need(p, "else");
        parse_args(p, &op->reg[r]);
        ir_parse_need(p, "{");
        parse_inner(p, &op->reg[r]);
    }
    define_results(p, s, op);
}

static void parse_statement(ir_parser *p)
{
    statement *s = PKC_NEW(&p->session->arena, statement);
    ir_parse_skip(p);
    uint32_t begin = (uint32_t)(p->at - p->file->text);
    if (*p->at == '%') {
        do {
            if (s->n_names < MOST)
                s->names[s->n_names++] = value_name(p);
        } while (!p->failed && ir_parse_try(p, ","));
        ir_parse_need(p, "=");
    }
    const char *start = p->at;
    pkc_str word = ir_parse_word(p, "an operation");
    p->b.pos = (pkc_span){p->file, begin, (uint32_t)(p->at - p->file->text)};
    if (p->failed || !find_op(word, s)) {
        p->at = start;
        ir_parse_expected(p, "an operation");
        return;
    }
    if (s->kind == IR_FOR)
        parse_for(p, s);
    else
        parse_plain(p, s);
}

void ir_parse_region(ir_parser *p, ir_region *region)
{
    (void)region;
    while (!p->failed && !ir_parse_try(p, "}"))
        parse_statement(p);
}
