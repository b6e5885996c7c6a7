/* Branch and bound over sets of features: the way from one node to the next; see tree.py. */

#ifndef CPX_TREE_H
#define CPX_TREE_H

#include "cpx/models/monomial/search/bounds.h"
#include "cpx/models/monomial/search/stack.h"

/* Drop candidates that no completion of the child below the limit has.

   The result is how many of the n are kept; `least` is a lower bound on all completions. */
static inline int64_t narrow(const Levels *levels, const Scratch *scratch, int64_t t, int64_t n,
                             const Params *params, int64_t limit, int64_t *least) {
    const Numbers *objective = &params->objective;
    int64_t r = params->k - t - 1, covered = ROW(levels->covered, t)[levels->position.at[t]];
    const int64_t *after = scratch->covered.at, *lost = scratch->lost.at;
    int64_t *kept = scratch->kept.at, *top = scratch->top.at;
    n = select_kept(objective, covered, after, lost, kept, n, r, limit, top);
    return tighten(objective, covered, after, lost, kept, n, r, limit, top, scratch->low.at,
                   scratch->low_less.at, least);
}

/* Go to the next child that is not below the current one; return its level, or DONE. */
INLINED int64_t next_child(const Levels *levels, int64_t t) {
    for (; t > 0; t--)
        /* The last candidate has none after it; its value is known. */
        if (++levels->position.at[t] < levels->width.at[t] - 1)
            return t;
    return DONE;
}

/* Make level t + 1 of the n kept candidates and return it; FULL where there is no room.

   Where no set that begins with one of them costs less than the limit, it is the next child. */
static inline int64_t descend(const Levels *levels, const Scratch *scratch, int64_t t, int64_t n,
                              const Params *params, int64_t limit) {
    const Numbers *objective = &params->objective;
    const Side *side = &params->side;
    int64_t *kept = scratch->kept.at, planes = params->planes, width = levels->width.at[t];
    int64_t covered = ROW(levels->covered, t)[levels->position.at[t]], r = params->k - t - 1;
    order_by(scratch->covered.at, kept, n, scratch->low.at);
    int64_t most = 0, front = n;
    for (int64_t x = 0; x < min(r - 1, n); x++)
        most = min(covered, most + covered - scratch->covered.at[kept[x]]);
    if (side->there != 0)
        front = ask_first(side, &scratch->side, scratch->chosen.at, t + 1, ROW(levels->ids, t),
                          kept, n, scratch->limits.at);
    int64_t *ids = ROW(levels->ids, t + 1), *after = ROW(levels->covered, t + 1);
    int64_t *lost = ROW(levels->lost, t + 1), *bounds = ROW(levels->bound, t + 1);
    if (front == n)
        subtree_bounds(objective, covered, scratch->covered.at, scratch->lost.at, kept, n, r,
                       bounds);
    for (int64_t x = 0; x < n; x++) {
        int64_t p = kept[x];
        ids[x] = ROW(levels->ids, t)[p];
        after[x] = scratch->covered.at[p];
        lost[x] = scratch->lost.at[p];
        if (front < n)
            bounds[x] = x < front ? low(objective, after[x], after[x] - most, lost[x]) : FAR;
    }
    /* Where to lose all good weight costs less, what is lost says little. */
    if (params->shared.n * params->shared.m != 0 &&
        objective->base + objective->beta * params->good >= limit) {
        pair_bounds(objective, params->shared, &side->additive, scratch->side.slacks.now.at, ids,
                    covered, ROW(levels->lost, t)[levels->position.at[t]], after, lost, n, front,
                    most, r, limit, bounds);
        bool some = false;
        for (int64_t x = 0; x < n - 1; x++)
            some |= bounds[x] < limit;
        if (!some)
            return next_child(levels, t);
    }
    int64_t stride = stride_of(width, planes), to_stride = stride_of(n, planes);
    int64_t start = levels->start.at[t], to = levels->start.at[t + 1];
    int64_t words = levels->words.at[t];
    if (to + (words + 1) * to_stride + LANES > levels->workspace.n)
        return FULL;
    for (int64_t b = 0; b < planes; b++)
        kept[n + b] = width + b;
    int64_t total = compress(levels->workspace.at, start, stride, levels->bad_words.at[t], words,
                             kept, n + planes, scratch->cover.at, to, to_stride,
                             scratch->buffer.at, scratch->moves.at, &levels->bad_words.at[t + 1]);
    levels->words.at[t + 1] = total;
    levels->width.at[t + 1] = n;
    levels->total.at[t + 1] = covered;
    levels->start.at[t + 2] = to + total * to_stride;
    levels->position.at[t + 1] = 0;
    return t + 1;
}

/* Go to the first child below the current one; return its level, or FULL.

   Its children are the n kept candidates, as far as sets that begin with them can cost less than
   the limit. Where there are none, it is the next child elsewhere, or DONE. */
static inline int64_t first_child(const Levels *levels, const Scratch *scratch, int64_t t,
                                  int64_t n, const Params *params, int64_t limit) {
    int64_t least;
    n = narrow(levels, scratch, t, n, params, limit, &least);
    if (n < 2 || !still_possible(&params->side, &scratch->side, scratch->chosen.at, t + 1,
                                 ROW(levels->ids, t), scratch->kept.at, n, params->k - t - 1))
        return next_child(levels, t);
    return descend(levels, scratch, t, n, params, limit);
}

#endif
