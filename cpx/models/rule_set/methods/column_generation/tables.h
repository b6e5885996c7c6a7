/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_RULE_SET_METHODS_COLUMN_GENERATION_TABLES_H
#define CPX_MODELS_RULE_SET_METHODS_COLUMN_GENERATION_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.models.rule_set.methods.column_generation.beams */
static const int64_t SIZE = INT64_C(0);
static const int64_t SETS = INT64_C(1);
static const int64_t NEXT = INT64_C(2);
static const int64_t SEEDS = INT64_C(3);
static const int64_t FOUND = INT64_C(4);
static const int64_t WORK = INT64_C(5);
static const int64_t BUDGET = INT64_C(6);
static const int64_t DONE = INT64_C(0);
static const int64_t GOING = INT64_C(1);
static const int64_t FULL = INT64_C(2);

typedef struct {
    Words2 bits;
    Words3 planes;
    Words free;
    Ints seeds;
    Shorts2 beams;
    Words3 covers;
    Shorts3 sets;
    Ints2 scores;
    Ints best;
    Shorts2 grown;
    Ints rows;
    Words masks;
    Shorts2 found;
    Ints values;
    Ints at;
} Search;

/* cpx.models.rule_set.methods.column_generation.descent */
static const int64_t NUMBER = INT64_C(0);
static const int64_t PLACE = INT64_C(1);
static const int64_t FAILED = INT64_C(2);
static const int64_t LOOKS = INT64_C(3);
static const int64_t RANDOM = INT64_C(4);
static const int64_t MOST_SEEDS = INT64_C(5);

typedef struct {
    Shorts2 literals;
    Words2 covers;
    Floats price;
    Ints at;
} Rules;

/* cpx.models.rule_set.methods.column_generation.beams */

struct cpx_models_rule_set_methods_column_generation_beams__grow {
    Search search;
    int64_t result;
};

/* cpx.models.rule_set.methods.column_generation.descent */

struct cpx_models_rule_set_methods_column_generation_descent__descend {
    Search search;
    Rules rules;
    int64_t result;
};

#endif
