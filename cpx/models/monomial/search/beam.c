#include "cpx/backends/search/bitsets.h"
#include "cpx/models/monomial/search/objective.h"
#include "cpx/backends/search/side_constraints.h"

/* Sizes without a better set after which the search is over. */
#define PATIENCE 4

KERNEL(cpx_models_monomial_search_beam__beam) {
    const Numbers *objective = &t->objective;
    const Side *side = &t->side;
    const Buffers *spare = &t->spare;
    const int64_t *groups = t->groups.at;
    int64_t *costs = ROW(t->states, 0), *parents = ROW(t->states, 1), *added = ROW(t->states, 2);
    int64_t *keys = ROW(t->states, 3), *known = ROW(t->states, 4);
    int64_t *covered = ROW(t->sums, 0), *kept = ROW(t->sums, 1), *every = ROW(t->sums, 2);
    int64_t width = t->states.m, k = t->columns.n, n = t->n, size = 0, filled = 1;
    int64_t best = rank(objective, t->bad, 0);
    if (!allowed(side, spare, t->columns.at, 0))
        best = FAR;
    for (int64_t p = 0; p < n; p++)
        every[p] = p;
    for (int64_t length = 0; length < k; length++) {
        int64_t old = length & 1, new = 1 - old, last = filled;
        filled = 0;
        for (int64_t s = 0; s < last; s++)
            known[s] = keys[s];
        for (int64_t s = 0; s < last; s++) {
            const int64_t *set = ROW3(t->sets, old, s);
            count(t->workspace.at, 0, t->stride, t->bad_words, t->words, 0, n, n, t->planes,
                  ROW3(t->covers, old, s), covered, kept);
            int64_t some = 0, r = k - length;
            if (side->there != 0)
                some = look(side, spare, set, length, every, every, n, r);
            if (some < 0)
                continue;
            for (int64_t p = 0; p < n; p++) {
                int64_t cost = rank(objective, covered[p], t->good - kept[p]);
                if (filled == width && cost >= costs[filled - 1])
                    continue;
                bool taken = false;
                for (int64_t x = 0; x < length; x++)
                    taken |= set[x] == p;
                for (int64_t x = 0; x < (t->groups.n != 0 ? length : 0); x++)
                    taken |= groups[set[x]] == groups[p];
                int64_t key = known[s] + t->marks.at[p];
                for (int64_t x = 0; x < filled; x++)
                    taken |= keys[x] == key;
                if (taken || (some != 0 && !can_follow(side, spare, p, r)))
                    continue;
                int64_t at = min(filled, width - 1);
                filled = min(filled + 1, width);
                for (; at > 0 && costs[at - 1] > cost; at--) {
                    costs[at] = costs[at - 1];
                    parents[at] = parents[at - 1];
                    added[at] = added[at - 1];
                    keys[at] = keys[at - 1];
                }
                costs[at] = cost;
                parents[at] = s;
                added[at] = p;
                keys[at] = key;
            }
        }
        if (filled == 0)
            break;
        for (int64_t s = 0; s < filled; s++) {
            const uint64_t *cover = ROW3(t->covers, old, parents[s]);
            const int64_t *parent = ROW3(t->sets, old, parents[s]);
            int64_t *set = ROW3(t->sets, new, s);
            for (int64_t w = 0; w < t->words; w++)
                ROW3(t->covers, new, s)[w] = cover[w] & t->workspace.at[w * t->stride + added[s]];
            for (int64_t x = 0; x < length; x++)
                set[x] = parent[x];
            set[length] = added[s];
        }
        int64_t at = 0;
        while (at < filled && !allowed(side, spare, ROW3(t->sets, new, at), length + 1))
            at++;
        if (at < filled && costs[at] < best) {
            best = costs[at];
            size = length + 1;
            for (int64_t x = 0; x < size; x++)
                t->found.at[x] = ROW3(t->sets, new, at)[x];
        } else if (best < FAR && length - size >= PATIENCE) {
            break;
        }
    }
    t->result = size;
}
