// SPDX-License-Identifier: Apache-2.0
// Operations of the text form.
#include <string.h>

#include "ir/fold.h"
#include "ir/parse_impl.h"
#include "support/vec.h"

enum { MOST_NESTED = 200 }; // regions within each other: parsing recurses

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
    if (ir_ptrmap_get(&p->values, name))
        ir_parse_expected(p, "a name that no value has yet");
    v->name = source_name(p, name);
    ir_ptrmap_set(&p->values, name, v);
}

/// A number of its type; a float may be written as an integer.
static ir_value *number(ir_parser *p, pkc_elem e, double f, bool whole, int64_t i)
{
    if (pkc_elem_class(e) == 'f')
        return ir_build_float(&p->b, e, f);
    if (!whole || ir_wrap(e, i) != i)
        ir_parse_expected(p, "a number of its type");
    return ir_build_int(&p->b, e, i);
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
    return number(p, e, f, whole, i);
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
    PKC_VEC(pkc_str) names;
    PKC_VEC(ir_value *) in;
    PKC_VEC(const ir_type *) types;
    ir_op_kind kind;
    unsigned sub;
    ir_attr attr;
} statement;

static void parse_operands(ir_parser *p, statement *s)
{
    if (!at_operand(p))
        return;
    do {
        ir_value *v = operand(p);
        pkc_vec_push(p->k->arena, &s->in, v);
    } while (!p->failed && ir_parse_try(p, ","));
}

static void parse_types(ir_parser *p, statement *s)
{
    if (!ir_parse_try(p, ":"))
        return;
    do {
        const ir_type *t = ir_parse_type(p);
        pkc_vec_push(p->k->arena, &s->types, t);
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
    a->row_axis = ir_parse_try(p, "rows") ? (int8_t)ir_parse_int_in(p, 0, IR_MAX_AXES - 1, "an axis") : -1;
    a->col_axis = ir_parse_try(p, "cols") ? (int8_t)ir_parse_int_in(p, 0, IR_MAX_AXES - 1, "an axis") : -1;
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
    if (++p->nest > MOST_NESTED)
        ir_parse_expected(p, "at most 200 regions within each other");
    ir_parse_region(p, region);
    p->nest--;
    p->b = old;
}

static void define_results(ir_parser *p, const statement *s, ir_op *op)
{
    if (s->names.len != s->types.len)
        ir_parse_expected(p, "as many types as results");
    for (size_t i = 0; i < s->names.len && i < op->n_out; i++)
        define(p, s->names.data[i], &op->out[i]);
}

/// ops and regions count in 16 bits.
static bool fits(ir_parser *p, size_t n)
{
    if (n > INT16_MAX)
        ir_parse_expected(p, "at most 32767 operands or results");
    return !p->failed;
}

typedef PKC_VEC(pkc_str) name_list;

static void parse_carries(ir_parser *p, statement *s, name_list *names)
{
    if (!ir_parse_try(p, "carry"))
        return;
    ir_parse_need(p, "(");
    do {
        pkc_str name = value_name(p);
        ir_parse_need(p, "=");
        ir_value *first = operand(p);
        pkc_vec_push(p->k->arena, names, name);
        pkc_vec_push(p->k->arena, &s->in, first);
    } while (!p->failed && ir_parse_try(p, ","));
    ir_parse_need(p, ")");
}

static void parse_for(ir_parser *p, statement *s)
{
    name_list names = {0};
    pkc_str variable = value_name(p);
    pkc_vec_push(p->k->arena, &names, variable);
    ir_parse_need(p, "=");
    ir_value *lo = operand(p);
    ir_parse_need(p, "to");
    ir_value *hi = operand(p);
    ir_parse_need(p, "step");
    ir_value *step = operand(p);
    parse_carries(p, s, &names);
    parse_types(p, s);
    parse_location(p);
    if (!fits(p, names.len))
        return;
    ir_op *op = ir_build_for(&p->b, lo, hi, step, (int)s->in.len, s->in.data);
    for (size_t i = 0; i < names.len; i++)
        define(p, names.data[i], &op->reg[0].args[i]);
    ir_parse_need(p, "{");
    parse_inner(p, &op->reg[0]);
    define_results(p, s, op);
}

/// `(%a: type, ..)` before a region.
static void parse_args(ir_parser *p, ir_region *region)
{
    name_list names = {0};
    PKC_VEC(const ir_type *) types = {0};
    if (ir_parse_try(p, "(")) {
        do {
            pkc_str name = value_name(p);
            ir_parse_need(p, ":");
            const ir_type *t = ir_parse_type(p);
            pkc_vec_push(p->k->arena, &names, name);
            pkc_vec_push(p->k->arena, &types, t);
        } while (!p->failed && ir_parse_try(p, ","));
        ir_parse_need(p, ")");
    }
    if (!fits(p, names.len))
        return;
    ir_region_args(p->k, region, (int)names.len, types.data);
    for (size_t i = 0; i < names.len; i++)
        define(p, names.data[i], &region->args[i]);
}

static void parse_plain(ir_parser *p, statement *s)
{
    parse_attr(p, s);
    parse_operands(p, s);
    parse_types(p, s);
    parse_location(p);
    if (!fits(p, s->in.len) || !fits(p, s->types.len))
        return;
    ir_op *op = ir_build(&p->b, s->kind, s->sub, (int)s->in.len, s->in.data, (int)s->types.len, s->types.data,
                         ir_op_n_reg(s->kind));
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
    statement s = {0};
    ir_parse_skip(p);
    uint32_t begin = (uint32_t)(p->at - p->file->text);
    if (*p->at == '%') {
        do {
            pkc_str name = value_name(p);
            pkc_vec_push(p->k->arena, &s.names, name);
        } while (!p->failed && ir_parse_try(p, ","));
        ir_parse_need(p, "=");
    }
    const char *start = p->at;
    pkc_str word = ir_parse_word(p, "an operation");
    p->b.pos = (pkc_span){p->file, begin, (uint32_t)(p->at - p->file->text)};
    if (p->failed || !find_op(word, &s)) {
        p->at = start;
        ir_parse_expected(p, "an operation");
    } else if (s.kind == IR_FOR) {
        parse_for(p, &s);
    } else {
        parse_plain(p, &s);
    }
}

void ir_parse_region(ir_parser *p, ir_region *region)
{
    (void)region;
    while (!p->failed && !ir_parse_try(p, "}"))
        parse_statement(p);
}
