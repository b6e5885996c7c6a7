/* What all kernels share: the types of their arguments, and operations on single words.

   Built with -fwrapv and without fast floating point: arithmetic is that of NumPy. Kernels do not
   allocate and do not fail. */

#ifndef CPX_KERNEL_H
#define CPX_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define NOT_INLINED __declspec(noinline)
#define INLINED static __forceinline
#else
#define NOT_INLINED __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))
#endif

/* The entry of a kernel, and the size of its table: t, a struct of the same name in tables.h. */
#define KERNEL(symbol)                                                                             \
    EXPORT const int64_t symbol##_words = sizeof(struct symbol) / 8;                               \
    EXPORT void symbol(struct symbol *t)

/* Arrays in the order of C: where they begin, and their lengths. */
#define ARRAYS(name, element)                                                                      \
    typedef struct {                                                                               \
        element *at;                                                                               \
        int64_t n;                                                                                 \
    } name;                                                                                        \
    typedef struct {                                                                               \
        element *at;                                                                               \
        int64_t n, m;                                                                              \
    } name##2;                                                                                     \
    typedef struct {                                                                               \
        element *at;                                                                               \
        int64_t n, m, l;                                                                           \
    } name##3;

ARRAYS(Bools, uint8_t)
ARRAYS(Bytes, uint8_t)
ARRAYS(Shorts, int32_t)
ARRAYS(Ints, int64_t)
ARRAYS(Words, uint64_t)
ARRAYS(Singles, float)
ARRAYS(Floats, double)

/* Row x of an array with two axes, and of one with three. */
#define ROW(array, x) ((array).at + (x) * (array).m)
#define ROW3(array, x, y) ((array).at + ((x) * (array).m + (y)) * (array).l)

INLINED int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }

INLINED int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

/* Division that rounds down, as Python's; b is not 0. */
INLINED int64_t floor_divide(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return quotient - (quotient * b != a && (a < 0) != (b < 0));
}

INLINED int64_t popcount(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (int64_t)((word * 0x0101010101010101u) >> 56);
#endif
}

/* The place of the lowest bit of a word, which is not 0. */
INLINED int64_t lowest_place(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    return popcount(~word & (word - 1));
#endif
}

/* The place of the highest bit of a word, which is not 0. */
INLINED int64_t highest_place(uint64_t word) {
#if defined(__GNUC__)
    return 63 - __builtin_clzll(word);
#else
    for (int shift = 1; shift < 64; shift *= 2)
        word |= word >> shift;
    return popcount(word) - 1;
#endif
}

#endif
