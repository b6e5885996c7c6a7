#include "cpx/models/monomial/search/tree.h"

/* Whether a set, or else all that contain it, are redundant. */
static bool redundant(Words2 bits, const Params *params, const Scratch *scratch,
                      const int64_t *chosen, int64_t size, bool itself) {
    const Side *side = &params->side;
    int64_t *others = scratch->sorted.at;
    for (int64_t x = 0; x < size; x++) {
        if (is_wanted(side, chosen[x])) {
            if (!itself)
                continue;
            for (int64_t y = 0; y < size - 1; y++)
                others[y] = chosen[y < x ? y : y + 1];
            if (!allowed(side, &scratch->side, others, size - 1))
                continue;
        }
        bool alone = false;
        for (int64_t w = 0; w < bits.n && !alone; w++) {
            const uint64_t *row = ROW(bits, w);
            uint64_t left = ~row[chosen[x]];
            for (int64_t y = 0; y < size; y++)
                if (y != x)
                    left &= row[chosen[y]];
            alone = left != 0;
        }
        if (!alone)
            return true;
    }
    return false;
}

static void add(const Pool *pool, const int64_t *chosen, int64_t size, int64_t covered,
                int64_t lost) {
    int64_t at = pool->used.at[0];
    for (int64_t y = 0; y < pool->columns.m; y++)
        ROW(pool->columns, at)[y] = y < size ? chosen[y] : -1;
    pool->covered.at[at] = covered;
    pool->lost.at[at] = lost;
    pool->used.at[0] = at + 1;
}

KERNEL(cpx_models_monomial_search_enumeration_enumerate_sets) {
    const Levels *levels = &t->levels;
    const Scratch *scratch = &t->scratch;
    const Params *params = &t->params;
    const Side *side = &params->side;
    const Pool *pool = &t->pool;
    int64_t level = levels->at.at[0], limit = t->limit, *chosen = scratch->chosen.at;
    while (level >= 0) {
        levels->at.at[0] = level;
        if (*(volatile int64_t *)t->signal.at != 0) {
            t->result = STOPPED;
            return;
        }
        int64_t before = pool->used.at[0], i = levels->position.at[level], n = 0;
        if (before + levels->width.at[level] > pool->lost.n) {
            t->result = TRIM;
            return;
        }
        const int64_t *ids = ROW(levels->ids, level);
        chosen[level] = ids[i];
        if (ROW(levels->bound, level)[i] < limit &&
            !redundant(t->bits, params, scratch, chosen, level + 1, false)) {
            t->signal.at[1]++;
            int64_t left = weigh_child(levels, scratch, level, params);
            for (int64_t x = 0; x < left; x++) {
                int64_t p = scratch->kept.at[x];
                int64_t c = scratch->covered.at[p], l = scratch->lost.at[p];
                bool idle = c == ROW(levels->covered, level)[i] && l == ROW(levels->lost, level)[i];
                if (idle && !is_wanted(side, ids[p]))
                    continue;
                scratch->kept.at[n++] = p;
                chosen[level + 1] = ids[p];
                if (cost(&params->objective, c, l) < limit &&
                    allowed(side, &scratch->side, chosen, level + 2) &&
                    !redundant(t->bits, params, scratch, chosen, level + 2, true))
                    add(pool, chosen, level + 2, c, l);
            }
            if (params->k - level == 2)
                n = 0;
        }
        if (n < 2) {
            level = next_child(levels, level);
        } else {
            level = first_child(levels, scratch, level, n, params, limit);
            if (level == FULL)
                pool->used.at[0] = before; /* what was found here will be found again */
        }
    }
    if (level == DONE)
        levels->at.at[0] = 0;
    t->result = level;
}
