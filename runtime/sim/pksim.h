// SPDX-License-Identifier: Apache-2.0
// What libpksim has beyond the CUDA driver API.
#ifndef PKSIM_PKSIM_H
#define PKSIM_PKSIM_H

#ifdef __cplusplus
extern "C" {
#endif

#define PKSIM_API __attribute__((visibility("default")))

/// Copies what was wrong with the kernel that failed last: the place in the .pk file, who waits for what,
/// what was read where. Returns the length as snprintf does; 0 where nothing failed.
PKSIM_API int pksimLastReport(char *text, __SIZE_TYPE__ size);
/// The same as a JSON object: kind, words, kernel, device, cta, warp, lane, ptx_line, file, line, column,
/// text.
PKSIM_API int pksimLastReportJson(char *text, __SIZE_TYPE__ size);

/// Makes the nth call from now (counted from 1) of the named function (as libcuda exports it,
/// "cuMemAlloc_v2"), or of any with NULL, return `code` (a CUresult) without doing anything. nth 0 takes that
/// back. NULL leaves out calls that give something back, and those that only look up an error's name or an
/// entry point. A call that gives something back, failed by its name, still gives it back, as drivers do. The
/// environment variable PKSIM_FAIL=NAME:NTH:CODE (* for any) does the same from cuInit on.
PKSIM_API void pksimFailCall(const char *name, unsigned long long nth, int code);
/// Calls counted since pksimFailCall.
PKSIM_API unsigned long long pksimCalls(void);

/// What the program holds of the driver, so that a test can show that nothing leaks. What went with a context
/// that was given up before it counts for ever: it was forgotten.
struct pksim_resources {
    unsigned long long memory, modules, streams, events, contexts, graphs;
};
PKSIM_API void pksimLiveResources(struct pksim_resources *out);

#ifdef __cplusplus
}
#endif

#endif
