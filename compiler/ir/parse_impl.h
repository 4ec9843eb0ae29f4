// SPDX-License-Identifier: Apache-2.0
// What the files of the text form's parser share.
#ifndef PKC_IR_PARSE_IMPL_H
#define PKC_IR_PARSE_IMPL_H

#include "ir/ir.h"
#include "ir/ptrmap.h"
#include "ir/text.h"

/// The rest of the text and what is being built. Once `failed` is set nothing more is reported and every step
/// gives up.
typedef struct ir_parser {
    pkc_session *session;
    const pkc_file *file;
    const char *at;
    bool failed;
    int nest; // regions that are open
    ir_kernel *k;
    ir_builder b;
    ir_ptrmap values; // interned name -> value
} ir_parser;

/// Reports "expected WHAT" at the current place, once.
void ir_parse_expected(ir_parser *p, const char *what);
void ir_parse_skip(ir_parser *p);                  // blanks and // comments
bool ir_parse_try(ir_parser *p, const char *text); // takes it where it stands next; a word must end there
void ir_parse_need(ir_parser *p, const char *text);
/// A word [A-Za-z0-9_.]+; NULL where there is none.
pkc_str ir_parse_try_word(ir_parser *p);
pkc_str ir_parse_word(ir_parser *p, const char *what);
pkc_str ir_parse_symbol(ir_parser *p); // @name, "" for @_
int64_t ir_parse_int(ir_parser *p);
int64_t ir_parse_int_in(ir_parser *p, int64_t least, int64_t most, const char *what);
bool ir_parse_try_double(ir_parser *p, double *out, bool *whole, int64_t *integer);
pkc_str ir_parse_string(ir_parser *p);
const ir_hx *ir_parse_hx(ir_parser *p);
pkc_elem ir_parse_elem(ir_parser *p);
void ir_parse_shape(ir_parser *p, int32_t *rows, int32_t *cols); // [rows,cols]
ir_layout ir_parse_layout(ir_parser *p);
void ir_parse_members(ir_parser *p, void *object,
                      const ir_member *members); // { key=value .. }, where there is one
const ir_type *ir_parse_type(ir_parser *p);

ir_pipe *ir_parse_find_pipe(ir_parser *p, pkc_str name);
ir_param *ir_parse_find_param(ir_parser *p, pkc_str name);
ir_group *ir_parse_find_group(ir_parser *p, pkc_str name);
ir_role *ir_parse_find_role(ir_parser *p, const ir_group *group, pkc_str name); // group NULL: any

/// The statements of `region` up to its closing brace.
void ir_parse_region(ir_parser *p, ir_region *region);

#endif
