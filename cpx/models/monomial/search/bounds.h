/* Lower bounds on the cost of all sets below a node; see bounds.py for the proofs. */

#ifndef CPX_BOUNDS_H
#define CPX_BOUNDS_H

#include "cpx/models/monomial/search/objective.h"

/* Keep the r largest values seen, decreasing. */
INLINED void insert(int64_t *top, int64_t r, int64_t value) {
    if (value <= top[r - 1])
        return;
    int64_t at = r - 1;
    for (; at > 0 && top[at - 1] < value; at--)
        top[at] = top[at - 1];
    top[at] = value;
}

/* Figures of the candidates that are kept. */
typedef struct {
    int64_t less, full;  /* sums of the r - 1 and of the r largest removals, `covered` at most */
    int64_t least, most; /* removals */
    int64_t worst;       /* loss */
} Survey;

static inline Survey survey(int64_t covered, const int64_t *after, const int64_t *lost,
                            const int64_t *kept, int64_t n, int64_t r, int64_t *top) {
    Survey seen = {0, 0, covered, 0, 0};
    if (r == 2) {
        int64_t first = 0, second = 0;
        for (int64_t x = 0; x < n; x++) {
            int64_t removed = covered - after[kept[x]];
            second = max(second, min(first, removed));
            first = max(first, removed);
            seen.least = min(seen.least, removed);
            seen.worst = max(seen.worst, lost[kept[x]]);
        }
        seen.less = seen.most = first;
        seen.full = min(first + second, covered);
        return seen;
    }
    for (int64_t x = 0; x < r; x++)
        top[x] = 0;
    for (int64_t x = 0; x < n; x++) {
        int64_t removed = covered - after[kept[x]];
        insert(top, r, removed);
        seen.least = min(seen.least, removed);
        seen.worst = max(seen.worst, lost[kept[x]]);
    }
    for (int64_t x = 0; x < r - 1; x++)
        seen.less = min(seen.less + top[x], covered);
    seen.full = min(seen.less + top[r - 1], covered);
    seen.most = top[0];
    return seen;
}

/* See select in bounds.py. */
static inline int64_t select_kept(const Numbers *objective, int64_t covered, const int64_t *after,
                             const int64_t *lost, int64_t *kept, int64_t n, int64_t r,
                             int64_t limit, int64_t *top) {
    for (;;) {
        Survey seen = survey(covered, after, lost, kept, n, r, top);
        int64_t rest = covered - min(seen.least + seen.less, seen.full), left = 0;
        /* The worst of all figures together: no candidate has a greater bound. */
        if (seen.least > 0 && low(objective, covered - seen.most, rest, seen.worst) < limit)
            return n;
        for (int64_t x = 0; x < n; x++) {
            int64_t p = kept[x], removed = covered - after[p];
            if (removed == 0 && objective->keep_idle == 0)
                continue;
            rest = covered - min(removed + seen.less, seen.full);
            if (low(objective, after[p], rest, lost[p]) < limit)
                kept[left++] = p;
        }
        /* With two features to go the pairs are cheap, and a second round has little to gain. */
        if (left == n || left == 0 || r == 2)
            return left;
        n = left;
    }
}

/* Sort items by their key, increasing and stable.

   Runs are sorted by insertion, then merged two by two. `spare` has room for as many items; where
   it is NULL all are one run. */
static NOT_INLINED void order_by(const int64_t *keys, int64_t *items, int64_t n, int64_t *spare) {
    int64_t run = spare == NULL ? max(n, 1) : 16;
    for (int64_t first = 0; first < n; first += run)
        for (int64_t x = first + 1; x < min(first + run, n); x++) {
            int64_t item = items[x], y = x;
            for (; y > first && keys[items[y - 1]] > keys[item]; y--)
                items[y] = items[y - 1];
            items[y] = item;
        }
    for (; run < n; run *= 2)
        for (int64_t first = 0; first + run < n; first += 2 * run) {
            int64_t x = first, middle = first + run, last = min(middle + run, n), y = middle;
            if (keys[items[middle - 1]] <= keys[items[middle]])
                continue;
            memcpy(spare + first, items + first, (size_t)run * sizeof *items);
            for (int64_t z = first; x < middle; z++)
                items[z] = y < last && keys[items[y]] < keys[spare[x]] ? items[y++] : spare[x++];
        }
}

/* See tighten in bounds.py; the result is how many candidates are left, `bound` is set. */
static inline int64_t tighten(const Numbers *objective, int64_t covered, const int64_t *after,
                              const int64_t *lost, int64_t *kept, int64_t n, int64_t r,
                              int64_t limit, int64_t *top, int64_t *lows, int64_t *lows_with,
                              int64_t *bound) {
    int64_t alpha = objective->alpha, beta = objective->beta, less = 0, full = 0, left = 0;
    order_by(lost, kept, n, lows);
    for (int64_t x = 0; x < r; x++)
        top[x] = 0;
    for (int64_t x = 0; x < n; x++) {
        int64_t removed = covered - after[kept[x]], loss = lost[kept[x]];
        if (removed > top[r - 1]) {
            insert(top, r, removed);
            less = 0;
            for (int64_t y = 0; y < r - 1; y++)
                less = min(less + top[y], covered);
            full = min(less + top[r - 1], covered);
        }
        lows[x] = low(objective, covered, covered - full, loss);
        lows_with[x] = alpha >= 0 ? objective->base + beta * loss - alpha * less : -FAR;
    }
    for (int64_t x = n - 2; x >= 0; x--) {
        lows[x] = min(lows[x], lows[x + 1]);
        lows_with[x] = min(lows_with[x], lows_with[x + 1]);
    }
    *bound = limit;
    for (int64_t x = 0; x < n; x++) {
        int64_t p = kept[x];
        int64_t mine = max(lows[x], lows_with[x] + max(alpha, 0) * after[p]);
        mine = max(mine, low(objective, after[p], 0, lost[p]));
        if (mine < limit) {
            *bound = min(*bound, mine);
            kept[left++] = p;
        }
    }
    return left;
}

/* See subtree_bounds in bounds.py. */
static inline void subtree_bounds(const Numbers *objective, int64_t covered, const int64_t *after,
                                  const int64_t *lost, const int64_t *kept, int64_t n, int64_t r,
                                  int64_t *bounds) {
    /* Removals of the places x + 1 .. x + r - 1. Sums that may not fit are not looked at. */
    int64_t total = 0, most = covered > FAR / r ? covered : 0;
    for (int64_t x = n - 1; x >= 0; x--) {
        int64_t p = kept[x];
        bounds[x] = low(objective, after[p], after[p] - max(total, most), lost[p]);
        total += covered - after[p];
        if (x + r - 1 < n)
            total -= covered - after[kept[x + r - 1]];
    }
}

/* Raise the bounds of subtree_bounds by (3), for completions of two or more.

   `before` is the good weight that is lost without any of the candidates. With p and a later q a
   completion loses at least l_p + (l_q - s_pq) - before. Where that is too much for a cost below
   the limit, with the least bad weight that completions with p leave, q is in none, and what it
   removes does not count. Others must be in one where they alone add to a constraint that is not
   kept with p: `slack` is what is left of each without it. Single candidates are not looked at:
   their costs are known.

   Only the first `front` candidates are looked at. Where these are all, they are sorted as there;
   else so are the first and the others, and no completion removes more than `most` besides p. */
static inline void pair_bounds(const Numbers *objective, Shorts2 shared, const Additive *asking,
                               const int64_t *slack, const int64_t *ids, int64_t covered,
                               int64_t before, const int64_t *after, const int64_t *lost,
                               int64_t n, int64_t front, int64_t most, int64_t r, int64_t limit,
                               int64_t *bounds) {
    int64_t alpha = objective->alpha, beta = objective->beta;
    for (int64_t x = 0; x < min(front, n - 1); x++) {
        if (bounds[x] >= limit)
            continue;
        const int32_t *row = ROW(shared, ids[x]);
        int64_t rest = after[x];
        if (front < n)
            rest -= min(rest, most);
        else
            for (int64_t y = x + 1; y < min(x + r, n); y++)
                rest -= min(rest, covered - after[y]);
        int64_t spare = floor_divide(limit - 1 - objective->base - alpha * rest, beta);
        spare += before - lost[x];
        int64_t least = FAR, left = after[x], some = 0;
        for (int64_t y = x + 1; y < n; y++) {
            if (y == front)
                some = 0;
            int64_t more = max(before, lost[y] - row[ids[y]]);
            if (more > spare)
                continue;
            least = min(least, more);
            if (some < r - 1) {
                some++;
                left -= min(left, covered - after[y]);
            }
            /* Too low already, whatever the others. */
            if (alpha * max(left - rest, 0) <= beta * (spare - least)) {
                least = before;
                left = 0;
                break;
            }
        }
        for (int64_t c = 0; c < asking->gains.n; c++) {
            if (least >= FAR || slack[c] + ROW(asking->changes, ids[x])[c] >= 0)
                continue;
            int64_t adding = FAR;
            for (int64_t y = x + 1; y < n; y++)
                if (ROW(asking->changes, ids[y])[c] > 0)
                    adding = min(adding, max(before, lost[y] - row[ids[y]]));
            least = max(least, adding <= spare ? adding : FAR);
        }
        if (least == FAR) {
            bounds[x] = limit;
        } else {
            int64_t loss = lost[x] + least - before;
            bounds[x] = max(bounds[x], low(objective, after[x], max(rest, left), loss));
        }
    }
}

#endif
