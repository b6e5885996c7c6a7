/* The depth-first search: weighing candidates under the current child; see stack.py. */

#ifndef CPX_STACK_H
#define CPX_STACK_H

#include "cpx/backends/search/bitsets.h"
#include "cpx/backends/search/side_constraints.h"

/* Count the work of weighing candidates from i on by some words: in blocks of eight words. */
INLINED void count_work(const Levels *levels, int64_t n, int64_t i, int64_t words,
                        int64_t planes) {
    levels->at.at[1] += words * max(1, planes) * ((n - i + LANES - 1) / LANES);
}

/* Weigh the later candidates under the current child; return how many are allowed.

   The current child is chosen[t], where there are side constraints. */
static inline int64_t weigh_child(const Levels *levels, const Scratch *scratch, int64_t t,
                                  const Params *params) {
    int64_t i = levels->position.at[t], n = levels->width.at[t], words = levels->words.at[t];
    int64_t start = levels->start.at[t], stride = stride_of(n, params->planes);
    const int64_t *ids = ROW(levels->ids, t), *groups = params->groups.at;
    int64_t *lost = scratch->lost.at, *kept = scratch->kept.at;
    count_work(levels, n, i, words, params->planes);
    for (int64_t w = 0; w < words; w++)
        scratch->cover.at[w] = levels->workspace.at[start + w * stride + i];
    count(levels->workspace.at, start, stride, levels->bad_words.at[t], words, i + 1, n, n,
          params->planes, scratch->cover.at, scratch->covered.at, lost);
    int64_t left = 0, group = params->groups.n != 0 ? groups[ids[i]] : -1;
    for (int64_t p = i + 1; p < n; p++) {
        lost[p] = params->good - lost[p];
        kept[left] = p;
        left += group < 0 || groups[ids[p]] != group;
    }
    return keep_possible(&params->side, &scratch->side, scratch->chosen.at, t + 1, ids,
                         scratch->covered.at, ROW(levels->covered, t)[i], kept, left,
                         params->k - t - 1);
}

/* Weigh the good samples only: what weigh_child writes to `lost`. */
static inline void weigh_good(const Levels *levels, const Scratch *scratch, int64_t t,
                              const Params *params) {
    int64_t i = levels->position.at[t], n = levels->width.at[t];
    int64_t bad_words = levels->bad_words.at[t], words = levels->words.at[t] - bad_words;
    int64_t stride = stride_of(n, params->planes);
    int64_t start = levels->start.at[t] + bad_words * stride, *lost = scratch->lost.at;
    uint64_t *cover = scratch->cover.at + bad_words;
    count_work(levels, n, i, words, params->planes);
    for (int64_t w = 0; w < words; w++)
        cover[w] = levels->workspace.at[start + w * stride + i];
    count(levels->workspace.at, start, stride, 0, words, i + 1, n, n, params->planes, cover,
          scratch->covered.at, lost);
    for (int64_t p = i + 1; p < n; p++)
        lost[p] = params->good - lost[p];
}

#endif
