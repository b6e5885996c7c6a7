/* Dropping the features of a loss form that can be dropped; see deletion_kernels.py. */

#include "cpx/models/sufficient_reason/methods/tables.h"

/* What a drop changed: the tree, requirement by requirement, and its greatest loss before. */
static void undo(struct cpx_models_sufficient_reason_methods_deletion_kernels__drop *t, int64_t noted) {
    int64_t trees = t->worst.m;
    const int64_t *places = ROW(t->undo, 0), *before = ROW(t->undo, 1);
    while (noted) {
        noted--;
        int64_t *worst = t->worst.at + places[noted];
        t->total.at[places[noted] / trees] -= *worst - before[noted];
        *worst = before[noted];
    }
}

KERNEL(cpx_models_sufficient_reason_methods_deletion_kernels__drop) {
    const int64_t *starts = t->starts.at, *leaves = t->leaves.at, *slacks = t->slacks.at;
    int64_t *times = t->times.at, *total = t->total.at;
    int64_t *places = ROW(t->undo, 0), *before = ROW(t->undo, 1);
    const int64_t trees = t->worst.m;
    int64_t dropped = 0;
    for (int64_t o = 0; o < t->order.n; o++) {
        int64_t j = t->order.at[o], at = starts[j], noted = 0;
        bool holds = true;
        if (!t->kept.at[j])
            continue;
        while (at < starts[j + 1] && holds) {
            int64_t leaf = leaves[at++];
            if (--times[leaf])
                continue;
            for (int64_t r = 0; r < t->slacks.n; r++) {
                int64_t place = r * trees + t->tree.at[leaf];
                int64_t more = ROW(t->losses, r)[leaf] - t->worst.at[place];
                if (more <= 0)
                    continue;
                places[noted] = place;
                before[noted++] = t->worst.at[place];
                t->worst.at[place] += more;
                total[r] += more;
                if (total[r] > slacks[r])
                    holds = false;
            }
        }
        if (holds) {
            t->kept.at[j] = 0;
            dropped++;
            continue;
        }
        for (int64_t k = starts[j]; k < at; k++)
            times[leaves[k]]++;
        undo(t, noted);
    }
    t->result = dropped;
}
