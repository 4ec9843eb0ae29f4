// SPDX-License-Identifier: Apache-2.0
// State of the simulated driver. A CUDA driver is one for a process, so this is the one place of the project
// with such state: behind one lock, made by cuInit.
#ifndef PKSIM_API_API_H
#define PKSIM_API_API_H

#include <pthread.h>

#include "sim/exec/exec.h"
#include "sim/mem/mem.h"

// CUresult (CUDA driver API).
enum {
    API_SUCCESS = 0,
    API_INVALID_VALUE = 1,
    API_OUT_OF_MEMORY = 2,
    API_NOT_INITIALIZED = 3,
    API_INVALID_DEVICE = 101,
    API_INVALID_CONTEXT = 201,
    API_INVALID_PTX = 218,
    API_INVALID_HANDLE = 400,
    API_NOT_FOUND = 500,
    API_NOT_READY = 600,
    API_ILLEGAL_ADDRESS = 700,
    API_LAUNCH_OUT_OF_RESOURCES = 701,
    API_LAUNCH_TIMEOUT = 702,
    API_MISALIGNED_ADDRESS = 716,
    API_LAUNCH_FAILED = 719,
    API_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    API_NOT_SUPPORTED = 801
};

enum { API_MAX_CONTEXT_STACK = 64, API_REPORT = 8192 };

struct api_context { // a device's primary context
    uint32_t device;
    uint32_t retained;
};

struct api_module {
    struct pksim_module *module;
    uint64_t *variables; // addresses
    uint32_t variable_count;
    struct api_function *functions;
    struct api_module *next;
};

struct api_function {
    struct api_module *module;
    const struct pksim_function *function;
    struct pksim_function_info info;
    struct api_function *next;
};

enum api_work_kind { API_LAUNCH, API_RECORD, API_WAIT, API_FILL };

// What waits on a stream.
struct api_work {
    enum api_work_kind kind;
    struct pksim_launch launch; // LAUNCH; params is owned
    bool started;
    uint64_t id;
    struct api_event *event; // RECORD, WAIT
    uint64_t ticket;         // RECORD: completes it; WAIT: waits for it
    uint64_t address, count; // FILL
    uint32_t value, width;
    struct api_work *next;
};

struct api_stream {
    uint32_t device;
    struct api_work *first, **last;
    struct api_stream *next;
};

struct api_event {
    uint64_t recorded, completed; // tickets
    double time;                  // of the last completion, virtual milliseconds
    struct api_event *next;
};

struct api {
    pthread_mutex_t lock;
    bool ready;
    struct pksim_mem *mem;
    struct pksim_exec *exec;
    struct pksim_limits limits;
    uint32_t devices;
    struct api_context contexts[PKSIM_MAX_DEVICES];
    struct api_stream null_streams[PKSIM_MAX_DEVICES];
    struct api_context *stack[API_MAX_CONTEXT_STACK];
    uint32_t depth;
    struct api_module *modules;
    struct api_stream *streams;
    struct api_event *events;
    int sticky; // after a fault every call says so
    char report[API_REPORT];
    // failures on purpose
    char fail_name[64];
    uint64_t fail_nth, calls;
    int fail_code;
};

struct api *api_state(void);
// Takes the lock and counts the call: a failure on purpose, a missing cuInit or a sticky error comes back and
// the lock is not held; 0: held.
int api_enter(const char *name, bool needs_init);
int api_leave(int result);
struct api_context *api_current(void);

// work.c
void api_submit(struct api_stream *stream, struct api_work *work);
// Runs until the stream (NULL: every stream) is empty. A stall is a fault.
int api_drain(struct api_stream *stream);
void api_stream_clear(struct api_stream *stream);
int api_mem_result(enum pksim_mem_status status);

#define API_EXPORT __attribute__((visibility("default")))

#endif
