/* A lower bound by cost splitting, in exact integers; see cost_splitting.py. */

#include "cpx/models/monomial/search/tables.h"
#include "cpx/models/rule_set/search/tables.h"

/* Note what is left of each cost, and what its floats are to be multiplied by. */
static void begin(Singles3 lines, const int64_t *totals, int64_t *left, double *by) {
    for (int64_t j = 0; j < lines.m; j++) {
        by[j] = 0;
        left[j] = totals[j];
    }
    for (int64_t k = 0; k < lines.n; k++)
        for (int64_t j = 0; j < lines.m; j++) {
            const float *line = ROW3(lines, k, j);
            double there = 0;
            for (int64_t i = 0; i < lines.l; i++)
                there += (double)line[i];
            by[j] += there;
        }
    for (int64_t j = 0; j < lines.m; j++)
        by[j] = by[j] > 0 ? (double)totals[j] / by[j] : 0;
}

/* Divide a cost in proportion to a line of n floats, rounded down; return what is left of it. */
static int64_t divide(const float *restrict line, int64_t n, double by, int64_t left,
                      int64_t *restrict shares) {
    for (int64_t i = 0; i < n; i++) {
        shares[i] = min((int64_t)((double)line[i] * by), left);
        left -= shares[i];
    }
    return left;
}

/* Add up what a rule covers of bad rows in a block, and see what it demands of good ones. */
static void demand(const Terms *terms, const Exact *exact, int64_t k, int64_t r) {
    const int64_t W = terms->covers.l;
    const int64_t *restrict own = ROW3(exact->rule_shares, k, r);
    const float *restrict covers = ROW3(terms->covers, k, r);
    int64_t *restrict line = ROW3(exact->covered, k, r), *restrict least = ROW(exact->least, k);
    int64_t *restrict second = exact->second.at, *restrict who = exact->who.at;
    memset(line, 0, (size_t)W * sizeof *line);
    for (int64_t x = terms->starts.at[r]; x < terms->starts.at[r + 1]; x++) {
        const int64_t *restrict more = ROW(exact->shares, terms->bad.at[x]);
        for (int64_t i = 0; i < W; i++)
            line[i] += more[i];
    }
    for (int64_t i = 0; i < W; i++)
        if (covers[i] > 0) {
            int64_t asked = line[i] + own[i];
            if (asked < least[i]) {
                second[i] = least[i];
                least[i] = asked;
                who[i] = r;
            } else if (asked < second[i])
                second[i] = asked;
        }
}

/* Return what the rows of a block pay at least with a rule. */
static int64_t with_rule(const Terms *terms, const Exact *exact, int64_t k, int64_t r) {
    const int64_t *line = ROW3(exact->covered, k, r), *own = ROW3(exact->rule_shares, k, r);
    const int64_t *least = ROW(exact->least, k);
    const float *covers = ROW3(terms->covers, k, r);
    const int64_t W = terms->covers.l;
    int64_t within = 0;
    for (int64_t i = 0; i < W; i++)
        within += covers[i] > 0 ? line[i] + own[i] : max(line[i], least[i]);
    return within;
}

KERNEL(cpx_models_rule_set_search_cost_splitting_certify) {
    const Terms *terms = &t->terms;
    const Exact *exact = &t->exact;
    const int64_t K = terms->covers.n, R = terms->covers.m, W = terms->covers.l;
    const int64_t B = exact->costs.n, shift = exact->shift.at[0];
    const Singles3 of_bad = t->state.of_bad.shares, of_rules = t->state.of_rules.shares;
    int64_t *left = exact->left.at, *second = exact->second.at, *who = exact->who.at;
    int64_t *within = exact->within.at, *without = exact->without.at, bound = 0;
    double *by = exact->by.at;
    begin(of_bad, exact->costs.at, left, by);
    begin(of_rules, exact->prices.at, left + B, by + B);
    for (int64_t r = 0; r < R; r++)
        within[r] = without[r] = 0;
    for (int64_t k = 0; k < K; k++) {
        int64_t *least = ROW(exact->least, k);
        for (int64_t j = 0; j < B; j++) {
            int64_t *restrict share = ROW(exact->shares, j);
            int32_t *restrict cut = ROW3(exact->short_, k, j);
            left[j] = divide(ROW3(of_bad, k, j), W, by[j], left[j], share);
            for (int64_t i = 0; i < W; i++)
                cut[i] = (int32_t)(share[i] >> shift);
        }
        for (int64_t i = 0; i < W; i++) {
            least[i] = ROW(exact->good, k)[i];
            second[i] = FAR;
            who[i] = -1;
        }
        for (int64_t r = 0; r < R; r++) {
            left[B + r] = divide(ROW3(of_rules, k, r), W, by[B + r], left[B + r],
                                 ROW3(exact->rule_shares, k, r));
            demand(terms, exact, k, r);
        }
        for (int64_t i = 0; i < W; i++) {
            bound += least[i];
            if (who[i] >= 0)
                without[who[i]] += second[i] - least[i];
        }
        for (int64_t r = 0; r < R; r++)
            within[r] += with_rule(terms, exact, k, r);
    }
    for (int64_t r = 0; r < R; r++)
        without[r] += bound;
    t->result = bound;
}
