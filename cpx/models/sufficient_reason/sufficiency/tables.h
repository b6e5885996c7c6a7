/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_SUFFICIENT_REASON_SUFFICIENCY_TABLES_H
#define CPX_MODELS_SUFFICIENT_REASON_SUFFICIENCY_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.models.sufficient_reason.sufficiency.class_margin */

typedef struct {
    Ints values;
    Ints base;
    Ints tree_word;
    Ints entry_of;
    Ints entry_tree;
    Shorts segment_of;
    Ints segment_at;
    Ints mask_at;
    Ints starts;
    Ints starts_at;
    Words below;
    Words above;
    Words here;
    Words absent;
    Ints absent_at;
    Ints last;
    Ints tested;
    Ints tests_at;
    Ints tests;
} Arrays;

/* cpx.models.sufficient_reason.sufficiency.exact_search */
static const int64_t NONE = INT64_C(0);
static const int64_t FOUND = INT64_C(1);
static const int64_t CHECK = INT64_C(2);
static const int64_t PAUSED = INT64_C(3);
static const int64_t DEPTH = INT64_C(0);
static const int64_t REFUTED = INT64_C(1);
static const int64_t BOXES = INT64_C(2);
static const int64_t BUDGET = INT64_C(3);

struct cpx_models_sufficient_reason_sufficiency_exact_search_search {
    Arrays t;
    int64_t need;
    int64_t slack;
    Ints x;
    Words2 words;
    Ints3 box;
    Ints point;
    Ints2 profile;
    Bytes taken;
    Ints gains;
    Ints state;
    int64_t result;
};

struct cpx_models_sufficient_reason_sufficiency_exact_search_begin {
    Arrays t;
    Words full;
    Ints2 whole;
    Ints x;
    Words held;
    Words2 words;
    Ints3 box;
    Ints state;
};

struct cpx_models_sufficient_reason_sufficiency_exact_search_disjoint {
    Words2 sets;
    int64_t count;
    Words words;
    int64_t result;
};

/* cpx.models.sufficient_reason.sufficiency.linear_cuts */
static const int64_t NOTHING = INT64_C(-4611686018427387904);

struct cpx_models_sufficient_reason_sufficiency_linear_cuts_weigh {
    Arrays t;
    Words full;
    Ints x;
    Ints z;
    Floats shares;
    Ints weights;
    Ints of_entries;
    Words2 reached;
    Words2 rows;
    Floats capacity;
    Bytes2 misses;
    Ints leaves;
    Floats table;
    Ints2 places;
    int64_t result;
};

struct cpx_models_sufficient_reason_sufficiency_linear_cuts_ascend {
    Arrays t;
    Words full;
    Ints2 whole;
    Ints x;
    Ints z;
    Ints order;
    Floats shares;
    Floats bounds;
    Floats along;
    Bytes fresh;
    Floats at;
    Words2 reached;
    Words2 rows;
    Floats capacity;
    Bytes2 misses;
    Ints leaves;
    Floats table;
    Ints2 places;
    int64_t result;
};

/* cpx.models.sufficient_reason.sufficiency.local_search */
static const int64_t ROWS = INT64_C(3);

struct cpx_models_sufficient_reason_sufficiency_local_search_climb {
    Arrays t;
    int64_t need;
    Words full;
    Ints2 whole;
    Ints x;
    Ints order;
    Words held;
    Ints point;
    Bytes movable;
    Words2 words;
    Ints at;
    int64_t back;
    int64_t result;
};

#endif
