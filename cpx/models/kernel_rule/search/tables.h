/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_KERNEL_RULE_SEARCH_TABLES_H
#define CPX_MODELS_KERNEL_RULE_SEARCH_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.models.kernel_rule.search.rows */

typedef struct {
    Ints inside_ends;
    Ints inside;
    Ints outside_ends;
    Ints outside;
} Cover;

/* cpx.models.kernel_rule.search.clause_weights */

struct cpx_models_kernel_rule_search_clause_weights_weigh {
    Cover cover;
    Ints among;
    Floats rest;
    Singles2 shares;
    Floats values;
    Bools gaining;
};

struct cpx_models_kernel_rule_search_clause_weights_weigh_exactly {
    Cover cover;
    Ints among;
    Ints rest;
    Ints2 shares;
    Ints values;
    Bools gaining;
};

struct cpx_models_kernel_rule_search_clause_weights_spread {
    Cover cover;
    Bools gaining;
    Ints chosen;
    Floats parts;
    Floats used;
    Singles2 paid;
};

struct cpx_models_kernel_rule_search_clause_weights_shift {
    Singles2 shares;
    Singles costs;
    Singles2 paid;
    Singles hits;
    Singles sums;
    Singles2 first;
    Singles2 second;
    Singles factors;
};

struct cpx_models_kernel_rule_search_clause_weights_descend {
    Floats at;
    Floats slope;
    Floats first;
    Floats second;
    Floats factors;
};

#endif
