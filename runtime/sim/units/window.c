// SPDX-License-Identifier: Apache-2.0
#include "sim/units/window.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool pksim_unit_fail(struct pksim_unit_error *error, enum pksim_unit_fault kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->kind = kind;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool global_fault(struct pksim_unit_error *error)
{
    error->kind = PKSIM_UNIT_GLOBAL;
    pksim_mem_fault_format(&error->mem, error->text, sizeof error->text);
    return false;
}

static bool covers(const struct window *window, uint64_t addr, uint32_t access)
{
    for (uint32_t i = 0; i < window->count; i++)
        if (!pksim_span_at(&window->spans[i], addr, 1, access))
            return false;
    return window->count > 0;
}

// Makes the window cover addr; *piece gets how many of `bytes` it covers from there.
static bool seek(const struct pksim_copy_site *site, struct window *window, uint64_t addr, uint32_t bytes,
                 uint32_t access, uint32_t *piece, struct pksim_unit_error *error)
{
    if (!covers(window, addr, access)) {
        bool found;
        window->count = 0;
        // Loads through a multicast address have no meaning: they fail in resolve.
        if (access == PKSIM_WRITE && pksim_mem_is_multicast(site->mem, addr))
            found = pksim_mem_multicast(site->mem, site->device, addr, 1, 1, access, window->spans,
                                        &window->count, &error->mem);
        else
            found =
                pksim_mem_resolve(site->mem, site->device, addr, 1, 1, access, window->spans, &error->mem);
        if (!found) {
            window->count = 0;
            error->mem.size = bytes;
            return global_fault(error);
        }
        window->count += window->count == 0;
    }
    uint64_t least = bytes;
    for (uint32_t i = 0; i < window->count; i++) {
        uint64_t left = window->spans[i].size - (addr - window->spans[i].base);
        least = left < least ? left : least;
    }
    *piece = (uint32_t)least;
    return true;
}

bool pksim_window_read(const struct pksim_copy_site *site, struct window *window, uint64_t addr,
                       uint32_t bytes, void *to, struct pksim_unit_error *error)
{
    unsigned char *target = to;
    uint32_t piece;
    for (; bytes > 0; bytes -= piece, addr += piece, target += piece) {
        if (!seek(site, window, addr, bytes, PKSIM_READ, &piece, error))
            return false;
        const struct pksim_span *span = &window->spans[0];
        uint64_t offset = addr - span->base;
        if (site->check_written && span->shadow && !pksim_shadow_written(span->shadow, offset, piece)) {
            uint64_t at = pksim_shadow_find_unwritten(span->shadow, offset, piece);
            pksim_mem_unwritten(site->mem, site->device, addr + at, piece - at, &error->mem);
            return global_fault(error);
        }
        memcpy(target, span->host + offset, piece);
    }
    return true;
}

static void mark(const struct pksim_span *span, uint64_t offset, uint32_t bytes)
{
    if (span->shadow)
        pksim_shadow_mark(span->shadow, offset, bytes);
}

bool pksim_window_write(const struct pksim_copy_site *site, struct window *window, uint64_t addr,
                        uint32_t bytes, const void *from, struct pksim_unit_error *error)
{
    const unsigned char *source = from;
    uint32_t piece;
    for (; bytes > 0; bytes -= piece, addr += piece, source += piece) {
        if (!seek(site, window, addr, bytes, PKSIM_WRITE, &piece, error))
            return false;
        for (uint32_t i = 0; i < window->count; i++) {
            const struct pksim_span *span = &window->spans[i];
            memcpy(span->host + (addr - span->base), source, piece);
            mark(span, addr - span->base, piece);
        }
    }
    return true;
}

// A reduction reads what it writes, so that must have been written before.
static bool reduce_piece(const struct pksim_copy_site *site, const struct pksim_span *span, uint64_t addr,
                         uint32_t piece, const void *from, enum pksim_reduce op, enum pksim_number type,
                         struct pksim_unit_error *error)
{
    uint64_t offset = addr - span->base;
    if (site->check_written && span->shadow && !pksim_shadow_written(span->shadow, offset, piece)) {
        uint64_t at = pksim_shadow_find_unwritten(span->shadow, offset, piece);
        pksim_mem_unwritten(site->mem, site->device, addr + at, piece - at, &error->mem);
        return global_fault(error);
    }
    pksim_reduce_apply(op, type, span->host + offset, from, piece / pksim_number_bytes(type));
    mark(span, offset, piece);
    return true;
}

bool pksim_window_reduce(const struct pksim_copy_site *site, struct window *window, uint64_t addr,
                         uint32_t bytes, const void *from, enum pksim_reduce op, enum pksim_number type,
                         struct pksim_unit_error *error)
{
    const unsigned char *source = from;
    uint32_t piece;
    for (; bytes > 0; bytes -= piece, addr += piece, source += piece) {
        if (!seek(site, window, addr, bytes, PKSIM_WRITE, &piece, error))
            return false;
        uint32_t whole = piece - piece % pksim_number_bytes(type);
        if (whole == 0) // an element that ends outside
            return pksim_unit_fail(error, PKSIM_UNIT_OPERAND, "an element lies across the end of a mapping");
        piece = whole;
        for (uint32_t i = 0; i < window->count; i++)
            if (!reduce_piece(site, &window->spans[i], addr, piece, source, op, type, error))
                return false;
    }
    return true;
}

bool pksim_unit_shared(const struct pksim_shared *shared, uint32_t offset, uint32_t bytes, uint32_t align,
                       const char *what, struct pksim_unit_error *error)
{
    if (!pksim_shared_inside(shared, offset, bytes))
        return pksim_unit_fail(error, PKSIM_UNIT_SHARED,
                               "%s: %u bytes at shared address 0x%x, but the CTA has %u bytes", what, bytes,
                               offset, shared->size);
    if (offset % align != 0)
        return pksim_unit_fail(error, PKSIM_UNIT_SHARED, "%s: shared address 0x%x is no multiple of %u", what,
                               offset, align);
    return true;
}

bool pksim_unit_written(const struct pksim_shared *shared, uint32_t offset, uint32_t bytes, const char *what,
                        struct pksim_unit_error *error)
{
    if (pksim_shared_written(shared, offset, bytes))
        return true;
    size_t at = pksim_shadow_find_unwritten(shared->shadow, offset, bytes);
    return pksim_unit_fail(error, PKSIM_UNIT_UNWRITTEN,
                           "%s reads shared address 0x%x, which was never written", what,
                           offset + (uint32_t)at);
}
