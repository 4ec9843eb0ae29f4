/* SPDX-License-Identifier: Apache-2.0
   The grammar of the .pk language: LALR(1) without a conflict. Actions only call the functions of syntax/build.h.
   Recovery is at ';', at blocks and at '}': the productions with `error` say where parsing goes on after a mistake. */
%require "3.8"
%language "C"
%expect 0
%define api.pure full
%define api.prefix {pkc_yy}
%define api.token.prefix {PKC_TOK_}
%define api.location.type {pkc_span}
%define parse.error custom
%define parse.lac full
%locations
%start file
%param { struct pkc_parser *p }

%code requires {
#include "syntax/build.h"
}

%code {
#include "syntax/tokens.h"

#define YYLLOC_DEFAULT(result, rhs, n)                                                                       \
    ((result) = (n) ? pkc_span_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n))                                      \
                    : (pkc_span){YYRHSLOC(rhs, 0).file, YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end})

static void yyerror(const pkc_span *span, struct pkc_parser *p, const char *text);
}

%initial-action { @$ = (pkc_span){p->file, 0, 0}; }

%union {
    uint64_t integer;
    double number;
    pkc_string string;
    pkc_name name;
    pkc_names names;
    pkc_expr *expr;
    pkc_exprs exprs;
    pkc_index *index;
    pkc_indices indices;
    pkc_tyexpr *type;
    pkc_tyexprs types;
    pkc_param *param;
    pkc_params params;
    pkc_binding *binding;
    pkc_bindings bindings;
    pkc_block *block;
    pkc_stmt *stmt;
    pkc_stmts stmts;
    pkc_item *item;
    pkc_binary_op binary;
    pkc_assign_op assign;
    pkc_role_head role;
}

%token IMPORT KERNEL FN PEER REQUIRE LET VAR CONST IF ELSE FOR RETURN PIPE PUT GET SHARED GROUP ROLE
%token LOADER STORER CONSUMER COMMUNICATOR BARRIER
%token DOTDOT ".." ARROW "->" EQ "==" NE "!=" LE "<=" GE ">=" AND "&&" OR "||"
%token ADDEQ "+=" SUBEQ "-=" MULEQ "*=" DIVEQ "/=" ASSIGN "="
%token PLUS "+" MINUS "-" STAR "*" SLASH "/" PERCENT "%" LESS "<" GREATER ">" BANG "!"
%token LPAREN "(" RPAREN ")" LBRACE "{" RBRACE "}" LBRACKET "[" RBRACKET "]"
%token COMMA "," SEMICOLON ";" COLON ":" DOT "." AT "@"
%token <integer> INT
%token <number> FLOAT
%token <name> IDENT IN STEP
%token <string> STRING
%token BAD

%type <names> kernel attributes names
%type <name> name
%type <params> const_params const_list params param_list fn_params fn_list fields
%type <param> const_param param fn_param field typed
%type <type> result type
%type <types> types
%type <block> block
%type <stmts> stmts
%type <stmt> stmt simple if
%type <expr> step expr conjunction comparison sum product unary postfix primary place
%type <exprs> exprs
%type <index> index
%type <indices> indices
%type <item> item
%type <binary> relation
%type <assign> assign
%type <binding> binding
%type <bindings> bindings
%type <role> role

%%

file
    : %empty
    | file item                             { pkc_build_add_item(p, $2); }
    ;

item
    : IMPORT name ";"                       { $$ = pkc_build_import(p, @$, $2); }
    | kernel name const_params "(" params ")" block
                                            { $$ = pkc_build_kernel(p, @$, $1, $2, $3, $5, $7); }
    | kernel error block                    { $$ = NULL; yyerrok; }
    | FN name const_params "(" fn_params ")" result block
                                            { $$ = pkc_build_fn(p, @$, $2, $3, $5, $7, $8); }
    | FN error block                        { $$ = NULL; yyerrok; }
    | error ";"                             { $$ = NULL; yyerrok; }
    | error block                           { $$ = NULL; yyerrok; }
    | error "}"                             { $$ = NULL; yyerrok; }
    ;

kernel          /* no empty rule in front: the item's span would begin before it */
    : KERNEL                                { $$ = (pkc_names){0}; }
    | attributes KERNEL
    ;

attributes
    : "@" name                              { $$ = pkc_build_names(p, (pkc_names){0}, $2); }
    | attributes "@" name                   { $$ = pkc_build_names(p, $1, $3); }
    ;

const_params
    : %empty                                { $$ = (pkc_params){0}; }
    | "<" const_list ">"                    { $$ = $2; }
    ;

const_list
    : const_param                           { $$ = pkc_build_params(p, (pkc_params){0}, $1); }
    | const_list "," const_param            { $$ = pkc_build_params(p, $1, $3); }
    ;

const_param     /* a sum, not a comparison: ">" closes the list */
    : name "=" sum                          { $$ = pkc_build_param(p, @$, $1, NULL, $3); }
    ;

params
    : %empty                                { $$ = (pkc_params){0}; }
    | param_list
    | param_list ","
    ;

param_list
    : param                                 { $$ = pkc_build_params(p, (pkc_params){0}, $1); }
    | param_list "," param                  { $$ = pkc_build_params(p, $1, $3); }
    ;

param
    : typed
    | name ":" type "=" INT                 { $$ = pkc_build_param(p, @$, $1, $3, pkc_build_int(p, @5, $5)); }
    ;

typed
    : name ":" type                         { $$ = pkc_build_param(p, @$, $1, $3, NULL); }
    ;

fn_params
    : %empty                                { $$ = (pkc_params){0}; }
    | fn_list
    | fn_list ","
    ;

fn_list
    : fn_param                              { $$ = pkc_build_params(p, (pkc_params){0}, $1); }
    | fn_list "," fn_param                  { $$ = pkc_build_params(p, $1, $3); }
    ;

fn_param        /* the type may be left out */
    : typed
    | name                                  { $$ = pkc_build_param(p, @$, $1, NULL, NULL); }
    ;

result
    : %empty                                { $$ = NULL; }
    | "->" type                             { $$ = $2; }
    ;

type
    : name                                  { $$ = pkc_build_type(p, @$, false, $1, (pkc_exprs){0}); }
    | name "[" exprs "]"                    { $$ = pkc_build_type(p, @$, false, $1, $3); }
    | PEER name "[" exprs "]"               { $$ = pkc_build_type(p, @$, true, $2, $4); }
    | "(" types ")"                         { $$ = pkc_build_tuple_type(p, @$, $2); }
    ;

types
    : type                                  { $$ = pkc_build_types(p, (pkc_tyexprs){0}, $1); }
    | types "," type                        { $$ = pkc_build_types(p, $1, $3); }
    ;

block
    : "{" stmts "}"                         { $$ = pkc_build_block(p, @$, $2); }
    | "{" stmts error "}"                   { $$ = pkc_build_block(p, @$, $2); yyerrok; }
    ;

stmts
    : %empty                                { $$ = (pkc_stmts){0}; }
    | stmts stmt                            { $$ = pkc_build_stmts(p, $1, $2); }
    ;

stmt
    : simple ";"                            { $$ = pkc_build_end(p, $1, @2); }
    | if
    | FOR name IN expr ".." expr step block
                                            { $$ = pkc_build_for(p, @$, false, $2, $4, $6, $7, $8); }
    | FOR CONST name IN expr ".." expr step block
                                            { $$ = pkc_build_for(p, @$, true, $3, $5, $7, $8, $9); }
    | FOR c_for error ")" block             { $$ = NULL; yyerrok; }
    | PIPE name "[" expr "]" "{" fields "}"         { $$ = pkc_build_pipe(p, @$, $2, $4, $7); }
    | PIPE name "[" expr "]" "{" fields error "}"   { $$ = NULL; yyerrok; }
    | PIPE name "[" expr "]" "{" error "}"          { $$ = NULL; yyerrok; }
    | PUT name block                        { $$ = pkc_build_put(p, @$, $2, $3); }
    | GET name block                        { $$ = pkc_build_get(p, @$, $2, $3); }
    | GROUP name "(" expr ")" block         { $$ = pkc_build_group(p, @$, $2, $4, $6); }
    | role block                            { $$ = pkc_build_role(p, @$, $1, $2); }
    | error ";"                             { $$ = NULL; yyerrok; }
    | error block                           { $$ = NULL; yyerrok; }
    ;

c_for           /* reported here; nothing but an error can follow, of which yyreport_syntax_error is silent */
    : "("                                   { pkc_report_c_for(p, @1); }
    ;

simple
    : LET bindings                          { $$ = pkc_build_let(p, @$, $2); }
    | VAR bindings                          { $$ = pkc_build_var(p, @$, $2); }
    | REQUIRE expr "," STRING               { $$ = pkc_build_require(p, @$, $2, $4); }
    | SHARED typed                          { $$ = pkc_build_shared(p, @$, $2); }
    | RETURN expr                           { $$ = pkc_build_return(p, @$, $2); }
    | BARRIER                               { $$ = pkc_build_barrier(p, @$); }
    | expr                                  { $$ = pkc_build_expr_stmt(p, @$, $1); }
    | expr assign expr                      { $$ = pkc_build_assign(p, @$, $1, $2, $3); }
    ;

assign
    : "="                                   { $$ = PKC_ASSIGN_SET; }
    | "+="                                  { $$ = PKC_ASSIGN_ADD; }
    | "-="                                  { $$ = PKC_ASSIGN_SUB; }
    | "*="                                  { $$ = PKC_ASSIGN_MUL; }
    | "/="                                  { $$ = PKC_ASSIGN_DIV; }
    ;

bindings
    : binding                               { $$ = pkc_build_bindings(p, (pkc_bindings){0}, $1); }
    | bindings "," binding                  { $$ = pkc_build_bindings(p, $1, $3); }
    ;

binding
    : name "=" expr                         { $$ = pkc_build_binding(p, @$, $1, NULL, $3); }
    | name ":" type "=" expr                { $$ = pkc_build_binding(p, @$, $1, $3, $5); }
    | "(" names ")" "=" expr                { $$ = pkc_build_tuple_binding(p, @$, $2, $5); }
    ;

names
    : name                                  { $$ = pkc_build_names(p, (pkc_names){0}, $1); }
    | names "," name                        { $$ = pkc_build_names(p, $1, $3); }
    ;

if
    : IF expr block                         { $$ = pkc_build_if(p, @$, $2, $3, NULL); }
    | IF expr block ELSE block              { $$ = pkc_build_if(p, @$, $2, $3, $5); }
    | IF error ";"                          { $$ = NULL; yyerrok; }
    | IF error block                        { $$ = NULL; yyerrok; }
    | IF error block ELSE block             { $$ = NULL; yyerrok; }
    | IF error block ELSE if                { $$ = NULL; yyerrok; }
    | IF expr block ELSE if                 { $$ = pkc_build_if(p, @$, $2, $3, pkc_build_else_if(p, @5, $5)); }
    ;

step
    : %empty                                { $$ = NULL; }
    | STEP expr                             { $$ = $2; }
    ;

fields
    : field                                 { $$ = pkc_build_params(p, (pkc_params){0}, $1); }
    | fields field                          { $$ = pkc_build_params(p, $1, $2); }
    ;

field
    : typed ";"
    | error ";"                             { $$ = NULL; yyerrok; }
    ;

role
    : LOADER                                { $$ = pkc_build_plain_role(p, @$, PKC_ROLE_LOADER, NULL); }
    | STORER                                { $$ = pkc_build_plain_role(p, @$, PKC_ROLE_STORER, NULL); }
    | CONSUMER "(" expr ")"                 { $$ = pkc_build_plain_role(p, @1, PKC_ROLE_CONSUMER, $3); }
    | COMMUNICATOR "(" expr ")"             { $$ = pkc_build_plain_role(p, @1, PKC_ROLE_COMMUNICATOR, $3); }
    | ROLE name ":" name "(" expr ")"       { $$ = pkc_build_user_role(p, $2, $4, $6); }
    ;

exprs
    : expr                                  { $$ = pkc_build_exprs(p, (pkc_exprs){0}, $1); }
    | exprs "," expr                        { $$ = pkc_build_exprs(p, $1, $3); }
    ;

expr
    : conjunction
    | expr "||" conjunction                 { $$ = pkc_build_binary(p, @$, PKC_BINARY_OR, $1, $3); }
    ;

conjunction
    : comparison
    | conjunction "&&" comparison           { $$ = pkc_build_binary(p, @$, PKC_BINARY_AND, $1, $3); }
    ;

comparison      /* chains are read, and refused when they are built: the message is better */
    : sum
    | comparison relation sum               { $$ = pkc_build_compare(p, @$, $2, @2, $1, $3); }
    ;

relation
    : "=="                                  { $$ = PKC_BINARY_EQ; }
    | "!="                                  { $$ = PKC_BINARY_NE; }
    | "<"                                   { $$ = PKC_BINARY_LT; }
    | ">"                                   { $$ = PKC_BINARY_GT; }
    | "<="                                  { $$ = PKC_BINARY_LE; }
    | ">="                                  { $$ = PKC_BINARY_GE; }
    ;

sum
    : product
    | sum "+" product                       { $$ = pkc_build_binary(p, @$, PKC_BINARY_ADD, $1, $3); }
    | sum "-" product                       { $$ = pkc_build_binary(p, @$, PKC_BINARY_SUB, $1, $3); }
    ;

product
    : unary
    | product "*" unary                     { $$ = pkc_build_binary(p, @$, PKC_BINARY_MUL, $1, $3); }
    | product "/" unary                     { $$ = pkc_build_binary(p, @$, PKC_BINARY_DIV, $1, $3); }
    | product "%" unary                     { $$ = pkc_build_binary(p, @$, PKC_BINARY_MOD, $1, $3); }
    ;

unary
    : postfix
    | "-" unary                             { $$ = pkc_build_unary(p, @$, PKC_UNARY_NEG, $2); }
    | "!" unary                             { $$ = pkc_build_unary(p, @$, PKC_UNARY_NOT, $2); }
    ;

postfix
    : primary
    | postfix "(" ")"                       { $$ = pkc_build_call(p, @$, $1, (pkc_exprs){0}); }
    | postfix "(" exprs ")"                 { $$ = pkc_build_call(p, @$, $1, $3); }
    | postfix "[" indices "]"               { $$ = pkc_build_view(p, @$, $1, $3); }
    | postfix "." name                      { $$ = pkc_build_member(p, @$, $1, $3); }
    | postfix "@" place                     { $$ = pkc_build_peer(p, @$, $1, $3); }
    ;

place           /* `all` is a name that sema knows */
    : name                                  { $$ = pkc_build_name(p, $1); }
    | INT                                   { $$ = pkc_build_int(p, @$, $1); }
    | "(" expr ")"                          { $$ = $2; }
    ;

indices
    : index                                 { $$ = pkc_build_indices(p, (pkc_indices){0}, $1); }
    | indices "," index                     { $$ = pkc_build_indices(p, $1, $3); }
    ;

index
    : expr                                  { $$ = pkc_build_index(p, @$, PKC_INDEX_PLAIN, $1, NULL, NULL); }
    | ":"                                   { $$ = pkc_build_index(p, @$, PKC_INDEX_ALL, NULL, NULL, NULL); }
    | expr ":" expr                         { $$ = pkc_build_index(p, @$, PKC_INDEX_SIZED, $1, NULL, $3); }
    | expr ".." ":" expr                    { $$ = pkc_build_index(p, @$, PKC_INDEX_FROM, $1, NULL, $4); }
    | expr ".." expr ":" expr               { $$ = pkc_build_index(p, @$, PKC_INDEX_RANGE, $1, $3, $5); }
    ;

primary
    : name                                  { $$ = pkc_build_name(p, $1); }
    | INT                                   { $$ = pkc_build_int(p, @$, $1); }
    | FLOAT                                 { $$ = pkc_build_float(p, @$, $1); }
    | "(" exprs ")"                         { $$ = pkc_build_parens(p, @$, $2); }
    ;

name            /* words that are names wherever they can be */
    : IDENT
    | IN
    | STEP
    ;

%%

// Row of tokens.def for a symbol of the grammar; -1 for what is no token of the language.
static int token_row(yysymbol_kind_t symbol)
{
    switch ((int)symbol) {
#define PKC_TOKEN(id, spelling, shown, group)                                                                \
    case YYSYMBOL_##id:                                                                                      \
        return PKC_TOKEN_##id;
#include "grammar/tokens.def"
#undef PKC_TOKEN
    case YYSYMBOL_YYEOF:
        return PKC_TOKEN_END;
    }
    return -1;
}

static int yyreport_syntax_error(const yypcontext_t *context, struct pkc_parser *p)
{
    yysymbol_kind_t symbols[YYNTOKENS];
    pkc_expected expected = {0};
    int count = yypcontext_expected_tokens(context, symbols, YYNTOKENS);
    for (int i = 0; i < count; i++) {
        int row = token_row(symbols[i]);
        if (row >= 0)
            expected.token[row] = true;
    }
    int found = token_row(yypcontext_token(context));
    if (found >= 0 && count > 0) // BAD was reported by the scanner, c_for by its action
        pkc_report_syntax(p, *yypcontext_location(context), (pkc_token)found, expected);
    return 0;
}

// Called by bison's skeleton for one reason only: its stack has reached YYMAXDEPTH.
static void yyerror(const pkc_span *span, struct pkc_parser *p, const char *text)
{
    (void)text;
    pkc_report_depth(p, *span);
}
