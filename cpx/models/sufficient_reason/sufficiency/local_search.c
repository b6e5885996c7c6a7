/* Local search for a counterexample from a point of the exact search; see local_search.py. */

#include "cpx/models/sufficient_reason/sufficiency/boxes.h"

/* Rows of words for the leaves of a point: workspace, those that it reaches, and those that it
   misses by one attribute. */
typedef struct {
    uint64_t *live, *reached, *missed;
} Leaves;

/* Write the leaves of a tree that a point reaches, or misses by one attribute. */
static inline void reach(const Leaves *leaves, int64_t tree, const uint64_t *full,
                         const int64_t *point, const Arrays *t) {
    int64_t first = t->tree_word.at[tree], width = t->tree_word.at[tree + 1] - first;
    uint64_t *reached = leaves->reached + first, *missed = leaves->missed + first;
    for (int64_t k = 0; k < width; k++) {
        reached[k] = full[first + k];
        missed[k] = 0;
    }
    for (int64_t i = t->tests_at.at[tree]; i < t->tests_at.at[tree + 1]; i++) {
        int64_t e = t->tests.at[i];
        for (int64_t k = 0; k < width; k++) {
            uint64_t mask = reached_at(e, point[t->tested.at[e]], width, k, t);
            missed[k] = (missed[k] & mask) | (reached[k] & ~mask);
            reached[k] &= mask;
        }
    }
}

/* Add up, over the trees that test a, the values at each position of a.

   The sum of a missing value, which has one where a may be missing, is apart. */
static void sum_along(const Leaves *leaves, int64_t a, const int64_t *sides, int64_t position,
                      int64_t *at, int64_t *missing, const Arrays *t) {
    int64_t low = sides[LOW], high = sides[HIGH];
    for (int64_t c = low; c <= high; c++)
        at[c] = 0;
    *missing = 0;
    for (int64_t e = t->entry_of.at[a]; e < t->entry_of.at[a + 1]; e++) {
        int64_t tree = t->entry_tree.at[e], here = t->starts_at.at[e];
        int64_t first = t->tree_word.at[tree], width = t->tree_word.at[tree + 1] - first;
        for (int64_t k = 0; k < width; k++)
            leaves->live[first + k] =
                leaves->reached[first + k] |
                (leaves->missed[first + k] & ~reached_at(e, position, width, k, t));
        if (sides[MISSING])
            *missing += at_missing(leaves->live, first, width, t->absent_at.at[e], t);
        if (low > high)
            continue;
        int64_t j0 = segment(e, low, t), j1 = segment(e, high, t);
        /* The sums are kept as differences from one position to the next. */
        int64_t before = 0;
        for (int64_t j = j0; j <= j1; j++) {
            int64_t mask = t->mask_at.at[e] + width * j;
            int64_t value = at_segment(leaves->live, first, width, mask, t);
            at[j == j0 ? low : t->starts.at[here + j]] += value - before;
            before = value;
        }
    }
    for (int64_t c = low + 1; c <= high; c++)
        at[c] += at[c - 1];
}

/* The sum at a position, -1 for a missing value. */
INLINED int64_t sum_at(const int64_t *at, const int64_t *missing, int64_t position) {
    return position < 0 ? *missing : at[position];
}

static int64_t climb(struct cpx_models_sufficient_reason_sufficiency_local_search_climb *call) {
    const Arrays *t = &call->t;
    const Leaves leaves = {ROW(call->words, 0), ROW(call->words, 1), ROW(call->words, 2)};
    const int64_t need = call->need, *x = call->x.at;
    const bool back = call->back;
    int64_t *point = call->point.at;
    int64_t *at = call->at.at, *missing = at + call->at.n - 1;
    uint8_t *movable = call->movable.at;
    for (int64_t a = 0; a < call->point.n; a++)
        movable[a] = back ? point[a] != x[a] : !(call->held.at[a >> 6] >> (a & 63) & 1);
    for (int64_t tree = 0; tree < t->tree_word.n - 1; tree++)
        reach(&leaves, tree, call->full.at, point, t);
    int64_t total = total_of(leaves.reached, t);
    bool moved = back || total < need;
    while (moved) {
        moved = false;
        for (int64_t i = 0; i < call->order.n; i++) {
            int64_t a = call->order.at[i], to = point[a];
            const int64_t *sides = ROW(call->whole, a);
            if (!movable[a])
                continue;
            sum_along(&leaves, a, sides, point[a], at, missing, t);
            int64_t here = sum_at(at, missing, to), there = here;
            if (back && total - here + sum_at(at, missing, x[a]) >= need) {
                to = x[a];
                there = sum_at(at, missing, to);
                movable[a] = 0;
            } else {
                for (int64_t c = sides[LOW]; c <= sides[HIGH]; c++)
                    if (at[c] > there)
                        to = c, there = at[c];
                if (sides[MISSING] && *missing > there)
                    to = -1, there = *missing;
            }
            if (to == point[a])
                continue;
            total += there - here;
            point[a] = to;
            for (int64_t e = t->entry_of.at[a]; e < t->entry_of.at[a + 1]; e++)
                reach(&leaves, t->entry_tree.at[e], call->full.at, point, t);
            moved = true;
            if (!back && total >= need)
                return total;
        }
    }
    return total;
}

KERNEL(cpx_models_sufficient_reason_sufficiency_local_search_climb) { t->result = climb(t); }
