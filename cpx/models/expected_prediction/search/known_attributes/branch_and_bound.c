/* Bounds on sets of attributes; see branch_and_bound.py. */

#include "cpx/models/expected_prediction/search/known_attributes/tables.h"

KERNEL(cpx_models_expected_prediction_search_known_attributes_branch_and_bound_greatest_shares) {
    const double *high = t->high.at, *low = t->low.at;
    double *losses = t->losses.at; /* the greatest but the last one met, decreasing */
    int64_t n = t->high.n, others = t->more - 1;
    for (int64_t j = 0; j < n; j++) {
        double best = -1, taken = 0;
        int64_t count = 0;
        for (int64_t i = 0; i < n && best < 1; i++) {
            int64_t l = t->order.at[i];
            if (l <= j)
                continue;
            /* Sets of which l has the least n_l, but for j. */
            double loss = t->whole > low[l] ? t->whole - low[l] : 0;
            double N = high[l] < high[j] ? high[l] : high[j];
            double M = low[j] - taken - loss;
            double share = M > 0 ? N / (N + M) : 1;
            best = share > best ? share : best;
            int64_t at = count < others ? count++ : others;
            if (at == others && (!others || losses[others - 1] >= loss))
                continue;
            if (at == others)
                taken -= losses[--at];
            taken += loss;
            for (; at > 0 && losses[at - 1] < loss; at--)
                losses[at] = losses[at - 1];
            losses[at] = loss;
        }
        t->share.at[j] = best;
    }
}
