"""Branch and bound over sets of rules: the kernels.

A node is a set S. Let c be the price of a rule, the least one where they differ, and let p(r) and
n(r) be what r covers of the good and of the bad rows that S leaves. A rule with p <= c is of no
use below S: without it, a set is no worse. Sets S + r are measured at once. Sets S + T with two
rules or more in T are put into classes by the rule m of T with the greatest n, the last one in
the order by n:

    cost(S) - cost(S + T)  <=  p(m) - c - n(m)  +  sum of p - c over the t others
                           <=  (good rows that rules up to m cover) - n(m) - (t + 1) c

because T covers at least n(m) of the bad rows, and no good row twice. The others come before m,
so the sum is at most that of the t greatest. The greatest over t of the lesser of both numbers
bounds the class of m; the child of m, with the rules before m, is searched unless its bound says
that nothing in it beats the best known set. With the second line, t has a greatest value for sets
that do; with it, the first line says how great p - c must be for each of the others, and rules
that fall short are left out below m. Children are taken by their bounds, the greatest first: so
the bound of the whole search gets better with each child of the root.

A child is left out as well if a rule of S has become useless: if the good rows that it alone
covers are worth no more than its price. Without it every set below is no worse, allowed
(limits never get tighter when a rule is left out), and met elsewhere.
"""

from __future__ import annotations

from cpx.backends.search.rule_sets.classes import bound_classes
from cpx.backends.search.rule_sets.node import (
    Arena,
    Stack,
    affordable,
    measure,
    needed,
    order,
    pay,
    weigh,
)
from cpx.backends.search.rule_sets.rows import Rows
from cpx.compiled.kernel import kernel, subroutine

__all__ = ["BETTER", "DONE", "FULL", "PAUSED", "branch", "expand"]

DONE, FULL, BETTER, PAUSED = 0, 1, 2, 3
"""Nothing is open; the arena or the stack is full; a better set was met; it is time to look up."""


@kernel
def expand(
    rows: Rows, arena: Arena, stack: Stack, depth: int, first: int, last: int, least: int
) -> None:
    """List the children of a node, whose rules are taken from a part of the arena."""
    start = stack.start[depth]
    stack.tally[1] += 1
    end = measure(rows, arena, stack, depth, first, last, least)
    stack.position[depth] = stack.children[depth] = 0
    stack.end[depth] = end
    if end - start < 2 or stack.room[depth] < 2:
        return
    order(arena, start, end)
    bound_classes(rows, arena, stack, depth, start, end)
    saved = needed(stack, depth, 2)
    n = 0
    for m in range(start, end):
        if arena.bound[m] > saved:
            y = n
            while y > 0 and arena.bound[arena.turn[start + y - 1]] < arena.bound[m]:
                arena.turn[start + y] = arena.turn[start + y - 1]
                y -= 1
            arena.turn[start + y] = m
            n += 1
            # Rules after the last of these are in no set that is wanted.
            stack.end[depth] = m + 1
    stack.children[depth] = n


@subroutine
def _enter(rows: Rows, arena: Arena, stack: Stack, depth: int, m: int) -> bool:
    """Make the child of a class; False if a rule of the set becomes useless."""
    r, p, q, most = arena.rule[m], arena.good[m], arena.bad[m], arena.most[m]
    words = rows.bits.shape[1]
    up = depth - 1
    for w in range(words):
        x = rows.bits[r, w]
        left = stack.uncovered[up, w]
        stack.once[depth, w] = (stack.once[up, w] & ~x) | (left & x)
        stack.uncovered[depth, w] = left & ~x
    for y in range(1, depth):
        other = stack.chosen[y]
        alone = weigh(rows, other, stack.once, depth, 0, rows.light_good, rows.good)
        if rows.unit * alone <= rows.prices[other]:
            return False
    stack.paid[depth] = pay(rows, stack, depth, r)
    if stack.paid[depth] > affordable(rows, stack, up, 2):
        return False
    overlap = weigh(rows, r, stack.once, up, rows.bad, words, words)
    stack.chosen[depth], stack.room[depth] = r, min(stack.room[up] - 1, most)
    stack.cost[depth] = stack.cost[up] - p + q + rows.prices[r]
    stack.literals[depth] = stack.literals[up] + rows.lengths[r]
    stack.overlap[depth] = stack.overlap[up] + overlap
    stack.start[depth] = stack.end[up]
    return True


@kernel
def branch(rows: Rows, arena: Arena, stack: Stack, work: int) -> int:
    """Search the open nodes until nothing is left, a better set is met, or work was done.

    It goes on where it ended when it is called again.
    """
    tally = stack.tally
    depth = tally[0]
    while depth >= 0:
        if tally[3]:
            tally[3], tally[0] = 0, depth
            return BETTER
        if tally[2] > work:
            tally[2], tally[0] = 0, depth
            return PAUSED
        start, x = stack.start[depth], stack.position[depth]
        saved = needed(stack, depth, 2)
        if x >= stack.children[depth] or arena.bound[arena.turn[start + x]] <= saved:
            depth -= 1
            continue
        m = arena.turn[start + x]
        if stack.end[depth] + m - start > arena.rule.size or depth + 1 >= stack.cost.size:
            tally[0] = depth
            return FULL
        stack.position[depth] = x + 1
        if _enter(rows, arena, stack, depth + 1, m):
            depth += 1
            expand(rows, arena, stack, depth, start, m, arena.least[m])
    tally[0] = depth
    if tally[3]:
        tally[3] = 0
        return BETTER
    return DONE
