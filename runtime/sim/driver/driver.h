// SPDX-License-Identifier: Apache-2.0
// Inside of the driver. A CUDA driver is one for a process and its calls take no handle of it, so this is the
// one place of the project with such a state: behind one lock, made by cuInit, found by pksim_driver_enter
// alone.
#ifndef PKSIM_DRIVER_DRIVER_H
#define PKSIM_DRIVER_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "sim/driver/cuda.h"
#include "sim/exec/exec.h"
#include "sim/mem/mem.h"

// ---- Objects: everything that a program holds a handle of. Handles are checked against these lists.

enum object_kind {
    OBJECT_CONTEXT,
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_LIBRARY,
    OBJECT_KERNEL,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_HANDLE, // of cuMemCreate and cuMulticastCreate
    OBJECT_MEMORY, // of cuMemAlloc and cuMemHostAlloc: freed with its context
    OBJECT_GRAPH,
    OBJECT_GRAPH_EXEC,
    OBJECT_KINDS
};

struct object { // first member of each
    enum object_kind kind;
    struct object *next;
    struct pksim_context *context; // that it goes with; NULL: none
};

struct pksim_context {
    struct object object;
    uint32_t device;
    bool primary;
    unsigned int flags;
    uint64_t id;
    CUresult sticky; // after a fault: what every call in the context gives back
    uint64_t peers;  // mask of devices whose memory it may access
    struct pksim_stream *null_stream, *thread_stream;
    struct pksim_before *done; // what all its finished work comes to
};

// PTX decoded once, however many contexts load it.
struct image {
    struct image *next;
    uint32_t users;
    size_t length;
    char *text;
    struct pksim_module *module;
};

struct pksim_image_use { // CUmodule
    struct object object;
    struct image *image;
    uint64_t *variables; // device addresses
    uint32_t variable_count;
    struct pksim_library *library; // that it belongs to, or NULL
};

struct pksim_entry { // CUfunction
    struct object object;
    struct pksim_image_use *module;
    const struct pksim_function *function;
    struct pksim_function_info info;
    uint32_t max_dynamic_shared;
    bool large_clusters;
};

struct pksim_library {
    struct object object;
    struct image *image;
};

struct pksim_kernel {
    struct object object;
    struct pksim_library *library;
    char *name;
};

struct handle {
    struct object object;
    uint32_t references;
    struct pksim_phys *phys; // or
    struct pksim_mcast *mcast;
    CUmemAllocationProp prop;
};

struct memory {
    struct object object;
    uint64_t address;
    bool host;
    unsigned int flags;
};

// ---- Work: a graph of operations, each ready when those that it waits for are done (work.c).

enum op_kind { OP_NOTHING, OP_LAUNCH, OP_COPY, OP_FILL, OP_CALL, OP_FREE };
enum op_state { OP_WAITING, OP_RUNNING, OP_DONE };

// What an operation does, without its place in the order: graphs keep these.
struct task {
    enum op_kind kind;
    struct pksim_context *context;
    struct pksim_launch launch; // LAUNCH; params is owned
    struct pksim_image_use *module;
    uint64_t to, from, size; // COPY: addresses of either memory; FILL: to, and size elements; FREE: to
    unsigned char *staged;   // COPY: owned bytes to copy instead of `from`
    uint32_t value, width;   // FILL
    CUhostFn call;
    void *argument;
};

struct op {
    struct op *next; // in the queue
    uint32_t references;
    enum op_state state;
    struct task task;
    uint64_t launch_id;
    struct op **waits_for;
    uint32_t wait_count;
    double finished;             // seconds of the host's clock
    struct pksim_before *before; // what lies before it and, when it is done, itself; for the race detector
};

// A node of a graph; a capture appends them.
struct pksim_graph_node {
    struct task task;
    uint32_t *waits_for; // indices
    uint32_t wait_count;
};

struct index_set {
    uint32_t *items;
    uint32_t count, capacity;
};

struct pksim_graph {
    struct object object;
    uint32_t references; // handle, capture, and executable graphs made of it
    struct pksim_graph_node *nodes;
    uint32_t count, capacity;
    struct pksim_stream *origin; // while it is captured
    bool spoilt;
};

struct pksim_graph_exec {
    struct object object;
    struct pksim_graph *graph; // not changed any more
};

struct pksim_stream {
    struct object object;
    unsigned int flags;
    int priority;
    uint64_t id;
    struct op *last; // owned reference, or NULL
    struct pksim_graph *capture;
    struct index_set tails; // nodes that the next captured one waits for
};

struct pksim_event {
    struct object object;
    unsigned int flags;
    struct op *op;               // recorded last; owned reference
    struct pksim_graph *capture; // recorded while capturing; owned reference
    struct index_set tails;
};

// ---- State

enum { CONTEXT_STACK = 64, REPORT_BYTES = 16384 };

struct thread {
    struct pksim_context *stack[CONTEXT_STACK]; // may hold destroyed ones: check before use
    uint32_t depth;
};

// Failures on purpose.
struct failure {
    char name[64]; // "" for any call
    uint64_t nth;  // 0: none
    CUresult code;
};

struct driver {
    pthread_mutex_t lock;
    pthread_cond_t changed; // work was done, or submitted, or the state is being left
    atomic_uint wanting;    // threads on their way to the lock: who runs the machine lets them in
    pthread_key_t thread_key;
    bool has_thread_key;
    uint32_t threads, blocked; // that used the driver and still live; that wait in it
    bool ready;

    uint32_t devices;
    struct pksim_exec_config config; // mem included
    struct pksim_exec *exec;         // NULL: made with the next launch
    struct pksim_before *host;       // what the program has waited for
    uint32_t retained[PKSIM_MAX_DEVICES];
    unsigned int primary_flags[PKSIM_MAX_DEVICES];
    struct pksim_context *primary[PKSIM_MAX_DEVICES]; // NULL: not active

    struct object *objects[OBJECT_KINDS];
    uint64_t live[OBJECT_KINDS], abandoned[OBJECT_KINDS];
    struct image *images;
    uint64_t next_id;

    struct op *queue, **queue_end; // not done yet, in the order of submission
    bool running;                  // a thread runs the machine
    bool per_thread;               // the call came by its ptsz form
    uint64_t activity;             // calls made so far
    uint32_t patience_ms;
    pthread_t background;
    bool has_background, leaving;

    struct failure failure;
    uint64_t counted; // calls that the failure looked at
    char report[REPORT_BYTES], report_json[REPORT_BYTES];
};

enum call_kind { KIND_PLAIN, KIND_START, KIND_INIT, KIND_CONTEXT, KIND_RELEASE };

// Takes the lock. leave gives it back.
struct driver *pksim_driver_enter(void);
void pksim_driver_leave(struct driver *d);
// A call begins, ends: failures on purpose, cuInit, the current context and its error. Once begin gave
// SUCCESS the call does its work; its result goes through end.
CUresult pksim_call_begin(struct driver *d, const char *name, enum call_kind kind, bool per_thread);
CUresult pksim_call_end(struct driver *d, const char *name, enum call_kind kind, CUresult result);

// A number from the environment; `otherwise` where it is missing or out of bounds.
uint64_t pksim_setting(const char *name, uint64_t otherwise, uint64_t least, uint64_t most);

struct thread *pksim_thread(struct driver *d); // NULL: out of memory
// The current context if it is alive, or NULL.
struct pksim_context *pksim_current(struct driver *d);
CUresult pksim_mem_result(enum pksim_mem_status status);
bool pksim_is_device(const struct driver *d, CUdevice device);

// ---- Objects

// Allocates a zeroed object of `size` bytes and lists it.
void *pksim_object_new(struct driver *d, enum object_kind kind, size_t size, struct pksim_context *context);
// The object behind a handle, NULL if there is none.
void *pksim_object_find(const struct driver *d, enum object_kind kind, const void *handle);
void pksim_object_delete(struct driver *d, void *object);

struct pksim_context *pksim_context_new(struct driver *d, uint32_t device, bool primary, unsigned int flags);
// Ends its work and frees all that goes with it.
void pksim_context_destroy(struct driver *d, struct pksim_context *context);
struct pksim_stream *pksim_stream_new(struct driver *d, struct pksim_context *context, unsigned int flags,
                                      int priority);
void pksim_stream_delete(struct driver *d, struct pksim_stream *stream);
void pksim_event_delete(struct driver *d, struct pksim_event *event);
void pksim_module_delete(struct driver *d, struct pksim_image_use *module);
void pksim_library_delete(struct driver *d, struct pksim_library *library);
void pksim_memory_delete(struct driver *d, struct memory *memory);
void pksim_graph_release(struct driver *d, struct pksim_graph *graph);
void pksim_graph_exec_delete(struct driver *d, struct pksim_graph_exec *exec);
void pksim_image_release(struct driver *d, struct image *image);

// ---- Work

// A stream handle as an object: 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are those of the current
// context. NULL: invalid.
struct pksim_stream *pksim_stream_of(struct driver *d, CUstream stream);
// Puts a task on a stream, or into the graph that the stream is captured to. Takes what the task owns, also
// on failure.
CUresult pksim_submit(struct driver *d, struct pksim_stream *stream, struct task *task);
// Waits until op is done (NULL: at once), or every operation of the context. The result is the context's
// error.
CUresult pksim_wait_op(struct driver *d, struct pksim_context *context, struct op *op);
CUresult pksim_wait_context(struct driver *d, struct pksim_context *context);
// A task at once, in the order of the stream: submits and waits, or just does it where nothing is under way.
CUresult pksim_do_task(struct driver *d, struct pksim_stream *stream, struct task *task);
// Lets the machine run a little, as a program does that asks and does not wait.
void pksim_run_slice(struct driver *d);
void pksim_task_release(struct task *task);
struct op *pksim_op_new(struct driver *d, const struct task *task, struct op *const *waits_for,
                        uint32_t count);
void pksim_op_release(struct op *op);
// Makes an operation that has not begun wait for another one.
CUresult pksim_op_also_waits(struct op *op, struct op *other);
// The program has seen that the operation (NULL: all finished work of the context) is done.
void pksim_host_saw(struct driver *d, const struct pksim_context *context, const struct op *op);
bool pksim_context_busy(const struct driver *d, const struct pksim_context *context);
// Takes the work of contexts that failed (or are destroyed) out of the queue.
void pksim_drop_work(struct driver *d, const struct pksim_context *context);
CUresult pksim_capture_task(struct driver *d, struct pksim_stream *stream, struct task *task);
bool pksim_index_add(struct index_set *set, uint32_t item);

// {"kind": .., "kernel": .., "device": .., ...}: a fault for programs. Returns as snprintf does.
int pksim_fault_json(const struct pksim_fault *fault, char *out, size_t size);

// ---- The calls. Each is reached by way of its wrapper in exports.c.

#define PKSIM_WITH_DRIVER(...)                     (struct driver * d, __VA_ARGS__)
#define CALL(name, since, kind, streams, par, arg) CUresult pksim_##name PKSIM_WITH_DRIVER par;
#define CALL_VOID(name, since, kind)               CUresult pksim_##name(struct driver *d);
#include "sim/driver/api.def"

#endif
