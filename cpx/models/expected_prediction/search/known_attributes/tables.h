/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_EXPECTED_PREDICTION_SEARCH_KNOWN_ATTRIBUTES_TABLES_H
#define CPX_MODELS_EXPECTED_PREDICTION_SEARCH_KNOWN_ATTRIBUTES_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.models.expected_prediction.search.known_attributes.branch_and_bound */

struct cpx_models_expected_prediction_search_known_attributes_branch_and_bound_greatest_shares {
    Floats high;
    Floats low;
    double whole;
    int64_t more;
    Ints order;
    Floats losses;
    Floats share;
};

#endif
