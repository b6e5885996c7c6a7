/* Sums over leaves of a model under a circuit; see leaf_circuits.py. */

#include "cpx/data/fitted/circuit_passes.h"
#include "cpx/models/expected_prediction/tables.h"

typedef struct cpx_models_expected_prediction_leaf_circuits_leaf_sums Table;

/* The values of all nodes given what a set knows. */
static void values(const Table *t, const uint8_t *seen) {
    const Nodes *nodes = &t->nodes;
    for (int64_t n = 0; n < nodes->kind.n; n++) {
        int64_t a = nodes->attribute.at[n];
        if (a < 0) {
            upward(nodes, &t->room, n);
            continue;
        }
        t->room.value.at[n] = seen[a] ? nodes->table.at[nodes->entry.at[n] + t->state.at[a]] : 1;
        t->room.power.at[n] = 0;
    }
}

/* Whether what is known is against a leaf. */
INLINED bool excluded(const Table *t, const uint8_t *seen, int64_t leaf) {
    for (int64_t i = t->marks.test.at[leaf]; i < t->marks.test.at[leaf + 1]; i++)
        if (seen[t->marks.attribute.at[i]] && !t->marks.leads.at[i])
            return true;
    return false;
}

/* The ratios of the nodes that change with a leaf, given what is known; return the last one.

   Below nodes that are marked here something is asked that is not known. */
static double ratios(const Table *t, const uint8_t *seen, int64_t leaf) {
    const Nodes *nodes = &t->nodes;
    double *ratio = t->scratch.ratio.at;
    uint8_t *marked = t->scratch.marked.at;
    for (int64_t i = t->marks.first.at[leaf]; i < t->marks.first.at[leaf + 1]; i++) {
        int64_t n = t->marks.node.at[i], first = nodes->first.at[n], end = nodes->first.at[n + 1];
        bool changes = false;
        double own = 0;
        if (nodes->kind.at[n] == LEAF) {
            changes = !seen[nodes->attribute.at[n]];
            own = t->marks.share.at[i];
        } else {
            for (int64_t e = first; e < end; e++)
                changes |= marked[nodes->child.at[e]];
            if (changes && nodes->kind.at[n] == PRODUCT) {
                own = 1;
                for (int64_t e = first; e < end; e++) {
                    t->scratch.before.at[e] = own;
                    own *= ratio[nodes->child.at[e]];
                }
            } else if (changes)
                for (int64_t e = first; e < end; e++)
                    own += t->room.share.at[e] * ratio[nodes->child.at[e]];
        }
        if (changes) {
            ratio[n] = own;
            marked[n] = true;
        }
    }
    return ratio[nodes->kind.n - 1];
}

/* What a node says of the state of x in its attribute. */
INLINED double chance(const Table *t, int64_t n) {
    return t->nodes.table.at[t->nodes.entry.at[n] + t->state.at[t->nodes.attribute.at[n]]];
}

/* Hand the derivatives down the nodes that change; those of others are added up. */
static void slopes(const Table *t, int64_t leaf, double *more) {
    const Nodes *nodes = &t->nodes;
    double *ratio = t->scratch.ratio.at, *slope = t->scratch.slope.at;
    for (int64_t i = t->marks.first.at[leaf + 1] - 1; i >= t->marks.first.at[leaf]; i--) {
        int64_t n = t->marks.node.at[i], first = nodes->first.at[n], end = nodes->first.at[n + 1];
        double own = slope[n], after = own;
        slope[n] = 0;
        if (own == 0)
            continue;
        if (nodes->kind.at[n] == LEAF)
            more[nodes->attribute.at[n]] += own * t->marks.own.at[i];
        for (int64_t e = end - 1; e >= first; e--) {
            int64_t c = nodes->child.at[e];
            double part = own * t->room.share.at[e];
            if (nodes->kind.at[n] == PRODUCT) {
                part = after * t->scratch.before.at[e];
                after *= ratio[c];
            }
            if (t->scratch.marked.at[c])
                slope[c] += part;
            else
                t->scratch.below.at[c] += part;
        }
    }
}

static void clear(const Table *t, int64_t leaf) {
    for (int64_t i = t->marks.first.at[leaf]; i < t->marks.first.at[leaf + 1]; i++) {
        t->scratch.ratio.at[t->marks.node.at[i]] = 1;
        t->scratch.marked.at[t->marks.node.at[i]] = false;
    }
}

/* Hand what is below, and the probabilities, down all nodes. */
static void down(const Table *t, const uint8_t *seen, double *more, double *given) {
    const Nodes *nodes = &t->nodes;
    double *below = t->scratch.below.at, *flow = t->room.flow.at;
    int64_t last = nodes->kind.n - 1;
    for (int64_t n = 0; n < last; n++)
        flow[n] = 0;
    flow[last] = 1;
    for (int64_t n = last; n >= 0; n--) {
        int64_t a = nodes->attribute.at[n];
        if (a >= 0) {
            more[a] += seen[a] ? 0 : below[n] * chance(t, n);
            given[a] += seen[a] ? 0 : flow[n] * chance(t, n);
        }
        downward(nodes, &t->room, flow, n);
        downward(nodes, &t->room, below, n);
        below[n] = 0;
    }
}

KERNEL(cpx_models_expected_prediction_leaf_circuits_leaf_sums) {
    int64_t last = t->nodes.kind.n - 1, attributes = t->seen.m;
    bool extended = t->sums.more.n > 0;
    for (int64_t s = 0; s < t->seen.n; s++) {
        const uint8_t *seen = ROW(t->seen, s);
        double *more = t->sums.more.at + s * attributes;
        double *given = t->sums.given.at + s * attributes;
        values(t, seen);
        t->sums.value.at[s] = t->room.value.at[last];
        t->sums.power.at[s] = t->room.power.at[last];
        double mean = 0;
        for (int64_t leaf = 0; leaf < t->values.n; leaf++) {
            double value = t->values.at[leaf];
            if (excluded(t, seen, leaf))
                continue;
            double reached = ratios(t, seen, leaf);
            mean += value * reached;
            if (!t->scratch.marked.at[last]) /* all that it tests is known */
                t->scratch.below.at[last] += value;
            else if (extended && reached > 0) {
                t->scratch.slope.at[last] = value;
                slopes(t, leaf, more);
            }
            clear(t, leaf);
        }
        t->sums.mean.at[s] = mean;
        if (extended)
            down(t, seen, more, given);
        else
            t->scratch.below.at[last] = 0;
    }
}
