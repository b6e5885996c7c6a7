/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_MONOMIAL_SEARCH_TABLES_H
#define CPX_MODELS_MONOMIAL_SEARCH_TABLES_H

#include "cpx/compiled/kernel.h"
#include "cpx/backends/search/tables.h"

/* cpx.models.monomial.search.stack */
static const int64_t FIRST_WORDS = INT64_C(252);

typedef struct {
    Words workspace;
    Ints start;
    Ints width;
    Ints bad_words;
    Ints words;
    Ints total;
    Ints position;
    Ints2 ids;
    Ints2 covered;
    Ints2 lost;
    Ints2 bound;
    Ints at;
} Levels;

typedef struct {
    Words cover;
    Words both;
    Words buffer;
    Words moves;
    Words first;
    Ints covered;
    Ints lost;
    Ints kept;
    Ints limits;
    Ints mosts;
    Ints top;
    Ints low;
    Ints low_less;
    Ints chosen;
    Ints sorted;
    Buffers side;
} Scratch;

/* cpx.models.monomial.search.objective */
static const int64_t FAR = INT64_C(4611686018427387904);
static const int64_t ALLOWED = INT64_C(2305843009213693952);

typedef struct {
    int64_t alpha;
    int64_t beta;
    int64_t base;
    int64_t good;
    int64_t least;
    int64_t most;
    int64_t gamma;
    int64_t delta;
    int64_t epsilon;
    int64_t keep_idle;
} Numbers;

/* cpx.models.monomial.search.stack */

typedef struct {
    int64_t k;
    int64_t planes;
    int64_t good;
    Ints groups;
    Numbers objective;
    Side side;
    Shorts2 shared;
} Params;

/* cpx.models.monomial.search.enumeration */
static const int64_t TRIM = INT64_C(-4);

typedef struct {
    Ints2 columns;
    Ints covered;
    Ints lost;
    Ints used;
} Pool;

/* cpx.models.monomial.search.bad_columns */

struct cpx_models_monomial_search_bad_columns_enough_words {
    Levels levels;
    Scratch scratch;
    int64_t t;
    int64_t planes;
    double spare;
    int64_t result;
};

struct cpx_models_monomial_search_bad_columns_first_words {
    Levels levels;
    Scratch scratch;
    int64_t t;
    int64_t n;
    int64_t base;
    int64_t planes;
    int64_t most;
    int64_t result_0;
    int64_t result_1;
};

struct cpx_models_monomial_search_bad_columns_lightest_of {
    Levels levels;
    Scratch scratch;
    int64_t t;
    int64_t planes;
    int64_t filled;
    int64_t result;
};

/* cpx.models.monomial.search.beam */

struct cpx_models_monomial_search_beam__beam {
    Words workspace;
    int64_t stride;
    int64_t bad_words;
    int64_t words;
    int64_t planes;
    int64_t n;
    int64_t good;
    int64_t bad;
    Ints groups;
    Numbers objective;
    Ints marks;
    Words3 covers;
    Ints3 sets;
    Ints2 sums;
    Ints2 states;
    Ints columns;
    Ints found;
    Side side;
    Buffers spare;
    int64_t result;
};

/* cpx.models.monomial.search.bounds */
static const int64_t UNKNOWN = INT64_C(2147483647);

struct cpx_models_monomial_search_bounds_select {
    Numbers objective;
    int64_t covered;
    Ints after;
    Ints lost;
    Ints kept;
    int64_t n;
    int64_t r;
    int64_t limit;
    Ints top;
    int64_t result;
};

struct cpx_models_monomial_search_bounds_tighten {
    Numbers objective;
    int64_t covered;
    Ints after;
    Ints lost;
    Ints kept;
    int64_t n;
    int64_t r;
    int64_t limit;
    Ints top;
    Ints lows;
    Ints lows_with;
    int64_t result_0;
    int64_t result_1;
};

struct cpx_models_monomial_search_bounds_subtree_bounds {
    Numbers objective;
    int64_t covered;
    Ints after;
    Ints lost;
    Ints kept;
    int64_t n;
    int64_t r;
    Ints bounds;
};

struct cpx_models_monomial_search_bounds_order_by {
    Ints keys;
    Ints items;
    int64_t n;
};

/* cpx.models.monomial.search.conflicts */
static const int64_t MOST_FEATURES = INT64_C(400);
static const int64_t WORK_PER_SECOND = INT64_C(1000000000);

struct cpx_models_monomial_search_conflicts_look {
    int64_t bad_words;
    int64_t words;
    int64_t planes;
    int64_t n;
    int64_t k;
    int64_t good;
    Numbers objective;
    int64_t limit;
    int64_t size;
    int64_t first;
    int64_t most;
    Bytes2 pairs;
    Bytes2 triples;
    Bytes2 marks;
    Words workspace;
    Words cover;
    Words buffer;
    Words moves;
    Ints covered;
    Ints lost;
    Ints kept;
    Ints top;
    Ints lows;
    Ints lows_with;
    Ints found;
    int64_t result;
};

/* cpx.models.monomial.search.enumeration */

struct cpx_models_monomial_search_enumeration_enumerate_sets {
    Levels levels;
    Scratch scratch;
    Params params;
    int64_t limit;
    Ints signal;
    Words2 bits;
    Pool pool;
    int64_t result;
};

/* cpx.models.monomial.search.objective */

struct cpx_models_monomial_search_objective_costs {
    Numbers objective;
    Ints covered;
    Ints lost;
    Ints into;
};

/* cpx.models.monomial.search.tree */
static const int64_t DONE = INT64_C(-1);
static const int64_t STOPPED = INT64_C(-2);
static const int64_t FULL = INT64_C(-3);

struct cpx_models_monomial_search_tree_look_ahead {
    Levels levels;
    Scratch scratch;
    Params params;
    int64_t limit;
    int64_t front;
    Ints bounds;
};

struct cpx_models_monomial_search_tree_branches {
    Levels levels;
    Scratch scratch;
    Params params;
    Ints shared;
    Ints found;
    int64_t first;
    Ints bounds;
    Ints tasks;
    Ints done;
    Ints at;
    int64_t result;
};

#endif
