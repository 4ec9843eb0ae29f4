// SPDX-License-Identifier: Apache-2.0
// The units beside the warps: bulk copies, tensor copies and matrix products, each as one call. A call does
// its whole work at once; when it takes effect (issue, completion, "as late as it may") is the scheduler's
// choice.
//
// Every function that returns bool fills *error when it returns false, and then may have done part of its
// work.
#ifndef PKSIM_UNITS_UNITS_H
#define PKSIM_UNITS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/mem/mem.h"
#include "sim/units/number.h"

enum pksim_unit_fault {
    PKSIM_UNIT_OK,
    PKSIM_UNIT_GLOBAL,     // a global address; error.mem has it
    PKSIM_UNIT_SHARED,     // outside the CTA's shared memory, or misaligned
    PKSIM_UNIT_UNWRITTEN,  // shared memory that was never written
    PKSIM_UNIT_MAP,        // not a tensor map, or one that does not fit the instruction
    PKSIM_UNIT_DESCRIPTOR, // matrix descriptor
    PKSIM_UNIT_OPERAND     // size or type that the instruction does not allow
};

struct pksim_unit_error {
    enum pksim_unit_fault kind;
    struct pksim_mem_fault mem;
    char text[240]; // what was wrong, a sentence without a full stop
};

// ---- Tensor maps

enum { PKSIM_MAP_BYTES = 128, PKSIM_MAP_MAX_RANK = 5 };
#define PKSIM_MAP_MAGIC UINT64_C(0x31706d536b507830)

enum pksim_swizzle { PKSIM_SWIZZLE_NONE, PKSIM_SWIZZLE_32, PKSIM_SWIZZLE_64, PKSIM_SWIZZLE_128 };

// Our form of CUtensorMap. Sizes in elements, strides in bytes; dimension 0 is the contiguous one.
struct pksim_tensor_map {
    uint64_t magic;
    uint64_t address;
    uint64_t strides[4]; // of dimensions 1 to 4
    uint32_t dims[5];    // minus one: a dimension may be 2^32
    uint16_t box[5];     // in elements of the tensor, before element strides
    uint8_t steps[5];    // element strides, 1 to 8
    uint8_t rank, type;  // enum pksim_number
    uint8_t swizzle;     // enum pksim_swizzle
    uint8_t nan_fill;    // out-of-bounds elements read as NaN instead of zero
    uint8_t number_size; // bytes of an element
    uint8_t reserved[38];
};
_Static_assert(sizeof(struct pksim_tensor_map) == PKSIM_MAP_BYTES, "a tensor map has 128 bytes");

// Bytes that a load of the whole box puts into shared memory, which is what it adds to an mbarrier's
// transaction count, also where the box is clipped (PTX ISA 9.7.9.27).
uint32_t pksim_map_box_bytes(const struct pksim_tensor_map *map);
// Bytes from the first to behind the last byte of the box in shared memory.
uint32_t pksim_map_box_extent(const struct pksim_tensor_map *map);

// XOR that a swizzle applies to a shared-memory address (bits 4-6, from bits 7-9 of the same address).
static inline uint32_t pksim_swizzled(enum pksim_swizzle swizzle, uint32_t address)
{
    uint32_t mask = swizzle == PKSIM_SWIZZLE_NONE ? 0 : (2u << ((unsigned)swizzle - 1)) - 1;
    return address ^ ((address >> 3) & (mask << 4));
}

// ---- Copies

// Where a copy is issued from.
struct pksim_copy_site {
    struct pksim_mem *mem;
    uint32_t device;
    bool check_written; // report reads of never-written memory
};

// Reads the tensor map at `map` (a kernel parameter's or global memory's bytes) and checks that it is one of
// that rank.
bool pksim_map_decode(const void *bytes, uint32_t rank, struct pksim_tensor_map *map,
                      struct pksim_unit_error *error);

// Tile mode, 1 to 5 dimensions. coords[0] is of the contiguous dimension. The destinations (one; several for
// multicast) all take the box at `offset`. Elements outside the tensor become zero and count as written.
bool pksim_tensor_load(const struct pksim_copy_site *site, const struct pksim_tensor_map *map,
                       const int32_t *coords, struct pksim_shared *const *shared, uint32_t shared_count,
                       uint32_t offset, struct pksim_unit_error *error);
// Elements outside the tensor are left out. An address in a multicast window stores to every device's memory.
bool pksim_tensor_store(const struct pksim_copy_site *site, const struct pksim_tensor_map *map,
                        const int32_t *coords, const struct pksim_shared *shared, uint32_t offset,
                        struct pksim_unit_error *error);
bool pksim_tensor_reduce(const struct pksim_copy_site *site, const struct pksim_tensor_map *map,
                         const int32_t *coords, const struct pksim_shared *shared, uint32_t offset,
                         enum pksim_reduce op, struct pksim_unit_error *error);

// The part of a box that a copy touches in global memory, as rows, for a checker: rows of `bytes` at address
// + i0 strides[0] + i1 strides[1] + ... with i_d < counts[d]. False: all of the box is outside.
struct pksim_box {
    uint64_t address;
    uint32_t bytes;
    uint32_t counts[4];
    uint64_t strides[4];
};
bool pksim_map_box(const struct pksim_tensor_map *map, const int32_t *coords, struct pksim_box *box);

// cp.async.bulk without a tensor: bytes and addresses are multiples of 16.
bool pksim_bulk_load(const struct pksim_copy_site *site, uint64_t address, uint32_t bytes,
                     struct pksim_shared *const *shared, uint32_t shared_count, uint32_t offset,
                     struct pksim_unit_error *error);
bool pksim_bulk_store(const struct pksim_copy_site *site, uint64_t address, uint32_t bytes,
                      const struct pksim_shared *shared, uint32_t offset, struct pksim_unit_error *error);
bool pksim_bulk_reduce(const struct pksim_copy_site *site, uint64_t address, uint32_t bytes,
                       const struct pksim_shared *shared, uint32_t offset, enum pksim_reduce op,
                       enum pksim_number type, struct pksim_unit_error *error);
// Between CTAs of a cluster.
bool pksim_bulk_shared(const struct pksim_copy_site *site, struct pksim_shared *to, uint32_t to_offset,
                       const struct pksim_shared *from, uint32_t from_offset, uint32_t bytes,
                       struct pksim_unit_error *error);
// The same with a reduction (cp.reduce.async.bulk.shared::cluster).
bool pksim_bulk_shared_reduce(const struct pksim_copy_site *site, struct pksim_shared *to, uint32_t to_offset,
                              const struct pksim_shared *from, uint32_t from_offset, uint32_t bytes,
                              enum pksim_reduce op, enum pksim_number type, struct pksim_unit_error *error);

// ---- Warpgroup products: D[64][n] = scale_d * D + A[64][k] B[k][n] (PTX ISA 9.7.15)

struct pksim_wgmma {
    enum pksim_number a_type, b_type; // F16 or BF16 (equal); E4M3, E5M2 (any pair); TF32; S8, U8 (any pair)
    enum pksim_number d_type;         // F32, F16 or S32
    uint32_t n;                       // multiple of 8, at most 256
    bool a_major_m, b_major_n; // the transpose immediates; 16-bit types only, and A only from shared memory
    bool negate_a, negate_b;   // floating types
    bool scale_d;              // false: D starts at zero
    bool saturate;             // .satfinite of the integer form
};

// k of the instruction: 32 bytes of A's type.
uint32_t pksim_wgmma_k(const struct pksim_wgmma *op);
// False: a combination that PTX does not have.
bool pksim_wgmma_valid(const struct pksim_wgmma *op, struct pksim_unit_error *error);

// Accumulators live in matrix form: acc[row * n + column], float (also for F16, holding numbers that F16 has)
// or int32_t (S32). At least 64 * n elements, aligned to 64 bytes.
enum { PKSIM_WGMMA_ROWS = 64, PKSIM_WGMMA_MAX_N = 256 };

// Operands widened to f32, kept from one product to the next while their shared memory does not change. One
// for each scheduler thread; NULL for it is allowed anywhere.
struct pksim_panels;
struct pksim_panels *pksim_panels_create(void);
void pksim_panels_destroy(struct pksim_panels *panels);

// Both operands from shared memory by descriptor. `check_written` reports operands that were never written.
bool pksim_wgmma_shared(const struct pksim_wgmma *op, const struct pksim_shared *shared,
                        uint64_t a_descriptor, uint64_t b_descriptor, bool check_written,
                        struct pksim_panels *panels, void *acc, struct pksim_unit_error *error);
// A from registers: a_regs[warp * 4 + i] points to the 32 lanes of register i of that warp.
bool pksim_wgmma_registers(const struct pksim_wgmma *op, const struct pksim_shared *shared,
                           const uint32_t *const *a_regs, uint64_t b_descriptor, bool check_written,
                           struct pksim_panels *panels, void *acc, struct pksim_unit_error *error);

// Pieces of 16 bytes of shared memory that the part of warp `warp` (0 to 3) of a product reads: its 16 rows
// of A (a_descriptor NULL: A is in registers) and all of B. Returns how many of out[PKSIM_WGMMA_PIECES].
enum { PKSIM_WGMMA_PIECES = 2 * (PKSIM_WGMMA_ROWS + PKSIM_WGMMA_MAX_N) };
uint32_t pksim_wgmma_pieces(const struct pksim_wgmma *op, const uint64_t *a_descriptor, uint64_t b_descriptor,
                            uint32_t warp, uint32_t *out);

// Registers of D per thread: n / 2, or n / 4 for F16.
uint32_t pksim_wgmma_registers_of_d(const struct pksim_wgmma *op);
// Between matrix form and registers, of all four warps: regs[warp * registers_of_d + i] points to 32 lanes.
void pksim_wgmma_from_registers(const struct pksim_wgmma *op, const uint32_t *const *regs, void *acc);
void pksim_wgmma_to_registers(const struct pksim_wgmma *op, const void *acc, uint32_t *const *regs);
// One register of one warp (0 to 3) of the group.
void pksim_wgmma_to_register(const struct pksim_wgmma *op, const void *acc, uint32_t warp, uint32_t index,
                             uint32_t *lanes);
void pksim_wgmma_from_register(const struct pksim_wgmma *op, const uint32_t *lanes, uint32_t warp,
                               uint32_t index, void *acc);

// ---- Warp matrix instructions. regs[i] points to the 32 lanes of register i.

// ldmatrix / stmatrix .m8n8 .b16: count (1, 2 or 4) matrices; lane i gives the shared offset of row i % 8 of
// matrix i / 8.
bool pksim_ldmatrix(const struct pksim_shared *shared, const uint32_t *rows, uint32_t count, bool transposed,
                    bool check_written, uint32_t *const *regs, struct pksim_unit_error *error);
bool pksim_stmatrix(struct pksim_shared *shared, const uint32_t *rows, uint32_t count, bool transposed,
                    const uint32_t *const *regs, struct pksim_unit_error *error);

// mma.sync.m16n8k<k>: row-major A, column-major B. k is 16 or 32 bytes of the operand type.
struct pksim_mma {
    enum pksim_number a_type, b_type; // as of wgmma
    enum pksim_number d_type;         // F32, F16 or S32; C's as well
    uint32_t k;
    bool saturate;
};
bool pksim_mma_valid(const struct pksim_mma *op, struct pksim_unit_error *error);
// d may be c.
void pksim_mma(const struct pksim_mma *op, const uint32_t *const *a, const uint32_t *const *b,
               const uint32_t *const *c, uint32_t *const *d);

#endif
