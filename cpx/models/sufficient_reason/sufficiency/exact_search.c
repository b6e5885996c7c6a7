/* The exact search for a counterexample; see exact_search.py. */

#include "cpx/models/sufficient_reason/sufficiency/boxes.h"

/* Copy the leaves and the box of a depth to the next. */
static void copy_down(uint64_t *live, int64_t words, int64_t *box, int64_t attributes) {
    memcpy(live + words, live, words * sizeof *live);
    memcpy(box + attributes * SIDES, box, attributes * SIDES * sizeof *box);
}

static inline double within_one(double x) {
    x = 0.0 > x ? 0.0 : x;
    return 1.0 < x ? 1.0 : x;
}

static int64_t search(struct cpx_models_sufficient_reason_sufficiency_exact_search_search *call) {
    const Arrays *t = &call->t;
    const int64_t need = call->need, *x = call->x.at;
    const int64_t attributes = call->box.m, words = call->words.m;
    int64_t *point = call->point.at, *gains = call->gains.at, *state = call->state.at;
    int64_t *at = call->profile.at, *left = at + call->profile.m;
    int64_t *right = left + call->profile.m;
    uint8_t *taken = call->taken.at;
    while (state[DEPTH] >= 0) {
        if (state[BUDGET] <= 0)
            return PAUSED;
        state[BUDGET]--;
        state[BOXES]++;
        uint64_t *live = call->words.at + state[DEPTH] * words;
        int64_t *box = call->box.at + state[DEPTH] * attributes * SIDES;
        int64_t total = decided(live, taken, t);
        bool dead = total < need, leftmost = true;
        int64_t split_a = -1, split_at = -1;
        double score = -1.0;
        for (int64_t a = 0; a < attributes && !dead; a++) {
            int64_t *sides = box + SIDES * a, low = sides[LOW], high = sides[HIGH];
            gains[a] = 0;
            if (low > high) {
                point[a] = -1;
                continue;
            }
            if (low == high && !sides[MISSING]) {
                point[a] = low;
                continue;
            }
            int64_t part = sweep(live, a, low, high, taken, at, left, right, t);
            int64_t rest = total - part;
            if (sides[MISSING]) {
                /* A missing value comes first: it is split off before anything else. */
                point[a] = -1;
                if (score < 2.0) {
                    split_a = a, split_at = -1, score = 2.0;
                    leftmost = false;
                }
                continue;
            }
            /* Not after a refuted point: the box must be the one it was taken from. */
            if (!state[REFUTED]) {
                while (low <= high && rest + at[low] < need)
                    low++;
                if (low > high) {
                    dead = true;
                    break;
                }
                while (rest + at[high] < need)
                    high--;
            }
            /* A prefix that cannot reach the needed total is cut off whole; so the sums to the
            left of what remains stay bounds, if not the best ones. */
            if (low > sides[LOW] || high < sides[HIGH]) {
                sides[LOW] = low, sides[HIGH] = high;
                drop_others(live, a, low, high, 0, t);
                total = decided(live, taken, t);
                if (total < need) {
                    dead = true;
                    break;
                }
            }
            int64_t best = at[low];
            point[a] = low;
            for (int64_t c = low; c <= high; c++)
                if (at[c] > best || (at[c] == best && c == x[a]))
                    best = at[c], point[a] = c;
            gains[a] = total - rest - best;
            double gap = (double)(total - need + 1);
            for (int64_t c = low; c < high; c++) {
                double below = within_one((double)(total - rest - left[c]) / gap);
                double above = within_one((double)(total - rest - right[c + 1]) / gap);
                double value = below * above + 1e-3 * (below + above);
                if (value > score) {
                    split_a = a, split_at = c, score = value;
                    leftmost = left[c] >= right[c + 1];
                }
            }
        }
        if (!dead)
            dead = shared(live, box, total - need + 1, taken, call->gains, call->profile, t);
        if (dead) {
            state[DEPTH]--;
            continue;
        }
        /* The next level is free: the point is tried there. */
        if (!state[REFUTED]) {
            copy_down(live, words, box, attributes);
            for (int64_t a = 0; a < attributes; a++) {
                const int64_t *sides = box + SIDES * a;
                if (point[a] < 0 && (sides[LOW] < sides[HIGH] || sides[MISSING]))
                    drop_others(live + words, a, 1, 0, 1, t);
                else if (sides[LOW] < sides[HIGH] || sides[MISSING])
                    drop_others(live + words, a, point[a], point[a], 0, t);
            }
            int64_t reached = total_of(live + words, t);
            if (reached >= need)
                return call->slack == 0 || reached - call->slack >= 0 ? FOUND : CHECK;
        }
        state[REFUTED] = 0;
        if (split_a < 0) {
            state[DEPTH]--;
            continue;
        }
        copy_down(live, words, box, attributes);
        int64_t *here = box + SIDES * split_a, *next = here + attributes * SIDES;
        int64_t low = here[LOW], high = here[HIGH];
        if (split_at < 0) {
            here[LOW] = 1, here[HIGH] = 0;
            next[MISSING] = 0;
            drop_others(live, split_a, 1, 0, 1, t);
            drop_others(live + words, split_a, low, high, 0, t);
        } else {
            /* The side that is searched first is the deeper one. */
            (leftmost ? next : here)[HIGH] = split_at;
            (leftmost ? here : next)[LOW] = split_at + 1;
            drop_others(leftmost ? live + words : live, split_a, low, split_at, 0, t);
            drop_others(leftmost ? live : live + words, split_a, split_at + 1, high, 0, t);
        }
        state[DEPTH]++;
    }
    return NONE;
}

static void begin(struct cpx_models_sufficient_reason_sufficiency_exact_search_begin *call) {
    const int64_t *x = call->x.at;
    int64_t *box = call->box.at, *state = call->state.at;
    state[DEPTH] = state[REFUTED] = state[BOXES] = 0;
    memcpy(call->words.at, call->full.at, call->full.n * sizeof *call->full.at);
    for (int64_t a = 0; a < call->x.n; a++) {
        int64_t *sides = box + SIDES * a;
        for (int side = 0; side < SIDES; side++)
            sides[side] = call->whole.at[SIDES * a + side];
        if (call->held.at[a >> 6] >> (a & 63) & 1) {
            sides[MISSING] = x[a] < 0;
            sides[LOW] = x[a] < 0 ? 1 : x[a];
            sides[HIGH] = x[a] < 0 ? 0 : x[a];
        }
        drop_others(call->words.at, a, sides[LOW], sides[HIGH], sides[MISSING], &call->t);
    }
}

static int64_t disjoint(struct cpx_models_sufficient_reason_sufficiency_exact_search_disjoint *call) {
    for (int64_t i = call->count - 1; i >= 0; i--) {
        const uint64_t *set = call->sets.at + i * call->sets.m;
        uint64_t common = 0;
        for (int64_t k = 0; k < call->words.n; k++)
            common |= set[k] & call->words.at[k];
        if (common == 0)
            return i;
    }
    return -1;
}

KERNEL(cpx_models_sufficient_reason_sufficiency_exact_search_search) { t->result = search(t); }

KERNEL(cpx_models_sufficient_reason_sufficiency_exact_search_begin) { begin(t); }

KERNEL(cpx_models_sufficient_reason_sufficiency_exact_search_disjoint) { t->result = disjoint(t); }
