/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_DATA_FITTED_TABLES_H
#define CPX_DATA_FITTED_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.data.fitted.circuit_passes */
static const int64_t LEAF = INT64_C(0);
static const int64_t PRODUCT = INT64_C(1);
static const int64_t SUM = INT64_C(2);
static const int64_t STEP = INT64_C(256);

typedef struct {
    Bytes kind;
    Ints first;
    Ints child;
    Floats weight;
    Ints attribute;
    Ints state;
    Ints entry;
    Ints size;
    Floats table;
} Nodes;

typedef struct {
    Floats value;
    Ints power;
    Floats share;
    Floats flow;
} Room;

struct cpx_data_fitted_circuit_passes_event_values {
    Nodes nodes;
    Room room;
    Bytes2 allowed;
    Floats value;
    Ints power;
};

struct cpx_data_fitted_circuit_passes_conditionals {
    Nodes nodes;
    Room room;
    Bytes2 allowed;
    Floats found;
    int64_t result;
};

#endif
