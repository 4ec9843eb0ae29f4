// SPDX-License-Identifier: Apache-2.0
// What the files of the parser share: the token in hand, the scopes, the first error.
#ifndef PKSIM_PTX_PARSE_H
#define PKSIM_PTX_PARSE_H

#include "sim/ptx/lex.h"

enum pksim_symbol_kind {
    PKSIM_SYM_REG, // `count` registers from `id`: name, or name0 .. name(count-1) when `ranged`
    PKSIM_SYM_VAR
};

struct pksim_symbol {
    struct pksim_name name;
    enum pksim_symbol_kind kind;
    bool ranged;
    uint32_t id, count;
    uint32_t depth;
    struct pksim_ptx_var *var;
    struct pksim_symbol *next;  // same bucket, outer or earlier
    struct pksim_symbol *older; // declared before, any name
};

enum { PKSIM_SYMBOL_BUCKETS = 256 };

struct pksim_parser {
    struct pksim_ptx *ptx;
    struct pksim_ptx_error *error;
    bool failed;
    struct pksim_lexer lexer;
    struct pksim_token token; // the one in hand
    struct pksim_symbol *buckets[PKSIM_SYMBOL_BUCKETS];
    struct pksim_symbol *newest;
    uint32_t depth;
    struct pksim_ptx_func *func; // the one whose body is read, or NULL
    struct pksim_ptx_func **func_tail;
    uint32_t loc;
    uint32_t var_index;  // of the function's variables
    bool labels_allowed; // an unknown name is a label
};

// Records the first error, at `line`; the token in hand becomes END so that every loop stops.
__attribute__((format(printf, 3, 4))) void pksim_parse_fail(struct pksim_parser *p, uint32_t line,
                                                            const char *format, ...);
void pksim_parse_next(struct pksim_parser *p);
bool pksim_parse_is(const struct pksim_parser *p, char punct);
bool pksim_parse_accept(struct pksim_parser *p, char punct);
void pksim_parse_expect(struct pksim_parser *p, char punct);
bool pksim_parse_is_directive(const struct pksim_parser *p, const char *name);
int64_t pksim_parse_int(struct pksim_parser *p);
bool pksim_name_is(struct pksim_name name, const char *text);
bool pksim_name_equal(struct pksim_name a, struct pksim_name b);

// Scopes. Registers declared as a range are found by prefix and number.
void pksim_scope_open(struct pksim_parser *p);
void pksim_scope_close(struct pksim_parser *p);
struct pksim_symbol *pksim_scope_add(struct pksim_parser *p, struct pksim_name name,
                                     enum pksim_symbol_kind kind);
// *id is the register number for a register.
struct pksim_symbol *pksim_scope_find(struct pksim_parser *p, struct pksim_name name, uint32_t *id);
// Functions belong to the module and stand in no scope.
struct pksim_ptx_func *pksim_parse_find_func(const struct pksim_parser *p, struct pksim_name name);

// declare.c: variables and registers. The token in hand is the directive (.reg, .global, ...).
void pksim_parse_registers(struct pksim_parser *p);
void pksim_parse_variables(struct pksim_parser *p, enum pksim_ptx_space space, bool is_extern);
// One `.param ...` of a signature; NULL on failure.
struct pksim_ptx_var *pksim_parse_param(struct pksim_parser *p);
// The space named by the directive in hand; false if it names none.
bool pksim_parse_space(const struct pksim_parser *p, enum pksim_ptx_space *space);

// operand.c
void pksim_parse_operand(struct pksim_parser *p, struct pksim_operand *operand);

// body.c: the label of that name in the scope at hand, made when it is new.
uint32_t pksim_parse_label_id(struct pksim_parser *p, struct pksim_name name);

// body.c: '{' ... '}' of a function.
void pksim_parse_body(struct pksim_parser *p);
void pksim_parse_loc(struct pksim_parser *p);

#endif
