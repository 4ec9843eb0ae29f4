// SPDX-License-Identifier: Apache-2.0
// The declarations of a kernel in the text form.
#include "ir/text.h"

#include <inttypes.h>
#include <stddef.h>

#define MEMBER(type, name, kind, normal)                                                                     \
    {                                                                                                        \
#name, offsetof(type, name), IR_MEMBER_##kind, normal                                                \
    }
#define END                                                                                                  \
    {                                                                                                        \
        NULL, 0, IR_MEMBER_INT, 0                                                                            \
    }

const ir_member ir_pipe_members[] = {
    MEMBER(ir_pipe, slot_bytes, INT64, 0),
    MEMBER(ir_pipe, offset, INT64, 0),
    MEMBER(ir_pipe, full_bar, INT64, 0),
    MEMBER(ir_pipe, free_bar, INT64, 0),
    MEMBER(ir_pipe, full_count, INT32, 0),
    MEMBER(ir_pipe, free_count, INT32, 0),
    END,
};
const ir_member ir_role_members[] = {
    MEMBER(ir_role, thin, BOOL, 0),        MEMBER(ir_role, peers, BOOL, 0),
    MEMBER(ir_role, first_warp, INT, 0),   MEMBER(ir_role, warps, INT, 0),
    MEMBER(ir_role, regs, INT, 0),         MEMBER(ir_role, named_barrier, INT, 0),
    MEMBER(ir_role, reg_estimate, INT, 0), MEMBER(ir_role, ring, INT64, 0),
    MEMBER(ir_role, scratch, INT64, 0),    END,
};
const ir_member ir_group_members[] = {MEMBER(ir_group, keeper_warp, INT, -1), END};
const ir_member ir_place_members[] = {
    MEMBER(ir_placement, threads, INT, 0),         MEMBER(ir_placement, entry_regs, INT, 0),
    MEMBER(ir_placement, helper_regs, INT, 0),     MEMBER(ir_placement, smem, INT64, 0),
    MEMBER(ir_placement, scratch_bytes, INT64, 0), END,
};
const ir_member ir_kernel_members[] = {
    MEMBER(ir_kernel, has_signals, BOOL, 0),     MEMBER(ir_kernel, has_barrier, BOOL, 0),
    MEMBER(ir_kernel, touches_peers, BOOL, 0),   MEMBER(ir_kernel, needs_entry, BOOL, 0),
    MEMBER(ir_kernel, needs_exit, BOOL, 0),      MEMBER(ir_kernel, no_entry_wait, BOOL, 0),
    MEMBER(ir_kernel, no_exit_barrier, BOOL, 0), END,
};
const ir_member ir_shared_members[] = {MEMBER(ir_shared, offset, INT64, 0), END};
const ir_member ir_field_members[] = {MEMBER(ir_field, offset, INT64, 0), END};
const ir_member ir_param_members[] = {MEMBER(ir_param, clear, BOOL, 0), MEMBER(ir_param, written, BOOL, 0),
                                      END};

int64_t ir_member_get(const void *object, const ir_member *m)
{
    const char *at = (const char *)object + m->offset;
    switch (m->kind) {
    case IR_MEMBER_INT:
    case IR_MEMBER_LAYOUT:
        return *(const int *)at;
    case IR_MEMBER_INT32:
        return *(const int32_t *)at;
    case IR_MEMBER_INT64:
        return *(const int64_t *)at;
    case IR_MEMBER_BOOL:
        return *(const bool *)at;
    }
    return 0;
}

void ir_member_set(void *object, const ir_member *m, int64_t value)
{
    char *at = (char *)object + m->offset;
    switch (m->kind) {
    case IR_MEMBER_INT:
    case IR_MEMBER_LAYOUT:
        *(int *)at = (int)value;
        break;
    case IR_MEMBER_INT32:
        *(int32_t *)at = (int32_t)value;
        break;
    case IR_MEMBER_INT64:
        *(int64_t *)at = value;
        break;
    case IR_MEMBER_BOOL:
        *(bool *)at = value != 0;
        break;
    }
}

/// ` { a=1 b=2 }`, nothing where all members are as usual.
static void print_members(const void *object, const ir_member *m, pkc_buf *out)
{
    bool any = false;
    for (; m->key; m++) {
        int64_t v = ir_member_get(object, m);
        if (v == m->normal)
            continue;
        pkc_buf_printf(out, "%s%s=%" PRId64, any ? " " : " { ", m->key, v);
        any = true;
    }
    if (any)
        pkc_buf_puts(out, " }");
}

const char *ir_role_kind_text(ir_role_kind kind)
{
    static const char *const text[] = {"loader", "storer", "consumer", "communicator", "warps", "warpgroups"};
    return text[kind];
}

static void print_param(const ir_param *p, pkc_buf *out)
{
    static const char *const kinds[] = {"local", "peer", "signal", "scalar"};
    pkc_buf_printf(out, "  param @%s %s %s", p->name, kinds[p->kind], pkc_elem_name(p->elem));
    for (int i = 0; i < p->n_dims; i++) {
        pkc_buf_putc(out, i ? ' ' : '[');
        ir_hx_print_json(p->dims[i], out);
        if (i + 1 == p->n_dims)
            pkc_buf_putc(out, ']');
    }
    print_members(p, ir_param_members, out);
    pkc_buf_putc(out, '\n');
}

static void print_pipe(const ir_pipe *p, pkc_buf *out)
{
    pkc_buf_printf(out, "  pipe @%s[%d]", p->name, p->slots);
    if (p->group && p->group->name[0])
        pkc_buf_printf(out, " group @%s", p->group->name);
    if (p->putter)
        pkc_buf_printf(out, " putter @%s", p->putter->name);
    print_members(p, ir_pipe_members, out);
    pkc_buf_puts(out, " fields\n");
    for (int i = 0; i < p->n_fields; i++) {
        const ir_field *f = &p->field[i];
        pkc_buf_printf(out, "    field @%s %s[%d,%d] %s", f->name, pkc_elem_name(f->elem), f->rows, f->cols,
                       ir_layout_text(f->layout));
        print_members(f, ir_field_members, out);
        pkc_buf_putc(out, '\n');
    }
}

static void print_group(const ir_group *g, pkc_buf *out)
{
    if (g->name[0] || g->count) {
        pkc_buf_printf(out, "  group @%s", g->name[0] ? g->name : "_");
        if (g->count) {
            pkc_buf_putc(out, ' ');
            ir_hx_print_json(g->count, out);
        }
        print_members(g, ir_group_members, out);
        pkc_buf_putc(out, '\n');
    }
    for (const ir_role *r = g->roles; r; r = r->next) {
        pkc_buf_printf(out, "  role @%s %s %d", r->name, ir_role_kind_text(r->kind), r->count);
        print_members(r, ir_role_members, out);
        pkc_buf_putc(out, '\n');
    }
}

static void print_requires(const char *word, const ir_require *r, pkc_buf *out)
{
    for (; r; r = r->next) {
        pkc_buf_printf(out, "  %s ", word);
        ir_hx_print_json(r->expr, out);
        if (r->why) {
            pkc_buf_putc(out, ' ');
            pkc_buf_json(out, r->why);
        }
        pkc_buf_putc(out, '\n');
    }
}

void ir_print_header(const ir_kernel *k, pkc_buf *out)
{
    pkc_buf_printf(out, "kernel @%s form %c {\n", k->name, "LPUO"[k->form]);
    for (int i = 0; i < k->n_dims; i++)
        pkc_buf_printf(out, "  dim @%s\n", k->dims[i]);
    for (const ir_const *c = k->consts; c; c = c->next)
        pkc_buf_printf(out, "  const @%s %" PRId64 "\n", c->name, c->value);
    for (int i = 0; i < k->n_params; i++)
        print_param(&k->params[i], out);
    for (const ir_group *g = k->groups; g; g = g->next)
        print_group(g, out);
    for (const ir_pipe *p = k->pipes; p; p = p->next)
        print_pipe(p, out);
    for (const ir_shared *s = k->shared; s; s = s->next) {
        pkc_buf_printf(out, "  shared @%s %s[%d,%d] %s", s->name, pkc_elem_name(s->elem), s->rows, s->cols,
                       ir_layout_text(s->layout));
        print_members(s, ir_shared_members, out);
        pkc_buf_putc(out, '\n');
    }
    print_requires("require", k->requires, out);
    print_requires("fact", k->facts, out);
    pkc_buf_puts(out, "  state");
    print_members(k, ir_kernel_members, out);
    pkc_buf_puts(out, "\n  place");
    print_members(&k->place, ir_place_members, out);
    pkc_buf_putc(out, '\n');
}
