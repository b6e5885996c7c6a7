/* Operations on eight words at once.

   A block of LANES words is PARTS vectors of WIDTH words: as many words as one register of the
   processor holds. Without vectors, as ONE_BY_ONE asks, it is one. The operators of C work on
   both. */

#ifndef CPX_VECTORS_H
#define CPX_VECTORS_H

#include "cpx/compiled/kernel.h"

#define LANES 8

#if !defined(__GNUC__) || defined(ONE_BY_ONE)
#define WIDTH 1
#elif defined(__AVX512F__)
#include <immintrin.h>
#define WIDTH 8
#elif defined(__AVX2__)
#include <immintrin.h>
#define WIDTH 4
#elif defined(__SSSE3__)
#include <tmmintrin.h>
#define WIDTH 2
#elif defined(__aarch64__)
#include <arm_neon.h>
#define WIDTH 2
#else
#define WIDTH 1
#endif

#define PARTS (LANES / WIDTH)

#if WIDTH > 1
typedef uint64_t Vector __attribute__((vector_size(8 * WIDTH)));
typedef int64_t Signed __attribute__((vector_size(8 * WIDTH)));
#else
typedef uint64_t Vector;
typedef int64_t Signed;
#endif

INLINED Vector load(const uint64_t *from) {
    Vector vector;
    memcpy(&vector, from, sizeof vector);
    return vector;
}

INLINED void store(uint64_t *to, Vector vector) { memcpy(to, &vector, sizeof vector); }

INLINED Vector splat(uint64_t word) { return word - (Vector){0}; }

/* The popcount of each word. */
INLINED Vector popcounts(Vector words) {
#if WIDTH == 8 && defined(__AVX512VPOPCNTDQ__)
    return (Vector)_mm512_popcnt_epi64((__m512i)words);
#elif WIDTH == 4
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                            2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    __m256i low = _mm256_and_si256((__m256i)words, nibble);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16((__m256i)words, 4), nibble);
    __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(counts, low),
                                    _mm256_shuffle_epi8(counts, high));
    return (Vector)_mm256_sad_epu8(bytes, _mm256_setzero_si256());
#elif WIDTH == 2 && defined(__SSSE3__)
    const __m128i nibble = _mm_set1_epi8(15);
    const __m128i counts = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    __m128i low = _mm_and_si128((__m128i)words, nibble);
    __m128i high = _mm_and_si128(_mm_srli_epi16((__m128i)words, 4), nibble);
    __m128i bytes = _mm_add_epi8(_mm_shuffle_epi8(counts, low), _mm_shuffle_epi8(counts, high));
    return (Vector)_mm_sad_epu8(bytes, _mm_setzero_si128());
#elif WIDTH == 2
    return (Vector)vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8((uint8x16_t)words))));
#elif WIDTH == 1
    return (Vector)popcount(words);
#else
    words -= (words >> 1) & 0x5555555555555555u;
    words = (words & 0x3333333333333333u) + ((words >> 2) & 0x3333333333333333u);
    words = (words + (words >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    words += words >> 8;
    words += words >> 16;
    words += words >> 32;
    return words & 127u;
#endif
}

/* A bit for each word: whether it is at most the limit, both with a sign. */
INLINED uint64_t at_most(Vector sums, Vector limits) {
#if WIDTH == 8
    return _mm512_cmple_epi64_mask((__m512i)sums, (__m512i)limits);
#elif WIDTH == 4
    return (uint64_t)_mm256_movemask_pd((__m256d)((Signed)sums <= (Signed)limits));
#elif WIDTH == 2 && defined(__SSSE3__)
    return (uint64_t)_mm_movemask_pd((__m128d)((Signed)sums <= (Signed)limits));
#elif WIDTH == 2
    Signed within = (Signed)sums <= (Signed)limits;
    return (uint64_t)(within[0] & 1) | (uint64_t)(within[1] & 2);
#else
    return (Signed)sums <= (Signed)limits;
#endif
}

/* The lesser of each two words, both with a sign. */
INLINED Vector lesser(Vector a, Vector b) {
#if WIDTH > 1
    Vector less = (Vector)((Signed)a < (Signed)b);
    return (a & less) | (b & ~less);
#else
    return (Signed)a < (Signed)b ? a : b;
#endif
}

/* The popcounts of seven vectors, added up.

   A full adder makes a sum bit and a carry bit of three bits, in all places at once. Four of them
   make the bits of 1, of 2 and of 4 of seven words, so that three popcounts do for seven. A
   popcount of vectors takes about ten instructions, a full adder three where the machine has
   AVX-512, six elsewhere. */
INLINED Vector sum_of_seven(Vector a, Vector b, Vector c, Vector d, Vector e, Vector f, Vector g) {
    Vector ones = a ^ b ^ c, first = (a & b) | ((a | b) & c);
    Vector second = (ones & d) | ((ones | d) & e);
    ones ^= d ^ e;
    Vector third = (ones & f) | ((ones | f) & g);
    ones ^= f ^ g;
    Vector twos = first ^ second ^ third;
    Vector fours = (first & second) | ((first | second) & third);
    return popcounts(ones) + (popcounts(twos) << 1) + (popcounts(fours) << 2);
}

/* Prepare squeeze for the eight masks that begin at `masks`.

   Bit i of a squeezed word comes from the i-th set bit of the mask. A bit moves right by the number
   of zeros of the mask below it; moves[8 s + b] are the bits that, at step s = 0 .. 5, move by 2^s
   under mask b (Hacker's Delight, 7-4). */
INLINED void prepare(const uint64_t *masks, uint64_t *moves) {
    for (int64_t b = 0; b < LANES; b += WIDTH) {
        Vector mask = load(masks + b), left = ~mask << 1;
        for (int step = 0; step < 6; step++) {
            Vector parity = left;
            for (int places = 1; places < 64; places *= 2)
                parity ^= parity << places;
            Vector move = parity & mask;
            mask = (mask ^ move) | (move >> (1 << step));
            left &= ~parity;
            store(moves + LANES * step + b, move);
        }
    }
}

/* The moves of one of the masks that were prepared. */
typedef struct {
    uint64_t mask, at[6];
} Moves;

INLINED Moves moves_of(uint64_t mask, const uint64_t *moves, int64_t which) {
    Moves own = {.mask = mask};
    for (int step = 0; step < 6; step++)
        own.at[step] = moves[LANES * step + which];
    return own;
}

/* Move the masked bits of eight words to the right end of the word, and shift them left by 0 to 63.

   They are added to into[0 .. 7]; what was shifted out, or nothing, is written to into[step ..]. */
INLINED void squeeze(uint64_t *into, int64_t step, const uint64_t *words, const Moves *moves,
                     int64_t shift) {
    for (int64_t b = 0; b < LANES; b += WIDTH) {
        Vector x = load(words + b) & splat(moves->mask);
        for (int place = 0; place < 6; place++) {
            Vector move = splat(moves->at[place]);
            x = (x & ~move) | ((x & move) >> (1 << place));
        }
        store(into + b, load(into + b) | (x << shift));
        /* In two steps: a shift by 64 is not defined. */
        store(into + step + b, (x >> 1) >> (63 - shift));
    }
}

INLINED int64_t scan_by(int64_t step, const uint64_t *table, int64_t height, int64_t rows,
                        int64_t x, int64_t last, int64_t y, const int64_t *mosts,
                        const int64_t *limits, int64_t n) {
    for (; x < last; x++, y = (x + 1) & -LANES) {
        if (mosts[x] < 0)
            continue;
        const uint64_t *own = table + (x & -LANES) * height + (x & (LANES - 1));
        for (; y < n; y += LANES) {
            const uint64_t *eights = table + y * height;
            Vector limit[PARTS], sums[PARTS];
            for (int part = 0; part < PARTS; part++) {
                limit[part] = lesser(load((const uint64_t *)limits + y + part * WIDTH),
                                     splat((uint64_t)mosts[x]));
                sums[part] = splat(0);
            }
            uint64_t bits = 1;
            for (int64_t row = 0; row < rows && bits != 0; row += step) {
                const uint64_t *mine = own + row * LANES, *other = eights + row * LANES;
                bits = 0;
                for (int part = 0; part < PARTS; part++, other += WIDTH) {
                    if (step == 1)
                        sums[part] += popcounts(load(other) & splat(mine[0]));
                    else
                        sums[part] += sum_of_seven(
                            load(other) & splat(mine[0]),
                            load(other + LANES) & splat(mine[LANES]),
                            load(other + 2 * LANES) & splat(mine[2 * LANES]),
                            load(other + 3 * LANES) & splat(mine[3 * LANES]),
                            load(other + 4 * LANES) & splat(mine[4 * LANES]),
                            load(other + 5 * LANES) & splat(mine[5 * LANES]),
                            load(other + 6 * LANES) & splat(mine[6 * LANES]));
                    bits |= at_most(sums[part], limit[part]) << (part * WIDTH);
                }
            }
            if (bits != 0)
                return x << 32 | y << 8 | (int64_t)bits;
        }
    }
    return 0;
}

/* Not part of the code that calls them: there, each block of eight pairs would pay for reloading
   what does not fit into registers. */
static NOT_INLINED int64_t scan_by_one(const uint64_t *table, int64_t height, int64_t rows,
                                       int64_t x, int64_t last, int64_t y, const int64_t *mosts,
                                       const int64_t *limits, int64_t n) {
    return scan_by(1, table, height, rows, x, last, y, mosts, limits, n);
}

static NOT_INLINED int64_t scan_by_seven(const uint64_t *table, int64_t height, int64_t rows,
                                         int64_t x, int64_t last, int64_t y, const int64_t *mosts,
                                         const int64_t *limits, int64_t n) {
    return scan_by(7, table, height, rows, x, last, y, mosts, limits, n);
}

/* Look for columns that have few samples in common, in blocks of eight.

   Word r of column y is table[(y & -8) * height + 8 r + (y & 7)], r < rows; seven rows or more must
   be a multiple of seven. A pair of columns passes when they have at most mosts[x] and at most
   limits[y] in common. The rows of a block are added up, seven at a time where there are so many,
   until all eight have more. Columns x, x + 1, .. below `last` are taken in turn, but for those
   where `mosts` is negative: the first with the blocks y, y + 8, .. below n, those after it from
   the block of the next column on.

   The result is 0 if no pair passes, otherwise 2^32 x + 2^8 y + bits: bit b says whether the pair
   of x and y + b does. Pairs of a block whose second column is not after the first may be there. */
INLINED int64_t scan(const uint64_t *table, int64_t height, int64_t rows, int64_t x, int64_t last,
                     int64_t y, const int64_t *mosts, const int64_t *limits, int64_t n) {
    return rows < 7 ? scan_by_one(table, height, rows, x, last, y, mosts, limits, n)
                    : scan_by_seven(table, height, rows, x, last, y, mosts, limits, n);
}

#endif
