// SPDX-License-Identifier: Apache-2.0
// Inside of the race detector.
#ifndef PKSIM_CHECK_INSIDE_H
#define PKSIM_CHECK_INSIDE_H

#include "sim/check/check.h"
#include "sim/check/clock.h"
#include "sim/exec/lanes.h"

// ---- What is known

enum {            // clocks of a knowledge
    CLOCK_ORDER,  // what happens before
    CLOCK_SHARED, // of that, what asynchronous work on shared memory sees
    CLOCK_GLOBAL, // the same, on global memory
    CLOCK_ALIAS,  // and what is seen through other addresses of the same memory
    CLOCK_ANY,    // what would be before if every order and scope were strong enough
    CLOCKS
};

struct knowledge {
    struct pksim_clock *clock[CLOCKS];
};

// What one lane, or all of a warp's, know.
struct view {
    struct knowledge now;
    struct knowledge released[PKSIM_SCOPE_SYS + 1]; // at the last fence of that scope or a wider one
    struct knowledge pending[PKSIM_SCOPE_SYS + 1];  // seen by relaxed reads, until a fence of that scope
    uint32_t fenced[CLOCKS]; // SHARED, GLOBAL, ALIAS: tick of the lane's own last fence
};

// ---- Launches

// Of a launch, for as long as something of it may be named.
struct pksim_check_launch {
    uint32_t references;
    uint64_t number;
    uint32_t device, height;
    bool claimed;          // what it came to was asked for
    bool running, retired; // retired: before everything that runs
    struct pksim_check *check;
    struct knowledge start; // what lies before it
    struct knowledge end;   // and what its warps knew when they ended
    char kernel[64];
    char **files; // of .loc
    uint32_t file_count;
    struct pksim_check_launch *next;
};

// ---- Operations: accesses of one instruction of one lane or one warp, and what has ended of them.

struct observation {
    struct pksim_check_launch *launch;
    uint32_t warp, lanes, tick;
};

// The end of a phase of an mbarrier, or of groups that were waited for; also what its arrivals released.
struct happening {
    uint32_t references, count, capacity;
    struct observation *seen; // who has waited for it, since when
    struct knowledge released;
};

enum operation_kind {
#define OPERATION(id, words) OPERATION_##id,
#include "sim/check/operation.def"
};

enum { END_READ, END_WRITE, ENDS };

struct pksim_operation {
    uint32_t references;
    enum operation_kind kind;
    struct pksim_check_launch *launch;
    uint32_t warp; // in the launch
    uint32_t index, lanes, tick;
    uint32_t ctaid[3];
    uint32_t ptx_line, file, line, column;
    bool asynchronous;
    struct happening *ends[ENDS];      // NULL: not ended
    struct pksim_operation *parts[16]; // of a multicast load: one a destination
    uint32_t part_count;
};

// ---- Warps

struct bulk {
    struct pksim_operation *operation;
    uint32_t group;
    bool read; // waited for
};

struct pksim_check_lane {
    struct view *view; // NULL: the warp's
    uint32_t group;    // that is open
    struct {           // the last ordering read, to which polling comes back
        const unsigned char *at;
        uint64_t version, before; // now, and when it was read last
        uint32_t tick, line;
    } poll;
    struct bulk *bulks;
    uint32_t count, capacity;
};

struct pksim_check_warp {
    struct pksim_check_launch *launch;
    uint32_t number; // in the launch
    uint32_t tick;
    struct view view;
    uint32_t synced[CLOCKS]; // accesses of all lanes until then are so known to all lanes
    struct pksim_check_lane lanes[PKSIM_LANES];
    struct bulk *products; // wgmma
    uint32_t product_count, product_capacity, group;
};

// An mbarrier.
struct phase {
    uint32_t offset;
    struct happening *open, *last;
    struct phase *next;
};

struct pksim_check_cta {
    uint64_t number;
    struct knowledge barrier[PKSIM_NAMED_BARRIERS];        // of the phase that is open
    struct knowledge barrier_passed[PKSIM_NAMED_BARRIERS]; // of the last one
    struct phase *phases;
};

struct pksim_check_cluster {
    uint64_t number;
    struct knowledge open, last;
};

// ---- Words that order

// What was published at a word by those of one device, cluster or CTA, for those that the scope includes.
struct publication {
    enum pksim_scope scope;
    uint64_t who, version;
    struct knowledge known;
    struct publication *next;
};

struct word {
    const unsigned char *at;
    uint64_t version; // of what is published
    struct publication *publications;
    struct word *next;
};

enum { WORD_BUCKETS = 4096 };

// ---- Cells

enum { CELL = 16, PAGE_LOG2 = 14, PAGE_CELLS = (1 << PAGE_LOG2) / CELL, MEMO = 64 };

enum { // of an access
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_ATOMIC = 4, // relaxed or stronger
    ACCESS_ADD = 8,    // an addition of a bulk copy
    ACCESS_ALIAS = 16, // through a multicast address
    ACCESS_MBARRIER = 32
};

struct access {
    struct pksim_operation *operation;
    uint16_t bytes; // of the cell
    uint8_t flags, scope;
};

struct cell_state {
    uint32_t references; // cells, and the memo
    uint32_t count;
    struct access *accesses;
    uint32_t next_free;
};

struct cell_page {
    uint64_t number; // host address >> PAGE_LOG2
    uint32_t *cells;
};

struct cells {
    struct cell_page *pages; // a hash table
    uint32_t page_count, page_capacity;
    struct cell_page *last;
    struct cell_state *states; // [0] is the empty one
    uint32_t state_count, state_capacity, free_state;
    uint64_t live_states, live_accesses;
};

// An access to a stretch of memory, on its way into the cells.
struct stroke {
    struct pksim_warp *warp;
    uint32_t lanes;
    struct access access;      // bytes: of the cell at hand
    bool shared;               // in shared memory
    const unsigned char *host; // of the access, and the address that the program used
    uint64_t address, size;
    const struct pksim_cta *cta; // whose shared memory
    const struct pksim_tensor_map *map;
    struct {
        uint32_t from, to;
        uint16_t bytes;
    } memo[MEMO];
};

struct pksim_check {
    bool failed; // out of memory: nothing is checked any more
    uint64_t next_launch, next_cta, horizon, versions;
    struct pksim_check_launch *launches; // not retired, newest first
    struct cells cells;
    struct word *words[WORD_BUCKETS];
};

// ---- view.c
void pksim_knowledge_join(struct pksim_check *check, struct knowledge *to, const struct knowledge *from);
void pksim_knowledge_copy(struct knowledge *to, const struct knowledge *from);
void pksim_knowledge_drop(struct knowledge *known);
void pksim_view_drop(struct view *view);
// The view of a lane for reading, or one that is the lane's own.
const struct view *pksim_lane_view(const struct pksim_check_warp *w, uint32_t lane);
struct view *pksim_own_view(struct pksim_check *check, struct pksim_check_warp *w, uint32_t lane);
// What the lanes know, and that everybody who joins it knows them up to now.
void pksim_publish(struct pksim_warp *warp, uint32_t lanes, struct knowledge *out);
void pksim_acquire(struct pksim_warp *warp, uint32_t lanes, const struct knowledge *known);
// All lanes know what any of them knew.
void pksim_sync_lanes(struct pksim_warp *warp);
// `lanes` of a warp, all of them or any one, up to `tick`: which lanes of the stroke know them by that clock,
// and do all?
uint32_t pksim_who_knows(const struct stroke *stroke, uint32_t clock, const struct observation *what,
                         bool any);
bool pksim_knows(const struct stroke *stroke, uint32_t clock, const struct observation *what, bool any);

// ---- happen.c
struct happening *pksim_happening_new(struct pksim_check *check);
struct happening *pksim_happening_retain(struct happening *happening);
void pksim_happening_release(struct happening *happening);
// The lanes of the warp have waited for it.
void pksim_happening_see(struct pksim_warp *warp, uint32_t lanes, struct happening *happening);
struct pksim_operation *pksim_operation_new(struct pksim_warp *warp, uint32_t lanes, enum operation_kind kind,
                                            bool asynchronous);
struct pksim_operation *pksim_operation_retain(struct pksim_operation *operation);
void pksim_operation_release(struct pksim_operation *operation);
void pksim_check_launch_release(struct pksim_check_launch *launch);
struct phase *pksim_phase_of(struct pksim_check *check, struct pksim_cta *cta, uint32_t offset);

// ---- word.c
void pksim_word_read(struct pksim_warp *warp, uint32_t lane, const unsigned char *at,
                     struct pksim_access_kind kind);
void pksim_word_write(struct pksim_warp *warp, uint32_t lane, const unsigned char *at,
                      struct pksim_access_kind kind, bool rmw);
// How a lane comes to a word that it reads with an order.
enum poll {
    POLL_FIRST,
    POLL_AGAIN, // with the same instruction, having done nothing since; something was published meanwhile
    POLL_SAME   // nothing was
};
enum poll pksim_word_poll(struct pksim_warp *warp, uint32_t lane, const unsigned char *at);
void pksim_words_gone(struct pksim_check *check, const unsigned char *host, uint64_t size);

// ---- cells.c
// Enters stroke->access into [host, host + size).
void pksim_cells_touch(struct stroke *stroke, const unsigned char *host, uint64_t size);
// The stroke is over: its memo no longer holds states.
void pksim_cells_finish(struct stroke *stroke);
void pksim_cells_gone(struct pksim_check *check, const unsigned char *host, uint64_t size);
void pksim_cells_free(struct pksim_check *check);

// ---- race.c
// The accesses of `state` after stroke->access; false: an error, and out is not to be used. *out is owned
// by the caller.
bool pksim_race_next(struct stroke *stroke, const struct cell_state *state, uint64_t cell,
                     struct access **out, uint32_t *count);

// ---- report.c
enum missing {
#define MISSING(id, code, words, remedy) MISSING_##id,
#include "sim/check/missing.def"
};
void pksim_race_report(struct stroke *stroke, const struct access *before, uint64_t cell,
                       enum missing missing);

#endif
