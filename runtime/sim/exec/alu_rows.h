// SPDX-License-Identifier: Apache-2.0
// The functions and the table of alu.def. Included once by each file that compiles them for a kind of CPU.
#include <math.h>

#include "sim/exec/alu.h"
#include "sim/exec/alu_helpers.h"

#define INTEGERS(ROW)                                                                                        \
    ROW(u16, uint16_t, int16_t)                                                                              \
    ROW(s16, uint16_t, int16_t)                                                                              \
    ROW(u32, uint32_t, int32_t)                                                                              \
    ROW(s32, uint32_t, int32_t)                                                                              \
    ROW(u64, uint64_t, int64_t)                                                                              \
    ROW(s64, uint64_t, int64_t)
#define SIGNED_OR_NOT(ROW)                                                                                   \
    ROW(u16, uint16_t, int16_t, uint16_t)                                                                    \
    ROW(s16, uint16_t, int16_t, int16_t)                                                                     \
    ROW(u32, uint32_t, int32_t, uint32_t)                                                                    \
    ROW(s32, uint32_t, int32_t, int32_t)                                                                     \
    ROW(u64, uint64_t, int64_t, uint64_t)                                                                    \
    ROW(s64, uint64_t, int64_t, int64_t)

// d may be the same array as a source, never a shifted one: iterations are independent, which the compiler is
// told.
#if defined(__clang__)
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < PKSIM_LANES; l++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (int l = 0; l < PKSIM_LANES; l++)
#endif

// Eight flags of one byte become eight bits.
static inline uint32_t pack_flags(const uint8_t flags[PKSIM_LANES])
{
    uint32_t mask = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * i, 8);
        mask |= (uint32_t)(eight * 0x0102040810204080u >> 56) << (8 * i);
    }
    return mask;
}

#define ALU1(id, key, D, A, kind, ...)                                                                       \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        D *out = d;                                                                                          \
        const A *pa = s[0];                                                                                  \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            A a = pa[l];                                                                                     \
            out[l] = (D)(__VA_ARGS__);                                                                       \
        }                                                                                                    \
    }
#define ALU2(id, key, D, A, B, kind, ...)                                                                    \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        D *out = d;                                                                                          \
        const A *pa = s[0];                                                                                  \
        const B *pb = s[1];                                                                                  \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            A a = pa[l];                                                                                     \
            B b = pb[l];                                                                                     \
            out[l] = (D)(__VA_ARGS__);                                                                       \
        }                                                                                                    \
    }
#define ALU3(id, key, D, A, B, C, kind, ...)                                                                 \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        D *out = d;                                                                                          \
        const A *pa = s[0];                                                                                  \
        const B *pb = s[1];                                                                                  \
        const C *pc = s[2];                                                                                  \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            A a = pa[l];                                                                                     \
            B b = pb[l];                                                                                     \
            C c = pc[l];                                                                                     \
            out[l] = (D)(__VA_ARGS__);                                                                       \
        }                                                                                                    \
    }
#define ALU4(id, key, D, A, B, C, E, kind, ...)                                                              \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        D *out = d;                                                                                          \
        const A *pa = s[0];                                                                                  \
        const B *pb = s[1];                                                                                  \
        const C *pc = s[2];                                                                                  \
        const E *pe = s[3];                                                                                  \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            A a = pa[l];                                                                                     \
            B b = pb[l];                                                                                     \
            C c = pc[l];                                                                                     \
            E e = pe[l];                                                                                     \
            out[l] = (D)(__VA_ARGS__);                                                                       \
        }                                                                                                    \
    }
#define PRED1(id, key, A, kind, ...)                                                                         \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        uint8_t flags[PKSIM_LANES];                                                                          \
        const A *pa = s[0];                                                                                  \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            A a = pa[l];                                                                                     \
            flags[l] = (__VA_ARGS__) ? 1 : 0;                                                                \
        }                                                                                                    \
        *(uint32_t *)d = pack_flags(flags);                                                                  \
    }
#define PRED2(id, key, A, kind, ...)                                                                         \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        uint8_t flags[PKSIM_LANES];                                                                          \
        const A *pa = s[0];                                                                                  \
        const A *pb = s[1];                                                                                  \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            A a = pa[l];                                                                                     \
            A b = pb[l];                                                                                     \
            flags[l] = (__VA_ARGS__) ? 1 : 0;                                                                \
        }                                                                                                    \
        *(uint32_t *)d = pack_flags(flags);                                                                  \
    }
#define HALFP(id, key, x, ...)                                                                               \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        uint8_t flags[PKSIM_LANES];                                                                          \
        const uint16_t *pa = s[0];                                                                           \
        const uint16_t *pb = s[1];                                                                           \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            double a = pksim_double_of_##x(pa[l]);                                                           \
            double b = pksim_double_of_##x(pb[l]);                                                           \
            flags[l] = (__VA_ARGS__) ? 1 : 0;                                                                \
        }                                                                                                    \
        *(uint32_t *)d = pack_flags(flags);                                                                  \
    }
#define MASK1(id, key, ...)                                                                                  \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        uint32_t a = *(const uint32_t *)s[0];                                                                \
        *(uint32_t *)d = __VA_ARGS__;                                                                        \
    }
#define MASK2(id, key, ...)                                                                                  \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        uint32_t a = *(const uint32_t *)s[0];                                                                \
        uint32_t b = *(const uint32_t *)s[1];                                                                \
        *(uint32_t *)d = __VA_ARGS__;                                                                        \
    }
#define SELP(id, key, T)                                                                                     \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        T *out = d;                                                                                          \
        const T *pa = s[0];                                                                                  \
        const T *pb = s[1];                                                                                  \
        uint32_t p = *(const uint32_t *)s[2];                                                                \
        EACH_LANE out[l] = p >> l & 1 ? pa[l] : pb[l];                                                       \
    }
// A register of 32 pairs is an array of 64 halves: the scalar operation runs over each part of it.
#define PAIR1(id, key, fn)                                                                                   \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        const void *upper[1] = {(const uint16_t *)s[0] + PKSIM_LANES};                                       \
        fn(d, s);                                                                                            \
        fn((uint16_t *)d + PKSIM_LANES, upper);                                                              \
    }
#define PAIR2(id, key, fn)                                                                                   \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        const void *upper[2] = {(const uint16_t *)s[0] + PKSIM_LANES, (const uint16_t *)s[1] + PKSIM_LANES}; \
        fn(d, s);                                                                                            \
        fn((uint16_t *)d + PKSIM_LANES, upper);                                                              \
    }
#define PAIR3(id, key, fn)                                                                                   \
    static void alu_##id(void *d, const void *const *s)                                                      \
    {                                                                                                        \
        const void *upper[3] = {(const uint16_t *)s[0] + PKSIM_LANES, (const uint16_t *)s[1] + PKSIM_LANES,  \
                                (const uint16_t *)s[2] + PKSIM_LANES};                                       \
        fn(d, s);                                                                                            \
        fn((uint16_t *)d + PKSIM_LANES, upper);                                                              \
    }
#include "sim/exec/alu.def"

static const struct pksim_alu_op alu_ops[] = {
#define ALU1(id, key, D, A, kind, ...)    {key, alu_##id, 1, sizeof(D), {sizeof(A)}, #kind[0]},
#define ALU2(id, key, D, A, B, kind, ...) {key, alu_##id, 2, sizeof(D), {sizeof(A), sizeof(B)}, #kind[0]},
#define ALU3(id, key, D, A, B, C, kind, ...)                                                                 \
    {key, alu_##id, 3, sizeof(D), {sizeof(A), sizeof(B), sizeof(C)}, #kind[0]},
#define ALU4(id, key, D, A, B, C, E, kind, ...)                                                              \
    {key, alu_##id, 4, sizeof(D), {sizeof(A), sizeof(B), sizeof(C), sizeof(E)}, #kind[0]},
#define PRED1(id, key, A, kind, ...) {key, alu_##id, 1, 0, {sizeof(A)}, #kind[0]},
#define PRED2(id, key, A, kind, ...) {key, alu_##id, 2, 0, {sizeof(A), sizeof(A)}, #kind[0]},
#define HALFP(id, key, x, ...)       {key, alu_##id, 2, 0, {2, 2}, 'I'},
#define MASK1(id, key, ...)          {key, alu_##id, 1, 0, {0}, 'I'},
#define MASK2(id, key, ...)          {key, alu_##id, 2, 0, {0, 0}, 'I'},
#define SELP(id, key, T)             {key, alu_##id, 3, sizeof(T), {sizeof(T), sizeof(T), 0}, 'I'},
#define PAIR1(id, key, fn)           {key, alu_##id, 1, 4, {4}, 'F'},
#define PAIR2(id, key, fn)           {key, alu_##id, 2, 4, {4, 4}, 'F'},
#define PAIR3(id, key, fn)           {key, alu_##id, 3, 4, {4, 4, 4}, 'F'},
#include "sim/exec/alu.def"
};
