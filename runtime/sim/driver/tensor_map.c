// SPDX-License-Identifier: Apache-2.0
// cuTensorMapEncodeTiled: the rules of the CUDA driver API reference, and our own form of the map.
#include <string.h>

#include "sim/driver/driver.h"
#include "sim/units/units.h"

// What the call was given.
struct tiled {
    uint32_t rank;
    uint64_t address;
    const uint64_t *dims, *strides;
    const uint32_t *box, *steps;
    enum pksim_number number;
    uint32_t number_size;
    CUtensorMapSwizzle swizzle;
};

// PKSIM_NUMBER_COUNT for types that are not simulated (sub-byte ones).
static enum pksim_number number_of(CUtensorMapDataType type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
        return PKSIM_U8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
        return PKSIM_U16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
        return PKSIM_U32;
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
        return PKSIM_S32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        return PKSIM_U64;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
        return PKSIM_S64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        return PKSIM_F16;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
        return PKSIM_F32;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return PKSIM_F64;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return PKSIM_BF16;
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
        return PKSIM_TF32;
    }
    return PKSIM_NUMBER_COUNT;
}

static bool is_floating(enum pksim_number number)
{
    return number == PKSIM_F16 || number == PKSIM_BF16 || number == PKSIM_TF32 || number == PKSIM_F32 ||
           number == PKSIM_F64;
}

// Every dimension: 1 to 2^32 elements, a box of 1 to 256, element strides of 1 to 8.
static bool sizes_are_good(const struct tiled *t)
{
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] == 0 || t->dims[i] > UINT64_C(1) << 32)
            return false;
        if (t->box[i] == 0 || t->box[i] > 256 || t->steps[i] == 0 || t->steps[i] > 8)
            return false;
    }
    return true;
}

// Strides: multiples of 16 below 2^40. (That each is a multiple of the one before it, or holds the dimension
// before it, is not asked for: the hardware takes others.)
static bool strides_are_good(const struct tiled *t)
{
    for (uint32_t i = 0; i + 1 < t->rank; i++)
        if (t->strides[i] % 16 != 0 || t->strides[i] >= UINT64_C(1) << 40)
            return false;
    return true;
}

// The inner side of the box: a multiple of 16 bytes, no wider than the swizzle.
static bool inner_is_good(const struct tiled *t)
{
    uint32_t bytes = t->box[0] * t->number_size;
    if (bytes % 16 != 0)
        return false;
    return t->swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || bytes <= 16u << t->swizzle;
}

static void encode(const struct tiled *t, bool nan_fill, void *out)
{
    struct pksim_tensor_map map = {.magic = PKSIM_MAP_MAGIC,
                                   .address = t->address,
                                   .rank = (uint8_t)t->rank,
                                   .type = (uint8_t)t->number,
                                   .swizzle = (uint8_t)t->swizzle,
                                   .nan_fill = nan_fill,
                                   .number_size = (uint8_t)t->number_size};
    for (uint32_t i = 0; i < t->rank; i++) {
        map.dims[i] = (uint32_t)(t->dims[i] - 1);
        map.box[i] = (uint16_t)t->box[i];
        map.steps[i] = (uint8_t)t->steps[i];
        if (i > 0)
            map.strides[i - 1] = t->strides[i - 1];
    }
    memcpy(out, &map, sizeof map);
}

CUresult pksim_cuTensorMapEncodeTiled(struct driver *d, CUtensorMap *out, CUtensorMapDataType type,
                                      cuuint32_t rank, void *address, const cuuint64_t *dims,
                                      const cuuint64_t *strides, const cuuint32_t *box,
                                      const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                      CUtensorMapFloatOOBfill fill)
{
    enum { OUT_ALIGN = 64, ADDRESS_ALIGN = 16 };
    (void)d;
    struct tiled t = {rank,   (uint64_t)(uintptr_t)address, dims, strides, box, steps, number_of(type), 0,
                      swizzle};
    if (!out || (uintptr_t)out % OUT_ALIGN != 0 || !dims || !box || !steps || (rank > 1 && !strides))
        return CUDA_ERROR_INVALID_VALUE;
    if (rank == 0 || rank > PKSIM_MAP_MAX_RANK || !address || t.address % ADDRESS_ALIGN != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (t.number == PKSIM_NUMBER_COUNT || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || (int)swizzle > 3)
        return (int)type < 0 || (int)type > 15 || (int)interleave < 0 || (int)interleave > 2 ||
                       (int)swizzle > 6
                   ? CUDA_ERROR_INVALID_VALUE
                   : CUDA_ERROR_NOT_SUPPORTED;
    if ((int)swizzle < 0 || (int)promotion < 0 || (int)promotion > 3 || (int)fill < 0 || (int)fill > 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && !is_floating(t.number))
        return CUDA_ERROR_INVALID_VALUE;
    t.number_size = pksim_number_bytes(t.number);
    if (!sizes_are_good(&t) || !strides_are_good(&t) || !inner_is_good(&t))
        return CUDA_ERROR_INVALID_VALUE;
    encode(&t, fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, out);
    return CUDA_SUCCESS;
}

CUresult pksim_cuTensorMapReplaceAddress(struct driver *d, CUtensorMap *out, void *address)
{
    struct pksim_tensor_map map;
    (void)d;
    if (!out || !address || (uintptr_t)address % 16 != 0)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&map, (const void *)out, sizeof map);
    if (map.magic != PKSIM_MAP_MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    map.address = (uint64_t)(uintptr_t)address;
    memcpy((void *)out, &map, sizeof map);
    return CUDA_SUCCESS;
}
