/* Table of the bad samples that each candidate covers, to test pairs; see bad_columns.py. */

#ifndef CPX_BAD_COLUMNS_H
#define CPX_BAD_COLUMNS_H

#include "cpx/backends/search/bitsets.h"
#include "cpx/models/monomial/search/tables.h"

/* The next multiple of seven, for seven or more. */
INLINED int64_t in_sevens(int64_t rows) { return rows < 7 ? rows : (rows + 6) / 7 * 7; }

/* The words of the bad samples of the current child, and what a pair covers of each, about.

   What an ordinary candidate leaves of the level it leaves of the child, in proportion. A pair is
   expected to cover part^2 of the child's samples, and of their weight. */
INLINED int64_t words_of_child(const Levels *levels, int64_t t, int64_t planes, double *each) {
    int64_t width = levels->width.at[t], i = levels->position.at[t];
    const int64_t *covered = ROW(levels->covered, t);
    int64_t child = covered[i], samples = child;
    if (planes != 0) {
        int64_t stride = stride_of(width, planes);
        samples = 0;
        for (int64_t w = 0; w < levels->bad_words.at[t]; w++)
            samples += popcount(levels->workspace.at[levels->start.at[t] + w * stride + i]);
    }
    if (samples == 0 || child == 0)
        return 0;
    double part = (double)covered[(i + 1 + width) >> 1] / (double)levels->total.at[t];
    *each = part * part * (double)child * 64.0 / (double)samples;
    return min((samples + 63) >> 6, FIRST_WORDS);
}

/* See enough_words in bad_columns.py. */
static inline int64_t enough_words(const Levels *levels, int64_t t, int64_t planes, double spare) {
    double each, wanted = (spare + 1) * 1.25;
    int64_t most = words_of_child(levels, t, planes, &each);
    if (most == 0)
        return 1;
    if (wanted < each * (double)most)
        most = (int64_t)(wanted / each) + 1;
    return in_sevens(most);
}

/* Whether pairs that may cover `spare` on average mostly pass, tried on all samples of the child.

   Then all are weighed at once in a matrix of the child, unless it has so many samples that this
   takes longer than to look at the good ones first. */
INLINED bool table_lets_pass(const Levels *levels, int64_t t, int64_t planes, double spare) {
    double each;
    int64_t most = words_of_child(levels, t, planes, &each);
    return most != 0 && most < FIRST_WORDS && each * (double)most < spare;
}

/* Set words of the rows low .. high - 1 of all blocks to 0. */
INLINED void clear_rows(uint64_t *table, int64_t n, int64_t height, int64_t low, int64_t high) {
    for (int64_t y = 0; y < n; y += LANES)
        clear(table + y * height + low * LANES, (high - low) * LANES);
}

/* See first_words in bad_columns.py; the result is the number of samples, `rows` is set. */
static inline int64_t first_words(const Levels *levels, const Scratch *scratch, int64_t t,
                                  int64_t n, int64_t base, int64_t planes, int64_t most,
                                  int64_t *rows) {
    int64_t stride = stride_of(levels->width.at[t], planes), bad_words = levels->bad_words.at[t];
    int64_t i = levels->position.at[t], height = most + 1, filled = 0;
    uint64_t *table = scratch->first.at, *cover = scratch->cover.at, *moves = scratch->moves.at;
    const uint64_t *row = levels->workspace.at + levels->start.at[t];
    clear_rows(table, n, height, 0, 1);
    for (int64_t w = 0; w < bad_words && filled < 64 * most; w++, row += stride) {
        if ((w & (LANES - 1)) == 0) {
            for (int64_t v = w; v < min(w + LANES, bad_words); v++)
                cover[v] = row[(v - w) * stride + i];
            prepare(cover + w, moves);
        }
        if (cover[w] == 0)
            continue;
        const uint64_t *source = base < 0 ? scratch->buffer.at : row + base;
        if (base < 0)
            gather(row, scratch->kept.at, n, scratch->buffer.at);
        Moves own = moves_of(cover[w], moves, w & (LANES - 1));
        uint64_t *line = table + (filled >> 6) * LANES;
        for (int64_t y = 0; y < n; y += LANES)
            squeeze(line + y * height, LANES, source + y, &own, filled & 63);
        filled += popcount(cover[w]);
    }
    filled = min(filled, 64 * most);
    int64_t used = max(1, (filled + 63) >> 6);
    *rows = in_sevens(used);
    clear_rows(table, n, height, used, *rows);
    uint64_t *ones = table + ((n + LANES - 1) & -LANES) * height;
    for (int64_t at = 0; at < *rows * LANES; at++)
        ones[at] = UINT64_MAX;
    return filled;
}

/* See lightest_of in bad_columns.py. */
static inline int64_t lightest_of(const Levels *levels, const Scratch *scratch, int64_t t,
                                  int64_t planes, int64_t filled) {
    int64_t n = levels->width.at[t], seen = 0;
    for (int64_t w = 0; w < levels->bad_words.at[t]; w++) {
        uint64_t word = scratch->cover.at[w];
        int64_t here = popcount(word), weight = 0;
        if (seen + here < filled) {
            seen += here;
            continue;
        }
        for (; seen + 1 < filled; seen++)
            word &= word - 1;
        uint64_t bit = word & (~word + 1);
        const uint64_t *row =
            levels->workspace.at + levels->start.at[t] + w * stride_of(n, planes) + n;
        for (int64_t b = 0; b < planes; b++)
            if (row[b] & bit)
                weight += INT64_C(1) << b;
        return weight;
    }
    return 1;
}

#endif
