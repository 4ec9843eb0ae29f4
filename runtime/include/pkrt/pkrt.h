// SPDX-License-Identifier: Apache-2.0
// libpkrt: ranks, symmetric memory, binding and launching of kernels compiled by pkc. It speaks the CUDA
// driver API and nothing else, through entry points opened at run time: those of libcuda.so.1 (GPUs) or of
// libpksim.so (simulated GPUs).
//
//     pkrt_context_options options = PKRT_CONTEXT_OPTIONS_INIT;
//     options.ranks = 8;
//     pkrt_context *ctx;
//     if (pkrt_context_create(&ctx, &options) != PKRT_OK) { puts(pkrt_last_error(ctx)); ... }
//     pkrt_tensor *x, *y;
//     pkrt_tensor_create(ctx, &x, PKRT_F32, 2, (int64_t[]){1000, 512}, 0);   // one on each rank
//     ...
//     pkrt_module_load(ctx, &module, ptx, strlen(ptx));
//     pkrt_arg args[] = {{"X", .tensor = x}, {"Y", .tensor = y}, {"factor", .f = 2}};
//     pkrt_kernel_bind(module, &kernel, "scale", args, 3);
//     pkrt_kernel_launch(kernel, NULL);
//     pkrt_context_synchronize(ctx);
//
// NULL for an object or an output that is needed gives PKRT_INVALID. Every call returns a status and never
// prints, exits or keeps global state. After a failure pkrt_last_error says what happened: the kernel, the
// parameter, what was expected and what was got. A call that fails has freed what it had made. A context and
// what belongs to it are used by one thread at a time; two contexts may be used by two threads. Outputs come
// first among the arguments after the object; they are NULL after a failure.
#ifndef PKRT_PKRT_H
#define PKRT_PKRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PKRT_VERSION_MAJOR 0
#define PKRT_VERSION_MINOR 1
#define PKRT_API           __attribute__((visibility("default")))

typedef enum pkrt_status {
#define PKRT_STATUS(id, words) PKRT_##id,
#include "pkrt/status.def"
#undef PKRT_STATUS
    PKRT_STATUS_COUNT
} pkrt_status;

/// The status in words; never NULL.
PKRT_API const char *pkrt_status_text(pkrt_status status);
/// "0.1".
PKRT_API const char *pkrt_version(void);

// ---- contexts ------------------------------------------------------------------------------------------

typedef enum pkrt_backend {
    PKRT_BACKEND_AUTO, // GPUs where a driver and a device are there, the simulator otherwise
    PKRT_BACKEND_CUDA,
    PKRT_BACKEND_SIM
} pkrt_backend;

/// Whether symmetric memory also gets a multicast address, behind which one instruction reaches the copies of
/// all ranks and the network adds them up (multimem; NVLink switches of compute capability 9.0 and later).
/// Kernels take it where it is there and loop over the ranks where it is not; results agree up to rounding.
typedef enum pkrt_multicast {
    PKRT_MULTICAST_NEVER, // the driver is not asked, and no multicast object is ever made
    PKRT_MULTICAST_AUTO,  // where it can be had: two ranks or more, each on a device of its own, every device
                          // supports it; a tensor for which the driver then refuses it goes without
    PKRT_MULTICAST_REQUIRE // it can be had, or creating the context or the tensor fails and says why
} pkrt_multicast;

/// Set with PKRT_CONTEXT_OPTIONS_INIT, then change members.
typedef struct pkrt_context_options {
    size_t size; // sizeof(pkrt_context_options): tells the library which members the caller knows
    pkrt_backend backend;
    int ranks;          // at least 1
    const int *devices; // device of each rank, `ranks` of them; NULL: dealt over all devices in equal blocks
    const char *driver; // file of the driver to open; NULL: libcuda.so.1 or libpksim.so
    pkrt_multicast multicast;
} pkrt_context_options;

#define PKRT_CONTEXT_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        .size = sizeof(pkrt_context_options), .backend = PKRT_BACKEND_AUTO, .ranks = 1                       \
    }

typedef struct pkrt_context pkrt_context;

/// Makes a context of N ranks, mapped onto any devices; ranks on one device share each launch. Uses the
/// devices' primary contexts. The context is made in every case but NO_MEMORY, so that pkrt_last_error can be
/// asked; the caller destroys it.
PKRT_API pkrt_status pkrt_context_create(pkrt_context **out, const pkrt_context_options *options);
/// Waits for nothing: synchronize first. Frees the context and what still belongs to it: tensors, modules,
/// kernels. NULL is allowed.
PKRT_API void pkrt_context_destroy(pkrt_context *ctx);
PKRT_API int pkrt_context_ranks(const pkrt_context *ctx);
/// Whether symmetric tensors of this context get multicast addresses.
PKRT_API bool pkrt_context_multicast(const pkrt_context *ctx);
/// What runs the kernels: PKRT_BACKEND_CUDA or PKRT_BACKEND_SIM.
PKRT_API pkrt_backend pkrt_context_backend(const pkrt_context *ctx);
/// "NVIDIA H200", or what the simulator says.
PKRT_API const char *pkrt_context_device_name(const pkrt_context *ctx);
/// Waits until all launches have finished. FAULT with a report where one failed: who waited for what, or what
/// was read where; launches on other devices, which may wait for the one that failed, are then ended.
PKRT_API pkrt_status pkrt_context_synchronize(pkrt_context *ctx);
/// Makes the context usable after ABORTED: waits for what still runs and zeroes all kernels' state. What the
/// kernels wrote before they ended is undefined. FAULT or DRIVER where a device itself is lost, as GPUs are
/// after an illegal access: then only a new process, or context of another device, helps.
PKRT_API pkrt_status pkrt_context_reset(pkrt_context *ctx);
/// What went wrong last in this context, "" where nothing did. Valid until the next call with the context.
PKRT_API const char *pkrt_last_error(const pkrt_context *ctx);

// ---- tensors -------------------------------------------------------------------------------------------

typedef enum pkrt_elem {
    PKRT_BF16,
    PKRT_F16,
    PKRT_F32,
    PKRT_E4M3,
    PKRT_E5M2,
    PKRT_I8,
    PKRT_I32,
    PKRT_U32,
    PKRT_ELEM_COUNT
} pkrt_elem;

enum { PKRT_MAX_DIMS = 5, PKRT_SYMMETRIC = 1 };

/// A tensor on every rank: the same element type and shape, row-major.
typedef struct pkrt_tensor pkrt_tensor;

/// Allocates one copy on each rank, of undefined content. With PKRT_SYMMETRIC in `flags` every rank can reach
/// every rank's copy, as `peer` parameters need; symmetric memory is allocated in pieces of some megabytes.
/// dims: n_dims (1 to 5) sizes, each 0 or more.
PKRT_API pkrt_status pkrt_tensor_create(pkrt_context *ctx, pkrt_tensor **out, pkrt_elem elem, int n_dims,
                                        const int64_t *dims, unsigned flags);
/// A tensor around the caller's own device memory: pointers[r] is rank r's copy. strides: elements from one
/// index to the next of each axis but the last (n_dims - 1 of them), or NULL for contiguous. The memory stays
/// the caller's and must outlive the tensor. For PKRT_SYMMETRIC every device must already be able to reach
/// every pointer, and the pointers have the same remainder by 16 on all ranks. It has no multicast address.
PKRT_API pkrt_status pkrt_tensor_wrap(pkrt_context *ctx, pkrt_tensor **out, pkrt_elem elem, int n_dims,
                                      const int64_t *dims, const int64_t *strides, void *const *pointers,
                                      unsigned flags);
/// Frees the tensor; kernels bound to it must not be launched again. NULL is allowed.
PKRT_API void pkrt_tensor_destroy(pkrt_tensor *tensor);
/// Device address of rank's copy, NULL for a rank that is not there.
PKRT_API void *pkrt_tensor_pointer(const pkrt_tensor *tensor, int rank);
/// Multicast address of all copies as rank's device sees it, for multimem instructions only; NULL where the
/// tensor has none.
PKRT_API void *pkrt_tensor_multicast(const pkrt_tensor *tensor, int rank);
/// Elements of one copy.
PKRT_API int64_t pkrt_tensor_count(const pkrt_tensor *tensor);
/// Bytes of one copy of a contiguous tensor.
PKRT_API size_t pkrt_tensor_bytes(const pkrt_tensor *tensor);
/// Copies a whole contiguous tensor from or to host memory: waits for all launches, copies, and waits until
/// that is done. bytes must be pkrt_tensor_bytes.
PKRT_API pkrt_status pkrt_tensor_write(pkrt_tensor *tensor, int rank, const void *data, size_t bytes);
PKRT_API pkrt_status pkrt_tensor_read(pkrt_tensor *tensor, int rank, void *data, size_t bytes);
/// The same with floats on the host, converted to the element type (to the nearest, ties to even; 8-bit
/// floats saturate, integers truncate) and back. count must be pkrt_tensor_count.
PKRT_API pkrt_status pkrt_tensor_write_f32(pkrt_tensor *tensor, int rank, const float *data, size_t count);
PKRT_API pkrt_status pkrt_tensor_read_f32(pkrt_tensor *tensor, int rank, float *data, size_t count);

// ---- modules and kernels -------------------------------------------------------------------------------

typedef struct pkrt_module pkrt_module;
typedef struct pkrt_kernel pkrt_kernel;

/// Loads a module: PTX text as pkc writes it, with its description in its first line. `text` need not end in
/// zero and is copied.
PKRT_API pkrt_status pkrt_module_load(pkrt_context *ctx, pkrt_module **out, const char *text, size_t length);
/// Frees the module and its kernels. NULL is allowed.
PKRT_API void pkrt_module_destroy(pkrt_module *module);
PKRT_API int pkrt_module_kernel_count(const pkrt_module *module);
/// Name of kernel `index`, NULL beyond the last.
PKRT_API const char *pkrt_module_kernel_name(const pkrt_module *module, int index);

/// What a kernel's description says of a parameter.
typedef struct pkrt_param_info {
    const char *name;
    bool scalar, peer, signal; // none: a local tensor
    bool written, clear;       // the kernel writes it; zeroes it first
    pkrt_elem elem;            // of tensors
    const char *type;          // as the language spells it, "bf16"
    int n_dims;
} pkrt_param_info;

PKRT_API int pkrt_module_param_count(const pkrt_module *module, const char *kernel);
/// False where there is no such kernel or parameter.
PKRT_API bool pkrt_module_param(const pkrt_module *module, const char *kernel, int index,
                                pkrt_param_info *out);
/// Size of axis `axis` of parameter `index` given the named dimensions (n names and values) and the context's
/// ranks. BAD_SHAPE where a name is missing or a division does not come out.
PKRT_API pkrt_status pkrt_module_param_dim(pkrt_module *module, const char *kernel, int index, int axis,
                                           const char *const *names, const int64_t *values, int n,
                                           int64_t *out);
/// Named dimension `index` of a kernel, NULL beyond the last.
PKRT_API const char *pkrt_module_dim_name(const pkrt_module *module, const char *kernel, int index);

/// An argument by name: a tensor, or a scalar in the member for its type, the other one 0. Signals are the
/// kernel's own and are not passed.
typedef struct pkrt_arg {
    const char *name;
    pkrt_tensor *tensor;
    int64_t i; // i32 u32 i64 u64 u8 bool
    double f;  // f32 f64
} pkrt_arg;

/// Binds a kernel to its arguments, on all ranks at once: names its dimensions, checks shapes and
/// requirements, encodes copy descriptors, makes state, loads the code on every device. All that can be
/// refused is refused here: BAD_SHAPE names kernel, parameter, expected and got. `kernel` may be NULL where
/// the module has one.
PKRT_API pkrt_status pkrt_kernel_bind(pkrt_module *module, pkrt_kernel **out, const char *kernel,
                                      const pkrt_arg *args, int n_args);
/// Gives a scalar parameter another value for later launches.
PKRT_API pkrt_status pkrt_kernel_set(pkrt_kernel *kernel, const char *name, int64_t i, double f);
/// Launches on every rank: one driver call a device, without waiting or allocating. streams: a CUstream for
/// each device in use, in the order of pkrt_context_device; NULL: streams of the context. All launches of a
/// context follow each other in the order of the calls, on whatever streams; a stream must live until the
/// next pkrt_context_synchronize. A stream that is being captured gets the launch into its graph, and the
/// caller then orders the graph's replays behind and before other launches. A launch that fails on one device
/// after it has started on others ends those: the status is the failure's, later calls give ABORTED until
/// pkrt_context_reset.
PKRT_API pkrt_status pkrt_kernel_launch(pkrt_kernel *kernel, void *const *streams);
/// Workers (CTAs) of a rank: what `sms` is in the kernel.
PKRT_API int pkrt_kernel_sms(const pkrt_kernel *kernel);
PKRT_API void pkrt_kernel_destroy(pkrt_kernel *kernel);

/// Number of devices in use, and which one stands at `index`.
PKRT_API int pkrt_context_device_count(const pkrt_context *ctx);
PKRT_API int pkrt_context_device(const pkrt_context *ctx, int index);
/// The context's own stream (a CUstream) on the device at `index`.
PKRT_API void *pkrt_context_stream(const pkrt_context *ctx, int index);

#ifdef __cplusplus
}
#endif

#endif
