/* The cost of a set from two sums of weights, and its limits; see objective.py. */

#ifndef CPX_OBJECTIVE_H
#define CPX_OBJECTIVE_H

#include "cpx/models/monomial/search/tables.h"

/* The cost of a set; FAR when it breaks a limit. */
INLINED int64_t cost(const Numbers *objective, int64_t c, int64_t l) {
    int64_t covered = c + objective->good - l;
    if (covered < objective->least || covered > objective->most)
        return FAR;
    if (objective->gamma * c + objective->delta * l > objective->epsilon)
        return FAR;
    return objective->base + objective->alpha * c + objective->beta * l;
}

/* A rank for sets on the way to better ones: by cost, then by how far they are from allowed.

   Sets that cover too little come last of all: larger ones cover less. */
INLINED int64_t rank(const Numbers *objective, int64_t c, int64_t l) {
    int64_t covered = c + objective->good - l;
    if (covered < objective->least)
        return FAR;
    int64_t excess = max(0, objective->gamma * c + objective->delta * l - objective->epsilon);
    excess += max(0, covered - objective->most);
    if (excess > 0)
        return ALLOWED + min(excess, ALLOWED - 1);
    return cost(objective, c, l);
}

/* A lower bound on the cost of all sets with c_low <= c' <= c_high and l' >= l.

   With G the good weight, an allowed set of these

   - covers at least `least`: c' >= least - G + l' >= least - G + l =: c, and so does c_low;
   - is precise: gamma c' + delta l' <= epsilon, so c' <= (epsilon - delta l) / gamma;
   - covers at most `most`: l' >= c' + G - most >= c + G - most.

   None of them is left where c exceeds the upper limits of c'. Else the cost is least at the least
   l' and the least c' where alpha >= 0. Where the coverage counts, alpha = -1 and beta = 1, it is
   base + l' - c': at least with the least l' and the greatest c', and at least base + G - most. */
INLINED int64_t low(const Numbers *objective, int64_t c_high, int64_t c_low, int64_t l) {
    int64_t covered = max(max(c_low, 0), objective->least - objective->good + l);
    if (covered > c_high || objective->gamma * covered + objective->delta * l > objective->epsilon)
        return FAR;
    if (objective->alpha < 0) {
        int64_t most = c_high;
        if (objective->gamma > 0)
            most = min(most, floor_divide(objective->epsilon - objective->delta * l,
                                          objective->gamma));
        return objective->base + max(l - most, objective->good - objective->most);
    }
    int64_t lost = max(l, covered + objective->good - objective->most);
    return objective->base + objective->alpha * covered + objective->beta * lost;
}

/* The most c that an allowed set of cost below `limit` can have, given l' >= l.

   Negative when there is none. */
INLINED int64_t most_bad(const Numbers *objective, int64_t limit, int64_t l) {
    int64_t spare = limit - 1 - objective->base - objective->beta * l, most = FAR;
    if (objective->alpha == 1)
        most = spare; /* a division takes longer than all the rest */
    else if (objective->alpha > 0)
        most = floor_divide(spare, objective->alpha);
    else if (objective->alpha == 0 && spare < 0)
        most = -1;
    if (objective->gamma > 0)
        most = min(most, floor_divide(objective->epsilon - objective->delta * l,
                                      objective->gamma));
    return most;
}

#endif
