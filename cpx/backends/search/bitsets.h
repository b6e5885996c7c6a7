/* Bitsets: weighted counting and compaction; see bitsets.py. */

#ifndef CPX_BITSETS_H
#define CPX_BITSETS_H

#include "cpx/compiled/vectors.h"

/* The words of a row with n features. */
INLINED int64_t stride_of(int64_t n, int64_t planes) {
    return (n + planes + LANES - 1) & -LANES;
}

INLINED void clear(uint64_t *words, int64_t n) {
    memset(words, 0, sizeof *words * (size_t)max(0, n));
}

/* Add the popcounts of seven masked rows of columns, in whole blocks. */
INLINED void add_seven(const uint64_t *row, int64_t stride, const uint64_t *masks, int64_t n,
                       int64_t *sums) {
    Vector a = splat(masks[0]), b = splat(masks[1]), c = splat(masks[2]), d = splat(masks[3]);
    Vector e = splat(masks[4]), f = splat(masks[5]), g = splat(masks[6]);
    const uint64_t *four = row + 4 * stride;
    for (int64_t p = 0; p < ((n + LANES - 1) & -LANES); p += WIDTH) {
        Vector sum = sum_of_seven(
            load(row + p) & a, load(row + stride + p) & b, load(row + 2 * stride + p) & c,
            load(row + 3 * stride + p) & d, load(four + p) & e, load(four + stride + p) & f,
            load(four + 2 * stride + p) & g);
        store((uint64_t *)sums + p, load((uint64_t *)sums + p) + sum);
    }
}

/* Add the popcounts of the masked words of columns, shifted left, in whole blocks. */
INLINED void add_counts(const uint64_t *row, uint64_t mask, int64_t shift, int64_t n,
                        int64_t *sums) {
    for (int64_t p = 0; p < ((n + LANES - 1) & -LANES); p += WIDTH) {
        Vector sum = popcounts(load(row + p) & splat(mask)) << shift;
        store((uint64_t *)sums + p, load((uint64_t *)sums + p) + sum);
    }
}

/* See count in bitsets.py. */
static inline void count(const uint64_t *workspace, int64_t start, int64_t stride,
                         int64_t bad_words, int64_t words, int64_t low, int64_t high, int64_t n,
                         int64_t planes, const uint64_t *cover, int64_t *bad, int64_t *good) {
    clear((uint64_t *)bad + low, high + LANES - low);
    clear((uint64_t *)good + low, high + LANES - low);
    for (int64_t w = 0; w < words;) {
        int64_t *sums = (w < bad_words ? bad : good) + low;
        const uint64_t *row = workspace + start + w * stride;
        if (planes == 0 && w + 7 <= (w < bad_words ? bad_words : words)) {
            add_seven(row + low, stride, cover + w, high - low, sums);
            w += 7;
            continue;
        }
        uint64_t word = cover[w++];
        if (word == 0)
            continue;
        if (planes == 0)
            add_counts(row + low, word, 0, high - low, sums);
        for (int64_t b = 0; b < planes; b++) {
            uint64_t part = word & row[n + b];
            if (part != 0)
                add_counts(row + low, part, b, high - low, sums);
        }
    }
}

/* Write the words of n columns side by side. */
INLINED void gather(const uint64_t *row, const int64_t *columns, int64_t n, uint64_t *buffer) {
    for (int64_t p = 0; p < n; p++)
        buffer[p] = row[columns[p]];
}

/* See compress in bitsets.py; the result is the words of all samples, `bad_filled` is set. */
static inline int64_t compress(uint64_t *workspace, int64_t start, int64_t stride,
                               int64_t bad_words, int64_t words, const int64_t *columns,
                               int64_t n, const uint64_t *cover, int64_t to, int64_t to_stride,
                               uint64_t *buffer, uint64_t *moves, int64_t *bad_filled) {
    int64_t filled = 0;
    *bad_filled = 0;
    clear(workspace + to, to_stride);
    for (int64_t w = 0; w < words; w++) {
        if ((w & (LANES - 1)) == 0)
            prepare(cover + w, moves);
        if (w == bad_words) {
            filled = (filled + 63) & -64;
            *bad_filled = filled >> 6;
            clear(workspace + to + (filled >> 6) * to_stride, to_stride);
        }
        if (cover[w] == 0)
            continue;
        gather(workspace + start + w * stride, columns, n, buffer);
        Moves own = moves_of(cover[w], moves, w & (LANES - 1));
        uint64_t *target = workspace + to + (filled >> 6) * to_stride;
        for (int64_t p = 0; p < n; p += LANES)
            squeeze(target + p, to_stride, buffer + p, &own, filled & 63);
        filled += popcount(cover[w]);
    }
    if (bad_words == words)
        *bad_filled = (filled + 63) >> 6;
    return (filled + 63) >> 6;
}

#endif
