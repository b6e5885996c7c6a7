/* Dual ascent: cost shares improved step by step; see dual_ascent.py. */

#include <math.h>

#include "cpx/models/rule_set/search/tables.h"

/* Each so many steps it is seen which rules rows of a block pay for, in multiples of the heat. */
enum { REFRESH = 5 };
static const float MARGIN = 1;

static const float FIRST = 0.9f, SECOND = 0.98f, TINY = 1e-12f;

/* Add some lines of a table, each of n numbers, to a line. */
static inline void add(float *restrict line, const float *restrict table, int64_t n,
                       const int64_t *which, int64_t first, int64_t last) {
    int64_t x = first;
    for (; x + 3 < last; x += 4) {
        const float *restrict a = table + which[x] * n, *restrict b = table + which[x + 1] * n;
        const float *restrict c = table + which[x + 2] * n, *restrict d = table + which[x + 3] * n;
        for (int64_t i = 0; i < n; i++)
            line[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
    for (; x < last; x++) {
        const float *restrict a = table + which[x] * n;
        for (int64_t i = 0; i < n; i++)
            line[i] += a[i];
    }
}

KERNEL(cpx_models_rule_set_search_dual_ascent_pass_on) {
    const Terms *terms = &t->terms;
    const int64_t W = t->lines.l;
    for (int64_t k = 0; k < t->lines.n; k++)
        for (int64_t r = 0; r < t->lines.m; r++) {
            const float *restrict line = ROW3(t->lines, k, r);
            for (int64_t x = terms->starts.at[r]; x < terms->starts.at[r + 1]; x++) {
                float *restrict more = ROW3(t->shares, k, terms->bad.at[x]);
                for (int64_t i = 0; i < W; i++)
                    more[i] += line[i];
            }
        }
}

KERNEL(cpx_models_rule_set_search_dual_ascent_take) {
    const int64_t W = t->taken.l;
    for (int64_t k = 0; k < t->taken.n; k++)
        for (int64_t c = 0; c < t->taken.m; c++)
            for (int64_t i = 0; i < min(W, t->blocks.n - k * W); i++) {
                int64_t x = k * W + i;
                const float *line = ROW3(t->table, t->blocks.at[x], t->lines.at[c]);
                ROW3(t->taken, k, c)[i] = line[t->places.at[x]];
            }
}

static void scale(const Costs *costs, int64_t k) {
    const int64_t W = costs->shares.l;
    for (int64_t j = 0; j < costs->scales.n; j++) {
        float by = costs->scales.at[j], *restrict line = ROW3(costs->shares, k, j);
        for (int64_t i = 0; i < W; i++)
            line[i] *= by;
    }
}

/* Move the shares of cost j in block k by their slopes; they belong to range t. */
static inline void move(const Costs *costs, int64_t k, int64_t t, int64_t j,
                        const float *restrict slope, float total, float by, float c1, float c2) {
    const int64_t W = costs->shares.l;
    float *restrict x = ROW3(costs->shares, k, j);
    float *restrict first = ROW3(costs->first, k, j), *restrict second = ROW3(costs->second, k, j);
    float *restrict gained = ROW3(costs->gained, t, j), *restrict there = ROW3(costs->there, t, j);
    const float mean = costs->slopes.at[j], low = total * 1e-6f;
    if (total <= 0)
        return;
    for (int64_t i = 0; i < W; i++)
        gained[i] += x[i] * slope[i];
    if (mean >= 0)
        for (int64_t i = 0; i < W; i++) {
            float g = x[i] * (slope[i] - mean);
            float u = FIRST * first[i] + (1 - FIRST) * g;
            float v = SECOND * second[i] + (1 - SECOND) * g * g;
            first[i] = u;
            second[i] = v;
            float s = by * (u * c1) / (sqrtf(v * c2) + TINY);
            s = -1.0f > s ? -1.0f : s;
            s = 1.0f < s ? 1.0f : s;
            float y = x[i] * (1.0f + s + 0.5f * s * s);
            y = low > y ? low : y;
            x[i] = x[i] > 0 ? y : 0.0f;
        }
    for (int64_t i = 0; i < W; i++)
        there[i] += x[i];
}

/* The 32nd power of what is positive, and 0 of other numbers. */
static inline float power(float z) {
    z = z > 0 ? z : 0.0f;
    z *= z;
    z *= z;
    z *= z;
    z *= z;
    return z * z;
}

static void clear(Singles3 sums, int64_t t) {
    memset(ROW3(sums, t, 0), 0, (size_t)(sums.m * sums.l) * sizeof(float));
}

KERNEL(cpx_models_rule_set_search_dual_ascent_climb) {
    const Terms *terms = &t->terms;
    const Ascent *state = &t->state;
    const Costs *of_bad = &state->of_bad, *of_rules = &state->of_rules;
    const int64_t R = terms->covers.m, W = terms->covers.l, B = of_bad->scales.n;
    const int64_t *starts = terms->starts.at, *bad = terms->bad.at;
    const float heat = (float)state->figures.at[0], by = (float)state->figures.at[1];
    const float c1 = (float)state->figures.at[3], c2 = (float)state->figures.at[4];
    const float over = 1 / (heat * 16);
    const bool look = (int64_t)state->figures.at[2] % REFRESH == 0;
    const Singles3 sums[] = {of_bad->gained, of_bad->there, of_rules->gained, of_rules->there};
    for (int x = 0; x < 4; x++)
        clear(sums[x], t->t);
    for (int64_t k = state->ranges.at[t->t]; k < state->ranges.at[t->t + 1]; k++) {
        const float *restrict good = ROW(terms->good, k);
        const float *table = ROW3(of_bad->shares, k, 0);
        float *restrict least = ROW(state->least, k), *restrict spread = ROW(state->spread, k);
        uint8_t *near = ROW(state->near, k);
        scale(of_bad, k);
        scale(of_rules, k);
        memcpy(least, good, (size_t)W * sizeof(float));
        if (look)
            memset(near, 1, (size_t)R);
        for (int64_t r = 0; r < R; r++)
            if (near[r]) {
                float *restrict line = ROW3(state->demand, t->t, r);
                const float *restrict own = ROW3(terms->covers, k, r);
                memcpy(line, ROW3(of_rules->shares, k, r), (size_t)W * sizeof(float));
                add(line, table, W, bad, starts[r], starts[r + 1]);
                for (int64_t i = 0; i < W; i++) {
                    line[i] = own[i] > 0 ? line[i] : 1e30f;
                    least[i] = line[i] < least[i] ? line[i] : least[i];
                }
            }
        for (int64_t i = 0; i < W; i++)
            spread[i] = power(1 - (good[i] - least[i]) * over);
        for (int64_t r = 0; r < R; r++)
            if (near[r]) {
                float *restrict line = ROW3(state->demand, t->t, r);
                if (look) {
                    float lowest = 1e30f;
                    for (int64_t i = 0; i < W; i++)
                        lowest = line[i] - least[i] < lowest ? line[i] - least[i] : lowest;
                    near[r] = lowest * over < MARGIN;
                }
                for (int64_t i = 0; i < W; i++) {
                    line[i] = power(1 - (line[i] - least[i]) * over);
                    spread[i] += line[i];
                }
            }
        for (int64_t i = 0; i < W; i++)
            spread[i] = 1 / (TINY > spread[i] ? TINY : spread[i]);
        clear(state->slopes, t->t);
        for (int64_t r = 0; r < R; r++) {
            float *restrict line = ROW3(state->demand, t->t, r);
            if (near[r]) {
                for (int64_t i = 0; i < W; i++)
                    line[i] *= spread[i];
                for (int64_t x = starts[r]; x < starts[r + 1]; x++) {
                    float *restrict more = ROW3(state->slopes, t->t, bad[x]);
                    for (int64_t i = 0; i < W; i++)
                        more[i] += line[i];
                }
            } else
                memset(line, 0, (size_t)W * sizeof(float));
        }
        for (int64_t j = 0; j < B; j++)
            move(of_bad, k, t->t, j, ROW3(state->slopes, t->t, j), terms->costs.at[j], by, c1, c2);
        for (int64_t r = 0; r < R; r++)
            move(of_rules, k, t->t, r, ROW3(state->demand, t->t, r), terms->prices.at[r], by, c1,
                 c2);
    }
}

static void settle(const Costs *costs, Singles totals) {
    for (int64_t j = 0; j < totals.n; j++) {
        float there = 0, gained = 0;
        for (int64_t t = 0; t < costs->there.n; t++)
            for (int64_t i = 0; i < costs->there.l; i++) {
                there += ROW3(costs->there, t, j)[i];
                gained += ROW3(costs->gained, t, j)[i];
            }
        costs->scales.at[j] = there > 0 ? totals.at[j] / there : 0;
        costs->slopes.at[j] = totals.at[j] > 0 ? gained / totals.at[j] : 0;
    }
}

KERNEL(cpx_models_rule_set_search_dual_ascent_settle) {
    settle(&t->state.of_bad, t->terms.costs);
    settle(&t->state.of_rules, t->terms.prices);
}
