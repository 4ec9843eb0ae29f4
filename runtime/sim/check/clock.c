// SPDX-License-Identifier: Apache-2.0
#include "sim/check/clock.h"

#include <stdlib.h>
#include <string.h>

enum { FAN = 16, FAN_LOG2 = 4 };

struct tree {
    uint32_t references, height; // 0: a leaf, of entries
};

struct branch {
    struct tree tree;
    struct tree *child[FAN];
};

struct leaf {
    struct tree tree;
    struct pksim_entry entry[FAN];
};

struct part {
    uint64_t launch;
    struct tree *tree;
    uint32_t height;
    bool whole; // then there is no tree
};

struct pksim_clock {
    uint32_t references, count;
    struct part parts[]; // by launch
};

// ---- Entries
// -------------------------------------------------------------------------------------------------------

static void drop_slot(struct pksim_entry *e, uint32_t i)
{
    e->mask[i] = e->tick[i] = 0;
}

void pksim_entry_add(struct pksim_entry *e, uint32_t mask, uint32_t tick)
{
    if (!mask || tick <= e->all)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        if (!(mask & ~e->mask[i]) && tick <= e->tick[i])
            return;
        if (e->mask[i] && !(e->mask[i] & ~mask) && e->tick[i] <= tick)
            drop_slot(e, i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (e->mask[i] && e->tick[i] != tick)
            continue;
        e->mask[i] |= mask;
        e->tick[i] = tick;
        return;
    }
    uint32_t later = e->tick[1] > e->tick[0];
    e->mask[later] |= mask;
    e->tick[later] = e->tick[later] > tick ? e->tick[later] : tick;
}

bool pksim_entry_knows(const struct pksim_entry *e, uint32_t lanes, uint32_t tick, bool any)
{
    uint32_t known = 0;
    if (tick <= e->all)
        return true;
    for (uint32_t i = 0; i < 2; i++)
        known |= e->tick[i] >= tick ? e->mask[i] : 0;
    return any ? (known & lanes) != 0 : !(lanes & ~known);
}

static void join_entry(struct pksim_entry *to, const struct pksim_entry *from)
{
    if (from->all > to->all)
        to->all = from->all;
    for (uint32_t i = 0; i < 2; i++) {
        if (to->tick[i] <= to->all)
            drop_slot(to, i);
    }
    for (uint32_t i = 0; i < 2; i++)
        pksim_entry_add(to, from->mask[i], from->tick[i]);
}

// ---- Trees
// ---------------------------------------------------------------------------------------------------------

static struct tree *retain_tree(struct tree *tree)
{
    if (tree)
        tree->references++;
    return tree;
}

// Recursion goes as deep as the tree is high: at most 8.
static void release_tree(struct tree *tree)
{
    if (!tree || --tree->references)
        return;
    for (uint32_t i = 0; tree->height && i < FAN; i++)
        release_tree(((struct branch *)tree)->child[i]);
    free(tree);
}

static struct tree *new_tree(uint32_t height, bool *failed)
{
    struct tree *tree = calloc(1, height ? sizeof(struct branch) : sizeof(struct leaf));
    if (!tree) {
        *failed = true;
        return NULL;
    }
    tree->references = 1;
    tree->height = height;
    return tree;
}

static struct tree *join_trees(struct tree *a, struct tree *b, bool *failed);

static struct tree *join_leaves(struct leaf *a, struct leaf *b, bool *failed)
{
    struct leaf *sum = (struct leaf *)new_tree(0, failed);
    if (!sum)
        return retain_tree(&a->tree);
    memcpy(sum->entry, a->entry, sizeof sum->entry);
    for (uint32_t i = 0; i < FAN; i++)
        join_entry(&sum->entry[i], &b->entry[i]);
    struct tree *same = !memcmp(sum->entry, a->entry, sizeof sum->entry)   ? &a->tree
                        : !memcmp(sum->entry, b->entry, sizeof sum->entry) ? &b->tree
                                                                           : NULL;
    if (!same)
        return &sum->tree;
    free(sum);
    return retain_tree(same);
}

static struct tree *join_branches(struct branch *a, struct branch *b, bool *failed)
{
    struct branch *sum = (struct branch *)new_tree(a->tree.height, failed);
    bool is_a = true, is_b = true;
    if (!sum)
        return retain_tree(&a->tree);
    for (uint32_t i = 0; i < FAN; i++) {
        sum->child[i] = join_trees(a->child[i], b->child[i], failed);
        is_a &= sum->child[i] == a->child[i];
        is_b &= sum->child[i] == b->child[i];
    }
    if (!is_a && !is_b)
        return &sum->tree;
    release_tree(&sum->tree);
    return retain_tree(is_a ? &a->tree : &b->tree);
}

// Both have the same height: they are of the same launch.
static struct tree *join_trees(struct tree *a, struct tree *b, bool *failed)
{
    if (!b || a == b)
        return retain_tree(a);
    if (!a)
        return retain_tree(b);
    return a->height ? join_branches((struct branch *)a, (struct branch *)b, failed)
                     : join_leaves((struct leaf *)a, (struct leaf *)b, failed);
}

// A tree that nobody else holds, with the same content; takes over the reference.
static struct tree *own_tree(struct tree *tree, uint32_t height, bool *failed)
{
    if (tree && tree->references == 1)
        return tree;
    struct tree *copy = new_tree(height, failed);
    if (!copy || !tree)
        return copy ? copy : tree;
    if (height) {
        for (uint32_t i = 0; i < FAN; i++)
            ((struct branch *)copy)->child[i] = retain_tree(((struct branch *)tree)->child[i]);
    } else {
        memcpy(((struct leaf *)copy)->entry, ((struct leaf *)tree)->entry,
               sizeof((struct leaf *)copy)->entry);
    }
    release_tree(tree);
    return copy;
}

static struct tree *add_to_tree(struct tree *tree, uint32_t height, uint32_t warp,
                                const struct pksim_entry *entry, bool *failed)
{
    tree = own_tree(tree, height, failed);
    if (*failed)
        return tree;
    if (!height) {
        join_entry(&((struct leaf *)tree)->entry[warp % FAN], entry);
        return tree;
    }
    struct tree **child = &((struct branch *)tree)->child[warp >> (FAN_LOG2 * height) & (FAN - 1)];
    *child = add_to_tree(*child, height - 1, warp, entry, failed);
    return tree;
}

uint32_t pksim_clock_height(uint64_t warps)
{
    uint32_t height = 0;
    while (warps > (uint64_t)1 << FAN_LOG2 * (height + 1))
        height++;
    return height;
}

// ---- Clocks
// --------------------------------------------------------------------------------------------------------

struct pksim_clock *pksim_clock_retain(struct pksim_clock *clock)
{
    if (clock)
        clock->references++;
    return clock;
}

void pksim_clock_release(struct pksim_clock *clock)
{
    if (!clock || --clock->references)
        return;
    for (uint32_t i = 0; i < clock->count; i++)
        release_tree(clock->parts[i].tree);
    free(clock);
}

static struct pksim_clock *new_clock(uint32_t room, bool *failed)
{
    struct pksim_clock *clock = malloc(sizeof *clock + room * sizeof *clock->parts);
    if (!clock) {
        *failed = true;
        return NULL;
    }
    clock->references = 1;
    clock->count = 0;
    return clock;
}

static struct part join_parts(const struct part *a, const struct part *b, bool *failed)
{
    struct part sum = *a;
    sum.whole = a->whole || b->whole;
    sum.tree = sum.whole ? NULL : join_trees(a->tree, b->tree, failed);
    return sum;
}

static struct part retain_part(const struct part *part)
{
    struct part copy = *part;
    retain_tree(copy.tree);
    return copy;
}

static bool same_parts(const struct pksim_clock *a, const struct pksim_clock *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->parts[i].launch != b->parts[i].launch || a->parts[i].tree != b->parts[i].tree ||
            a->parts[i].whole != b->parts[i].whole)
            return false;
    return true;
}

struct pksim_clock *pksim_clock_join(struct pksim_clock *a, struct pksim_clock *b, uint64_t horizon,
                                     uint64_t without, bool *failed)
{
    uint32_t a_count = a ? a->count : 0, b_count = b ? b->count : 0;
    if (!b || a == b)
        return pksim_clock_retain(a);
    if (!a && !without)
        return pksim_clock_retain(b);
    struct pksim_clock *sum = new_clock(a_count + b_count, failed);
    if (!sum)
        return pksim_clock_retain(a);
    for (uint32_t i = 0, k = 0; i < a_count || k < b_count;) {
        const struct part *x = i < a_count ? &a->parts[i] : NULL, *y = k < b_count ? &b->parts[k] : NULL;
        bool take_x = x && (!y || x->launch <= y->launch), take_y = y && (!x || y->launch <= x->launch);
        i += take_x;
        k += take_y;
        uint64_t launch = (take_x ? x : y)->launch;
        if (launch < horizon || launch == without)
            continue;
        sum->parts[sum->count++] = take_x && take_y ? join_parts(x, y, failed) : retain_part(take_x ? x : y);
    }
    struct pksim_clock *same = a && same_parts(sum, a) ? a : same_parts(sum, b) ? b : NULL;
    if (!same)
        return sum;
    pksim_clock_release(sum);
    return pksim_clock_retain(same);
}

// A clock that nobody else holds and that has a part for `launch`, which goes to *part.
static struct pksim_clock *own_part(struct pksim_clock *clock, uint64_t launch, struct part **part,
                                    bool *failed)
{
    uint32_t count = clock ? clock->count : 0, at = 0;
    while (at < count && clock->parts[at].launch < launch)
        at++;
    bool has = at < count && clock->parts[at].launch == launch;
    *part = has ? &clock->parts[at] : NULL;
    if (has && clock->references == 1)
        return clock;
    struct pksim_clock *copy = new_clock(count + 1, failed);
    if (!copy)
        return clock;
    for (uint32_t i = 0; i < at; i++)
        copy->parts[copy->count++] = retain_part(&clock->parts[i]);
    copy->parts[copy->count++] = has ? retain_part(&clock->parts[at]) : (struct part){.launch = launch};
    for (uint32_t i = at + has; i < count; i++)
        copy->parts[copy->count++] = retain_part(&clock->parts[i]);
    pksim_clock_release(clock);
    *part = &copy->parts[at];
    return copy;
}

struct pksim_clock *pksim_clock_add(struct pksim_clock *clock, uint64_t launch, uint32_t height,
                                    uint32_t warp, const struct pksim_entry *entry, bool *failed)
{
    struct part *part;
    clock = own_part(clock, launch, &part, failed);
    if (*failed || part->whole)
        return clock;
    part->height = height;
    part->tree = add_to_tree(part->tree, height, warp, entry, failed);
    return clock;
}

struct pksim_clock *pksim_clock_whole(struct pksim_clock *clock, uint64_t launch, bool *failed)
{
    struct part *part;
    clock = own_part(clock, launch, &part, failed);
    if (*failed)
        return clock;
    release_tree(part->tree);
    part->tree = NULL;
    part->whole = true;
    return clock;
}

const struct pksim_entry *pksim_clock_find(const struct pksim_clock *clock, uint64_t launch, uint32_t warp,
                                           bool *whole)
{
    *whole = false;
    for (uint32_t i = 0; clock && i < clock->count; i++) {
        const struct part *part = &clock->parts[i];
        if (part->launch != launch)
            continue;
        *whole = part->whole;
        const struct tree *tree = part->tree;
        for (uint32_t h = part->height; tree && h; h--)
            tree = ((const struct branch *)tree)->child[warp >> (FAN_LOG2 * h) & (FAN - 1)];
        return tree ? &((const struct leaf *)tree)->entry[warp % FAN] : NULL;
    }
    return NULL;
}
