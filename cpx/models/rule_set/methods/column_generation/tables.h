/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_RULE_SET_METHODS_COLUMN_GENERATION_TABLES_H
#define CPX_MODELS_RULE_SET_METHODS_COLUMN_GENERATION_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.models.rule_set.methods.column_generation.beams */
static const int64_t NOTHING = INT64_C(-2);
static const int64_t EVERYTHING = INT64_C(-1);

typedef struct {
    Ints starts;
    Shorts codes;
    Ints bases;
    Words2 columns;
} Notes;

typedef struct {
    Floats weights;
    Bytes2 allowed;
    Shorts2 beams;
    Words3 covers;
    Shorts3 sets;
    Floats sums;
    Singles2 scores;
    Ints best;
    Shorts2 grown;
    Singles values;
    Ints at;
} Search;

struct cpx_models_rule_set_methods_column_generation_beams__weigh {
    Notes notes;
    Search search;
};

struct cpx_models_rule_set_methods_column_generation_beams__choose {
    Notes notes;
    Search search;
    int64_t result;
};

struct cpx_models_rule_set_methods_column_generation_beams__cover {
    Notes notes;
    Search search;
};

#endif
