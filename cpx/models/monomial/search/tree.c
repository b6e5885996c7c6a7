#include "cpx/models/monomial/search/tree.h"

#include "cpx/models/monomial/search/pairs.h"

/* Branches entered for the sake of equal sets before that can be called too many. */
#define ENOUGH_TIES 1000

KERNEL(cpx_models_monomial_search_tree_look_ahead) {
    const Levels *levels = &t->levels;
    const Scratch *scratch = &t->scratch;
    const Params *params = &t->params;
    Shorts2 shared = params->shared;
    const int64_t *ids = ROW(levels->ids, 0), *before = ROW(levels->lost, 0);
    const int64_t *bound = ROW(levels->bound, 0);
    bool any_shared = shared.n * shared.m != 0;
    for (int64_t i = 0; i < levels->width.at[0]; i++) {
        levels->position.at[0] = i;
        t->bounds.at[i] = t->limit;
        if (bound[i] >= t->limit || (i >= t->front && !any_shared))
            continue;
        scratch->chosen.at[0] = ids[i];
        int64_t n = weigh_child(levels, scratch, 0, params), least;
        if (any_shared) {
            for (int64_t p = i + 1; p < levels->width.at[0]; p++) {
                int32_t both = (int32_t)(before[i] + before[p] - scratch->lost.at[p]);
                ROW(shared, ids[i])[ids[p]] = ROW(shared, ids[p])[ids[i]] = both;
            }
        }
        if (i < t->front) {
            narrow(levels, scratch, 0, n, params, t->limit, &least);
            t->bounds.at[i] = min(t->limit, max(least, bound[i]));
        }
    }
}

/* What another thread may change while this one looks. */
INLINED int64_t now(const int64_t *number) { return *(const volatile int64_t *)number; }

/* Search the subtree of the root's child at levels.position[0]; levels.at[0] is 0, or what an
   interrupted call left there. */
INLINED int64_t branch(const Levels *levels, const Scratch *scratch, const Params *params,
                       const Best *best) {
    int64_t t = levels->at.at[0], *found = best->found.at, *shared = best->shared;
    while (t >= 0) {
        levels->at.at[0] = t;
        if (now(&shared[0]) != 0)
            return STOPPED;
        int64_t i = levels->position.at[t], n = 0;
        int64_t least = best->first ? found[0] : min(now(&shared[1]), found[0]);
        int64_t slack = best->first || now(&shared[2]) != 0 ? 0 : 1;
        int64_t bound = ROW(levels->bound, t)[i];
        bool enter = bound < least + slack;
        if (enter && bound == least) {
            /* All below are larger than the child, by one feature at least. */
            enter = found[0] > least || t + 2 <= found[1];
            TIES(best)++;
        }
        if (enter) {
            NODES(best)++;
            if (TIES(best) > ENOUGH_TIES + (NODES(best) >> 3))
                shared[2] = 1;
            scratch->chosen.at[t] = ROW(levels->ids, t)[i];
            int64_t limit = least + slack;
            if (params->k - t != 3 || !best_pair(levels, scratch, t, params, least, slack, best)) {
                n = weigh_child(levels, scratch, t, params);
                least = try_each(levels, scratch, t, n, params, least, slack, best);
                if (params->k - t == 2)
                    n = 0;
            }
            if (best->first && found[0] < limit)
                break;
        }
        if (n < 2)
            t = next_child(levels, t);
        else
            t = first_child(levels, scratch, t, n, params, least + slack);
    }
    if (t == FULL)
        return FULL;
    levels->at.at[0] = 0;
    return DONE;
}

KERNEL(cpx_models_monomial_search_tree_branches) {
    const Best best = {t->shared.at, t->found, t->first != 0};
    for (int64_t *at = t->at.at; at[0] < t->tasks.n; at[0]++) {
        int64_t task = t->tasks.at[at[0]];
        if (t->bounds.at[task] <= now(&best.shared[1]) - best.first) {
            t->levels.position.at[0] = task;
            t->result = branch(&t->levels, &t->scratch, &t->params, &best);
            if (t->result != DONE)
                return;
        }
        t->done.at[task] = 1;
    }
    t->result = DONE;
}
