/* Branch and bound over sets of rules; see tree.py. */

#include "cpx/models/monomial/search/tables.h"
#include "cpx/models/rule_set/search/node.h"

/* Bound the classes of a node's rules by what their sets may be better than the node. */
static void bound_classes(const Rows *rows, const Workspace *workspace, const Stack *stack,
                          int64_t depth, int64_t first, int64_t last) {
    const int64_t saved = needed(stack, depth, 2), light = rows->light_good,
                  *rule = workspace->rule.at;
    const int64_t room = min(stack->top.n, stack->room.at[depth] - 1);
    const uint64_t *left = ROW(stack->uncovered, depth);
    uint64_t *restrict reached_rows = stack->union_.at;
    int64_t *restrict top = stack->top.at, count = 0, cheapest = FAR;
    memset(reached_rows, 0, (size_t)stack->union_.n * sizeof *reached_rows);
    for (int64_t x = first; x < last; x++)
        cheapest = min(cheapest, rows->prices.at[rule[x]]);
    for (int64_t m = first; m < last; m++) {
        const uint64_t *bits = ROW(rows->bits, rule[m]);
        int64_t price = rows->prices.at[rule[m]], weight = 0, t = 0;
        for (int64_t w = 0; w < light; w++) {
            reached_rows[w] |= bits[w] & left[w];
            weight += weigh_word(rows, reached_rows[w], w);
        }
        for (int64_t w = light; w < rows->good; w++) {
            reached_rows[w] |= bits[w] & left[w];
            weight += popcount(reached_rows[w]);
        }
        int64_t own = workspace->good.at[m] - price;
        int64_t reached = rows->unit * weight - workspace->bad.at[m] - price;
        int64_t total = own - workspace->bad.at[m], less = total, bound = -FAR;
        for (; t < count && reached - cheapest > saved; t++) {
            reached -= cheapest;
            less = total;
            total += top[t];
            bound = max(bound, min(total, reached));
        }
        /* Rules beyond those in the list: any number of them. */
        if (t == stack->top.n && reached - cheapest > saved) {
            bound = max(bound, reached - cheapest);
            less = saved;
            t = last - first;
        }
        workspace->bound.at[m] = bound;
        workspace->least.at[m] = saved - less;
        workspace->most.at[m] = t;
        /* A rule that side constraints may ask for is one of the others, or is not. */
        own = max(own, 0);
        int64_t y = count;
        if (count < room)
            count++;
        else if (count == 0 || top[count - 1] >= own)
            continue;
        else
            y = count - 1;
        for (; y > 0 && top[y - 1] < own; y--)
            top[y] = top[y - 1];
        top[y] = own;
    }
    stack->tally.at[WORK] += last - first;
}

/* List the children of a node, whose rules are taken from a part of the workspace. */
static void expand(const Rows *rows, const Workspace *workspace, const Stack *stack,
                   const Buffers *buffers, int64_t depth, int64_t first, int64_t last,
                   int64_t least) {
    const int64_t start = stack->start.at[depth], *bound = workspace->bound.at;
    int64_t *turn = workspace->turn.at + start, asked, n = 0;
    stack->tally.at[NODES]++;
    int64_t end = measure(rows, workspace, stack, buffers, depth, first, last, least);
    stack->position.at[depth] = stack->children.at[depth] = 0;
    stack->end.at[depth] = end;
    if (end - start < 2 || stack->room.at[depth] < 2)
        return;
    end = keep_allowed(rows, workspace, stack, buffers, depth, end, &asked);
    order(workspace, start, asked);
    order(workspace, asked, end);
    bound_classes(rows, workspace, stack, depth, start, end);
    int64_t saved = needed(stack, depth, 2);
    for (int64_t m = asked; m < end; m++) {
        if (bound[m] <= saved)
            continue;
        int64_t y = n++;
        for (; y > 0 && bound[turn[y - 1]] < bound[m]; y--)
            turn[y] = turn[y - 1];
        turn[y] = m;
        /* Rules after the last of these are in no set that is wanted. */
        stack->end.at[depth] = m + 1;
    }
    stack->children.at[depth] = n;
}

/* Make the child of class m; false if a rule of the set becomes useless. */
static bool enter(const Rows *rows, const Workspace *workspace, const Stack *stack, int64_t depth,
                  int64_t m) {
    const int64_t up = depth - 1, words = rows->bits.m, r = workspace->rule.at[m];
    const uint64_t *bits = ROW(rows->bits, r), *before = ROW(stack->once, up);
    const uint64_t *left = ROW(stack->uncovered, up);
    uint64_t *once = ROW(stack->once, depth), *uncovered = ROW(stack->uncovered, depth);
    for (int64_t w = 0; w < words; w++) {
        once[w] = (before[w] & ~bits[w]) | (left[w] & bits[w]);
        uncovered[w] = left[w] & ~bits[w];
    }
    for (int64_t y = 1; y < depth; y++) {
        int64_t other = stack->chosen.at[y];
        if (is_wanted(&rows->side, other))
            continue;
        int64_t alone = weigh(rows, ROW(rows->bits, other), once, 0, rows->light_good, rows->good);
        if (rows->unit * alone <= rows->prices.at[other])
            return false;
    }
    stack->paid.at[depth] = pay(rows, stack, depth, r);
    if (stack->paid.at[depth] > affordable(rows, stack, up, 2))
        return false;
    stack->chosen.at[depth] = r;
    stack->room.at[depth] = min(stack->room.at[up] - 1, workspace->most.at[m]);
    stack->cost.at[depth] =
        stack->cost.at[up] - workspace->good.at[m] + workspace->bad.at[m] + rows->prices.at[r];
    stack->literals.at[depth] = stack->literals.at[up] + rows->lengths.at[r];
    stack->overlap.at[depth] =
        stack->overlap.at[up] + weigh(rows, bits, before, rows->bad, words, words);
    stack->start.at[depth] = stack->end.at[up];
    return true;
}

/* Search the open nodes; see branch in tree.py. */
static int64_t branch(const Rows *rows, const Workspace *workspace, const Stack *stack,
                      const Buffers *buffers, int64_t work) {
    int64_t *tally = stack->tally.at, depth = tally[DEPTH];
    while (depth >= 0) {
        if (tally[TELL] && tally[WORK] >= min(tally[TELL], work)) {
            tally[TELL] = 0;
            tally[DEPTH] = depth;
            return BETTER;
        }
        if (tally[WORK] > work) {
            tally[WORK] = 0;
            tally[DEPTH] = depth;
            return PAUSED;
        }
        int64_t start = stack->start.at[depth], x = stack->position.at[depth];
        int64_t saved = needed(stack, depth, 2);
        const int64_t *turn = workspace->turn.at + start;
        if (x >= stack->children.at[depth] || workspace->bound.at[turn[x]] <= saved) {
            depth--;
            continue;
        }
        int64_t m = turn[x];
        if (stack->end.at[depth] + m - start > workspace->rule.n || depth + 1 >= stack->cost.n) {
            tally[DEPTH] = depth;
            return NO_ROOM;
        }
        stack->position.at[depth] = x + 1;
        if (enter(rows, workspace, stack, depth + 1, m)) {
            depth++;
            expand(rows, workspace, stack, buffers, depth, start, m, workspace->least.at[m]);
        }
    }
    tally[DEPTH] = depth;
    if (tally[TELL]) {
        tally[TELL] = 0;
        return BETTER;
    }
    return EMPTY;
}

KERNEL(cpx_models_rule_set_search_tree_expand) {
    expand(&t->rows, &t->workspace, &t->stack, &t->buffers, t->depth, t->first, t->last, t->least);
}

KERNEL(cpx_models_rule_set_search_tree_branch) {
    t->result = branch(&t->rows, &t->workspace, &t->stack, &t->buffers, t->work);
}
