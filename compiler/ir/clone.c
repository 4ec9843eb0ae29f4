// SPDX-License-Identifier: Apache-2.0
// Deep copies and walks of the region tree.
#include <stdint.h>

#include "ir/ir.h"

/// Open addressing, keyed by address; grows at two thirds.
struct ir_map {
    pkc_arena *arena;
    const ir_value **from;
    ir_value **to;
    size_t cap, len;
};

enum { MAP_START = 64 };

static size_t probe(const ir_map *map, const ir_value *key)
{
    size_t mask = map->cap - 1;
    size_t i = (size_t)(((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (map->from[i] && map->from[i] != key)
        i = (i + 1) & mask;
    return i;
}

static void map_reserve(ir_map *map, size_t cap)
{
    ir_map old = *map;
    map->cap = cap;
    map->from = PKC_NEW_ARRAY(map->arena, const ir_value *, cap);
    map->to = PKC_NEW_ARRAY(map->arena, ir_value *, cap);
    for (size_t i = 0; i < old.cap; i++)
        if (old.from[i]) {
            size_t at = probe(map, old.from[i]);
            map->from[at] = old.from[i];
            map->to[at] = old.to[i];
        }
}

ir_map *ir_map_new(pkc_arena *arena)
{
    ir_map *map = PKC_NEW(arena, ir_map);
    map->arena = arena;
    map_reserve(map, MAP_START);
    return map;
}

void ir_map_set(ir_map *map, const ir_value *from, ir_value *to)
{
    if (map->len * 3 > map->cap * 2)
        map_reserve(map, map->cap * 2);
    size_t i = probe(map, from);
    map->len += !map->from[i];
    map->from[i] = from;
    map->to[i] = to;
}

ir_value *ir_map_get(const ir_map *map, const ir_value *from)
{
    size_t i = probe(map, from);
    return map->from[i] ? map->to[i] : (ir_value *)from;
}

static void clone_into(ir_kernel *k, const ir_region *from, ir_region *to, ir_map *map)
{
    to->n_args = from->n_args;
    to->args = PKC_NEW_ARRAY(k->arena, ir_value, from->n_args ? from->n_args : 1);
    for (int i = 0; i < from->n_args; i++) {
        const ir_value *a = &from->args[i];
        to->args[i] = (ir_value){.type = a->type, .owner = to, .index = a->index, .name = a->name};
        ir_map_set(map, a, &to->args[i]);
    }
    ir_builder b = {.kernel = k, .region = to};
    for (const ir_op *op = from->first; op; op = op->next)
        ir_clone_op(&b, op, map);
}

ir_op *ir_clone_op(ir_builder *b, const ir_op *op, ir_map *map)
{
    pkc_span pos = b->pos;
    b->pos = op->pos;
    ir_op *copy = ir_build(b, op->kind, op->sub, op->n_in, NULL, op->n_out, NULL, op->n_reg);
    b->pos = pos;
    copy->attr = op->attr;
    for (int i = 0; i < op->n_in; i++)
        ir_set_in(copy, i, ir_map_get(map, op->in[i].value));
    for (int r = 0; r < op->n_reg; r++)
        clone_into(b->kernel, &op->reg[r], &copy->reg[r], map);
    for (int i = 0; i < op->n_out; i++) {
        copy->out[i].type = op->out[i].type;
        copy->out[i].name = op->out[i].name;
        ir_map_set(map, &op->out[i], &copy->out[i]);
    }
    return copy;
}

ir_region *ir_clone_region(ir_kernel *k, const ir_region *region, ir_map *map)
{
    ir_region *copy = PKC_NEW(k->arena, ir_region);
    clone_into(k, region, copy, map);
    return copy;
}

void ir_walk(ir_region *region, ir_visit pre, ir_visit post, void *user)
{
    for (ir_op *op = region->first, *next; op; op = next) {
        next = op->next;
        bool inside = !pre || pre(op, user);
        for (int r = 0; inside && r < op->n_reg; r++)
            ir_walk(&op->reg[r], pre, post, user);
        if (post)
            post(op, user);
    }
}

bool ir_inside(const ir_op *op, const ir_region *region)
{
    for (const ir_region *r = op->parent; r; r = r->owner ? r->owner->parent : NULL)
        if (r == region)
            return true;
    return false;
}
