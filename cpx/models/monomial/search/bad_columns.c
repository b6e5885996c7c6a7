#include "cpx/models/monomial/search/bad_columns.h"

KERNEL(cpx_models_monomial_search_bad_columns_enough_words) {
    t->result = enough_words(&t->levels, t->t, t->planes, t->spare);
}

KERNEL(cpx_models_monomial_search_bad_columns_first_words) {
    t->result_0 = first_words(&t->levels, &t->scratch, t->t, t->n, t->base, t->planes, t->most,
                              &t->result_1);
}

KERNEL(cpx_models_monomial_search_bad_columns_lightest_of) {
    t->result = lightest_of(&t->levels, &t->scratch, t->t, t->planes, t->filled);
}
