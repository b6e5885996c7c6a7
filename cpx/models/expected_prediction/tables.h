/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_EXPECTED_PREDICTION_TABLES_H
#define CPX_MODELS_EXPECTED_PREDICTION_TABLES_H

#include "cpx/compiled/kernel.h"
#include "cpx/data/fitted/tables.h"

/* cpx.models.expected_prediction.leaf_circuits */

typedef struct {
    Ints first;
    Ints node;
    Floats share;
    Floats own;
    Ints test;
    Ints attribute;
    Bools leads;
} Marks;

typedef struct {
    Floats ratio;
    Floats slope;
    Floats below;
    Bools marked;
    Floats before;
} Scratch;

typedef struct {
    Floats mean;
    Floats value;
    Ints power;
    Floats more;
    Floats given;
} Sums;

struct cpx_models_expected_prediction_leaf_circuits_leaf_sums {
    Nodes nodes;
    Room room;
    Marks marks;
    Scratch scratch;
    Floats values;
    Ints state;
    Bytes2 seen;
    Sums sums;
};

#endif
