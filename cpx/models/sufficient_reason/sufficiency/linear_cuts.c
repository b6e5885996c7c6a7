/* Linear inequalities that every sufficient reason meets; see linear_cuts.py. */

#include <math.h>

#include "cpx/models/sufficient_reason/sufficiency/envelopes.h"

/* Sums of so much may be subtracted from what trees add up to. */
#define MOST 2305843009213693952.0

/* The workspace among the arguments of a kernel. */
#define ROOM(t)                                                                                    \
    {                                                                                              \
        .own = ROW((t)->reached, 0),                                                               \
        .there = ROW((t)->reached, 1),                                                             \
        .tests = ROW((t)->rows, 0),                                                                \
        .live = ROW((t)->rows, 1),                                                                 \
        .seen = ROW((t)->rows, 2),                                                                 \
        .capacity = (t)->capacity.at,                                                              \
        .room = (t)->capacity.at + (t)->capacity.n / 2,                                            \
        .misses = (t)->misses,                                                                     \
        .leaves = (t)->leaves.at,                                                                  \
        .table = (t)->table.at,                                                                    \
        .basis = ROW((t)->places, 0),                                                              \
        .others = ROW((t)->places, 1),                                                             \
    }

static int64_t weigh(struct cpx_models_sufficient_reason_sufficiency_linear_cuts_weigh *call) {
    const Arrays *t = &call->t;
    const Room room = ROOM(call);
    int64_t *weights = call->weights.at, *of_entries = call->of_entries.at;
    int64_t *leaves = room.leaves, *paid = room.basis;
    int64_t total = t->base.at[0];
    double size = 0.0;
    for (int64_t a = 0; a < call->weights.n; a++)
        weights[a] = 0;
    for (int64_t e = 0; e < call->of_entries.n; e++)
        of_entries[e] = 0;
    look(call->x.at, room.own, t);
    look(call->z.at, room.there, t);
    for (int64_t tree = 0; tree < t->tree_word.n - 1; tree++) {
        int64_t first = t->tree_word.at[tree], width = t->tree_word.at[tree + 1] - first;
        between(tree, -1, call->full.at, call->shares.at, -1.0, 2.0, &room, t);
        int64_t count = tests_that_tell(tree, -1, call->shares.at, -1.0, 2.0, &room, t);
        int64_t n = leaves_between(first, width, count, room.tests, &room, t);
        int64_t high = leaves[0];
        n = undominated(n, count, &room);
        for (int64_t i = 0; i < n; i++)
            leaves[i] = high - leaves[i];
        program(n, count, room.capacity, &room);
        for (int64_t j = 0; j < count; j += 2) {
            /* What both sides weigh, neither need. */
            int64_t both = min(paid[j], paid[j + 1]);
            paid[j] -= both;
            paid[j + 1] -= both;
        }
        int64_t constant = leaves[0];
        for (int64_t i = 0; i < n; i++) {
            int64_t left = leaves[i];
            for (int64_t j = 0; j < count; j++)
                /* The constant is not below 0: less may not fit into 64 bits. */
                if (ROW(room.misses, i)[j] && left > 0)
                    left -= paid[j];
            if (i == 0 || left > constant)
                constant = left;
        }
        total += high - constant;
        int64_t told = 0;
        for (int64_t i = t->tests_at.at[tree]; i < t->tests_at.at[tree + 1]; i++) {
            int64_t e = t->tests.at[i];
            if (!tells(e, width, &room, t))
                continue;
            int64_t weight = paid[told] - paid[told + 1];
            weights[t->tested.at[e]] += weight;
            of_entries[e] = weight;
            total -= paid[told + 1];
            size += (double)paid[told + 1];
            told += 2;
        }
    }
    if (size > MOST)
        return NOTHING;
    for (int64_t a = 0; a < call->weights.n; a++)
        /* With a reason, the set that has this attribute, too, is one. */
        if (weights[a] < 0) {
            total -= weights[a];
            weights[a] = 0;
        }
    return total;
}

/* Passes over the attributes in one call, some milliseconds each with hundreds of trees. */
enum { PASSES = 4 };

/* Write the envelopes of the tree of an entry, at its segments and at a missing value.

   here: The position of the attribute, at which the envelope is *bound, where that is known. */
static inline void profile(int64_t e, int64_t here, const int64_t *sides, const uint64_t *full,
                           const double *shares, double *bound, bool known, double *along,
                           double *missing, const Room *room, const Arrays *t) {
    const int64_t tree = t->entry_tree.at[e], first = t->tree_word.at[tree];
    const int64_t width = t->tree_word.at[tree + 1] - first, low = sides[LOW], high = sides[HIGH];
    const double share = shares[t->tested.at[e]];
    const size_t size = 2 * (size_t)width * sizeof *room->seen;
    uint64_t *now = room->seen, *last = now + 2 * width, *next = last + 2 * width;
    int64_t count = -1;
    between(tree, e, full, shares, SMALL, 1.0 - SMALL, room, t);
    leaves_at(width, e, here, share, now, room, t);
    if (!known) {
        count = tests_that_tell(tree, e, shares, SMALL, 1.0 - SMALL, room, t);
        *bound = envelope_at(first, width, e, now, count, share, room, t);
    }
    memcpy(last, now, size);
    double value = *bound;
    int64_t j0 = low <= high ? segment(e, low, t) : 0, j1 = low <= high ? segment(e, high, t) : -1;
    for (int64_t j = j0 - (sides[MISSING] != 0); j <= j1; j++) {
        int64_t position = j < j0 ? -1 : j == j0 ? low : t->starts.at[t->starts_at.at[e] + j];
        leaves_at(width, e, position, share, next, room, t);
        if (memcmp(next, last, size) != 0) {
            uint64_t *other = last;
            last = next;
            next = other;
            if (memcmp(last, now, size) == 0)
                value = *bound;
            else {
                if (count < 0)
                    count = tests_that_tell(tree, e, shares, SMALL, 1.0 - SMALL, room, t);
                value = envelope_at(first, width, e, last, count, share, room, t);
            }
        }
        if (j < j0)
            *missing = value;
        else
            along[j] = value;
    }
}

static int64_t ascend(struct cpx_models_sufficient_reason_sufficiency_linear_cuts_ascend *call) {
    const Arrays *t = &call->t;
    const Room room = ROOM(call);
    const int64_t *x = call->x.at, entries = t->entry_tree.n;
    const double *shares = call->shares.at;
    int64_t *z = call->z.at, moved = 1;
    double *bounds = call->bounds.at, *at = call->at.at;
    /* Of each entry, and then of missing values; whether they are known, and the bounds. */
    double *along = call->along.at, *absent = along + t->starts.n;
    uint8_t *fresh = call->fresh.at, *known = fresh + entries;
    memset(fresh, 0, (size_t)call->fresh.n);
    for (int64_t a = 0; a < call->z.n; a++)
        /* Where S has an attribute wholly, it does not matter where z is. */
        if (shares[a] >= 1.0 - SMALL)
            z[a] = x[a];
    look(x, room.own, t);
    look(z, room.there, t);
    for (int pass = 0; pass < PASSES && moved; pass++) {
        moved = 0;
        for (int64_t i = 0; i < call->order.n; i++) {
            int64_t a = call->order.at[i], here = z[a], to = here;
            if (shares[a] >= 1.0 - SMALL)
                continue;
            const int64_t *sides = ROW(call->whole, a), low = sides[LOW], high = sides[HIGH];
            double now = 0.0, size = 0.0, total = 0.0, missing = 0.0;
            for (int64_t c = low; c <= high; c++)
                at[c] = 0.0;
            for (int64_t e = t->entry_of.at[a]; e < t->entry_of.at[a + 1]; e++) {
                int64_t tree = t->entry_tree.at[e], begin = t->starts_at.at[e];
                if (!fresh[e])
                    profile(e, here, sides, call->full.at, shares, bounds + tree, known[tree],
                            along + begin, absent + e, &room, t);
                fresh[e] = known[tree] = 1;
                now += bounds[tree];
                size += fabs(bounds[tree]);
                missing += absent[e];
                if (low > high)
                    continue;
                int64_t j0 = segment(e, low, t), j1 = segment(e, high, t);
                /* The sums are kept as differences from one position to the next. */
                at[low] += along[begin + j0];
                for (int64_t j = begin + j0 + 1; j <= begin + j1; j++)
                    at[t->starts.at[j]] += along[j] - along[j - 1];
            }
            double best = now + SMALL * size;
            if (sides[MISSING] && missing > best)
                best = missing, to = -1;
            for (int64_t c = low; c <= high; c++) {
                total += at[c];
                if (total > best)
                    best = total, to = c;
            }
            if (to == here)
                continue;
            z[a] = to;
            moved++;
            for (int64_t e = t->entry_of.at[a]; e < t->entry_of.at[a + 1]; e++) {
                int64_t tree = t->entry_tree.at[e], begin = t->starts_at.at[e];
                int64_t width = t->tree_word.at[tree + 1] - t->tree_word.at[tree];
                bool same = true;
                for (int64_t k = 0; k < width; k++) {
                    uint64_t *there = room.there + t->absent_at.at[e] + k, before = *there;
                    *there = reached_at(e, to, width, k, t);
                    same = same && *there == before;
                }
                if (same)
                    continue;
                bounds[tree] = to < 0 ? absent[e] : along[begin + segment(e, to, t)];
                for (int64_t k = t->tests_at.at[tree]; k < t->tests_at.at[tree + 1]; k++)
                    if (t->tests.at[k] != e)
                        fresh[t->tests.at[k]] = 0;
            }
        }
    }
    return moved;
}

KERNEL(cpx_models_sufficient_reason_sufficiency_linear_cuts_weigh) { t->result = weigh(t); }

KERNEL(cpx_models_sufficient_reason_sufficiency_linear_cuts_ascend) { t->result = ascend(t); }
