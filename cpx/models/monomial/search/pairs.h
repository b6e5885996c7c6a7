/* The last two features of a set: all pairs of candidates, tested on a few samples first.

   Where few samples agree no bound helps: almost every set of features has to be looked at, and a
   pair must cost next to nothing. The bad samples that a node covers are put side by side, for
   each candidate, in a few words (bad_columns.h); a pair that leaves too many of them covered is
   done with, often after one AND and one popcount. Eight pairs are tried at once, and hardly any
   passes.

   For a better pair with candidate p, of whatever other candidate: it loses at least l_p by bound
   (1) of bounds.py, so that it covers at most most_bad of l_p; nor does it cover more than the
   node does. This is the limit of p, and a better pair of p and q keeps both limits. The same is
   true of p alone. There is one limit for each column of the table, -1 where the candidate is in
   no better pair. */

#ifndef CPX_PAIRS_H
#define CPX_PAIRS_H

#include "cpx/models/monomial/search/bad_columns.h"
#include "cpx/models/monomial/search/bounds.h"
#include "cpx/models/monomial/search/stack.h"

/* What all branches of a thread know: `shared` and `found` of branches in tree.py. */
typedef struct {
    int64_t *shared;
    Ints found;
    bool first;
} Best;

/* The last words of `found`: branches entered for equal sets, and nodes. */
#define TIES(best) ((best)->found.at[(best)->found.n - 2])
#define NODES(best) ((best)->found.at[(best)->found.n - 1])

/* Record the chosen columns if they are better, or as good and first by size and index. */
static NOT_INLINED void improve(const Best *best, int64_t value, const Scratch *scratch,
                                int64_t size) {
    int64_t *found = best->found.at, *sorted = scratch->sorted.at;
    if (value > found[0] || (value == found[0] && size > found[1]))
        return;
    for (int64_t x = 0; x < size; x++) {
        int64_t column = scratch->chosen.at[x], y = x;
        for (; y > 0 && sorted[y - 1] > column; y--)
            sorted[y] = sorted[y - 1];
        sorted[y] = column;
    }
    if (value == found[0] && size == found[1]) {
        TIES(best)++;
        int64_t x = 0;
        while (x < size && sorted[x] == found[2 + x])
            x++;
        if (x == size || sorted[x] > found[2 + x])
            return;
    }
    found[0] = value;
    found[1] = size;
    for (int64_t x = 0; x < size; x++)
        found[2 + x] = sorted[x];
    best->shared[1] = min(best->shared[1], value);
}

/* Try the n kept candidates under the current child, one by one; return the least cost. */
static inline int64_t try_each(const Levels *levels, const Scratch *scratch, int64_t t, int64_t n,
                               const Params *params, int64_t least, int64_t slack,
                               const Best *best) {
    for (int64_t x = 0; x < n; x++) {
        int64_t p = scratch->kept.at[x];
        int64_t value = cost(&params->objective, scratch->covered.at[p], scratch->lost.at[p]);
        if (value >= least + slack)
            continue;
        scratch->chosen.at[t + 1] = ROW(levels->ids, t)[p];
        if (!allowed(&params->side, &scratch->side, scratch->chosen.at, t + 2))
            continue;
        improve(best, value, scratch, t + 2);
        least = min(least, value);
        if (best->first)
            break;
    }
    return least;
}

/* Guess whether bound (2) is done with many pairs under the current child.

   It is not where an ordinary candidate, and the one that removes the most, could together exclude
   nearly all. Then what bad samples single candidates leave is not worth finding out. */
INLINED bool removals_say_much(const Levels *levels, int64_t t, const Numbers *objective) {
    if (objective->alpha <= 0 || objective->least > 0)
        return true;
    int64_t following = levels->position.at[t] + 1;
    int64_t middle = (following + levels->width.at[t]) >> 1, total = levels->total.at[t];
    const int64_t *covered = ROW(levels->covered, t);
    return 8 * (covered[following] + covered[middle] - total) > total;
}

/* Write what each later candidate may cover, by its good samples; return how many there are.

   The first is at a multiple of eight. Those not after the child are of no use: -1. */
static inline int64_t limit_all(const Levels *levels, const Scratch *scratch, int64_t t,
                                const Params *params, int64_t limit) {
    int64_t i = levels->position.at[t], child = ROW(levels->covered, t)[i];
    const Numbers *objective = &params->objective;
    const int64_t *ids = ROW(levels->ids, t), *groups = params->groups.at;
    weigh_good(levels, scratch, t, params);
    int64_t base = (i + 1) & -LANES, n = levels->width.at[t] - base;
    int64_t *kept = scratch->kept.at, *limits = scratch->limits.at, *mosts = scratch->mosts.at;
    const int64_t *lost = scratch->lost.at + base;
    for (int64_t y = 0; y < n; y++)
        kept[y] = base + y;
    if (objective->alpha == 1 && objective->gamma == 0) {
        /* The common case, in a form that is vectorised. */
        int64_t most = limit - 1 - objective->base, beta = objective->beta;
        for (int64_t y = 0; y < n; y++)
            limits[y] = max(-1, min(child, most - beta * lost[y]));
    } else {
        for (int64_t y = 0; y < n; y++)
            limits[y] = max(-1, min(child, most_bad(objective, limit, lost[y])));
    }
    for (int64_t y = 0; y < i + 1 - base; y++)
        limits[y] = -1;
    if (params->groups.n != 0)
        for (int64_t y = 0; y < n; y++)
            if (groups[ids[base + y]] == groups[ids[i]])
                limits[y] = -1;
    if (params->side.there != 0) {
        /* Those that bad and good samples leave, by position. */
        int64_t left = 0, some = 0, r = params->k - t - 1;
        for (int64_t y = i + 1 - base; y < n; y++)
            if (limits[y] >= 0)
                mosts[left++] = base + y;
        if (left > 0)
            some = look(&params->side, &scratch->side, scratch->chosen.at, t + 1, ids, mosts, left,
                        r);
        for (int64_t x = 0; x < (some != 0 ? left : 0); x++)
            if (some < 0 || !can_follow(&params->side, &scratch->side, ids[mosts[x]], r))
                limits[mosts[x] - base] = -1;
    }
    for (int64_t y = 0; y < n; y++)
        mosts[y] = limits[y];
    return n;
}

/* Write what pairs with the kept candidates may cover; -1 where bound (2) is done with them.

   `limits` are for pairs with earlier candidates, `mosts` for those with later ones. */
static inline void limit_kept(const Levels *levels, const Scratch *scratch, int64_t t, int64_t n,
                              const Numbers *objective, int64_t limit) {
    int64_t *limits = scratch->limits.at, *mosts = scratch->mosts.at, largest = 0;
    int64_t child = ROW(levels->covered, t)[levels->position.at[t]];
    for (int64_t y = n - 1; y >= 0; y--) {
        int64_t p = scratch->kept.at[y], covered = scratch->covered.at[p];
        limits[y] = max(-1, min(child, most_bad(objective, limit, scratch->lost.at[p])));
        mosts[y] = covered - largest <= limits[y] ? limits[y] : -1;
        largest = max(largest, child - covered);
    }
}

/* Leave out the columns of no use; return how many are left. */
INLINED int64_t drop_useless(const Scratch *scratch, int64_t n) {
    int64_t *kept = scratch->kept.at, *limits = scratch->limits.at, *mosts = scratch->mosts.at;
    int64_t left = 0;
    for (int64_t y = 0; y < n; y++) {
        if (limits[y] < 0)
            continue;
        kept[left] = kept[y];
        limits[left] = limits[y];
        mosts[left] = mosts[y];
        left++;
    }
    return left;
}

/* Write to `both` the good samples that the current child covers with candidate a. */
INLINED void keep_good(const Levels *levels, const Scratch *scratch, int64_t t, int64_t planes,
                       int64_t a) {
    int64_t stride = stride_of(levels->width.at[t], planes), bad_words = levels->bad_words.at[t];
    const uint64_t *column = levels->workspace.at + levels->start.at[t] + a;
    for (int64_t w = bad_words; w < levels->words.at[t]; w++)
        scratch->both.at[w - bad_words] = scratch->cover.at[w] & column[w * stride];
}

/* Weigh the good samples of `both` & eight candidates from position `low` on. */
static inline void weigh_eight(const Levels *levels, const Scratch *scratch, int64_t t,
                               int64_t planes, int64_t low) {
    int64_t n = levels->width.at[t], bad_words = levels->bad_words.at[t];
    int64_t stride = stride_of(n, planes);
    count_work(levels, LANES, 0, levels->words.at[t] - bad_words, planes);
    count(levels->workspace.at, levels->start.at[t] + bad_words * stride, stride, 0,
          levels->words.at[t] - bad_words, low, low + LANES, n, planes, scratch->both.at,
          scratch->low_less.at, scratch->low.at);
}

/* The cost of the current child with candidates a and p; `limit` if it is no less.

   `lost` is the good weight that they exclude. */
static inline int64_t price(const Levels *levels, int64_t t, int64_t planes,
                            const Numbers *objective, int64_t limit, int64_t a, int64_t p,
                            int64_t lost) {
    int64_t n = levels->width.at[t], i = levels->position.at[t], stride = stride_of(n, planes);
    int64_t most = most_bad(objective, limit, lost), bad = 0;
    if (most < 0)
        return limit;
    const uint64_t *row = levels->workspace.at + levels->start.at[t];
    for (int64_t w = 0; w < levels->bad_words.at[t]; w++, row += stride) {
        uint64_t word = row[i] & row[a] & row[p];
        if (planes == 0)
            bad += popcount(word);
        else if (word != 0)
            for (int64_t b = 0; b < planes; b++)
                bad += popcount(word & row[n + b]) << b;
        if (bad > most)
            return limit;
    }
    return min(limit, cost(objective, bad, lost));
}

/* Find the best one or two candidates to add to the current child of level t.

   Pairs are tried by the first bad samples of the child. With c the bad weight that a pair (a, b)
   covers, and h the number of the first samples that it covers, none lighter than u, c >= u h. A
   better pair has c at most the limits of a and b, see above; so one with u h above either is
   done with. The same goes for one candidate.

   Where the removals of single candidates say much, all are weighed first. Then c >= c_a - d_b by
   bound (2), and a is done with, in pairs with later candidates, when c_a - the largest d_b of
   these is above the limit of a.

   `least` is the cost to beat, `slack` 1 when sets of equal cost are wanted as well.

   The result is false, and no pair was tried, where the table would let most pairs pass: that of
   an ordinary pair covers fewer of its samples than the limits allow. */
static inline bool best_pair(const Levels *levels, const Scratch *scratch, int64_t t,
                             const Params *params, int64_t least, int64_t slack,
                             const Best *best) {
    int64_t i = levels->position.at[t], limit = least + slack, planes = params->planes, n;
    const Numbers *objective = &params->objective;
    const int64_t *ids = ROW(levels->ids, t), *groups = params->groups.at;
    int64_t child = ROW(levels->covered, t)[i], base = -1;
    int64_t *kept = scratch->kept.at, *limits = scratch->limits.at, *mosts = scratch->mosts.at;
    bool exact = removals_say_much(levels, t, objective);
    if (exact) {
        n = weigh_child(levels, scratch, t, params);
        least = try_each(levels, scratch, t, n, params, least, slack, best);
        if ((best->first && least < limit) || (child == 0 && objective->keep_idle == 0))
            return true;
        limit = least + slack;
        n = select_kept(objective, child, scratch->covered.at, scratch->lost.at, kept, n, 2, limit,
                        scratch->top.at);
        limit_kept(levels, scratch, t, n, objective, limit);
    } else {
        n = limit_all(levels, scratch, t, params, limit);
        base = (i + 1) & -LANES;
    }
    int64_t useful = 0;
    double spare = 0;
    for (int64_t y = 0; y < n; y++) {
        useful += limits[y] >= 0;
        spare += (double)max(limits[y], 0);
    }
    if (useful == 0 || (exact && useful == 1))
        return true;
    if (table_lets_pass(levels, t, planes, spare / (double)useful))
        return false;
    if (4 * useful < 3 * n) {
        n = drop_useless(scratch, n);
        base = -1;
    }
    int64_t columns = (n + LANES - 1) & -LANES;
    /* Half of the pairs, each by one word or two. */
    count_work(levels, columns, 0, useful, 0);
    for (int64_t y = n; y < columns; y++)
        limits[y] = -1;
    int64_t rows = enough_words(levels, t, planes, spare / (double)useful), height = rows + 1;
    int64_t filled = first_words(levels, scratch, t, n, base, planes, rows, &rows), lightest = 1;
    if (planes != 0 && filled != 0) {
        lightest = lightest_of(levels, scratch, t, planes, filled);
        for (int64_t y = 0; y < n; y++) {
            limits[y] = floor_divide(limits[y], lightest);
            mosts[y] = floor_divide(mosts[y], lightest);
        }
    }
    mosts[columns] = FAR;

    /* The column behind all others has all samples: pairs with it are single candidates. */
    for (int64_t size = exact ? t + 3 : t + 2; size < t + 4; size++) {
        bool alone = size == t + 2;
        int64_t x = alone ? columns : 0, last = alone ? columns + 1 : n - 1, y = 0;
        int64_t loaded = -1, weighed = -1;
        while (x < last) {
            int64_t block = scan(scratch->first.at, height, rows, x, last, y, mosts, limits, n);
            if (block == 0)
                break;
            x = block >> 32;
            y = (block >> 8) & ((1 << 24) - 1);
            int64_t a = alone ? i : kept[x];
            int64_t group = params->groups.n != 0 && !alone ? groups[ids[a]] : -1;
            for (int64_t z = alone ? y : max(y, x + 1); z < min(y + LANES, n); z++) {
                int64_t b = kept[z];
                if (((block >> (z - y)) & 1) == 0 || (group >= 0 && groups[ids[b]] == group))
                    continue;
                if (loaded != x) {
                    loaded = x;
                    weighed = -1;
                    keep_good(levels, scratch, t, planes, a);
                }
                if (weighed != (b & -LANES)) {
                    weighed = b & -LANES;
                    weigh_eight(levels, scratch, t, planes, weighed);
                }
                int64_t lost = params->good - scratch->low.at[b];
                int64_t value = price(levels, t, planes, objective, limit, a, b, lost);
                if (value >= limit)
                    continue;
                scratch->chosen.at[t + 1] = ids[a];
                scratch->chosen.at[size - 1] = ids[b];
                if (!allowed(&params->side, &scratch->side, scratch->chosen.at, size))
                    continue;
                improve(best, value, scratch, size);
                if (best->first)
                    return true;
                least = min(least, value);
                limit = least + slack;
                for (int64_t v = 0; v < n; v++) {
                    int64_t here = most_bad(objective, limit, scratch->lost.at[kept[v]]);
                    here = floor_divide(here, lightest);
                    limits[v] = min(limits[v], here);
                    mosts[v] = min(mosts[v], here);
                }
            }
            y += LANES;
        }
    }
    return true;
}

#endif
