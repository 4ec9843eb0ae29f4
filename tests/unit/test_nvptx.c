// SPDX-License-Identifier: Apache-2.0
// The back end's own arithmetic: places of register elements against the passes' maps, the parameter block,
// refusals.
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "ir/dist.h"
#include "nvptx/geometry.h"
#include "nvptx/module.h"
#include "nvptx/nvptx.h"

typedef struct fixture {
    pkc_session session;
    ir_kernel kernel;
    ir_group group;
    ir_role role;
    ir_param params[3];
} fixture;

static pkc_str text(fixture *f, const char *s)
{
    return pkc_session_str(&f->session, s);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    pkc_session_init(&f->session);
    pkc_arena *arena = &f->session.arena;
    f->group = (ir_group){
        .name = text(f, ""), .count = ir_hx_leaf(arena, IR_HX_SMS), .roles = &f->role, .keeper_warp = -1};
    f->role =
        (ir_role){.name = text(f, "main"), .kind = IR_ROLE_COMMUNICATOR, .count = 8, .warps = 8, .ring = -1};
    f->kernel = (ir_kernel){.arena = arena, .session = &f->session, .name = text(f, "k"), .form = IR_FORM_O};
    f->kernel.params = f->params;
    f->kernel.groups = &f->group;
    f->kernel.place = (ir_placement){.threads = 256};
    f->role.body = ir_region_new(&f->kernel, 0, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    pkc_session_free(&f->session);
    free(f);
    return 0;
}

// ---- places
// ------------------------------------------------------------------------------------------------

// With a thread's numbers as constants LLVM folds every place to a constant.
static void as_thread(nv_emit *e, int t)
{
    e->tid = e->role_thread = nv_i32(e, t);
    e->lane = nv_i32(e, t % 32);
    e->warp = e->role_warp = nv_i32(e, t / 32);
}

static bool value_is(LLVMValueRef v, int64_t expected)
{
    return LLVMIsAConstantInt(v) && LLVMConstIntGetSExtValue(v) == expected;
}

static void check_thread(nv_emit *e, const ir_type *type, int t)
{
    nv_geo g = nv_geometry(type);
    assert_int_equal(nv_geo_elems(&g), ir_dist_elems(type));
    as_thread(e, t);
    for (int r = 0; r < g.row_parts; r++)
        for (int c = 0; c < g.col_parts; c++) {
            int32_t row, col;
            bool there = ir_dist_at(type, t, nv_geo_index(&g, r, c), &row, &col);
            nv_place at = nv_geo_place(e, &g, r, c);
            assert_int_equal(!at.in || LLVMConstIntGetZExtValue(at.in), there);
            if (there) {
                assert_true(value_is(at.row, row));
                assert_true(value_is(at.col, col));
            }
        }
}

static void places_agree_with_the_passes(void **state)
{
    fixture *f = *state;
    static const struct {
        ir_dist dist;
        int rows, cols;
    } cases[] = {
        {{IR_DIST_QUAD, 2, 0}, 128, 256}, {{IR_DIST_QUAD, 1, 0}, 128, 64}, {{IR_DIST_QUAD, 2, 0}, 256, 1},
        {{IR_DIST_QUAD, 2, 0}, 1, 128},   {{IR_DIST_QUAD, 1, 0}, 64, 3},   {{IR_DIST_QUAD, 1, 0}, 1, 12},
        {{IR_DIST_LINE, 8, 0}, 64, 128},  {{IR_DIST_LINE, 8, 0}, 13, 520}, {{IR_DIST_LINE, 4, 0}, 9, 1},
        {{IR_DIST_LINE, 4, 0}, 1, 264},   {{IR_DIST_FLAT, 8, 0}, 64, 64},  {{IR_DIST_LINE, 4, 4}, 70, 32},
        {{IR_DIST_LINE, 3, 8}, 13, 50},   {{IR_DIST_LINE, 3, 1}, 200, 1},  {{IR_DIST_LINE, 3, 2}, 1, 16},
        {{IR_DIST_FLAT, 8, 0}, 1, 7168},  {{IR_DIST_FLAT, 4, 0}, 5, 7},    {{IR_DIST_FLAT, 8, 0}, 1, 1},
    };
    llvmc c;
    assert_true(llvmc_open(&c, &f->session, pkc_target_find("sm_90a"), NULL));
    nv_emit e = {.c = &c, .b = c.b, .arena = &f->session.arena, .k = &f->kernel, .role = &f->role};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ir_type *type = ir_type_reg(&f->kernel, PKC_E_F32, cases[i].rows, cases[i].cols, cases[i].dist);
        int threads = cases[i].dist.w * (cases[i].dist.base == IR_DIST_QUAD ? 128 : 32);
        for (int t = 0; t < threads; t++)
            check_thread(&e, type, t);
    }
    llvmc_close(&c);
}

// ---- the block
// ---------------------------------------------------------------------------------------------

static void two_tensors_and_a_scalar(fixture *f)
{
    pkc_arena *arena = &f->session.arena;
    static pkc_str dims[2];
    dims[0] = text(f, "M");
    dims[1] = text(f, "N");
    f->kernel.dims = dims;
    f->kernel.n_dims = 2;
    f->kernel.n_params = 3;
    for (int i = 0; i < 2; i++) {
        f->params[i] = (ir_param){.name = text(f, i ? "Y" : "X"),
                                  .kind = i ? IR_PARAM_PEER : IR_PARAM_LOCAL,
                                  .elem = PKC_E_BF16,
                                  .n_dims = 2,
                                  .index = i};
        for (int d = 0; d < 2; d++)
            f->params[i].dims[d] = ir_hx_dim(arena, dims[d]);
    }
    f->params[2] = (ir_param){.name = text(f, "s"), .kind = IR_PARAM_SCALAR, .elem = PKC_E_F64, .index = 2};
}

/// A value read from one element of the tensor, of the rank in `rank` where there is one.
static void read_element(fixture *f, int tensor, ir_value *rank)
{
    ir_kernel *k = &f->kernel;
    ir_builder b = {.kernel = k, .region = f->role.body};
    ir_value *zero = ir_build_int(&b, PKC_E_I32, 0), *in[] = {rank ? rank : zero, zero, zero};
    const ir_type *view = ir_type_view(k, PKC_E_BF16, 1, 1, true), *scalar = ir_type_scalar(k, PKC_E_F32);
    ir_op *at = ir_build(&b, IR_VIEW, 0, rank ? 3 : 2, in, 1, &view, 0);
    at->attr.param = &f->params[tensor];
    at->attr.peer = rank ? IR_PEER_RANK : IR_PEER_OWN;
    at->attr.row_axis = at->attr.col_axis = -1;
    ir_value *element = &at->out[0];
    ir_build(&b, IR_ELEM, 0, 1, &element, 1, &scalar, 0);
}

/// What no op reaches by address has none in the block.
static void addresses_are_those_that_are_used(void **state)
{
    fixture *f = *state;
    two_tensors_and_a_scalar(f);
    read_element(f, 1, NULL);
    const nv_layout *lay = nv_layout_make(&f->kernel);
    assert_null(nv_field_param(lay, NV_WHAT_POINTER, &f->params[0], 0));
    assert_null(nv_field_param(lay, NV_WHAT_STRIDE, &f->params[0], 0));
    assert_non_null(nv_field_param(lay, NV_WHAT_POINTER, &f->params[1], 0));
    assert_null(nv_field_param(lay, NV_WHAT_PEERS, &f->params[1], 0));
    f->params[0].clear = true;
    assert_non_null(nv_field_param(nv_layout_make(&f->kernel), NV_WHAT_STRIDE, &f->params[0], 0));
}

static void fields_are_aligned_and_apart(void **state)
{
    fixture *f = *state;
    two_tensors_and_a_scalar(f);
    ir_builder b = {.kernel = &f->kernel, .region = f->role.body};
    read_element(f, 0, NULL);
    read_element(f, 1, ir_build_int(&b, PKC_E_I32, 0));
    f->kernel.touches_peers = f->kernel.needs_entry = true;
    const nv_layout *lay = nv_layout_make(&f->kernel);
    const nv_field *n = nv_field_dim(lay, text(f, "N"));
    const nv_field *s = nv_field_param(lay, NV_WHAT_SCALAR, &f->params[2], 0);
    const nv_field *x = nv_field_param(lay, NV_WHAT_POINTER, &f->params[0], 0);
    const nv_field *stride = nv_field_param(lay, NV_WHAT_STRIDE, &f->params[1], 0);
    const nv_field *peers = nv_field_param(lay, NV_WHAT_PEERS, &f->params[1], 0);
    const nv_field *states = nv_field_param(lay, NV_WHAT_STATES, NULL, 0);
    assert_int_equal(n->at, 36);
    assert_int_equal(s->at % 8, 0);
    assert_int_equal(x->at, s->at + 8);
    assert_int_equal(stride->at % 8, 0);
    assert_null(nv_field_param(lay, NV_WHAT_STRIDE, &f->params[1], 1)); // the last axis is contiguous
    assert_int_equal(peers->at_ranks, 0);
    assert_int_equal(states->at, peers->at);
    assert_int_equal(states->at_ranks, 8);
    assert_int_equal(lay->size_ranks, 16);
}

// ---- whole kernels
// -----------------------------------------------------------------------------------------

static bool emit(fixture *f, pkc_buf *out)
{
    ir_kernel *kernels[] = {&f->kernel};
    ir_module module = {&f->session, kernels, 1};
    return pkc_nvptx_emit(&f->session, &module, pkc_target_find("sm_90a"), PKC_NVPTX_PTX, out);
}

static void output_is_the_same_from_run_to_run(void **state)
{
    fixture *f = *state;
    two_tensors_and_a_scalar(f);
    pkc_buf a = {0}, b = {0};
    assert_true(emit(f, &a));
    assert_true(emit(f, &b));
    assert_string_equal(pkc_buf_cstr(&a), pkc_buf_cstr(&b));
    assert_int_equal(strncmp(pkc_buf_cstr(&a), "//pk {\"abi\":[1,1],", 18), 0);
    assert_non_null(strstr(pkc_buf_cstr(&a), ".entry pk1_k("));
    pkc_buf_free(&a);
    pkc_buf_free(&b);
}

static void what_cannot_be_emitted_is_a_diagnostic(void **state)
{
    fixture *f = *state;
    ir_builder b = {.kernel = &f->kernel, .region = f->role.body};
    ir_build(&b, IR_BARRIER, 0, 0, NULL, 0, NULL, 0);
    pkc_buf out = {0};
    assert_false(emit(f, &out));
    assert_int_equal(out.len, 0);
    assert_int_equal(pkc_diag_count(&f->session, PKC_SEVERITY_ERROR), 1);
    assert_int_equal(f->session.diags.list.data[0]->id, PKC_DIAG_NOT_EMITTED);
    pkc_buf_free(&out);
}

static void targets_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(pkc_target_find("sm_90a")->smem_limit, 232448);
    assert_null(pkc_target_find("sm_9"));
    assert_null(pkc_target_at(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(places_agree_with_the_passes, setup, teardown),
        cmocka_unit_test_setup_teardown(addresses_are_those_that_are_used, setup, teardown),
        cmocka_unit_test_setup_teardown(fields_are_aligned_and_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(output_is_the_same_from_run_to_run, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_emitted_is_a_diagnostic, setup, teardown),
        cmocka_unit_test(targets_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
