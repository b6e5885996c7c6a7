/* A node of the search: what adding each rule would change, and the best set met; see tree.py. */

#ifndef CPX_RULE_SETS_NODE_H
#define CPX_RULE_SETS_NODE_H

#include "cpx/models/rule_set/search/tables.h"
#include "cpx/backends/search/side_constraints.h"

/* Rules that are measured before a better set is told: a better one yet may be near. */
enum { PATIENCE = 10000 };

/* Good rows whose payments are added up before the limit is looked at. */
enum { SPAN = 512 };

/* What the tally of a stack has. */
enum { DEPTH, NODES, WORK, TELL };

/* The weight of the rows of word w. */
INLINED int64_t weigh_word(const Rows *rows, uint64_t x, int64_t w) {
    const uint64_t *masks = ROW(rows->masks, w);
    int64_t total = 0;
    for (int64_t b = 0; b < rows->slices.at[w]; b++)
        total += popcount(x & masks[b]) << b;
    return total;
}

/* The weight of what a rule has in common with a set of rows; from light on all weights are 1. */
INLINED int64_t weigh(const Rows *rows, const uint64_t *rule, const uint64_t *set, int64_t first,
                      int64_t light, int64_t last) {
    int64_t total = 0;
    for (int64_t w = first; w < light; w++)
        total += weigh_word(rows, rule[w] & set[w], w);
    for (int64_t w = light; w < last; w++)
        total += popcount(rule[w] & set[w]);
    return total;
}

/* What sets with so many rules more than a node, or yet more, must save more than.

   Of two sets of one cost the smaller is better, and of two of one size the first. */
INLINED int64_t needed(const Stack *stack, int64_t depth, int64_t more) {
    int64_t saved = stack->cost.at[depth] - stack->best.at[0];
    return depth + more <= stack->best.at[1] ? saved - 1 : saved;
}

/* Make a node's set with rule r more the best one, if it is better and allowed. */
static NOT_INLINED void note(const Rows *rows, const Stack *stack, const Buffers *buffers,
                             int64_t depth, int64_t r, int64_t cost) {
    int64_t *best = stack->best.at, *set = stack->scratch.at, size = depth + 1;
    stack->chosen.at[size] = r;
    if (!allowed(&rows->side, buffers, stack->chosen.at + 1, size))
        return;
    for (int64_t x = 0; x < size; x++) {
        int64_t rule = stack->chosen.at[x + 1], y = x;
        for (; y > 0 && set[y - 1] > rule; y--)
            set[y] = set[y - 1];
        set[y] = rule;
    }
    if (cost == best[0]) {
        if (size > best[1])
            return;
        if (size == best[1]) {
            int64_t x = 0;
            while (x < size && set[x] == best[2 + x])
                x++;
            if (x == size || set[x] > best[2 + x])
                return;
        }
    }
    best[0] = cost;
    best[1] = size;
    memcpy(best + 2, set, (size_t)size * sizeof *set);
    if (stack->tally.at[TELL] == 0)
        stack->tally.at[TELL] = stack->tally.at[WORK] + PATIENCE;
}

INLINED int32_t greater(int32_t a, int32_t b) { return a > b ? a : b; }

/* What good rows pay at least for the sets with a node's rules and rule r.

   No row pays less than for the node: what is above the limit need not be added up to the end. */
INLINED int64_t payment(const Rows *rows, const Stack *stack, int64_t depth, int64_t r,
                        int64_t limit) {
    const int32_t *least = rows->paid.least.at, *due = ROW(stack->due, depth);
    const int32_t *own = ROW(rows->paid.own, r), *demand = ROW(rows->paid.demand, r);
    int64_t total = stack->paid.at[depth];
    for (int64_t first = 0; first < stack->due.m && total <= limit; first += SPAN) {
        int32_t more = 0;
        for (int64_t i = first; i < min(first + SPAN, stack->due.m); i++) {
            int32_t before = greater(least[i], due[i]);
            more += greater(before, greater(due[i] + own[i], demand[i])) - before;
        }
        total += more;
    }
    return total;
}

/* Add what good rows pay for a rule to what they pay above; return what they pay at least. */
static inline int64_t pay(const Rows *rows, const Stack *stack, int64_t depth, int64_t r) {
    const int64_t n = stack->due.m;
    int32_t *restrict due = ROW(stack->due, depth);
    const int32_t *restrict above = ROW(stack->due, depth - 1);
    const int32_t *restrict own = ROW(rows->paid.own, r), *restrict least = rows->paid.least.at;
    const uint64_t *left = ROW(stack->uncovered, depth - 1), *rule = ROW(rows->bits, r);
    int32_t total = 0;
    for (int64_t i = 0; i < n; i++)
        due[i] = above[i] + own[i];
    for (int64_t w = rows->good; w < rows->bad && n > 0; w++)
        for (uint64_t x = rule[w] & left[w]; x; x &= x - 1) {
            int64_t row = 64 * (w - rows->good) + lowest_place(x);
            const int32_t *restrict share = ROW(rows->paid.shares, row);
            for (int64_t i = 0; i < n; i++)
                due[i] += share[i];
        }
    for (int64_t i = 0; i < n; i++)
        total += greater(least[i], due[i]);
    return total;
}

/* What good rows may pay at most for sets with so many rules more that are wanted. */
INLINED int64_t affordable(const Rows *rows, const Stack *stack, int64_t depth, int64_t more) {
    int64_t cost = stack->cost.at[depth] - needed(stack, depth, more) - 1;
    return (rows->paid.parts * (cost - rows->paid.fixed)) >> rows->paid.shift;
}

/* Measure the rules of a part of the workspace at a node; put the useful ones behind all.

   Rules whose p - c is not above the least are in no set that is wanted. Of use is as well what a
   side constraint may ask for. The result is where the useful ones end. */
static inline int64_t measure(const Rows *rows, const Workspace *workspace, const Stack *stack,
                              const Buffers *buffers, int64_t depth, int64_t first, int64_t last,
                              int64_t least) {
    const int64_t cost = stack->cost.at[depth], saved = needed(stack, depth, 1);
    const int64_t limit = affordable(rows, stack, depth, 1), unit = rows->unit;
    const bool alone = stack->room.at[depth] == 1, doubled = rows->bad < rows->bits.m;
    const uint64_t *left = ROW(stack->uncovered, depth), *once = ROW(stack->once, depth);
    int64_t n = stack->start.at[depth];
    for (int64_t x = first; x < last; x++) {
        int64_t r = workspace->rule.at[x], price = rows->prices.at[r];
        const uint64_t *rule = ROW(rows->bits, r);
        if (workspace->good.at[x] - price <= least)
            continue;
        if (stack->literals.at[depth] + rows->lengths.at[r] > rows->most_literals)
            continue;
        int64_t p = unit * weigh(rows, rule, left, 0, rows->light_good, rows->good);
        if ((p <= price && !is_wanted(&rows->side, r)) || (alone && p - price <= saved))
            continue;
        if (doubled) {
            int64_t overlap = weigh(rows, rule, once, rows->bad, rows->bits.m, rows->bits.m);
            if (stack->overlap.at[depth] + overlap > rows->most_overlap)
                continue;
        }
        int64_t q = unit * weigh(rows, rule, left, rows->good, rows->light_bad, rows->bad);
        if (cost - p + q + price <= stack->best.at[0])
            note(rows, stack, buffers, depth, r, cost - p + q + price);
        if (payment(rows, stack, depth, r, limit) > limit)
            continue;
        workspace->rule.at[n] = r;
        workspace->good.at[n] = p;
        workspace->bad.at[n++] = q;
    }
    stack->tally.at[WORK] += last - first;
    return n;
}

/* Keep the rules of a node that an allowed set may have.

   Returns where they end, and notes where those begin of which each such set has one, behind the
   others. */
static inline int64_t keep_allowed(const Rows *rows, const Workspace *workspace, const Stack *stack,
                                   const Buffers *buffers, int64_t depth, int64_t end,
                                   int64_t *asked) {
    const Side *side = &rows->side;
    const int64_t start = stack->start.at[depth], *chosen = stack->chosen.at + 1;
    int64_t *rule = workspace->rule.at, *good = workspace->good.at, *bad = workspace->bad.at;
    int64_t *bound = workspace->bound.at, *least = workspace->least.at;
    int64_t *most = workspace->most.at, *turn = workspace->turn.at + start;
    *asked = start;
    if (side->there == 0)
        return end;
    for (int64_t x = 0; x < end - start; x++)
        turn[x] = start + x;
    int64_t n = keep_possible(side, buffers, chosen, depth, rule, bad, 0, turn, end - start,
                              min(end - start, stack->room.at[depth]));
    int64_t front = ask_first(side, buffers, chosen, depth, rule, turn, n, bound + start);
    *asked = start + n - front;
    /* The numbers of the rules, by way of what is not in use yet. */
    for (int64_t x = 0; x < n; x++) {
        int64_t y = start + (x + n - front) % n, place = turn[x];
        bound[y] = rule[place];
        least[y] = good[place];
        most[y] = bad[place];
    }
    for (int64_t x = start; x < start + n; x++) {
        rule[x] = bound[x];
        good[x] = least[x];
        bad[x] = most[x];
    }
    return start + n;
}

/* Sort a part of the workspace by n, then by the number of the rule (Shell's sort). */
static inline void order(const Workspace *workspace, int64_t first, int64_t last) {
    int64_t *rule = workspace->rule.at, *good = workspace->good.at, *bad = workspace->bad.at;
    int64_t gap = 1;
    while (gap < last - first)
        gap = 3 * gap + 1;
    while (gap > 1) {
        gap /= 3;
        for (int64_t x = first + gap; x < last; x++) {
            int64_t r = rule[x], p = good[x], q = bad[x], y = x - gap;
            for (; y >= first && (bad[y] > q || (bad[y] == q && rule[y] > r)); y -= gap) {
                rule[y + gap] = rule[y];
                good[y + gap] = good[y];
                bad[y + gap] = bad[y];
            }
            rule[y + gap] = r;
            good[y + gap] = p;
            bad[y + gap] = q;
        }
    }
}

#endif
