// SPDX-License-Identifier: Apache-2.0
// multimem instructions: what reaches the copies of all ranks behind one multicast address (PTX ISA 9.x,
// "multimem"). An access must be 4, 8 or 16 bytes, aligned to its size; a plain access to such an address is
// undefined.
#ifndef PKC_NVPTX_MULTIMEM_H
#define PKC_NVPTX_MULTIMEM_H

#include "nvptx/emit.h"

enum { NV_MULTI_WORDS = 4 }; // of 32 bits, the widest access

/// Whether the network can reduce such elements: bf16 and f16 (sums in f32), f32 sums, i32 and u32.
bool nv_multi_reduces(pkc_elem elem, ir_red how);
/// Reduces 16 bytes over all copies where pred is true or NULL; elsewhere the words are undefined. Elements
/// are packed in the four i32 words.
void nv_multi_load(nv_emit *e, LLVMValueRef address, pkc_elem elem, ir_red how, LLVMValueRef pred,
                   LLVMValueRef words[NV_MULTI_WORDS]);
/// Stores 1, 2 or 4 words to all copies where pred is true or NULL.
void nv_multi_store(nv_emit *e, LLVMValueRef address, int n, LLVMValueRef pred, LLVMValueRef *words);
/// Adds n to a counter of every rank, relaxed at system scope, and makes the sum visible at its ordinary
/// addresses to whoever acquires it there.
void nv_multi_add(nv_emit *e, LLVMValueRef address, LLVMValueRef n);

#endif
