// SPDX-License-Identifier: Apache-2.0
// The shadow: cells of 16 bytes, each with the number of a state. States are immutable and counted; a stroke
// remembers which state each became, so that a tile that was touched alike costs one look at the rule.
#include <stdlib.h>
#include <string.h>

#include "sim/check/inside.h"

// ---- States
// --------------------------------------------------------------------------------------------------------

static void free_accesses(struct access *accesses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        pksim_operation_release(accesses[i].operation);
    free(accesses);
}

static void release_state(struct cells *cells, uint32_t id)
{
    struct cell_state *state = &cells->states[id];
    if (!id || --state->references)
        return;
    cells->live_states--;
    cells->live_accesses -= state->count;
    free_accesses(state->accesses, state->count);
    state->accesses = NULL;
    state->count = 0;
    state->next_free = cells->free_state;
    cells->free_state = id;
}

static uint32_t new_state(struct pksim_check *check, struct access *accesses, uint32_t count)
{
    struct cells *cells = &check->cells;
    uint32_t id = cells->free_state;
    if (id) {
        cells->free_state = cells->states[id].next_free;
    } else {
        if (cells->state_count == cells->state_capacity) {
            uint32_t more = cells->state_capacity ? cells->state_capacity * 2 : 1024;
            struct cell_state *states = realloc(cells->states, more * sizeof *states);
            if (!states) {
                check->failed = true;
                free_accesses(accesses, count);
                return 0;
            }
            if (!cells->state_count)
                states[cells->state_count++] = (struct cell_state){0};
            cells->states = states;
            cells->state_capacity = more;
        }
        id = cells->state_count++;
    }
    cells->states[id] = (struct cell_state){.count = count, .accesses = accesses};
    cells->live_states++;
    cells->live_accesses += count;
    return id;
}

// ---- Pages
// ---------------------------------------------------------------------------------------------------------

static uint32_t page_slot(const struct cells *cells, uint64_t number)
{
    uint32_t at = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 40) & (cells->page_capacity - 1);
    while (cells->pages[at].cells && cells->pages[at].number != number)
        at = (at + 1) & (cells->page_capacity - 1);
    return at;
}

static bool grow_pages(struct cells *cells)
{
    struct cells old = *cells;
    cells->page_capacity = old.page_capacity ? old.page_capacity * 2 : 256;
    cells->pages = calloc(cells->page_capacity, sizeof *cells->pages);
    cells->last = NULL;
    if (!cells->pages) {
        *cells = old;
        return false;
    }
    for (uint32_t i = 0; i < old.page_capacity; i++)
        if (old.pages[i].cells)
            cells->pages[page_slot(cells, old.pages[i].number)] = old.pages[i];
    free(old.pages);
    return true;
}

static uint32_t *page_cells(struct pksim_check *check, uint64_t number)
{
    struct cells *cells = &check->cells;
    if (cells->last && cells->last->number == number)
        return cells->last->cells;
    if (cells->page_count * 2 >= cells->page_capacity && !grow_pages(cells)) {
        check->failed = true;
        return NULL;
    }
    struct cell_page *page = &cells->pages[page_slot(cells, number)];
    if (!page->cells) {
        page->cells = calloc(PAGE_CELLS, sizeof *page->cells);
        if (!page->cells) {
            check->failed = true;
            return NULL;
        }
        page->number = number;
        cells->page_count++;
    }
    cells->last = page;
    return page->cells;
}

// Without taking the page out: it may be used again, and the table needs no tombstones.
static void clear_cells(struct cells *cells, const struct cell_page *page, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (page->cells[i])
            release_state(cells, page->cells[i]);
        page->cells[i] = 0;
    }
}

// What of [from, to) lies in the page.
static void clear_part(struct cells *cells, const struct cell_page *page, uint64_t from, uint64_t to)
{
    const uint64_t bytes = (uint64_t)1 << PAGE_LOG2;
    uint64_t start = page->number << PAGE_LOG2, low = from > start ? from - start : 0;
    if (!page->cells || to <= start || low >= bytes)
        return;
    uint64_t high = to - start < bytes ? to - start : bytes;
    clear_cells(cells, page, (uint32_t)low / CELL, (uint32_t)(high + CELL - 1) / CELL);
}

void pksim_cells_gone(struct pksim_check *check, const unsigned char *host, uint64_t size)
{
    struct cells *cells = &check->cells;
    uint64_t from = (uintptr_t)host, to = from + size, first = from >> PAGE_LOG2;
    if (!size || !cells->page_count)
        return;
    if ((size >> PAGE_LOG2) < cells->page_capacity) {
        for (uint64_t n = first; n <= (to - 1) >> PAGE_LOG2; n++)
            clear_part(cells, &cells->pages[page_slot(cells, n)], from, to);
        return;
    }
    for (uint32_t i = 0; i < cells->page_capacity; i++)
        clear_part(cells, &cells->pages[i], from, to);
}

void pksim_cells_free(struct pksim_check *check)
{
    struct cells *cells = &check->cells;
    for (uint32_t i = 0; i < cells->page_capacity; i++) {
        if (!cells->pages[i].cells)
            continue;
        clear_cells(cells, &cells->pages[i], 0, PAGE_CELLS);
        free(cells->pages[i].cells);
    }
    free(cells->pages);
    free(cells->states);
    *cells = (struct cells){0};
}

// ---- Strokes
// -------------------------------------------------------------------------------------------------------

static uint32_t next_state(struct stroke *s, uint32_t id, uint64_t cell)
{
    struct pksim_check *check = s->warp->check->launch->check;
    struct access *accesses;
    uint32_t count;
    static const struct cell_state empty = {0};
    // The rule reads the state only; it is still there, as a cell holds it.
    const struct cell_state *state = id ? &check->cells.states[id] : &empty;
    if (!pksim_race_next(s, state, cell, &accesses, &count))
        return 0;
    return new_state(check, accesses, count);
}

// What a cell of state `id` becomes, by way of the memo.
static uint32_t step(struct stroke *s, uint32_t id, uint16_t bytes, uint64_t cell)
{
    struct cells *cells = &s->warp->check->launch->check->cells;
    uint32_t at = (id ^ bytes) % MEMO;
    if (s->memo[at].to && s->memo[at].from == id && s->memo[at].bytes == bytes)
        return s->memo[at].to;
    s->access.bytes = bytes;
    uint32_t to = next_state(s, id, cell);
    if (!to)
        return 0;
    if (s->memo[at].to) {
        release_state(cells, s->memo[at].from);
        release_state(cells, s->memo[at].to);
    }
    cells->states[id].references++;
    cells->states[to].references++;
    s->memo[at].from = id;
    s->memo[at].to = to;
    s->memo[at].bytes = bytes;
    return to;
}

static bool touch_cell(struct stroke *s, uint32_t *cell, uint16_t bytes, uint64_t number)
{
    struct pksim_check *check = s->warp->check->launch->check;
    uint32_t to = step(s, *cell, bytes, number);
    if (!to || check->failed)
        return false;
    check->cells.states[to].references++;
    release_state(&check->cells, *cell);
    *cell = to;
    return true;
}

void pksim_cells_touch(struct stroke *s, const unsigned char *host, uint64_t size)
{
    struct pksim_check *check = s->warp->check->launch->check;
    uint64_t at = (uintptr_t)host, end = at + size;
    while (at < end && !check->failed && !s->warp->exec->faulted) {
        uint64_t number = at / CELL, low = at % CELL, high = end - number * CELL;
        high = high < CELL ? high : CELL;
        uint16_t bytes = (uint16_t)((1u << high) - (1u << low));
        uint32_t *cells = page_cells(check, at >> PAGE_LOG2);
        if (!cells || !touch_cell(s, &cells[number % PAGE_CELLS], bytes, number))
            return;
        at = (number + 1) * CELL;
    }
}

void pksim_cells_finish(struct stroke *s)
{
    struct cells *cells = &s->warp->check->launch->check->cells;
    for (uint32_t i = 0; i < MEMO; i++) {
        if (!s->memo[i].to)
            continue;
        release_state(cells, s->memo[i].from);
        release_state(cells, s->memo[i].to);
        s->memo[i].to = 0;
    }
}
