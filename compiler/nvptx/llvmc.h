// SPDX-License-Identifier: Apache-2.0
// A thin layer over LLVM's C API: one context, module and builder, the types in use, checked intrinsics,
// inline assembly, source lines, and the way from IR to PTX. What differs between LLVM versions is hidden
// here.
//
// Values made here follow LLVM's rules; sizes of integers are in the names. Nothing aborts: what cannot be
// emitted is a diagnostic at `pos`, `failed` is set, and a poison value stands in so that emission can go on.
#ifndef PKC_NVPTX_LLVMC_H
#define PKC_NVPTX_LLVMC_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#include "nvptx/target.h"
#include "sema/elems.h"
#include "source/session.h"

/// Address spaces of NVPTX.
enum { NV_AS_GENERIC = 0, NV_AS_GLOBAL = 1, NV_AS_SHARED = 3 };

typedef enum nv_intrinsic {
#define NV_INTRINSIC(id, name, ptx, over) NV_##id,
#include "nvptx/intrinsics.def"
    NV_INTRINSIC_COUNT
} nv_intrinsic;

typedef struct llvmc {
    pkc_session *session;
    const pkc_target *target;
    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTargetMachineRef machine;
    LLVMTypeRef void_t, i1, i8, i16, i32, i64, f16, bf16, f32, f64, ptr, gptr, sptr;
    unsigned attr_convergent, attr_nounwind;
    LLVMDIBuilderRef di;        // NULL: no source lines
    LLVMMetadataRef unit, sub;  // compile unit, the current function's subprogram
    LLVMMetadataRef *di_files;  // by file index
    LLVMMetadataRef *di_scopes; // by file index, of the current function
    size_t n_files;
    pkc_span pos; // of the op being emitted
    bool failed;
} llvmc;

/// Opens a module for the target. False after a diagnostic; llvmc_close is due in either case.
/// `main_file` may be NULL: then no source lines are written.
bool llvmc_open(llvmc *c, pkc_session *session, const pkc_target *target, const pkc_file *main_file);
void llvmc_close(llvmc *c);

/// Reports that something cannot be emitted; `what` completes "cannot emit ...".
void llvmc_unsupported(llvmc *c, const char *what);

/// A kernel `name(ptr byval([bytes x i8]) align 64 grid_constant)` of `threads` threads, with its subprogram.
LLVMValueRef llvmc_kernel(llvmc *c, const char *name, unsigned bytes, int threads, pkc_span pos);
/// Sets the line of what is built next; "nowhere" gives the kernel's own line.
void llvmc_at(llvmc *c, pkc_span pos, pkc_span kernel);

/// Verifies the module and runs LLVM's pipeline over it. False after a diagnostic.
bool llvmc_optimise(llvmc *c);
/// Appends PTX, or LLVM's own text. False after a diagnostic.
bool llvmc_ptx(llvmc *c, pkc_buf *out);
void llvmc_text(llvmc *c, pkc_buf *out);

LLVMTypeRef llvmc_elem(const llvmc *c, pkc_elem elem);
LLVMValueRef llvmc_int(const llvmc *c, int64_t v);  // i32
LLVMValueRef llvmc_long(const llvmc *c, int64_t v); // i64
LLVMValueRef llvmc_bool(const llvmc *c, bool v);    // i1

/// Calls an intrinsic of intrinsics.def.
LLVMValueRef llvmc_call(llvmc *c, nv_intrinsic id, int n, LLVMValueRef *args);
/// Inline assembly with side effects on memory; several results come as a struct.
LLVMValueRef llvmc_asm(llvmc *c, LLVMTypeRef result, const char *text, const char *constraints, int n,
                       LLVMValueRef *args);
/// Marks a load of memory that nothing writes while the kernel runs.
void llvmc_invariant(llvmc *c, LLVMValueRef load);
/// Forbids unrolling of the loop that this branch closes.
void llvmc_no_unroll(llvmc *c, LLVMValueRef branch);

#endif
