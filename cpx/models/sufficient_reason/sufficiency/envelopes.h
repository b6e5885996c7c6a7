/* Convex envelopes of trees.

   With x, a row z and a set S of attributes, each tree gives the rival the value of some leaf on
   the row that is as x in S and as z elsewhere. A leaf is reached when S has the attributes by
   which z misses it, and has none of those by which x does. Where S is a fractional set, with
   shares s of its attributes, the convex envelope of this function of S is the least mean value of
   leaves, with weights y that add up to 1:

       minimise  sum of v_l y_l
       where     sum of y_l over the leaves that z misses by a  <=  s_a
                 sum of y_l over the leaves that x misses by a  <=  1 - s_a    for each attribute a

   Where a tree tests no attribute twice, any two of these sets of leaves are disjoint or one is in
   the other. Then the least leaves may take as much as they can, one after the other, and that is
   an optimum; most trees are of that kind between x and z. The others are left to the simplex
   method, as are the weights of attributes, which are its dual. */

#ifndef CPX_TREES_SUFFICIENCY_ENVELOPES_H
#define CPX_TREES_SUFFICIENCY_ENVELOPES_H

#include "cpx/models/sufficient_reason/sufficiency/boxes.h"

/* Shares are 0 and 1 to so much. */
#define SMALL 1e-9

/* After so many pivots the lowest places are taken, which does not go round in circles. */
enum { PIVOTS = 200, BLAND = 60 };

/* What the kernels are given as workspace; see weigh in linear_cuts.py. */
typedef struct {
    uint64_t *own, *there; /* the leaves that each entry reaches at x, and at z */
    uint64_t *tests;       /* the leaves of a tree, then those that its tests miss */
    uint64_t *live;        /* those of them that are reached */
    uint64_t *seen;        /* the leaves, and those that are missed, at three positions */
    double *capacity;      /* of the tests */
    double *room;          /* the same for those that are still of use */
    Bytes2 misses;
    int64_t *leaves;
    double *table;
    int64_t *basis, *others; /* weights in the end, and the variables that are not basic */
} Room;

/* Write the leaves that each entry reaches. */
static inline void look(const int64_t *point, uint64_t *reached, const Arrays *t) {
    for (int64_t e = 0; e < t->entry_tree.n; e++) {
        int64_t tree = t->entry_tree.at[e];
        int64_t width = t->tree_word.at[tree + 1] - t->tree_word.at[tree];
        for (int64_t k = 0; k < width; k++)
            reached[t->absent_at.at[e] + k] = reached_at(e, point[t->tested.at[e]], width, k, t);
    }
}

/* Whether an entry tells x from z. */
static inline bool tells(int64_t e, int64_t width, const Room *room, const Arrays *t) {
    for (int64_t k = t->absent_at.at[e]; k < t->absent_at.at[e] + width; k++)
        if (room->own[k] != room->there[k])
            return true;
    return false;
}

/* Write the leaves between x and z to row 0 of the tests.

   Attributes whose share is low or less are as in z, and from high on as in x. The entry but is
   left out. */
static inline void between(int64_t tree, int64_t but, const uint64_t *full, const double *shares,
                           double low, double high, const Room *room, const Arrays *t) {
    int64_t first = t->tree_word.at[tree], width = t->tree_word.at[tree + 1] - first;
    uint64_t *tests = room->tests;
    for (int64_t k = 0; k < width; k++)
        tests[k] = full[first + k];
    for (int64_t i = t->tests_at.at[tree]; i < t->tests_at.at[tree + 1]; i++) {
        int64_t e = t->tests.at[i];
        if (e == but)
            continue;
        const uint64_t *own = room->own + t->absent_at.at[e];
        const uint64_t *there = room->there + t->absent_at.at[e];
        double share = shares[t->tested.at[e]];
        for (int64_t k = 0; k < width; k++)
            tests[k] &= (share > low ? own[k] : 0) | (share < high ? there[k] : 0);
    }
}

/* Write by which tests leaves are missed, see between; count these rows.

   Each test that tells x from z has two: the leaves that z misses by it, which are reached to its
   share, and those that x misses. */
static inline int64_t tests_that_tell(int64_t tree, int64_t but, const double *shares, double low,
                                      double high, const Room *room, const Arrays *t) {
    int64_t first = t->tree_word.at[tree], width = t->tree_word.at[tree + 1] - first;
    uint64_t *tests = room->tests;
    int64_t count = 0;
    for (int64_t i = t->tests_at.at[tree]; i < t->tests_at.at[tree + 1]; i++) {
        int64_t e = t->tests.at[i];
        double share = shares[t->tested.at[e]];
        if (e == but || share <= low || share >= high || !tells(e, width, room, t))
            continue;
        for (int64_t k = 0; k < width; k++) {
            tests[(count + 1) * width + k] = ~room->there[t->absent_at.at[e] + k];
            tests[(count + 2) * width + k] = ~room->own[t->absent_at.at[e] + k];
        }
        room->capacity[count] = share;
        room->capacity[count + 1] = 1.0 - share;
        count += 2;
    }
    return count;
}

/* Write the values of the leaves in row 0, the greatest first, and in which rows they are. */
static inline int64_t leaves_between(int64_t first, int64_t width, int64_t count,
                                     const uint64_t *rows, const Room *room, const Arrays *t) {
    int64_t n = 0;
    for (int64_t k = 0; k < width; k++)
        for (uint64_t live = rows[k]; live; live &= live - 1) {
            int64_t place = lowest_place(live);
            uint8_t *misses = ROW(room->misses, n);
            room->leaves[n] = t->values.at[64 * (first + k) + place];
            for (int64_t j = 0; j < count; j++)
                misses[j] = rows[(j + 1) * width + k] >> place & 1;
            n++;
        }
    return n;
}

/* Keep the leaves of which no other one asks for more by fewer attributes; count them. */
static inline int64_t undominated(int64_t n, int64_t k, const Room *room) {
    int64_t *leaves = room->leaves, kept = 0;
    /* The last ones ask for most, and are compared with first; they are gathered at the end. */
    for (int64_t i = n - 1; i >= 0; i--) {
        const uint8_t *own = ROW(room->misses, i);
        bool implied = false;
        for (int64_t other = n - kept; other < n && !implied; other++) {
            const uint8_t *misses = ROW(room->misses, other);
            implied = true;
            for (int64_t j = 0; j < k; j++)
                if (misses[j] && !own[j]) {
                    implied = false;
                    break;
                }
        }
        if (!implied) {
            kept++;
            leaves[n - kept] = leaves[i];
            memmove(ROW(room->misses, n - kept), own, k);
        }
    }
    for (int64_t i = 0; i < kept; i++) {
        leaves[i] = leaves[n - kept + i];
        memmove(ROW(room->misses, i), ROW(room->misses, n - kept + i), k);
    }
    return kept;
}

/* Exchange a basic variable, by its row, for another one, by its column. */
static inline void pivot(int64_t rows, int64_t columns, int64_t out, int64_t into, double *table) {
    double *restrict chosen = table + out * columns, by = chosen[into];
    for (int64_t i = 0; i < columns; i++)
        chosen[i] /= by;
    chosen[into] = 1.0 / by;
    for (int64_t j = 0; j <= rows; j++) {
        double *restrict row = table + j * columns, factor = row[into];
        if (j == out || factor == 0.0)
            continue;
        for (int64_t i = 0; i < columns; i++)
            row[i] -= factor * chosen[i];
        row[into] = -factor / by;
    }
}

/* Write weights that cost least: c + sum of capacity_j w_j, with c + w(R(l)) >= leaves[l].

   The simplex method on the dual: maximise the sum of leaves[l] y_l, where all y_l add up to 1 at
   most, and those of the leaves in a row to its capacity. The weights are the reduced costs of its
   slacks. */
static inline double program(int64_t n, int64_t k, const double *capacity, const Room *room) {
    const int64_t columns = n + 1, rows = k + 1, *leaves = room->leaves;
    int64_t *basis = room->basis, *others = room->others;
    double *table = room->table, *costs = table + rows * columns, scale = 0.0;
    for (int64_t i = 0; i < n; i++)
        if ((double)leaves[i] > scale)
            scale = (double)leaves[i];
    for (int64_t j = 0; j < k; j++)
        basis[j] = 0;
    if (scale == 0.0)
        return 0.0;
    for (int64_t j = 0; j < k; j++) {
        for (int64_t i = 0; i < n; i++)
            table[j * columns + i] = ROW(room->misses, i)[j];
        table[j * columns + n] = capacity[j];
    }
    for (int64_t i = 0; i < n; i++) {
        table[k * columns + i] = 1.0;
        costs[i] = -(double)leaves[i] / scale;
        others[i] = i;
    }
    table[k * columns + n] = 1.0;
    costs[n] = 0.0;
    for (int64_t j = 0; j < rows; j++)
        basis[j] = n + j;
    for (int pivots = 0; pivots < PIVOTS; pivots++) {
        int64_t into = -1, out = -1;
        double best = -SMALL, step = 0.0;
        for (int64_t i = 0; i < n; i++) {
            if (pivots < BLAND) {
                if (costs[i] < best)
                    best = costs[i], into = i;
            } else if (costs[i] < -SMALL && (into < 0 || others[i] < others[into]))
                into = i;
        }
        if (into < 0)
            break;
        for (int64_t j = 0; j < rows; j++) {
            double entry = table[j * columns + into];
            if (entry > SMALL) {
                double ratio = table[j * columns + n] / entry;
                if (out < 0 || ratio < step - 1e-12 ||
                    (ratio < step + 1e-12 && basis[j] < basis[out]))
                    out = j, step = ratio;
            }
        }
        if (out < 0)
            break;
        pivot(rows, columns, out, into, table);
        int64_t left = basis[out];
        basis[out] = others[into];
        others[into] = left;
    }
    double cost = costs[n];
    /* The rounded weights take the place of the basis. */
    for (int64_t j = 0; j < k; j++)
        basis[j] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t j = others[i] - n;
        if (0 <= j && j < k) {
            double weight = 0.0 > costs[i] ? 0.0 : costs[i];
            weight = 1.0 < weight ? 1.0 : weight;
            basis[j] = (int64_t)(weight * scale + 0.5);
        }
    }
    return cost * scale;
}

/* Write the leaves of a tree with one entry at a position, then those that miss it there.

   Of two positions with the same, the envelope is the same. Where nothing is left of x, no leaf
   is missed. */
static inline void leaves_at(int64_t width, int64_t e, int64_t position, double share,
                             uint64_t *leaves, const Room *room, const Arrays *t) {
    for (int64_t k = 0; k < width; k++) {
        uint64_t own = share <= SMALL ? 0 : room->own[t->absent_at.at[e] + k];
        uint64_t there = reached_at(e, position, width, k, t);
        leaves[k] = room->tests[k] & (own | there);
        leaves[width + k] = leaves[k] & ~there;
    }
}

/* Return the envelope of a tree with one entry at a position, by the rows of its others.

   leaves: See leaves_at. */
static inline double envelope_at(int64_t first, int64_t width, int64_t e, const uint64_t *leaves,
                                 int64_t count, double share, const Room *room, const Arrays *t) {
    uint64_t *tests = room->tests, *live = room->live;
    double *capacity = room->capacity, *left = room->room;
    bool nested = true;
    int64_t n = 0, kept = 0, rows = count, high = 0;
    for (int64_t k = 0; k < width; k++)
        n += popcount(live[k] = leaves[k]);
    /* The greatest leaf has the lowest bit. */
    for (int64_t k = 0; k < width; k++)
        if (live[k]) {
            high = t->values.at[64 * (first + k) + lowest_place(live[k])];
            break;
        }
    if (n == 1)
        return (double)high;
    if (share > SMALL) {
        for (int64_t k = 0; k < width; k++) {
            tests[(count + 1) * width + k] = leaves[width + k];
            tests[(count + 2) * width + k] = ~room->own[t->absent_at.at[e] + k];
        }
        capacity[count] = share;
        capacity[count + 1] = 1.0 - share;
        rows += 2;
    }
    for (int64_t j = 0; j < rows; j++) {
        const uint64_t *row = live + (kept + 1) * width;
        uint64_t some = 0;
        for (int64_t k = 0; k < width; k++)
            some |= live[(kept + 1) * width + k] = tests[(j + 1) * width + k] & live[k];
        if (some == 0)
            continue;
        left[kept++] = capacity[j];
        for (int64_t i = 1; i < kept && n > 2; i++) {
            const uint64_t *here = live + i * width;
            uint64_t common = 0, one = 0, other = 0;
            for (int64_t k = 0; k < width; k++) {
                common |= here[k] & row[k];
                one |= here[k] & ~row[k];
                other |= row[k] & ~here[k];
            }
            if (!one && !other) {
                /* The same leaves: one row is enough. */
                kept--;
                if (left[kept] < left[i - 1])
                    left[i - 1] = left[kept];
                break;
            }
            if (common && one && other)
                nested = false;
        }
    }
    if (!nested) {
        n = leaves_between(first, width, kept, live, room, t);
        for (int64_t i = 0; i < n; i++)
            room->leaves[i] = high - room->leaves[i];
        return (double)high - program(n, kept, left, room);
    }
    double total = 0.0, rest = 1.0;
    for (int64_t k = width - 1; k >= 0; k--)
        for (uint64_t word = live[k]; word && rest > 0.0;) {
            int64_t leaf = highest_place(word);
            uint64_t top = UINT64_C(1) << leaf;
            double take = rest;
            word ^= top;
            for (int64_t j = 0; j < kept; j++)
                if (live[(j + 1) * width + k] & top && left[j] < take)
                    take = left[j];
            if (take > 0.0) {
                for (int64_t j = 0; j < kept; j++)
                    if (live[(j + 1) * width + k] & top)
                        left[j] -= take;
                rest -= take;
                total += take * (double)t->values.at[64 * (first + k) + leaf];
            }
        }
    return total + rest * (double)high;
}

#endif
