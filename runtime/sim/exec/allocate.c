// SPDX-License-Identifier: Apache-2.0
// Linear scan over intervals of instruction numbers. An interval holds every instruction at which the
// register's value may be needed:
//   - a register mentioned in one basic block only, first as the whole destination of an unguarded
//   instruction, needs its
//     first to its last mention;
//   - any other needs its first to its last mention, and with that all of every loop (a stretch that ends in
//   a branch back
//     to its start) that overlaps: a path can leave a stretch of text and come back to it only through such a
//     branch.
// Lanes that have diverged may use a shared place for different registers; each lane has its own element.
#include "sim/exec/allocate.h"

#include <stdlib.h>
#include <string.h>

#include "sim/ptx/parse.h"

struct interval {
    uint32_t reg, first, last;
    uint32_t block;     // of the first mention
    bool one_block;     // all mentions so far
    bool starts_as_def; // the first mention writes all of it
    bool whole;         // never shares
    bool mentioned;
};

struct loop {
    uint32_t first, last;
};

struct scan {
    struct pksim_decoder *d;
    const struct pksim_ptx_func *f;
    struct interval *intervals; // by register
    uint32_t *block_of;         // by instruction
    struct loop *loops;
    size_t loop_count, loop_capacity;
};

// ---- Blocks and loops
// ----------------------------------------------------------------------------------------------

static uint32_t label_insn(const struct pksim_ptx_func *f, uint32_t label)
{
    while (f->labels[label].alias != UINT32_MAX)
        label = f->labels[label].alias;
    return f->labels[label].insn;
}

static bool base_is(const struct pksim_ptx_insn *insn, const char *base)
{
    size_t length = strlen(base);
    return insn->opcode.length >= length && !memcmp(insn->opcode.text, base, length) &&
           (insn->opcode.length == length || insn->opcode.text[length] == '.');
}

static bool ends_block(const struct pksim_ptx_insn *insn)
{
    return base_is(insn, "bra") || base_is(insn, "brx") || base_is(insn, "ret") || base_is(insn, "exit") ||
           base_is(insn, "call");
}

static bool add_loop(struct scan *s, uint32_t first, uint32_t last)
{
    if (!pksim_arena_grow(&s->d->ptx->arena, (void **)&s->loops, s->loop_count, &s->loop_capacity,
                          sizeof *s->loops))
        return false;
    s->loops[s->loop_count++] = (struct loop){first, last};
    return true;
}

static void note_target(struct scan *s, uint32_t insn, uint32_t label)
{
    uint32_t target = label_insn(s->f, label);
    if (target <= insn)
        add_loop(s, target, insn);
}

static void find_loops(struct scan *s)
{
    for (uint32_t i = 0; i < s->f->insn_count; i++) {
        const struct pksim_ptx_insn *insn = &s->f->insns[i];
        for (uint32_t k = 0; k < insn->count; k++) {
            if (insn->operands[k].kind != PKSIM_OP_LABEL)
                continue;
            uint32_t label = insn->operands[k].id;
            while (s->f->labels[label].alias != UINT32_MAX)
                label = s->f->labels[label].alias;
            const struct pksim_ptx_label *l = &s->f->labels[label];
            for (size_t t = 0; t < l->target_count; t++)
                note_target(s, i, l->targets[t]);
            if (!l->target_count)
                note_target(s, i, label);
        }
    }
}

static void find_blocks(struct scan *s)
{
    uint32_t block = 0;
    // First a mark where a block begins, then numbers.
    for (size_t l = 0; l < s->f->label_count; l++) {
        uint32_t at = label_insn(s->f, (uint32_t)l);
        if (at < s->f->insn_count)
            s->block_of[at] = 1;
    }
    for (uint32_t i = 0; i < s->f->insn_count; i++) {
        bool begins = s->block_of[i] || (i && ends_block(&s->f->insns[i - 1]));
        block += begins;
        s->block_of[i] = block;
    }
}

// ---- Mentions
// ------------------------------------------------------------------------------------------------------

static void mention(struct scan *s, uint32_t insn, uint32_t reg, bool defines, bool whole)
{
    struct interval *v = &s->intervals[reg];
    if (!v->mentioned) {
        *v = (struct interval){.reg = reg,
                               .first = insn,
                               .block = s->block_of[insn],
                               .one_block = true,
                               .starts_as_def = defines,
                               .mentioned = true};
    }
    v->last = insn;
    v->one_block = v->one_block && v->block == s->block_of[insn];
    v->whole = v->whole || whole;
}

static void mention_operand(struct scan *s, uint32_t insn, const struct pksim_operand *operand, bool defines,
                            bool whole)
{
    if (operand->kind == PKSIM_OP_REG)
        mention(s, insn, operand->id, defines, whole);
    bool vector = operand->kind == PKSIM_OP_VECTOR;
    for (uint32_t i = 0; i < operand->count; i++)
        mention_operand(s, insn, &operand->elems[i], defines && vector, whole && vector);
    if (operand->pair)
        mention_operand(s, insn, operand->pair, defines, whole);
}

// Opcodes whose first operand, where it is a register, is read.
static bool reads_first(const struct pksim_ptx_insn *insn)
{
    static const char *const bases[] = {"bar", "barrier", "nanosleep", "brx", "st", "red", "cp", "call"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (base_is(insn, bases[i]))
            return true;
    }
    return false;
}

// Sources first: an instruction may read what it then writes. The accumulators of wgmma are written behind
// its back, as late as the wait for it, so they never share.
static void find_mentions(struct scan *s)
{
    for (uint32_t i = 0; i < s->f->insn_count; i++) {
        const struct pksim_ptx_insn *insn = &s->f->insns[i];
        bool defines = insn->guard == PKSIM_NO_REG && !reads_first(insn);
        bool product = base_is(insn, "wgmma");
        for (uint32_t k = 1; k < insn->count; k++)
            mention_operand(s, i, &insn->operands[k], false, false);
        if (insn->count)
            mention_operand(s, i, &insn->operands[0], defines && !product, product);
    }
}

// ---- Intervals
// -----------------------------------------------------------------------------------------------------

static void extend_over_loops(const struct scan *s, struct interval *v)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t l = 0; l < s->loop_count; l++) {
            const struct loop *loop = &s->loops[l];
            if (loop->first > v->last || loop->last < v->first ||
                (loop->first >= v->first && loop->last <= v->last))
                continue;
            v->first = loop->first < v->first ? loop->first : v->first;
            v->last = loop->last > v->last ? loop->last : v->last;
            changed = true;
        }
    }
}

static int by_first(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

// Keeps those that need a place, with final bounds, in the order of their starts. Returns how many.
static size_t finish_intervals(struct scan *s)
{
    size_t count = 0;
    for (size_t r = 0; r < s->f->reg_count; r++) {
        struct interval v = s->intervals[r];
        if (!v.mentioned || !pksim_reg_bytes(s->f->regs[r].type))
            continue;
        if (v.whole) {
            v.first = 0;
            v.last = (uint32_t)s->f->insn_count;
        } else if (!v.one_block || !v.starts_as_def) {
            extend_over_loops(s, &v);
        }
        s->intervals[count++] = v;
    }
    qsort(s->intervals, count, sizeof *s->intervals, by_first);
    return count;
}

// ---- Places
// --------------------------------------------------------------------------------------------------------

// Places of one size: those in use with the end of their interval, those that are free.
struct pool {
    struct {
        pksim_place_t place;
        uint32_t last;
    } * used;
    size_t used_count, used_capacity;
    pksim_place_t *free;
    size_t free_count, free_capacity;
};

static void release_before(struct pksim_decoder *d, struct pool *pool, uint32_t insn)
{
    for (size_t i = 0; i < pool->used_count;) {
        if (pool->used[i].last >= insn) {
            i++;
            continue;
        }
        if (!pksim_arena_grow(&d->ptx->arena, (void **)&pool->free, pool->free_count, &pool->free_capacity,
                              sizeof *pool->free))
            return;
        pool->free[pool->free_count++] = pool->used[i].place;
        pool->used[i] = pool->used[--pool->used_count];
    }
}

static pksim_place_t take_place(struct pksim_decoder *d, struct pool *pool, uint32_t bytes, uint32_t last)
{
    pksim_place_t place = pool->free_count ? pool->free[--pool->free_count] : pksim_new_place(d, bytes);
    if (pksim_arena_grow(&d->ptx->arena, (void **)&pool->used, pool->used_count, &pool->used_capacity,
                         sizeof *pool->used)) {
        pool->used[pool->used_count].place = place;
        pool->used[pool->used_count++].last = last;
    }
    return place;
}

static void assign(struct scan *s, size_t count)
{
    struct pool pools[5] = {{0}}; // by log2 of the bytes
    for (size_t i = 0; i < count && !s->d->failed; i++) {
        const struct interval *v = &s->intervals[i];
        uint32_t bytes = pksim_reg_bytes(s->f->regs[v->reg].type);
        struct pool *pool = &pools[__builtin_ctz(bytes)];
        release_before(s->d, pool, v->first);
        s->d->func->places[v->reg] = take_place(s->d, pool, bytes, v->last);
    }
}

void pksim_allocate_registers(struct pksim_decoder *d)
{
    struct scan s = {.d = d, .f = d->func->func};
    s.intervals = pksim_decode_alloc(d, (s.f->reg_count + 1) * sizeof *s.intervals);
    s.block_of = pksim_decode_alloc(d, (s.f->insn_count + 1) * sizeof *s.block_of);
    if (!s.intervals || !s.block_of)
        return;
    find_loops(&s);
    find_blocks(&s);
    find_mentions(&s);
    assign(&s, finish_intervals(&s));
}
