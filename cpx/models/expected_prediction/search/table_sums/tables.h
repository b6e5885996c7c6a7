/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_EXPECTED_PREDICTION_SEARCH_TABLE_SUMS_TABLES_H
#define CPX_MODELS_EXPECTED_PREDICTION_SEARCH_TABLE_SUMS_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.models.expected_prediction.search.table_sums.terms */
static const int64_t FREE = INT64_C(0);
static const int64_t IN = INT64_C(1);
static const int64_t OUT = INT64_C(2);

typedef struct {
    Ints first;
    Ints size;
    Ints feature;
    Ints origin;
    Ints start;
    Ints table;
} Terms;

/* cpx.models.expected_prediction.search.table_sums.ascent */

typedef struct {
    Ints multiplier;
    Ints best;
    Ints limit;
    Floats direction;
    Ints chosen;
    Ints values;
    Ints cost;
    Ints price;
    Ints order;
    Bytes picked;
    Bytes found;
    Floats doubt;
    Floats pace;
} Workspace;

struct cpx_models_expected_prediction_search_table_sums_ascent_ascend {
    Terms part;
    Workspace work;
    Bytes decided;
    int64_t room;
    int64_t base;
    int64_t enough;
    int64_t aim;
    int64_t least;
    int64_t known;
    int64_t before;
    int64_t steps;
    int64_t result_0;
    int64_t result_1;
};

struct cpx_models_expected_prediction_search_table_sums_ascent_settle {
    Terms part;
    Workspace work;
    Bytes decided;
    int64_t room;
    int64_t bound;
    int64_t enough;
    int64_t result;
};

/* cpx.models.expected_prediction.search.table_sums.terms */

struct cpx_models_expected_prediction_search_table_sums_terms_restrict {
    Terms whole;
    Terms part;
    Bytes decided;
};

struct cpx_models_expected_prediction_search_table_sums_terms_largest_gains {
    Terms part;
    Ints gains;
};

#endif
