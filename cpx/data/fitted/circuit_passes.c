/* Passes over circuits; see circuit_passes.py. */

#include "cpx/data/fitted/circuit_passes.h"

/* The values of all nodes for an event. */
static void values(const Nodes *nodes, const Room *room, const uint8_t *allowed) {
    for (int64_t n = 0; n < nodes->kind.n; n++) {
        if (nodes->kind.at[n] != LEAF) {
            upward(nodes, room, n);
            continue;
        }
        const double *table = nodes->table.at + nodes->entry.at[n];
        const uint8_t *may = allowed + nodes->state.at[n];
        double value = 0;
        for (int64_t k = 0; k < nodes->size.at[n]; k++)
            value += may[k] ? table[k] : 0;
        room->value.at[n] = value;
        room->power.at[n] = 0;
    }
}

KERNEL(cpx_data_fitted_circuit_passes_event_values) {
    for (int64_t i = 0; i < t->allowed.n; i++) {
        values(&t->nodes, &t->room, ROW(t->allowed, i));
        t->value.at[i] = t->room.value.at[t->nodes.kind.n - 1];
        t->power.at[i] = t->room.power.at[t->nodes.kind.n - 1];
    }
}

KERNEL(cpx_data_fitted_circuit_passes_conditionals) {
    const Nodes *nodes = &t->nodes;
    int64_t last = nodes->kind.n - 1;
    double *flow = t->room.flow.at;
    for (int64_t i = 0; i < t->found.n; i++)
        t->found.at[i] = 0;
    t->result = true;
    for (int64_t i = 0; i < t->allowed.n && t->result; i++) {
        const uint8_t *allowed = ROW(t->allowed, i);
        double *found = t->found.at + i * t->allowed.m;
        values(nodes, &t->room, allowed);
        t->result = t->room.value.at[last] > 0;
        for (int64_t n = 0; n < last; n++)
            flow[n] = 0;
        flow[last] = 1;
        for (int64_t n = last; n >= 0; n--) {
            if (nodes->kind.at[n] != LEAF) {
                downward(nodes, &t->room, flow, n);
                continue;
            }
            const double *table = nodes->table.at + nodes->entry.at[n];
            int64_t state = nodes->state.at[n];
            double value = t->room.value.at[n];
            if (flow[n] > 0 && value > 0)
                for (int64_t k = 0; k < nodes->size.at[n]; k++)
                    found[state + k] += allowed[state + k] ? flow[n] * table[k] / value : 0;
        }
    }
}
