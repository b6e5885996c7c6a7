/* Passes over circuits that several kernels make; see circuit_passes.py. */

#ifndef CPX_CIRCUIT_PASSES_H
#define CPX_CIRCUIT_PASSES_H

#include <math.h>

#include "cpx/data/fitted/tables.h"

#define SCALE 0x1p256 /* 2**STEP */

/* Keep a value that is not 0 from getting too small. */
INLINED void normalise(double *value, int64_t *power) {
    if (*value < 1 / SCALE && *value > 0) {
        *value *= SCALE;
        *power -= 1;
    }
}

/* The values of products and sums, and shares; those of leaves are there. */
INLINED void upward(const Nodes *nodes, const Room *room, int64_t n) {
    double *values = room->value.at, value;
    int64_t *powers = room->power.at, power;
    int64_t first = nodes->first.at[n], end = nodes->first.at[n + 1];
    const int64_t *child = nodes->child.at;
    if (nodes->kind.at[n] == PRODUCT) {
        value = 1, power = 0;
        for (int64_t e = first; e < end; e++) {
            value *= values[child[e]];
            power += powers[child[e]];
            normalise(&value, &power);
        }
    } else {
        power = INT64_MIN;
        for (int64_t e = first; e < end; e++)
            if (values[child[e]] > 0)
                power = max(power, powers[child[e]]);
        value = 0;
        for (int64_t e = first; e < end; e++) {
            int64_t c = child[e], below = power - powers[c];
            double part = below == 0 ? values[c] : below == 1 ? values[c] / SCALE : 0;
            room->share.at[e] = nodes->weight.at[e] * part;
            value += room->share.at[e];
        }
        for (int64_t e = first; e < end; e++)
            room->share.at[e] = value > 0 ? room->share.at[e] / value : 0;
        if (value == 0)
            power = 0;
        normalise(&value, &power);
    }
    values[n] = value;
    powers[n] = power;
}

/* Hand down what flows through a node to its children. */
INLINED void downward(const Nodes *nodes, const Room *room, double *flow, int64_t n) {
    int64_t sum = nodes->kind.at[n] == SUM;
    for (int64_t e = nodes->first.at[n]; e < nodes->first.at[n + 1]; e++)
        flow[nodes->child.at[e]] += sum ? flow[n] * room->share.at[e] : flow[n];
}

#endif
