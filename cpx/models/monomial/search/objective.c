#include "cpx/models/monomial/search/objective.h"

KERNEL(cpx_models_monomial_search_objective_costs) {
    for (int64_t x = 0; x < t->into.n; x++)
        t->into.at[x] = cost(&t->objective, t->covered.at[x], t->lost.at[x]);
}
