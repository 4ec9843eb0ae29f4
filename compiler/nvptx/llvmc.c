// SPDX-License-Identifier: Apache-2.0
#include "nvptx/llvmc.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

typedef enum nv_overload {
    NV_OVER_NONE,
    NV_OVER_F32,
    NV_OVER_F64,
    NV_OVER_SHARED,
    NV_OVER_GENERIC
} nv_overload;

static const struct intrinsic {
    const char *name;
    int ptx;
    nv_overload over;
} intrinsics[] = {
#define NV_INTRINSIC(id, name, ptx, over) {name, ptx, NV_OVER_##over},
#include "nvptx/intrinsics.def"
};

void llvmc_unsupported(llvmc *c, const char *what)
{
    pkc_diag_error(c->session, PKC_DIAG_NOT_EMITTED, c->pos, c->target->name, what);
    c->failed = true;
}

static void internal_error(llvmc *c, const char *what)
{
    pkc_diag_error(c->session, PKC_DIAG_LLVM_FAILED, c->pos, what);
    c->failed = true;
}

// LLVM reports through this what it cannot compile; remarks and warnings about its own doings are of no use
// to a person who writes .pk.
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    internal_error(user, text);
    LLVMDisposeMessage(text);
}

static void make_types(llvmc *c)
{
    c->void_t = LLVMVoidTypeInContext(c->ctx);
    c->i1 = LLVMInt1TypeInContext(c->ctx);
    c->i8 = LLVMInt8TypeInContext(c->ctx);
    c->i16 = LLVMInt16TypeInContext(c->ctx);
    c->i32 = LLVMInt32TypeInContext(c->ctx);
    c->i64 = LLVMInt64TypeInContext(c->ctx);
    c->f16 = LLVMHalfTypeInContext(c->ctx);
    c->bf16 = LLVMBFloatTypeInContext(c->ctx);
    c->f32 = LLVMFloatTypeInContext(c->ctx);
    c->f64 = LLVMDoubleTypeInContext(c->ctx);
    c->ptr = LLVMPointerTypeInContext(c->ctx, NV_AS_GENERIC);
    c->gptr = LLVMPointerTypeInContext(c->ctx, NV_AS_GLOBAL);
    c->sptr = LLVMPointerTypeInContext(c->ctx, NV_AS_SHARED);
    c->attr_convergent = LLVMGetEnumAttributeKindForName("convergent", 10);
    c->attr_nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
}

static bool make_machine(llvmc *c)
{
    // Only this target: initialising the others costs more than compiling a small kernel.
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMTargetRef target;
    char *why = NULL;
    if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &why)) {
        internal_error(c, why);
        LLVMDisposeMessage(why);
        return false;
    }
    c->machine = LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", c->target->name, c->target->features,
                                         LLVMCodeGenLevelDefault, LLVMRelocDefault, LLVMCodeModelDefault);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(c->machine);
    LLVMSetModuleDataLayout(c->module, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(c->module, "nvptx64-nvidia-cuda");
    return true;
}

static LLVMMetadataRef di_file(llvmc *c, const pkc_file *file)
{
    if (!c->di_files[file->index])
        c->di_files[file->index] = LLVMDIBuilderCreateFile(c->di, file->name, strlen(file->name), "", 0);
    return c->di_files[file->index];
}

// Emission kind 3 is "debug directives only" (.file and .loc), which the C enum does not name: the other
// kinds put `debug` on the .target line, and ptxas then drops setmaxnreg and serialises wgmma.
static void make_debug(llvmc *c, const pkc_file *main_file)
{
    enum { DIRECTIVES_ONLY = 3 };
    c->n_files = c->session->files.len;
    if (!main_file || !c->n_files)
        return;
    c->di = LLVMCreateDIBuilder(c->module);
    c->di_files = PKC_NEW_ARRAY(&c->session->arena, LLVMMetadataRef, c->n_files);
    c->di_scopes = PKC_NEW_ARRAY(&c->session->arena, LLVMMetadataRef, c->n_files);
    c->unit = LLVMDIBuilderCreateCompileUnit(c->di, LLVMDWARFSourceLanguageC, di_file(c, main_file), "pkc", 3,
                                             true, "", 0, 0, "", 0, (LLVMDWARFEmissionKind)DIRECTIVES_ONLY, 0,
                                             false, false, "", 0, "", 0);
    LLVMValueRef version = LLVMConstInt(c->i32, LLVMDebugMetadataVersion(), false);
    LLVMAddModuleFlag(c->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                      LLVMValueAsMetadata(version));
}

bool llvmc_open(llvmc *c, pkc_session *session, const pkc_target *target, const pkc_file *main_file)
{
    *c = (llvmc){.session = session, .target = target};
    c->ctx = LLVMContextCreate();
    LLVMContextSetDiscardValueNames(c->ctx, !session->settings.debug);
    LLVMContextSetDiagnosticHandler(c->ctx, on_diagnostic, c);
    c->module = LLVMModuleCreateWithNameInContext(main_file ? main_file->name : "pk", c->ctx);
    c->b = LLVMCreateBuilderInContext(c->ctx);
    make_types(c);
    if (!make_machine(c))
        return false;
    make_debug(c, main_file);
    return true;
}

void llvmc_close(llvmc *c)
{
    if (c->di)
        LLVMDisposeDIBuilder(c->di);
    if (c->machine)
        LLVMDisposeTargetMachine(c->machine);
    if (c->b)
        LLVMDisposeBuilder(c->b);
    if (c->module)
        LLVMDisposeModule(c->module);
    if (c->ctx)
        LLVMContextDispose(c->ctx);
    *c = (llvmc){0};
}

static void string_attribute(llvmc *c, LLVMValueRef f, unsigned index, const char *key, const char *value)
{
    LLVMAttributeRef a =
        LLVMCreateStringAttribute(c->ctx, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(f, index, a);
}

static void kernel_attributes(llvmc *c, LLVMValueRef f, unsigned bytes, int threads)
{
    const unsigned kernel_convention = 71, function = (unsigned)LLVMAttributeFunctionIndex;
    LLVMSetFunctionCallConv(f, kernel_convention);
    string_attribute(c, f, function, "nvvm.maxntid", pkc_arena_printf(&c->session->arena, "%d", threads));
    string_attribute(c, f, function, "nvvm.minctasm", "1");
    string_attribute(c, f, function, "no-jump-tables",
                     "true"); // a multiway branch makes ptxas wait for products
    string_attribute(c, f, function, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
    LLVMAddAttributeAtIndex(f, function, LLVMCreateEnumAttribute(c->ctx, c->attr_convergent, 0));
    LLVMAddAttributeAtIndex(f, function, LLVMCreateEnumAttribute(c->ctx, c->attr_nounwind, 0));
    LLVMTypeRef block = LLVMArrayType2(c->i8, bytes);
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned align = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddAttributeAtIndex(f, 1, LLVMCreateTypeAttribute(c->ctx, byval, block));
    LLVMAddAttributeAtIndex(f, 1, LLVMCreateEnumAttribute(c->ctx, align, 64));
    string_attribute(c, f, 1, "nvvm.grid_constant", "");
}

static void make_subprogram(llvmc *c, LLVMValueRef f, const char *name, pkc_span pos)
{
    if (!c->di || !pos.file)
        return;
    for (size_t i = 0; i < c->n_files; i++)
        c->di_scopes[i] = NULL;
    LLVMMetadataRef file = di_file(c, pos.file);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(c->di, file, NULL, 0, LLVMDIFlagZero);
    unsigned line = pkc_span_begin(pos).line;
    c->sub = LLVMDIBuilderCreateFunction(c->di, c->unit, name, strlen(name), name, strlen(name), file, line,
                                         type, false, true, line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(f, c->sub);
    c->di_scopes[pos.file->index] = c->sub;
}

LLVMValueRef llvmc_kernel(llvmc *c, const char *name, unsigned bytes, int threads, pkc_span pos)
{
    LLVMTypeRef type = LLVMFunctionType(c->void_t, &c->ptr, 1, false);
    LLVMValueRef f = LLVMAddFunction(c->module, name, type);
    kernel_attributes(c, f, bytes, threads);
    c->sub = NULL;
    make_subprogram(c, f, name, pos);
    return f;
}

// Lines of another file (an inlined function of a library) need a scope of that file inside the subprogram.
static LLVMMetadataRef scope_of(llvmc *c, const pkc_file *file)
{
    if (!c->di_scopes[file->index])
        c->di_scopes[file->index] = LLVMDIBuilderCreateLexicalBlockFile(c->di, c->sub, di_file(c, file), 0);
    return c->di_scopes[file->index];
}

void llvmc_at(llvmc *c, pkc_span pos, pkc_span kernel)
{
    c->pos = pos.file ? pos : kernel;
    if (!c->sub)
        return;
    pkc_place place = pkc_span_begin(c->pos);
    LLVMMetadataRef where =
        LLVMDIBuilderCreateDebugLocation(c->ctx, place.line, place.column, scope_of(c, c->pos.file), NULL);
    LLVMSetCurrentDebugLocation2(c->b, where);
}

// What emission leaves to LLVM: common subexpressions, constants found along branches, folding of addresses,
// invariants out of loops. There is nothing to inline and no memory to promote. It gives the machine code of
// default<O1> to within 4 % and takes a third of its time, most of which instcombine spends on further rounds
// that change nothing.
static const char pipeline[] = "function(early-cse<memssa>,sccp,simplifycfg,"
                               "instcombine<max-iterations=1;no-verify-fixpoint>,"
                               "loop-mssa(licm),early-cse,simplifycfg)";

bool llvmc_optimise(llvmc *c)
{
    if (c->di)
        LLVMDIBuilderFinalize(c->di);
    char *why = NULL;
    if (LLVMVerifyModule(c->module, LLVMReturnStatusAction, &why))
        internal_error(c, why);
    LLVMDisposeMessage(why);
    if (c->failed)
        return false;
    // The machine must be passed: it registers the target's own passes.
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(c->module, pipeline, c->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) {
        char *text = LLVMGetErrorMessage(error);
        internal_error(c, text);
        LLVMDisposeErrorMessage(text);
    }
    return !c->failed;
}

bool llvmc_ptx(llvmc *c, pkc_buf *out)
{
    char *why = NULL;
    LLVMMemoryBufferRef text = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(c->machine, c->module, LLVMAssemblyFile, &why, &text)) {
        internal_error(c, why);
        LLVMDisposeMessage(why);
        return false;
    }
    if (!c->failed)
        pkc_buf_write(out, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
    LLVMDisposeMemoryBuffer(text);
    return !c->failed;
}

void llvmc_text(llvmc *c, pkc_buf *out)
{
    if (c->di)
        LLVMDIBuilderFinalize(c->di);
    char *text = LLVMPrintModuleToString(c->module);
    pkc_buf_puts(out, text);
    LLVMDisposeMessage(text);
}

LLVMTypeRef llvmc_elem(const llvmc *c, pkc_elem elem)
{
    switch (elem) {
    case PKC_E_BOOL:
        return c->i1;
    case PKC_E_U8:
    case PKC_E_I8:
    case PKC_E_E4M3:
    case PKC_E_E5M2:
        return c->i8;
    case PKC_E_BF16:
        return c->bf16;
    case PKC_E_F16:
        return c->f16;
    case PKC_E_I32:
    case PKC_E_U32:
        return c->i32;
    case PKC_E_F32:
        return c->f32;
    case PKC_E_I64:
    case PKC_E_U64:
        return c->i64;
    case PKC_E_F64:
        return c->f64;
    case PKC_E_COUNT:
        break;
    }
    return c->i32;
}

LLVMValueRef llvmc_int(const llvmc *c, int64_t v)
{
    return LLVMConstInt(c->i32, (unsigned long long)v, true);
}
LLVMValueRef llvmc_long(const llvmc *c, int64_t v)
{
    return LLVMConstInt(c->i64, (unsigned long long)v, true);
}
LLVMValueRef llvmc_bool(const llvmc *c, bool v)
{
    return LLVMConstInt(c->i1, v, false);
}

static LLVMTypeRef overload_type(const llvmc *c, nv_overload over)
{
    switch (over) {
    case NV_OVER_NONE:
        break;
    case NV_OVER_F32:
        return c->f32;
    case NV_OVER_F64:
        return c->f64;
    case NV_OVER_SHARED:
        return c->sptr;
    case NV_OVER_GENERIC:
        return c->ptr;
    }
    return NULL;
}

static LLVMValueRef poison_call(llvmc *c, const char *what)
{
    llvmc_unsupported(c, what);
    return LLVMGetPoison(c->i32);
}

LLVMValueRef llvmc_call(llvmc *c, nv_intrinsic id, int n, LLVMValueRef *args)
{
    const struct intrinsic *row = &intrinsics[id];
    unsigned number = LLVMLookupIntrinsicID(row->name, strlen(row->name));
    if (!number || row->ptx > c->target->ptx)
        return poison_call(c, row->name);
    LLVMTypeRef over = overload_type(c, row->over);
    size_t overs = over ? 1 : 0;
    if (LLVMIntrinsicIsOverloaded(number) != (overs != 0))
        return poison_call(c, row->name);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(c->module, number, &over, overs);
    return LLVMBuildCall2(c->b, LLVMIntrinsicGetType(c->ctx, number, &over, overs), f, args, (unsigned)n, "");
}

LLVMValueRef llvmc_asm(llvmc *c, LLVMTypeRef result, const char *text, const char *constraints, int n,
                       LLVMValueRef *args)
{
    LLVMTypeRef *types = PKC_NEW_ARRAY(&c->session->arena, LLVMTypeRef, n ? n : 1);
    for (int i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, (unsigned)n, false);
    LLVMValueRef f = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false,
                                      LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(c->b, type, f, args, (unsigned)n, "");
    const unsigned function = (unsigned)LLVMAttributeFunctionIndex;
    LLVMAddCallSiteAttribute(call, function, LLVMCreateEnumAttribute(c->ctx, c->attr_convergent, 0));
    LLVMAddCallSiteAttribute(call, function, LLVMCreateEnumAttribute(c->ctx, c->attr_nounwind, 0));
    return call;
}

void llvmc_invariant(llvmc *c, LLVMValueRef load)
{
    unsigned kind = LLVMGetMDKindIDInContext(c->ctx, "invariant.load", 14);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(c->ctx, LLVMMDNodeInContext2(c->ctx, NULL, 0)));
}

void llvmc_no_unroll(llvmc *c, LLVMValueRef branch)
{
    LLVMMetadataRef text = LLVMMDStringInContext2(c->ctx, "llvm.loop.unroll.disable", 24);
    LLVMMetadataRef disable = LLVMMDNodeInContext2(c->ctx, &text, 1);
    // A loop's identity is a node whose first operand is itself; it is made through a temporary.
    LLVMMetadataRef self = LLVMTemporaryMDNode(c->ctx, NULL, 0);
    LLVMMetadataRef parts[] = {self, disable};
    LLVMMetadataRef id = LLVMMDNodeInContext2(c->ctx, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, id);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c->ctx, "llvm.loop", 9),
                    LLVMMetadataAsValue(c->ctx, id));
}
