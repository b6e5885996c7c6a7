/* Weights of clauses under Lagrange multipliers, and the steps that improve these; see
   clause_weights.py. */

#include <math.h>

#include "cpx/models/kernel_rule/search/tables.h"

/* Both kinds of numbers: fill in what each of some clauses is worth. */
#define WEIGH(number)                                                                              \
    const Cover *cover = &t->cover;                                                                \
    for (int64_t e = 0; e < t->among.n; e++) {                                                     \
        int64_t c = t->among.at[e];                                                                \
        number total = 0;                                                                          \
        for (int64_t a = cover->inside_ends.at[c]; a < cover->inside_ends.at[c + 1]; a++) {        \
            int64_t i = cover->inside.at[a], b = cover->outside_ends.at[c];                        \
            number left = t->rest.at[i];                                                           \
            for (; b < cover->outside_ends.at[c + 1]; b++) {                                       \
                left -= ROW(t->shares, i)[cover->outside.at[b]];                                   \
                if (left <= 0)                                                                     \
                    break;                                                                         \
            }                                                                                      \
            t->gaining.at[a] = left > 0;                                                           \
            if (left > 0)                                                                          \
                total += left;                                                                     \
        }                                                                                          \
        t->values.at[c] = total;                                                                   \
    }

KERNEL(cpx_models_kernel_rule_search_clause_weights_weigh){WEIGH(double)}

KERNEL(cpx_models_kernel_rule_search_clause_weights_weigh_exactly){WEIGH(int64_t)}

KERNEL(cpx_models_kernel_rule_search_clause_weights_spread) {
    const Cover *cover = &t->cover;
    for (int64_t e = 0; e < t->chosen.n; e++) {
        int64_t c = t->chosen.at[e];
        double part = t->parts.at[e];
        for (int64_t a = cover->inside_ends.at[c]; a < cover->inside_ends.at[c + 1]; a++) {
            int64_t i = cover->inside.at[a];
            float *paid = ROW(t->paid, i);
            if (!t->gaining.at[a])
                continue;
            t->used.at[i] += part;
            for (int64_t b = cover->outside_ends.at[c]; b < cover->outside_ends.at[c + 1]; b++) {
                float *place = paid + cover->outside.at[b];
                *place = (float)((double)*place + part);
            }
        }
    }
}

/* Move the n shares of a row, and add them up.

   Arrays that are told apart by the arguments of a function are worked on in vectors. */
static inline void move(float *restrict shares, float *restrict first, float *restrict second,
                        float *restrict sums, const float *restrict paid,
                        const float *restrict hits, const float *factors, int64_t n) {
    const float rate = factors[0], root = factors[1], tiny = factors[6];
    const float keep_first = factors[2], take_first = factors[3];
    const float keep_second = factors[4], take_second = factors[5];
    const float one = factors[7], part = factors[8], lowest = factors[9];
    for (int64_t x = 0; x < n; x++) {
        /* Where paid for more than the mean, a greater share lowers the bound. */
        float slope = shares[x] * (hits[x] - paid[x]);
        first[x] = keep_first * first[x] + take_first * slope;
        second[x] = keep_second * second[x] + take_second * slope * slope;
        float step = rate * first[x] / (sqrtf(second[x]) * root + tiny);
        /* The exponential of -step, nearly: |step| is a few times the rate. */
        float grown = one - step * part;
        grown *= grown;
        grown *= grown;
        grown *= grown;
        grown *= grown;
        grown *= shares[x];
        shares[x] = lowest > grown ? lowest : grown;
        sums[x] += shares[x];
    }
}

KERNEL(cpx_models_kernel_rule_search_clause_weights_shift) {
    const int64_t p = t->shares.n, q = t->shares.m;
    const float *costs = t->costs.at;
    float *restrict hits = t->hits.at, *restrict sums = t->sums.at;
    memset(hits, 0, (size_t)q * sizeof *hits);
    memset(sums, 0, (size_t)q * sizeof *sums);
    for (int64_t i = 0; i < p; i++) {
        const float *restrict shares = ROW(t->shares, i), *restrict paid = ROW(t->paid, i);
        for (int64_t n = 0; n < q; n++)
            hits[n] += shares[n] * paid[n];
    }
    for (int64_t n = 0; n < q; n++)
        hits[n] /= costs[n];
    for (int64_t i = 0; i < p; i++)
        move(ROW(t->shares, i), ROW(t->first, i), ROW(t->second, i), sums, ROW(t->paid, i), hits,
             t->factors.at, q);
    for (int64_t n = 0; n < q; n++)
        sums[n] = costs[n] / sums[n];
    for (int64_t i = 0; i < p; i++) {
        float *restrict shares = ROW(t->shares, i);
        for (int64_t n = 0; n < q; n++)
            shares[n] *= sums[n];
    }
}

KERNEL(cpx_models_kernel_rule_search_clause_weights_descend) {
    double *restrict at = t->at.at, *restrict first = t->first.at, *restrict second = t->second.at;
    const double *restrict slope = t->slope.at, rate = t->factors.at[0], root = t->factors.at[1];
    const int64_t n = t->at.n;
    for (int64_t k = 0; k < n; k++) {
        first[k] = 0.9 * first[k] + 0.1 * slope[k];
        second[k] = 0.99 * second[k] + 0.01 * slope[k] * slope[k];
        at[k] -= rate * first[k] / (sqrt(second[k]) * root + 1e-7);
    }
}
