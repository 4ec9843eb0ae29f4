// SPDX-License-Identifier: Apache-2.0
// Element types of tensors, tiles and scalars.
#ifndef PKC_SEMA_ELEMS_H
#define PKC_SEMA_ELEMS_H

#include <stdbool.h>

typedef enum pkc_elem {
#define PKC_ELEM(id, spelling, bits, class, tensor, scalar) PKC_E_##id,
#include "sema/elems.def"
#undef PKC_ELEM
    PKC_E_COUNT
} pkc_elem;

/// The name as the language spells it, "bf16".
const char *pkc_elem_name(pkc_elem e);
/// Size in memory in bits; a bool counts 8 there and 1 in a register.
unsigned pkc_elem_bits(pkc_elem e);
/// 'b', 'i', 'u' or 'f'.
char pkc_elem_class(pkc_elem e);
/// Whether a tensor, or a scalar, may have this element type.
bool pkc_elem_in_tensor(pkc_elem e);
bool pkc_elem_in_scalar(pkc_elem e);
/// A number as the nearest one of a floating-point type, ties to even; 8-bit types saturate, as conversions
/// do.
double pkc_elem_round(pkc_elem e, double v);
/// Finds the element type spelled `name`; false where there is none.
bool pkc_elem_find(const char *name, pkc_elem *out);

#endif
