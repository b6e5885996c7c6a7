/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_BACKENDS_SEARCH_TABLES_H
#define CPX_BACKENDS_SEARCH_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.backends.search.side_constraints */

typedef struct {
    Ints now;
    Words members;
    Words blocked;
} Slacks;

typedef struct {
    Slacks slacks;
    Words truth;
    Words other;
    Words reach;
    Ints tight;
    Words near;
} Buffers;

typedef struct {
    Shorts2 changes;
    Ints start;
    Ints gains;
    Ints rises;
    Words2 rising;
    Ints bits;
    Ints places;
    Ints losses;
    Words2 losing;
} Additive;

typedef struct {
    Additive additive;
    Words2 terms;
    Words held;
    Ints starts;
    Words2 masks;
    Ints scales;
    Ints least;
    Ints gains;
    Ints losses;
    Words2 about;
    Ints loose;
    int64_t asks;
    int64_t there;
    Ints wanted;
    int64_t drop_idle;
} Side;

/* cpx.backends.search.bitsets */

struct cpx_backends_search_bitsets_count {
    Words workspace;
    int64_t start;
    int64_t stride;
    int64_t bad_words;
    int64_t words;
    int64_t low;
    int64_t high;
    int64_t n;
    int64_t planes;
    Words cover;
    Ints bad;
    Ints good;
};

struct cpx_backends_search_bitsets_compress {
    Words workspace;
    int64_t start;
    int64_t stride;
    int64_t bad_words;
    int64_t words;
    Ints columns;
    int64_t n;
    Words cover;
    int64_t to;
    int64_t to_stride;
    Words buffer;
    Words moves;
    int64_t result_0;
    int64_t result_1;
};

#endif
