/* Boxes of positions: the leaves they reach, and bounds on their sum.

The leaves of each tree are bits, the greatest value first, so that the best reachable leaf of a
tree over a box is the lowest bit of the intersection of two masks per attribute. The sum of the
best leaves bounds the total over the box; one sweep over an attribute gives the bound for each
of its positions, below each, and above each. Arrays named live have the leaves at one depth. */

#ifndef CPX_TREES_SUFFICIENCY_BOXES_H
#define CPX_TREES_SUFFICIENCY_BOXES_H

#include "cpx/models/sufficient_reason/sufficiency/tables.h"

/* What a box says of an attribute: its first and last position, and whether it may be missing. */
enum { LOW, HIGH, MISSING, SIDES };

/* Return the segment of an entry that a position is in.

   The segments of all entries of an attribute at one position lie side by side, as they are most
   often read. */
static inline int64_t segment(int64_t e, int64_t position, const Arrays *t) {
    int64_t a = t->tested.at[e], entries = t->entry_of.at[a + 1] - t->entry_of.at[a];
    return t->segment_of.at[t->segment_at.at[e] + entries * position];
}

/* Return word k of the leaves that an entry reaches at a position, -1 for a missing value. */
static inline uint64_t reached_at(int64_t e, int64_t position, int64_t width, int64_t k,
                                  const Arrays *t) {
    if (position < 0)
        return t->absent.at[t->absent_at.at[e] + k];
    return t->here.at[t->mask_at.at[e] + width * segment(e, position, t) + k];
}

/* Return the value of the best live leaf that a segment reaches; its masks begin at mask. */
static inline int64_t at_segment(const uint64_t *live, int64_t first, int64_t width, int64_t mask,
                                 const Arrays *t) {
    for (int64_t k = 0; k < width; k++) {
        uint64_t word = live[first + k] & t->here.at[mask + k];
        if (word)
            return t->values.at[64 * (first + k) + lowest_place(word)];
    }
    return 0;
}

/* Return the value of the best live leaf that a missing value reaches. */
static inline int64_t at_missing(const uint64_t *live, int64_t first, int64_t width, int64_t mask,
                                 const Arrays *t) {
    for (int64_t k = 0; k < width; k++) {
        uint64_t word = live[first + k] & t->absent.at[mask + k];
        if (word)
            return t->values.at[64 * (first + k) + lowest_place(word)];
    }
    return 0;
}

/* Return the sum of the best live leaves of all trees. */
static inline int64_t total_of(const uint64_t *live, const Arrays *t) {
    int64_t total = t->base.at[0];
    for (int64_t tree = 0; tree < t->tree_word.n - 1; tree++)
        for (int64_t k = t->tree_word.at[tree]; k < t->tree_word.at[tree + 1]; k++)
            if (live[k]) { /* a box that is not empty reaches a leaf */
                total += t->values.at[64 * k + lowest_place(live[k])];
                break;
            }
    return total;
}

/* Drop the leaves that positions low to high, and a missing value if so, do not reach.

Of a leaf that is reached by positions with gaps between them, those in the gaps are not known
here, unless they are one segment: it may stay, and the bounds are bounds all the same. */
static inline void drop_others(uint64_t *live, int64_t a, int64_t low, int64_t high,
                               int64_t missing, const Arrays *t) {
    for (int64_t e = t->entry_of.at[a]; e < t->entry_of.at[a + 1]; e++) {
        int64_t tree = t->entry_tree.at[e], first = t->tree_word.at[tree];
        int64_t width = t->tree_word.at[tree + 1] - first;
        int64_t b = t->mask_at.at[e], c = b;
        if (low <= high) {
            b += width * segment(e, high, t);
            c += width * segment(e, low, t);
        }
        for (int64_t k = 0; k < width; k++) {
            uint64_t mask = 0;
            if (low <= high)
                mask = b == c ? t->here.at[b + k] : t->below.at[b + k] & t->above.at[c + k];
            if (missing)
                mask |= t->absent.at[t->absent_at.at[e] + k];
            live[first + k] &= mask;
        }
    }
}

/* Say of each tree whether its live leaves have one value; return the total of the best. */
static inline int64_t decided(const uint64_t *live, uint8_t *taken, const Arrays *t) {
    int64_t total = t->base.at[0];
    for (int64_t tree = 0; tree < t->tree_word.n - 1; tree++) {
        int64_t end = t->tree_word.at[tree + 1];
        taken[tree] = 1;
        for (int64_t k = t->tree_word.at[tree]; k < end; k++) {
            if (live[k] == 0)
                continue;
            int64_t bit = 64 * k + lowest_place(live[k]);
            total += t->values.at[bit];
            /* The leaves of that value are the bits up to the last, maybe words further on. */
            int64_t last = t->last.at[bit];
            for (int64_t m = k; m < end; m++) {
                uint64_t rest = live[m];
                if (64 * m + 63 <= last)
                    continue;
                if (64 * m <= last)
                    rest = rest >> (last - 64 * m) >> 1;
                if (rest) {
                    taken[tree] = 0;
                    break;
                }
            }
            break;
        }
    }
    return total;
}

/* Add up, over the trees that test a, the best leaves at, up to and from each position.

Trees that are taken are left out. The result is the sum of their best leaves anywhere. */
static inline int64_t sweep(const uint64_t *live, int64_t a, int64_t low, int64_t high,
                            const uint8_t *taken, int64_t *at, int64_t *left, int64_t *right,
                            const Arrays *t) {
    int64_t part = 0;
    for (int64_t c = low; c <= high; c++)
        at[c] = left[c] = right[c] = 0;
    for (int64_t e = t->entry_of.at[a]; e < t->entry_of.at[a + 1]; e++) {
        int64_t tree = t->entry_tree.at[e], here = t->starts_at.at[e];
        int64_t j0 = segment(e, low, t), j1 = segment(e, high, t);
        if (j0 == j1 || taken[tree])
            continue;
        int64_t first = t->tree_word.at[tree], width = t->tree_word.at[tree + 1] - first;
        int64_t mask = t->mask_at.at[e], before = 0, greatest = 0;
        /* The sums are kept as differences from one position to the next. */
        for (int64_t j = j0; j <= j1; j++) {
            int64_t value = at_segment(live, first, width, mask + width * j, t);
            int64_t start = j == j0 ? low : t->starts.at[here + j];
            at[start] += value - before;
            before = value;
            if (j == j0 || value > greatest) {
                left[start] += value - greatest;
                greatest = value;
            }
        }
        part += greatest;
        greatest = 0;
        for (int64_t j = j1; j >= j0; j--) {
            int64_t value = at_segment(live, first, width, mask + width * j, t);
            if (j == j1 || value > greatest) {
                right[j == j1 ? high : t->starts.at[here + j + 1] - 1] += value - greatest;
                greatest = value;
            }
        }
    }
    for (int64_t c = low + 1; c <= high; c++) {
        at[c] += at[c - 1];
        left[c] += left[c - 1];
    }
    for (int64_t c = high - 1; c >= low; c--)
        right[c] += right[c + 1];
    return part;
}

/* Take the trees whose best leaf depends on the position of a. */
static inline void lend(const uint64_t *live, int64_t a, int64_t low, int64_t high, uint8_t *taken,
                        const Arrays *t) {
    for (int64_t e = t->entry_of.at[a]; e < t->entry_of.at[a + 1]; e++) {
        int64_t tree = t->entry_tree.at[e];
        if (taken[tree])
            continue;
        int64_t first = t->tree_word.at[tree], width = t->tree_word.at[tree + 1] - first;
        int64_t j0 = segment(e, low, t), j1 = segment(e, high, t);
        int64_t one = 0;
        for (int64_t j = j0; j <= j1; j++) {
            int64_t value = at_segment(live, first, width, t->mask_at.at[e] + width * j, t);
            if (j > j0 && value != one) {
                taken[tree] = 1;
                break;
            }
            one = value;
        }
    }
}

/* Say whether the bound falls by the gap when each tree is lent to one attribute.

The trees lent to an attribute must agree on its position. Attributes are served in the order of
what they would gain with all trees that test them. box has the positions at this depth. */
static inline bool shared(const uint64_t *live, const int64_t *box, int64_t gap, uint8_t *taken,
                          Ints gains, Ints2 profile, const Arrays *t) {
    int64_t *at = profile.at, *left = at + profile.m, *right = left + profile.m;
    /* A float: many gains may add up beyond 64 bits, and this only tells what is hopeless. */
    double hoped = 0.0;
    for (int64_t a = 0; a < gains.n; a++)
        hoped += (double)gains.at[a];
    while (hoped >= (double)gap) {
        int64_t a = 0;
        for (int64_t b = 1; b < gains.n; b++)
            if (gains.at[b] > gains.at[a])
                a = b;
        if (gains.at[a] <= 0)
            return false;
        hoped -= (double)gains.at[a];
        gains.at[a] = 0;
        int64_t low = box[SIDES * a + LOW], high = box[SIDES * a + HIGH];
        int64_t part = sweep(live, a, low, high, taken, at, left, right, t);
        int64_t best = at[low];
        for (int64_t c = low + 1; c <= high; c++)
            best = max(best, at[c]);
        if (best < part) {
            gap -= part - best;
            if (gap <= 0)
                return true;
            lend(live, a, low, high, taken, t);
        }
    }
    return false;
}

#endif
