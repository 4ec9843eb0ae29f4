// SPDX-License-Identifier: Apache-2.0
// What the files of libpkrt share.
#ifndef PKRT_INTERNAL_H
#define PKRT_INTERNAL_H

#include <cjson/cJSON.h>

#include "pkrt/pkrt.h"
#include "src/cuda.h"

/// The driver's entry points, opened at run time.
typedef struct rt_driver {
    void *library;
#define RT_CALL(symbol, params, names) rt_result(*symbol) params;
#include "src/driver.def"
#undef RT_CALL
    int (*report)(char *text, size_t size); // pksimLastReport of the simulator; NULL: a GPU's driver
} rt_driver;

/// A device in use, with the ranks that live on it: ranks first .. first + n - 1 of `order`.
typedef struct rt_place {
    int ordinal; // as the driver counts
    rt_device device;
    rt_ctx ctx;
    rt_stream stream;
    rt_ptr abort_address; // of the abort word, as this device sees it
    rt_event done;        // recorded behind the last launch when one on another stream follows
    bool launched;        // since the last wait; only then may `last` be used: it may be the caller's
    rt_stream last;       // the stream of the last launch
    bool ended;           // while waiting: its launches have
    int n_ranks, *ranks;
    int sms, shared_limit; // multiprocessors; bytes of shared memory that a CTA may ask for
    int major, minor;      // compute capability
} rt_place;

enum { RT_ERROR_TEXT = 8192 };

struct pkrt_context {
    rt_driver driver;
    pkrt_backend backend;
    int n_ranks;
    int *place_of; // rank -> index of its place
    int *slot_of;  // rank -> its number among the ranks of its place
    int n_places;
    rt_place *places;
    int32_t *abort_word; // host memory that every device sees; not zero: waits in kernels give up
    bool aborted;
    pkrt_multicast multicast;     // NEVER where it was not asked for or cannot be had
    size_t multicast_granularity; // of multicast objects, where it can
    char name[128];
    pkrt_tensor *tensors;
    pkrt_module *modules;
    char error[RT_ERROR_TEXT];
};

/// One copy of a tensor on one rank. What is set must be given back.
typedef struct rt_copy {
    rt_ptr ptr;
    rt_alloc handle; // symmetric memory
    bool reserved, created, mapped, allocated;
    rt_ptr multicast; // the address of all copies as this rank's device sees it
    bool multicast_reserved, multicast_mapped, multicast_bound;
} rt_copy;

struct pkrt_tensor {
    pkrt_context *ctx;
    pkrt_elem elem;
    int n_dims;
    int64_t dims[PKRT_MAX_DIMS], strides[PKRT_MAX_DIMS]; // strides in elements
    bool symmetric, wrapped;
    size_t mapped_bytes; // of one copy of symmetric memory
    rt_copy *copies;     // one a rank
    bool multicast;      // the multicast object is there and all copies are bound to it
    bool multicast_created;
    rt_alloc multicast_object;
    pkrt_tensor *next;
};

struct pkrt_module {
    pkrt_context *ctx;
    char *text;
    cJSON *meta;
    rt_mod *loaded; // one a place, NULL until a kernel is bound
    pkrt_kernel *kernels;
    pkrt_module *next;
};

/// A named dimension and its value; bound says by which parameter, for messages.
typedef struct rt_dim {
    const char *name;
    int64_t value;
    bool known;
    const char *bound;
} rt_dim;

/// A parameter of the description with what was passed for it.
typedef struct rt_param {
    const cJSON *json;
    const char *name, *kind, *elem;
    bool given; // while binding
    pkrt_tensor *tensor;
    int64_t i;
    double f;
    uint32_t first_word; // signals: in a bank
} rt_param;

struct pkrt_kernel {
    pkrt_context *ctx;
    pkrt_module *module;
    const cJSON *json;
    const char *name;
    int n_params, n_dims;
    rt_param *params;
    rt_dim *dims;
    int sms, threads;
    size_t smem, block_bytes; // block_bytes: of one rank, rounded up
    uint32_t bank_words;
    pkrt_tensor *state; // symmetric, or NULL: the kernel needs none
    rt_fn *fns;         // one a place
    char **blocks;      // one a place: the parameter, RT_PARAM_BYTES
    pkrt_kernel *next;
};

/// RT_PARAM_BYTES, RT_BLOCK_ALIGN and so on.
enum {
#define PK_ABI_CONST(name, value) RT_##name = value,
#include "abi/abi.def"
};

// ---- errors (error.c)
pkrt_status rt_fail(pkrt_context *ctx, pkrt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// DRIVER (or NO_MEMORY, FAULT, by the code) with what was being done, the driver's words and a simulator's
/// report; OK for success.
pkrt_status rt_check(pkrt_context *ctx, rt_result result, const char *what);
/// Refuses calls on a context that failed; clears the last error.
pkrt_status rt_begin(pkrt_context *ctx);
/// Ends waiting kernels on all devices; the context is unusable until it is reset.
void rt_abort(pkrt_context *ctx);
/// The last error kept aside while what failed is freed.
typedef struct rt_saved {
    char text[RT_ERROR_TEXT];
} rt_saved;
void rt_save_error(const pkrt_context *ctx, rt_saved *out);
void rt_restore_error(pkrt_context *ctx, const rt_saved *saved);

// ---- driver.c
pkrt_status rt_driver_open(pkrt_context *ctx, const pkrt_context_options *options);
void rt_driver_close(rt_driver *driver);

// ---- context.c
pkrt_status rt_enter(pkrt_context *ctx, int place);
/// For giving things back, which goes on where this fails: most drivers free without a current device. True:
/// leave again.
bool rt_enter_to_free(pkrt_context *ctx, int place);
void rt_leave(pkrt_context *ctx);
/// Waits for all launches on all devices. Where one failed, ends the others, which may wait for it.
pkrt_status rt_wait(pkrt_context *ctx);
/// Zeroes `bytes` from ptr on the current device and waits until that is done.
pkrt_status rt_zero(pkrt_context *ctx, rt_ptr ptr, size_t bytes);

// ---- tensors (tensor.c)
/// pkrt_tensor_create; `multicast`: a symmetric tensor gets a multicast address where the context has them.
pkrt_status rt_tensor_make(pkrt_context *ctx, pkrt_tensor **out, pkrt_elem elem, int n_dims,
                           const int64_t *dims, unsigned flags, bool multicast);

// ---- multicast objects (multicast.c)
/// Sets ctx->multicast from what was asked for and what the devices can. The devices are open.
pkrt_status rt_multicast_decide(pkrt_context *ctx, pkrt_multicast asked);
/// Gives a symmetric tensor a multicast address, or none where that fails and it was not required.
pkrt_status rt_multicast_make(pkrt_tensor *tensor);
void rt_multicast_free(pkrt_tensor *tensor);

// ---- elements (convert.c)
size_t rt_elem_size(pkrt_elem elem);
const char *rt_elem_name(pkrt_elem elem);
bool rt_elem_find(const char *name, pkrt_elem *out);
void rt_from_f32(pkrt_elem elem, void *to, const float *from, size_t n);
void rt_to_f32(pkrt_elem elem, float *to, const void *from, size_t n);

// ---- scalar parameters (scalar.c)
/// Gives p a value, of which i or f counts by its type; refuses one that its type does not hold.
pkrt_status rt_scalar_set(const pkrt_kernel *k, rt_param *p, int64_t i, double f);
/// What stands in the block; the number of bytes is returned. The parameter has been set.
size_t rt_scalar_bits(const rt_param *p, uint64_t *bits);

// ---- host expressions (expr.c)
typedef struct rt_scope {
    const rt_dim *dims;
    int n_dims;
    int64_t rank, ranks, sms; // sms 0: not known yet
    const rt_param *params;
    int n_params;
} rt_scope;
/// Evaluates prefix JSON in 64 bits. False: `why` (of `size` bytes) says what does not come out.
bool rt_eval(const cJSON *expr, const rt_scope *scope, int64_t *out, char *why, size_t size);
/// Appends what a person reads, `cdiv(R, 128)`.
void rt_expr_text(const cJSON *expr, char *out, size_t size);

// ---- descriptions (describe.c)
/// Checks that a description has all that abi/description.def says, of the right types. False: `why` says
/// what is missing.
bool rt_description_check(const cJSON *module, char *why, size_t size);
enum { RT_MAX_NAMED_DIMS = 64 };
/// The named dimensions of a kernel in the order in which its parameters mention them; their number, which is
/// larger than RT_MAX_NAMED_DIMS where they do not fit.
int rt_description_dims(const cJSON *kernel, const char *names[RT_MAX_NAMED_DIMS]);

// ---- modules (module.c)
const cJSON *rt_module_kernel(const pkrt_module *module, const char *name);
pkrt_status rt_module_on_devices(pkrt_module *module);
void rt_kernel_free(pkrt_kernel *kernel);

// ---- binding (bind.c: parameters and shapes; block.c: maps and the block)
rt_scope rt_kernel_scope(const pkrt_kernel *k, int rank);
pkrt_status rt_bind_shapes(pkrt_kernel *k, const pkrt_arg *args, int n_args);
pkrt_status rt_check_requirements(pkrt_kernel *k);
rt_param *rt_kernel_param(const pkrt_kernel *k, const char *name);
pkrt_status rt_fill_blocks(pkrt_kernel *k);

#endif
