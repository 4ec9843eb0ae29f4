// SPDX-License-Identifier: Apache-2.0
// The rules of cuTensorMapEncodeTiled (CUDA driver API reference), one by one against a map that is right.
#include "api.h"

struct map {
    CUtensorMapDataType type;
    uint32_t rank;
    uintptr_t address;
    uint64_t dims[6], strides[6];
    uint32_t box[6], steps[6];
    int interleave, swizzle, promotion, fill;
};

static struct map good(void)
{
    return (struct map){.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                        .rank = 3,
                        .address = (uintptr_t)1 << 40,
                        .dims = {100, 7, 3},
                        .strides = {208, 2080},
                        .box = {64, 8, 2},
                        .steps = {1, 1, 1},
                        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
                        .promotion = 2};
}

static CUresult encode(const struct map *m)
{
    static CUtensorMap out;
    return cuTensorMapEncodeTiled(&out, m->type, m->rank, (void *)m->address, m->dims, m->strides, m->box,
                                  m->steps, (CUtensorMapInterleave)m->interleave,
                                  (CUtensorMapSwizzle)m->swizzle, (CUtensorMapL2promotion)m->promotion,
                                  (CUtensorMapFloatOOBfill)m->fill);
}

#define REFUSED(change)                                                                                      \
    do {                                                                                                     \
        struct map m = good();                                                                               \
        change;                                                                                              \
        if (encode(&m) == CUDA_SUCCESS)                                                                      \
            fail_msg("taken: %s", #change);                                                                  \
    } while (0)
#define TAKEN(change)                                                                                        \
    do {                                                                                                     \
        struct map m = good();                                                                               \
        change;                                                                                              \
        assert_ok(encode(&m));                                                                               \
    } while (0)

static void rules(void **state)
{
    (void)state;
    assert_ok(cuInit(0));
    TAKEN((void)m);
    REFUSED(m.rank = 0);
    REFUSED(m.rank = 6);
    REFUSED(m.address = 0);
    REFUSED(m.address += 8);
    REFUSED(m.dims[1] = 0);
    TAKEN(m.dims[1] = UINT64_C(1) << 32);
    REFUSED(m.dims[1] = (UINT64_C(1) << 32) + 1);
    REFUSED(m.strides[0] = 200);
    REFUSED(m.strides[1] = UINT64_C(1) << 40);
    TAKEN(m.strides[0] = 4160); // not increasing
    REFUSED(m.box[1] = 0);
    TAKEN(m.box[1] = 256);
    REFUSED(m.box[1] = 257);
    REFUSED(m.box[0] = 4);  // 8 bytes
    REFUSED(m.box[0] = 72); // wider than the swizzle
    TAKEN(m.box[0] = 72; m.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE);
    REFUSED(m.box[0] = 40; m.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
    TAKEN(m.box[0] = 16; m.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
    REFUSED(m.steps[2] = 0);
    TAKEN(m.steps[2] = 8);
    REFUSED(m.steps[2] = 9);
    REFUSED(m.swizzle = 9);
    REFUSED(m.interleave = 3);
    REFUSED(m.promotion = 4);
    TAKEN(m.fill = 1);
    REFUSED(m.fill = 1; m.type = CU_TENSOR_MAP_DATA_TYPE_UINT16);
    REFUSED(m.type = (CUtensorMapDataType)99);
}

static void address_is_replaced(void **state)
{
    (void)state;
    CUtensorMap out = {{0}};
    struct map m = good();
    assert_result(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&out, (void *)m.address));
    assert_ok(cuTensorMapEncodeTiled(&out, m.type, m.rank, (void *)m.address, m.dims, m.strides, m.box,
                                     m.steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    assert_result(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&out, (void *)(m.address + 4)));
    assert_ok(cuTensorMapReplaceAddress(&out, (void *)(m.address + 64)));
    assert_result(CUDA_ERROR_INVALID_VALUE,
                  cuTensorMapEncodeTiled((CUtensorMap *)(void *)((char *)&out + 8), m.type, m.rank,
                                         (void *)m.address, m.dims, m.strides, m.box, m.steps,
                                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules), cmocka_unit_test(address_is_replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
