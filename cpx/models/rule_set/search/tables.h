/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_RULE_SET_SEARCH_TABLES_H
#define CPX_MODELS_RULE_SET_SEARCH_TABLES_H

#include "cpx/compiled/kernel.h"
#include "cpx/backends/search/tables.h"

/* cpx.models.rule_set.search.dual_ascent */
static const int64_t MULTIPLE = INT64_C(32);

typedef struct {
    Singles3 covers;
    Ints starts;
    Ints bad;
    Singles2 good;
    Singles costs;
    Singles prices;
} Terms;

typedef struct {
    Singles3 shares;
    Singles3 first;
    Singles3 second;
    Singles scales;
    Singles slopes;
    Singles3 there;
    Singles3 gained;
} Costs;

typedef struct {
    Costs of_bad;
    Costs of_rules;
    Singles3 demand;
    Singles3 slopes;
    Bytes2 near;
    Singles2 least;
    Singles2 spread;
    Ints ranges;
    Floats figures;
} Ascent;

/* cpx.models.rule_set.search.cost_splitting */

typedef struct {
    Ints2 good;
    Ints costs;
    Ints prices;
    Ints2 shares;
    Shorts3 short_;
    Ints3 rule_shares;
    Ints3 covered;
    Ints2 least;
    Ints second;
    Ints who;
    Ints within;
    Ints without;
    Ints left;
    Floats by;
    Ints shift;
} Exact;

/* cpx.models.rule_set.search.rows */

typedef struct {
    Shorts least;
    Shorts2 demand;
    Shorts2 own;
    Shorts2 shares;
    Ints bad;
    int64_t parts;
    int64_t shift;
    int64_t fixed;
} Paid;

typedef struct {
    Words2 bits;
    Words2 masks;
    Ints slices;
    int64_t light_good;
    int64_t light_bad;
    int64_t good;
    int64_t bad;
    int64_t unit;
    Ints prices;
    Ints lengths;
    int64_t most_rules;
    int64_t most_literals;
    int64_t most_overlap;
    Paid paid;
    Side side;
} Rows;

/* cpx.models.rule_set.search.tree */
static const int64_t EMPTY = INT64_C(0);
static const int64_t NO_ROOM = INT64_C(1);
static const int64_t BETTER = INT64_C(2);
static const int64_t PAUSED = INT64_C(3);

typedef struct {
    Ints rule;
    Ints good;
    Ints bad;
    Ints bound;
    Ints least;
    Ints most;
    Ints turn;
} Workspace;

typedef struct {
    Words2 uncovered;
    Words2 once;
    Shorts2 due;
    Ints paid;
    Ints cost;
    Ints literals;
    Ints overlap;
    Ints chosen;
    Ints room;
    Ints start;
    Ints end;
    Ints children;
    Ints position;
    Words union_;
    Ints top;
    Ints best;
    Ints scratch;
    Ints tally;
} Stack;

/* cpx.models.rule_set.search.cost_splitting */

struct cpx_models_rule_set_search_cost_splitting_certify {
    Terms terms;
    Ascent state;
    Exact exact;
    int64_t result;
};

/* cpx.models.rule_set.search.dual_ascent */

struct cpx_models_rule_set_search_dual_ascent_pass_on {
    Terms terms;
    Singles3 lines;
    Singles3 shares;
};

struct cpx_models_rule_set_search_dual_ascent_take {
    Singles3 table;
    Ints lines;
    Ints blocks;
    Ints places;
    Singles3 taken;
};

struct cpx_models_rule_set_search_dual_ascent_climb {
    Terms terms;
    Ascent state;
    int64_t t;
};

struct cpx_models_rule_set_search_dual_ascent_settle {
    Terms terms;
    Ascent state;
};

/* cpx.models.rule_set.search.tree */

struct cpx_models_rule_set_search_tree_expand {
    Rows rows;
    Workspace workspace;
    Stack stack;
    Buffers buffers;
    int64_t depth;
    int64_t first;
    int64_t last;
    int64_t least;
};

struct cpx_models_rule_set_search_tree_branch {
    Rows rows;
    Workspace workspace;
    Stack stack;
    Buffers buffers;
    int64_t work;
    int64_t result;
};

#endif
