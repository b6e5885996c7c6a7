/* Descents: steps that lower the errors of a set of rules and their price; see descent.py. */

#include "cpx/models/rule_set/methods/column_generation/beams.h"

/* The next of a sequence of random words (SplitMix64). */
INLINED uint64_t drawn(int64_t *state) {
    uint64_t word = (uint64_t)(*state += INT64_C(-7046029254386353131));
    word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 31);
}

/* The weight of what a rule covers of the samples that are free. */
INLINED int64_t worth(const Search *search, const uint64_t *cover) {
    int64_t sum = 0;
    for (int64_t side = 0; side < 2; side++)
        for (int64_t b = 0; b < search->planes.m; b++) {
            const uint64_t *plane = ROW3(search->planes, side, b);
            int64_t common = 0;
            for (int64_t w = 0; w < search->free.n; w++)
                common += popcount(cover[w] & search->free.at[w] & plane[w]);
            sum += (side == 0 ? common : -common) << b;
        }
    return sum;
}

/* Free the samples that no rule but one covers; return how many weigh more than nothing. */
static NOT_INLINED int64_t set_free(const Search *search, const Rules *rules, int64_t place) {
    const int64_t number = rules->at.at[NUMBER];
    int64_t wanted = 0;
    for (int64_t w = 0; w < search->free.n; w++) {
        uint64_t covered = 0, above = 0;
        for (int64_t r = 0; r < number; r++)
            covered |= r == place ? 0 : ROW(rules->covers, r)[w];
        for (int64_t b = 0; b < search->planes.m; b++)
            above |= ROW3(search->planes, 0, b)[w];
        search->free.at[w] = ~covered;
        wanted += popcount(above & ~covered);
    }
    return wanted;
}

/* The place of the n-th free sample that weighs more than nothing. */
static NOT_INLINED int64_t place_of(const Search *search, int64_t n) {
    for (int64_t w = 0;; w++) {
        uint64_t above = 0;
        for (int64_t b = 0; b < search->planes.m; b++)
            above |= ROW3(search->planes, 0, b)[w];
        above &= search->free.at[w];
        int64_t here = popcount(above);
        if (n < here) {
            for (; n > 0; n--)
                above &= above - 1;
            return 64 * w + lowest_place(above);
        }
        n -= here;
    }
}

/* Draw different samples of so many that are wanted, a beam for each (R. W. Floyd). */
static NOT_INLINED void draw(const Search *search, const Rules *rules, int64_t wanted) {
    const int64_t number = min(rules->at.at[MOST_SEEDS], wanted);
    int64_t *seeds = search->seeds.at;
    for (int64_t x = 0; x < number; x++) {
        uint64_t last = (uint64_t)(wanted - number + x), word = drawn(&rules->at.at[RANDOM]) >> 32;
        int64_t n = (int64_t)(word * (last + 1) >> 32);
        for (int64_t y = 0; y < x; y++)
            if (seeds[y] == n)
                n = (int64_t)last;
        seeds[x] = n;
    }
    for (int64_t x = 0; x < number; x++)
        seeds[x] = place_of(search, seeds[x]);
    search->at.at[SEEDS] = number;
}

/* Which set that was found covers most, of equal ones the first by its literals; -1 for none. */
static NOT_INLINED int64_t best_found(const Search *search) {
    const int64_t k = search->found.m;
    int64_t best = -1;
    for (int64_t x = 0; x < search->at.at[FOUND]; x++) {
        int64_t less = best < 0 ? -1 : search->values.at[best] - search->values.at[x];
        const int32_t *one = ROW(search->found, x), *other = ROW(search->found, best);
        for (int64_t y = 0; y < k && less == 0; y++)
            less = one[y] - other[y];
        if (less < 0)
            best = x;
    }
    return best;
}

/* Put a set that was found in a place; return what a rule covers there. */
static void put(const Search *search, const Rules *rules, int64_t found, int64_t place) {
    const int64_t stride = search->bits.m;
    int32_t *rule = ROW(rules->literals, place);
    uint64_t *cover = ROW(rules->covers, place);
    for (int64_t x = 0; x < rules->literals.m; x++)
        rule[x] = x < search->found.m ? ROW(search->found, found)[x] : -1;
    for (int64_t w = 0; w < search->free.n; w++) {
        cover[w] = ~UINT64_C(0);
        for (int64_t x = 0; x < rules->literals.m && rule[x] >= 0; x++)
            cover[w] &= search->bits.at[w * stride + rule[x]];
    }
}

static void drop(const Rules *rules, int64_t place) {
    size_t after = (size_t)(--rules->at.at[NUMBER] - place);
    memmove(ROW(rules->literals, place), ROW(rules->literals, place + 1),
            after * (size_t)rules->literals.m * sizeof(int32_t));
    memmove(ROW(rules->covers, place), ROW(rules->covers, place + 1),
            after * (size_t)rules->covers.m * sizeof(uint64_t));
}

KERNEL(cpx_models_rule_set_methods_column_generation_descent__descend) {
    const Search *search = &t->search;
    const Rules *rules = &t->rules;
    int64_t *at = rules->at.at;
    const double price = rules->price.at[0];
    for (t->result = GOING; at[LOOKS] || at[FAILED] <= at[NUMBER];) {
        int64_t place = at[PLACE];
        if (!at[LOOKS]) {
            if (at[NUMBER] == rules->literals.n) {
                t->result = FULL;
                return;
            }
            int64_t wanted = set_free(search, rules, place);
            search->at.at[SEEDS] = search->at.at[FOUND] = 0;
            if (place == at[NUMBER] ||
                (double)worth(search, ROW(rules->covers, place)) - price >= 0) {
                draw(search, rules, wanted);
                begin(search);
                at[LOOKS] = 1;
            }
        }
        if (at[LOOKS] && !grow(search))
            return;
        double old = 0;
        if (place < at[NUMBER])
            old = (double)worth(search, ROW(rules->covers, place)) - price;
        int64_t found = best_found(search);
        at[LOOKS] = 0;
        at[FAILED]++;
        at[PLACE]--;
        if (old < 0) {
            drop(rules, place);
            at[FAILED] = 0;
        } else if (found >= 0 && (double)search->values.at[found] - price > old) {
            /* At the end it is added. In its own place it need not be tried again. */
            put(search, rules, found, place);
            at[NUMBER] += place == at[NUMBER];
            at[FAILED] = 1;
        }
        if (at[PLACE] < 0)
            at[PLACE] = at[NUMBER];
    }
    t->result = DONE;
}
