// SPDX-License-Identifier: Apache-2.0
// Function bodies: statements, labels, nested scopes, .loc.
#include <string.h>

#include "sim/ptx/parse.h"

// ---- Labels
// -------------------------------------------------------------------------------------------------------- A
// label may be used before it stands, and the blocks of inlined assembly reuse names. So a mention makes an
// entry of the scope at hand; when a scope closes, what it did not define becomes a mention in the scope
// around it.

static uint32_t find_label(const struct pksim_ptx_func *f, struct pksim_name name, uint32_t depth)
{
    for (uint32_t i = 0; i < f->label_count; i++) {
        if (f->labels[i].depth == depth && pksim_name_equal(f->labels[i].name, name))
            return i;
    }
    return UINT32_MAX;
}

uint32_t pksim_parse_label_id(struct pksim_parser *p, struct pksim_name name)
{
    struct pksim_ptx_func *f = p->func;
    uint32_t id = find_label(f, name, p->depth);
    if (id != UINT32_MAX)
        return id;
    if (!pksim_arena_grow(&p->ptx->arena, (void **)&f->labels, f->label_count, &f->label_capacity,
                          sizeof *f->labels)) {
        pksim_parse_fail(p, p->token.line, "out of memory");
        return 0;
    }
    f->labels[f->label_count] =
        (struct pksim_ptx_label){.name = name, .line = p->token.line, .depth = p->depth, .alias = UINT32_MAX};
    return (uint32_t)f->label_count++;
}

static void define_label(struct pksim_parser *p, struct pksim_name name, uint32_t line)
{
    // The list may move when the label is new.
    uint32_t id = pksim_parse_label_id(p, name);
    if (p->failed)
        return;
    struct pksim_ptx_label *label = &p->func->labels[id];
    if (label->defined) {
        pksim_parse_fail(p, line, "label '%.*s' is defined twice", (int)name.length, name.text);
        return;
    }
    label->defined = true;
    label->insn = (uint32_t)p->func->insn_count;
}

static void close_labels(struct pksim_parser *p)
{
    struct pksim_ptx_func *f = p->func;
    for (uint32_t i = 0; i < f->label_count; i++) {
        struct pksim_ptx_label *label = &f->labels[i];
        if (label->depth != p->depth)
            continue;
        if (label->defined) {
            label->depth = UINT32_MAX;
            continue;
        }
        uint32_t outer = find_label(f, label->name, p->depth - 1);
        label->depth = outer == UINT32_MAX ? p->depth - 1 : UINT32_MAX;
        label->alias = outer;
    }
}

static void check_labels(struct pksim_parser *p)
{
    for (uint32_t i = 0; i < p->func->label_count; i++) {
        const struct pksim_ptx_label *label = &p->func->labels[i];
        if (!label->defined && label->alias == UINT32_MAX)
            pksim_parse_fail(p, label->line, "label '%.*s' is not defined", (int)label->name.length,
                             label->name.text);
    }
}

static void parse_branch_targets(struct pksim_parser *p, struct pksim_name name)
{
    uint32_t id = pksim_parse_label_id(p, name);
    pksim_parse_next(p);
    do {
        struct pksim_name target = p->token.name;
        if (p->token.kind != PKSIM_TOK_NAME) {
            pksim_parse_fail(p, p->token.line, "expected a label");
            return;
        }
        uint32_t target_id = pksim_parse_label_id(p, target);
        struct pksim_ptx_label *label = &p->func->labels[id];
        if (p->failed || !pksim_arena_grow(&p->ptx->arena, (void **)&label->targets, label->target_count,
                                           &label->target_capacity, sizeof *label->targets))
            return;
        label->targets[label->target_count++] = target_id;
        pksim_parse_next(p);
    } while (pksim_parse_accept(p, ','));
    p->func->labels[id].defined = true;
    pksim_parse_expect(p, ';');
}

// ---- Statements
// ----------------------------------------------------------------------------------------------------

void pksim_parse_loc(struct pksim_parser *p)
{
    struct pksim_ptx *ptx = p->ptx;
    struct pksim_ptx_loc loc;
    uint32_t line = p->token.line;
    pksim_parse_next(p);
    loc.file = (uint32_t)pksim_parse_int(p);
    loc.line = (uint32_t)pksim_parse_int(p);
    loc.column = (uint32_t)pksim_parse_int(p);
    // ", function_name f+0, inlined_at ...": the innermost place is the one we report.
    while (p->token.kind != PKSIM_TOK_END && p->token.line == line)
        pksim_parse_next(p);
    if (p->failed)
        return;
    if (!pksim_arena_grow(&ptx->arena, (void **)&ptx->locs, ptx->loc_count, &ptx->loc_capacity, sizeof loc)) {
        pksim_parse_fail(p, line, "out of memory");
        return;
    }
    ptx->locs[ptx->loc_count] = loc;
    p->loc = (uint32_t)ptx->loc_count++;
}

static void skip_statement(struct pksim_parser *p)
{
    while (p->token.kind != PKSIM_TOK_END && !pksim_parse_is(p, ';'))
        pksim_parse_next(p);
    pksim_parse_expect(p, ';');
}

static void parse_body_directive(struct pksim_parser *p)
{
    enum pksim_ptx_space space;
    if (pksim_parse_is_directive(p, "reg")) {
        pksim_parse_registers(p);
    } else if (pksim_parse_is_directive(p, "loc")) {
        pksim_parse_loc(p);
    } else if (pksim_parse_is_directive(p, "pragma")) {
        skip_statement(p);
    } else if (pksim_parse_space(p, &space)) {
        pksim_parse_variables(p, space, false);
    } else {
        pksim_parse_fail(p, p->token.line, "directive .%.*s is not supported here", (int)p->token.name.length,
                         p->token.name.text);
    }
}

static void parse_guard(struct pksim_parser *p, struct pksim_ptx_insn *insn)
{
    insn->guard = PKSIM_NO_REG;
    if (!pksim_parse_accept(p, '@'))
        return;
    insn->guard_negated = pksim_parse_accept(p, '!');
    uint32_t id = 0;
    struct pksim_symbol *symbol = NULL;
    if (p->token.kind == PKSIM_TOK_NAME)
        symbol = pksim_scope_find(p, p->token.name, &id);
    if (!symbol || symbol->kind != PKSIM_SYM_REG || p->func->regs[id].type != PKSIM_TYPE_PRED) {
        pksim_parse_fail(p, p->token.line, "expected a predicate");
        return;
    }
    insn->guard = id;
    pksim_parse_next(p);
}

static bool opcode_begins(struct pksim_name opcode, const char *word)
{
    size_t length = strlen(word);
    return opcode.length >= length && !memcmp(opcode.text, word, length) &&
           (opcode.length == length || opcode.text[length] == '.');
}

static void parse_operands(struct pksim_parser *p, struct pksim_ptx_insn *insn)
{
    size_t capacity = 0;
    p->labels_allowed = opcode_begins(insn->opcode, "bra") || opcode_begins(insn->opcode, "brx") ||
                        opcode_begins(insn->opcode, "call");
    while (!pksim_parse_is(p, ';') && !p->failed) {
        if (!pksim_arena_grow(&p->ptx->arena, (void **)&insn->operands, insn->count, &capacity,
                              sizeof *insn->operands)) {
            pksim_parse_fail(p, insn->line, "out of memory");
            return;
        }
        pksim_parse_operand(p, &insn->operands[insn->count++]);
        if (!pksim_parse_accept(p, ','))
            break;
    }
    p->labels_allowed = false;
    pksim_parse_expect(p, ';');
}

static void add_insn(struct pksim_parser *p, const struct pksim_ptx_insn *insn)
{
    struct pksim_ptx_func *f = p->func;
    if (!pksim_arena_grow(&p->ptx->arena, (void **)&f->insns, f->insn_count, &f->insn_capacity,
                          sizeof *f->insns)) {
        pksim_parse_fail(p, insn->line, "out of memory");
        return;
    }
    f->insns[f->insn_count++] = *insn;
}

static void parse_instruction(struct pksim_parser *p)
{
    struct pksim_ptx_insn insn = {.line = p->token.line, .loc = p->loc};
    parse_guard(p, &insn);
    if (p->token.kind != PKSIM_TOK_NAME) {
        int length = (int)(p->lexer.at - p->token.start);
        pksim_parse_fail(p, p->token.line, "expected an instruction, found '%.*s'", length > 40 ? 40 : length,
                         p->token.start);
        return;
    }
    insn.line = p->token.line;
    pksim_lex_opcode(&p->lexer, &p->token);
    insn.opcode = p->token.name;
    pksim_parse_next(p);
    parse_operands(p, &insn);
    if (!p->failed)
        add_insn(p, &insn);
}

// A name at the start of a statement: a label when a lone ':' follows.
static void parse_named(struct pksim_parser *p)
{
    struct pksim_name name = p->token.name;
    uint32_t line = p->token.line;
    const char *at = p->lexer.at;
    while (*at == ' ' || *at == '\t')
        at++;
    if (*at != ':' || at[1] == ':') {
        parse_instruction(p);
        return;
    }
    pksim_parse_next(p);
    pksim_parse_next(p);
    if (pksim_parse_is_directive(p, "branchtargets"))
        parse_branch_targets(p, name);
    else if (pksim_parse_is_directive(p, "callprototype"))
        skip_statement(p);
    else
        define_label(p, name, line);
}

static void parse_statement(struct pksim_parser *p, uint32_t *nesting)
{
    if (pksim_parse_accept(p, '{')) {
        pksim_scope_open(p);
        ++*nesting;
    } else if (pksim_parse_is(p, '}')) {
        --*nesting;
        if (!*nesting)
            return;
        close_labels(p);
        pksim_scope_close(p);
        pksim_parse_next(p);
    } else if (pksim_parse_accept(p, ';')) {
        return;
    } else if (p->token.kind == PKSIM_TOK_DIRECTIVE) {
        parse_body_directive(p);
    } else if (p->token.kind == PKSIM_TOK_NAME) {
        parse_named(p);
    } else {
        parse_instruction(p);
    }
}

void pksim_parse_body(struct pksim_parser *p)
{
    uint32_t nesting = 1;
    pksim_parse_expect(p, '{');
    p->loc = 0;
    while (nesting && p->token.kind != PKSIM_TOK_END)
        parse_statement(p, &nesting);
    if (nesting)
        pksim_parse_fail(p, p->token.line, "the text ends inside function %.*s", (int)p->func->name.length,
                         p->func->name.text);
    check_labels(p);
    pksim_parse_expect(p, '}');
    p->func->has_body = true;
}
